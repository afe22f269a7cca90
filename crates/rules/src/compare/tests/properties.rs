//! Properties that hold for all answers.

use proptest::prelude::*;

use crate::Config;
use crate::algebra::{Constant, Expr, Function, Rational};
use crate::answer::{Answer, Endpoint, Interval, Matrix, Operator, Relation};
use crate::compare::{compare, expressions};

/// Expressions that have a value wherever their letters have one.
fn expression() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-20_i64..20).prop_map(Expr::integer),
        (-20_i64..20, 1_u32..12).prop_map(|(above, below)| Expr::Number(Rational::from_parts(
            above.into(),
            below.into()
        ))),
        Just(Expr::Constant(Constant::Pi)),
        Just(Expr::sqrt(Expr::integer(2))),
        Just(Expr::symbol("x")),
        Just(Expr::symbol("y")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Add),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Multiply),
            (inner.clone(), 1_i64..4)
                .prop_map(|(base, exponent)| Expr::power(base, Expr::integer(exponent))),
            inner.prop_map(|inside| Expr::Call(Function::Absolute, vec![inside])),
        ]
    })
}

fn quantity() -> impl Strategy<Value = Answer> {
    expression().prop_map(expressions::answer)
}

fn interval() -> impl Strategy<Value = Answer> {
    (-9_i64..9, 1_i64..9, any::<bool>(), any::<bool>()).prop_map(|(from, length, left, right)| {
        Answer::Interval(Interval {
            lower: Endpoint {
                value: Expr::integer(from),
                closed: left,
            },
            upper: Endpoint {
                value: Expr::integer(from + length),
                closed: right,
            },
        })
    })
}

fn operator() -> impl Strategy<Value = Operator> {
    prop_oneof![
        Just(Operator::Equal),
        Just(Operator::NotEqual),
        Just(Operator::Less),
        Just(Operator::LessOrEqual),
        Just(Operator::Greater),
        Just(Operator::GreaterOrEqual),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let flat = prop_oneof![
        4 => quantity(),
        1 => interval(),
        1 => prop::collection::vec(interval(), 2..4).prop_map(Answer::Union),
        1 => any::<bool>().prop_map(Answer::Truth),
        1 => prop::sample::subsequence(vec!['A', 'B', 'C'], 1..3).prop_map(Answer::Choice),
        1 => prop::sample::select(vec!["no solution", "blue", "not blue", "x > 2"])
            .prop_map(|text| Answer::Text(text.to_owned())),
        1 => (0_u32..86_400, any::<Option<bool>>()).prop_map(|(seconds, afternoon)| {
            Answer::Time { seconds, afternoon: afternoon.filter(|_| seconds < 43_200) }
        }),
        1 => prop::collection::vec((1_i64..9).prop_map(Expr::integer), 2..4).prop_map(Answer::Ratio),
        1 => prop::collection::vec(expression(), 2..4)
            .prop_map(|row| Answer::Matrix(Matrix { rows: vec![row] })),
        2 => (expression(), operator(), expression()).prop_map(|(left, operator, right)| {
            Answer::Relation(Relation {
                sides: vec![expressions::answer(left), expressions::answer(right)],
                operators: vec![operator],
                modulus: None,
            })
        }),
    ];
    prop_oneof![
        3 => flat.clone(),
        1 => prop::collection::vec(flat.clone(), 0..4).prop_map(Answer::Set),
        1 => prop::collection::vec(flat.clone(), 2..4).prop_map(Answer::List),
        1 => prop::collection::vec(flat, 2..4).prop_map(Answer::Tuple),
    ]
}

fn options() -> Config {
    Config::default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_differs_from_itself(answer in answer()) {
        let verdict = compare(&answer, &answer, &options());
        prop_assert_ne!(verdict.equal, Some(false), "{}: {}", verdict.method, verdict.reason);
    }

    #[test]
    fn a_quantity_equals_itself(answer in quantity()) {
        let verdict = compare(&answer, &answer, &options());
        prop_assert_eq!(verdict.equal, Some(true), "{}: {}", verdict.method, verdict.reason);
    }

    #[test]
    fn the_order_of_the_sides_does_not_matter(gold in answer(), pred in answer()) {
        let there = compare(&gold, &pred, &options());
        let back = compare(&pred, &gold, &options());
        prop_assert_eq!(there.equal, back.equal, "{:?} {:?}", there, back);
    }

    #[test]
    fn a_list_may_be_in_any_order(parts in prop::collection::vec(quantity(), 2..6)) {
        let mut turned = parts.clone();
        turned.reverse();
        let verdict = compare(&Answer::List(parts), &Answer::List(turned), &options());
        prop_assert_eq!(verdict.equal, Some(true), "{}: {}", verdict.method, verdict.reason);
    }

    #[test]
    fn one_more_is_another_number(value in expression()) {
        let more = Expr::Add(vec![value.clone(), Expr::integer(1)]);
        let verdict = compare(&expressions::answer(value), &expressions::answer(more), &options());
        prop_assert_ne!(verdict.equal, Some(true));
    }
}

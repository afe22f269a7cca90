//! Random expressions and rewritings of them.

use proptest::prelude::*;

use crate::{Budget, Constant, Expr, Function, Identity, identical};

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        (-9i64..10).prop_map(Expr::integer),
        (1i64..10, 2i64..8).prop_map(|(a, b)| Expr::integer(a).divided_by(Expr::integer(b))),
        "[xyz]".prop_map(|name| Expr::symbol(&name)),
        Just(Expr::Constant(Constant::Pi)),
        Just(Expr::Constant(Constant::E)),
        (2i64..13).prop_map(|n| Expr::sqrt(Expr::integer(n))),
    ]
}

fn expression() -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Add),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Multiply),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.divided_by(b)),
            (inner.clone(), -2i64..4).prop_map(|(a, n)| Expr::power(a, Expr::integer(n))),
            inner.clone().prop_map(Expr::sqrt),
            (inner.clone(), 0usize..8).prop_map(|(a, which)| {
                let function = [
                    Function::Sin,
                    Function::Cos,
                    Function::Tan,
                    Function::Absolute,
                    Function::Arctan,
                    Function::Sinh,
                    Function::Cosh,
                    Function::Arcsin,
                ][which];
                Expr::Call(function, vec![a])
            }),
            inner.clone().prop_map(|a| Expr::Call(
                Function::Logarithm,
                vec![a, Expr::Constant(Constant::E)]
            )),
            (2i64..5, inner).prop_map(|(base, a)| Expr::power(Expr::integer(base), a)),
        ]
    })
}

/// The same function, written otherwise.
fn rewritten(expr: &Expr, choices: &mut impl FnMut(usize) -> usize) -> Expr {
    let mut inner = match expr {
        Expr::Add(parts) => {
            let mut parts: Vec<Expr> = parts.iter().map(|part| rewritten(part, choices)).collect();
            let turn = choices(parts.len());
            parts.rotate_left(turn);
            if parts.len() > 2 && choices(2) == 0 {
                let rest = parts.split_off(1);
                parts.push(Expr::Add(rest));
            }
            Expr::Add(parts)
        }
        Expr::Multiply(parts) => {
            let mut parts: Vec<Expr> = parts.iter().map(|part| rewritten(part, choices)).collect();
            let turn = choices(parts.len());
            parts.rotate_left(turn);
            // Distribute over the first sum.
            if let Some(at) = parts.iter().position(|part| matches!(part, Expr::Add(_)))
                && choices(2) == 0
                && let Expr::Add(terms) = parts.remove(at)
            {
                let terms = terms
                    .into_iter()
                    .map(|term| {
                        let mut factors = parts.clone();
                        factors.push(term);
                        Expr::Multiply(factors)
                    })
                    .collect();
                return Expr::Add(terms);
            }
            Expr::Multiply(parts)
        }
        Expr::Power(pair) => Expr::power(rewritten(&pair.0, choices), rewritten(&pair.1, choices)),
        Expr::Call(Function::Root, parts) if choices(2) == 0 => Expr::power(
            rewritten(&parts[0], choices),
            Expr::power(parts[1].clone(), Expr::integer(-1)),
        ),
        Expr::Call(function, parts) => Expr::Call(
            *function,
            parts.iter().map(|part| rewritten(part, choices)).collect(),
        ),
        other => other.clone(),
    };
    match choices(12) {
        0 => inner = Expr::Add(vec![inner, Expr::integer(0)]),
        1 => {
            let square = |function| {
                Expr::power(
                    Expr::Call(function, vec![Expr::symbol("x")]),
                    Expr::integer(2),
                )
            };
            let one = Expr::Add(vec![square(Function::Sin), square(Function::Cos)]);
            inner = Expr::Multiply(vec![inner, one]);
        }
        2 => {
            let factor = Expr::Add(vec![Expr::symbol("x"), Expr::integer(1)]);
            let inverse = Expr::power(factor.clone(), Expr::integer(-1));
            inner = Expr::Multiply(vec![factor, inner, inverse]);
        }
        3 => inner = inner.negated().negated(),
        _ => {}
    }
    inner
}

fn chooser(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn rewriting_is_never_different(expr in expression(), seed in any::<u64>()) {
        let other = rewritten(&expr, &mut chooser(seed));
        let found = identical(&expr, &other, &mut Budget::default());
        prop_assert!(found.0 != Identity::Different, "{expr:?} {other:?} {found:?}");
        let turned = identical(&other, &expr, &mut Budget::default());
        prop_assert!(turned.0 != Identity::Different, "{turned:?}");
    }

    #[test]
    fn adding_something_is_never_equal(
        expr in expression(),
        seed in any::<u64>(),
        numerator in 1i64..1000,
        digits in 0i64..12,
    ) {
        let other = rewritten(&expr, &mut chooser(seed));
        let scale = Expr::power(Expr::integer(10), Expr::integer(-digits));
        let off = Expr::Add(vec![other, Expr::Multiply(vec![Expr::integer(numerator), scale])]);
        let found = identical(&expr, &off, &mut Budget::default());
        prop_assert!(
            !matches!(found.0, Identity::Equal | Identity::NumericallyEqual),
            "{expr:?} {off:?} {found:?}"
        );
    }

    #[test]
    fn scaling_is_never_equal(expr in expression(), seed in any::<u64>(), factor in 2i64..50) {
        let zero = identical(&expr, &Expr::integer(0), &mut Budget::default()).0;
        prop_assume!(zero == Identity::Different);
        let other = rewritten(&expr, &mut chooser(seed));
        let scaled = Expr::Multiply(vec![Expr::integer(factor), other]);
        let found = identical(&expr, &scaled, &mut Budget::default());
        prop_assert!(
            !matches!(found.0, Identity::Equal | Identity::NumericallyEqual),
            "{expr:?} {scaled:?} {found:?}"
        );
    }
}

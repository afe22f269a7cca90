//! Equations against equations.

use super::comparison::{Comparison, Told};
use super::context::{Context, in_order_of_sides};
use super::{expressions, naming, real_set, solve};
use crate::algebra::{self, Identity};
use crate::algebra::{Expr, Rational};
use crate::answer::{Answer, Relation};
use crate::verification::Status;

/// What is known of f = c · g for a constant c that is not zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Factor {
    /// It holds with this constant.
    By(Expr, Status),
    None,
    Unknown,
}

/// Two equations, read as wholes; `None` where they have more sides, or such as are no expressions.
pub(super) fn compare(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Told {
    let mut undecided = None;
    if let (Some(f), Some(g)) = (difference(gold), difference(pred)) {
        let verdict = zero_sets(&f, &g, context);
        if verdict.equal.is_some() {
            return Some(verdict);
        }
        undecided = Some(verdict);
    }
    // `x^2 = 4` against `x = ±2`.
    if let (Some(a), Some(b)) = (solve::solve(gold, context), solve::solve(pred, context))
        && a.variable == b.variable
    {
        let verdict = real_set::sets("solutions", &a.set, &b.set, context);
        return Some(match undecided {
            Some(_) => verdict.at_most_open("the real solutions agree, the complex ones may not"),
            None => verdict,
        });
    }
    undecided
}

/// left − right, of an equation or inequality between two expressions.
pub(super) fn difference(relation: &Relation) -> Option<Expr> {
    match relation.sides.as_slice() {
        [left, right] => {
            let (left, right) = (
                expressions::expression(left)?,
                expressions::expression(right)?,
            );
            let difference = match (left, right) {
                (left, Expr::Number(zero)) if zero.is_zero() => left.clone(),
                (left, right) => left.clone().minus(right.clone()),
            };
            Some(expressions::opaque(&difference).into_owned())
        }
        _ => None,
    }
}

/// Are f = 0 and g = 0 the same equation?
pub(super) fn zero_sets(f: &Expr, g: &Expr, context: &mut Context<'_>) -> Comparison {
    let letters = algebra::variables_of([f, g]);
    if letters.is_empty() {
        return Comparison::open("statements without an unknown");
    }
    if let Factor::By(_, status) = proportional(f, g, &letters, context) {
        return Comparison::equal_as(status, "proportional");
    }
    // y = 1/x against xy = 1.
    let (above_f, _) = algebra::fraction(f);
    let (above_g, _) = algebra::fraction(g);
    if let Factor::By(_, status) = proportional(&above_f, &above_g, &letters, context) {
        return Comparison::equal_as(status, "proportional");
    }
    match letters.as_slice() {
        [_] => Comparison::open("equations that could not be solved"),
        _ => several_unknowns(&above_f, &above_g, &letters, context),
    }
}

/// Different numbers for different letters, another choice in each round; small ones from the fifth round on.
fn number_for(index: usize, round: usize) -> Rational {
    const NUMBERS: [i64; 8] = [3, 7, -5, 11, 2, -13, 17, 19];
    if round > 3 {
        let above = [0, 1, -1, 2, -2][(index + round) % 5];
        let below = [3, 7, 4, 9][(index + 2 * round) % 4];
        return Rational::from_parts(i64::from(above).into(), u32::into(below));
    }
    let further = i64::try_from(index / NUMBERS.len()).unwrap_or(0);
    let above = NUMBERS[(index + 3 * round) % NUMBERS.len()] + further;
    Rational::from_parts(above.into(), (round as u32 % 3 + 1).into())
}

/// An expression with numbers in place of letters, except one letter.
pub(super) fn at_point(expr: &Expr, letters: &[Box<str>], but: Option<&str>, round: usize) -> Expr {
    algebra::replace(expr, &mut |part| match part {
        Expr::Symbol(name) if but != Some(&**name) => letters
            .binary_search(name)
            .ok()
            .map(|index| Expr::Number(number_for(index, round))),
        _ => None,
    })
}

/// Is f a constant multiple of g?
pub(super) fn proportional(
    f: &Expr,
    g: &Expr,
    letters: &[Box<str>],
    context: &mut Context<'_>,
) -> Factor {
    for round in 0..4 {
        let at_f = at_point(f, letters, None, round);
        let at_g = at_point(g, letters, None, round);
        let values = (
            algebra::rational(&at_f, &mut context.budget),
            algebra::rational(&at_g, &mut context.budget),
        );
        let factor = match values {
            (Some(a), Some(b)) if a.is_zero() && b.is_zero() => continue,
            // Zero at a point where the other is not.
            (Some(a), Some(b)) if a.is_zero() || b.is_zero() => return Factor::None,
            (Some(a), Some(b)) => Expr::Number(a / b),
            _ => {
                let zero = Expr::integer(0);
                let (zero_f, _) = algebra::identical(&at_f, &zero, &mut context.budget);
                let (zero_g, _) = algebra::identical(&at_g, &zero, &mut context.budget);
                if zero_f != Identity::Different || zero_g != Identity::Different {
                    continue;
                }
                at_f.divided_by(at_g)
            }
        };
        let scaled = if factor == Expr::integer(1) {
            g.clone()
        } else {
            expressions::product(factor.clone(), g.clone())
        };
        return match algebra::identical(f, &scaled, &mut context.budget).0 {
            Identity::Equal => Factor::By(factor, Status::Decided),
            Identity::NumericallyEqual => Factor::By(factor, Status::Numeric),
            Identity::Different => Factor::None,
            Identity::Undefined | Identity::TooComplex => Factor::Unknown,
        };
    }
    Factor::Unknown
}

/// Equations in several unknowns that are not multiples of each other. As polynomials they may still vanish at the
/// same points (xy = 0 and x²y = 0), which shows on lines parallel to each axis.
fn several_unknowns(
    f: &Expr,
    g: &Expr,
    letters: &[Box<str>],
    context: &mut Context<'_>,
) -> Comparison {
    let mut compared = 0;
    let mut known = letters.len() <= 8;
    for letter in letters.iter().take(8) {
        for round in 0..2 {
            let p = at_point(f, letters, Some(letter), round);
            let q = at_point(g, letters, Some(letter), round);
            let (Some(p), Some(q)) = (
                algebra::polynomial(&p, letter, &mut context.budget),
                algebra::polynomial(&q, letter, &mut context.budget),
            ) else {
                known = false;
                continue;
            };
            match (
                algebra::square_free(&p, &mut context.budget),
                algebra::square_free(&q, &mut context.budget),
            ) {
                (Some(p), Some(q)) if p == q => compared += 1,
                (Some(_), Some(_)) => {
                    return Comparison::different(
                        "points",
                        "one of the equations holds at a point where the other does not",
                    );
                }
                _ => known = false,
            }
        }
    }
    if known && compared > 0 {
        return Comparison::equal("solutions");
    }
    Comparison::open("equations that could not be brought to the same form")
}

/// An equation that is not read as a name and a value, against an answer that is no statement.
pub(super) fn against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let [first, .., last] = relation.sides.as_slice() else {
        return Comparison::open("");
    };
    let constant = relation.sides.iter().all(naming::is_number);
    if constant {
        // `2 + 3 = 5` states 5, if it is true.
        let verdict = context.either_way(last, other, swapped);
        if verdict.equal != Some(true) {
            return verdict;
        }
        let holds = context.quietly(|context| {
            relation
                .sides
                .windows(2)
                .all(|pair| context.answers(&pair[0], &pair[1]).equal == Some(true))
        });
        return if holds {
            verdict
        } else {
            Comparison::open("an equation between numbers that differ")
        };
    }
    if naming::is_number(last) && expressions::expression(first).is_some_and(naming::is_asked_for) {
        return context.either_way(last, other, swapped);
    }
    // `x² − 9 = (x − 3)(x + 3)` states its last side, if it holds everywhere; so does a product of matrices.
    let varies = |side: &Answer| {
        matches!(side, Answer::Matrix(_))
            || expressions::expression(side).is_some_and(|it| !naming::is_constant(it))
    };
    if first != last && naming::is_equation(relation) && relation.sides.iter().all(varies) {
        let verdict = context.quietly(|context| {
            let mut pairs = relation.sides.windows(2);
            let holds = pairs.all(|it| context.answers(&it[0], &it[1]).equal == Some(true));
            holds.then(|| context.either_way(last, other, swapped))
        });
        if let Some(verdict) = verdict.filter(|it| it.equal == Some(true)) {
            return verdict;
        }
    }
    if let Some(ours) = solve::solve(relation, context)
        && let Some(theirs) = solve::region(other, context)
    {
        if let (Some(a), Some(b)) = (&ours.variable, &theirs.variable)
            && a != b
            && context.config.strict
        {
            return Comparison::different("names", "the statements are about different things");
        }
        let (a, b) = in_order_of_sides(&ours.set, &theirs.set, swapped);
        return real_set::sets("solutions", a, b, context);
    }
    let verdict = context.quietly(|context| context.either_way(last, other, swapped));
    let sides = relation.sides.iter().filter_map(expressions::expression);
    if verdict.equal == Some(false)
        && naming::is_number(last)
        && naming::is_number(other)
        && algebra::variables_of(sides).len() > 1
    {
        return context.either_way(last, other, swapped);
    }
    Comparison::open("an equation to be solved against a value")
}

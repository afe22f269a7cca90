//! Equations against equations.

use super::naming;
use super::real_set;
use super::roots::roots;
use super::solve;
use super::terms;
use super::{Comparison, Context, Status, verdict};
use crate::algebra::{self, Identity};
use crate::algebra::{Expr, Rational};
use crate::answer::{Answer, Relation};

/// What is known of f = c · g for a constant c that is not zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Factor {
    /// It holds with this constant.
    By(Expr, Status),
    /// It holds with none.
    None,
    Unknown,
}

/// Two equations, read as wholes.
pub(super) fn compare(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    if let (Some(f), Some(g)) = (difference(gold), difference(pred)) {
        return zero_sets(&f, &g, context);
    }
    // `x^2 = 4` against `x = ±2`.
    if let (Some(a), Some(b)) = (solve::solve(gold, context), solve::solve(pred, context))
        && a.variable == b.variable
    {
        return real_set::sets("solutions", &a.set, &b.set, context);
    }
    // Longer chains, and sides that are no expressions.
    super::relation::sides(gold, pred, context)
}

/// left − right, of an equation or inequality between two expressions.
pub(super) fn difference(relation: &Relation) -> Option<Expr> {
    match relation.sides.as_slice() {
        [left, right] => {
            let (left, right) = (terms::expression(left)?, terms::expression(right)?);
            let difference = match (left, right) {
                (left, Expr::Number(zero)) if zero.is_zero() => left.clone(),
                (left, right) => left.clone().minus(right.clone()),
            };
            Some(terms::opaque(&difference).into_owned())
        }
        _ => None,
    }
}

/// Are f = 0 and g = 0 the same equation?
pub(super) fn zero_sets(f: &Expr, g: &Expr, context: &mut Context<'_>) -> Comparison {
    let letters = both_letters(f, g);
    if letters.is_empty() {
        return verdict::open("statements without an unknown".to_owned());
    }
    if let Factor::By(_, status) = proportional(f, g, &letters, context) {
        return Comparison {
            status,
            ..verdict::yes("proportional")
        };
    }
    // y = 1/x against xy = 1.
    let (above_f, _) = algebra::fraction(f);
    let (above_g, _) = algebra::fraction(g);
    if let Factor::By(_, status) = proportional(&above_f, &above_g, &letters, context) {
        return Comparison {
            status,
            ..verdict::yes("proportional")
        };
    }
    match letters.as_slice() {
        [letter] => one_unknown(&above_f, &above_g, letter, context),
        _ => several_unknowns(&above_f, &above_g, &letters, context),
    }
}

/// The variables of two expressions, sorted.
pub(super) fn both_letters(f: &Expr, g: &Expr) -> Vec<Box<str>> {
    let mut letters = algebra::variables(f);
    letters.extend(algebra::variables(g));
    letters.sort_unstable();
    letters.dedup();
    letters
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
    terms::replace(expr, &mut |part| match part {
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
            terms::product(factor.clone(), g.clone())
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

/// Two equations in the same unknown: their solutions.
fn one_unknown(f: &Expr, g: &Expr, letter: &str, context: &mut Context<'_>) -> Comparison {
    let polynomials = (
        algebra::polynomial(f, letter, &mut context.budget),
        algebra::polynomial(g, letter, &mut context.budget),
    );
    let (Some(p), Some(q)) = polynomials else {
        return solved_against(f, g, letter, context);
    };
    let square_free = (square_free(&p), square_free(&q));
    if let (Some(p), Some(q)) = &square_free
        && p == q
    {
        return verdict::yes("solutions");
    }
    let (Some(roots_p), Some(roots_q)) = (roots(&p), roots(&q)) else {
        if let (Some(p), Some(q)) = square_free {
            let common = greatest_common_divisor(p.clone(), q.clone());
            if [p, q].into_iter().any(|p| has_root(&divide(p, &common).0)) {
                return verdict::no(
                    "solutions",
                    "one of the equations has a solution that the other does not have".to_owned(),
                );
            }
        }
        return verdict::open("equations whose solutions could not be written down".to_owned());
    };
    let as_set = |roots: Vec<Expr>, context: &mut Context<'_>| {
        let points = roots
            .into_iter()
            .map(|root| real_set::RealSet::point(root, context))
            .collect::<Option<Vec<_>>>()?;
        real_set::RealSet::union(points, context)
    };
    let (Some(a), Some(b)) = (as_set(roots_p, context), as_set(roots_q, context)) else {
        return verdict::too_complex();
    };
    let verdict = real_set::sets("solutions", &a, &b, context);
    verdict::at_most_open(verdict, "the real solutions agree, the complex ones do not")
}

/// One of two equations is solved, `x = c`, and the other no polynomial: is c a solution of it?
fn solved_against(f: &Expr, g: &Expr, letter: &str, context: &mut Context<'_>) -> Comparison {
    for (solved, other) in [(f, g), (g, f)] {
        let Some(coefficients) = algebra::polynomial(solved, letter, &mut context.budget) else {
            continue;
        };
        if let [constant, factor] = coefficients.as_slice()
            && !factor.is_zero()
        {
            let solution = Expr::Number(-(constant / factor));
            let value = terms::substitute(other, letter, &solution);
            let zero = Expr::integer(0);
            if algebra::identical(&value, &zero, &mut context.budget).0 == Identity::Different {
                return verdict::no(
                    "solutions",
                    context
                        .say(|| "the solution of one equation does not solve the other".to_owned()),
                );
            }
        }
    }
    verdict::open("equations that could not be solved".to_owned())
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
            match (square_free(&p), square_free(&q)) {
                (Some(p), Some(q)) if p == q => compared += 1,
                (Some(_), Some(_)) => {
                    return verdict::no(
                        "points",
                        "one of the equations holds at a point where the other does not".to_owned(),
                    );
                }
                _ => known = false,
            }
        }
    }
    if known && compared > 0 {
        return verdict::yes("solutions");
    }
    verdict::open("equations that could not be brought to the same form".to_owned())
}

/// Does a polynomial surely have a real root: an odd degree, or values of both signs?
fn has_root(p: &[Rational]) -> bool {
    let Some(leading) = p.last() else {
        return false;
    };
    let positive = *leading > Rational::ZERO;
    p.len().is_multiple_of(2)
        || (-20_i64..=20).any(|at| {
            let value = solve::evaluate(p, &Rational::from(at));
            value.is_zero() || (value > Rational::ZERO) != positive
        })
}

/// A polynomial with each of its roots once, leading coefficient 1. `None` where it is too large to tell.
fn square_free(coefficients: &[Rational]) -> Option<Vec<Rational>> {
    const MOST_DEGREE: usize = 24;
    let p = monic(coefficients.to_vec());
    if p.len() > MOST_DEGREE + 1 {
        return None;
    }
    if p.len() < 3 {
        return Some(p);
    }
    let derivative = p
        .iter()
        .enumerate()
        .skip(1)
        .map(|(power, c)| c * Rational::from(power))
        .collect();
    let common = greatest_common_divisor(p.clone(), monic(derivative));
    Some(monic(divide(p, &common).0))
}

fn monic(mut p: Vec<Rational>) -> Vec<Rational> {
    while p.last().is_some_and(Rational::is_zero) {
        p.pop();
    }
    if let Some(leading) = p.last().cloned() {
        for coefficient in &mut p {
            *coefficient = &*coefficient / &leading;
        }
    }
    p
}

/// Quotient and remainder by a monic polynomial.
fn divide(mut p: Vec<Rational>, by: &[Rational]) -> (Vec<Rational>, Vec<Rational>) {
    if by.is_empty() || p.len() < by.len() {
        return (Vec::new(), p);
    }
    let mut quotient = vec![Rational::ZERO; p.len() - by.len() + 1];
    for shift in (0..quotient.len()).rev() {
        let factor = p[shift + by.len() - 1].clone();
        if factor.is_zero() {
            continue;
        }
        for (index, coefficient) in by.iter().enumerate() {
            p[shift + index] -= &factor * coefficient;
        }
        quotient[shift] = factor;
    }
    p.truncate(by.len() - 1);
    (quotient, p)
}

fn greatest_common_divisor(mut p: Vec<Rational>, mut q: Vec<Rational>) -> Vec<Rational> {
    while !q.is_empty() {
        let remainder = monic(divide(p, &q).1);
        p = q;
        q = remainder;
    }
    p
}

/// An equation that is not read as a name and a value, against an answer that is no statement.
pub(super) fn against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let (Some(first), Some(last)) = (relation.sides.first(), relation.sides.last()) else {
        return verdict::open(String::new());
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
            verdict::open("an equation between numbers that differ".to_owned())
        };
    }
    if naming::is_number(last)
        && terms::expression(first).is_some_and(naming::is_asked_for)
        && relation.sides.len() >= 2
    {
        return context.either_way(last, other, swapped);
    }
    if let Some(ours) = solve::solve(relation, context)
        && let Some(theirs) = solve::region(other, context)
    {
        if let (Some(a), Some(b)) = (&ours.variable, &theirs.variable)
            && a != b
            && context.options.strict
        {
            return verdict::no(
                "names",
                "the statements are about different things".to_owned(),
            );
        }
        let (a, b) = if swapped {
            (&theirs.set, &ours.set)
        } else {
            (&ours.set, &theirs.set)
        };
        return real_set::sets("solutions", a, b, context);
    }
    let verdict = context.quietly(|context| context.either_way(last, other, swapped));
    if verdict.equal == Some(false)
        && naming::is_number(last)
        && naming::is_number(other)
        && identity_letters(relation) > 1
    {
        return context.either_way(last, other, swapped);
    }
    verdict::open("an equation to be solved against a value".to_owned())
}

/// How many unknowns a relation has.
fn identity_letters(relation: &Relation) -> usize {
    let mut letters: Vec<Box<str>> = relation
        .sides
        .iter()
        .filter_map(terms::expression)
        .flat_map(algebra::variables)
        .collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len()
}

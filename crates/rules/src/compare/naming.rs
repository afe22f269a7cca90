//! What a statement such as `x = 5` gives a value to, and which.

use super::expressions;
use super::words::Words;
use crate::algebra::{self, Constant, Expr, Function, Rational};
use crate::answer::{Answer, Operator, Relation};
use crate::lexicon::words::NAMES_NOTHING;

/// A relation read as a name and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stated<'a> {
    /// `x`, `f(x)`, `AB`, `\angle ABC`, `(x, y)`, "the area".
    pub(super) name: &'a Answer,
    /// The last side that is exactly it.
    pub(super) value: &'a Answer,
    /// A further side that is approximately it: `x = 1/3 ≈ 0.33`.
    pub(super) approximately: Option<&'a Answer>,
    /// `x ∈ S` instead of `x = …`?
    pub(super) member: bool,
}

/// Reads an equation or a membership as a name and a value, if it can be read so.
pub(super) fn stated(relation: &Relation) -> Option<Stated<'_>> {
    if relation.modulus.is_some() {
        return None;
    }
    let (sides, operators) = (relation.sides.as_slice(), relation.operators.as_slice());
    let of = |name, value, member| Stated {
        name,
        value,
        approximately: None,
        member,
    };
    if let ([name, value], [Operator::In]) = (sides, operators) {
        return is_name(name).then_some(of(name, value, true));
    }
    if sides.len() < 2 || !is_equation(relation) {
        return None;
    }
    let (first, last) = (sides.first()?, sides.last()?);
    // `A^{-1}` is a name where a matrix is given to it, and a number otherwise.
    if is_name(first) || matches!(last, Answer::Matrix(_)) && is_power_of_name(first) {
        // Exact sides come first; what follows a ≈ is not exact any more.
        let rounds = |it: &Operator| *it == Operator::Approximately;
        let exact = operators.iter().position(rounds).filter(|it| *it > 0);
        return Some(Stated {
            approximately: exact.map(|_| last),
            ..of(first, exact.map_or(last, |exact| &sides[exact]), false)
        });
    }
    // `5 = x`.
    let value = sides.get(sides.len() - 2)?;
    let exact = operators.iter().all(|it| *it == Operator::Equal);
    (is_name(last) && exact).then_some(of(last, value, false))
}

/// Are all signs of a relation = or ≈?
pub(super) fn is_equation(relation: &Relation) -> bool {
    let equals = |it: &Operator| matches!(it, Operator::Equal | Operator::Approximately);
    relation.modulus.is_none() && relation.operators.iter().all(equals)
}

/// Is a side something that a value is given to, rather than an expression to be solved?
pub(super) fn is_name(answer: &Answer) -> bool {
    let is_symbol = |it: &Answer| matches!(expressions::expression(it), Some(Expr::Symbol(_)));
    match answer {
        Answer::Quantity(_) => expressions::expression(answer).is_some_and(is_named),
        Answer::Tuple(parts) => !parts.is_empty() && parts.iter().all(is_symbol),
        Answer::Ratio(parts) => {
            !parts.is_empty() && parts.iter().all(|part| is_named(part) || is_segment(part))
        }
        Answer::Text(text) => {
            let formula = |c: char| c.is_ascii_digit() || "<>=|\\".contains(c);
            text.len() < 200 && !text.contains(formula) && !denies(text)
        }
        _ => false,
    }
}

/// Do words deny the value after them, as in "no solution for x", "not x" and "all but not x", instead of naming what has it, as "no. of cars" does?
fn denies(text: &str) -> bool {
    let words = text.split(|it: char| !it.is_alphabetic());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    // What has the value there is the letter; "students in neither" have one.
    let lettered = words.last().is_some_and(|it| it.len() == 1);
    let said = &words[..words.len().saturating_sub(1)];
    let numbers = words.get(1) == Some(&"of");
    let denies = |it: &&str| NAMES_NOTHING.contains(it);
    lettered && (said.first().is_some_and(denies) && !numbers || said.last().is_some_and(denies))
}

pub(super) fn is_named(expr: &Expr) -> bool {
    use Function::{Argument, Cos, Cot, Csc, Gcd, ImaginaryPart, Lcm, Max, Min, RealPart, Sec};
    use Function::{Sin, Tan};
    match expr {
        // lim, Σ, ∫, d/dx of something: what it comes to is the answer.
        Expr::Symbol(_) | Expr::Apply(..) | Expr::Binder(_) => true,
        Expr::Call(Function::Absolute, parts) => parts.iter().all(is_segment),
        // sin A, cos θ: of an angle, not of an unknown to be solved for.
        Expr::Call(Sin | Cos | Tan | Cot | Sec | Csc, parts) => parts.iter().all(is_angle),
        // The thing asked for, in so many words: max f, gcd(a, b), Re z.
        Expr::Call(Gcd | Lcm | Max | Min | RealPart | ImaginaryPart | Argument, parts) => {
            parts.iter().any(algebra::has_letter)
        }
        Expr::Multiply(_) => is_segment(expr),
        _ => false,
    }
}

/// `A^{-1}`: other powers of a matrix are of a matrix that is asked for.
fn is_power_of_name(answer: &Answer) -> bool {
    matches!(expressions::expression(answer), Some(Expr::Power(power))
        if matches!(&power.0, Expr::Symbol(name) if name.len() == 1 && name.starts_with(char::is_uppercase))
            && matches!(&power.1, Expr::Number(exponent) if *exponent == Rational::NEG_ONE))
}

/// An angle of a triangle, or one called by a Greek letter.
fn is_angle(expr: &Expr) -> bool {
    match expr {
        Expr::Symbol(name) => name.len() != 1 || name.starts_with(char::is_uppercase),
        _ => is_segment(expr),
    }
}

/// AB, ABC, AB²: capital letters in a row.
pub(super) fn is_segment(expr: &Expr) -> bool {
    let capital =
        |it: &Expr| matches!(it, Expr::Symbol(name) if name.starts_with(char::is_uppercase));
    match expr {
        Expr::Symbol(name) => name.chars().take(2).filter(|it| it.is_uppercase()).count() == 2,
        Expr::Multiply(factors) => factors.split_last().is_some_and(|(last, rest)| {
            let squared = match last {
                Expr::Power(power) => {
                    capital(&power.0)
                        && matches!(&power.1, Expr::Number(n) if n.is_int() && *n > Rational::ZERO)
                }
                other => capital(other),
            };
            squared && !rest.is_empty() && rest.iter().all(capital)
        }),
        Expr::Power(power) => {
            is_segment(&power.0) && matches!(&power.1, Expr::Number(n) if n.is_int())
        }
        _ => false,
    }
}

/// `m + n`, `a² + b²`, `xyz`: an expression in two or more letters without numbers before them, of which one can ask what it comes to.
pub(super) fn is_asked_for(expr: &Expr) -> bool {
    fn plain(expr: &Expr, letters: &mut Vec<Box<str>>) -> bool {
        match expr {
            Expr::Symbol(name) => {
                letters.push(name.clone());
                true
            }
            Expr::Power(power) => plain(&power.0, letters) && matches!(&power.1, Expr::Number(_)),
            Expr::Add(parts) | Expr::Multiply(parts) => parts.iter().all(|part| match part {
                Expr::Number(value) => *value == Rational::NEG_ONE,
                part => plain(part, letters),
            }),
            _ => false,
        }
    }
    let mut letters = Vec::new();
    if !plain(expr, &mut letters) {
        return false;
    }
    letters.sort_unstable();
    letters.dedup();
    letters.len() > 1
}

/// Do two names mean the same thing? If so, which letters of the second stand for which of the first.
pub(super) fn agree(a: &Answer, b: &Answer) -> Option<Vec<(Box<str>, Box<str>)>> {
    if a == b {
        return Some(Vec::new());
    }
    if let (Answer::Text(a), Answer::Text(b)) = (a, b) {
        return (Words::of(a) == Words::of(b)).then(Vec::new);
    }
    let (a, b) = (
        inside_bars(expressions::expression(a)?),
        inside_bars(expressions::expression(b)?),
    );
    if a == b {
        return Some(Vec::new());
    }
    match (a, b) {
        (Expr::Apply(f, arguments_a), Expr::Apply(g, arguments_b))
            if f == g && arguments_a.len() == arguments_b.len() =>
        {
            let mut pairs = Vec::with_capacity(arguments_a.len());
            for (x, y) in arguments_a.iter().zip(arguments_b) {
                match (x, y) {
                    (Expr::Symbol(x), Expr::Symbol(y)) => pairs.push((y.clone(), x.clone())),
                    (x, y) if x == y => {}
                    _ => return None,
                }
            }
            Some(pairs)
        }
        // y = f(x).
        (Expr::Apply(_, arguments), Expr::Symbol(name))
        | (Expr::Symbol(name), Expr::Apply(_, arguments))
            if **name == *"y"
                && matches!(arguments.as_slice(), [Expr::Symbol(x)] if **x != *"y") =>
        {
            Some(Vec::new())
        }
        _ => (expressions::spelled(a)? == expressions::spelled(b)?).then(Vec::new),
    }
}

/// |AB| as AB.
fn inside_bars(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(Function::Absolute, parts) => match parts.as_slice() {
            [inner] if is_segment(inner) => inner,
            _ => expr,
        },
        _ => expr,
    }
}

/// Is an expression built without letters?
pub(super) fn is_constant(expr: &Expr) -> bool {
    !algebra::has_letter(expr)
}

/// Is an answer a number without letters, whatever stands beside it?
pub(super) fn is_number(answer: &Answer) -> bool {
    matches!(answer, Answer::Quantity(quantity)
        if is_constant(&quantity.value) && quantity.value != Expr::Constant(Constant::Infinity))
}

/// The base of a name with an index: `x` of `x_1`.
pub(super) fn family(name: &Answer) -> Option<&str> {
    match expressions::expression(name)? {
        Expr::Symbol(name) => name.split_once('_').map(|(base, _)| base),
        _ => None,
    }
}

//! Sums of letters with rational factors: `4t + 1` as a class of remainders, `2i + 3j − k` as a vector.

use super::expressions;
use crate::algebra::{Constant, Expr, Rational};
use crate::answer::{Answer, Operator, Relation};

/// How many letters a sum has at most.
const MOST_LETTERS: usize = 8;

/// A sum of letters with factors, and a number.
#[derive(Debug, Default)]
struct Linear {
    letters: Vec<(Box<str>, Rational)>,
    number: Rational,
}

impl Linear {
    fn of(expr: &Expr) -> Option<Self> {
        let mut sum = Self::default();
        sum.add(expr, &Rational::from(1))?;
        sum.letters.retain(|(_, factor)| !factor.is_zero());
        Some(sum)
    }

    fn add(&mut self, expr: &Expr, factor: &Rational) -> Option<()> {
        match expr {
            Expr::Number(value) => self.number += value * factor,
            Expr::Symbol(name) => self.letter(name, factor)?,
            Expr::Constant(Constant::ImaginaryUnit) => self.letter("i", factor)?,
            Expr::Add(parts) if parts.len() <= MOST_LETTERS => {
                for part in parts {
                    self.add(part, factor)?;
                }
            }
            Expr::Multiply(factors) => {
                let mut scale = factor.clone();
                let mut rest = None;
                for part in factors {
                    match expressions::number(part) {
                        Some(value) => scale *= value.into_owned(),
                        None if rest.is_none() => rest = Some(part),
                        None => return None,
                    }
                }
                match rest {
                    Some(rest) => self.add(rest, &scale)?,
                    None => self.number += scale,
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn letter(&mut self, name: &str, factor: &Rational) -> Option<()> {
        let count = self.letters.len();
        match self.letters.iter_mut().find(|(own, _)| **own == *name) {
            Some((_, sum)) => *sum += factor,
            None if count < MOST_LETTERS => {
                self.letters.push((name.into(), factor.clone()));
            }
            None => return None,
        }
        Some(())
    }
}

/// A class of remainders: what it is about, where that is said, its modulus and its remainder.
pub(super) struct Class<'a> {
    pub name: Option<&'a Answer>,
    pub modulus: Rational,
    pub remainder: Rational,
}

/// `n ≡ 1 (mod 4)`, `4 ∣ n − 1`, `n = 4k + 1` and `4k + 1`.
pub(super) fn class(answer: &Answer) -> Option<Class<'_>> {
    let of = |name, value: &Answer| {
        let sum = Linear::of(expressions::expression(value)?)?;
        let [(_, modulus)] = sum.letters.as_slice() else {
            return None;
        };
        integers(name, modulus.clone(), sum.number)
    };
    let Answer::Relation(Relation {
        sides,
        operators,
        modulus,
    }) = answer
    else {
        return of(None, answer);
    };
    let ([first, second], [operator]) = (sides.as_slice(), operators.as_slice()) else {
        return None;
    };
    let rational = |answer: &Answer| {
        let value = expressions::number(expressions::expression(answer)?)?;
        Some(value.into_owned())
    };
    match (operator, modulus) {
        (Operator::Equal, Some(modulus)) => {
            let modulus = expressions::number(modulus)?.into_owned();
            integers(Some(first), modulus, rational(second)?)
        }
        (Operator::Equal, None) => of(Some(first), second),
        (Operator::Divides, None) => integers(Some(second), rational(first)?, Rational::from(0)),
        _ => None,
    }
}

fn integers(name: Option<&Answer>, modulus: Rational, remainder: Rational) -> Option<Class<'_>> {
    let fits = modulus.is_int() && !modulus.is_zero() && remainder.is_int();
    fits.then_some(Class {
        name,
        modulus,
        remainder,
    })
}

/// `2i + 3j − k` as a tuple of so many entries.
pub(super) fn vector(answer: &Answer, entries: usize) -> Option<Answer> {
    let sum = Linear::of(expressions::expression(answer)?)?;
    let names = ["i", "j", "k"];
    let named = |(name, _): &(Box<str>, Rational)| names.contains(&&**name);
    let beyond_i = sum.letters.iter().any(|(name, _)| **name != *"i");
    if !(2..=3).contains(&entries)
        || !sum.number.is_zero()
        || !sum.letters.iter().all(named)
        || !beyond_i
        || entries == 2 && sum.letters.iter().any(|(name, _)| **name == *"k")
    {
        return None;
    }
    let entry = |name: &&str| {
        let found = sum.letters.iter().find(|(own, _)| **own == **name);
        let factor = found.map_or(Rational::from(0), |(_, factor)| factor.clone());
        expressions::answer(Expr::Number(factor))
    };
    Some(Answer::Tuple(
        names.iter().take(entries).map(entry).collect(),
    ))
}

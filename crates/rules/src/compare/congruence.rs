//! Congruences: a ≡ b (mod m).

use super::comparison::{Comparison, Told};
use super::context::Context;
use super::{expressions, linear, naming};
use crate::algebra::Rational;
use crate::answer::{Answer, Operator, Relation};

/// A congruence, or that a number divides, against what says the same: `4t + 1`, `n = 4k + 1`. `None` where it does not.
pub(super) fn classes(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Told {
    let says = |answer: &Answer| {
        matches!(answer, Answer::Relation(relation)
            if relation.modulus.is_some() || relation.operators.contains(&Operator::Divides))
    };
    if says(gold) == says(pred)
        && !matches!((gold, pred), (Answer::Relation(a), Answer::Relation(b))
            if a.modulus.is_some() != b.modulus.is_some())
    {
        return None;
    }
    let (a, b) = (linear::class(gold)?, linear::class(pred)?);
    if let (Some(a), Some(b)) = (a.name, b.name)
        && context.quietly(|context| context.answers(a, b)).equal != Some(true)
    {
        return None;
    }
    let moduli = a.modulus == b.modulus || a.modulus == -b.modulus;
    let remainders = ((a.remainder - b.remainder) / a.modulus).is_int();
    Some(if moduli && remainders {
        Comparison::equal("relation")
    } else {
        Comparison::different("relation", "the remainders or the moduli differ")
    })
}

/// Two statements of which at least one is a congruence.
pub(super) fn both(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    let (Some(m), Some(n)) = (&gold.modulus, &pred.modulus) else {
        return Comparison::open("a congruence against a statement of another kind");
    };
    let ([a, .., c], [b, .., d]) = (gold.sides.as_slice(), pred.sides.as_slice()) else {
        return Comparison::open("");
    };
    let moduli = context.answers(
        &expressions::answer(m.clone()),
        &expressions::answer(n.clone()),
    );
    if moduli.equal != Some(true) {
        // x ≡ 1 (mod 2) may still say what x ≡ 1, 3 (mod 4) says.
        return if moduli.equal == Some(false) && gold.sides.len() == 2 && pred.sides.len() == 2 {
            Comparison::different("relation", "the moduli differ")
        } else {
            Comparison::open("congruences with moduli that could not be compared")
        };
    }
    let names = context.quietly(|context| context.answers(a, b));
    let remainders = context.answers(c, d);
    if names.equal == Some(true) && remainders.equal == Some(true) {
        return Comparison::equal("relation");
    }
    if names.equal == Some(true)
        && let (Some(c), Some(d), Some(m)) = (integer(c), integer(d), expressions::number(m))
        && m.is_int()
        && !m.is_zero()
    {
        let quotient = (c - d) / m.into_owned();
        return if quotient.is_int() {
            Comparison::equal("relation")
        } else {
            Comparison::different("relation", "the remainders differ")
        };
    }
    if names.equal == Some(false) && remainders.equal == Some(true) {
        return Comparison::open("congruences about different things");
    }
    Comparison::open("congruences that could not be compared")
}

fn integer(answer: &Answer) -> Option<Rational> {
    let value = expressions::number(expressions::expression(answer)?)?;
    value.is_int().then(|| value.into_owned())
}

/// `2^10 ≡ 2 (mod 7)` states 2.
pub(super) fn against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let [first, .., last] = relation.sides.as_slice() else {
        return Comparison::open("");
    };
    let verdict = context.either_way(last, other, swapped);
    if naming::is_number(first) {
        return verdict;
    }
    verdict.at_most_open("a congruence against its remainder")
}

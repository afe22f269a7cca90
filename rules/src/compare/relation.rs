//! Statements: equations, inequalities, memberships, congruences and the rest.

use std::borrow::Cow;

use super::collection;
use super::equation;
use super::inequality;
use super::letters;
use super::naming::{self, Stated};
use super::real_set;
use super::rename;
use super::solve;
use super::terms;
use super::words;
use super::{Comparison, Context, is_region, verdict};
use crate::algebra::{Expr, Function, Rational};
use crate::answer::{Answer, Operator, Relation};

/// Statement against statement.
pub(super) fn both(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    if gold.modulus.is_some() || pred.modulus.is_some() {
        // `a = 13 mod 15` may be meant as a congruence too, and is if the other side is one.
        return congruences(&as_congruence(gold), &as_congruence(pred), context);
    }
    if let (Some(a), Some(b)) = (naming::stated(gold), naming::stated(pred))
        && let Some(verdict) = named(a, b, context)
    {
        return verdict;
    }
    let (equation_a, equation_b) = (naming::is_equation(gold), naming::is_equation(pred));
    if equation_a && equation_b {
        return equation::compare(gold, pred, context);
    }
    if is_inequality(gold) && is_inequality(pred) {
        return inequality::compare(gold, pred, context);
    }
    if is_solvable(gold) && is_solvable(pred) {
        return match (solve::solve(gold, context), solve::solve(pred, context)) {
            (Some(a), Some(b)) if a.variable == b.variable => {
                real_set::sets("solutions", &a.set, &b.set, context)
            }
            (Some(_), Some(_)) => verdict::no(
                "names",
                "the statements are about different unknowns".to_owned(),
            ),
            // An equation and an inequality hold at different points, save for odd ones.
            _ if equation_a && is_inequality(pred) || equation_b && is_inequality(gold) => {
                verdict::no("kind", "an equation is no inequality".to_owned())
            }
            _ => verdict::open("statements that could not be solved".to_owned()),
        };
    }
    sides(gold, pred, context)
}

/// Is a relation made of <, ≤, >, ≥, ≠ (and =, but not of = alone)?
fn is_inequality(relation: &Relation) -> bool {
    !naming::is_equation(relation)
        && relation.operators.iter().all(|operator| {
            matches!(
                operator,
                Operator::Less
                    | Operator::LessOrEqual
                    | Operator::Greater
                    | Operator::GreaterOrEqual
                    | Operator::NotEqual
                    | Operator::Equal
            )
        })
}

fn is_solvable(relation: &Relation) -> bool {
    naming::is_equation(relation)
        || is_inequality(relation)
        || matches!(
            relation.operators.as_slice(),
            [Operator::In | Operator::NotIn]
        )
}

/// Two statements that give a value to a name. `None` where they must be read otherwise.
fn named(gold: Stated<'_>, pred: Stated<'_>, context: &mut Context<'_>) -> Option<Comparison> {
    let Some(renames) = naming::agree(gold.name, pred.name) else {
        return tuples_of_names(gold, pred, context)
            .or_else(|| differently_named(gold, pred, context));
    };
    let value = rename::letters(pred.value, &renames);
    let verdict = if gold.member == pred.member {
        context.answers(gold.value, &value)
    } else {
        // x ∈ {5} against x = 5; but x ∈ A is not x = A.
        let set = if gold.member { gold.value } else { pred.value };
        if matches!(set, Answer::Set(_)) || is_region(set) {
            context.answers(gold.value, &value)
        } else {
            verdict::no("kind", "a member is not the set".to_owned())
        }
    };
    if verdict.equal == Some(true) {
        return Some(verdict);
    }
    // The name may stand on the other side too, and then the equation is to be solved.
    let solved = |stated: Stated<'_>| {
        terms::expression(stated.name).is_none_or(|name| {
            terms::expression(stated.value)
                .is_none_or(|value| !terms::any(value, &mut |part| part == name))
        })
    };
    let implicit = !solved(gold) || !solved(pred);
    if implicit && !gold.member && !pred.member {
        return None;
    }
    if let Some(verdict) = approximately(gold, pred, context) {
        return Some(verdict);
    }
    Some(verdict)
}

/// `x = 1/3 ≈ 0.33` also states 0.33.
fn approximately(
    gold: Stated<'_>,
    pred: Stated<'_>,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    let tries = [
        (gold.approximately, Some(pred.value)),
        (Some(gold.value), pred.approximately),
    ];
    for (a, b) in tries {
        if let (Some(a), Some(b)) = (a, b) {
            let verdict = context.quietly(|context| context.answers(a, b));
            if verdict.equal == Some(true) {
                return Some(verdict);
            }
        }
    }
    None
}

/// (x, y) = (1, 2) against (y, x) = (2, 1).
fn tuples_of_names(
    gold: Stated<'_>,
    pred: Stated<'_>,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    let (Answer::Tuple(names_a), Answer::Tuple(names_b)) = (gold.name, pred.name) else {
        return None;
    };
    let (Answer::Tuple(values_a), Answer::Tuple(values_b)) = (gold.value, pred.value) else {
        return None;
    };
    if names_a.len() != values_a.len() || names_b.len() != values_b.len() {
        return None;
    }
    let order = names_a
        .iter()
        .map(|name| names_b.iter().position(|other| other == name))
        .collect::<Option<Vec<_>>>()?;
    if names_a.len() != names_b.len() {
        return None;
    }
    let values: Vec<Answer> = order.iter().map(|&index| values_b[index].clone()).collect();
    Some(collection::in_order("tuple", values_a, &values, context))
}

/// Values under different names. `None` where the equations may still be the same, as y = 2x and x = y/2.
fn differently_named(
    gold: Stated<'_>,
    pred: Stated<'_>,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    let numbers = |answer: &Answer| match answer {
        Answer::List(parts) | Answer::Set(parts) | Answer::Tuple(parts) => {
            parts.iter().all(naming::is_number)
        }
        answer => naming::is_number(answer),
    };
    if !(numbers(gold.value) && numbers(pred.value)) {
        let expressions = [gold.name, gold.value, pred.name, pred.value]
            .into_iter()
            .all(|answer| terms::expression(answer).is_some());
        if expressions {
            return None;
        }
        return Some(verdict::open(
            "values of differently named things".to_owned(),
        ));
    }
    let letter = |answer: &Answer| matches!(terms::expression(answer), Some(Expr::Symbol(_)));
    if letter(gold.name) && letter(pred.name) && context.options.strict {
        let reason = context.say(|| {
            format!(
                "one side is about {}, the other about {}",
                terms::show_answer(gold.name),
                terms::show_answer(pred.name)
            )
        });
        return Some(verdict::no("names", reason));
    }
    // AB = 4 against x = 4: whether x is AB was not said.
    let verdict = context.answers(gold.value, pred.value);
    Some(verdict::at_most_open(
        verdict,
        "the same value of differently named things",
    ))
}

/// An equation whose right side is a remainder, as a congruence.
fn as_congruence(relation: &Relation) -> Cow<'_, Relation> {
    if let ([name, value], [Operator::Equal], None) = (
        relation.sides.as_slice(),
        relation.operators.as_slice(),
        &relation.modulus,
    ) && let Some(Expr::Call(Function::Modulo, parts)) = terms::expression(value)
        && let [value, modulus] = parts.as_slice()
    {
        return Cow::Owned(Relation {
            sides: vec![name.clone(), terms::answer(value.clone())],
            operators: relation.operators.clone(),
            modulus: Some(modulus.clone()),
        });
    }
    Cow::Borrowed(relation)
}

/// a ≡ b (mod m).
fn congruences(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    let (Some(m), Some(n)) = (&gold.modulus, &pred.modulus) else {
        return verdict::open("a congruence against a statement of another kind".to_owned());
    };
    let (Some(a), Some(b)) = (gold.sides.first(), pred.sides.first()) else {
        return verdict::open(String::new());
    };
    let (Some(c), Some(d)) = (gold.sides.last(), pred.sides.last()) else {
        return verdict::open(String::new());
    };
    let moduli = context.answers(&terms::answer(m.clone()), &terms::answer(n.clone()));
    if moduli.equal != Some(true) {
        // x ≡ 1 (mod 2) may still say what x ≡ 1, 3 (mod 4) says.
        return if moduli.equal == Some(false) && gold.sides.len() == 2 && pred.sides.len() == 2 {
            verdict::no("relation", "the moduli differ".to_owned())
        } else {
            verdict::open("congruences with moduli that could not be compared".to_owned())
        };
    }
    let names = context.quietly(|context| context.answers(a, b));
    let remainders = context.answers(c, d);
    if names.equal == Some(true) && remainders.equal == Some(true) {
        return verdict::yes("relation");
    }
    if names.equal == Some(true)
        && let (Some(c), Some(d), Some(m)) = (integer(c), integer(d), terms::number(m))
        && m.is_int()
        && !m.is_zero()
    {
        let quotient = (c - d) / m.into_owned();
        return if quotient.is_int() {
            verdict::yes("relation")
        } else {
            verdict::no("relation", "the remainders differ".to_owned())
        };
    }
    if names.equal == Some(false) && remainders.equal == Some(true) {
        return verdict::open("congruences about different things".to_owned());
    }
    verdict::open("congruences that could not be compared".to_owned())
}

fn integer(answer: &Answer) -> Option<Rational> {
    let value = terms::number(terms::expression(answer)?)?;
    value.is_int().then(|| value.into_owned())
}

/// Side by side, for relations that no algebra is done on.
pub(super) fn sides(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    if gold.sides.len() != pred.sides.len() {
        return verdict::open("chains of different length".to_owned());
    }
    let in_order = |pred: &mut dyn Iterator<Item = &Answer>, context: &mut Context<'_>| {
        let parts = gold
            .sides
            .iter()
            .zip(pred)
            .map(|(a, b)| context.answers(a, b));
        verdict::all("relation", parts)
    };
    if gold.operators == pred.operators {
        let verdict = in_order(&mut pred.sides.iter(), context);
        if verdict.equal == Some(true) {
            return verdict;
        }
        let symmetric = gold.operators.iter().all(|operator| {
            matches!(
                operator,
                Operator::Equal
                    | Operator::NotEqual
                    | Operator::Approximately
                    | Operator::Parallel
                    | Operator::Perpendicular
                    | Operator::Similar
            )
        });
        if symmetric {
            let turned = in_order(&mut pred.sides.iter().rev(), context);
            if turned.equal != Some(false) {
                return turned;
            }
        }
        // Different sides need not make different statements.
        return if verdict.equal == Some(false)
            && matches!(
                gold.operators.as_slice(),
                [Operator::Divides
                    | Operator::Parallel
                    | Operator::Perpendicular
                    | Operator::Similar
                    | Operator::Subset
                    | Operator::In
                    | Operator::NotIn]
            ) {
            Comparison {
                method: "relation",
                ..verdict
            }
        } else {
            verdict::open("statements that are not written alike".to_owned())
        };
    }
    let kind = |relation: &Relation| is_solvable(relation);
    if kind(gold) == kind(pred) && kind(gold) {
        return verdict::open("statements that could not be compared".to_owned());
    }
    verdict::no("kind", "statements of different kinds".to_owned())
}

/// Statement against an answer that is none.
pub(super) fn against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    if let Some(stated) = naming::stated(relation) {
        if let Some(verdict) = other_names(stated, other, context) {
            return verdict;
        }
        let verdict = context.either_way(stated.value, other, swapped);
        if verdict.equal != Some(true)
            && let Some(near) = stated.approximately
        {
            let verdict = context.quietly(|context| context.either_way(near, other, swapped));
            if verdict.equal == Some(true) {
                return verdict;
            }
        }
        return verdict;
    }
    match other {
        Answer::Choice(_) | Answer::Truth(_) | Answer::Text(_) => {
            let answer = Answer::Relation(relation.clone());
            let (a, b) = if swapped {
                (other, &answer)
            } else {
                (&answer, other)
            };
            return match other {
                Answer::Choice(_) => letters::choices(a, b, context),
                Answer::Truth(_) => letters::truths(a, b, context),
                _ => match (solve::region(a, context), solve::region(b, context)) {
                    (Some(a), Some(b)) => real_set::sets("solutions", &a.set, &b.set, context),
                    _ => words::compare(a, b, context),
                },
            };
        }
        _ => {}
    }
    if relation.modulus.is_some() {
        return congruence_against(relation, other, swapped, context);
    }
    if naming::is_equation(relation) {
        if let [operator] = relation.operators.as_slice()
            && *operator == Operator::Approximately
        {
            // π/3 ≈ 1.047 states either.
            for side in &relation.sides {
                let verdict = context.quietly(|context| context.either_way(side, other, swapped));
                if verdict.equal == Some(true) {
                    return verdict;
                }
            }
            return match relation.sides.first() {
                Some(side) => context.either_way(side, other, swapped),
                None => verdict::open(String::new()),
            };
        }
        return equation::against(relation, other, swapped, context);
    }
    if is_inequality(relation) || is_solvable(relation) {
        let answer = Answer::Relation(relation.clone());
        let verdict = if swapped {
            real_set::compare(other, &answer, context)
        } else {
            real_set::compare(&answer, other, context)
        };
        if verdict.equal.is_none()
            && matches!(other, Answer::Quantity(_))
            && naming::is_number(other)
        {
            return verdict::no("kind", "an inequality is no number".to_owned());
        }
        return verdict;
    }
    match other {
        Answer::Quantity(_) | Answer::Tuple(_) | Answer::Interval(_) => {
            let reason = context.say(|| format!("a statement is no {}", words::kind(other)));
            verdict::no("kind", reason)
        }
        _ => verdict::open("a statement against an answer of another kind".to_owned()),
    }
}

/// A list of equations about something else than the statement is.
fn other_names(stated: Stated<'_>, other: &Answer, context: &Context<'_>) -> Option<Comparison> {
    let (Answer::List(parts) | Answer::Set(parts)) = other else {
        return None;
    };
    if matches!(stated.name, Answer::Tuple(_)) || !context.options.strict {
        return None;
    }
    for part in parts {
        if let Answer::Relation(relation) = part
            && let Some(theirs) = naming::stated(relation)
            && naming::agree(stated.name, theirs.name).is_none()
        {
            return Some(verdict::no(
                "names",
                "the statements are about different things".to_owned(),
            ));
        }
    }
    None
}

/// `2^10 ≡ 2 (mod 7)` states 2.
fn congruence_against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let (Some(first), Some(last)) = (relation.sides.first(), relation.sides.last()) else {
        return verdict::open(String::new());
    };
    let verdict = context.either_way(last, other, swapped);
    if naming::is_number(first) {
        return verdict;
    }
    verdict::at_most_open(verdict, "a congruence against its remainder")
}

//! Statements: equations, inequalities, memberships, congruences and the rest.

use super::comparison::Comparison;
use super::context::{Context, in_order_of_sides};
use super::naming::{self, Stated};
use super::{
    congruence, equation, expressions, inequality, letters, real_set, region, rename, sides, solve,
    words,
};
use crate::algebra::{self, Expr, Function};
use crate::answer::{Answer, Operator, Relation};
pub(super) fn both(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    if gold.modulus.is_some() || pred.modulus.is_some() {
        return congruence::both(gold, pred, context);
    }
    if let (Some(a), Some(b)) = (naming::stated(gold), naming::stated(pred))
        && let Some(verdict) = named(a, b, context)
    {
        return verdict;
    }
    let (equation_a, equation_b) = (naming::is_equation(gold), naming::is_equation(pred));
    if equation_a && equation_b {
        return equation::compare(gold, pred, context)
            .unwrap_or_else(|| sides::compare(gold, pred, is_solvable, context));
    }
    if is_inequality(gold) && is_inequality(pred) {
        return inequality::compare(gold, pred, context);
    }
    if is_solvable(gold) && is_solvable(pred) {
        // An equation and an inequality hold at different points, save for odd ones.
        let kinds = equation_a && is_inequality(pred) || equation_b && is_inequality(gold);
        return solve::solutions(gold, pred, context).unwrap_or_else(|| {
            if kinds {
                Comparison::different("kind", "an equation is no inequality")
            } else {
                Comparison::open("statements that could not be solved")
            }
        });
    }
    sides::compare(gold, pred, is_solvable, context)
}

/// Is a relation made of <, ≤, >, ≥, ≠ (and =, but not of = alone)?
pub(super) fn is_inequality(relation: &Relation) -> bool {
    !naming::is_equation(relation)
        && relation
            .operators
            .iter()
            .all(|it| it.orders() || *it == Operator::Equal)
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
        // As y = 2x and x = y/2, which may be the same. Whether AB is x was not said.
        let expressions = [gold.name, gold.value, pred.name, pred.value]
            .into_iter()
            .all(|answer| expressions::expression(answer).is_some());
        let implicit = !(naming::is_number(gold.value) && naming::is_number(pred.value));
        let letter = |it| matches!(expressions::expression(it), Some(Expr::Symbol(_)));
        let letters = letter(gold.name) && letter(pred.name) && context.config.strict;
        let reason = "values of differently named things";
        return (!expressions || !implicit).then(|| {
            if letters && !implicit {
                Comparison::different("names", reason)
            } else {
                Comparison::open(reason)
            }
        });
    };
    let value = rename::letters(pred.value, &renames);
    let verdict = if gold.member == pred.member {
        context.answers(gold.value, &value)
    } else {
        // x ∈ {5} against x = 5; but x ∈ A is not x = A.
        let set = if gold.member { gold.value } else { pred.value };
        if matches!(set, Answer::Set(_)) || region::is_region(set) {
            context.answers(gold.value, &value)
        } else {
            Comparison::different("kind", "a member is not the set")
        }
    };
    if verdict.equal == Some(true) {
        return Some(verdict);
    }
    // The name may stand on the other side too, and then the equation is to be solved.
    let solved = |stated: Stated<'_>| {
        expressions::expression(stated.name).is_none_or(|name| {
            expressions::expression(stated.value)
                .is_none_or(|value| !algebra::any(value, &mut |part| part == name))
        })
    };
    let implicit = !solved(gold) || !solved(pred);
    if implicit && !gold.member && !pred.member {
        return None;
    }
    Some(verdict)
}

/// Statement against an answer that is none.
pub(super) fn against(
    relation: &Relation,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Comparison {
    if let Some(stated) = naming::stated(relation) {
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
            let (a, b) = in_order_of_sides(&answer, other, swapped);
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
        return congruence::against(relation, other, swapped, context);
    }
    // |S| = 81 counts the elements of a set.
    if naming::is_equation(relation)
        && naming::is_number(other)
        && let [counted, value] = relation.sides.as_slice()
        && let Some(Expr::Call(Function::Absolute, of)) = expressions::expression(counted)
        && matches!(of.as_slice(), [Expr::Symbol(set)] if set.starts_with(char::is_uppercase))
    {
        return context.either_way(value, other, swapped);
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
                None => Comparison::open(""),
            };
        }
        return equation::against(relation, other, swapped, context);
    }
    if is_inequality(relation) || is_solvable(relation) {
        let answer = Answer::Relation(relation.clone());
        let (a, b) = in_order_of_sides(&answer, other, swapped);
        let verdict = region::compare(a, b, context);
        if verdict.equal.is_none()
            && matches!(other, Answer::Quantity(_))
            && naming::is_number(other)
        {
            return Comparison::different("kind", "an inequality is no number");
        }
        return verdict;
    }
    match other {
        Answer::Quantity(_) | Answer::Tuple(_) | Answer::Interval(_) => context
            .different("kind", || {
                format!("a statement is no {}", words::kind(other))
            }),
        _ => Comparison::open("a statement against an answer of another kind"),
    }
}

//! Inequalities against inequalities.

use super::comparison::Comparison;
use super::context::Context;
use super::{collection, equation, solve};
use crate::answer::{Operator, Relation};

/// Two relations made of <, ≤, >, ≥ and ≠.
pub(super) fn compare(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    let (a, b) = (ascending(gold), ascending(pred));
    if a.sides.len() == b.sides.len() {
        let alike = context
            .quietly(|context| collection::in_order("relation", &a.sides, &b.sides, context));
        if alike.equal == Some(true) {
            if a.operators == b.operators {
                return alike;
            }
            return Comparison::different(
                "relation",
                "the same sides with another sign between them",
            );
        }
    }
    if let ([Operator::NotEqual], [Operator::NotEqual]) = (&a.operators[..], &b.operators[..])
        && let (Some(f), Some(g)) = (equation::difference(&a), equation::difference(&b))
    {
        return equation::zero_sets(&f, &g, context);
    }
    solve::solutions(&a, &b, context).unwrap_or_else(|| {
        Comparison::open("inequalities that could not be brought to the same form")
    })
}

/// A chain with the smaller sides first.
fn ascending(relation: &Relation) -> Relation {
    let falling = relation.operators.iter().all(|operator| {
        matches!(
            operator,
            Operator::Greater | Operator::GreaterOrEqual | Operator::Equal
        )
    });
    let mut turned = relation.clone();
    if falling {
        turned.sides.reverse();
        turned.operators.reverse();
        for operator in &mut turned.operators {
            *operator = solve::mirrored(*operator).unwrap_or(*operator);
        }
    }
    turned
}

//! Inequalities against inequalities.

use std::cmp::Ordering;

use super::comparison::Comparison;
use super::context::Context;
use super::equation::{self, Factor};
use super::{collection, real_set, solve};
use crate::algebra::{self, Expr};
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
    if let ([first], [second]) = (a.operators.as_slice(), b.operators.as_slice())
        && let (Some(f), Some(g)) = (equation::difference(&a), equation::difference(&b))
    {
        if *first == Operator::NotEqual && *second == Operator::NotEqual {
            return equation::zero_sets(&f, &g, context);
        }
        let letters = algebra::variables_of([&f, &g]);
        if let Factor::By(factor, status) = equation::proportional(&f, &g, &letters, context)
            && let Some(sign) = real_set::order_of(&factor, &Expr::integer(0), context)
        {
            let same = match sign {
                Ordering::Less => solve::mirrored(*second) == Some(*first),
                _ => first == second,
            };
            return if same {
                Comparison::equal_as(status, "proportional")
            } else {
                Comparison::different("proportional", "the inequalities point to different sides")
            };
        }
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

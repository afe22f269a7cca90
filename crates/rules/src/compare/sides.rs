//! Statements side by side.

use super::comparison::Comparison;
use super::context::Context;
use crate::answer::{Answer, Operator, Relation};

/// Side by side, for relations that no algebra is done on.
pub(super) fn compare(
    gold: &Relation,
    pred: &Relation,
    is_solvable: impl Fn(&Relation) -> bool,
    context: &mut Context<'_>,
) -> Comparison {
    use Operator::{Approximately, Divides, Equal, In, NotEqual, NotIn, Parallel, Perpendicular};
    use Operator::{Similar, Subset};
    if gold.sides.len() != pred.sides.len() {
        return Comparison::open("chains of different length");
    }
    let in_order = |pred: &mut dyn Iterator<Item = &Answer>, context: &mut Context<'_>| {
        let parts = gold.sides.iter().zip(pred);
        let parts = parts.map(|(a, b)| context.answers(a, b));
        Comparison::all("relation", parts)
    };
    if gold.operators == pred.operators {
        let verdict = in_order(&mut pred.sides.iter(), context);
        if verdict.equal == Some(true) {
            return verdict;
        }
        let symmetric = |it: &Operator| {
            matches!(
                it,
                Equal | NotEqual | Approximately | Parallel | Perpendicular | Similar
            )
        };
        if gold.operators.iter().all(symmetric) {
            let turned = in_order(&mut pred.sides.iter().rev(), context);
            if turned.equal != Some(false) {
                return turned;
            }
        }
        // Different sides need not make different statements.
        return if verdict.equal == Some(false)
            && matches!(
                gold.operators.as_slice(),
                [Divides | Parallel | Perpendicular | Similar | Subset | In | NotIn]
            ) {
            verdict.by("relation")
        } else {
            Comparison::open("statements that are not written alike")
        };
    }
    if is_solvable(gold) && is_solvable(pred) {
        return Comparison::open("statements that could not be compared");
    }
    Comparison::different("kind", "statements of different kinds")
}

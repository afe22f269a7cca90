//! Matrices and vectors.

use super::comparison::Comparison;
use super::context::{Context, in_order_of_sides};
use super::numbers::{self, Value};
use super::{expressions, words};
use crate::algebra::Expr;
use crate::answer::{Answer, Matrix};

/// At least one side is a matrix.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    match (gold, pred) {
        (Answer::Matrix(a), Answer::Matrix(b)) => matrices(a, b, context),
        (Answer::Matrix(matrix), other) => mixed(matrix, other, false, context),
        (other, Answer::Matrix(matrix)) => mixed(matrix, other, true, context),
        _ => Comparison::open(""),
    }
}

fn width(matrix: &Matrix) -> usize {
    matrix.rows.first().map_or(0, Vec::len)
}

/// Entry by entry.
fn matrices(a: &Matrix, b: &Matrix, context: &mut Context<'_>) -> Comparison {
    if a.rows.len() != b.rows.len() || width(a) != width(b) {
        return context.different("matrix", || {
            format!(
                "a {}×{} and a {}×{} matrix differ",
                a.rows.len(),
                width(a),
                b.rows.len(),
                width(b)
            )
        });
    }
    entries(
        a.rows.iter().flatten().zip(b.rows.iter().flatten()),
        context,
    )
}

fn entries<'e>(
    pairs: impl Iterator<Item = (&'e Expr, &'e Expr)>,
    context: &mut Context<'_>,
) -> Comparison {
    let parts = pairs.map(|(a, b)| numbers::compare(Value::of(a), Value::of(b), context));
    Comparison::all("matrix", parts)
}

/// A matrix against something else: a vector may be written as a tuple, a 1×1 matrix is its entry.
fn mixed(matrix: &Matrix, other: &Answer, swapped: bool, context: &mut Context<'_>) -> Comparison {
    let is_vector = matrix.rows.len() == 1 || width(matrix) == 1;
    let flat: Vec<Expr> = matrix.rows.iter().flatten().cloned().collect();
    let pair = |flat: Vec<Expr>, others: Vec<Expr>, context: &mut Context<'_>| {
        if flat.len() != others.len() {
            return Comparison::different("matrix", "vectors of different lengths");
        }
        let (a, b) = in_order_of_sides(&flat, &others, swapped);
        entries(a.iter().zip(b), context)
    };
    match other {
        Answer::Quantity(_) if flat.len() == 1 => match expressions::expression(other) {
            Some(value) => pair(flat, vec![value.clone()], context),
            None => Comparison::open("a matrix of one entry against a quantity"),
        },
        Answer::Tuple(parts) => {
            if is_vector
                && let Some(values) = parts
                    .iter()
                    .map(|part| expressions::expression(part).cloned())
                    .collect::<Option<Vec<_>>>()
            {
                return pair(flat, values, context);
            }
            Comparison::open("a matrix against a tuple")
        }
        // `[1, 2]` beside a vector is a vector in square brackets.
        Answer::Interval(it) if is_vector && it.lower.closed == it.upper.closed => {
            let ends = vec![it.lower.value.clone(), it.upper.value.clone()];
            pair(flat, ends, context)
        }
        Answer::List(_) => Comparison::open("a matrix against a list"),
        _ => context.different("kind", || format!("a matrix is no {}", words::kind(other))),
    }
}

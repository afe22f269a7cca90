//! Matrices and vectors.

use super::comparison::Comparison;
use super::context::Context;
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
    entries(a.rows.iter().flatten(), b.rows.iter().flatten(), context)
}

fn entries<'e>(
    a: impl Iterator<Item = &'e Expr>,
    b: impl Iterator<Item = &'e Expr>,
    context: &mut Context<'_>,
) -> Comparison {
    let parts = a
        .zip(b)
        .map(|(a, b)| numbers::compare(Value::of(a), Value::of(b), context));
    Comparison::all("matrix", parts)
}

/// A matrix against something else: a vector may be written as a tuple, a 1×1 matrix is its entry.
fn mixed(matrix: &Matrix, other: &Answer, swapped: bool, context: &mut Context<'_>) -> Comparison {
    let is_vector = matrix.rows.len() == 1 || width(matrix) == 1;
    let flat: Vec<Expr> = matrix.rows.iter().flatten().cloned().collect();
    let pair = |flat: Vec<Expr>, others: Vec<Expr>, context: &mut Context<'_>| {
        if flat.len() != others.len() {
            return context.different("matrix", || {
                format!(
                    "vectors of {} and {} entries differ",
                    flat.len(),
                    others.len()
                )
            });
        }
        if swapped {
            entries(others.iter(), flat.iter(), context)
        } else {
            entries(flat.iter(), others.iter(), context)
        }
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
            rows(matrix, parts, swapped, context)
        }
        Answer::List(parts) if !is_vector => rows(matrix, parts, swapped, context),
        Answer::Interval(interval) if is_vector => {
            // `[1, 2]` beside a vector is a vector in square brackets.
            if interval.lower.closed == interval.upper.closed {
                let values = vec![interval.lower.value.clone(), interval.upper.value.clone()];
                pair(flat, values, context)
            } else {
                Comparison::different("kind", "a half-open interval is no vector")
            }
        }
        Answer::List(_) => Comparison::open("a vector against a list"),
        _ => context.different("kind", || format!("a matrix is no {}", words::kind(other))),
    }
}

/// A matrix against a tuple of its rows.
fn rows(matrix: &Matrix, parts: &[Answer], swapped: bool, context: &mut Context<'_>) -> Comparison {
    if parts.len() != matrix.rows.len() {
        return Comparison::different("matrix", "the numbers of rows differ");
    }
    let verdicts: Vec<Comparison> = matrix
        .rows
        .iter()
        .zip(parts)
        .map(|(row, part)| {
            let row = Answer::Matrix(Matrix {
                rows: vec![row.clone()],
            });
            match part {
                Answer::Tuple(_) | Answer::Interval(_) | Answer::Matrix(_) => {
                    context.either_way(&row, part, swapped)
                }
                _ => Comparison::different("kind", "a row of a matrix is no number"),
            }
        })
        .collect();
    Comparison::all("matrix", verdicts)
}

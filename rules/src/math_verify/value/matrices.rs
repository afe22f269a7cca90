//! Determinants, traces and transposition.

use super::term::Term;
use super::walk;

/// Determinants of at most this many rows are worked out.
const MAX_ROWS: usize = 4;
/// The entries of determinants have at most this many parts.
const MAX_SIZE: usize = 400;
/// Products of matrices take at most this many steps.
const MAX_STEPS: usize = 4_000;

/// The determinant of a matrix; `None` for anything else.
pub(super) fn determinant(term: &Term) -> Option<Term> {
    let Term::Matrix(rows) = term else {
        return None;
    };
    if rows.len() > MAX_ROWS || rows.iter().any(|row| row.len() != rows.len()) {
        return None;
    }
    let size: usize = rows
        .iter()
        .flatten()
        .map(|entry| walk::size(entry, MAX_SIZE))
        .sum();
    (size < MAX_SIZE).then(|| expanded(rows))
}

fn expanded(rows: &[Vec<Term>]) -> Term {
    let Some((first, rest)) = rows.split_first() else {
        return Term::integer(1);
    };
    if rest.is_empty() {
        return first.first().cloned().unwrap_or_else(|| Term::integer(1));
    }
    let mut total = Vec::with_capacity(first.len());
    for (column, entry) in first.iter().enumerate() {
        let minor: Vec<Vec<Term>> = rest
            .iter()
            .map(|row| {
                row.iter()
                    .enumerate()
                    .filter(|(at, _)| *at != column)
                    .map(|(_, entry)| entry.clone())
                    .collect()
            })
            .collect();
        let product = entry.clone().times(expanded(&minor));
        total.push(if column % 2 == 0 {
            product
        } else {
            Term::integer(-1).times(product)
        });
    }
    worked_out(Term::Add(total))
}

/// `SymPy` works determinants out at once, so a number comes out as a number.
fn worked_out(term: Term) -> Term {
    match walk::exact(&term) {
        Some((value, false)) => Term::Number(value),
        Some((value, true)) => Term::Float(value),
        None => term,
    }
}

/// A sum or product of matrices, worked out into one; `None` where the shapes do not fit, and for powers, which
/// Math-Verify does not work out either.
pub(super) fn combined(term: &Term) -> Option<Term> {
    match term {
        Term::Matrix(_) => Some(term.clone()),
        Term::Add(items) => {
            let mut total: Option<Vec<Vec<Term>>> = None;
            for item in items {
                let Some(Term::Matrix(next)) = combined(item) else {
                    return None;
                };
                total = Some(match total {
                    None => next,
                    Some(total) => sum(&total, &next)?,
                });
            }
            total.map(Term::Matrix)
        }
        Term::Multiply(items) => {
            let mut factor = Vec::new();
            let mut total: Option<Vec<Vec<Term>>> = None;
            for item in items {
                if !item.is_matrix() {
                    factor.push(item.clone());
                    continue;
                }
                let Some(Term::Matrix(next)) = combined(item) else {
                    return None;
                };
                total = Some(match total {
                    None => next,
                    Some(total) => product(&total, &next)?,
                });
            }
            let mut total = total?;
            if !factor.is_empty() {
                for entry in total.iter_mut().flatten() {
                    let mut factors = factor.clone();
                    factors.push(entry.clone());
                    *entry = worked_out(Term::Multiply(factors));
                }
            }
            Some(Term::Matrix(total))
        }
        _ => None,
    }
}

fn sum(a: &[Vec<Term>], b: &[Vec<Term>]) -> Option<Vec<Vec<Term>>> {
    if a.len() != b.len() {
        return None;
    }
    a.iter()
        .zip(b)
        .map(|(left, right)| {
            (left.len() == right.len()).then(|| {
                left.iter()
                    .zip(right)
                    .map(|(left, right)| worked_out(left.clone().plus(right.clone())))
                    .collect()
            })
        })
        .collect()
}

fn product(a: &[Vec<Term>], b: &[Vec<Term>]) -> Option<Vec<Vec<Term>>> {
    let width = b.first()?.len();
    if a.first()?.len() != b.len() || a.len() * b.len() * width > MAX_STEPS {
        return None;
    }
    let entry = |row: &[Term], column: usize| {
        let products = row
            .iter()
            .zip(b)
            .filter_map(|(left, right)| {
                right
                    .get(column)
                    .map(|right| left.clone().times(right.clone()))
            })
            .collect();
        worked_out(Term::Add(products))
    };
    Some(
        a.iter()
            .map(|row| (0..width).map(|column| entry(row, column)).collect())
            .collect(),
    )
}

/// The sum of the diagonal; `None` for anything but a square matrix.
pub(super) fn trace(term: &Term) -> Option<Term> {
    let Term::Matrix(rows) = term else {
        return None;
    };
    if rows.iter().any(|row| row.len() != rows.len()) {
        return None;
    }
    let diagonal = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| row.get(at).cloned())
        .collect();
    Some(worked_out(Term::Add(diagonal)))
}

/// A matrix turned over; anything else stays what it is.
pub(super) fn transposed(term: Term) -> Term {
    let Term::Matrix(rows) = &term else {
        return term;
    };
    let width = rows.first().map_or(0, Vec::len);
    Term::Matrix(
        (0..width)
            .map(|column| {
                rows.iter()
                    .filter_map(|row| row.get(column).cloned())
                    .collect()
            })
            .collect(),
    )
}

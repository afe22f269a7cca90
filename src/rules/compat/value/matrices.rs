//! Determinants, traces and transposition.

use super::term::Term;

/// Determinants of at most this many rows are worked out.
const MAX_ROWS: usize = 4;

/// The determinant of a matrix; `None` for anything else.
pub(super) fn determinant(term: &Term) -> Option<Term> {
    let Term::Matrix(rows) = term else {
        return None;
    };
    if rows.len() > MAX_ROWS || rows.iter().any(|row| row.len() != rows.len()) {
        return None;
    }
    Some(expanded(rows))
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

/// SymPy works determinants out at once, so a number comes out as a number.
fn worked_out(term: Term) -> Term {
    match super::walk::exact(&term) {
        Some((value, false)) => Term::Number(value),
        Some((value, true)) => Term::Float(value),
        None => term,
    }
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

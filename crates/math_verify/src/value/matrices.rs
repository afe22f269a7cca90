//! Determinants, traces and transposition.

use super::expr::Term;
use super::principal::exact;
use juror_algebra::{self as algebra, Expr, Function};

/// Determinants of at most this many rows are worked out.
const MAX_ROWS: usize = 4;
/// The entries of determinants have at most this many parts.
const MAX_SIZE: u64 = 400;
/// Products of matrices take at most this many steps.
const MAX_STEPS: usize = 4_000;

pub(super) fn matrix(rows: Vec<Vec<Expr>>) -> Expr {
    let row = |entries| Expr::Call(Function::Row, entries);
    Expr::Call(Function::Matrix, rows.into_iter().map(row).collect())
}

/// The rows of a matrix; none of anything else.
pub(super) fn entries(term: &Expr) -> impl Iterator<Item = &[Expr]> {
    let rows = match term {
        Expr::Call(Function::Matrix, rows) => rows.as_slice(),
        _ => &[],
    };
    rows.iter().map(|row| match row {
        Expr::Call(Function::Row, entries) => entries.as_slice(),
        _ => &[],
    })
}

/// The rows of a square matrix.
fn square(term: &Expr) -> Option<Vec<&[Expr]>> {
    let rows: Vec<_> = entries(term).collect();
    let is_square = rows.iter().all(|row| row.len() == rows.len());
    (!rows.is_empty() && is_square).then_some(rows)
}

/// The determinant of a square matrix; `None` for anything else.
pub(super) fn determinant(term: &Expr) -> Option<Expr> {
    let rows = square(term)?;
    let size: u64 = rows.iter().copied().flatten().map(algebra::size).sum();
    (rows.len() <= MAX_ROWS && size < MAX_SIZE).then(|| {
        let columns: Vec<usize> = (0..rows.len()).collect();
        expanded(&rows, &columns)
    })
}

/// The determinant of these columns of the rows.
fn expanded(rows: &[&[Expr]], columns: &[usize]) -> Expr {
    let Some((first, rest)) = rows.split_first() else {
        return Expr::integer(1);
    };
    if let [column] = columns {
        return first[*column].clone();
    }
    let minor = |place: usize| {
        let mut others = columns.to_vec();
        let product = first[others.remove(place)]
            .clone()
            .times(expanded(rest, &others));
        if place.is_multiple_of(2) {
            product
        } else {
            Expr::integer(-1).times(product)
        }
    };
    worked_out(Expr::Add((0..columns.len()).map(minor).collect()))
}

/// `SymPy` works determinants out at once, so a number comes out as a number.
fn worked_out(term: Expr) -> Expr {
    exact(&term).map_or(term, Expr::number)
}

/// A sum or product of matrices, worked out into one; `None` where the shapes do not fit, and for powers, which Math-Verify does not work out either.
pub(super) fn combined(term: &Expr) -> Option<Expr> {
    match term {
        Expr::Call(Function::Matrix, _) => Some(term.clone()),
        Expr::Add(items) => {
            let (first, rest) = items.split_first()?;
            rest.iter().try_fold(combined(first)?, |total, item| {
                sum(&total, &combined(item)?)
            })
        }
        Expr::Multiply(items) => {
            let (matrices, factors): (Vec<&Expr>, Vec<&Expr>) =
                items.iter().partition(|item| item.is_matrix());
            let (first, rest) = matrices.split_first()?;
            let total = rest.iter().try_fold(combined(first)?, |total, item| {
                product(&total, &combined(item)?)
            })?;
            let scaled = |entry: &Expr| {
                let all = factors.iter().copied().chain([entry]).cloned().collect();
                worked_out(Expr::Multiply(all))
            };
            Some(if factors.is_empty() {
                total
            } else {
                matrix(
                    entries(&total)
                        .map(|row| row.iter().map(scaled).collect())
                        .collect(),
                )
            })
        }
        _ => None,
    }
}

fn sum(a: &Expr, b: &Expr) -> Option<Expr> {
    let mut total = Vec::new();
    let mut others = entries(b);
    for row in entries(a) {
        let other = others.next().filter(|other| other.len() == row.len())?;
        let pairs = row.iter().zip(other);
        total.push(
            pairs
                .map(|(a, b)| worked_out(a.clone().plus(b.clone())))
                .collect(),
        );
    }
    others.next().is_none().then(|| matrix(total))
}

fn product(a: &Expr, b: &Expr) -> Option<Expr> {
    let (above, below): (Vec<_>, Vec<_>) = (entries(a).collect(), entries(b).collect());
    let width = below.first()?.len();
    if above.first()?.len() != below.len() || above.len() * below.len() * width > MAX_STEPS {
        return None;
    }
    let entry = |row: &[Expr], column: usize| {
        let pairs = row.iter().zip(&below);
        let products = pairs.map(|(left, right)| left.clone().times(right[column].clone()));
        worked_out(Expr::Add(products.collect()))
    };
    let row = |row: &&[Expr]| (0..width).map(|column| entry(row, column)).collect();
    Some(matrix(above.iter().map(row).collect()))
}

/// The sum of the diagonal; `None` for anything but a square matrix.
pub(super) fn trace(term: &Expr) -> Option<Expr> {
    let rows = square(term)?;
    let diagonal = rows.iter().enumerate().map(|(at, row)| row[at].clone());
    Some(worked_out(Expr::Add(diagonal.collect())))
}

/// A matrix turned over; anything else stays what it is.
pub(super) fn transposed(term: Expr) -> Expr {
    let Some(width) = entries(&term).next().map(<[Expr]>::len) else {
        return term;
    };
    let column = |at: usize| entries(&term).map(|row| row[at].clone()).collect();
    matrix((0..width).map(column).collect())
}

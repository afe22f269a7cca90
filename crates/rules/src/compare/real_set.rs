//! Sets of real numbers as sorted, disjoint intervals, computed exactly over their ends.

use std::cmp::Ordering;

use super::comparison::Comparison;
use super::context::Context;
use super::naming;
use super::numbers::{self, Value};
use crate::algebra::Expr;
use crate::algebra::{self, Identity};

/// Where an interval ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    Below,
    At(Expr),
    Above,
}

/// An interval that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) lower: Bound,
    pub(super) lower_closed: bool,
    pub(super) upper: Bound,
    pub(super) upper_closed: bool,
}

/// Disjoint intervals in order, no two of which touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RealSet {
    pub(super) pieces: Vec<Piece>,
}

/// How two bounds stand; `None` where it cannot be told.
fn order(a: &Bound, b: &Bound, context: &mut Context<'_>) -> Option<Ordering> {
    match (a, b) {
        (Bound::Below, Bound::Below) | (Bound::Above, Bound::Above) => Some(Ordering::Equal),
        (Bound::Below, _) | (_, Bound::Above) => Some(Ordering::Less),
        (Bound::Above, _) | (_, Bound::Below) => Some(Ordering::Greater),
        (Bound::At(a), Bound::At(b)) => order_of(a, b, context),
    }
}
pub(super) fn order_of(a: &Expr, b: &Expr, context: &mut Context<'_>) -> Option<Ordering> {
    algebra::order(a, b, &mut context.budget).or_else(|| {
        let (identity, _) = algebra::identical(a, b, &mut context.budget);
        (identity == Identity::Equal && naming::is_constant(a)).then_some(Ordering::Equal)
    })
}

impl Piece {
    fn new(lower: Bound, lower_closed: bool, upper: Bound, upper_closed: bool) -> Self {
        Self {
            lower_closed: lower_closed && lower != Bound::Below,
            upper_closed: upper_closed && upper != Bound::Above,
            lower,
            upper,
        }
    }
}

impl RealSet {
    pub(super) fn line() -> Self {
        Self {
            pieces: vec![Piece::new(Bound::Below, false, Bound::Above, false)],
        }
    }
    pub(super) fn between(
        lower: Bound,
        lower_closed: bool,
        upper: Bound,
        upper_closed: bool,
        context: &mut Context<'_>,
    ) -> Option<Self> {
        let pieces = match order(&lower, &upper, context)? {
            Ordering::Less => vec![Piece::new(lower, lower_closed, upper, upper_closed)],
            Ordering::Equal if lower_closed && upper_closed => {
                vec![Piece::new(lower, true, upper, true)]
            }
            _ => Vec::new(),
        };
        Some(Self { pieces })
    }

    pub(super) fn point(at: Expr, context: &mut Context<'_>) -> Option<Self> {
        // Only what is a real number has a place on the line.
        order_of(&at, &Expr::integer(0), context)?;
        Some(Self {
            pieces: vec![Piece::new(Bound::At(at.clone()), true, Bound::At(at), true)],
        })
    }

    /// A ∪ B ∪ ….
    pub(super) fn union(sets: Vec<Self>, context: &mut Context<'_>) -> Option<Self> {
        let pieces: Vec<Piece> = sets.into_iter().flat_map(|set| set.pieces).collect();
        let pieces = sorted(pieces, &mut |a, b| {
            // A closed beginning comes before an open one.
            let order = order(&a.lower, &b.lower, context)?;
            Some(order.then_with(|| b.lower_closed.cmp(&a.lower_closed)))
        })?;
        let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let Some(last) = merged.last_mut() else {
                merged.push(piece);
                continue;
            };
            let touches = match order(&piece.lower, &last.upper, context)? {
                Ordering::Less => true,
                Ordering::Equal => piece.lower_closed || last.upper_closed,
                Ordering::Greater => false,
            };
            if !touches {
                merged.push(piece);
                continue;
            }
            match order(&piece.upper, &last.upper, context)? {
                Ordering::Greater => {
                    last.upper = piece.upper;
                    last.upper_closed = piece.upper_closed;
                }
                Ordering::Equal => last.upper_closed |= piece.upper_closed,
                Ordering::Less => {}
            }
        }
        Some(Self { pieces: merged })
    }

    pub(super) fn complement(self) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 1);
        let (mut from, mut from_closed) = (Bound::Below, false);
        for piece in self.pieces {
            if piece.lower != Bound::Below {
                let closed = !piece.lower_closed;
                pieces.push(Piece::new(from, from_closed, piece.lower, closed));
            }
            (from, from_closed) = (piece.upper, !piece.upper_closed);
        }
        if from != Bound::Above {
            pieces.push(Piece::new(from, from_closed, Bound::Above, false));
        }
        Self { pieces }
    }

    /// A ∩ B ∩ ….
    pub(super) fn intersection(sets: Vec<Self>, context: &mut Context<'_>) -> Option<Self> {
        let complements = sets.into_iter().map(Self::complement).collect();
        Some(Self::union(complements, context)?.complement())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn is_line(&self) -> bool {
        matches!(self.pieces.as_slice(), [piece] if piece.lower == Bound::Below && piece.upper == Bound::Above)
    }
}

/// Sorts by an order that may not be known for every pair, and then gives up.
pub(super) fn sorted<T>(
    mut items: Vec<T>,
    order: &mut dyn FnMut(&T, &T) -> Option<Ordering>,
) -> Option<Vec<T>> {
    if items.len() < 2 {
        return Some(items);
    }
    let right = items.split_off(items.len() / 2);
    let mut left = sorted(items, order)?.into_iter().peekable();
    let mut right = sorted(right, order)?.into_iter().peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let later = order(a, b)? == Ordering::Greater;
        let next = if later { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Some(merged)
}

/// Are two sets of real numbers the same, rounded decimals allowed?
pub(super) fn sets(
    method: &'static str,
    gold: &RealSet,
    pred: &RealSet,
    context: &mut Context<'_>,
) -> Comparison {
    let differ = || Comparison::different(method, "the sets of numbers differ");
    if gold.pieces.len() != pred.pieces.len() {
        return differ();
    }
    let mut parts = Vec::with_capacity(2 * gold.pieces.len());
    for (a, b) in gold.pieces.iter().zip(&pred.pieces) {
        if a.lower_closed != b.lower_closed || a.upper_closed != b.upper_closed {
            return differ();
        }
        for (x, y) in [(&a.lower, &b.lower), (&a.upper, &b.upper)] {
            match (x, y) {
                (Bound::At(x), Bound::At(y)) => {
                    let part = numbers::compare(Value::of(x), Value::of(y), context);
                    if part.equal == Some(false) {
                        return part.by(method);
                    }
                    parts.push(part);
                }
                (x, y) if x == y => {}
                _ => return differ(),
            }
        }
    }
    Comparison::all(method, parts)
}

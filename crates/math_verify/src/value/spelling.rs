//! Bare symbols are compared by their spelling.

use super::display;
use super::expr::spelling;
use juror_algebra::{Constant, Expr, Function};

/// The letter of a factor that is a symbol or e.
fn letter(term: &Expr) -> Option<&str> {
    match term {
        Expr::Symbol(name) => Some(spelling(name)),
        Expr::Constant(Constant::E) => Some("e"),
        _ => None,
    }
}

/// The word that a product of symbols spells, in the order in which they were written.
fn word(term: &Expr) -> Option<String> {
    match term {
        Expr::Multiply(factors) => factors.iter().map(letter).collect(),
        _ => None,
    }
}

/// Are they the same, where at least one is a bare symbol?
pub(super) fn same(gold: &Expr, pred: &Expr) -> bool {
    match (gold, pred) {
        (Expr::Symbol(name), Expr::Constant(Constant::E))
        | (Expr::Constant(Constant::E), Expr::Symbol(name)) => {
            spelling(name).eq_ignore_ascii_case("e")
        }
        (Expr::Symbol(left), Expr::Symbol(right)) => {
            let folded = |name: &str| {
                if name.chars().count() > 1 {
                    name.to_lowercase()
                } else {
                    name.to_owned()
                }
            };
            folded(spelling(left)) == folded(spelling(right))
        }
        (Expr::Symbol(name), other) | (other, Expr::Symbol(name)) => {
            let name = spelling(name);
            match word(other) {
                Some(word) => name.to_lowercase() == word.to_lowercase(),
                // SymPy prints decimals with fifteen digits; no name looks like that.
                None => {
                    !matches!(other, Expr::Call(Function::Decimal, _))
                        && display::term(other) == name
                }
            }
        }
        _ => false,
    }
}

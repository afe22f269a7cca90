//! Bare symbols are compared by their spelling.

use super::display;
use super::term::Term;
use crate::algebra::Constant;

/// The letter of a factor that is a symbol or e.
fn letter(term: &Term) -> Option<&str> {
    match term {
        Term::Symbol { name, .. } => Some(name),
        Term::Constant(Constant::E) => Some("e"),
        _ => None,
    }
}

/// The word that a product of symbols spells, in the order in which they were written.
fn word(term: &Term) -> Option<String> {
    match term {
        Term::Multiply(factors) => factors.iter().map(letter).collect(),
        _ => None,
    }
}

/// Are they the same, where at least one is a bare symbol?
pub(super) fn same(gold: &Term, pred: &Term) -> bool {
    match (gold, pred) {
        (Term::Symbol { name, .. }, Term::Constant(Constant::E))
        | (Term::Constant(Constant::E), Term::Symbol { name, .. }) => {
            name.eq_ignore_ascii_case("e")
        }
        (Term::Symbol { name: left, .. }, Term::Symbol { name: right, .. }) => {
            let folded = |name: &str| {
                if name.chars().count() > 1 {
                    name.to_lowercase()
                } else {
                    name.to_owned()
                }
            };
            folded(left) == folded(right)
        }
        (Term::Symbol { name, .. }, other) | (other, Term::Symbol { name, .. }) => {
            match word(other) {
                Some(word) => name.to_lowercase() == word.to_lowercase(),
                // SymPy prints decimals with fifteen digits; no name looks like that.
                None => !matches!(other, Term::Float(_)) && display::term(other) == **name,
            }
        }
        _ => false,
    }
}

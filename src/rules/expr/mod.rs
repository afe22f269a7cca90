//! LaTeX and plain maths as typed answers.

mod answer;
mod term;

pub use answer::{Answer, Endpoint, Interval, Matrix, Operator, Quantity, Relation, Unit};
pub use term::{Binder, BinderKind, Constant, Expr, Function, Rational};

/// Why a text is no answer that can be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Nothing is there.
    #[error("the answer is empty")]
    Empty,
    /// Brackets or commands are nested too deeply.
    #[error("nested more than {limit} deep at byte {at}")]
    TooDeep {
        /// The depth that is read.
        limit: usize,
        /// Where it was passed.
        at: usize,
    },
    /// Too much to read.
    #[error("more than {limit} symbols")]
    TooLong {
        /// The number of tokens that is read.
        limit: usize,
    },
    /// Not maths as this parser knows it.
    #[error("cannot read it at byte {at}: {what}")]
    Syntax {
        /// Where, in bytes of the answer.
        at: usize,
        /// What stands in the way.
        what: String,
    },
}

/// Reads one answer (no sentence around it): LaTeX, plain maths, a choice letter, or words.
///
/// # Errors
///
/// [`ParseError`] where the text looks like maths and is not read whole, so that a part is never taken for it.
pub fn parse(text: &str) -> Result<Answer, ParseError> {
    if text.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    Ok(Answer::Text(text.trim().to_owned()))
}

//! LaTeX and plain maths as typed answers.
//!
//! ```text
//! text ──lexer──▶ tokens ──pratt, operand, function──▶ expressions ──quantity──▶ values with units
//!                                                                    ──items──▶ relations, sets, lists
//! ```
//!
//! | file | idea |
//! |---|---|
//! | `text` | what may stand around an answer; words or a formula |
//! | `worded`, `prose`, `choice`, `clock`, `plain` | answers in words |
//! | `lexer`, `token`, `signs`, `markup`, `command`, `text_command`, `runs`, `letters`, `digits` | text to tokens |
//! | `lexemes` | tokens one after the other, for whoever looks for the end of mathematics in prose |
//! | `parser`, `pratt`, `operand`, `literal`, `variable`, `function` | tokens to expressions |
//! | `number`, `spelled`, `units` | exact values and meanings of what is written |
//! | `quantity`, `suffix`, `items`, `sets`, `arrange`, `conditions`, `table` | expressions to answers |
//! | `render`, `notation` | answers as text |

mod arrange;
mod choice;
mod clock;
mod command;
mod conditions;
mod digits;
mod function;
mod items;
mod letters;
mod lexemes;
mod lexer;
mod literal;
mod markup;
mod notation;
mod number;
mod operand;
mod parser;
mod plain;
mod pratt;
mod prose;
mod quantity;
mod render;
mod runs;
mod sets;
mod signs;
mod spelled;
mod suffix;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod text_command;
mod token;
mod units;
mod variable;
mod worded;

use crate::answer::Answer;
pub(crate) use clock::date;
pub(crate) use lexemes::{Class, Lexemes};
pub(crate) use number::period;
pub(crate) use render::{render, render_expr};
pub(crate) use runs::is_word_letter;
pub(crate) use units::unit;

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
pub(crate) fn parse(text: &str) -> Result<Answer, ParseError> {
    text::parse(text)
}

/// How an answer is read, in this crate's own notation: what `juror verify` shows beside a verdict.
///
/// ```
/// # use juror_rules::describe;
/// assert_eq!(describe(r"$\frac12$")?, "1/2");
/// assert_eq!(describe("x = 1 or x = 2")?, "x = 1, x = 2");
/// # Ok::<(), juror_rules::ParseError>(())
/// ```
///
/// # Errors
///
/// Where the text is no answer that this crate can read.
pub fn describe(text: &str) -> Result<String, ParseError> {
    parse(text).map(|answer| render(&answer))
}

//! Tokens one after the other, for whoever looks for the end of mathematics in prose.

use super::lexer::Lexer;
use super::token::{Bracket, Kind, Space};

/// What a token does to the mathematics around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// No token: white space, or a command that is only about looks.
    Nothing,
    Number,
    /// A symbol, a name, a fraction in one character.
    Operand,
    /// Σ, ∫, lim and functions, whose argument may stand after a space.
    Function,
    /// Another command or sign before its argument: √, `\frac`.
    Prefix,
    Operator,
    /// A sign between two sides, or between two sets.
    Relation,
    /// A sign after its operand: `°`, `'`, `%`.
    Postfix,
    Opening,
    Closing,
    Bar,
    Currency,
    Separator,
    Row,
    /// A word, or nothing that the parser knows.
    Unknown,
}

/// Reads a text from any place on.
#[derive(Debug)]
pub(crate) struct Lexemes<'t>(Lexer<'t>);

impl<'t> Lexemes<'t> {
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self(Lexer::new(text, at, Vec::new()))
    }

    /// Where the next token begins, or the space before it.
    pub(crate) fn at(&self) -> usize {
        self.0.pos()
    }

    /// Reads one token, or all letters of a product of letters; `None` at the end, and at a bracket that does not match.
    pub(crate) fn next(&mut self) -> Option<Class> {
        let count = self.0.count();
        if self.0.rest().is_empty() {
            return None;
        }
        self.0.step().ok()?;
        let first = self.0.kind_at(count);
        Some(first.map_or(Class::Nothing, class))
    }

    /// Passes white space, or what is no mathematics but belongs to it, up to `at`.
    pub(crate) fn skip_to(&mut self, at: usize) {
        if at > self.0.pos() {
            self.0.seek(at);
            self.0.spaced(Space::Some);
        }
    }
    pub(crate) fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Is a brace open that groups?
    pub(crate) fn is_in_braces(&self) -> bool {
        self.0.is_within(Bracket::Group, self.0.depth())
    }
}

fn class(kind: Kind<'_>) -> Class {
    match kind {
        Kind::Number(_) => Class::Number,
        Kind::Big(_) | Kind::Function(_) => Class::Function,
        Kind::Structure(_) => Class::Prefix,
        Kind::Plus
        | Kind::Minus
        | Kind::PlusMinus
        | Kind::MinusPlus
        | Kind::Times
        | Kind::Divide
        | Kind::SetMinus => Class::Operator,
        Kind::Relation(_) | Kind::Union | Kind::Intersection | Kind::Tends => Class::Relation,
        Kind::Circle | Kind::Prime(_) | Kind::Percent | Kind::Bang(_) => Class::Postfix,
        Kind::Open(_) => Class::Opening,
        Kind::Close(_) => Class::Closing,
        Kind::Bar(_) => Class::Bar,
        Kind::Currency(_) => Class::Currency,
        Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or | Kind::Colon | Kind::Stop => {
            Class::Separator
        }
        Kind::Row | Kind::Cell => Class::Row,
        Kind::Word(_) | Kind::Begin(_) | Kind::Other => Class::Unknown,
        _ => Class::Operand,
    }
}

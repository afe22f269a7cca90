//! The state of a parse: where it stands, and what holds there.

use super::ParseError;
use super::lexer::{Lexed, MOST_TOKENS, syntax};
use super::token::{Bracket, Kind, Numeral, Space, Token, inside};
use crate::algebra::{Expr, Function};

/// How often an item may be read again for the other sign of ±.
const MOST_REPEATS: u32 = 64;

/// A number that was just read, for what was written beside it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lone {
    /// Its first token.
    pub(super) start: usize,
    /// One behind its last token.
    pub(super) end: usize,
    /// See [`crate::answer::Quantity::places`].
    pub(super) places: Option<i64>,
    /// See [`crate::answer::Quantity::base`].
    pub(super) base: Option<u32>,
}

/// Reads tokens into answers.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the place that is read"
)]
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) numerals: Vec<Numeral<'t>>,
    /// The next token.
    pub(super) pos: usize,
    /// Where the bracket or the answer ends that is being read.
    pub(super) limit: usize,
    /// How deep the recursion is.
    pub(super) depth: usize,
    /// How many bars are open in this bracket.
    pub(super) bars: usize,
    /// How many integrals wait for their differential.
    pub(super) integrals: usize,
    /// Is ± a minus this time?
    pub(super) minus: bool,
    /// Was there a ± in this item?
    pub(super) both_signs: bool,
    /// How many more items may be read twice.
    pub(super) repeats: u32,
    /// Was a value broken off?
    pub(super) approximate: bool,
    /// The number that was read last.
    pub(super) lone: Option<Lone>,
    /// How many operands may still be read, those read twice included.
    pub(super) steps: usize,
    /// Variables that a Σ binds around here.
    pub(super) bound: Vec<Box<str>>,
    /// Is `i` the unit vector beside a `j`?
    pub(super) vectors: bool,
}

/// The result of a part of the parser.
pub(super) type Parsed<T> = Result<T, ParseError>;

impl<'t> Parser<'t> {
    /// A parser at the start.
    pub(super) fn new(text: &'t str, lexed: Lexed<'t>) -> Self {
        let letter = |letter| {
            lexed
                .tokens
                .iter()
                .any(|token| token.kind == Kind::Letter(letter))
        };
        let vectors = letter('j') && letter('i');
        let steps = lexed.tokens.len() * 8 + 1000;
        Self {
            text,
            limit: lexed.tokens.len(),
            tokens: lexed.tokens,
            numerals: lexed.numerals,
            pos: 0,
            depth: 0,
            bars: 0,
            integrals: 0,
            minus: false,
            both_signs: false,
            repeats: MOST_REPEATS,
            approximate: false,
            lone: None,
            steps,
            bound: Vec::new(),
            vectors,
        }
    }

    /// The token at an index, within the current limit.
    pub(super) fn at(&self, index: usize) -> Option<&Token<'t>> {
        if index < self.limit {
            self.tokens.get(index)
        } else {
            None
        }
    }

    /// The next token's kind.
    pub(super) fn peek(&self) -> Option<Kind<'t>> {
        self.at(self.pos).map(|token| token.kind)
    }

    /// The kind of the token after the next ones.
    pub(super) fn ahead(&self, count: usize) -> Option<Kind<'t>> {
        self.at(self.pos + count).map(|token| token.kind)
    }

    /// The space before the next token.
    pub(super) fn space(&self) -> Space {
        self.at(self.pos).map_or(Space::Tight, |token| token.space)
    }

    /// Takes the next token if it is this one.
    pub(super) fn take(&mut self, kind: Kind<'_>) -> bool {
        let found = self.peek() == Some(kind);
        if found {
            self.pos += 1;
        }
        found
    }

    /// Is everything up to the limit read?
    pub(super) fn ended(&self) -> bool {
        self.pos >= self.limit
    }

    /// An error at the next token.
    pub(super) fn error(&self, what: &str) -> ParseError {
        let at = self
            .tokens
            .get(self.pos.min(self.tokens.len().saturating_sub(1)))
            .map_or(0, |token| token.start as usize);
        syntax(at, what)
    }

    /// One level deeper, and one step further.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.steps = self
            .steps
            .checked_sub(1)
            .ok_or(ParseError::TooLong { limit: MOST_TOKENS })?;
        self.depth += 1;
        if self.depth > Expr::MAX_DEPTH {
            let at = self.at(self.pos).map_or(0, |token| token.start as usize);
            return Err(ParseError::TooDeep {
                limit: Expr::MAX_DEPTH,
                at,
            });
        }
        Ok(())
    }

    /// What a bracket holds, by its opening token.
    pub(super) fn holds(&self, open: usize, what: u8) -> bool {
        self.tokens
            .get(open)
            .is_some_and(|token| token.holds & what != 0)
    }

    /// Does a bracket hold several entries?
    pub(super) fn has_entries(&self, open: usize) -> bool {
        self.holds(open, inside::COMMA | inside::SEMICOLON)
    }

    /// The counterpart of a bracket.
    pub(super) fn mate(&self, open: usize) -> usize {
        self.tokens
            .get(open)
            .map_or(open, |token| token.mate as usize)
    }

    /// Reads all that is inside the bracket that is next, and passes it.
    pub(super) fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let open = self.pos;
        let close = self.mate(open);
        if close <= open || close >= self.limit {
            return Err(self.error("a bracket is not closed"));
        }
        let limit = std::mem::replace(&mut self.limit, close);
        let bars = std::mem::take(&mut self.bars);
        let integrals = std::mem::take(&mut self.integrals);
        self.pos = open + 1;
        let result = read(self)?;
        if self.pos != close {
            return Err(self.error("this does not belong inside the bracket"));
        }
        self.limit = limit;
        self.bars = bars;
        self.integrals = integrals;
        self.pos = close + 1;
        Ok(result)
    }

    /// Tries to read; goes back where it fails.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let saved = (
            self.pos,
            self.limit,
            self.depth,
            self.bars,
            self.integrals,
            self.both_signs,
            self.approximate,
            self.bound.len(),
        );
        if let Ok(result) = read(self) {
            return Some(result);
        }
        (
            self.pos,
            self.limit,
            self.depth,
            self.bars,
            self.integrals,
            self.both_signs,
            self.approximate,
        ) = (
            saved.0, saved.1, saved.2, saved.3, saved.4, saved.5, saved.6,
        );
        self.bound.truncate(saved.7);
        None
    }

    /// The text of tokens from `start` up to `end`.
    pub(super) fn source(&self, start: usize, end: usize) -> &'t str {
        let (Some(first), Some(last)) = (
            self.tokens.get(start),
            end.checked_sub(1).and_then(|last| self.tokens.get(last)),
        ) else {
            return "";
        };
        self.text
            .get(first.start as usize..last.end as usize)
            .unwrap_or("")
    }

    /// Is the next token an opening bracket of this kind?
    pub(super) fn opens(&self, bracket: Bracket) -> bool {
        self.peek() == Some(Kind::Open(bracket))
    }
}

/// A product, flat where its parts are products already.
pub(super) fn product(mut factors: Vec<Expr>) -> Expr {
    match factors.len() {
        0 => Expr::integer(1),
        1 => factors.swap_remove(0),
        _ => Expr::Multiply(factors),
    }
}

/// −a, with the sign in the first factor where that is a number.
pub(super) fn negate(expr: Expr) -> Expr {
    match expr {
        Expr::Number(value) => Expr::Number(-value),
        Expr::LongNumber {
            negative,
            digits,
            exponent,
        } => Expr::LongNumber {
            negative: !negative,
            digits,
            exponent,
        },
        Expr::Multiply(mut factors) => {
            if let Some(first @ Expr::Number(_)) = factors.first_mut() {
                let value = std::mem::replace(first, Expr::integer(0));
                *first = negate(value);
            } else {
                factors.insert(0, Expr::integer(-1));
            }
            Expr::Multiply(factors)
        }
        other => Expr::Multiply(vec![Expr::integer(-1), other]),
    }
}

/// 1 / a.
pub(super) fn inverse(expr: Expr) -> Expr {
    Expr::power(expr, Expr::integer(-1))
}

/// How deep an expression nests, looking no deeper than just past the limit.
pub(super) fn is_too_deep(expr: &Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else {
        return true;
    };
    match expr {
        Expr::Number(_) | Expr::LongNumber { .. } | Expr::Constant(_) | Expr::Symbol(_) => false,
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) | Expr::Apply(_, parts) => {
            parts.iter().any(|part| is_too_deep(part, left))
        }
        Expr::Power(pair) => is_too_deep(&pair.0, left) || is_too_deep(&pair.1, left),
        Expr::Binder(binder) => {
            is_too_deep(&binder.body, left)
                || [&binder.lower, &binder.upper]
                    .into_iter()
                    .flatten()
                    .any(|part| is_too_deep(part, left))
        }
    }
}

/// A call of a function with one argument.
pub(super) fn call(function: Function, argument: Expr) -> Expr {
    Expr::Call(function, vec![argument])
}

//! The state of a parse: where it stands, and what holds there.

use super::ParseError;
use super::lexer::{Lexed, MOST_TOKENS, syntax};
use super::number;
use super::token::{Bracket, Kind, Numeral, Space, Token, inside};
use crate::algebra::{self, Expr, LongNumber};

/// How often an item may be read again for the other sign of ±.
const MOST_REPEATS: u32 = 64;

/// What waits for its end while its body is read.
pub(super) const BARS: usize = 0;
pub(super) const INTEGRAL: usize = 1;

/// A number that was just read, for what was written beside it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lone {
    pub(super) start: usize,
    /// One after its last token.
    pub(super) end: usize,
    /// See [`crate::answer::Quantity::places`].
    pub(super) places: Option<i64>,
    /// See [`crate::answer::Quantity::base`].
    pub(super) base: Option<u32>,
}

/// What holds at a place, and again when the parser goes back there.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    pos: usize,
    /// Where the bracket or the answer ends that is being read.
    limit: usize,
    /// How deep the recursion is.
    depth: usize,
    /// How many bars are open in this bracket, and how many integrals wait for their differential.
    waiting: [usize; 2],
    /// Was there a ± in this item?
    both_signs: bool,
    /// Was a value broken off?
    approximate: bool,
}

/// Reads tokens into answers: what holds at the current place. The rules of the grammar are in the files of [`super`].
#[derive(Debug)]
pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    numerals: Vec<Numeral<'t>>,
    here: Place,
    /// Is ± a minus this time?
    minus: bool,
    /// How many more items may be read twice.
    repeats: u32,
    /// The number that was read last.
    lone: Option<Lone>,
    /// How many operands may still be read, those read twice included.
    steps: usize,
    /// Variables that a Σ binds around here.
    bound: Vec<Box<str>>,
    /// Is `i` the unit vector beside a `j`?
    pub(super) vectors: bool,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

impl<'t> Parser<'t> {
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
            here: Place {
                limit: lexed.tokens.len(),
                ..Place::default()
            },
            tokens: lexed.tokens,
            numerals: lexed.numerals,
            minus: false,
            repeats: MOST_REPEATS,
            lone: None,
            steps,
            bound: Vec::new(),
            vectors,
        }
    }

    /// The index of the next token.
    pub(super) fn pos(&self) -> usize {
        self.here.pos
    }
    pub(super) fn skip(&mut self, count: usize) {
        self.here.pos += count;
    }
    pub(super) fn seek(&mut self, pos: usize) {
        self.here.pos = pos;
    }

    /// Where the bracket or the answer ends that is being read.
    pub(super) fn limit(&self) -> usize {
        self.here.limit
    }

    /// The written number at an index.
    pub(super) fn numeral_at(&self, index: usize) -> Option<&Numeral<'t>> {
        match self.kind_at(index)? {
            Kind::Number(numeral) => self.numerals.get(numeral as usize),
            _ => None,
        }
    }

    /// The natural number that is written in plain digits at an index.
    pub(super) fn small_at(&self, index: usize) -> Option<u64> {
        number::small(self.numeral_at(index)?)
    }

    /// The token at an index, within the current limit.
    pub(super) fn at(&self, index: usize) -> Option<&Token<'t>> {
        self.tokens.get(index).filter(|_| index < self.here.limit)
    }

    /// The kind of the token at an index, within the current limit.
    pub(super) fn kind_at(&self, index: usize) -> Option<Kind<'t>> {
        self.at(index).map(|token| token.kind)
    }

    /// The kind of the token so far before the next one.
    pub(super) fn kind_before(&self, back: usize) -> Option<Kind<'t>> {
        self.any_kind_at(self.here.pos.checked_sub(back)?)
    }

    /// The kind of the token at an index, also after the current limit.
    pub(super) fn any_kind_at(&self, index: usize) -> Option<Kind<'t>> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Is there a token at an index, without space before it?
    pub(super) fn is_tight_at(&self, index: usize) -> bool {
        let token = self.at(index);
        token.is_some_and(|token| token.space == Space::Tight)
    }
    pub(super) fn peek(&self) -> Option<Kind<'t>> {
        self.kind_at(self.here.pos)
    }

    /// The kind of the token after the next ones.
    pub(super) fn ahead(&self, count: usize) -> Option<Kind<'t>> {
        self.kind_at(self.here.pos + count)
    }

    /// The space before the next token.
    pub(super) fn space(&self) -> Space {
        self.at(self.here.pos).map_or(Space::Tight, |it| it.space)
    }

    /// Takes the next token if it is this one.
    pub(super) fn take(&mut self, kind: Kind<'_>) -> bool {
        let found = self.peek() == Some(kind);
        if found {
            self.here.pos += 1;
        }
        found
    }

    /// Is everything up to the limit read?
    pub(super) fn ended(&self) -> bool {
        self.here.pos >= self.here.limit
    }

    /// An error at the next token.
    pub(super) fn error(&self, what: &str) -> ParseError {
        let at = self
            .tokens
            .get(self.here.pos.min(self.tokens.len().saturating_sub(1)))
            .map_or(0, |token| token.start as usize);
        syntax(at, what)
    }

    /// Reads one level deeper, and one step further.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.steps = self
            .steps
            .checked_sub(1)
            .ok_or(ParseError::TooLong { limit: MOST_TOKENS })?;
        if self.here.depth >= Expr::MAX_DEPTH {
            let at = self.at(self.here.pos).map_or(0, |it| it.start as usize);
            return Err(ParseError::TooDeep {
                limit: Expr::MAX_DEPTH,
                at,
            });
        }
        self.here.depth += 1;
        let result = read(self)?;
        self.here.depth -= 1;
        Ok(result)
    }

    /// Reads what stands between [`BARS`], or the body of an [`INTEGRAL`] up to its differential.
    pub(super) fn body(&mut self, of: usize, read: fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        self.here.waiting[of] += 1;
        let result = read(self)?;
        self.here.waiting[of] -= 1;
        Ok(result)
    }

    /// Is such a body being read?
    pub(super) fn is_in(&self, of: usize) -> bool {
        self.here.waiting[of] > 0
    }

    /// Reads where a variable is bound.
    pub(super) fn binding<T>(
        &mut self,
        variable: &str,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        self.bound.push(variable.into());
        let result = read(self);
        self.bound.pop();
        result
    }

    /// Does a Σ around here bind this name?
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| &**bound == name)
    }

    /// The number that was read last.
    pub(super) fn lone(&self) -> Option<Lone> {
        self.lone
    }

    /// Notes the number that was read last.
    pub(super) fn note(&mut self, lone: Lone) {
        self.lone = Some(lone);
    }

    /// What was read last is more than a number.
    pub(super) fn forget_lone(&mut self) {
        self.lone = None;
    }

    /// Notes that a number was broken off.
    pub(super) fn note_approximate(&mut self, approximate: bool) {
        self.here.approximate |= approximate;
    }

    /// Reads, and says whether a number was broken off in it.
    pub(super) fn noting_approximate<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<(T, bool)> {
        let outer = std::mem::take(&mut self.here.approximate);
        let result = read(self);
        let approximate = std::mem::replace(&mut self.here.approximate, outer);
        Ok((result?, approximate))
    }

    /// Notes a ±; is it a minus this time?
    pub(super) fn note_both_signs(&mut self) -> bool {
        self.here.both_signs = true;
        self.minus
    }

    /// Reads an item, and again for the other sign where it has a ±.
    pub(super) fn for_both_signs<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<(T, Option<T>)> {
        let start = self.here.pos;
        let outer = std::mem::take(&mut self.here.both_signs);
        let minus = std::mem::replace(&mut self.minus, false);
        let plus_item = read(self)?;
        let mut minus_item = None;
        if self.here.both_signs {
            self.repeats = self
                .repeats
                .checked_sub(1)
                .ok_or(ParseError::TooLong { limit: MOST_TOKENS })?;
            self.here.pos = start;
            self.minus = true;
            minus_item = Some(read(self)?);
        }
        self.minus = minus;
        self.here.both_signs = outer;
        Ok((plus_item, minus_item))
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
        self.tokens.get(open).map_or(open, |it| it.mate as usize)
    }

    /// Reads all that is inside the bracket that is next, and passes it.
    pub(super) fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let close = self.mate(self.here.pos);
        if close <= self.here.pos || close >= self.here.limit {
            return Err(self.error("a bracket is not closed"));
        }
        let waiting = std::mem::take(&mut self.here.waiting);
        self.here.pos += 1;
        let result = self.until(close, read)?;
        self.here.waiting = waiting;
        self.here.pos += 1;
        Ok(result)
    }

    /// Reads all up to a token.
    pub(super) fn until<T>(
        &mut self,
        limit: usize,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.here.limit, limit);
        let result = read(self)?;
        if self.here.pos != limit {
            return Err(self.error("this does not belong inside the bracket"));
        }
        self.here.limit = outer;
        Ok(result)
    }

    /// Tries to read; goes back where it fails.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let here = self.here;
        let result = read(self).ok();
        if result.is_none() {
            self.here = here;
        }
        result
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

/// The expression, or −a of it.
pub(super) fn signed(expr: Expr, negative: bool) -> Expr {
    if negative { negate(expr) } else { expr }
}

/// −a, with the sign in the first factor where that is a number.
pub(super) fn negate(expr: Expr) -> Expr {
    match expr {
        Expr::Number(value) => Expr::Number(-value),
        Expr::LongNumber(long) => Expr::LongNumber(LongNumber {
            negative: !long.negative,
            ..long
        }),
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
pub(super) fn inverse(expr: Expr) -> Expr {
    Expr::power(expr, Expr::integer(-1))
}

/// How deep an expression nests, looking no deeper than just past the limit.
pub(super) fn is_too_deep(expr: &Expr, left: usize) -> bool {
    left == 0 || algebra::any_part(expr, |part| is_too_deep(part, left - 1))
}

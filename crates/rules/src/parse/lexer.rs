//! Text to tokens, in one pass.
//!
//! Brackets find their counterparts here, and note what stands directly inside, so that the parser never searches.

use super::ParseError;
use super::parser::Parsed;
use super::token::{Bracket, Kind, Numeral, Side, Space, Structure, Token, inside};
use super::{digits, markup, runs, signs};
use crate::algebra::Expr;
use crate::answer::Operator;

/// How many tokens an answer may have.
pub(super) const MOST_TOKENS: usize = 20_000;

/// How many steps reading takes at most: what yields no token, as spaces and commands about looks, costs time too.
const MOST_STEPS: usize = 5 * MOST_TOKENS;

/// What the parser works on.
#[derive(Debug)]
pub(super) struct Lexed<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    /// What [`Kind::Number`] refers to.
    pub(super) numerals: Vec<Numeral<'t>>,
}

#[derive(Debug, Clone, Copy)]
struct Opened {
    token: usize,
    bracket: Bracket,
    /// Do commas inside separate entries?
    list: bool,
    /// How many arguments of a command come after it.
    pending: u8,
}

/// What was read before the next token and changes it.
#[derive(Debug, Default)]
pub(super) struct Next {
    /// What `\left` or `\right` says of a delimiter.
    pub(super) side: Option<Side>,
    /// Is `\left\{` right before, which a table makes a system?
    pub(super) cases: bool,
    /// Is `\not` before?
    pub(super) negated: bool,
    /// Is a command, `^` or `_` right before, so that a brace groups?
    pub(super) grouping: bool,
    /// Up to where digits are known not to be grouped by commas.
    pub(super) ungrouped: usize,
}

/// The state of the pass. What tokens are there is in the files of [`super`].
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    pos: usize,
    tokens: Vec<Token<'t>>,
    numerals: Vec<Numeral<'t>>,
    opened: Vec<Opened>,
    steps: usize,
    /// White space before the next token.
    space: Space,
    pub(super) next: Next,
    /// How many arguments of `\frac` are still to come: there, digits stand for themselves.
    pending: u8,
    /// How many open brackets hold entries between commas.
    lists: usize,
    /// Which dollars are delimiters, in order.
    dollars: Vec<bool>,
    /// How many dollars were passed.
    dollar: usize,
}

/// Reads the tokens of `text`.
///
/// # Errors
///
/// [`ParseError`] at the caps and at brackets that do not match.
pub(super) fn lex(text: &str) -> Result<Lexed<'_>, ParseError> {
    let mut lexer = Lexer::new(text, 0, dollars(text));
    lexer.tokens.reserve((text.len() / 2 + 4).min(256));
    while lexer.pos < text.len() {
        lexer.step()?;
    }
    if let Some(open) = lexer.opened.last() {
        let at = lexer
            .tokens
            .get(open.token)
            .map_or(0, |token| token.start as usize);
        return Err(syntax(at, "a bracket is not closed"));
    }
    Ok(Lexed {
        tokens: lexer.tokens,
        numerals: lexer.numerals,
    })
}

pub(super) fn syntax(at: usize, what: &str) -> ParseError {
    ParseError::Syntax {
        at,
        what: what.to_owned(),
    }
}

/// Which dollars enclose formulas, and which are money.
///
/// As in Pandoc: what opens has no space after it, what closes none before it and no digit after it; where the first has
/// a space after it and the second one before it, they are a pair too.
fn dollars(text: &str) -> Vec<bool> {
    let bytes = text.as_bytes();
    let at: Vec<usize> = (0..bytes.len())
        .filter(|&i| bytes[i] == b'$' && (i == 0 || bytes[i - 1] != b'\\'))
        .take(MOST_TOKENS + 1)
        .collect();
    let mut delimiters = vec![false; at.len()];
    let blank = |i: Option<usize>| {
        i.and_then(|i| bytes.get(i))
            .is_none_or(u8::is_ascii_whitespace)
    };
    let mut i = 0;
    while i + 1 < at.len() {
        let (open, close) = (at[i], at[i + 1]);
        let following = bytes.get(close + 1).copied().unwrap_or(b' ');
        let closes = close == open + 1
            || (!blank(close.checked_sub(1)) && !following.is_ascii_digit())
            || (blank(Some(open + 1)) && blank(close.checked_sub(1)));
        if closes {
            delimiters[i] = true;
            delimiters[i + 1] = true;
            i += 2;
        } else {
            i += 1;
        }
    }
    delimiters
}

impl<'t> Lexer<'t> {
    /// A lexer that begins at `pos`.
    pub(super) fn new(text: &'t str, pos: usize, dollars: Vec<bool>) -> Self {
        Self {
            text,
            pos,
            tokens: Vec::new(),
            numerals: Vec::new(),
            opened: Vec::new(),
            steps: 0,
            space: Space::Tight,
            next: Next::default(),
            pending: 0,
            lists: 0,
            dollars,
            dollar: 0,
        }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }
    pub(super) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }
    pub(super) fn pos(&self) -> usize {
        self.pos
    }
    pub(super) fn seek(&mut self, pos: usize) {
        self.pos = pos;
    }
    pub(super) fn skip(&mut self, length: usize) {
        self.pos += length;
    }

    /// The byte `ahead` of the current one.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes().get(self.pos + ahead).copied()
    }

    /// The text from the current place.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    pub(super) fn last(&self) -> Option<Kind<'t>> {
        self.tokens.last().map(|token| token.kind)
    }
    /// Takes back the last token if it ends a row.
    pub(super) fn drop_row(&mut self) {
        self.tokens.pop_if(|it| it.kind == Kind::Row);
    }

    /// Notes that the last token begins a run of so many letters.
    pub(super) fn note_run(&mut self, length: usize) {
        if let Some(token) = self.tokens.last_mut() {
            token.run = length.min(255) as u8;
        }
    }
    pub(super) fn count(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn kind_at(&self, index: usize) -> Option<Kind<'t>> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Does no white space stand before the next token?
    pub(super) fn is_tight(&self) -> bool {
        self.space == Space::Tight
    }

    /// Is an argument of `\frac` next?
    pub(super) fn in_arguments(&self) -> bool {
        self.pending > 0
    }

    /// Notes that an argument of `\frac` was read.
    pub(super) fn pass_argument(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// Is a bracket open that holds entries?
    pub(super) fn in_list(&self) -> bool {
        self.lists > 0
    }
    pub(super) fn depth(&self) -> usize {
        self.opened.len()
    }

    pub(super) fn innermost(&self) -> Option<Bracket> {
        self.opened.last().map(|open| open.bracket)
    }

    /// Is one of the innermost brackets, of so many, of this kind?
    pub(super) fn is_within(&self, bracket: Bracket, levels: usize) -> bool {
        let mut near = self.opened.iter().rev().take(levels);
        near.any(|open| open.bracket == bracket)
    }

    /// What stands directly inside the innermost bracket, as in [`inside`].
    pub(super) fn inside(&self) -> u8 {
        let open = self.opened.last();
        open.and_then(|open| self.tokens.get(open.token))
            .map_or(0, |token| token.holds)
    }

    /// Passes a dollar: does it enclose a formula?
    pub(super) fn pass_dollar(&mut self) -> bool {
        self.dollar += 1;
        self.dollars.get(self.dollar - 1) == Some(&true)
    }

    /// Adds a written number that ends at the current place.
    pub(super) fn push_number(&mut self, numeral: Numeral<'t>, start: usize) -> Parsed<()> {
        let index = self.numerals.len() as u32;
        self.numerals.push(numeral);
        self.push(Kind::Number(index), start)
    }

    /// Adds a token that ends at the current place.
    pub(super) fn push(&mut self, kind: Kind<'t>, start: usize) -> Parsed<()> {
        if self.tokens.len() >= MOST_TOKENS {
            return Err(ParseError::TooLong { limit: MOST_TOKENS });
        }
        let holds = match kind {
            Kind::Comma => inside::COMMA,
            Kind::Semicolon => inside::SEMICOLON,
            Kind::Relation(Operator::Divides) | Kind::Bar(Side::Unknown) | Kind::Colon => {
                inside::SUCH_THAT
            }
            Kind::Relation(_) => inside::RELATION,
            Kind::Word(_) | Kind::Text(_) => inside::WORDS,
            _ => 0,
        };
        if holds != 0
            && let Some(open) = self.opened.last()
            && let Some(token) = self.tokens.get_mut(open.token)
        {
            token.holds |= holds;
        }
        self.tokens.push(Token {
            kind,
            start: start as u32,
            end: self.pos as u32,
            space: self.space,
            run: 0,
            holds: 0,
            mate: 0,
        });
        self.space = Space::Tight;
        self.next.grouping = matches!(kind, Kind::Caret | Kind::Underscore | Kind::Structure(_));
        Ok(())
    }

    /// Adds a token that may be an argument of `\frac`.
    pub(super) fn push_atom(&mut self, kind: Kind<'t>, start: usize) -> Parsed<()> {
        self.pass_argument();
        if matches!(
            kind,
            Kind::Structure(Structure::Fraction | Structure::Binomial)
        ) {
            self.pending = self.pending.saturating_add(2);
        }
        self.push(kind, start)
    }
    pub(super) fn open(&mut self, kind: Kind<'t>, bracket: Bracket, start: usize) -> Parsed<()> {
        if self.opened.len() >= Expr::MAX_DEPTH {
            return Err(ParseError::TooDeep {
                limit: Expr::MAX_DEPTH,
                at: start,
            });
        }
        let list = match bracket {
            Bracket::Group => !self.next.grouping,
            Bracket::Floor | Bracket::Ceiling | Bracket::Environment => false,
            _ => true,
        };
        self.lists += usize::from(list);
        let pending = self.pending.saturating_sub(1);
        self.pending = 0;
        self.opened.push(Opened {
            token: self.tokens.len(),
            bracket,
            list,
            pending,
        });
        self.push(kind, start)
    }

    pub(super) fn close(&mut self, bracket: Bracket, start: usize) -> Parsed<()> {
        let interval =
            |bracket| matches!(bracket, Bracket::Round | Bracket::Square | Bracket::Outward);
        let Some(open) = self.opened.pop().filter(|open| {
            open.bracket == bracket || (interval(open.bracket) && interval(bracket))
        }) else {
            return Err(syntax(start, "a bracket is closed that is not open"));
        };
        self.lists -= usize::from(open.list);
        self.pending = open.pending;
        let index = self.tokens.len();
        if let Some(token) = self.tokens.get_mut(open.token) {
            token.mate = index as u32;
        }
        self.push(Kind::Close(bracket), start)?;
        if let Some(token) = self.tokens.last_mut() {
            token.mate = open.token as u32;
        }
        Ok(())
    }

    /// Reads one token, or skips what is none.
    pub(super) fn step(&mut self) -> Parsed<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(ParseError::TooLong { limit: MOST_TOKENS });
        }
        let start = self.pos;
        let byte = self.bytes()[start];
        match byte {
            b' ' | b'\n' | b'\r' => {
                self.pos += 1;
                self.spaced(Space::Some);
                Ok(())
            }
            b'0'..=b'9' => digits::number(self),
            b'a'..=b'z' | b'A'..=b'Z' => runs::letters(self),
            b'\\' => markup::backslash(self),
            0..=31 | 127 => markup::control(self),
            0..=127 => signs::ascii(self, byte),
            _ => signs::beyond_ascii(self),
        }
    }
    pub(super) fn spaced(&mut self, space: Space) {
        self.space = self.space.max(space);
    }

    /// Do `&` and `\\` separate cells here?
    pub(super) fn in_table(&self) -> bool {
        self.innermost() == Some(Bracket::Environment)
    }
}

//! Text to tokens, in one pass.
//!
//! Brackets find their counterparts here, and note what stands directly inside, so that the parser never searches.

use super::ParseError;
use super::answer::Operator;
use super::command::{self, Action};
use super::letters::{self, Run};
use super::term::{BinderKind, Constant, Expr};
use super::token::{
    Bracket, Environment, Kind, Named, Numeral, Side, Space, Structure, Token, digit, inside,
};

/// How many tokens an answer may have.
pub(super) const MOST_TOKENS: usize = 20_000;

/// What the parser works on.
#[derive(Debug)]
pub(super) struct Lexed<'t> {
    /// All tokens.
    pub(super) tokens: Vec<Token<'t>>,
    /// What [`Kind::Number`] refers to.
    pub(super) numerals: Vec<Numeral<'t>>,
}

/// An open bracket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened {
    /// Its token.
    pub(super) token: usize,
    /// Its kind.
    pub(super) bracket: Bracket,
    /// Do commas inside separate entries?
    pub(super) list: bool,
    /// How many arguments of a command come behind it.
    pub(super) pending: u8,
}

/// The state of the pass.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) pos: usize,
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) numerals: Vec<Numeral<'t>>,
    pub(super) opened: Vec<Opened>,
    /// What stands before the next token.
    pub(super) space: Space,
    /// How many arguments of `\frac` are still to come: there, digits stand for themselves.
    pub(super) pending: u8,
    /// What `\left` or `\right` said of the next delimiter.
    side: Option<Side>,
    /// Did `\left\{` come right before, which a table makes a system?
    cases: bool,
    /// Did `\not` come before?
    negated: bool,
    /// Did a command, `^` or `_` come right before, so that a brace groups?
    grouping: bool,
    /// How many open brackets hold entries between commas.
    pub(super) lists: usize,
    /// Up to where digits are known not to be grouped by commas.
    pub(super) ungrouped: usize,
    /// Which dollars are delimiters, in order.
    dollars: Vec<bool>,
    pub(super) dollar: usize,
}

/// Reads the tokens of `text`.
///
/// # Errors
///
/// [`ParseError`] at the caps and at brackets that do not match.
pub(super) fn lex(text: &str) -> Result<Lexed<'_>, ParseError> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        pos: 0,
        tokens: Vec::with_capacity((text.len() / 2 + 4).min(256)),
        numerals: Vec::new(),
        opened: Vec::new(),
        space: Space::Tight,
        pending: 0,
        side: None,
        cases: false,
        negated: false,
        grouping: false,
        lists: 0,
        ungrouped: 0,
        dollars: dollars(text),
        dollar: 0,
    };
    while lexer.pos < lexer.bytes.len() {
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

/// A syntax error.
pub(super) fn syntax(at: usize, what: &str) -> ParseError {
    ParseError::Syntax {
        at,
        what: what.to_owned(),
    }
}

/// Which dollars enclose formulas, and which are money.
///
/// As in Pandoc: what opens has no space behind it, what closes none before it and no digit behind it; where the first has
/// a space behind it and the second one before it, they are a pair too.
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
        let behind = bytes.get(close + 1).copied().unwrap_or(b' ');
        let closes = close == open + 1
            || (!blank(close.checked_sub(1)) && !behind.is_ascii_digit())
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
    /// The byte `ahead` of the current one.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    /// The text from the current place.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or("")
    }

    /// The last token.
    pub(super) fn last(&self) -> Option<Kind<'t>> {
        self.tokens.last().map(|token| token.kind)
    }

    /// Adds a token that ends at the current place.
    pub(super) fn push(&mut self, kind: Kind<'t>, start: usize) -> Result<(), ParseError> {
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
        self.grouping = matches!(kind, Kind::Caret | Kind::Underscore | Kind::Structure(_));
        Ok(())
    }

    /// Adds a token that may be an argument of `\frac`.
    pub(super) fn push_atom(&mut self, kind: Kind<'t>, start: usize) -> Result<(), ParseError> {
        self.pending = self.pending.saturating_sub(1);
        if matches!(
            kind,
            Kind::Structure(Structure::Fraction | Structure::Binomial)
        ) {
            self.pending = self.pending.saturating_add(2);
        }
        self.push(kind, start)
    }

    /// Adds an opening bracket.
    pub(super) fn open(
        &mut self,
        kind: Kind<'t>,
        bracket: Bracket,
        start: usize,
    ) -> Result<(), ParseError> {
        if self.opened.len() >= Expr::MAX_DEPTH {
            return Err(ParseError::TooDeep {
                limit: Expr::MAX_DEPTH,
                at: start,
            });
        }
        let list = match bracket {
            Bracket::Group => !self.grouping,
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

    /// Adds a closing bracket.
    pub(super) fn close(&mut self, bracket: Bracket, start: usize) -> Result<(), ParseError> {
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
    fn step(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let byte = self.bytes[start];
        match byte {
            b' ' | b'\n' | b'\r' => {
                self.pos += 1;
                self.spaced(Space::Some);
                Ok(())
            }
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.run(),
            b'\\' => self.backslash(),
            0..=31 | 127 => self.control(),
            0..=127 => self.ascii(byte),
            _ => self.beyond_ascii(),
        }
    }

    /// White space stands here.
    pub(super) fn spaced(&mut self, space: Space) {
        self.space = self.space.max(space);
    }

    /// ASCII signs.
    fn ascii(&mut self, byte: u8) -> Result<(), ParseError> {
        let start = self.pos;
        let next = self.byte(1);
        let two = |lexer: &mut Self, kind| {
            lexer.pos += 2;
            lexer.push(kind, start)
        };
        let side = self.side.take();
        let kind = match (byte, next) {
            (b'.', _) if side.is_some() => {
                self.pos += 1;
                return Ok(());
            }
            (b'.', Some(b'0'..=b'9')) => return self.number(),
            (b'.', Some(b'.')) => {
                while self.byte(0) == Some(b'.') {
                    self.pos += 1;
                }
                return self.push(Kind::Dots, start);
            }
            (b'.', _) => Kind::Stop,
            (b'*', Some(b'*')) => return two(self, Kind::Caret),
            (b'=', Some(b'=')) | (b':', Some(b'=')) => {
                return two(self, Kind::Relation(Operator::Equal));
            }
            (b'=', Some(b'<')) => return two(self, Kind::Relation(Operator::LessOrEqual)),
            (b'=', Some(b'>')) => return two(self, Kind::Other),
            (b'-', Some(b'>')) => return two(self, Kind::Tends),
            (b'!', Some(b'='))
                if !(self.space == Space::Tight
                    && matches!(self.last(), Some(Kind::Number(_)))) =>
            {
                return two(self, Kind::Relation(Operator::NotEqual));
            }
            (b'<', Some(b'=')) => return two(self, Kind::Relation(Operator::LessOrEqual)),
            (b'<', Some(b'>')) => return two(self, Kind::Relation(Operator::NotEqual)),
            (b'>', Some(b'=')) => return two(self, Kind::Relation(Operator::GreaterOrEqual)),
            (b'<', _) if side.is_some() => {
                self.pos += 1;
                return self.open(Kind::Open(Bracket::Angle), Bracket::Angle, start);
            }
            (b'>', _) if side.is_some() => {
                self.pos += 1;
                return self.close(Bracket::Angle, start);
            }
            (b'(', _) => {
                self.pos += 1;
                return self.open(Kind::Open(Bracket::Round), Bracket::Round, start);
            }
            (b')', _) => {
                self.pos += 1;
                return self.close(Bracket::Round, start);
            }
            (b'[' | b']', _) => return self.square(byte, side),
            // `1{:}3`: a sign in braces is a sign.
            (b'{', Some(b':' | b'=' | b'<' | b'>' | b'+' | b'-' | b'/' | b'*'))
                if self.byte(2) == Some(b'}') && !self.grouping =>
            {
                self.pos += 1;
                self.step()?;
                self.pos += 1;
                return Ok(());
            }
            (b'{', _) => {
                self.pos += 1;
                return self.open(Kind::Open(Bracket::Group), Bracket::Group, start);
            }
            (b'}', _) => {
                self.pos += 1;
                return self.close(Bracket::Group, start);
            }
            (b'|', Some(b'|')) if side.is_none() && matches!(self.last(), None) => {
                self.pos += 1;
                return self.push(Kind::Bar(Side::Unknown), start);
            }
            (b'|', _) => Kind::Bar(side.unwrap_or(Side::Unknown)),
            (b'$', _) => {
                self.pos += 1;
                let delimiter = self.dollars.get(self.dollar).copied().unwrap_or(false);
                self.dollar += 1;
                if delimiter {
                    self.spaced(Space::Some);
                    return Ok(());
                }
                return self.push(Kind::Currency("USD"), start);
            }
            (b'~', _) => {
                self.pos += 1;
                if self.tokens.is_empty() {
                    return self.push(Kind::Relation(Operator::Approximately), start);
                }
                self.spaced(Space::Some);
                return Ok(());
            }
            (b'!', _) | (b'\'', _) => return self.repeated(byte),
            (b'&', _) => {
                self.pos += 1;
                if self.in_table() {
                    return self.push(Kind::Cell, start);
                }
                self.spaced(Space::Some);
                return Ok(());
            }
            (b'"' | b'`', _) => {
                self.pos += 1;
                return Ok(());
            }
            (b'+', Some(b'/')) if self.rest().starts_with("+/-") => {
                self.pos += 3;
                return self.push(Kind::PlusMinus, start);
            }
            (b'+', _) => Kind::Plus,
            (b'-', _) => Kind::Minus,
            (b'*', _) => Kind::Times,
            (b'/', _) => Kind::Divide,
            (b'^', _) => Kind::Caret,
            (b'_', _) => Kind::Underscore,
            (b'=', _) => Kind::Relation(Operator::Equal),
            (b'<', _) => Kind::Relation(Operator::Less),
            (b'>', _) => Kind::Relation(Operator::Greater),
            (b',', _) => Kind::Comma,
            (b';', _) => Kind::Semicolon,
            (b':', _) => Kind::Colon,
            (b'%', _) => Kind::Percent,
            _ => Kind::Other,
        };
        self.pos += 1;
        let kind = self.negate(kind);
        self.push(kind, start)
    }

    /// A relation behind `\not` is its opposite.
    fn negate(&mut self, kind: Kind<'t>) -> Kind<'t> {
        if !std::mem::take(&mut self.negated) {
            return kind;
        }
        match kind {
            Kind::Relation(Operator::Equal) => Kind::Relation(Operator::NotEqual),
            Kind::Relation(Operator::In) => Kind::Relation(Operator::NotIn),
            _ => Kind::Other,
        }
    }

    /// `!` and `'`, several counted.
    fn repeated(&mut self, byte: u8) -> Result<(), ParseError> {
        let start = self.pos;
        while self.byte(0) == Some(byte) && self.pos - start < 200 {
            self.pos += 1;
        }
        let count = (self.pos - start) as u8;
        self.push(
            if byte == b'!' {
                Kind::Bang(count)
            } else {
                Kind::Prime(count)
            },
            start,
        )
    }

    /// `[` and `]`, which may enclose from the outside: `]a, b[`.
    fn square(&mut self, byte: u8, side: Option<Side>) -> Result<(), ParseError> {
        let start = self.pos;
        self.pos += 1;
        let top = self.opened.last().copied();
        let holds = top
            .and_then(|open| self.tokens.get(open.token))
            .map_or(0, |token| token.holds);
        let entries = holds & (inside::COMMA | inside::SEMICOLON) != 0;
        let round = top.is_some_and(|open| {
            matches!(
                open.bracket,
                Bracket::Round | Bracket::Square | Bracket::Outward
            )
        });
        if byte == b'[' {
            let value_before = !matches!(
                self.last(),
                None | Some(Kind::Comma | Kind::Semicolon | Kind::Open(_) | Kind::Relation(_))
            );
            let rest = self.rest().trim_start();
            let ends =
                rest.is_empty() || rest.starts_with([',', ';', '$', '\\', '.', '}', '∪', '∩', '∖']);
            let closes = round
                && entries
                && match side {
                    Some(Side::Right) => true,
                    Some(_) => false,
                    None => value_before && ends,
                };
            return if closes {
                self.close(Bracket::Outward, start)
            } else {
                self.open(Kind::Open(Bracket::Square), Bracket::Square, start)
            };
        }
        let opens = match side {
            Some(Side::Left) => true,
            Some(_) => false,
            None => {
                !round
                    && matches!(
                        self.last(),
                        None | Some(
                            Kind::Comma
                                | Kind::Semicolon
                                | Kind::Relation(_)
                                | Kind::Union
                                | Kind::Intersection
                                | Kind::SetMinus
                                | Kind::Open(_)
                                | Kind::And
                                | Kind::Or
                        )
                    )
            }
        };
        if opens {
            self.open(Kind::Open(Bracket::Outward), Bracket::Outward, start)
        } else {
            self.close(Bracket::Square, start)
        }
    }

    /// Do `&` and `\\` separate cells here?
    fn in_table(&self) -> bool {
        self.opened
            .last()
            .is_some_and(|open| open.bracket == Bracket::Environment)
    }

    /// Control characters: commands that lost their backslash to an escape, terminal colours, and noise.
    fn control(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let lost = match self.bytes[start] {
            7 => Some('a'),
            8 => Some('b'),
            9 => Some('t'),
            11 => Some('v'),
            12 => Some('f'),
            _ => None,
        };
        if let Some(letter) = lost {
            let rest = self.text.get(start + 1..).unwrap_or("");
            let length = rest
                .bytes()
                .take_while(u8::is_ascii_alphabetic)
                .take(16)
                .count();
            let mut name = String::with_capacity(length + 1);
            name.push(letter);
            name.push_str(rest.get(..length).unwrap_or(""));
            let sure = letter != 't' || matches!(&*name, "text" | "times" | "tfrac" | "theta");
            if length >= 2
                && sure
                && let Some(action) = command::command(&name)
            {
                self.pos = start + 1 + length;
                return self.act(action, start);
            }
        }
        self.pos += 1;
        if self.bytes[start] == 27 && self.byte(0) == Some(b'[') {
            let sequence = self.bytes[self.pos + 1..]
                .iter()
                .take(16)
                .position(u8::is_ascii_alphabetic);
            self.pos += sequence.map_or(0, |length| length + 2);
        } else if matches!(self.bytes[start], 9 | 11 | 12) {
            self.spaced(Space::Some);
        }
        Ok(())
    }

    /// A command, or a line break.
    fn backslash(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        self.pos += 1;
        let Some(next) = self.rest().chars().next() else {
            return Ok(());
        };
        if next == '\\' {
            return self.two_backslashes(start);
        }
        if next == '(' || next == ')' || next == '[' || next == ']' {
            // What is left of the delimiters of a formula.
            self.pos += 1;
            self.spaced(Space::Some);
            return Ok(());
        }
        if !next.is_ascii_alphabetic() {
            self.pos += next.len_utf8();
            let name = self.text.get(start + 1..self.pos).unwrap_or("");
            let action = match name {
                "\n" | "\t" | "\r" => Action::Space(Space::Some),
                "," | ";" | ":" | " " | ">" => Action::Space(Space::Some),
                _ => command::command(name).unwrap_or(Action::Emit(Kind::Other)),
            };
            return self.act(action, start);
        }
        let length = self
            .rest()
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let name = self.rest().get(..length).unwrap_or("");
        if let Some(action) = command::command(name) {
            self.pos += length;
            return self.act(action, start);
        }
        if let Some(rest) = name.strip_prefix("mathbb").or(name.strip_prefix("Bbb")) {
            self.pos += length - rest.len();
            return self.blackboard(start);
        }
        for glued in ["qquad", "quad", "cdot", "times", "displaystyle", "pi"] {
            if name.starts_with(glued)
                && let Some(action) = command::command(glued)
            {
                self.pos += glued.len();
                return self.act(action, start);
            }
        }
        self.pos += length;
        self.push(Kind::Other, start)
    }

    /// `\\`: a line break, or a command whose backslash was escaped.
    fn two_backslashes(&mut self, start: usize) -> Result<(), ParseError> {
        self.pos += 1;
        let length = self
            .rest()
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .take(24)
            .count();
        let name = self.rest().get(..length).unwrap_or("");
        let table = self
            .opened
            .iter()
            .rev()
            .take(8)
            .any(|open| open.bracket == Bracket::Environment);
        let known = command::command(name).is_some() || name.starts_with("mathbb");
        if (length >= 2 && known && !matches!(name, "in" | "to" | "it" | "pi" | "mu" | "nu" | "xi"))
            || (!table && known)
        {
            self.pos = start + 1;
            return self.backslash();
        }
        if !table
            && matches!(
                self.byte(0),
                Some(b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'!' | b'%')
            )
        {
            self.pos = start + 1;
            return self.backslash();
        }
        if self.in_table() {
            if self.last() != Some(Kind::Row) {
                return self.push(Kind::Row, start);
            }
            return Ok(());
        }
        if table {
            return self.push(Kind::Other, start);
        }
        self.push(Kind::Row, start)
    }

    /// `\mathbb{R}`.
    fn blackboard(&mut self, start: usize) -> Result<(), ParseError> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        let skipped = rest.len() - trimmed.len();
        let (letter, length) = match trimmed.as_bytes() {
            [b'{', letter, b'}', ..] => (*letter, 3),
            [b'{', b' ', letter, b'}', ..] => (*letter, 4),
            [letter, ..] => (*letter, 1),
            [] => (0, 0),
        };
        let domain = match letter {
            b'R' => 'ℝ',
            b'Z' => 'ℤ',
            b'N' => 'ℕ',
            b'Q' => 'ℚ',
            b'C' => 'ℂ',
            _ => {
                self.grouping = true;
                return Ok(());
            }
        };
        self.pos += skipped + length;
        self.push_atom(Kind::Domain(domain), start)
    }

    /// Carries out a command that ends at the current place.
    fn act(&mut self, action: Action, start: usize) -> Result<(), ParseError> {
        if !matches!(action, Action::Emit(_) | Action::Delimiter(_) | Action::Not) {
            self.grouping = true;
        }
        match action {
            Action::Emit(kind) => self.emit(kind, start),
            Action::Skip => Ok(()),
            Action::SkipGroup => {
                self.skip_group();
                Ok(())
            }
            Action::Space(space) => {
                self.spaced(space);
                Ok(())
            }
            Action::Delimiter(side) => {
                let rest = self.rest();
                self.pos += rest.len() - rest.trim_start().len();
                self.side = Some(side);
                Ok(())
            }
            Action::Text => self.words(start, false),
            Action::Name => self.words(start, true),
            Action::Begin => self.begin(start),
            Action::End => {
                let environment = self.environment_name();
                let system = matches!(
                    environment,
                    Some("aligned" | "gathered" | "align" | "align*")
                ) && self.in_table();
                if system || environment.is_some_and(|name| table(name).is_some()) {
                    if self.last() == Some(Kind::Row) {
                        self.tokens.pop();
                    }
                    return self.close(Bracket::Environment, start);
                }
                Ok(())
            }
            Action::Not => {
                self.negated = true;
                Ok(())
            }
        }
    }

    /// A command that is a token.
    fn emit(&mut self, kind: Kind<'static>, start: usize) -> Result<(), ParseError> {
        let side = self.side.take();
        match kind {
            Kind::Open(Bracket::Square) => self.open(kind, Bracket::Square, start),
            Kind::Open(Bracket::Set) if self.begins_table() => {
                self.cases = true;
                Ok(())
            }
            Kind::Open(bracket) => self.open(kind, bracket, start),
            Kind::Close(bracket) => self.close(bracket, start),
            Kind::Bar(known) => {
                let side = if known == Side::Unknown {
                    side.unwrap_or(known)
                } else {
                    known
                };
                self.push(Kind::Bar(side), start)
            }
            Kind::Relation(_) => {
                let kind = self.negate(kind);
                self.push(kind, start)
            }
            Kind::Letter(_)
            | Kind::Greek(_)
            | Kind::Constant(_)
            | Kind::Structure(_)
            | Kind::Accent(_)
            | Kind::Function(_) => {
                self.push_atom(kind, start)?;
                self.grouping = true;
                Ok(())
            }
            _ => {
                self.push(kind, start)?;
                self.grouping = matches!(
                    kind,
                    Kind::Big(_) | Kind::Congruence | Kind::Caret | Kind::Underscore
                );
                Ok(())
            }
        }
    }

    /// Does a table begin right here?
    fn begins_table(&self) -> bool {
        let rest = self.rest().trim_start();
        [
            "\\begin{array}",
            "\\begin{aligned}",
            "\\begin{matrix}",
            "\\begin{gathered}",
            "\\begin{align",
        ]
        .iter()
        .any(|begin| rest.starts_with(begin))
    }

    /// `\begin{…}`, with the columns of an array.
    fn begin(&mut self, start: usize) -> Result<(), ParseError> {
        let Some(environment) = self.environment_name() else {
            return self.push(Kind::Other, start);
        };
        let mut known = table(environment);
        if std::mem::take(&mut self.cases) {
            known = Some(Environment::Cases);
        }
        let Some(kind) = known else {
            return Ok(());
        };
        if environment == "array" {
            self.grouping = true;
            self.skip_group();
        }
        // `\left|` before an array makes it a determinant.
        self.open(Kind::Begin(kind), Bracket::Environment, start)
    }

    /// The name in braces behind `\begin` and `\end`.
    fn environment_name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let open = rest.find(|c: char| !c.is_whitespace())?;
        let inner = rest.get(open..)?.strip_prefix('{')?;
        let length = inner.bytes().take(32).position(|byte| byte == b'}')?;
        let name = inner.get(..length)?;
        self.pos += open + length + 2;
        Some(name.trim())
    }

    /// Passes over a group in braces, if one is next and ends soon.
    fn skip_group(&mut self) {
        if let Some((_, end)) = self.group() {
            self.pos = end;
        }
    }

    /// The group in braces that is next, if it ends soon: its content, and where it ends.
    pub(super) fn group(&self) -> Option<(&'t str, usize)> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        let inner = trimmed.strip_prefix('{')?;
        let from = self.pos + rest.len() - inner.len();
        let mut depth = 0_usize;
        let mut escaped = false;
        for (at, byte) in inner.bytes().take(300).enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'{' => depth += 1,
                b'}' if depth == 0 => return Some((inner.get(..at)?, from + at + 1)),
                b'}' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// A run of letters.
    fn run(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            let inner = byte == b'\''
                && end >= start + 2
                && self.bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
            if !byte.is_ascii_alphabetic() && !inner {
                break;
            }
            end += 1;
        }
        // Letters beyond ASCII make it a word, whole.
        if let Some(next) = self.text.get(end..).and_then(|rest| rest.chars().next())
            && !next.is_ascii()
            && is_word_letter(next)
        {
            return self.foreign_word();
        }
        let run = self.text.get(start..end).unwrap_or("");
        let tight = self.space == Space::Tight && matches!(self.last(), Some(Kind::Number(_)));
        if tight && matches!(run, "x" | "X")
            || run == "x" && matches!(self.last(), Some(Kind::Number(_)))
        {
            let behind = self.text.get(end..).unwrap_or("").trim_start();
            if behind.starts_with(|c: char| c.is_ascii_digit()) {
                self.pos = end;
                return self.push(Kind::Times, start);
            }
        }
        if let Some(code) = self.currency_prefix(run, end) {
            return self.push(Kind::Currency(code), start);
        }
        let rest = self.text.get(end..).unwrap_or("");
        let next = rest.chars().find(|c| *c != ' ');
        // Small words between spaces are no products.
        let apart = (self.space != Space::Tight || self.tokens.is_empty())
            && (rest.is_empty() || rest.starts_with([' ', ',']));
        if apart
            && matches!(
                run,
                "if" | "is" | "of" | "by" | "so" | "we" | "it" | "as" | "on" | "be" | "an" | "no"
            )
        {
            self.pos = end;
            return self.push(Kind::Word(run), start);
        }
        if self.pending > 0 {
            // `\frac ab`: each letter is an argument.
            self.pos = start + 1;
            return self.push_atom(Kind::Letter(self.bytes[start] as char), start);
        }
        match letters::read(run, tight, next) {
            Run::One(kind) => {
                self.pos = end;
                self.push(kind, start)?;
                self.grouping = matches!(kind, Kind::Structure(_) | Kind::Function(_));
                Ok(())
            }
            Run::Letters => {
                for (at, byte) in run.bytes().enumerate() {
                    self.pos = start + at + 1;
                    self.push(Kind::Letter(byte as char), start + at)?;
                    if at == 0
                        && let Some(token) = self.tokens.last_mut()
                    {
                        token.run = run.len().min(255) as u8;
                    }
                }
                Ok(())
            }
            Run::Parts(parts) => {
                let mut at = start;
                for (length, kind) in parts {
                    self.pos = at + length;
                    self.push(kind, at)?;
                    at = self.pos;
                }
                Ok(())
            }
        }
    }

    /// `US$`, `Rs.`: letters that announce money.
    fn currency_prefix(&mut self, run: &str, end: usize) -> Option<&'static str> {
        let rest = self.text.get(end..)?;
        let (code, length) = match run {
            "US" | "USD" if rest.starts_with('$') => ("USD", 1),
            "US" | "USD" if rest.starts_with("\\$") => ("USD", 2),
            "A" | "AU" if rest.starts_with("\\$") => ("AUD", 2),
            "Rs" => ("INR", usize::from(rest.starts_with('.'))),
            "USD" | "EUR" | "GBP" | "INR" | "RMB" | "CNY" | "JPY" => {
                if !rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
                    return None;
                }
                let code = super::units::currency(run)?.0;
                (code, 0)
            }
            _ => return None,
        };
        if rest.get(..length).is_some_and(|taken| taken.contains('$'))
            && !taken_by_backslash(length)
        {
            self.dollar += 1;
        }
        self.pos = end + length;
        Some(code)
    }

    /// Characters beyond ASCII.
    fn beyond_ascii(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let Some(character) = self.rest().chars().next() else {
            self.pos += 1;
            return Ok(());
        };
        if let Some(kind) = command::sign(character) {
            self.pos += character.len_utf8();
            return match kind {
                Kind::Open(bracket) => self.open(kind, bracket, start),
                Kind::Close(bracket) => self.close(bracket, start),
                kind => self.push(kind, start),
            };
        }
        if let Some(kind) = command::greek_letter(character) {
            self.pos += character.len_utf8();
            return self.push_atom(kind, start);
        }
        match character {
            '²'
            | '³'
            | '¹'
            | '⁰'
            | '⁴'..='⁹'
            | '⁺'
            | '⁻'
            | '⁽'
            | '⁾'
            | 'ⁿ'
            | 'ˣ'
            | 'ⁱ'
            | 'ᵏ'
            | 'ᵐ' => self.raised(),
            '₀'..='₉' | 'ₙ' | 'ₖ' | 'ᵢ' | 'ⱼ' | 'ₘ' | 'ₓ' | '₊' | '₋' => {
                self.lowered()
            }
            _ if digit(character).is_some() => self.number(),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                self.pos += character.len_utf8();
                self.spaced(Space::Some);
                Ok(())
            }
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '\u{ad}' => {
                self.pos += character.len_utf8();
                Ok(())
            }
            '\u{ff01}'..='\u{ff5e}' => self.full_width(character),
            '\u{1d400}'..='\u{1d6a3}' => {
                let index = (character as u32 - 0x1d400) % 52;
                let letter = if index < 26 {
                    b'A' + index as u8
                } else {
                    b'a' + (index - 26) as u8
                };
                self.pos += character.len_utf8();
                self.push_atom(Kind::Letter(letter as char), start)
            }
            'ℎ' | 'ℯ' | 'ℓ' => {
                self.pos += character.len_utf8();
                let letter = match character {
                    'ℎ' => 'h',
                    'ℯ' => 'e',
                    other => other,
                };
                self.push_atom(Kind::Letter(letter), start)
            }
            _ if is_word_letter(character) => self.foreign_word(),
            _ => {
                self.pos += character.len_utf8();
                self.push(Kind::Other, start)
            }
        }
    }

    /// A character of the full-width block, as its ASCII counterpart.
    fn full_width(&mut self, character: char) -> Result<(), ParseError> {
        let start = self.pos;
        self.pos += character.len_utf8();
        let byte = (character as u32 - 0xff01) as u8 + b'!';
        let kind = match byte {
            b'(' => return self.open(Kind::Open(Bracket::Round), Bracket::Round, start),
            b')' => return self.close(Bracket::Round, start),
            b'[' => return self.open(Kind::Open(Bracket::Square), Bracket::Square, start),
            b']' => return self.close(Bracket::Square, start),
            b'{' => return self.open(Kind::Open(Bracket::Set), Bracket::Set, start),
            b'}' => return self.close(Bracket::Set, start),
            b'+' => Kind::Plus,
            b'-' => Kind::Minus,
            b'*' => Kind::Times,
            b'/' => Kind::Divide,
            b'^' => Kind::Caret,
            b'_' => Kind::Underscore,
            b'=' => Kind::Relation(Operator::Equal),
            b'<' => Kind::Relation(Operator::Less),
            b'>' => Kind::Relation(Operator::Greater),
            b',' => Kind::Comma,
            b';' => Kind::Semicolon,
            b':' => Kind::Colon,
            b'%' => Kind::Percent,
            b'$' => Kind::Currency("USD"),
            b'!' => Kind::Bang(1),
            b'|' => Kind::Bar(Side::Unknown),
            b'.' => Kind::Stop,
            letter if letter.is_ascii_alphabetic() => {
                return self.push_atom(Kind::Letter(letter as char), start);
            }
            _ => Kind::Other,
        };
        self.push(kind, start)
    }

    /// A word in another script, or with accents.
    fn foreign_word(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let length = self
            .rest()
            .find(|c: char| !is_word_letter(c) && c != '\'' && c != '’')
            .unwrap_or(self.rest().len());
        self.pos += length.max(1);
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        let word = self.text.get(start..self.pos).unwrap_or("");
        let kind = match word {
            "或" | "或者" => Kind::Or,
            "和" | "与" | "及" | "且" => Kind::And,
            _ => Kind::Word(word),
        };
        self.push(kind, start)
    }

    /// Raised characters: an exponent.
    fn raised(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        self.push(Kind::Caret, start)?;
        let rest = self.rest();
        let mut digits = 0;
        let mut length = 0;
        let mut plain = true;
        for character in rest.chars() {
            match character {
                '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' => digits += 1,
                '⁺' | '⁻' | '⁽' | '⁾' | 'ⁿ' | 'ˣ' | 'ⁱ' | 'ᵏ' | 'ᵐ' => {
                    plain = false
                }
                _ => break,
            }
            length += character.len_utf8();
        }
        let end = start + length;
        if plain && digits > 0 {
            return self.numeral(start, end);
        }
        self.grouping = true;
        self.open(Kind::Open(Bracket::Group), Bracket::Group, start)?;
        while self.pos < end {
            let at = self.pos;
            let Some(character) = self.rest().chars().next() else {
                break;
            };
            if digit(character).is_some() {
                let run: usize = self
                    .rest()
                    .chars()
                    .take_while(|c| digit(*c).is_some() && !c.is_ascii())
                    .map(char::len_utf8)
                    .sum();
                self.numeral(at, at + run.max(1))?;
                continue;
            }
            self.pos += character.len_utf8();
            match character {
                '⁺' => self.push(Kind::Plus, at)?,
                '⁻' => self.push(Kind::Minus, at)?,
                '⁽' => self.open(Kind::Open(Bracket::Round), Bracket::Round, at)?,
                '⁾' => self.close(Bracket::Round, at)?,
                'ⁿ' => self.push(Kind::Letter('n'), at)?,
                'ˣ' => self.push(Kind::Letter('x'), at)?,
                'ⁱ' => self.push(Kind::Letter('i'), at)?,
                'ᵏ' => self.push(Kind::Letter('k'), at)?,
                _ => self.push(Kind::Letter('m'), at)?,
            }
        }
        self.close(Bracket::Group, end)
    }

    /// Lowered characters: a subscript.
    fn lowered(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        self.push(Kind::Underscore, start)?;
        self.grouping = true;
        self.open(Kind::Open(Bracket::Group), Bracket::Group, start)?;
        loop {
            let at = self.pos;
            let Some(character) = self.rest().chars().next() else {
                break;
            };
            let letter = match character {
                '₀'..='₉' => {
                    let run: usize = self
                        .rest()
                        .chars()
                        .take_while(|c| matches!(c, '₀'..='₉'))
                        .map(char::len_utf8)
                        .sum();
                    self.numeral(at, at + run)?;
                    continue;
                }
                '₊' => Kind::Plus,
                '₋' => Kind::Minus,
                'ₙ' => Kind::Letter('n'),
                'ₖ' => Kind::Letter('k'),
                'ᵢ' => Kind::Letter('i'),
                'ⱼ' => Kind::Letter('j'),
                'ₘ' => Kind::Letter('m'),
                'ₓ' => Kind::Letter('x'),
                _ => break,
            };
            self.pos += character.len_utf8();
            self.push(letter, at)?;
        }
        let end = self.pos;
        self.close(Bracket::Group, end)
    }

    /// Adds a number that is written in the bytes from `start` to `end`, digits only.
    fn numeral(&mut self, start: usize, end: usize) -> Result<(), ParseError> {
        self.pos = end;
        let index = self.numerals.len() as u32;
        self.numerals.push(Numeral {
            text: self.text.get(start..end).unwrap_or(""),
            point: None,
            exponent: 0,
            repeat: "",
            dots: false,
            radix: 10,
        });
        self.push(Kind::Number(index), start)
    }
}

/// Was a dollar written behind a backslash, given the length of what was taken?
fn taken_by_backslash(length: usize) -> bool {
    length == 2
}

/// A letter that makes words: neither Greek nor a sign of mathematics.
pub(super) fn is_word_letter(character: char) -> bool {
    character.is_alphabetic()
        && command::greek_letter(character).is_none()
        && command::sign(character).is_none()
        && digit(character).is_none()
        && !matches!(character, '\u{1d400}'..='\u{1d7ff}' | '\u{ff01}'..='\u{ff5e}' | 'ⁿ' | 'ˣ' | 'ⁱ' | 'ᵏ' | 'ᵐ'
            | 'ₙ' | 'ₖ' | 'ᵢ' | 'ⱼ' | 'ₘ' | 'ₓ' | 'ℎ' | 'ℯ' | 'ℓ')
}

/// Environments whose cells are told apart.
fn table(name: &str) -> Option<Environment> {
    Some(match name.trim_end_matches('*') {
        "matrix" | "pmatrix" | "bmatrix" | "Bmatrix" | "smallmatrix" | "array" | "psmallmatrix"
        | "bsmallmatrix" => Environment::Matrix,
        "vmatrix" | "Vmatrix" => Environment::Determinant,
        "cases" | "dcases" | "rcases" => Environment::Cases,
        _ => return None,
    })
}

/// Function names that are also units.
pub(super) fn is_function_name(name: &str) -> Option<Kind<'static>> {
    match name {
        "lim" => Some(Kind::Big(BinderKind::Limit)),
        "pi" => Some(Kind::Constant(Constant::Pi)),
        "mod" => Some(Kind::Modulo),
        "arcsinh" => Some(Kind::Function(Named::One(super::term::Function::Arsinh))),
        _ if name.len() >= 2 => command::function(name),
        _ => None,
    }
}

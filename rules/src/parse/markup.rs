//! Commands of LaTeX: what they emit, and what they only say about the looks.

use super::ParseError;
use super::command::{self, Action};
use super::lexer::Lexer;
use super::token::{Bracket, Environment, Kind, Side, Space};

impl<'t> Lexer<'t> {
    /// Control characters: commands that lost their backslash to an escape, terminal colours, and noise.
    pub(super) fn control(&mut self) -> Result<(), ParseError> {
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
    pub(super) fn backslash(&mut self) -> Result<(), ParseError> {
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
                "\n" | "\t" | "\r" | "," | ";" | ":" | " " | ">" => Action::Space(Space::Some),
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
    pub(super) fn two_backslashes(&mut self, start: usize) -> Result<(), ParseError> {
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
    pub(super) fn blackboard(&mut self, start: usize) -> Result<(), ParseError> {
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
    pub(super) fn act(&mut self, action: Action, start: usize) -> Result<(), ParseError> {
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
    pub(super) fn emit(&mut self, kind: Kind<'static>, start: usize) -> Result<(), ParseError> {
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
    pub(super) fn begins_table(&self) -> bool {
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
    pub(super) fn begin(&mut self, start: usize) -> Result<(), ParseError> {
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
    pub(super) fn environment_name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let open = rest.find(|c: char| !c.is_whitespace())?;
        let inner = rest.get(open..)?.strip_prefix('{')?;
        let length = inner.bytes().take(32).position(|byte| byte == b'}')?;
        let name = inner.get(..length)?;
        self.pos += open + length + 2;
        Some(name.trim())
    }

    /// Passes over a group in braces, if one is next and ends soon.
    pub(super) fn skip_group(&mut self) {
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

//! Runs of letters in line, raised and lowered.

use super::ParseError;
use super::command;
use super::letters::{self, Run};
use super::lexer::Lexer;
use super::token::{Bracket, Kind, Space, digit};
use crate::lexicon::units::currency;
use crate::lexicon::words;

impl Lexer<'_> {
    /// A run of letters.
    pub(super) fn run(&mut self) -> Result<(), ParseError> {
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
        if apart && run.len() == 2 && words::SHORT_WORD.contains_exactly(run) {
            self.pos = end;
            return self.push(Kind::Word(run), start);
        }
        if self.pending > 0 {
            // `\frac ab`: each letter is an argument.
            self.pos = start + 1;
            return self.push_atom(Kind::Letter(self.bytes[start] as char), start);
        }
        if run == "th" && matches!(self.last(), Some(Kind::Minus | Kind::Caret)) {
            self.pos = end;
            return self.push(Kind::Word(run), start);
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
    pub(super) fn currency_prefix(&mut self, run: &str, end: usize) -> Option<&'static str> {
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
                let code = currency(run)?.0;
                (code, 0)
            }
            _ => return None,
        };
        if length == 1 && rest.starts_with('$') {
            self.dollar += 1;
        }
        self.pos = end + length;
        Some(code)
    }

    /// A word in another script, or with accents.
    pub(super) fn foreign_word(&mut self) -> Result<(), ParseError> {
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

    /// Raised or lowered characters: the sign of an exponent or a subscript, then a number or a group of what they are.
    pub(super) fn shifted(
        &mut self,
        sign: Kind<'static>,
        plain: fn(char) -> Option<Kind<'static>>,
    ) -> Result<(), ParseError> {
        let start = self.pos;
        self.push(sign, start)?;
        let of = |rest: &str, wanted: fn(Kind<'static>) -> bool| -> usize {
            rest.chars()
                .take_while(|c| plain(*c).is_some_and(wanted))
                .map(char::len_utf8)
                .sum()
        };
        let is_digit = |kind| matches!(kind, Kind::Number(_));
        let end = start + of(self.rest(), |_| true);
        let digits = of(self.rest(), is_digit);
        if start + digits == end {
            return self.digits(start, end);
        }
        self.grouping = true;
        self.open(Kind::Open(Bracket::Group), Bracket::Group, start)?;
        while self.pos < end {
            let at = self.pos;
            let digits = of(self.rest(), is_digit);
            if digits > 0 {
                self.digits(at, at + digits)?;
                continue;
            }
            let Some((character, kind)) = self
                .rest()
                .chars()
                .next()
                .and_then(|c| Some((c, plain(c)?)))
            else {
                break;
            };
            self.pos += character.len_utf8();
            match kind {
                Kind::Open(bracket) => self.open(kind, bracket, at)?,
                Kind::Close(bracket) => self.close(bracket, at)?,
                kind => self.push(kind, at)?,
            }
        }
        self.close(Bracket::Group, end)
    }
}

/// What a raised character is in line; digits as a number.
pub(super) fn raised(character: char) -> Option<Kind<'static>> {
    Some(match character {
        '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' => Kind::Number(0),
        '⁺' => Kind::Plus,
        '⁻' => Kind::Minus,
        '⁽' => Kind::Open(Bracket::Round),
        '⁾' => Kind::Close(Bracket::Round),
        'ⁿ' => Kind::Letter('n'),
        'ˣ' => Kind::Letter('x'),
        'ⁱ' => Kind::Letter('i'),
        'ᵏ' => Kind::Letter('k'),
        'ᵐ' => Kind::Letter('m'),
        _ => return None,
    })
}

/// What a lowered character is in line; digits as a number.
pub(super) fn lowered(character: char) -> Option<Kind<'static>> {
    Some(match character {
        '₀'..='₉' => Kind::Number(0),
        '₊' => Kind::Plus,
        '₋' => Kind::Minus,
        'ₙ' => Kind::Letter('n'),
        'ₖ' => Kind::Letter('k'),
        'ᵢ' => Kind::Letter('i'),
        'ⱼ' => Kind::Letter('j'),
        'ₘ' => Kind::Letter('m'),
        'ₓ' => Kind::Letter('x'),
        _ => return None,
    })
}

/// A letter that makes words: neither Greek nor a sign of mathematics.
pub(crate) fn is_word_letter(character: char) -> bool {
    character.is_alphabetic()
        && command::character(character).is_none()
        && digit(character).is_none()
        && raised(character).is_none()
        && lowered(character).is_none()
        && !matches!(character, '\u{1d400}'..='\u{1d7ff}' | '\u{ff01}'..='\u{ff5e}' | 'ℎ' | 'ℯ' | 'ℓ')
}

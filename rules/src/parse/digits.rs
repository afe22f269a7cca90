//! Written numbers: how far one reaches, and which of its signs group digits.

use super::ParseError;
use super::lexer::Lexer;
use super::token::{Kind, Numeral, Space, digit};

/// What stands between groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `,`: may also separate numbers.
    Comma,
    /// `{,}`, `,\!`: groups for certain.
    Firm,
    /// `'`.
    Apostrophe,
    /// White space of any kind.
    Space,
}

impl<'t> Lexer<'t> {
    /// A number from the current place on.
    pub(super) fn number(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        if self.pending > 0 {
            // `\frac12`: each digit is an argument.
            let length = self.digits_at(start, 1);
            if length > 0 {
                self.pending -= 1;
                return self.digits(start, start + length);
            }
        }
        if self.bytes[start] == b'0' && self.prefixed()? {
            return Ok(());
        }
        let mut end = start + self.digits_at(start, usize::MAX);
        let mut point = None;
        if end - start <= 12 && end > start {
            end = self.grouped(start, end);
            point = self.european(start, end).map(|(at, behind)| {
                end = behind;
                at
            });
        }
        if point.is_none() {
            let (at, behind) = self.fraction(end);
            if at.is_some() || behind > end {
                point = at;
                end = behind;
            }
        }
        self.pos = end;
        let exponent = self.exponent();
        let offset = point.map(|at| (at - start) as u32);
        let repeat = if exponent.is_none() && point.is_some() {
            self.repeated_digits()
        } else {
            None
        };
        let dots = exponent.is_none() && repeat.is_none() && point.is_some() && self.dots();
        let numeral = Numeral {
            point: offset,
            exponent: exponent.unwrap_or(0),
            repeat: repeat.map_or("", |(from, to)| self.text.get(from..to).unwrap_or("")),
            dots,
            ..Numeral::digits(self.text.get(start..end).unwrap_or(""))
        };
        self.push_number(numeral, start)
    }

    /// Adds a written number that ends at the current place.
    fn push_number(&mut self, numeral: Numeral<'t>, start: usize) -> Result<(), ParseError> {
        let index = self.numerals.len() as u32;
        self.numerals.push(numeral);
        self.push(Kind::Number(index), start)
    }

    /// Adds a number of nothing but digits, in the bytes from `start` to `end`.
    pub(super) fn digits(&mut self, start: usize, end: usize) -> Result<(), ParseError> {
        self.pos = end;
        self.push_number(
            Numeral::digits(self.text.get(start..end).unwrap_or("")),
            start,
        )
    }

    /// How many bytes of digits (at most `most` of them) stand at `at`.
    fn digits_at(&self, at: usize, most: usize) -> usize {
        let mut end = at;
        let mut count = 0;
        while count < most {
            match self.bytes.get(end) {
                Some(b'0'..=b'9') => end += 1,
                Some(128..) => {
                    // Raised and lowered digits are no part of a number in line.
                    let next = self.text.get(end..).and_then(|rest| rest.chars().next());
                    match next {
                        Some(c)
                            if digit(c).is_some()
                                && !matches!(c, '⁰'..='⁹' | '₀'..='₉' | '¹' | '²' | '³') =>
                        {
                            end += c.len_utf8();
                        }
                        _ => break,
                    }
                }
                _ => break,
            }
            count += 1;
        }
        end - at
    }

    /// What separates groups of digits at `at`, and its length.
    fn separator(&self, at: usize) -> Option<(Separator, usize)> {
        let rest = self.bytes.get(at..)?;
        Some(match rest {
            [b',', b'\\', b'!', ..] => {
                let spaces = rest[3..].iter().take(4).take_while(|b| **b == b' ').count();
                (Separator::Firm, 3 + spaces)
            }
            [b'{', b',', b'}', ..] => (Separator::Firm, 3),
            [b',', ..] => (Separator::Comma, 1),
            [b'\'', ..] => (Separator::Apostrophe, 1),
            [b'\\', b',' | b' ' | b';' | b':', ..] | [0xc2, 0xa0, ..] => (Separator::Space, 2),
            [b'~' | b' ', ..] => (Separator::Space, 1),
            [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..] => (Separator::Space, 3),
            [0xe2, 0x80, 0x99, ..] => (Separator::Apostrophe, 3),
            [0xef, 0xbc, 0x8c, ..] => (Separator::Comma, 3),
            _ => return None,
        })
    }

    /// The end of digits in groups of three, of which the first ends at `end`; `end` where they are not.
    fn grouped(&mut self, start: usize, end: usize) -> usize {
        let first = self
            .text
            .get(start..end)
            .map_or(0, |text| text.chars().count());
        if first > 3 {
            return end;
        }
        let mut reached = end;
        let mut kind = None;
        while let Some((separator, length)) = self.separator(reached) {
            if kind.is_some_and(|kind| kind != separator) {
                break;
            }
            let weak = separator == Separator::Comma;
            if weak && (start < self.ungrouped || (self.lists > 0 && !self.is_spaced_list(reached)))
            {
                break;
            }
            if separator != Separator::Firm && self.bytes[start] == b'0' {
                break;
            }
            let from = reached + length;
            let digits = self.digits_at(from, 4);
            let count = self
                .text
                .get(from..from + digits)
                .map_or(0, |text| text.chars().count());
            if count == 0 {
                break;
            }
            if count != 3 {
                if weak || separator == Separator::Space {
                    // One group that is none: no comma here groups anything.
                    if weak {
                        self.ungrouped = self.run_of_commas(from + digits);
                    }
                    return if kind.is_some() && !weak {
                        reached
                    } else {
                        end
                    };
                }
                break;
            }
            kind = Some(separator);
            reached = from + digits;
        }
        reached
    }

    /// Do entries around this place have spaces behind their commas, so that a tight comma groups digits?
    fn is_spaced_list(&self, end: usize) -> bool {
        let mut at = end;
        while self.bytes.get(at) == Some(&b',') && self.digits_at(at + 1, 4) == 3 {
            at += 4;
        }
        let behind = self.bytes.get(at) == Some(&b',') && self.bytes.get(at + 1) == Some(&b' ');
        let closes = matches!(self.bytes.get(at), Some(b')' | b']' | b'}' | b'\\' | b','));
        let before = self.last() == Some(Kind::Comma) && self.space != Space::Tight;
        at > end && (behind || (before && closes))
    }

    /// The end of the run of digits and commas that goes on at `at`.
    fn run_of_commas(&self, at: usize) -> usize {
        let length = self
            .bytes
            .get(at..)
            .unwrap_or(&[])
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b',')
            .count();
        at + length
    }

    /// `1.234,56` and `1.234.567`: where the decimal comma is (if there is one) and where the number ends.
    fn european(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = end - start;
        if !(1..=3).contains(&first)
            || self.bytes.get(end) != Some(&b'.')
            || self.bytes[start] == b'0'
        {
            return None;
        }
        let mut reached = end;
        let mut groups = 0;
        while self.bytes.get(reached) == Some(&b'.') && self.digits_at(reached + 1, 4) == 3 {
            reached += 4;
            groups += 1;
        }
        if groups == 0 {
            return None;
        }
        let comma = self.bytes.get(reached) == Some(&b',') && self.lists == 0;
        let digits = if comma {
            self.digits_at(reached + 1, 9)
        } else {
            0
        };
        let behind = reached + 1 + digits;
        if (digits == 1 || digits == 2 || (digits > 3 && groups > 1))
            && self.bytes.get(behind) != Some(&b',')
        {
            return Some((reached, behind));
        }
        // Two points can only group; the "decimal separator" is then behind everything.
        (groups >= 2 && !comma && self.bytes.get(reached) != Some(&b'.'))
            .then_some((reached, reached))
    }

    /// The decimal separator behind `end`, and where the digits behind it end.
    fn fraction(&self, end: usize) -> (Option<usize>, usize) {
        let rest = self.bytes.get(end..).unwrap_or(&[]);
        let mark = match rest {
            [b'.', ..] => 1,
            [b'{', b',' | b'.', b'}', ..] | [0xef, 0xbc, 0x8e, ..] => 3,
            [0xd9, 0xab, ..] => 2,
            _ => return (None, end),
        };
        let from = end + mark;
        let mut reached = from + self.digits_at(from, usize::MAX);
        if reached == from {
            // `5.` is five at the end of a sentence, unless dots or a period in brackets follow.
            let behind = self.text.get(from..).unwrap_or("");
            let goes_on = ["(", "\\overline", "\\bar", "\\dot{"]
                .iter()
                .any(|s| behind.starts_with(s));
            return if mark == 1 && goes_on {
                (Some(end), from)
            } else {
                (None, end)
            };
        }
        // Decimals in groups: `3.141\,592`.
        while reached - from >= 3 {
            let Some((Separator::Space, length)) = self.separator(reached) else {
                break;
            };
            let wide = self.bytes.get(reached) == Some(&b' ');
            if wide
                || self.digits_at(reached + length, 4) == 0
                || self.digits_at(reached + length, 4) > 3
            {
                break;
            }
            reached += length + self.digits_at(reached + length, 3);
        }
        (Some(end), reached)
    }

    /// `e-5`: the exponent behind a number.
    fn exponent(&mut self) -> Option<i64> {
        if !matches!(self.byte(0), Some(b'e' | b'E')) {
            return None;
        }
        let (negative, sign) = match self.byte(1) {
            Some(b'+') => (false, 1),
            Some(b'-') => (true, 1),
            Some(0xe2)
                if self
                    .rest()
                    .get(1..)
                    .is_some_and(|rest| rest.starts_with('−')) =>
            {
                (true, 3)
            }
            _ => (false, 0),
        };
        let from = self.pos + 1 + sign;
        let length = self
            .bytes
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let end = from + length;
        if length == 0 || self.bytes.get(end).is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let text = self.text.get(from..end)?;
        let exponent = text.parse::<i64>().unwrap_or(i64::MAX);
        self.pos = end;
        Some(if negative { -exponent } else { exponent })
    }

    /// `\overline{3}`, `(3)`, `\dot{3}` behind a decimal: the bytes that hold the digits of the period.
    fn repeated_digits(&mut self) -> Option<(usize, usize)> {
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('(') {
            let length = inner
                .bytes()
                .take(40)
                .take_while(u8::is_ascii_digit)
                .count();
            let closes = inner.as_bytes().get(length) == Some(&b')');
            let behind = inner.get(length + 1..).unwrap_or("").trim_start();
            let ends = behind.is_empty()
                || !behind.starts_with(|c: char| {
                    c.is_alphanumeric() || matches!(c, '(' | '^' | '_' | '!')
                });
            if length > 0 && closes && ends {
                let from = self.pos + 1;
                self.pos += length + 2;
                return Some((from, from + length));
            }
            return None;
        }
        let over = ["\\overline", "\\bar"]
            .iter()
            .find(|name| rest.starts_with(**name));
        if let Some(name) = over {
            let after = rest.get(name.len()..)?;
            let inner = after.trim_start();
            let from = self.pos + name.len() + (after.len() - inner.len());
            if let Some(inner) = inner.strip_prefix('{') {
                let inner_from = from + 1;
                let spaces = inner.len() - inner.trim_start().len();
                let inner = inner.trim_start();
                let length = inner.bytes().take_while(u8::is_ascii_digit).count();
                let behind = inner.get(length..)?;
                let close = behind.len() - behind.trim_start().len();
                if length == 0 || !behind.trim_start().starts_with('}') {
                    return None;
                }
                self.pos = inner_from + spaces + length + close + 1;
                self.repeat_dots();
                return Some((inner_from + spaces, inner_from + spaces + length));
            }
            if inner.starts_with(|c: char| c.is_ascii_digit()) {
                self.pos = from + 1;
                return Some((from, from + 1));
            }
            return None;
        }
        if rest.starts_with("\\dot") {
            // From the first dotted digit to the last.
            let from = self.pos;
            let mut at = self.pos;
            let mut end = None;
            for _ in 0..2 {
                let here = self.text.get(at..)?;
                let Some(after) = here.strip_prefix("\\dot") else {
                    break;
                };
                let taken = match after.as_bytes() {
                    [b'{', b'0'..=b'9', b'}', ..] => 3,
                    [b' ', b'0'..=b'9', ..] => 2,
                    [b'0'..=b'9', ..] => 1,
                    _ => break,
                };
                at += 4 + taken;
                end = Some(at);
                at += self.digits_at(at, 40);
            }
            let end = end?;
            self.pos = end;
            return Some((from, end));
        }
        None
    }

    /// Passes over dots that only repeat what a bar says.
    fn repeat_dots(&mut self) {
        for dots in ["\\ldots", "\\dots", "\\cdots", "...", "…"] {
            if self.rest().starts_with(dots) {
                self.pos += dots.len();
                return;
            }
        }
    }

    /// Passes over dots right behind a decimal.
    fn dots(&mut self) -> bool {
        let before = self.pos;
        let skipped = self.rest().len() - self.rest().trim_start().len();
        let rest = self.rest().trim_start();
        if skipped == 0 || rest.starts_with('\\') {
            self.pos += skipped;
            self.repeat_dots();
            if self.pos > before + skipped {
                return true;
            }
        }
        self.pos = before;
        false
    }

    /// `0x1F`, `0b101`, `0o17`.
    fn prefixed(&mut self) -> Result<bool, ParseError> {
        let start = self.pos;
        let radix = match self.byte(1) {
            Some(b'x' | b'X') => 16,
            Some(b'b') => 2,
            Some(b'o') => 8,
            _ => return Ok(false),
        };
        let digits = self.bytes.get(start + 2..).unwrap_or(&[]);
        let length = digits
            .iter()
            .take_while(|b| (**b as char).is_digit(radix))
            .count();
        let ends = digits
            .get(length)
            .is_none_or(|b| !b.is_ascii_alphanumeric());
        if length == 0 || !ends {
            return Ok(false);
        }
        self.pos = start + 2 + length;
        let numeral = Numeral {
            radix: radix as u8,
            ..Numeral::digits(self.text.get(start + 2..self.pos).unwrap_or(""))
        };
        self.push_number(numeral, start)?;
        Ok(true)
    }
}

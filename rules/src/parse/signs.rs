//! Signs: operators, relations, brackets and punctuation, of ASCII and beyond.

use super::ParseError;
use super::command;
use super::lexer::Lexer;
use super::runs::{self, is_word_letter};
use super::token::{Bracket, Kind, Side, Space, digit, inside};
use crate::algebra::Constant;
use crate::answer::Operator;

impl<'t> Lexer<'t> {
    /// ASCII signs.
    pub(super) fn ascii(&mut self, byte: u8) -> Result<(), ParseError> {
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
            (b'=' | b':', Some(b'=')) => {
                return two(self, Kind::Relation(Operator::Equal));
            }
            (b'=', Some(b'>')) => return two(self, Kind::Other),
            (b'-', Some(b'>')) => return two(self, Kind::Tends),
            (b'!', Some(b'='))
                if !(self.space == Space::Tight
                    && matches!(self.last(), Some(Kind::Number(_)))) =>
            {
                return two(self, Kind::Relation(Operator::NotEqual));
            }
            (b'<', Some(b'=')) | (b'=', Some(b'<')) => {
                return two(self, Kind::Relation(Operator::LessOrEqual));
            }
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
            (b'|', Some(b'|')) if side.is_none() && self.last().is_none() => {
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
            (b'!' | b'\'', _) => return self.repeated(byte),
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
    pub(super) fn negate(&mut self, kind: Kind<'t>) -> Kind<'t> {
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
    pub(super) fn repeated(&mut self, byte: u8) -> Result<(), ParseError> {
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
    pub(super) fn square(&mut self, byte: u8, side: Option<Side>) -> Result<(), ParseError> {
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

    /// Characters beyond ASCII.
    pub(super) fn beyond_ascii(&mut self) -> Result<(), ParseError> {
        let start = self.pos;
        let Some(character) = self.rest().chars().next() else {
            self.pos += 1;
            return Ok(());
        };
        if let Some(kind) = command::character(character) {
            self.pos += character.len_utf8();
            return match kind {
                Kind::Open(bracket) => self.open(kind, bracket, start),
                Kind::Close(bracket) => self.close(bracket, start),
                Kind::Greek(_) | Kind::Constant(Constant::Pi) => self.push_atom(kind, start),
                kind => self.push(kind, start),
            };
        }
        match character {
            _ if runs::raised(character).is_some() => self.shifted(Kind::Caret, runs::raised),
            _ if runs::lowered(character).is_some() => {
                self.shifted(Kind::Underscore, runs::lowered)
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
            '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
                self.styled_letter((character as u32 - 0xff01) as u8 + b'!')
            }
            '\u{1d400}'..='\u{1d6a3}' => {
                let index = ((character as u32 - 0x1d400) % 52) as u8;
                let first = if index < 26 { b'A' } else { b'a' - 26 };
                self.styled_letter(first + index)
            }
            'ℎ' => self.styled_letter(b'h'),
            'ℯ' => self.styled_letter(b'e'),
            'ℓ' => {
                self.pos += character.len_utf8();
                self.push_atom(Kind::Letter(character), start)
            }
            _ if is_word_letter(character) => self.foreign_word(),
            _ => {
                self.pos += character.len_utf8();
                self.push(Kind::Other, start)
            }
        }
    }

    /// A letter in another style, as its ASCII counterpart.
    fn styled_letter(&mut self, letter: u8) -> Result<(), ParseError> {
        let start = self.pos;
        self.pos += self.rest().chars().next().map_or(1, char::len_utf8);
        self.push_atom(Kind::Letter(letter as char), start)
    }
}

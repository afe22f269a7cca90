//! Signs: operators, relations, brackets and punctuation, of ASCII and beyond.

use super::lexer::Lexer;
use super::parser::Parsed;
use super::runs::{self, is_word_letter};
use super::token::{Bracket, Kind, Side, Space, digit, inside};
use super::{command, digits};
use crate::algebra::Constant;
use crate::answer::Operator;

pub(super) fn ascii<'t>(lexer: &mut Lexer<'t>, byte: u8) -> Parsed<()> {
    let start = lexer.pos();
    let next = lexer.byte(1);
    let two = |lexer: &mut Lexer<'t>, kind| {
        lexer.skip(2);
        lexer.push(kind, start)
    };
    let side = lexer.next.side.take();
    let kind = match (byte, next) {
        (b'.', _) if side.is_some() => {
            lexer.skip(1);
            return Ok(());
        }
        (b'.', Some(b'0'..=b'9')) => return digits::number(lexer),
        (b'.', Some(b'.')) => {
            while lexer.byte(0) == Some(b'.') {
                lexer.skip(1);
            }
            return lexer.push(Kind::Dots, start);
        }
        (b'.', _) => Kind::Stop,
        (b'*', Some(b'*')) => return two(lexer, Kind::Caret),
        (b'=' | b':', Some(b'=')) => {
            return two(lexer, Kind::Relation(Operator::Equal));
        }
        (b'=', Some(b'>')) => return two(lexer, Kind::Other),
        (b'-', Some(b'>')) => return two(lexer, Kind::Tends),
        (b'!', Some(b'='))
            if !(lexer.is_tight() && matches!(lexer.last(), Some(Kind::Number(_)))) =>
        {
            return two(lexer, Kind::Relation(Operator::NotEqual));
        }
        (b'<', Some(b'=')) | (b'=', Some(b'<')) => {
            return two(lexer, Kind::Relation(Operator::LessOrEqual));
        }
        (b'<', Some(b'>')) => return two(lexer, Kind::Relation(Operator::NotEqual)),
        (b'>', Some(b'=')) => return two(lexer, Kind::Relation(Operator::GreaterOrEqual)),
        (b'<', _) if side.is_some() => return opens(lexer, Bracket::Angle),
        (b'>', _) if side.is_some() => return closes(lexer, Bracket::Angle),
        (b'(', _) => return opens(lexer, Bracket::Round),
        (b')', _) => return closes(lexer, Bracket::Round),
        (b'[' | b']', _) => return square(lexer, byte, side),
        // `1{:}3`: a sign in braces is a sign.
        (b'{', Some(b':' | b'=' | b'<' | b'>' | b'+' | b'-' | b'/' | b'*'))
            if lexer.byte(2) == Some(b'}') && !lexer.next.grouping =>
        {
            lexer.skip(1);
            lexer.step()?;
            lexer.skip(1);
            return Ok(());
        }
        (b'{', _) => return opens(lexer, Bracket::Group),
        (b'}', _) => return closes(lexer, Bracket::Group),
        (b'|', Some(b'|')) if side.is_none() && lexer.last().is_none() => {
            lexer.skip(1);
            return lexer.push(Kind::Bar(Side::Unknown), start);
        }
        (b'|', _) => Kind::Bar(side.unwrap_or(Side::Unknown)),
        (b'$', _) => {
            lexer.skip(1);
            let delimiter = lexer.pass_dollar();
            if delimiter {
                lexer.spaced(Space::Some);
                return Ok(());
            }
            return lexer.push(Kind::Currency("USD"), start);
        }
        (b'~', _) => {
            lexer.skip(1);
            if lexer.last().is_none() {
                return lexer.push(Kind::Relation(Operator::Approximately), start);
            }
            lexer.spaced(Space::Some);
            return Ok(());
        }
        (b'!' | b'\'', _) => return repeated(lexer, byte),
        (b'&', _) => {
            lexer.skip(1);
            if lexer.in_table() {
                return lexer.push(Kind::Cell, start);
            }
            lexer.spaced(Space::Some);
            return Ok(());
        }
        (b'"' | b'`', _) => {
            lexer.skip(1);
            return Ok(());
        }
        (b'+', Some(b'/')) if lexer.rest().starts_with("+/-") => {
            lexer.skip(3);
            return lexer.push(Kind::PlusMinus, start);
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
    lexer.skip(1);
    let kind = negate(lexer, kind);
    lexer.push(kind, start)
}

/// A relation after `\not` is its opposite.
pub(super) fn negate<'t>(lexer: &mut Lexer<'t>, kind: Kind<'t>) -> Kind<'t> {
    if !std::mem::take(&mut lexer.next.negated) {
        return kind;
    }
    match kind {
        Kind::Relation(Operator::Equal) => Kind::Relation(Operator::NotEqual),
        Kind::Relation(Operator::In) => Kind::Relation(Operator::NotIn),
        _ => Kind::Other,
    }
}

/// `!` and `'`, several counted.
pub(super) fn repeated(lexer: &mut Lexer<'_>, byte: u8) -> Parsed<()> {
    let start = lexer.pos();
    while lexer.byte(0) == Some(byte) && lexer.pos() - start < 200 {
        lexer.skip(1);
    }
    let count = (lexer.pos() - start) as u8;
    lexer.push(
        if byte == b'!' {
            Kind::Bang(count)
        } else {
            Kind::Prime(count)
        },
        start,
    )
}

/// `[` and `]`, which may enclose from the outside: `]a, b[`.
pub(super) fn square(lexer: &mut Lexer<'_>, byte: u8, side: Option<Side>) -> Parsed<()> {
    let start = lexer.pos();
    lexer.skip(1);
    let entries = lexer.inside() & (inside::COMMA | inside::SEMICOLON) != 0;
    let round = matches!(
        lexer.innermost(),
        Some(Bracket::Round | Bracket::Square | Bracket::Outward)
    );
    if byte == b'[' {
        let value_before = !matches!(
            lexer.last(),
            None | Some(Kind::Comma | Kind::Semicolon | Kind::Open(_) | Kind::Relation(_))
        );
        let rest = lexer.rest().trim_start();
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
            lexer.close(Bracket::Outward, start)
        } else {
            lexer.open(Kind::Open(Bracket::Square), Bracket::Square, start)
        };
    }
    let opens = match side {
        Some(Side::Left) => true,
        Some(_) => false,
        None => {
            !round
                && matches!(
                    lexer.last(),
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
        lexer.open(Kind::Open(Bracket::Outward), Bracket::Outward, start)
    } else {
        lexer.close(Bracket::Square, start)
    }
}

pub(super) fn beyond_ascii(lexer: &mut Lexer<'_>) -> Parsed<()> {
    let start = lexer.pos();
    let Some(character) = lexer.rest().chars().next() else {
        lexer.skip(1);
        return Ok(());
    };
    if let Some(kind) = command::character(character) {
        lexer.skip(character.len_utf8());
        return match kind {
            Kind::Open(bracket) => lexer.open(kind, bracket, start),
            Kind::Close(bracket) => lexer.close(bracket, start),
            Kind::Greek(_) | Kind::Constant(Constant::Pi) => lexer.push_atom(kind, start),
            kind => lexer.push(kind, start),
        };
    }
    match character {
        _ if runs::raised(character).is_some() => runs::shifted(lexer, Kind::Caret, runs::raised),
        _ if runs::lowered(character).is_some() => {
            runs::shifted(lexer, Kind::Underscore, runs::lowered)
        }
        _ if digit(character).is_some() => digits::number(lexer),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            lexer.skip(character.len_utf8());
            lexer.spaced(Space::Some);
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
            lexer.skip(character.len_utf8());
            Ok(())
        }
        'ℎ' => styled_letter(lexer, b'h'),
        'ℯ' => styled_letter(lexer, b'e'),
        'ℓ' => {
            lexer.skip(character.len_utf8());
            lexer.push_atom(Kind::Letter(character), start)
        }
        _ if is_word_letter(character) => runs::foreign_word(lexer),
        _ => {
            lexer.skip(character.len_utf8());
            lexer.push(Kind::Other, start)
        }
    }
}

/// A letter in another style, as its ASCII counterpart.
fn styled_letter(lexer: &mut Lexer<'_>, letter: u8) -> Parsed<()> {
    let start = lexer.pos();
    lexer.skip(lexer.rest().chars().next().map_or(1, char::len_utf8));
    lexer.push_atom(Kind::Letter(letter as char), start)
}

fn opens(lexer: &mut Lexer<'_>, bracket: Bracket) -> Parsed<()> {
    let start = lexer.pos();
    lexer.skip(1);
    lexer.open(Kind::Open(bracket), bracket, start)
}

fn closes(lexer: &mut Lexer<'_>, bracket: Bracket) -> Parsed<()> {
    let start = lexer.pos();
    lexer.skip(1);
    lexer.close(bracket, start)
}

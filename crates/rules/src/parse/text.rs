//! What may stand around an answer, and whether it is words or a formula.

use super::ParseError;
use super::items;
use super::lexer::{Lexed, lex};
use super::number;
use super::parser::{Parser, is_too_deep};
use super::plain::plain_text;
use super::prose::is_text;
use super::token::{Kind, Numeral, Space};
use super::units::unit;
use super::worded::{announced, worded};
use crate::algebra::Expr;
use crate::answer::{Answer, Quantity};
use crate::lexicon::units::{currency, is_bare_unit, is_unit};

/// How long a text may be that is taken for words.
const LONGEST_TEXT: usize = 4000;

/// See [`super::parse`].
pub(super) fn parse(text: &str) -> Result<Answer, ParseError> {
    let inner = crate::extract::bare(text);
    if inner.is_empty() {
        return Err(ParseError::Empty);
    }
    if let Some(answer) = measured(inner) {
        return Ok(answer);
    }
    if inner.len() <= LONGEST_TEXT
        && let Some(answer) = worded(inner)
    {
        return Ok(answer);
    }
    match formula(inner) {
        Err(ParseError::Syntax { at, what }) => {
            if let Some(answer) = announced(inner) {
                return Ok(answer);
            }
            if inner.len() <= LONGEST_TEXT && is_text(inner) {
                return Ok(Answer::Text(plain_text(inner)));
            }
            let before = inner.as_ptr() as usize - text.as_ptr() as usize;
            Err(ParseError::Syntax {
                at: at + before,
                what,
            })
        }
        other => other,
    }
}

/// What [`formula`] makes of a number in plain digits with no more than the name of its unit after it: "18.50 dollars".
pub(super) fn measured(text: &str) -> Option<Answer> {
    const LONGEST: usize = 18;
    let (number, name) = text.split_once(' ').unwrap_or((text, ""));
    let (whole, places) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let named = name.len() > 3 && name.bytes().all(|it| it.is_ascii_lowercase());
    let plain = named || number.len() == text.len();
    if number.len() > LONGEST || !(digits(whole) && digits(places) && plain) {
        return None;
    }
    let point = (whole.len() < number.len()).then_some(whole.len() as u32);
    let value = number::value(&Numeral {
        point,
        ..Numeral::digits(number)
    })?;
    let mut quantity = Quantity::bare(value.expr);
    quantity.places = value.places;
    match currency(name) {
        _ if !named => {}
        Some((code, 1)) => quantity.currency = Some(code.into()),
        _ if is_unit(name) => quantity.unit = Some(unit(name)?),
        _ => return None,
    }
    Some(Answer::Quantity(quantity))
}
pub(super) fn formula(text: &str) -> Result<Answer, ParseError> {
    if let Some(upright) = upright_digits(text) {
        return formula(&upright);
    }
    let mut lexed = lex(text)?;
    if lexed.tokens.is_empty() {
        return Err(ParseError::Empty);
    }
    join_decimal_comma(text, &mut lexed);
    let mut parser = Parser::new(text, lexed);
    let answer = items::answer(&mut parser)?;
    if !parser.ended() {
        return Err(parser.error("this does not belong to the answer"));
    }
    if answer.any(&mut |it| is_too_deep(it, Expr::MAX_DEPTH)) {
        return Err(ParseError::TooDeep {
            limit: Expr::MAX_DEPTH,
            at: 0,
        });
    }
    Ok(answer)
}

/// `\text{110010}_2` without the command around its digits, which carry the base.
fn upright_digits(text: &str) -> Option<String> {
    if !text.contains("}_") {
        return None;
    }
    let (before, rest) = text.split_once("\\text{")?;
    let (digits, after) = rest.split_once('}')?;
    let are_digits = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit());
    (are_digits && after.starts_with('_')).then(|| [before, digits, after].concat())
}

/// `2,74 $` and `12,5 %`: where one amount is stated, its comma is a decimal one.
fn join_decimal_comma<'t>(text: &'t str, lexed: &mut Lexed<'t>) {
    let tokens = &lexed.tokens;
    let first = tokens
        .iter()
        .take_while(|token| matches!(token.kind, Kind::Minus | Kind::Currency(_)))
        .count();
    let [whole, comma, fraction, suffix @ ..] = tokens.get(first..).unwrap_or(&[]) else {
        return;
    };
    let (Kind::Number(whole_index), Kind::Comma, Kind::Number(fraction_index)) =
        (whole.kind, comma.kind, fraction.kind)
    else {
        return;
    };
    let tight = comma.space == Space::Tight && fraction.space == Space::Tight;
    let plain = |index: u32| {
        lexed.numerals.get(index as usize).is_some_and(|numeral| {
            numeral.point.is_none()
                && numeral.exponent == 0
                && numeral.text.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let priced = first > 0 && matches!(tokens[first - 1].kind, Kind::Currency(_));
    let measured = match suffix {
        [] => priced,
        [scale, ..] if priced && matches!(scale.kind, Kind::Word(_)) => true,
        [one] => match one.kind {
            Kind::Percent | Kind::Currency(_) => true,
            Kind::Text(word) | Kind::Word(word) | Kind::Name(word) => {
                let label = word.chars().count() > 2 && word.chars().all(char::is_lowercase);
                label || is_unit(word) || currency(word).is_some()
            }
            _ => false,
        },
        [letter, ..] => {
            letter.run as usize == suffix.len()
                && suffix.len() <= 3
                && text
                    .get(letter.start as usize..)
                    .is_some_and(|unit| is_bare_unit(unit.trim(), 2))
        }
    };
    if !(tight && measured && plain(whole_index) && plain(fraction_index)) {
        return;
    }
    let (start, end) = (whole.start as usize, fraction.end as usize);
    let point = comma.start - whole.start;
    if let Some(numeral) = lexed.numerals.get_mut(whole_index as usize) {
        numeral.text = text.get(start..end).unwrap_or("");
        numeral.point = Some(point);
    }
    lexed.tokens[first].end = end as u32;
    lexed.tokens.drain(first + 1..first + 3);
}

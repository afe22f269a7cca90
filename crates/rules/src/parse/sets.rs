//! Sets, tuples and intervals.

use super::parser::{Parsed, Parser};
use super::plain::plain_text;
use super::token::{Bracket, Kind, inside};
use super::{items, table};
use crate::algebra::{Constant, Expr};
use crate::answer::{Answer, Interval, Operator};

/// Entries of a tuple or a set, each a side of a relation or a relation.
pub(super) fn entries(parser: &mut Parser<'_>) -> Parsed<Vec<Answer>> {
    let mut entries = Vec::new();
    while !parser.ended() {
        entries.push(items::item(parser)?);
        if !(parser.take(Kind::Comma) || parser.take(Kind::Semicolon)) {
            break;
        }
    }
    Ok(entries)
}

/// `\{ … \}`, or `{ … }` with entries.
pub(super) fn set(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let open = parser.pos();
    if parser.holds(open, inside::SUCH_THAT)
        && let Some(set) = described_set(parser)
    {
        return Ok(set);
    }
    parser.within(|parser| {
        let mut elements = Vec::new();
        while !parser.ended() {
            items::signed_item(parser, &mut elements)?;
            let end = parser.pos();
            while let Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or) = parser.peek() {
                parser.skip(1);
            }
            if parser.pos() == end {
                break;
            }
        }
        Ok(Answer::Set(elements))
    })
}

/// `\{x \mid x > 3\}`: the condition, where it is one on that variable; else a text.
pub(super) fn described_set(parser: &mut Parser<'_>) -> Option<Answer> {
    let (open, close) = (parser.pos(), parser.mate(parser.pos()));
    let bar = (open + 1..close).find(|&index| {
        matches!(
            parser.any_kind_at(index),
            Some(
                Kind::Relation(Operator::Divides)
                    | Kind::Bar(super::token::Side::Unknown)
                    | Kind::Colon
            )
        )
    })?;
    // |x| inside is no such bar, unless a letter stands before it.
    let variable = match parser.any_kind_at(open + 1)? {
        Kind::Letter(letter) => letter,
        _ => '\0',
    };
    let real = bar == open + 2
        || (bar == open + 4
            && parser.any_kind_at(open + 2)? == Kind::Relation(Operator::In)
            && parser.any_kind_at(open + 3)? == Kind::Domain('ℝ'));
    if real && variable != '\0' {
        let start = parser.pos();
        let condition = parser.attempt(|parser| {
            parser.seek(bar + 1);
            parser.until(close, items::answer)
        });
        parser.seek(start);
        if let Some(answer) = condition {
            let plain = match &answer {
                Answer::List(items) => items.iter().all(|item| is_condition(item, variable)),
                item => is_condition(item, variable),
            };
            if plain {
                parser.seek(close + 1);
                return Some(answer);
            }
        }
    }
    let before = parser.any_kind_at(bar.checked_sub(1)?)?;
    let colon = parser.any_kind_at(bar)? == Kind::Colon;
    if bar == open + 1 || (colon && matches!(before, Kind::Number(_))) {
        return None;
    }
    let text = plain_text(parser.source(open, close + 1));
    parser.seek(close + 1);
    Some(Answer::Text(text))
}

/// `(a, b)`, `[a, b)`, `[[1,2],[3,4]]`.
pub(super) fn tuple(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let open = parser.pos();
    let left = parser.any_kind_at(open);
    let right = parser.any_kind_at(parser.mate(open));
    let mut entries = parser.within(entries)?;
    // `(1,2)^T` is a column; so is the row, as an answer.
    if table::transposes(parser) {
        return Ok(Answer::Tuple(entries));
    }
    if parser.peek() == Some(Kind::Caret) {
        return Err(parser.error("a power of a tuple"));
    }
    if left == Some(Kind::Open(Bracket::Square))
        && right == Some(Kind::Close(Bracket::Square))
        && let Some(matrix) = rows(&entries)
    {
        return Ok(Answer::Matrix(matrix));
    }
    let closed_left = left == Some(Kind::Open(Bracket::Square));
    let closed_right = right == Some(Kind::Close(Bracket::Square));
    let pointed =
        left == Some(Kind::Open(Bracket::Outward)) || right == Some(Kind::Close(Bracket::Outward));
    if entries.len() == 2
        && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
    {
        let infinite = is_infinite(&lower.value) || is_infinite(&upper.value);
        let reversed =
            matches!((&lower.value, &upper.value), (Expr::Number(a), Expr::Number(b)) if a > b);
        if infinite || pointed || closed_left != closed_right || (closed_left && !reversed) {
            let lower = (lower.value.clone(), closed_left);
            let upper = (upper.value.clone(), closed_right);
            return Ok(Answer::Interval(Interval::new(lower, upper)));
        }
    }
    if closed_left != closed_right || pointed {
        return Err(parser.error("brackets that do not fit"));
    }
    entries.shrink_to_fit();
    Ok(Answer::Tuple(entries))
}

/// `<1, 2, 3>`.
pub(super) fn pointed(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let closes = |at: &usize| parser.any_kind_at(*at) == Some(Kind::Relation(Operator::Greater));
    let close = (parser.pos() + 1..parser.limit()).find(closes);
    let Some(close) = close else {
        return Err(parser.error("a relation without its left side"));
    };
    parser.skip(1);
    let entries = parser.until(close, entries)?;
    if entries.len() < 2 {
        return Err(parser.error("a relation without its left side"));
    }
    parser.skip(1);
    Ok(Answer::Tuple(entries))
}

/// Is an answer an inequality on this variable alone on one side?
fn is_condition(answer: &Answer, variable: char) -> bool {
    let Answer::Relation(relation) = answer else {
        return false;
    };
    relation.modulus.is_none()
        && relation.operators.iter().all(|it| it.orders())
        && relation
            .sides
            .iter()
            .filter(|side| is_symbol(side, variable))
            .count()
            == 1
}

/// Is an answer just this variable?
fn is_symbol(answer: &Answer, letter: char) -> bool {
    matches!(answer, Answer::Quantity(quantity)
        if matches!(&quantity.value, Expr::Symbol(name) if name.chars().eq([letter])))
}
pub(super) fn is_infinite(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Multiply(factors) => factors.contains(&Expr::Constant(Constant::Infinity)),
        _ => false,
    }
}
pub(super) fn real_line() -> Interval {
    let infinity = Expr::Constant(Constant::Infinity);
    Interval::new((infinity.clone().negated(), false), (infinity, false))
}

/// A pair beside ∪ or ∈ is an open interval.
pub(super) fn as_interval(answer: &mut Answer) {
    if let Answer::Tuple(entries) = answer
        && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
    {
        let (lower, upper) = (lower.value.clone(), upper.value.clone());
        *answer = Answer::Interval(Interval::new((lower, false), (upper, false)));
    }
}

fn rows(entries: &[Answer]) -> Option<crate::answer::Matrix> {
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        let row = match entry {
            Answer::Tuple(cells) => cells
                .iter()
                .map(|cell| match cell {
                    Answer::Quantity(quantity) => Some(quantity.value.clone()),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()?,
            Answer::Interval(interval) if interval.lower.closed && interval.upper.closed => {
                vec![interval.lower.value.clone(), interval.upper.value.clone()]
            }
            _ => return None,
        };
        rows.push(row);
    }
    let width = rows.first()?.len();
    let even = rows.iter().all(|row| row.len() == width);
    even.then_some(crate::answer::Matrix { rows })
}

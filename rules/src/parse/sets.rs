//! Sets, tuples and intervals.

use super::parser::{Parsed, Parser};
use super::plain::plain_text;
use super::token::{Bracket, Kind, inside};
use crate::algebra::{Constant, Expr};
use crate::answer::{Answer, Endpoint, Interval, Operator};

impl Parser<'_> {
    /// Entries of a tuple or a set, each a side of a relation or a relation.
    pub(super) fn entries(&mut self) -> Parsed<Vec<Answer>> {
        let mut entries = Vec::new();
        if self.ended() {
            return Ok(entries);
        }
        loop {
            entries.push(self.item()?);
            match self.peek() {
                Some(Kind::Comma | Kind::Semicolon) => {
                    self.skip(1);
                    if self.ended() {
                        break;
                    }
                }
                _ => break,
            }
        }
        Ok(entries)
    }

    /// `\{ … \}`, or `{ … }` with entries.
    pub(super) fn set(&mut self) -> Parsed<Answer> {
        let open = self.pos();
        if self.holds(open, inside::SUCH_THAT)
            && let Some(set) = self.described_set()
        {
            return Ok(set);
        }
        self.within(|parser| {
            let mut elements = Vec::new();
            while !parser.ended() {
                parser.signed_item(&mut elements)?;
                match parser.peek() {
                    Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or) => {
                        while matches!(
                            parser.peek(),
                            Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or)
                        ) {
                            parser.skip(1);
                        }
                    }
                    _ => break,
                }
            }
            Ok(Answer::Set(elements))
        })
    }

    /// `\{x \mid x > 3\}`: the condition, where it is one on that variable; else a text.
    pub(super) fn described_set(&mut self) -> Option<Answer> {
        let (open, close) = (self.pos(), self.mate(self.pos()));
        let bar = (open + 1..close).find(|&index| {
            matches!(
                self.any_kind_at(index),
                Some(
                    Kind::Relation(Operator::Divides)
                        | Kind::Bar(super::token::Side::Unknown)
                        | Kind::Colon
                )
            )
        })?;
        // |x| inside is no such bar, unless a letter stands before it.
        let variable = match self.any_kind_at(open + 1)? {
            Kind::Letter(letter) => letter,
            _ => '\0',
        };
        let real = bar == open + 2
            || (bar == open + 4
                && self.any_kind_at(open + 2)? == Kind::Relation(Operator::In)
                && self.any_kind_at(open + 3)? == Kind::Domain('ℝ'));
        if real && variable != '\0' {
            let start = self.pos();
            let condition = self.attempt(|parser| {
                parser.seek(bar + 1);
                parser.until(close, Self::answer)
            });
            self.seek(start);
            if let Some(answer) = condition {
                let plain = match &answer {
                    Answer::List(items) => items.iter().all(|item| is_condition(item, variable)),
                    item => is_condition(item, variable),
                };
                if plain {
                    self.seek(close + 1);
                    return Some(answer);
                }
            }
        }
        let before = self.any_kind_at(bar.checked_sub(1)?)?;
        let colon = self.any_kind_at(bar)? == Kind::Colon;
        if bar == open + 1 || (colon && matches!(before, Kind::Number(_))) {
            return None;
        }
        let text = plain_text(self.source(open, close + 1));
        self.seek(close + 1);
        Some(Answer::Text(text))
    }

    /// `(a, b)`, `[a, b)`, `[[1,2],[3,4]]`.
    pub(super) fn tuple(&mut self) -> Parsed<Answer> {
        let open = self.pos();
        let left = self.any_kind_at(open);
        let right = self.any_kind_at(self.mate(open));
        let mut entries = self.within(Self::entries)?;
        // `(1,2)^T` is a column; so is the row, as an answer.
        if self.peek() == Some(Kind::Caret) {
            let transposed = match self.ahead(1) {
                Some(Kind::Letter('T') | Kind::Name("T")) => Some(2),
                Some(Kind::Open(Bracket::Group))
                    if matches!(self.ahead(2), Some(Kind::Letter('T') | Kind::Name("T")))
                        && matches!(self.ahead(3), Some(Kind::Close(_))) =>
                {
                    Some(4)
                }
                _ => None,
            };
            let Some(length) = transposed else {
                return Err(self.error("a power of a tuple"));
            };
            self.skip(length);
            return Ok(Answer::Tuple(entries));
        }
        if left == Some(Kind::Open(Bracket::Square))
            && right == Some(Kind::Close(Bracket::Square))
            && let Some(matrix) = rows(&entries)
        {
            return Ok(Answer::Matrix(matrix));
        }
        let closed_left = left == Some(Kind::Open(Bracket::Square));
        let closed_right = right == Some(Kind::Close(Bracket::Square));
        let pointed = left == Some(Kind::Open(Bracket::Outward))
            || right == Some(Kind::Close(Bracket::Outward));
        if entries.len() == 2
            && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
        {
            let infinite = is_infinite(&lower.value) || is_infinite(&upper.value);
            let reversed =
                matches!((&lower.value, &upper.value), (Expr::Number(a), Expr::Number(b)) if a > b);
            if infinite || pointed || closed_left != closed_right || (closed_left && !reversed) {
                let interval = Interval {
                    lower: Endpoint {
                        value: lower.value.clone(),
                        closed: closed_left,
                    },
                    upper: Endpoint {
                        value: upper.value.clone(),
                        closed: closed_right,
                    },
                };
                return Ok(Answer::Interval(interval));
            }
        }
        if closed_left != closed_right || pointed {
            return Err(self.error("brackets that do not fit"));
        }
        entries.shrink_to_fit();
        Ok(Answer::Tuple(entries))
    }

    /// `<1, 2, 3>`.
    pub(super) fn pointed(&mut self) -> Parsed<Answer> {
        let close = (self.pos() + 1..self.limit()).find(|&index| {
            matches!(
                self.any_kind_at(index),
                Some(Kind::Relation(Operator::Greater))
            )
        });
        let Some(close) = close else {
            return Err(self.error("a relation without its left side"));
        };
        self.skip(1);
        let entries = self.until(close, Self::entries)?;
        if entries.len() < 2 {
            return Err(self.error("a relation without its left side"));
        }
        self.skip(1);
        Ok(Answer::Tuple(entries))
    }
}

/// Is an answer an inequality on this variable alone on one side?
fn is_condition(answer: &Answer, variable: char) -> bool {
    let Answer::Relation(relation) = answer else {
        return false;
    };
    relation.modulus.is_none()
        && relation.operators.iter().all(|operator| {
            matches!(
                operator,
                Operator::Less
                    | Operator::LessOrEqual
                    | Operator::Greater
                    | Operator::GreaterOrEqual
                    | Operator::NotEqual
            )
        })
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

/// ±∞?
pub(super) fn is_infinite(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Multiply(factors) => factors.contains(&Expr::Constant(Constant::Infinity)),
        _ => false,
    }
}

/// (−∞, ∞).
pub(super) fn real_line() -> Interval {
    let infinity = || Expr::Constant(Constant::Infinity);
    Interval {
        lower: Endpoint {
            value: infinity().negated(),
            closed: false,
        },
        upper: Endpoint {
            value: infinity(),
            closed: false,
        },
    }
}

/// A pair beside ∪ or ∈ is an open interval.
pub(super) fn as_interval(answer: &mut Answer) {
    if let Answer::Tuple(entries) = answer
        && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
    {
        let end = |value: &Expr| Endpoint {
            value: value.clone(),
            closed: false,
        };
        *answer = Answer::Interval(Interval {
            lower: end(&lower.value),
            upper: end(&upper.value),
        });
    }
}

/// Rows in brackets as a matrix.
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
    (rows.len() > 1 || entries.len() == 1)
        .then_some(())
        .filter(|()| rows.iter().all(|row| row.len() == width))?;
    Some(crate::answer::Matrix { rows })
}

//! Matrices, and definitions by cases.

use super::parser::{Parsed, Parser};
use super::plain::plain_text;
use super::token::{Bracket, Environment, Kind};
use super::{items, pratt};
use crate::algebra::Expr;
use crate::answer::{Answer, Matrix};

pub(super) fn table(parser: &mut Parser<'_>) -> Parsed<Answer> {
    match parser.peek() {
        Some(Kind::Begin(Environment::Matrix)) => Ok(Answer::Matrix(matrix(parser)?)),
        Some(Kind::Begin(Environment::Determinant)) => Err(parser.error("a determinant")),
        _ => Ok(cases(parser)),
    }
}

/// A matrix, transposed where a `^T` follows.
fn matrix(parser: &mut Parser<'_>) -> Parsed<Matrix> {
    let mut rows = parser.within(|parser| {
        let mut rows = vec![Vec::new()];
        while !parser.ended() {
            let cell = pratt::expression(parser)?;
            if let Some(row) = rows.last_mut() {
                row.push(cell);
            }
            match parser.peek() {
                Some(Kind::Cell) => parser.skip(1),
                Some(Kind::Row) => {
                    parser.skip(1);
                    if !parser.ended() {
                        rows.push(Vec::new());
                    }
                }
                _ => break,
            }
        }
        Ok(rows)
    })?;
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 || rows.iter().any(|row| row.len() != width) {
        return Err(parser.error("rows of different lengths"));
    }
    if transposes(parser) {
        rows = transposed(&rows);
    }
    Ok(Matrix { rows })
}
fn transposed(rows: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    let width = rows.first().map_or(0, Vec::len);
    let column = |at: usize| rows.iter().filter_map(|row| row.get(at).cloned()).collect();
    (0..width).map(column).collect()
}

/// Passes `^T`.
pub(super) fn transposes(parser: &mut Parser<'_>) -> bool {
    let letter = |at| matches!(parser.ahead(at), Some(Kind::Letter('T') | Kind::Name("T")));
    let grouped = parser.ahead(1) == Some(Kind::Open(Bracket::Group)) && letter(2);
    let found = parser.peek() == Some(Kind::Caret)
        && (letter(1) || grouped && matches!(parser.ahead(3), Some(Kind::Close(_))));
    if found {
        parser.skip(if grouped { 4 } else { 2 });
    }
    found
}

/// Is a bracket around a table and nothing else?
pub(super) fn wraps_table(parser: &Parser<'_>) -> bool {
    matches!(
        parser.ahead(1),
        Some(Kind::Begin(Environment::Matrix | Environment::Determinant))
    ) && parser.mate(parser.pos() + 1) + 1 == parser.mate(parser.pos())
}

pub(super) fn wrapped_table(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let table = parser.within(table)?;
    if let Answer::Matrix(matrix) = &table
        && transposes(parser)
    {
        let rows = transposed(&matrix.rows);
        return Ok(Answer::Matrix(Matrix { rows }));
    }
    Ok(table)
}

pub(super) fn scaled_table(parser: &mut Parser<'_>, factor: &Expr) -> Parsed<Answer> {
    let mut matrix = matrix(parser)?;
    for cell in matrix.rows.iter_mut().flatten() {
        let value = std::mem::replace(cell, Expr::integer(0));
        *cell = Expr::product(vec![factor.clone(), value]);
    }
    Ok(Answer::Matrix(matrix))
}

/// A system of equations, or a definition by cases as a text.
fn cases(parser: &mut Parser<'_>) -> Answer {
    let (open, close) = (parser.pos(), parser.mate(parser.pos()));
    let system = parser.attempt(|parser| {
        parser.within(|parser| {
            let answer = items::answer(parser)?;
            let relation = |it: &Answer| matches!(it, Answer::Relation(_));
            let system = matches!(&answer, Answer::List(items) if items.iter().all(relation));
            let one = relation(&answer) || system;
            one.then_some(answer)
                .ok_or_else(|| parser.error("no system"))
        })
    });
    if let Some(system) = system {
        return system;
    }
    parser.seek(close + 1);
    Answer::Text(canonical(parser, open + 1, close))
}

/// Tokens as a text that does not depend on spaces and markup: cells by commas, rows by semicolons.
fn canonical(parser: &Parser<'_>, from: usize, to: usize) -> String {
    let mut text = String::from("cases: ");
    let mut separator = None;
    for index in from..to {
        let Some(kind) = parser.any_kind_at(index) else {
            break;
        };
        match kind {
            Kind::Cell | Kind::Comma => {
                separator = separator.or(Some(", "));
                continue;
            }
            Kind::Row | Kind::Semicolon => {
                separator = Some("; ");
                continue;
            }
            Kind::Word("if" | "for" | "when" | "where")
            | Kind::Text("if" | "for" | "when" | "where")
            | Kind::Stop => continue,
            // Braces around one token say nothing.
            Kind::Open(Bracket::Group) if parser.mate(index) == index + 2 => continue,
            Kind::Close(Bracket::Group) if parser.mate(index) + 2 == index => continue,
            _ => {}
        }
        if let Some(separator) = separator.take() {
            text.push_str(separator);
        }
        text.push_str(&plain_text(parser.source(index, index + 1)));
        match kind {
            Kind::Open(Bracket::Group) => text.push('{'),
            Kind::Close(Bracket::Group) => text.push('}'),
            _ => {}
        }
    }
    text
}

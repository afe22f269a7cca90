//! What formulas are followed by: `(k ∈ ℤ)`, "for all x", "where c is a constant".

use super::arrange::Separator;
use super::items;
use super::parser::{Parsed, Parser};
use super::token::{Bracket, Kind, inside};
use crate::algebra::Expr;
use crate::answer::{Answer, Operator, Quantity, Relation};
use crate::lexicon;

/// `(k ∈ ℤ)` and "for all x" after an item: what they say of a variable is an item of its own.
pub(super) fn passing_condition(
    parser: &mut Parser<'_>,
    items: &mut Vec<Answer>,
    separators: &mut Vec<Separator>,
) -> Parsed<()> {
    if parser.opens(Bracket::Round) && parser.holds(parser.pos(), inside::RELATION) {
        items.push(parser.within(items::item)?);
        separators.push(Separator::Comma);
    } else if let Some(conditions) = quantifier(parser) {
        separators.extend(conditions.iter().map(|_| Separator::Comma));
        items.extend(conditions);
    }
    Ok(())
}

/// "for all x", "where c is a constant", "k any integer" up to the end: passed where it only names a variable; of an
/// integer it says so. `None` where there is none, or none that is understood.
pub(super) fn quantifier(parser: &mut Parser<'_>) -> Option<Vec<Answer>> {
    let start = parser.pos();
    let token = parser.at(start)?;
    let first = match token.kind {
        Kind::Text(first) | Kind::Word(first) => first,
        // A run of letters.
        _ if token.run > 1 => parser.source(start, start + usize::from(token.run)),
        _ => return None,
    };
    let lead = first.split_whitespace().next()?.to_ascii_lowercase();
    if !matches!(lead.as_str(), "for" | "where" | "with") {
        return None;
    }
    let mut words = String::new();
    let mut variable = None;
    let mut domain = None;
    let mut at = parser.pos();
    while let Some(token) = parser.at(at) {
        match token.kind {
            Kind::Text(text) | Kind::Word(text) => words.push_str(text),
            Kind::Letter(letter) => {
                let run = usize::from(token.run);
                if run > 1 {
                    words.push_str(parser.source(at, at + run));
                    words.push(' ');
                    at += run;
                    continue;
                }
                if letter == 'a' && variable.is_none() && words.trim_end().ends_with("is") {
                    words.push('a');
                } else if variable
                    .replace(letter)
                    .is_some_and(|known| known != letter)
                {
                    return None;
                }
            }
            Kind::Relation(Operator::In) => words.push_str("in"),
            Kind::Domain(letter) => {
                domain = Some(letter);
                if matches!(parser.kind_at(at + 1), Some(Kind::Caret | Kind::Underscore)) {
                    return None;
                }
            }
            Kind::Minus => words.push('-'),
            Kind::Stop if at + 1 == parser.limit() => {}
            _ => return None,
        }
        words.push(' ');
        at += 1;
    }
    let mut set = domain
        .filter(|letter| *letter != 'ℝ')
        .map(|letter| letter.to_string());
    let words = words.to_ascii_lowercase();
    let not_negative = ["non - negative", "nonnegative", "non-negative"];
    let sign = if not_negative.iter().any(|it| words.contains(it)) {
        "_≥0"
    } else if words.contains("positive") {
        "^+"
    } else {
        ""
    };
    for word in words
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
    {
        match word {
            "integer" | "integers" => set = Some(format!("ℤ{sign}")),
            "natural" => set = Some("ℕ".to_owned()),
            "rational" | "rationals" => set = Some("ℚ".to_owned()),
            "positive" | "nonnegative" | "non" | "negative" if !sign.is_empty() => {}
            _ if lexicon::words::QUANTIFIER.contains(word) => {}
            _ => return None,
        }
    }
    if !sign.is_empty() && set.is_none() {
        return None;
    }
    parser.seek(at);
    let (Some(set), Some(variable)) = (set, variable) else {
        return Some(Vec::new());
    };
    let symbol = |name: &str| Answer::Quantity(Quantity::bare(Expr::symbol(name)));
    Some(vec![Answer::Relation(Relation {
        sides: vec![symbol(variable.encode_utf8(&mut [0; 4])), symbol(&set)],
        operators: vec![Operator::In],
        modulus: None,
    })])
}

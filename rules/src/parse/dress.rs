//! What may stand around an answer, and whether it is words or a formula.

use super::ParseError;
use super::lexer::{Lexed, lex};
use super::parser::{Parser, is_too_deep};
use super::prose::{is_text, is_words, substance};
use super::quantity::bare;
use super::token::{Kind, Space};
use super::{choice, units, words};
use crate::algebra::Expr;
use crate::answer::{Answer, Operator};

/// How long a text may be that is taken for words.
const LONGEST_TEXT: usize = 4000;

/// See [`super::parse`].
pub(super) fn parse(text: &str) -> Result<Answer, ParseError> {
    let inner = undress(text);
    if inner.is_empty() {
        return Err(ParseError::Empty);
    }
    if inner.len() <= 18
        && inner.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(value) = inner.parse::<i64>()
    {
        return Ok(Answer::Quantity(bare(Expr::integer(value))));
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
                return Ok(Answer::Text(words::plain(inner)));
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

/// The text without quotes, emphasis, and punctuation behind it.
fn undress(text: &str) -> &str {
    let mut text = text.trim();
    for _ in 0..8 {
        let before = text.len();
        if !text.ends_with("...") && !text.ends_with("\\.") {
            text = text.trim_end_matches(|c: char| {
                c.is_whitespace() || matches!(c, '.' | ',' | ';' | '。')
            });
        }
        if let Some(inner) = text.strip_suffix("\\\\") {
            text = inner.trim_end();
        } else if text.ends_with('\\') && !text.ends_with("\\\\") {
            text = text.trim_end_matches('\\').trim_end();
        }
        for (open, close) in [
            ("**", "**"),
            ("__", "__"),
            ("```", "```"),
            ("`", "`"),
            ("\"", "\""),
            ("“", "”"),
            ("«", "»"),
            ("*", "*"),
            ("'", "'"),
            ("‘", "’"),
        ] {
            if let Some(inner) = text
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close))
                && !inner.contains(open)
            {
                text = inner.trim();
            }
        }
        if let Some(inner) = text.strip_prefix("**")
            && !inner.contains("**")
        {
            text = inner.trim_start();
        }
        if let Some(inner) = text.strip_suffix("**")
            && !inner.contains("**")
        {
            text = inner.trim_end();
        }
        if text.len() == before {
            break;
        }
    }
    text
}

/// Choices, truths, times, dates and plain words, which are no formulas.
fn worded(text: &str) -> Option<Answer> {
    let lettered = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !lettered && !text.contains([':', '-', '/']) {
        return None;
    }
    let plain = words::plain(text);
    if let Some(letters) = choice::choice(&plain) {
        return Some(Answer::Choice(letters));
    }
    if let Some(answer) = words::answer(&plain) {
        return Some(answer);
    }
    if !lettered {
        return None;
    }
    if let Some(substance) = substance(text, &plain) {
        return Some(Answer::Text(substance));
    }
    if matches!(&*plain, "II" | "III" | "VII" | "VIII") {
        return Some(Answer::Text(plain));
    }
    if let Some(answer) = all_but(&plain) {
        return Some(answer);
    }
    if !is_words(&plain) {
        return None;
    }
    let count = plain.split_whitespace().count();
    let listed = plain.contains([',', ';'])
        || plain
            .split_whitespace()
            .any(|word| matches!(word, "and" | "or"));
    if count <= 8 && listed {
        return None;
    }
    Some(match plain.to_ascii_lowercase().as_str() {
        "all real numbers"
        | "all reals"
        | "all real number"
        | "any real number"
        | "every real number"
        | "the set of all real numbers"
        | "the real numbers"
        | "real numbers" => Answer::Interval(super::sets::real_line()),
        _ => Answer::Text(plain),
    })
}

/// "all real numbers except 0".
fn all_but(plain: &str) -> Option<Answer> {
    let lower = plain.to_ascii_lowercase();
    let rest = [
        "all real numbers except",
        "all reals except",
        "all real numbers but",
        "any real number except",
    ]
    .iter()
    .find_map(|lead| lower.strip_prefix(lead))?;
    let rest = plain.get(plain.len() - rest.len()..)?;
    let rest = rest.strip_prefix(" for").unwrap_or(rest);
    let items = match formula(rest).ok()? {
        Answer::List(items) => items,
        one => vec![one],
    };
    let points = items
        .into_iter()
        .map(|item| match item {
            Answer::Quantity(_) => Some(item),
            Answer::Relation(mut relation)
                if relation.operators.as_slice() == [Operator::Equal]
                    && relation.modulus.is_none() =>
            {
                relation
                    .sides
                    .pop()
                    .filter(|side| matches!(side, Answer::Quantity(_)))
            }
            _ => None,
        })
        .collect::<Option<Vec<_>>>()?;
    let line = Answer::Interval(super::sets::real_line());
    Some(Answer::Difference(Box::new((line, Answer::Set(points)))))
}

/// A formula behind words that only say what it is: "the point (2, 3)".
fn announced(text: &str) -> Option<Answer> {
    const LEADS: [&str; 18] = [
        "the point ",
        "point ",
        "the points ",
        "points ",
        "the set ",
        "the vector ",
        "the interval ",
        "interval ",
        "the ordered pair ",
        "the line ",
        "the equation ",
        "the function ",
        "the matrix ",
        "the value ",
        "the ratio ",
        "the number ",
        "the polynomial ",
        "ordered pair ",
    ];
    let lower = text
        .get(..24.min(text.len()))
        .map(str::to_ascii_lowercase)?;
    let lead = LEADS.iter().find(|lead| lower.starts_with(**lead))?;
    let rest = text.get(lead.len()..)?.trim_start();
    let mut answer = formula(rest).ok()?;
    if lead.contains("interval") {
        super::sets::as_interval(&mut answer);
    }
    (!matches!(answer, Answer::Text(_))).then_some(answer)
}

/// Reads a formula, whole.
fn formula(text: &str) -> Result<Answer, ParseError> {
    let mut lexed = lex(text)?;
    if lexed.tokens.is_empty() {
        return Err(ParseError::Empty);
    }
    join_decimal_comma(text, &mut lexed);
    let mut parser = Parser::new(text, lexed);
    let answer = parser.answer()?;
    if !parser.ended() {
        return Err(parser.error("this does not belong to the answer"));
    }
    if is_answer_too_deep(&answer, Expr::MAX_DEPTH) {
        return Err(ParseError::TooDeep {
            limit: Expr::MAX_DEPTH,
            at: 0,
        });
    }
    Ok(answer)
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
    let currency = first > 0 && matches!(tokens[first - 1].kind, Kind::Currency(_));
    let measured = match suffix {
        [] => currency,
        [one] => match one.kind {
            Kind::Percent | Kind::Currency(_) => true,
            Kind::Text(word) | Kind::Word(word) | Kind::Name(word) => {
                units::is_known(word) || units::currency(word).is_some() || word == "percent"
            }
            _ => false,
        },
        [letter, ..] => {
            letter.run as usize == suffix.len()
                && suffix.len() <= 3
                && text
                    .get(letter.start as usize..)
                    .is_some_and(|unit| units::is_plain(unit.trim(), true))
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

/// Do the expressions of an answer nest too deeply?
fn is_answer_too_deep(answer: &Answer, left: usize) -> bool {
    match answer {
        Answer::Quantity(quantity) => is_too_deep(&quantity.value, left),
        Answer::Relation(relation) => {
            relation
                .sides
                .iter()
                .any(|side| is_answer_too_deep(side, left))
                || relation
                    .modulus
                    .as_ref()
                    .is_some_and(|modulus| is_too_deep(modulus, left))
        }
        Answer::Set(parts)
        | Answer::List(parts)
        | Answer::Tuple(parts)
        | Answer::Union(parts)
        | Answer::Intersection(parts) => parts.iter().any(|part| is_answer_too_deep(part, left)),
        Answer::Difference(pair) => {
            is_answer_too_deep(&pair.0, left) || is_answer_too_deep(&pair.1, left)
        }
        Answer::Interval(interval) => {
            is_too_deep(&interval.lower.value, left) || is_too_deep(&interval.upper.value, left)
        }
        Answer::Matrix(matrix) => matrix
            .rows
            .iter()
            .flatten()
            .any(|cell| is_too_deep(cell, left)),
        Answer::Ratio(parts) => parts.iter().any(|part| is_too_deep(part, left)),
        Answer::Choice(_) | Answer::Time { .. } | Answer::Truth(_) | Answer::Text(_) => false,
    }
}

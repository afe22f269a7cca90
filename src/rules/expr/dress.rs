//! What may stand around an answer, and whether it is words or a formula.

use super::ParseError;
use super::answer::{Answer, Operator};
use super::letters::{self, Run, is_wordlike};
use super::lexer::{Lexed, lex};
use super::parser::{Parser, is_too_deep};
use super::quantity::bare;
use super::runs::is_word_letter;
use super::term::Expr;
use super::token::{Kind, Space};
use super::{choice, spelled, units, words};

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

/// Is this words and nothing that has a value?
fn is_words(plain: &str) -> bool {
    let mut found = false;
    let mut valued = false;
    let mut count = 0_usize;
    let mut lengths = 0_usize;
    let mut first = true;
    for run in plain.split(|c: char| !is_word_letter(c) && !matches!(c, '\'' | '’')) {
        if run.is_empty() {
            continue;
        }
        count += 1;
        lengths += run.len();
        if std::mem::take(&mut first) {
            let lower = run.to_ascii_lowercase();
            let leads = spelled::number(&[&lower]).is_some()
                || spelled::scale_word(&lower).is_some()
                || matches!(
                    lower.as_str(),
                    "about"
                        | "approximately"
                        | "roughly"
                        | "around"
                        | "nearly"
                        | "almost"
                        | "minus"
                        | "negative"
                        | "half"
                );
            let article = matches!(lower.as_str(), "a" | "an") && {
                let second = plain.split_whitespace().nth(1).unwrap_or("");
                spelled::number(&["a", second]).is_some()
            };
            if leads || article {
                return false;
            }
        }
        match letters::read(run, false, None) {
            Run::One(Kind::Word(_)) => found = true,
            Run::One(Kind::And | Kind::Or) => {}
            Run::One(_) | Run::Parts(_) => valued = true,
            Run::Letters => {
                found |= is_wordlike(run) || (run.len() == 3 && count == 1 && is_name(run));
            }
        }
    }
    let signs = plain.contains(|c: char| !is_prose(c)) || is_applied(plain);
    found && !signs && (!valued || count >= 4) && lengths > 0
}

/// Are all commands of a text such as set words?
fn only_text_commands(text: &str) -> bool {
    text.split('\\').skip(1).all(|part| {
        let length = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let name = part.get(..length).unwrap_or("");
        name.starts_with("text")
            || matches!(
                name,
                "" | "mbox" | "quad" | "qquad" | "boxed" | "emph" | "bf" | "rm"
            )
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

/// A character of prose.
fn is_prose(character: char) -> bool {
    is_word_letter(character)
        || character.is_whitespace()
        || matches!(
            character,
            '-' | '–'
                | '—'
                | '\''
                | '’'
                | ','
                | '.'
                | ';'
                | ':'
                | '!'
                | '?'
                | '('
                | ')'
                | '&'
                | '/'
        )
}

/// Does a letter stand right before a bracket, as in `abs(x)`?
fn is_applied(plain: &str) -> bool {
    plain
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_alphabetic() && pair[1] == b'(')
}

/// Does a run of three letters look like a name: `Bob`, `Ann`?
pub(super) fn is_name(run: &str) -> bool {
    let mut bytes = run.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && bytes.all(|byte| byte.is_ascii_lowercase())
        && run.to_ascii_lowercase().contains(['a', 'e', 'i', 'o', 'u'])
}

/// Is a text that is no formula at least words, with a number among them at most?
fn is_text(text: &str) -> bool {
    if text.contains('\\') && !only_text_commands(text) {
        return false;
    }
    let plain = words::plain(text);
    if plain.contains(|c: char| !(is_prose(c) || c.is_ascii_digit())) || is_applied(&plain) {
        return false;
    }
    let mut count = 0;
    let mut worded = false;
    let mut stated = false;
    for word in plain.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        if word.is_empty() {
            continue;
        }
        count += 1;
        let lower = word.to_lowercase();
        if matches!(
            letters::read(word, false, None),
            Run::One(Kind::Function(_) | Kind::Structure(_) | Kind::Modulo | Kind::Constant(_))
        ) && count <= 4
        {
            return false;
        }
        worded |= word.chars().count() >= 3
            && word.chars().all(|c| c.is_alphabetic() || c == '\'')
            && (lower.contains(['a', 'e', 'i', 'o', 'u', 'y']) || !lower.is_ascii());
        stated |= matches!(
            lower.as_str(),
            "is" | "are"
                | "equals"
                | "answer"
                | "equal"
                | "least"
                | "most"
                | "than"
                | "times"
                | "plus"
                | "minus"
        ) || units::is_known(&lower) && lower.len() > 2;
    }
    let digits = plain.contains(|c: char| c.is_numeric());
    // "20 N upward" states a value that is not understood; "2nd place" does not.
    let counts = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with([' ', '.', ',']);
    if counts {
        return false;
    }
    worded && (!digits || (count <= 4 && !stated))
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

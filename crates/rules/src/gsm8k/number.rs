//! When a stretch of text is one plain number, and which.
//!
//! A plain number may carry a sign, grouped thousands, a fraction, a power of ten, a currency, a unit, LaTeX and Markdown dress. An operand of an expression
//! (`3/4`, `2π`, `10 - 5`), a scaled number (`5 million`) or a name (`H2O`) is none: reading a piece of it would make up a value.
//!
//! Thousands are grouped by commas, apostrophes or spaces that do not break a line (`12'500`), one kind throughout. With
//! a plain space, `12 500` may be one number or two: it is one where it is all that was answered, and else it is left open.

use regex::{Captures, Match};
use unicode_normalization::UnicodeNormalization;

use super::decimal::Decimal;
use crate::lexicon::numbers::{NumberWord, number_word};
use crate::lexicon::words::CHANGES_NUMBER;
use crate::patterns;

/// How far around a number its neighbourhood is looked at, in bytes.
const NEIGHBOURHOOD: usize = 80;

/// What groups thousands beside commas: apostrophes, and the spaces made for it.
const GROUPING: [char; 6] = ['\'', '’', '\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// A number and how it was written, without grouping and dress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    /// Its value.
    pub value: Decimal,
    /// Its digits.
    pub text: String,
}

/// What a stretch of text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    Number(Number),
    Nothing,
    Several,
    /// Something this form of the rules cannot evaluate.
    Expression,
}

patterns! {
    TOKEN = r"(?x) (?P<run> [0-9]+ (?:[.,'’\u{a0}\u{2007}\u{2009}\u{202f}][0-9]+)* | \.[0-9]+ )
          (?: [eE] (?P<e> [+-]?[0-9]+ ) )?
          (?: \s* (?: × | \\times | \\cdot | · | ⋅ | \* | x ) \s* 10 \s*
              (?: \^ \s* \{? \s* (?P<power> [+-]?[0-9]+ ) \s* \}? | (?P<superscript> [⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ ) ) )?";
    WELL_FORMED = r"(?x) ^(?: (?: [0-9]+ | [0-9]{1,3}(?:,[0-9]{3})+ | [1-9][0-9]{0,2}(?:['’\u{a0}\u{2007}\u{2009}\u{202f}][0-9]{3})+ )
          (?:\.[0-9]+)? | \.[0-9]+ )$";
    /// One number, if nothing stands beside it.
    SPACED = r"^[1-9][0-9]{0,2}(?:\x20[0-9]{3})+(?:\.[0-9]+)?$";
    /// What makes a number before it, or after it, look like a part of a spaced one.
    GROUP_AFTER = r"^\p{Zs}{1,4}[0-9]{3}(?:[^0-9]|$)";
    GROUP_BEFORE = r"(?:^|[^0-9])[0-9]{1,3}\p{Zs}{1,4}$";
    WRAPPER = r"\\(?:text(?:bf|it|rm)?|math(?:bf|it|rm)|mbox|operatorname)\s*\{([^{}]*)\}";
    DEGREE = r"\^?(?:\{\\(?:circ|degree)\}|\\(?:circ|degree)\b)";
    NARROW_SPACE = r"([0-9])\\,";
    ASSIGNMENT = r"^[A-Za-z]\w{0,20}\s*=\s*";
    FILLER = r#"^(?:[\s:*_"'“”(\[≈=]|(?i:approximately|approx\.?|about|around|roughly|nearly|almost|exactly|just|only|simply|equal to|equals|that|therefore|thus|hence|usd)\b[,:]?|[A-Za-z]\w{0,20}\s*=)*"#;
    OPERATOR_BEFORE = r"(?x) (?: [*/×÷^·⋅√±<>≤≥≠{_] | \\[A-Za-z]+ | [0-9)]\s*[xX] | [0-9]: | [A-Za-z]\(
          | (?i: \b(?:plus|minus|negative|times|over|by|mod|not|isn't|sqrt|log|ln|sin|cos|tan|exp|pi)\s*\(? ) )\s*$";
    CHOICE_BEFORE = r"(?i)[0-9]\s*,?\s+or\s*$|\beither\b[^.\n]*[0-9][^.\n]*\bor\s*$|\bbetween\b[^.\n]*[0-9][^.\n]*\band\s*$";
    CHOICE_AFTER = r"(?i)^\s*,?\s*(?:or|and|to)\s+-?[0-9]";
    /// "90 minutes or 1.5 hours": a choice, or the same said twice.
    RESTATED_BEFORE = r"(?i)[0-9][^.\n]{0,30}\bor\s*$";
    RESTATED_AFTER = r"(?i)^[^.\n]{0,30}\bor\b[^.\n]{0,20}[0-9]|^\s*,\s+-?[0-9]";
    OPERATOR_AFTER = r"(?x) ^(?: \s*[\^×÷√±²³π∞½⅓¼¾⅔_\\] | \s*\*+\s*[0-9A-Za-z(] | \s*/\s*(?:[0-9(]|[A-Za-z](?:[^A-Za-z]|$)) | \(
          | \s*[+<>≤≥] | \s*-\s*[0-9] | :[0-9] | \s*[xX]\s*[0-9] )";
    NEXT_WORD = r"^(\s*)-?(\p{L}+)";
    UNIT = r"^\s*(?:%|°(?:\s*[CFK]\b)?)?(?:[\s/(·-]*\p{L}[\p{L}'’.]+(?:\^\{?[0-9]\}?|[²³])?\)?){0,6}$";
    WORD = r"\p{L}+";
    LIST = r"(?i)[0-9]\s*,\s+-?[0-9]|\bor\b|\beither\b";
}

/// Takes off LaTeX and Markdown dress, currencies and typographic signs; what is left is looked at by the rest of this file. Linear in the text.
pub(crate) fn undress(text: &str) -> String {
    let plain = text.replace(['−', '–', '﹣', '－'], "-");
    let plain = plain.replace("\\!", "").replace("{,}", ",");
    let plain = NARROW_SPACE.replace_all(&plain, "$1,");
    let plain = DEGREE.replace_all(&plain, "°");
    let plain = WRAPPER.replace_all(&plain, " $1 ");
    let mut bare = plain.replace("\\$", "$").replace("\\%", "%");
    for dress in ["\\left", "\\right", "\\displaystyle", "**", "__"] {
        bare = bare.replace(dress, "");
    }
    for gap in ["\\(", "\\)", "\\[", "\\]", "\\,", "\\;", "\\:", "\\ ", "`"] {
        bare = bare.replace(gap, " ");
    }
    for currency in ['$', '€', '£', '¥', '₹'] {
        bare = bare.replace(&format!("-{currency}"), "-");
    }
    bare.replace(['$', '€', '£', '¥', '₹'], " ")
}

/// Reads undressed text that should be one number, with an optional `x =` before it and an optional unit after it.
pub(crate) fn read_whole(bare: &str) -> Reading {
    let is_dress = |character: char| {
        character.is_whitespace() || matches!(character, '*' | '"' | '\'' | '“' | '”')
    };
    let bracket = |character: char| matches!(character, '(' | ')' | '[' | ']' | '{' | '}');
    let trimmed = bare
        .trim_matches(is_dress)
        .trim_end_matches(['.', ',', ';', ':'])
        .trim_matches(is_dress);
    let inner = trimmed.trim_matches(|character| bracket(character) || is_dress(character));
    let bracketed = trimmed.starts_with(bracket);
    let inner = if bracketed { inner } else { trimmed };
    let rest = ASSIGNMENT.replace(inner, "");
    let (negative, rest) = match rest.strip_prefix(['-', '+']) {
        Some(after) => (rest.starts_with('-'), after.trim_start()),
        None => (false, rest.as_ref()),
    };
    if let Some(number) = spaced(rest, negative).filter(|_| !bracketed) {
        return Reading::Number(number);
    }
    if let Some(token) = TOKEN.captures(rest).filter(|token| starts(token)) {
        let after = &rest[end(&token)..];
        let grouped = run(&token).contains(|mark| mark == ',' || GROUPING.contains(&mark));
        if is_unit(after)
            && !(bracketed && grouped)
            && let Some(number) = number(&token, negative)
        {
            return Reading::Number(number);
        }
    }
    let mut numbers = TOKEN.find_iter(bare);
    match (numbers.next(), numbers.next()) {
        (None, _) => read_nothing(bare),
        (Some(_), Some(_)) if LIST.is_match(bare) => Reading::Several,
        _ => Reading::Expression,
    }
}

/// Reads an undressed clause that follows words like "the answer is". `None`: it states no answer, look elsewhere.
pub(crate) fn read_clause(clause: &str) -> Option<Reading> {
    if let Some(reading) = read_leading(clause) {
        return match (reading, clause.rfind('=')) {
            (Reading::Expression, Some(equals)) => read_leading(&clause[equals + 1..]),
            (reading, _) => Some(reading),
        };
    }
    if let Some(equals) = clause.rfind('=') {
        return read_leading(&clause[equals + 1..]);
    }
    let mut numbers = TOKEN.find_iter(clause);
    match (numbers.next(), numbers.next()) {
        (Some(_), None) => read_last(clause).filter(|reading| *reading != Reading::Expression),
        (Some(_), Some(_)) if clause.trim_start().starts_with("either ") => Some(Reading::Several),
        (Some(_), Some(second)) if CHOICE_BEFORE.is_match(&clause[..second.start()]) => {
            Some(Reading::Several)
        }
        _ => None,
    }
}

/// Reads the number that an undressed line or clause begins with. `None`: it begins with something else.
fn read_leading(text: &str) -> Option<Reading> {
    leading(text).map(|(reading, _)| reading)
}

/// What [`read_leading`] reads, and the text after the number.
fn leading(text: &str) -> Option<(Reading, &str)> {
    let rest = &text[FILLER.find(text).map_or(0, |filler| filler.end())..];
    let (negative, rest) = match rest.strip_prefix(['-', '+']) {
        Some(after) => (rest.starts_with('-'), after.trim_start()),
        None => (false, rest),
    };
    let token = TOKEN.captures(rest).filter(|token| starts(token))?;
    let after = &rest[end(&token)..];
    // One to three at its end.
    let digits = run(&token).bytes().rev().take_while(u8::is_ascii_digit);
    if (1..=3).contains(&digits.take(4).count()) && GROUP_AFTER.is_match(after) {
        let whole = rest.trim_end_matches([' ', '\t', '\r', '.', '*', '"']);
        return Some(match spaced(whole, negative) {
            Some(number) => (Reading::Number(number), ""),
            None => (Reading::Expression, after),
        });
    }
    let reading = after_number(after).unwrap_or_else(|| evaluated(&token, negative));
    Some((reading, after))
}

/// Reads an undressed line that begins with a number and should hold nothing else but its unit. `None`: it does not.
pub(crate) fn read_line(line: &str) -> Option<Reading> {
    let (reading, after) = leading(line)?;
    match (reading, line.rfind('=')) {
        (Reading::Number(number), _) => {
            let dress = [' ', '\t', '\r', '.', '*', '"', ')', ']'];
            is_unit(after.trim_end_matches(dress)).then_some(Reading::Number(number))
        }
        (Reading::Expression, Some(equals)) => read_leading(&line[equals + 1..]),
        (reading, _) => Some(reading),
    }
}

/// Reads the last number of an undressed text. `None`: there is none.
pub(crate) fn read_last(text: &str) -> Option<Reading> {
    let is_name = |token: &Match<'_>| {
        text[..token.start()].ends_with(|before: char| before.is_alphabetic() || before == '_')
    };
    let last = TOKEN
        .find_iter(text)
        .filter(|token| !is_name(token))
        .last()?;
    let token = TOKEN.captures_at(text, last.start())?;
    let from = text.floor_char_boundary(last.start().saturating_sub(NEIGHBOURHOOD));
    let before = &text[from..last.start()];
    let after = &text[last.end()..];
    let digits = run(&token).bytes().take_while(u8::is_ascii_digit);
    if digits.take(4).count() == 3 && GROUP_BEFORE.is_match(before) {
        let whole = text.trim();
        let number = match whole.strip_prefix('-') {
            Some(rest) => spaced(rest, true),
            None => spaced(whole, false),
        };
        return Some(number.map_or(Reading::Expression, Reading::Number));
    }
    let Some(negative) = sign(before) else {
        return Some(Reading::Expression);
    };
    let unsigned = before.trim_end().trim_end_matches(['-', '+']);
    if CHOICE_BEFORE.is_match(unsigned) {
        return Some(Reading::Several);
    }
    let listed = unsigned.trim_end().strip_suffix(',');
    if listed.is_some_and(|list| list.ends_with(|last: char| last.is_ascii_digit()))
        && after.starts_with([')', ']', '}'])
    {
        return Some(Reading::Several);
    }
    if OPERATOR_BEFORE.is_match(unsigned) || RESTATED_BEFORE.is_match(unsigned) {
        return Some(Reading::Expression);
    }
    Some(after_number(after).unwrap_or_else(|| evaluated(&token, negative)))
}

/// What text without a digit says: nothing, unless it holds a number in words or in another script, or a formula.
pub(crate) fn read_nothing(bare: &str) -> Reading {
    let other = |character: char| character.is_numeric() || matches!(character, '\\' | 'π' | '∞');
    let number = |word: Match<'_>| {
        // "one" is a pronoun as well.
        let word = word.as_str().to_lowercase();
        word == "half"
            || word != "one"
                && number_word(&word).is_some_and(|it| !matches!(it, NumberWord::Part(_)))
    };
    if bare.contains(other) || WORD.find_iter(bare).any(number) {
        Reading::Expression
    } else {
        Reading::Nothing
    }
}

/// Is the number with this text before it negative? `None` where a minus or plus is an operator.
fn sign(before: &str) -> Option<bool> {
    let operand = |text: &str| {
        text.ends_with(|last: char| last.is_alphanumeric() || matches!(last, ')' | '}' | ']'))
    };
    if let Some(rest) = before.strip_suffix(['-', '+']) {
        let glued = operand(rest) || rest.ends_with(['-', '+']);
        let after_number = rest
            .trim_end()
            .ends_with(|last: char| last.is_ascii_digit() || last == ')');
        let same_line = !rest.trim_end_matches([' ', '\t']).ends_with('\n');
        let operator = glued || (after_number && same_line);
        return (!operator).then_some(before.ends_with('-'));
    }
    let bare = before.trim_end_matches([' ', '\t']);
    let Some(rest) = bare.strip_suffix(['-', '+']) else {
        return Some(false);
    };
    let rest = rest.trim_end_matches([' ', '\t']);
    if rest.is_empty() || rest.ends_with('\n') {
        // A list item.
        return Some(false);
    }
    rest.ends_with(['=', ':', '(', '['])
        .then_some(bare.ends_with('-'))
}

/// What the text after a number makes of it; `None`: it stays plain.
fn after_number(after: &str) -> Option<Reading> {
    let near = &after[..after.floor_char_boundary(NEIGHBOURHOOD)];
    if OPERATOR_AFTER.is_match(near) {
        return Some(Reading::Expression);
    }
    if near.starts_with('/') && !UNIT.is_match(near.split_whitespace().next().unwrap_or_default()) {
        return Some(Reading::Expression);
    }
    if CHOICE_AFTER.is_match(near) {
        return Some(Reading::Several);
    }
    if near.trim_start().starts_with('=') || RESTATED_AFTER.is_match(near) {
        return Some(Reading::Expression);
    }
    let next = NEXT_WORD.captures(near)?;
    let (gap, word) = (next.get(1)?.as_str(), next.get(2)?.as_str());
    let single = word.chars().nth(1).is_none();
    // "5 and …" and "5 or …" were looked at above; what is left of them is prose.
    let joins = matches!(word, "and" | "or" | "to");
    let changed = !joins && changes(word);
    let article = !gap.is_empty() && matches!(word, "a" | "A" | "I");
    (changed || (single && !article)).then_some(Reading::Expression)
}

fn is_unit(text: &str) -> bool {
    UNIT.is_match(text) && !WORD.find_iter(text).any(|word| changes(word.as_str()))
}

fn starts(token: &Captures<'_>) -> bool {
    token.get(0).is_some_and(|whole| whole.start() == 0)
}

fn end(token: &Captures<'_>) -> usize {
    token.get(0).map_or(0, |whole| whole.end())
}

fn run<'text>(token: &Captures<'text>) -> &'text str {
    token.name("run").map_or("", |run| run.as_str())
}

/// The value of text that is nothing but one number grouped by plain spaces.
fn spaced(text: &str, negative: bool) -> Option<Number> {
    SPACED
        .is_match(text)
        .then(|| written(&text.replace(' ', ""), negative, 0))?
}

fn evaluated(token: &Captures<'_>, negative: bool) -> Reading {
    number(token, negative).map_or(Reading::Expression, Reading::Number)
}

/// The value of a token; `None` where its digits are not grouped as a number's are, or its power is beyond all bounds.
fn number(token: &Captures<'_>, negative: bool) -> Option<Number> {
    let run = run(token);
    let mut marks = run.chars().filter(|mark| GROUPING.contains(mark));
    let one_kind = marks
        .next()
        .is_none_or(|first| marks.all(|mark| mark == first));
    if !one_kind || !WELL_FORMED.is_match(run) {
        return None;
    }
    let digits = run.replace(|mark| mark == ',' || GROUPING.contains(&mark), "");
    let mut exponent: i64 = 0;
    for part in ["e", "power", "superscript"] {
        if let Some(written) = token.name(part) {
            let ascii: String = written.as_str().nfkc().collect();
            exponent = exponent.checked_add(ascii.replace('−', "-").parse().ok()?)?;
        }
    }
    written(&digits, negative, exponent)
}

fn written(digits: &str, negative: bool, exponent: i64) -> Option<Number> {
    let value = Decimal::new(negative, digits, exponent)?;
    let minus = if negative { "-" } else { "" };
    let power = if exponent == 0 {
        String::new()
    } else {
        format!("e{exponent}")
    };
    Some(Number {
        value,
        text: format!("{minus}{digits}{power}"),
    })
}

/// Does `word` change the number that it follows, or join it to another?
fn changes(word: &str) -> bool {
    CHANGES_NUMBER.contains(word)
        || number_word(&word.to_lowercase()).is_some_and(|it| !matches!(it, NumberWord::Number(_)))
}

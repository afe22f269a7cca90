//! Boxes: which of them hold the answer, and what they hold.

use std::borrow::Cow;
use std::ops::Range;

use super::beside::{self, How};
use super::items::Source;
use super::markup::{trim_markup, without_markup};
use super::no_answer::is_placeholder;
use super::scan::{Boxed, Regions};
use super::stated::JOINED;
use super::symbols::is_currency;
use super::tail::tail;
use super::{labelled, qualifiers, words};

/// How far apart boxes that belong together may stand, in bytes.
const MAX_GAP: usize = 90;
/// How many boxes are joined at most.
const MAX_JOINED: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InBoxes<'t> {
    /// What they hold.
    pub text: Cow<'t, str>,
    /// Where the first one begins.
    pub start: usize,
    /// After the last one.
    pub end: usize,
    /// Which box is the last one.
    pub last: usize,
    /// The same with the labels before them, "(a) 12, (b) 3/4", where each has one.
    pub labelled: Option<String>,
}

/// The last answer in boxes that ends before `limit`.
pub(super) fn last<'t>(text: &'t str, regions: &Regions, limit: usize) -> Option<InBoxes<'t>> {
    let count = regions.boxes.partition_point(|boxed| boxed.end <= limit);
    let boxes = &regions.boxes[..count];
    let mut index = boxes
        .iter()
        .rposition(|boxed| boxed.closed && !is_placeholder(&text[boxed.content.clone()]))?;
    let (last, end) = (index, boxes[index].end);
    let mut parts = vec![part(text, &boxes[index])];
    let mut joined = JOINED[0];
    let mut labels = vec![label_before(&text[..boxes[index].start])];
    let mut start = boxes[index].start;
    while index > 0 && parts.len() < MAX_JOINED {
        let before = &boxes[index - 1];
        if !before.closed || is_placeholder(&text[before.content.clone()]) {
            break;
        }
        let gap = &text[before.end..boxes[index].start];
        if text[before.content.clone()].trim() == text[boxes[index].content.clone()].trim() {
            if gap.len() > MAX_GAP {
                break;
            }
        } else if belong_together(gap) {
            parts.push(part(text, before));
            if words::words_of(gap).any(|it| words::JOINS_EITHER.contains(it)) {
                joined = JOINED[1];
            }
            labels.push(label_before(&text[..before.start]));
        } else {
            break;
        }
        start = before.start;
        index -= 1;
    }
    parts.reverse();
    labels.reverse();
    let labelled = (parts.len() > 1)
        .then(|| with_labels(&labels, &parts))
        .flatten();
    let text = if parts.len() == 1 {
        parts.pop()?
    } else {
        Cow::Owned(parts.join(joined))
    };
    (!text.is_empty()).then_some(InBoxes {
        text,
        start,
        end,
        last,
        labelled,
    })
}

/// The label in brackets that stands right before a box: `a` of `(a) \boxed{12}`.
fn label_before(before: &str) -> Option<&str> {
    const LONGEST: usize = 3;
    let near = before.trim_end_matches([' ', '$', '*', ':', '=', '\n', '-', '[', '\\']);
    let inner = near.strip_suffix(')')?;
    let label = &inner[inner.rfind('(')? + 1..];
    let short = (1..=LONGEST).contains(&label.len());
    (short && label.bytes().all(|it| it.is_ascii_alphanumeric())).then_some(label)
}

/// Labelled parts, one a box; `None` where they are none.
fn with_labels(labels: &[Option<&str>], parts: &[Cow<'_, str>]) -> Option<String> {
    let labels: Option<Vec<&str>> = labels.iter().copied().collect();
    let parts = labels?.into_iter().zip(parts);
    let parts: Vec<String> = parts.map(|(label, it)| format!("({label}) {it}")).collect();
    let joined = parts.join(", ");
    let read = labelled::parts(&joined).is_some_and(|it| it.len() == parts.len());
    read.then_some(joined)
}

/// What a box holds, with the sign before it and the unit after it.
pub(super) fn part<'t>(text: &'t str, boxed: &Boxed) -> Cow<'t, str> {
    let inner = clean(&text[boxed.content.clone()]);
    let value = introduced(&inner).map(str::to_owned);
    let inner = value.map_or(inner, Cow::Owned);
    let before = &text[..boxed.start];
    let priced = |it: char| it == '$' || is_currency(it);
    let sign = match currency_before(before) {
        _ if inner.starts_with('-') => "",
        _ if is_negated(before) => "-",
        _ if inner.trim_start_matches('\\').starts_with(priced) => "",
        sign => sign,
    };
    let unit = unit_after(text, boxed);
    if unit.is_empty() && sign.is_empty() {
        return inner;
    }
    let glued = unit.is_empty() || unit.starts_with(['%', '\\', '^', '°']);
    let gap = if glued { "" } else { " " };
    let value = [sign, &inner, gap].into_iter();
    Cow::Owned(value.chain(unit.split('$')).collect())
}

/// What is said before a box in its sentence and its line.
pub(super) fn before(text: &str, start: usize) -> &str {
    /// How many bytes are looked at.
    const NEAR: usize = 80;
    let before = words::ending(&text[..start], NEAR);
    // What a sentence before it says is over.
    let near = before.trim_end_matches([' ', '\n', '$', '\\', '[', '(', '*']);
    let last = words::last_word(near.trim_end_matches('.'));
    let ended = near.ends_with(['.', '!', '?']) && !words::ABBREVIATION.contains(last);
    let line = near.rfind('\n').map_or(0, |at| at + 1);
    if ended { "" } else { &before[line..] }
}

/// Do words before or after a box change what it says?
pub(super) fn changed(before: &str, after: &str) -> bool {
    /// How many bytes may stand between a box and what bounds it: "个以上".
    const NEAR: usize = 9;
    let near = |it: &str| after.find(it).is_some_and(|at| at <= NEAR);
    beside::changes(before, after, How::Boxed)
        || qualifiers::said_by_others(before)
        || qualifiers::bound_spaceless(before)
        || !after.is_ascii()
            && (words::BOUNDED_SPACELESS.iter().any(near) || qualifiers::scale_spaceless(after))
}

/// The sign of a currency that stands right before a box: `\$` of "\$\boxed{5}", "€" of "€$\boxed{5}$".
fn currency_before(before: &str) -> &str {
    let near = before.trim_end_matches(['$', ' ', '}', '{']);
    let sign = near.chars().next_back().filter(|it| is_currency(*it));
    if near.ends_with('\\') && !near.ends_with("\\\\") && before[near.len()..].starts_with('$') {
        return "\\$";
    }
    sign.map_or("", |it| &near[near.len() - it.len_utf8()..])
}

/// The unit right after a box whose value may have one.
pub(super) fn unit_after<'t>(text: &'t str, boxed: &Boxed) -> &'t str {
    let after = after_box(text, boxed.end);
    let content = trim_markup(&text[boxed.content.clone()]);
    if !content.ends_with(|it: char| it.is_ascii_digit() || matches!(it, '}' | ')')) {
        return "";
    }
    let tail = tail(after, false);
    let unit = after[tail.unit].trim();
    // "\\mathrm{r} / \\mathrm{s}": a letter that is no unit says nothing of the value.
    let lettered = |name: &str| name.len() == 1 && name.bytes().all(|it| it.is_ascii_alphabetic());
    let opened = unit.split('{').skip(1);
    let mut groups = opened.filter_map(|it| it.split('}').next());
    let unknown = groups.any(|it| lettered(it.trim()) && !words::is_unit(it.trim()));
    if tail.measured && !unknown { unit } else { "" }
}

/// The value that words in a box only introduce: 3 of "\\text{The value is }3" and of "\\text{The value is 3}".
fn introduced(content: &str) -> Option<&str> {
    let mut commands = ["\\textbf", "\\text", "\\mathrm"].into_iter();
    let rest = commands.find_map(|it| content.strip_prefix(it))?;
    let (said, value) = rest.split_at(super::symbols::group(rest));
    let said = said.trim_matches(['{', '}', ' ', '~']);
    let value = value.trim_start_matches([' ', '~']);
    let digits = said.find(words::is_digit).filter(|_| value.is_empty());
    let (said, value) = digits.map_or((said, value), |at| said.split_at(at));
    let said = said.trim_end();
    let last = words::last_word(said);
    let concludes = said.ends_with(',') && words::CONCLUDING.contains(last);
    let binds = said.ends_with([':', '=']) || words::BINDER.contains(last) || concludes;
    let named = value
        .split_once('=')
        .is_some_and(|(name, _)| name.trim().len() == 1);
    let valued = named || value.starts_with(|it: char| it.is_ascii_digit() || "$\\-(".contains(it));
    let option = super::choice::strip_name(said).is_some() || said.len() < "A: ".len();
    // "Profit: 5", but not "Suppose that x is 5"
    let first = words::first_word(said);
    let opens = words::OPENS_BOX.contains(first) || words::CONCLUDING.contains(first);
    let label = said.ends_with([':', '=']) && said.split_whitespace().count() <= 3;
    let opens = opens || label || first.len() == 1;
    let answers = opens && !words::has(said, &words::NO_ANSWER_IN_BOX);
    let binds = binds && (digits.is_none() || answers);
    (binds && valued && !option && !super::qualifies(said)).then_some(value)
}

/// Does a minus sign belong to the box after it?
pub(super) fn is_negated(before: &str) -> bool {
    let signed = before.trim_end().strip_suffix('-').map(str::trim_end);
    signed.is_some_and(|it| {
        it.is_empty() && before.ends_with('-') || it.ends_with(['=', '$', ':', '(', '['])
    })
}

/// The text after a box and after the delimiters that close with it.
fn after_box(text: &str, end: usize) -> &str {
    let rest = &text[end..];
    for close in ["$$", "$", "\\)", "\\]", "**"] {
        let trimmed = rest.trim_start_matches([' ', '\n']);
        // A display stands on lines of its own.
        if let Some(after) = trimmed.strip_prefix(close) {
            return after.strip_prefix("**").unwrap_or(after);
        }
    }
    rest
}

/// The content of a box without inner boxes and markup.
fn clean(content: &str) -> Cow<'_, str> {
    let content = trim_markup(content);
    if content.contains("boxed") || content.contains("\\fbox") {
        let inner = unbox(content);
        return Cow::Owned(without_markup(trim_markup(&inner)).into_owned());
    }
    without_markup(content)
}

/// Replaces each inner box by its content.
pub(super) fn unbox(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // For each open brace: is it a box's?
    let mut braces = Vec::new();
    let mut at = 0;
    let mut copied = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                let rest = &text[at + 1..];
                let mut names = ["boxed", "fbox"].into_iter();
                if let Some(name) = names.find(|it| rest.starts_with(it))
                    && let gap = rest[name.len()..].len() - rest[name.len()..].trim_start().len()
                    && rest[name.len() + gap..].starts_with('{')
                {
                    out.push_str(&text[copied..at]);
                    at += 1 + name.len() + gap + 1;
                    copied = at;
                    braces.push(true);
                    continue;
                }
                at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'{' | b'}' | b'\\')));
                continue;
            }
            b'{' => braces.push(false),
            b'}' if braces.pop() == Some(true) => {
                out.push_str(&text[copied..at]);
                copied = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[copied..]);
    out
}

/// Do two boxes with this text between them state one answer together?
fn belong_together(gap: &str) -> bool {
    let gap = &gap.replace("**", "");
    let labelled = label_before(gap);
    let gap = &labelled.map_or_else(|| gap.clone(), |it| gap.replace(&format!("({it})"), ""));
    let labelled = labelled.is_some();
    // What one box is computed from is no answer.
    let computed = gap.contains(['=', '+', '×', '*', '≈', '→', '⇒']) && !is_labelled(gap)
        || "\\approx \\cdot \\times \\frac \\implies \\Rightarrow ->"
            .split(' ')
            .chain(words::CORRECTS_SPACELESS.iter())
            .any(|command| gap.contains(command));
    let stops = !labelled && [". ", ".\n"].iter().any(|stop| gap.trim().contains(stop));
    if gap.len() > MAX_GAP || computed || stops {
        return false;
    }
    let mut listed = labelled || gap.contains([',', ';', '&']);
    let (mut count, mut last) = (0, "");
    for word in gap.split(|it: char| !it.is_alphabetic()) {
        // "; the right one is"
        if words::CORRECTS_ALIKE.contains(last) && words::CHOICE_NOUN.contains(word) {
            return false;
        }
        last = word;
        if words::JOINS_CHOICES.contains(word) {
            listed = true;
        } else if word.len() > 1 && !words::MARKUP_BETWEEN_BOXES.contains(word) {
            let separates = words::CONCLUDING.contains(word)
                || words::SUBORDINATING.contains(word)
                || (words::SEPARATES_BOXES.contains(word) && !(listed && word == "is"));
            if separates {
                return false;
            }
            count += 1;
        }
    }
    let digits = gap.contains(words::is_digit);
    !digits && (count == 0 || (listed && count <= 8))
}

/// Is the `=` in this gap that of "…, y = "?
fn is_labelled(gap: &str) -> bool {
    let Some((before, after)) = gap.split_once('=') else {
        return false;
    };
    let after = after.trim_matches([' ', '$', '\n', '\\', '(', '[']);
    let label = before.trim_end();
    let name_at = label
        .rfind(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '{' | '}' | '\'')))
        .map_or(0, |at| at + 1);
    let name = label.get(name_at..).unwrap_or_default();
    let rest = label.get(..name_at).unwrap_or_default();
    after.is_empty()
        && name.starts_with(|it: char| it.is_alphabetic())
        && !rest.contains(['+', '=', '*'])
        && (rest.contains([',', ';', '\n', '&'])
            || ["and", "or", "quad"].iter().any(|it| rest.contains(it)))
}

/// Signs after which a box is a part of something else, in a formula or not.
const JOINS: [char; 11] = ['≤', '≥', '≠', '×', '·', '÷', '±', '√', '∛', '∜', 'π'];

/// Is a box a part of the formula that it stands in, as of a fraction, a tuple, or a bound? Where an equation goes on, it is filled in.
pub(super) fn is_operand(source: Source<'_, '_>, boxed: Range<usize>) -> bool {
    let Source { text, regions, .. } = source;
    let formula = regions.formula_at(boxed.start).map(|it| &it.1.content);
    let formula = formula.filter(|it| it.start <= boxed.start && boxed.end <= it.end);
    let joins = |it: &str| {
        let at = it.rfind('\\').unwrap_or(it.len());
        // "\log_2 "
        let command = it[at..].trim_end_matches('{');
        let (name, below) = command.split_once('_').unwrap_or((command, ""));
        words::JOINS_BOX.contains_exactly(name) && !below.contains([' ', '='])
    };
    let Some(formula) = formula else {
        let glued = |it: char| it.is_ascii_digit() || it == '-';
        let before = &text[..boxed.start];
        // "x > \boxed{12}", but no arrow, tag or quoted line.
        let line = before[before.rfind('\n').map_or(0, |at| at + 1)..].trim_end_matches(' ');
        let sign = line.trim_end_matches('=');
        // Not in a list or after words: "Answer · \boxed{4}", "in units of π \boxed{4}".
        let factor = line.strip_suffix(['·', 'π']).map(str::trim_end);
        let joined = line.ends_with(JOINS) && factor.is_none_or(|it| it.ends_with(glued));
        let compares = sign.ends_with(['<', '>']) || line.ends_with("!=") || joined;
        let is_mark = line.ends_with('>') && (line.len() == 1 || line.contains('<'));
        let is_mark = is_mark || line.ends_with("->") || line.ends_with("=>");
        let glued = before.ends_with(glued) && !is_negated(before);
        return compares && !is_mark || glued || joins(line);
    };
    let before = text[formula.start..boxed.start].trim_end_matches([' ', '\n']);
    let after = text[boxed.end..formula.end].trim_start_matches([' ', '\n']);
    if after.contains('=') || before.ends_with("=>") || before.ends_with("->") {
        return false;
    }
    let listed = after.strip_prefix(',').map(|it| it.trim_start_matches(' '));
    let tuple = before.ends_with(['(', '[', '{']) && listed.is_some();
    before.ends_with(|it: char| it.is_ascii_digit() || "+*/^_<>|".contains(it))
        // "0.\boxed{7}"
        || before.strip_suffix('.').is_some_and(|it| it.ends_with(words::is_digit))
        || before.ends_with(JOINS)
        || is_in_bracket(before)
        || before.ends_with('-') && !is_negated(before)
        || joins(before)
        || tuple
        || listed.is_some_and(|it| it.starts_with(words::is_digit))
        || after.starts_with(['_', '!'])
}

/// Does what stands before a box in its formula open a bracket that makes it a part: `\frac{3}{`, `\lim_{x\to`, `\log_2(`, `(3, `?
fn is_in_bracket(before: &str) -> bool {
    let mut open = Vec::new();
    for (at, byte) in before.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push(at),
            b')' | b']' | b'}' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().any(|at| {
        let head = before[..at].trim_end_matches(r"\left").trim_end();
        let inner = before[at + 1..].trim_end_matches(' ');
        if before[at..].starts_with('{') {
            return head.ends_with(['_', '^', '}', ']']);
        }
        inner.ends_with(',')
            || inner.is_empty()
                && head.ends_with(|it: char| it == '}' || it.is_ascii_alphanumeric())
    })
}

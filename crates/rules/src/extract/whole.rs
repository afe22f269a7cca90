//! Texts and sentences that are an answer and nothing else.

use std::borrow::Cow;
use std::ops::Range;

use super::items::{self, Candidate, Form, Source};
use super::markup::{trim_markup, without_markup};
use super::settled::settled;
use super::tail::tail;
use super::{
    choice, labelled, maths, no_answer, qualifiers, ratio, spoken, stated, symbols, words,
};
use crate::lexicon::words::{FALSE, TRUE, restricts};

/// How long a product with spaces is at most, in bytes, and what is in none.
const MAX_PRODUCT: usize = 80;
const NO_PRODUCT: [char; 14] = [
    ',', ';', ':', '=', '<', '>', '"', '?', '|', '%', '$', '\n', '&', '!',
];

/// All of the text from `at` on, as it is.
pub(super) fn all_of<'t>(source: Source<'t, '_>, at: usize) -> Option<Candidate<'t>> {
    as_it_is(source, at..source.text.len())
}

/// What stands in `range`, as it is.
pub(super) fn as_it_is<'t>(source: Source<'t, '_>, range: Range<usize>) -> Option<Candidate<'t>> {
    let text = trim_markup(&source.text[range.clone()]);
    (!text.is_empty()).then(|| Candidate::new(without_markup(text), Form::Words, range))
}

/// What a sentence states, be it numbers or a choice.
pub(super) fn sentence<'t>(source: Source<'t, '_>, range: Range<usize>) -> Option<Candidate<'t>> {
    let row = range.len();
    let range = last_cell(source.text, range);
    let is_cell = range.len() < row;
    let text = source.text[range.clone()].trim();
    // A question, or an offer of help, states nothing.
    if text.ends_with('?') {
        return None;
    }
    if is_cell && labelled::parts(text).is_some() {
        return as_it_is(source, range);
    }
    // The whole text was looked at before its sentences.
    let part = text.len() < source.text.trim().len();
    let whole = if part {
        whole_in(source, range.clone()).filter(|it| it.kind != Form::Words || is_cell)
    } else {
        None
    };
    if let Some(reading) = whole.or_else(|| truth_value(source, &range)) {
        return Some(reading);
    }
    let stated = stated::sentence(source, range.clone());
    stated.or_else(|| is_cell.then(|| as_it_is(source, range)).flatten())
}

/// The last cell of a table's row; the range itself where it is none.
pub(super) fn last_cell(text: &str, range: Range<usize>) -> Range<usize> {
    let row = text[range.clone()].trim_end();
    let inner = row.trim_start().strip_prefix('|');
    let Some(cells) = inner.and_then(|inner| inner.strip_suffix('|')) else {
        return range;
    };
    let end = range.start + row.len() - 1;
    cells
        .rfind(" | ")
        .map_or(range, |at| end - cells.len() + at + 2..end)
}

/// The truth value that a text begins with, what stands right after it, and that without punctuation.
fn leading_truth(text: &str) -> Option<(&str, &str, &str)> {
    let bare = text.trim_start_matches([' ', '\n', '*', '_', '"', '>']);
    let word = words::first_word(bare);
    let after = bare[word.len()..].trim_start_matches(['*', '_', '"']);
    let rest = after.trim_start_matches([',', ';', '.', '!', ' ', '-', '–', '—', ':', '*']);
    let truth = words::TRUTH_IN_ENGLISH.contains(word);
    let numbered = word.eq_ignore_ascii_case("no")
        && after.starts_with(['.', ' '])
        && rest.starts_with(words::is_digit);
    (truth && !numbered).then_some((word, after, rest))
}

/// "Yes, because …": a sentence that begins with its answer.
fn truth_value<'t>(source: Source<'t, '_>, range: &Range<usize>) -> Option<Candidate<'t>> {
    let (word, after, rest) = leading_truth(&source.text[range.clone()])?;
    // "The circumference... no, the area"
    if word.starts_with(char::is_lowercase) && source.text[..range.start].ends_with("..") {
        return None;
    }
    let next = words::first_word(rest);
    let explained =
        rest.is_empty() || words::SUBORDINATING.contains(next) || words::EXPLAINS.contains(next);
    if restricts(after) {
        return as_it_is(source, range.clone());
    }
    let set_off = !qualifiers::excepts(rest)
        && (after.is_empty() || after.starts_with([',', ';', '.', '!', ':', ' ']) && explained);
    set_off.then(|| Candidate::new(word, Form::Words, range.clone()))
}

/// "No. Consider $x = 2$.": a paragraph that begins with its answer; a choice on a line of its own before its reasons. May what follows go back on it?
pub(super) fn opening<'t>(source: Source<'t, '_>) -> Option<(Candidate<'t>, bool)> {
    if let Some(choice) = opening_choice(source) {
        return Some((choice, false));
    }
    let text = source.text.trim();
    let (word, after, rest) = leading_truth(text)?;
    let begins = word.starts_with(char::is_uppercase);
    let apart = after
        .trim_start_matches(['.', '!', '*'])
        .starts_with("\n\n");
    let rest = rest.trim_start();
    let back = after.starts_with(['.', ';', '!']) && words::TURNS.contains(words::first_word(rest))
        || apart && (contradicts(word, rest) || qualifiers::excepts(rest) || restricts(after));
    // On a line of its own before its reasons, unless they conclude something.
    let alone = apart
        && !words::words_of(rest).any(|it| words::CONCLUDING.contains(it))
        && !qualifiers::retracted("", rest);
    let states = (alone || after.starts_with([',', '.', ':', ';', '!']) && !text.contains("\n\n"))
        && !qualifiers::excepts(rest)
        && !restricts(after)
        // "Yes, we can. The total is 5."
        && !(words::COURTESY.contains(words::first_word(rest))
            && text.contains(words::is_digit));
    let candidate = Candidate::new(word, Form::Words, 0..source.text.len());
    (begins && (states || back)).then_some((candidate, back))
}

/// May what follows "yes" or "no" on a line of its own say the opposite, or go back on it?
pub(super) fn contradicts(word: &str, rest: &str) -> bool {
    let no = FALSE.contains(word);
    if !no && !TRUE.contains(word) {
        return false;
    }
    let other = |it: &str| no && words::AFFIRMS.contains(it) || !no && qualifiers::is_denial(it);
    words::words_of(rest).any(|it| words::TURNS.contains(it) || other(it))
        || !no && qualifiers::takes_back(words::first_word(rest))
}

/// "(B) Osmosis\n\nWater moves …", unless the other options follow on lines of their own.
fn opening_choice<'t>(source: Source<'t, '_>) -> Option<Candidate<'t>> {
    let text = source.text;
    let start = text.len() - text.trim_start().len();
    let end = start + text[start..].find("\n\n")?;
    let listed = text[end..].split("\n\n").any(|paragraph| {
        let line = paragraph.trim_start_matches(['*', '_', ' ', '\n', '#']);
        choice::leading(line, false).is_some_and(|it| it.marked)
    });
    let first = whole_in(source, start..end).filter(|it| it.kind == Form::Choice);
    first.filter(|_| !listed && !text[start..end].contains('\n'))
}

/// The range as one answer, if it is nothing else.
pub(super) fn whole_in<'t>(source: Source<'t, '_>, range: Range<usize>) -> Option<Candidate<'t>> {
    let outer = &source.text[range.clone()];
    let trimmed = trim_markup(outer);
    if trimmed.is_empty() || labelled::parts(trimmed).is_some() {
        return None;
    }
    if let Some((choice, after)) = choice::whole(trimmed) {
        let end = range.start + words::offset(outer, after);
        let range = range.start..end;
        return Some(Candidate::new(choice.letters, Form::Choice, range));
    }
    // One sentence that settles on a choice.
    if !trimmed.contains('\n')
        && let Some((choice, at)) = settled(trimmed)
    {
        let start = range.start + words::offset(outer, trimmed);
        let range = start + at.start..start + at.end;
        return Some(Candidate::new(choice.letters, Form::Choice, range));
    }
    if crate::parse::date(trimmed).is_some() {
        return Some(Candidate::new(trimmed, Form::Words, range));
    }
    if let Some(written) = spoken::written(trimmed) {
        return Some(Candidate::new(written, Form::Plain, range));
    }
    if trimmed.starts_with(words::is_digit) && crate::lexicon::numbers::ordinal(trimmed).is_some() {
        let number = &trimmed[..trimmed.len() - 2];
        return Some(Candidate::new(number, Form::Plain, range));
    }
    // Formulas, with their units and connecting words.
    let start = range.start + outer.len()
        - outer
            .trim_start_matches([' ', '\n', '\t', '*', '`', '"', '>'])
            .len();
    if source.regions.formula_from(start).is_some() {
        let all = items::items(source, start..range.end);
        if !all.is_empty() {
            let end = stated::joined_forward(source, &all, 0);
            let rest = source.text[all[end - 1].end..range.end.max(all[end - 1].end)].trim();
            if trim_markup(rest).is_empty() || rest.trim_matches(['*', '.', '`', '"']).is_empty() {
                return stated::render(source, &all[..end]);
            }
        }
        return None;
    }
    // Bare maths.
    let offset = range.start + words::offset(outer, trimmed);
    let limit = offset + trimmed.len();
    // "a 1 in 4 chance"
    let said = trimmed.strip_prefix("a ").unwrap_or(trimmed);
    let said = said.strip_suffix(" chance").unwrap_or(said);
    if let Some((text, length)) = ratio::leading(said)
        && length == said.len()
    {
        return Some(Candidate::new(text, Form::Plain, range));
    }
    // "minus 2.5"
    if let Some(length) = words::sign(trimmed) {
        let start = offset + length;
        let spelled = || {
            let all = items::items(source, start..limit);
            let single = all.len() == 1 && all[0].value.start == start && all[0].end >= limit;
            single.then(|| stated::render(source, &all)).flatten()
        };
        let value = mathematics(source, start..limit).or_else(spelled)?;
        return value.negative(range);
    }
    // "three times"
    if let Some(count) = trimmed.strip_suffix(" times")
        && words::is_number_word(count)
    {
        return Some(plain(source, offset..offset + count.len()));
    }
    // "<1, 2>"
    let pointed = (trimmed.find('<'), trimmed.rfind('>')) == (Some(0), Some(trimmed.len() - 1));
    if pointed && !trimmed.contains(char::is_alphabetic) || is_product(trimmed) {
        return Some(plain(source, offset..limit));
    }
    if let Some(reading) = mathematics(source, offset..limit) {
        return Some(reading);
    }
    few_words(trimmed).then(|| Candidate::new(without_markup(trimmed), Form::Words, offset..limit))
}

/// Is this a product with spaces between its letters, as "2 x y" and "1/2 m v^2", and nothing else?
pub(super) fn is_product(text: &str) -> bool {
    if !text.contains(' ') || text.len() > MAX_PRODUCT || text.contains(NO_PRODUCT) {
        return false;
    }
    let is_letter = |it: char| it.is_alphabetic();
    let (mut at, mut letters) = (0, 0);
    while let Some(found) = text[at..].find(is_letter) {
        let start = at + found;
        let run = &text[start..];
        let run = &run[..run.find(|it| !is_letter(it)).unwrap_or(run.len())];
        at = start + run.len();
        let is_command = text[..start].ends_with('\\');
        letters += usize::from(!is_command) * run.len();
        let belongs = match (is_command, run.len()) {
            (true, _) if run.starts_with("frac") || run.starts_with("dfrac") => {
                letters += 1;
                true
            }
            (true, _) => !matches!(run, "text" | "mathrm" | "textbf" | "boxed" | "begin"),
            (false, 1) => true,
            (false, 2) => {
                text[at..].starts_with(['^', '_'])
                    || !words::TWO_LETTERS.contains(run)
                        && !words::is_unit(run)
                        && !matches!(run, "st" | "nd" | "rd" | "th")
            }
            (false, _) => words::FUNCTION.contains(run) && !matches!(run, "factorial" | "comb"),
        };
        if !belongs {
            return false;
        }
    }
    letters > 1 || letters == 1 && text.contains(words::is_digit)
}

/// Bare mathematics with its unit or base, if the range is nothing else.
fn mathematics<'t>(source: Source<'t, '_>, range: Range<usize>) -> Option<Candidate<'t>> {
    let run = maths::bounded(&source.text[..range.end], range.start, usize::MAX).0?;
    let value = &source.text[range.start..run.end];
    let after = source.text.get(run.end..range.end).unwrap_or_default();
    // "10! ways"
    if run.number
        && (after == "!"
            || after.starts_with("! ") && tail(&after[1..], true).end + 1 == after.len())
    {
        return Some(plain(source, range));
    }
    if run.number && after.trim() == "times" {
        let value = plain(source, range.start..run.end);
        return Some(Candidate { range, ..value });
    }
    let tail = tail(after, run.number);
    let name = value.chars().all(char::is_alphabetic)
        && value.len() > 1
        && !words::FUNCTION.contains(value);
    if name || !trim_markup(&after[tail.end.min(after.len())..]).is_empty() {
        return None;
    }
    let text = match tail.base {
        Some(base) => format!("{value}_{{{}}}", &after[base]),
        None if tail.unit.start == 0 => {
            let value = plain(source, range.start..run.end + tail.unit.end);
            // The "-year-old" of "12-year-old" belongs to it.
            let said = tail.end > tail.unit.end;
            return Some(if said {
                Candidate { range, ..value }
            } else {
                value
            });
        }
        None => format!("{value} {}", &after[tail.unit]),
    };
    Some(Candidate::new(text, Form::Plain, range))
}

fn plain<'t>(source: Source<'t, '_>, range: Range<usize>) -> Candidate<'t> {
    let text = super::chain::result(&source.text[range.clone()]);
    Candidate {
        text: match text {
            Cow::Borrowed(text) => without_markup(trim_markup(text)),
            Cow::Owned(text) => Cow::Owned(without_markup(&text).into_owned()),
        },
        kind: Form::Plain,
        range,
    }
}

/// Are these a few words that may be an answer themselves?
fn few_words(text: &str) -> bool {
    let count = text.split_whitespace().take(6).count();
    count <= 4
        && text.len() <= 60
        && !text.contains(['\n', '?', ':', '=', '<', '{'])
        && !text.contains(|it: char| it.is_ascii_digit() || symbols::is_vulgar(it))
        && text.contains(char::is_alphanumeric)
        && !text
            .split_whitespace()
            .any(|word| words::is_number_word(word.trim_end_matches('.')))
        && (!no_answer::is_cut_off(text) || count == 1)
}

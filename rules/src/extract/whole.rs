//! Texts and sentences that are an answer and nothing else.

use std::borrow::Cow;

use super::choice;
use super::items::{self, Kind, Page, Reading};
use super::maths;
use super::ratio;
use super::refusal;
use super::stated;
use super::symbols;
use super::tail::tail;
use super::tidy::{smooth, tidy};
use super::words;

/// All of the text from `at` on, as it is.
pub(super) fn all_of<'t>(page: Page<'t, '_>, at: usize) -> Option<Reading<'t>> {
    let text = tidy(&page.text[at..]);
    (!text.is_empty()).then(|| Reading {
        text: smooth(text),
        kind: Kind::Words,
        range: at..page.text.len(),
    })
}

/// What a sentence states, be it numbers or a choice.
pub(super) fn sentence<'t>(
    page: Page<'t, '_>,
    range: std::ops::Range<usize>,
) -> Option<Reading<'t>> {
    let range = last_cell(page.text, range);
    let text = page.text[range.clone()].trim();
    // A question, or an offer of help, states nothing.
    if text.ends_with('?') {
        return None;
    }
    // The whole text was looked at before its sentences.
    let part = text.len() < page.text.trim().len();
    let whole = if part {
        whole_in(page, range.clone()).filter(|it| it.kind != Kind::Words)
    } else {
        None
    };
    if let Some(reading) = whole.or_else(|| verdict(page, &range)) {
        return Some(reading);
    }
    stated::sentence(page, range)
}

/// The last cell of a table's row; the range itself where it is none.
fn last_cell(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let row = text[range.clone()].trim();
    if row.len() < 3 || !row.starts_with('|') || !row.ends_with('|') || !row.contains(" | ") {
        return range;
    }
    let end = range.start + text[range.clone()].trim_end().len() - 1;
    let start = text[range.start..end]
        .rfind('|')
        .map_or(range.start, |at| range.start + at + 1);
    start..end
}

/// "Yes, because …": a sentence that begins with its answer.
fn verdict<'t>(page: Page<'t, '_>, range: &std::ops::Range<usize>) -> Option<Reading<'t>> {
    let sentence = &page.text[range.clone()];
    let bare = sentence.trim_start_matches([' ', '\n', '*', '_', '"', '>']);
    let word = words::first_word(bare);
    if !words::among(word, &["yes", "no", "true", "false"]) {
        return None;
    }
    let after = bare[word.len()..].trim_start_matches(['*', '_', '"']);
    let rest = after.trim_start_matches([',', ';', '.', '!', ' ', '-', '–', '—', ':', '*']);
    let next = words::first_word(rest);
    let explained = rest.is_empty()
        || words::is_subordinating(next)
        || words::among(
            next,
            &[
                "as", "for", "this", "it", "that", "there", "both", "they", "the",
            ],
        );
    let set_off =
        after.is_empty() || after.starts_with([',', ';', '.', '!', ':', ' ']) && explained;
    set_off.then(|| Reading {
        text: Cow::Borrowed(word),
        kind: Kind::Words,
        range: range.clone(),
    })
}

/// The range as one answer, if it is nothing else.
pub(super) fn whole_in<'t>(
    page: Page<'t, '_>,
    range: std::ops::Range<usize>,
) -> Option<Reading<'t>> {
    let outer = &page.text[range.clone()];
    let trimmed = tidy(outer);
    if trimmed.is_empty() {
        return None;
    }
    if let Some(choice) = choice::whole(trimmed).or_else(|| choice::stated(trimmed)) {
        return Some(Reading {
            text: Cow::Owned(choice.letters),
            kind: Kind::Choice,
            range,
        });
    }
    // Formulas, with their units and connecting words.
    let start = range.start + outer.len()
        - outer
            .trim_start_matches([' ', '\n', '\t', '*', '`', '"', '>'])
            .len();
    if page.marks.formula_from(start).is_some() {
        let all = items::items(page, start..range.end);
        if !all.is_empty() {
            let end = stated::joined_forward(page, &all, 0);
            let rest = page.text[all[end - 1].end..range.end.max(all[end - 1].end)].trim();
            if tidy(rest).is_empty() || rest.trim_matches(['*', '.', '`', '"']).is_empty() {
                return stated::render(page, &all[..end]);
            }
        }
        return None;
    }
    // Bare maths.
    let offset = range.start + (trimmed.as_ptr() as usize - outer.as_ptr() as usize);
    let limit = offset + trimmed.len();
    if let Some((text, length)) = ratio::leading(trimmed)
        && length == trimmed.len()
    {
        return Some(Reading {
            text: Cow::Owned(text),
            kind: Kind::Plain,
            range,
        });
    }
    if let Some(run) = maths::deep_run(&page.text[..limit], offset) {
        let after = page.text.get(run.end..limit).unwrap_or_default();
        let tail = tail(after, run.number);
        let rest = &after[tail.end.min(after.len())..];
        let lone = run.letters_only
            && run.end - offset > 1
            && !words::is_function(&page.text[offset..run.end]);
        if tidy(rest).is_empty() && !lone {
            if let Some(base) = tail.base {
                return Some(Reading {
                    text: Cow::Owned(format!(
                        "{}_{{{}}}",
                        &page.text[offset..run.end],
                        &after[base]
                    )),
                    kind: Kind::Plain,
                    range: offset..limit,
                });
            }
            return if tail.unit.is_empty() || tail.unit.start == 0 {
                let end = if tail.unit.is_empty() {
                    run.end
                } else {
                    run.end + tail.unit.end
                };
                Some(plain(page, offset..end))
            } else {
                Some(Reading {
                    text: Cow::Owned(format!(
                        "{} {}",
                        &page.text[offset..run.end],
                        &after[tail.unit]
                    )),
                    kind: Kind::Plain,
                    range: offset..limit,
                })
            };
        }
        if rest == "!" && run.number {
            return Some(plain(page, offset..limit));
        }
    }
    // Several things with their units.
    if !trimmed.contains('\n') && trimmed.len() <= items::WINDOW {
        let all = items::items(page, offset..limit);
        if let Some(first) = all.first()
            && first.value.start == offset
        {
            let end = stated::joined_forward(page, &all, 0);
            let last = &all[end - 1];
            if tidy(&page.text[last.end.min(limit)..limit]).is_empty() {
                return stated::render(page, &all[..end]);
            }
        }
    }
    few_words(trimmed).then(|| Reading {
        text: smooth(trimmed),
        kind: Kind::Words,
        range: offset..limit,
    })
}

fn plain<'t>(page: Page<'t, '_>, range: std::ops::Range<usize>) -> Reading<'t> {
    let text = super::chain::result(&page.text[range.clone()]);
    Reading {
        text: match text {
            Cow::Borrowed(text) => smooth(tidy(text)),
            Cow::Owned(text) => Cow::Owned(smooth(&text).into_owned()),
        },
        kind: Kind::Plain,
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
        && (!refusal::is_cut_off(text) || count == 1)
}

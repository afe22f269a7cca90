//! What a response settles on without announcing it: a verdict or a choice with its reasons behind it, a name in bold.

use std::borrow::Cow;
use std::ops::Range;

use super::choice::{self, Choice};
use super::clause;
use super::correction;
use super::items::{Kind, Page, Reading, items};
use super::sentences;
use super::words;

/// How long the line of a choice is at most, in bytes.
const MAX_LINE: usize = 120;
/// How long a name in bold is at most, in bytes.
const MAX_NAME: usize = 40;

const DRESS: [char; 6] = [' ', '*', '_', '"', '>', '\n'];

/// "**Yes**, such a colouring exists: …": the verdict that opens the text or its last paragraph.
pub(super) fn verdict<'t>(page: Page<'t, '_>) -> Option<Reading<'t>> {
    let text = page.text;
    let first = text.len() - text.trim_start().len();
    let trimmed = text.trim_end();
    let last = trimmed.rfind("\n\n").map_or(first, |at| at + 2);
    let (at, word) = opening(text, last, last <= first).or_else(|| opening(text, first, true))?;
    // A second thought, or an end that says otherwise.
    let behind = at + word.len();
    if correction::after(text, behind).is_some() {
        return None;
    }
    let end = sentences::last_before(text, page.marks, text.len())?;
    if end.start > behind {
        let closing = words::last_word(text[end].trim_end_matches(['.', '!', '*', ' ', '\n']));
        if words::among(closing, &["yes", "no", "true", "false"])
            && !closing.eq_ignore_ascii_case(word)
        {
            return None;
        }
    }
    Some(Reading {
        text: Cow::Borrowed(word),
        kind: Kind::Words,
        range: at..text.len(),
    })
}

/// The verdict at the beginning of the paragraph at `at`, and where it stands.
fn opening(text: &str, at: usize, first: bool) -> Option<(usize, &str)> {
    let paragraph = &text[at..];
    let bare = paragraph.trim_start_matches(DRESS);
    let word = words::first_word(bare);
    if !words::among(word, &["yes", "no", "true", "false"])
        || !word.starts_with(|it: char| it.is_ascii_uppercase())
    {
        return None;
    }
    let start = text.len() - bare.len();
    let bold = text[..start].ends_with("**");
    let after = bare[word.len()..].trim_start_matches(['*', '_', '"', ' ']);
    let rest = after.trim_start_matches([',', '.', ':', ';', '!', '-', '–', '—', '*', ' ', '\n']);
    if rest.len() == after.len() {
        return None;
    }
    let next = words::first_word(rest);
    let second = words::first_word(rest[next.len()..].trim_start());
    let third = words::first_word(
        rest[next.len()..]
            .trim_start()
            .strip_prefix(second)
            .unwrap_or_default()
            .trim_start(),
    );
    // "Yes, we can compute it": an assistant's courtesy.
    let courtesy = words::among(
        next,
        &[
            "let", "let's", "here", "i", "i'll", "sure", "of", "please", "you", "we'll", "happy",
        ],
    ) || (next.eq_ignore_ascii_case("we")
        && words::among(second, &["can", "need", "should", "must", "have", "could"])
        && words::among(
            third,
            &[
                "compute",
                "calculate",
                "find",
                "solve",
                "determine",
                "use",
                "simplify",
                "evaluate",
                "do",
                "work",
                "answer",
                "to",
            ],
        ));
    // "Yes, that is right": what was said before.
    let agrees =
        words::among(next, &["that", "it", "this"]) && words::among(third, &["right", "correct"]);
    if courtesy || agrees {
        return None;
    }
    if first {
        return Some((start, word));
    }
    // Further on, it may only check a step.
    let asked = text[..at].trim_end().ends_with('?');
    let denied = word.eq_ignore_ascii_case("no")
        && words::among(next, &["no", "there", "such", "because", "since"]);
    (!asked && (bold || denied)).then_some((start, word))
}

/// "**C) 12 m/s²**" on a line of its own, with nothing but the reasons behind it.
pub(super) fn chosen<'t>(page: Page<'t, '_>) -> Option<Reading<'t>> {
    let text = page.text;
    let mut leading = None;
    let mut bold = None;
    let mut lines_of_choices = 0_usize;
    let mut bold_ones = 0_usize;
    let mut at = 0;
    let mut first = true;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        if range.is_empty() {
            continue;
        }
        if let Some(choice) = choice_of(&text[range.clone()]) {
            lines_of_choices += 1;
            if is_bold(&text[range.clone()]) {
                bold_ones += 1;
                bold = Some((choice, range));
            } else if first {
                leading = Some((choice, range));
            }
        }
        first = false;
    }
    let (choice, range) = match bold {
        Some(bold) if bold_ones == 1 => bold,
        None if lines_of_choices == 1 => {
            leading.filter(|(_, range)| explains(&text[range.end..]))?
        }
        _ => return None,
    };
    let rest = &text[range.end..];
    if rest.trim().is_empty() || correction::after(text, range.end).is_some() {
        return None;
    }
    let end = sentences::last_before(text, page.marks, text.len())?;
    if let Some(other) = choice::stated(&text[end])
        && other.letters != choice.letters
    {
        return None;
    }
    Some(Reading {
        text: Cow::Owned(choice.letters),
        kind: Kind::Choice,
        range,
    })
}

/// The one choice that a line names, in its dress.
fn choice_of(line: &str) -> Option<Choice> {
    let bare = line.trim_matches(DRESS);
    if bare.len() > MAX_LINE {
        return None;
    }
    choice::whole(bare).filter(|it| it.letters.len() == 1 && (it.dressed || is_bold(line)))
}

fn is_bold(line: &str) -> bool {
    let line = line.trim();
    line.len() > 4
        && line.starts_with("**")
        && line.trim_end_matches('.').ends_with("**")
        && line.matches("**").count() == 2
}

/// Do reasons follow?
fn explains(rest: &str) -> bool {
    let word = words::first_word(rest.trim_start_matches([' ', '*', '_', '\n', '#', '>']));
    words::is_subordinating(word)
        || words::among(
            word,
            &[
                "explanation",
                "reason",
                "reasoning",
                "rationale",
                "justification",
                "why",
                "as",
                "this",
                "here's",
            ],
        )
}

/// "… falls on a **Tuesday**.": the one name in bold that a sentence ends with, where it states no number.
pub(super) fn emphasised<'t>(page: Page<'t, '_>, range: &Range<usize>) -> Option<Reading<'t>> {
    let sentence = &page.text[range.clone()];
    if sentence.matches("**").take(3).count() != 2 {
        return None;
    }
    let open = sentence.find("**")?;
    let close = open + 2 + sentence[open + 2..].find("**")?;
    let name = &sentence[open + 2..close];
    let bare = name.trim_end_matches(['.', '!']);
    let wordy = !bare.is_empty()
        && bare.len() <= MAX_NAME
        && bare.starts_with(char::is_alphabetic)
        && bare
            .chars()
            .all(|it| it.is_alphabetic() || matches!(it, ' ' | '-' | '\'' | '’' | '.'))
        && bare.split_whitespace().count() <= 3
        && !bare.split_whitespace().any(words::is_number_word);
    let rest = sentence[close + 2..].trim_start();
    let over = rest.trim_matches(['.', '!', '"', ' ', '\n']).is_empty()
        || rest.starts_with(',')
        || words::is_subordinating(words::first_word(rest));
    if !wordy || !over || !links(&sentence[..open]) {
        return None;
    }
    // Numbers that the sentence states would be meant as well.
    if items(page, range.clone())
        .iter()
        .any(|it| !it.weak && !it.negated && !it.symbol)
    {
        return None;
    }
    let start = range.start + open + 2;
    clause::words_only(page, start, start + bare.len())
}

/// "So, D.", "Therefore the statement is false.": a last sentence that is no more than its conclusion.
pub(super) fn concluded<'t>(page: Page<'t, '_>) -> Option<Reading<'t>> {
    let text = page.text;
    let range = sentences::last_before(text, page.marks, text.len())?;
    let sentence = text[range.clone()].trim_matches(DRESS);
    let whole = sentence.len() == text.trim_matches(DRESS).len();
    let opening = words::first_word(sentence);
    let concluding = words::is_concluding(opening);
    let rest = if concluding {
        sentence[opening.len()..].trim_start_matches([',', ':', ' ', '*'])
    } else {
        sentence
    };
    let bare = rest.trim_end_matches(['.', '!', '*', '_']);
    if concluding
        && !bare.contains('$')
        && bare.len() <= 16
        && let Some(choice) = choice::whole(rest)
        && rest[choice.end..].trim_matches(['.', '*', ' ']).is_empty()
    {
        return Some(Reading {
            text: Cow::Owned(choice.letters),
            kind: Kind::Choice,
            range,
        });
    }
    let word = words::last_word(bare);
    let before = bare.strip_suffix(word)?.trim_end_matches(['*', '_', ' ']);
    let subject = before.strip_suffix(" is").unwrap_or_default();
    let judged = (concluding || whole)
        && words::among(word, &["true", "false"])
        && subject.split_whitespace().count() <= 3
        && words::among(
            words::last_word(subject),
            &[
                "statement",
                "claim",
                "assertion",
                "proposition",
                "conjecture",
            ],
        );
    judged.then_some(Reading {
        text: Cow::Borrowed(word),
        kind: Kind::Words,
        range,
    })
}

/// Does the beginning of a sentence lead to what it is about: "… is a"?
fn links(before: &str) -> bool {
    let mut before = before.trim_end();
    let article = words::last_word(before);
    if words::among(article, &["a", "an", "the"]) {
        before = before.strip_suffix(article).unwrap_or(before).trim_end();
    }
    words::among(
        words::last_word(before),
        &[
            "is", "are", "was", "were", "be", "on", "called", "named", "as", "becomes",
        ],
    )
}

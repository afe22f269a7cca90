//! One of given strings, as a configuration may ask for.

use super::announcements::{Anchor, AnchorKind};
use super::boxes;
use super::items::{Candidate, Form, Source};
use super::markup::trim_markup;
use crate::config::Config;

/// Where one of `strings` is stated, with its tier.
pub(super) fn find<'t>(
    source: Source<'t, '_>,
    anchors: &[Anchor],
    strings: &[String],
    lowercase: bool,
    config: &Config,
) -> Vec<(i32, Candidate<'t>)> {
    let mut out = Vec::new();
    let text = source.text;
    if config.boxed_match_priority >= 0
        && let Some(found) = boxes::last(text, source.regions, text.len())
        && let Some((length, which)) = at_start(bare(&found.text), strings)
        && bare(&found.text).len() == length
    {
        out.push((0, reading(which, found.start..found.end, lowercase)));
    }
    for anchor in anchors.iter().rev().take(48) {
        let rest = &text[anchor.end..];
        let skipped = rest.len() - inner_text(rest).len();
        let Some((length, which)) = at_start(inner_text(rest), strings) else {
            continue;
        };
        let tier = match anchor.how {
            AnchorKind::Hashes | AnchorKind::Tag | AnchorKind::Final => 0,
            AnchorKind::Answer | AnchorKind::Option | AnchorKind::Result => 10,
        };
        let start = anchor.end + skipped;
        out.push((tier, reading(which, start..start + length, lowercase)));
        break;
    }
    if !out.is_empty() || !config.try_extract_without_anchor {
        return out;
    }
    if let Some((length, which)) = at_start(bare(text), strings)
        && bare(text).len() == length
    {
        out.push((40, reading(which, 0..text.len(), lowercase)));
        return out;
    }
    // The last one that stands by itself.
    let places = strings.iter().filter(|it| !it.is_empty()).filter_map(|it| {
        let found = text.match_indices(it.as_str()).map(|(at, _)| at);
        let last = found.filter(|at| stands_alone(text, *at, it.len())).last();
        last.map(|at| (at, it))
    });
    if let Some((at, which)) = places.rev().max_by_key(|it| it.0) {
        out.push((50, reading(which, at..at + which.len(), lowercase)));
    }
    out
}

fn reading<'t>(which: &str, range: std::ops::Range<usize>, lowercase: bool) -> Candidate<'t> {
    let text = lowercase.then(|| which.to_lowercase());
    Candidate::new(text.unwrap_or_else(|| which.to_owned()), Form::Words, range)
}

/// The text without brackets and LaTeX's text commands around it.
fn bare(text: &str) -> &str {
    let mut text = trim_markup(text);
    for open in ["\\text{", "\\textbf{", "\\mathrm{"] {
        if let Some(inner) = text.strip_prefix(open).and_then(|it| it.strip_suffix('}')) {
            text = inner.trim();
        }
    }
    text.strip_prefix('(')
        .and_then(|it| it.strip_suffix(')'))
        .unwrap_or(text)
}

/// What may stand before a given string.
#[rustfmt::skip]
const OPENS: [&str; 7] = ["option ", "choice ", "Option ", "\\text{", "\\textbf{", "\\boxed{", "the "];

/// The text from where the answer begins.
fn inner_text(text: &str) -> &str {
    let mut text = text.trim_start_matches([' ', ':', '*', '_', '(', '\n', '"', '$', '\'']);
    for open in OPENS {
        text = text.strip_prefix(open).unwrap_or(text);
    }
    text.trim_start_matches(['(', '*', ' '])
}

/// The longest of the strings that `text` begins with, as a word.
fn at_start<'s>(text: &str, strings: &'s [String]) -> Option<(usize, &'s str)> {
    let begins = |it: &&String| {
        !it.is_empty() && text.starts_with(it.as_str()) && stands_alone(text, 0, it.len())
    };
    let longest = strings.iter().filter(begins).max_by_key(|it| it.len())?;
    Some((longest.len(), longest))
}

fn stands_alone(text: &str, at: usize, length: usize) -> bool {
    let goes_on = |it: char| it.is_alphanumeric() || it == '\'';
    !text[..at].ends_with(goes_on) && !text[at + length..].starts_with(goes_on)
}

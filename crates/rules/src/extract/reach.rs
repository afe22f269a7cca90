//! Where what is announced ends, and what stands after marks: `####`, `<answer>`, labelled parts.

use super::items::{Candidate, Form, Read, Source};
use super::whole::{as_it_is, whole_in};
use super::{announced, labelled, qualifiers, sentences, stated, words};

/// How long what is announced may be, in bytes, unless it is announced last.
pub(super) const MAX_REACH: usize = 4_000;

/// Labelled parts, "(a) 3, (b) 5", on one line or several.
pub(super) fn labelled_parts<'t>(source: Source<'t, '_>, from: usize) -> Read<'t> {
    let text = source.text;
    let rest = &text[from..];
    let start = from + rest.len()
        - rest
            .trim_start_matches([' ', '\n', '*', ':', '_', '-', '#'])
            .len();
    let end = start + labelled::span(&text[start..])?;
    let parts = text[start..end].trim();
    Some(Candidate::new(parts, Form::Words, start..end))
}

/// Where the line that `at` lies in ends.
pub(super) fn line_end(source: Source<'_, '_>, at: usize) -> usize {
    let text = source.text;
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}

/// Where the sentence that `at` lies in ends; after its exclamation mark, which may be a factorial's.
pub(super) fn sentence_end(source: Source<'_, '_>, at: usize) -> usize {
    let Source { text, regions, .. } = source;
    let end = sentences::end(text, regions, at, usize::MAX).unwrap_or(text.len());
    end + usize::from(text[end..].starts_with('!'))
}

/// Where what a tag holds ends that was opened before `at`.
pub(super) fn tag_end(source: Source<'_, '_>, at: usize) -> usize {
    let rest = &source.text[at..];
    let end = rest.find("</").or_else(|| rest.find("[/"));
    at + end.unwrap_or(rest.len())
}

/// The rest of a `####` line, if it is an answer and no heading.
pub(super) fn after_hashes<'t>(source: Source<'t, '_>, at: usize, reach: usize) -> Read<'t> {
    let text = source.text;
    let line = line_end(source, at);
    let range = at..line;
    if range.len() > reach || source.regions.has_box(&range) && !source.open_boxes {
        return None;
    }
    let is_last = line == text.trim_end().len();
    // "True" and "No" are no headings.
    let truth = |it: &str| words::TRUTH_IN_ENGLISH.contains(it);
    whole_in(source, range.clone())
        .filter(|it| it.kind != Form::Words || is_last || truth(&it.text))
        .or_else(|| {
            let told = |it: &Candidate<'_>| {
                let rest = text.get(it.range.end..line).unwrap_or("");
                let next = rest.trim_start_matches(['*', ' ']);
                // "\triangle ABC"
                let sign = it.text.strip_prefix('\\');
                !sign.is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphabetic()))
                    && it.kind != Form::Words
                    && next.starts_with(|it: char| it == '(' || it.is_uppercase())
                    && (!qualifiers::takes_back(next) || qualifiers::retracted(&it.text, next))
            };
            announced::read(source, at, reach, false).filter(told)
        })
        // What nothing follows is no heading, whether it can be read or not.
        .or_else(|| is_last.then(|| as_it_is(source, range)).flatten())
}

/// What stands between `<answer>` and its end.
pub(super) fn in_tag<'t>(source: Source<'t, '_>, at: usize, reach: usize) -> Read<'t> {
    let end = tag_end(source, at);
    let range = at..end;
    if range.len() > reach || (source.regions.has_box(&range) && !source.open_boxes) {
        return None;
    }
    whole_in(source, range.clone())
        .or_else(|| announced::read(source, at, MAX_REACH, false).filter(|it| it.range.end <= end))
        .or_else(|| stated::sentence(source, range))
}

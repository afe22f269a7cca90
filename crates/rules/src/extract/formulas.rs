//! What a formula in delimiters says.

use std::borrow::Cow;
use std::ops::Range;

use super::boxes::unbox;
use super::chain;
use super::items::Source;
use super::markup::{trim_markup, without_markup};

/// The result of the formula that stands in `outer`, delimiters and all.
pub(super) fn content<'t>(source: Source<'t, '_>, outer: Range<usize>) -> Cow<'t, str> {
    let formula = source.regions.formula_from(outer.start);
    let content = formula.map_or(outer, |(_, it)| it.content.clone());
    let text = trim_markup(&source.text[content]);
    if text.contains("\\boxed") || text.contains("\\fbox") {
        let open = unbox(text);
        return Cow::Owned(of_text(&open).into_owned());
    }
    of_text(text)
}

/// The result of the last row, without alignment.
pub(super) fn of_text(text: &str) -> Cow<'_, str> {
    let row = last_row(text);
    if row.contains('&') && !row.contains("\\begin") {
        let aligned: String = row.chars().filter(|&it| it != '&').collect();
        let without_markup = without_markup(&aligned).into_owned();
        return Cow::Owned(chain::result(trim_markup(&without_markup)).into_owned());
    }
    match without_markup(row) {
        Cow::Borrowed(row) => chain::result(trim_markup(row)),
        Cow::Owned(row) => Cow::Owned(chain::result(trim_markup(&row)).into_owned()),
    }
}

/// The last row of an aligned derivation; the text itself where it is none.
fn last_row(text: &str) -> &str {
    let mut text = text;
    for name in ["aligned", "align", "align*", "split", "gathered", "gather*"] {
        let opened = text
            .strip_prefix("\\begin{")
            .and_then(|rest| rest.strip_prefix(name))
            .and_then(|rest| rest.strip_prefix('}'));
        if let Some(rest) = opened
            && let Some(inner) = rest
                .strip_suffix('}')
                .and_then(|rest| rest.strip_suffix(name))
                .and_then(|rest| rest.strip_suffix("\\end{"))
        {
            text = trim_markup(inner);
        }
    }
    // Rows of a matrix are none of a derivation.
    if text.contains("\\begin") {
        return match text.rfind("\\end{") {
            Some(end) => match text[end..].find("\\\\") {
                Some(row) => trim_markup(&text[end + row + 2..]),
                None => text,
            },
            None => text,
        };
    }
    let mut row = text;
    while let Some((before, after)) = row.rsplit_once("\\\\") {
        // `\\frac`: a doubled backslash, no new row.
        let after_trimmed = trim_markup(after);
        if after.starts_with(|it: char| it.is_ascii_alphabetic()) && !text.contains('&') {
            return text;
        }
        if !after_trimmed.is_empty() {
            return after_trimmed;
        }
        row = before;
    }
    trim_markup(row)
}

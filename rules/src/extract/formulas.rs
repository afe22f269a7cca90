//! What a formula in delimiters says.

use std::borrow::Cow;
use std::ops::Range;

use super::boxes::unbox;
use super::chain;
use super::items::Page;
use super::tidy::{smooth, tidy};

/// The result of the formula that stands in `outer`, delimiters and all.
pub(super) fn content<'t>(page: Page<'t, '_>, outer: Range<usize>) -> Cow<'t, str> {
    let content = page
        .marks
        .formula_from(outer.start)
        .map_or(outer.clone(), |(_, formula)| formula.content.clone());
    let text = tidy(&page.text[content]);
    if text.contains("\\boxed") || text.contains("\\fbox") {
        let open = unbox(text);
        return Cow::Owned(of_text(&open).into_owned());
    }
    of_text(text)
}

/// The result of the last row, without alignment.
fn of_text(text: &str) -> Cow<'_, str> {
    let row = last_row(text);
    if row.contains('&') && !row.contains("\\begin") {
        let aligned: String = row.chars().filter(|&it| it != '&').collect();
        let smooth = smooth(&aligned).into_owned();
        return Cow::Owned(chain::result(tidy(&smooth)).into_owned());
    }
    match smooth(row) {
        Cow::Borrowed(row) => chain::result(tidy(row)),
        Cow::Owned(row) => Cow::Owned(chain::result(tidy(&row)).into_owned()),
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
            text = tidy(inner);
        }
    }
    // Rows of a matrix are none of a derivation.
    if text.contains("\\begin") {
        return match text.rfind("\\end{") {
            Some(end) => match text[end..].find("\\\\") {
                Some(row) => tidy(&text[end + row + 2..]),
                None => text,
            },
            None => text,
        };
    }
    let mut row = text;
    while let Some((before, after)) = row.rsplit_once("\\\\") {
        // `\\frac`: a doubled backslash, no new row.
        let after_trimmed = tidy(after);
        if after.starts_with(|it: char| it.is_ascii_alphabetic()) && !text.contains('&') {
            return text;
        }
        if !after_trimmed.is_empty() {
            return after_trimmed;
        }
        row = before;
    }
    tidy(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_counts() {
        for (text, expected) in [
            (r"x &= 1 + 2 \\ &= 3", "3"),
            (
                r"\begin{aligned} a &= 1 \\ b &= 2 \\ \end{aligned}",
                "b = 2",
            ),
            (
                r"\begin{pmatrix}1\\2\end{pmatrix}",
                r"\begin{pmatrix}1\\2\end{pmatrix}",
            ),
            (r"x = 5 \tag{1}", "x = 5"),
            (r"\\frac{1}{2}", r"\frac{1}{2}"),
            ("9", "9"),
        ] {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }
}

//! Answers that are written alike but for spaces, groups of digits, articles, or the words of a sign.

use super::Side;
use crate::compare::{self, Options};
use crate::{extract, parse};

/// Is a number grouped as in 1,23,456?
pub(super) fn in_lakhs(text: &str) -> bool {
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let mut groups = text.split(',').rev();
    let threes = groups
        .next()
        .is_some_and(|last| last.len() == 3 && digits(last));
    let pairs: Vec<&str> = groups.collect();
    let (first, rest) = pairs.split_last().unwrap_or((&"", &[]));
    threes
        && !rest.is_empty()
        && matches!(first.len(), 1 | 2)
        && digits(first)
        && rest.iter().all(|pair| pair.len() == 2 && digits(pair))
}

/// Are these one number, grouped as in 1,23,456 on one side and in threes or not at all on the other, or with a K for its thousands on one side?
pub(super) fn same_digits(a: &str, b: &str) -> bool {
    let in_thousands = |text: &str| text.ends_with(['K', 'k']);
    let (a, b) = (without_rupees(a), without_rupees(b));
    let digits = |text: &str| {
        let text = text.strip_suffix(['K', 'k']).unwrap_or(text);
        !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit() || it == b',')
    };
    let bare = |text: &str| text.replace(',', "").replace(['K', 'k'], "000");
    digits(a)
        && digits(b)
        && a.len().max(b.len()) < 40
        && (in_lakhs(a) || in_lakhs(b) || in_thousands(a) != in_thousands(b))
        && bare(a) == bare(b)
}

/// A text without the article, or the pronoun, that it begins with.
pub(super) fn without_article(text: &str) -> &str {
    let article = ["the ", "The ", "a ", "A ", "an ", "An ", "it ", "It "];
    let rest = article.iter().find_map(|it| text.strip_prefix(it));
    rest.filter(|it| it.len() > 1).unwrap_or(text)
}

/// Is one side the negative of what the other states as lost: −15% and "a decrease of 15%"?
pub(super) fn is_fall(gold: &Side, pred: &Side, options: &Options) -> bool {
    let (with, without) = if gold.text.starts_with('-') {
        (gold, pred)
    } else {
        (pred, gold)
    };
    let Some(size) = with.text.strip_prefix('-') else {
        return false;
    };
    !without.text.starts_with(['-', '+'])
        && extract::falls(&without.statement)
        && !without.statement.contains(" to ")
        && !extract::falls(&with.statement)
        && match (parse::parse(size), &without.answer) {
            (Ok(a), Ok(b)) => compare::compare(&a, b, options).equal == Some(true),
            _ => false,
        }
}

/// Are the two equal if a logarithm without a base is the natural one?
pub(super) fn natural_logarithm(gold: &Side, pred: &Side, options: &Options) -> bool {
    let plain = |text: &str| text.contains("log") && !text.contains("log_");
    let natural = |text: &str| parse::parse(&text.replace("log", "ln"));
    let is = |text: &str| text.contains("ln");
    if !(plain(&gold.text) && is(&pred.text) || is(&gold.text) && plain(&pred.text)) {
        return false;
    }
    match (natural(&gold.text), natural(&pred.text)) {
        (Ok(a), Ok(b)) => compare::compare(&a, &b, options).equal == Some(true),
        _ => false,
    }
}

/// A sum without the sign of rupees, in which people count in lakhs.
pub(super) fn without_rupees(text: &str) -> &str {
    let mut signs = ["₹", "Rs.", "Rs"].into_iter();
    let rest = signs.find_map(|sign| text.strip_prefix(sign));
    rest.map_or(text, str::trim_start)
}

/// Do two texts differ in nothing but spaces and dollar signs? Texts without a letter or digit never count as alike.
pub(super) fn written_alike(a: &str, b: &str) -> bool {
    // "3 4" is not "34".
    let signs = |text: &'_ str| {
        let mut signs = String::new();
        let mut blank = false;
        for sign in text.chars().filter(|it| *it != '$') {
            if blank && sign.is_ascii_digit() && signs.ends_with(|it: char| it.is_ascii_digit()) {
                signs.push(' ');
            }
            blank = sign.is_whitespace();
            if !blank {
                signs.push(sign);
            }
        }
        signs
    };
    a.chars().any(char::is_alphanumeric) && signs(a) == signs(b)
}

//! What the words of one side say against those of the other: a loss against a profit, dollars of two countries.

use super::qualifiers::has;
use super::words::{self, words_of};
use crate::lexicon::units::currency;

/// How many bytes of a statement are looked at.
const OPPOSED: usize = 400;

/// Whose dollars a text names: C of "C$24".
pub(crate) fn dollars(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(OPPOSED)];
    let at = near.find('$').filter(|at| {
        near[at + 1..]
            .trim_start()
            .starts_with(|it: char| it.is_ascii_digit())
    });
    let before = &near[..at.unwrap_or(0)];
    let whose = &before[before
        .trim_end_matches(|it: char| it.is_ascii_uppercase())
        .len()..];
    if whose == "US" { "" } else { whose }
}

/// The code of the currency that a text names: EUR of "EUR 2,400".
pub(crate) fn currency_code(text: &str) -> Option<&'static str> {
    let near = &text[..text.floor_char_boundary(OPPOSED)];
    let is_code = |it: &&str| it.len() == 3 && it.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut codes = words_of(near).filter(is_code).filter_map(currency);
    codes.next().map(|(code, _)| code)
}

/// Does a statement say that what `pred` counts holds what `gold` counts: "15 pairs of apples" for 15 apples?
pub(crate) fn holds(gold: &str, pred: &str, statement: &str) -> bool {
    let [inner, outer] = [gold, pred].map(words::last_word);
    inner.len() > 2 && outer.len() > 2 && statement.contains(&format!("{outer} of {inner}"))
}

/// Does one text say the opposite of the other: a loss and a profit, an increase and a decrease?
pub(crate) fn opposed<'t>(one: &'t str, other: &'t str) -> bool {
    // Most answers have no words.
    let words = |text: &'t str| -> Vec<&'t str> {
        let near = &text[..text.floor_char_boundary(OPPOSED)];
        words_of(near)
            .filter(|it| it.len() > 1 && it.starts_with(char::is_alphabetic))
            .collect()
    };
    let one = words(one);
    if one.is_empty() {
        return false;
    }
    let other = words(other);
    let has = |words: &[&str], stem: &str| {
        words.iter().any(|word| {
            word.get(..stem.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(stem))
                && (stem.len() > 4 || word.len() <= stem.len() + 1)
        })
    };
    let says = |words: &[&str], stem: &str, not: &str| has(words, stem) && !has(words, not);
    words::OPPOSITES.iter().any(|pair| {
        pair.split_once(' ').is_some_and(|(a, b)| {
            says(&one, a, b) && says(&other, b, a) || says(&one, b, a) && says(&other, a, b)
        })
    })
}

/// Does a text state its value as lost: "a decrease of 15%"?
pub(crate) fn falls(text: &str) -> bool {
    has(&text[..text.floor_char_boundary(OPPOSED)], &words::FALLS)
}

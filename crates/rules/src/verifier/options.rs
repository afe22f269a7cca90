//! Options of a choice, which are a letter and a text.

use super::Side;
use crate::answer::Answer;
use crate::compare::{self, Comparison, Options};
use crate::{extract, parse};

/// What the texts of options say, where a side names one and the other is something to compare it with.
pub(super) fn options_compared(gold: &Side, pred: &Side, options: &Options) -> Option<Comparison> {
    let parsed = |text: &String| parse::parse(text).ok();
    let is_choice = |side: &Side| matches!(side.answer, Ok(Answer::Choice(_)));
    let (a, b) = match (&gold.option, &pred.option) {
        (Some(a), Some(b)) => {
            if extract::bare(a) == extract::bare(b) {
                return Some(Comparison::equal("text"));
            }
            (parsed(a)?, parsed(b)?)
        }
        (Some(a), None) if !is_choice(pred) => (parsed(a)?, pred.answer.clone().ok()?),
        // The 2 of "(2) photosynthesis", which a number names.
        (None, Some(b))
            if matches!(gold.answer, Ok(Answer::Quantity(_)))
                && matches!(parsed(b), Some(Answer::Text(_))) =>
        {
            return None;
        }
        (None, Some(b)) if !is_choice(gold) => {
            if extract::bare(&gold.text) == extract::bare(b) {
                return Some(Comparison::equal("text"));
            }
            (gold.answer.clone().ok()?, parsed(b)?)
        }
        _ => return None,
    };
    Some(compare::compare(&a, &b, options))
}

/// Does the text of the option of `gold` stand in `pred` before words that change it?
pub(super) fn option_changed(gold: &Side, pred: &Side) -> bool {
    let text = gold.option.as_deref().map(extract::bare);
    let following = text.and_then(|it| pred.statement.split_once(it));
    following.is_some_and(|(_, after)| extract::change_option(after))
}

/// How many words the text of an option has at most, for its difference to count: more may be the reasons.
const SHORT: usize = 8;

/// The verdict of two letters, or of a letter against something else, with what the texts of their options say.
pub(super) fn with_texts(
    letters: Comparison,
    texts: Comparison,
    gold: &Side,
    pred: &Side,
) -> Comparison {
    let is_choice = |side: &Side| matches!(side.answer, Ok(Answer::Choice(_)));
    let short = |side: &Side| {
        let text = side.option.as_deref().unwrap_or("");
        text.split_whitespace().count() <= SHORT
    };
    let short = short(gold) && short(pred);
    if !(is_choice(gold) && is_choice(pred)) {
        // One side is the text of an option.
        return match texts.equal {
            Some(false) if letters.equal == Some(true) || !short => {
                Comparison::open("the letter and the text of an option")
            }
            _ => texts,
        };
    }
    match (letters.equal, texts.equal) {
        (Some(true), Some(false)) if short => {
            Comparison::open("one letter, and two texts that differ")
        }
        (Some(false), Some(true)) => Comparison::open("two letters, and one text"),
        _ => letters,
    }
}

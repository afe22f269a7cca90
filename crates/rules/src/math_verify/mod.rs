//! The verdicts of Math-Verify 0.9.0, quirks included.
//!
//! An emulation, not an opinion: where it is wrong this is wrong too, except for the deviations listed in `docs/rules/math-verify.md`.
//!
//! | part | what it does |
//! |---|---|
//! | `chars` | characters as Python classes them |
//! | `find` | the matches of every pattern, by priority |
//! | `normalize` | formulas as they are rewritten before they are parsed |
//! | [`value`] | parsing and comparison |
//! | `parse` | the first match that has a value, and the text of the first one |
//!
//! Where some of its quirks are:
//!
//! | quirk | files |
//! |---|---|
//! | `28\%` equals 28 and 0.28 | found by `find/number`, `find/formulas`; the words by `normalize/basic`; compared in `value/equal_terms` |
//! | units are dropped unread | `normalize/units` |
//! | decimals are rounded | `value/equal_terms` |
//! | `x = 5` may stand for 5 | `value/judge`, `value/relations` |
//! | sets, intervals, lists | `value/sets`, `value/regions`, `value/collections` |

mod chars;
mod find;
mod normalize;
mod parse;
pub(crate) mod value;

use crate::algebra::work;
use crate::config::Config;
use crate::extract;
use crate::verification::{Reading, Status, Verification};
use crate::verifier::too_long;
use parse::{Extracted, Parsed, parse};
use value::Judgement;

/// The version whose verdicts these are.
pub const EMULATES: &str = "math-verify 0.9.0";

/// What Math-Verify 0.9.0 says of a pair.
///
/// `equal` is its verdict, also where it could not read a side (then it says `false`, and `status` tells why); it is
/// `None` only where Math-Verify would run out of time.
///
/// The settings of a side say how its answer is found; those of `pred` also how answers are compared.
pub(crate) fn verify(gold: (&str, &Config), pred: (&str, &Config)) -> Verification {
    // What no model writes is bounded, not searched: it takes Math-Verify a second.
    if gold.0.len().max(pred.0.len()) > extract::LONGEST {
        return too_long();
    }
    work::limited(gold.0.len() + pred.0.len(), || within_limit(gold, pred))
}

/// What Math-Verify 0.9.0 reads in a text.
pub(crate) fn read(text: &str, config: &Config) -> Vec<Reading> {
    work::limited(text.len(), || parse(text, config).readings())
}

fn within_limit(gold: (&str, &Config), (pred, config): (&str, &Config)) -> Verification {
    let gold = parse(gold.0, gold.1);
    let pred = parse(pred, config);
    let (mut judgement, mut reason) = decide(&gold, &pred, config);
    if work::is_spent() && judgement.equal == Some(false) {
        // What was not read or not compared for want of steps is not different.
        (judgement, reason) = (Judgement::too_complex(), TOO_LONG);
    }
    Verification {
        equal: judgement.equal,
        status: judgement.status,
        method: judgement.method,
        gold: gold.list(),
        pred: pred.list(),
        reason: reason.to_owned(),
    }
}

const TOO_LONG: &str = "The comparison would take too long.";

/// Any pair of values or strings that match makes the answers equal.
fn decide(gold: &Parsed, pred: &Parsed, config: &Config) -> (Judgement, &'static str) {
    let strings_match = gold
        .strings()
        .any(|gold| pred.strings().any(|pred| same_string(gold, pred)));
    if strings_match {
        let same = Judgement::decided(true, "string");
        return (same, "The answers are the same text.");
    }
    let unread = |status| Judgement {
        equal: Some(false),
        status,
        method: "none",
    };
    match (&gold.value, &pred.value) {
        (None, _) => (
            unread(Status::UnparsedGold),
            "The gold answer could not be read, and the texts differ.",
        ),
        (Some(_), None) if pred.fallback.is_none() => (
            unread(Status::NoAnswer),
            "No answer was found in the prediction.",
        ),
        (Some(_), None) => (
            unread(Status::UnparsedPred),
            "The prediction's answer could not be read, and the texts differ.",
        ),
        (Some(Extracted::Value(gold)), Some(Extracted::Value(pred))) => {
            let judgement = value::equal(gold, pred, config);
            let reason = match judgement.equal {
                Some(true) => "The values are equal.",
                Some(false) => "The values differ.",
                None => TOO_LONG,
            };
            (judgement, reason)
        }
        _ => (
            Judgement::decided(false, "string"),
            "The answers are different texts.",
        ),
    }
}

/// Equal without the white space around them, and not empty.
fn same_string(gold: &str, pred: &str) -> bool {
    let gold = chars::strip(gold);
    !gold.is_empty() && gold == chars::strip(pred)
}

#[cfg(test)]
mod tests;

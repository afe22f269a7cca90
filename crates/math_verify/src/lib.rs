//! The verdicts of Math-Verify 0.9.0, quirks included.
//!
//! An emulation, not an opinion: where Math-Verify is wrong this is wrong too, but for the deviations that `docs/rules/math-verify.md` of the
//! repository lists. It is frozen at that version.
//!
//! | part | what it does |
//! |---|---|
//! | `chars` | characters as Python classes them |
//! | `find` | the matches of every pattern, by priority |
//! | `normalize` | formulas as they are rewritten before they are parsed |
//! | `value` | parsing and comparison |
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
mod options;
mod parse;
mod value;
mod verdict;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use juror_algebra::work;

pub use options::{ExtractionMode, ExtractionTarget, FallbackMode, Normalization, Options};
pub use verdict::{Reading, Status, Verdict, shortened};

use parse::{Extracted, Parsed, parse};
use value::Judgement;

/// The version whose verdicts these are.
pub const EMULATES: &str = "math-verify 0.9.0";

/// What no model writes is bounded, not searched: it takes Math-Verify a second.
const LONGEST: usize = 1_500_000;

/// What Math-Verify 0.9.0 says of a pair: `math_verify.verify(parse(gold), parse(pred))`.
///
/// There is no error: what cannot be read is a [`Verdict`] whose `status` says so. Every pair ends within a budget of work
/// that is fixed but for a part in proportion to its length; texts of more than 1.5 MB are not read.
///
/// The settings of a side say how its answer is found; those of `pred` also how answers are compared.
///
/// ```
/// use juror_math_verify::{Options, verify};
///
/// let options = Options::default();
/// let of = |gold, pred| verify((gold, &options), (pred, &options)).equal;
/// assert_eq!(of(r"$\frac{1}{2}$", "So it is 0.5."), Some(true));
/// assert_eq!(of(r"$28\%$", "28"), Some(true));
/// ```
pub fn verify(gold: (&str, &Options), pred: (&str, &Options)) -> Verdict {
    if gold.0.len().max(pred.0.len()) > LONGEST {
        let (gold, pred) = (Parsed::default(), Parsed::default());
        return verdict((Judgement::open("none"), TOO_LONG_TEXTS), &gold, &pred);
    }
    work::limited(gold.0.len() + pred.0.len(), || within_limit(gold, pred))
}

/// What Math-Verify 0.9.0 reads in a text: `math_verify.parse(text)`.
///
/// ```
/// use juror_math_verify::{Options, Reading, read};
///
/// let read = read(r"So it is $\frac{1}{2}$.", &Options::default());
/// assert_eq!(read, [Reading::Value("1/2".into()), Reading::Text(r"\frac{1}{2}".into())]);
/// ```
pub fn read(text: &str, options: &Options) -> Vec<Reading> {
    work::limited(text.len(), || parse(text, options).readings())
}

fn within_limit(gold: (&str, &Options), (pred, options): (&str, &Options)) -> Verdict {
    let gold = parse(gold.0, gold.1);
    let pred = parse(pred, options);
    let mut found = decide(&gold, &pred, options);
    if work::is_spent() && found.0.equal == Some(false) {
        // What was not read or not compared for want of steps is not different.
        found = (Judgement::too_complex(), TOO_LONG);
    }
    verdict(found, &gold, &pred)
}

fn verdict((found, reason): (Judgement, &'static str), gold: &Parsed, pred: &Parsed) -> Verdict {
    Verdict {
        equal: found.equal,
        status: found.status,
        method: found.method,
        gold: gold.readings(),
        pred: pred.readings(),
        reason,
    }
}

const TOO_LONG_TEXTS: &str = "Of more than 1,500,000 bytes nothing is read.";
const TOO_LONG: &str = "The comparison would take too long.";

/// Any pair of values or strings that match makes the answers equal.
fn decide(gold: &Parsed, pred: &Parsed, options: &Options) -> (Judgement, &'static str) {
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
            let judgement = value::equal(gold, pred, options);
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

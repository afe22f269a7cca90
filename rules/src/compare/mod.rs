//! Decides whether two answers are equal.
//!
//! | file | what it decides |
//! |---|---|
//! | `value` | two expressions, either of which may be a rounded decimal |
//! | `quantity` | units, currencies, percent signs, degrees |
//! | `words`, `letters` | text; choice letters, yes and no |
//! | `clock` | times of day, ratios |
//! | `collection`, `matching`, `system` | sets, lists, tuples; values under several names |
//! | `matrix` | matrices and vectors |
//! | `naming` | what `x = 5` states: a name and a value |
//! | `relation`, `equation`, `inequality` | statements against statements |
//! | `solve`, `roots`, `real_set` | statements and intervals as sets of real numbers |
//! | `parameter` | families such as `kπ, k ∈ ℤ` |
//! | `rename` | another choice of letters, where letters do not matter |
//!
//! # Methods
//!
//! [`Comparison::method`] names the argument that settled a pair. The names are stable:
//!
//! | name | argument |
//! |---|---|
//! | `structure` | written alike |
//! | `rational`, `infinity` | exact arithmetic |
//! | `identity` | equal as functions (from [`crate::algebra`]) |
//! | `enclosure` | told apart by rigorous bounds (from [`crate::algebra`]) |
//! | `numeric` | equal to hundreds of digits, without a proof |
//! | `rounding` | one is the correctly rounded decimal of the other |
//! | `units`, `currency`, `percent` | what stands beside the number |
//! | `proportional` | equations or inequalities that differ by a constant factor |
//! | `solutions` | solved, and the solutions compared |
//! | `points` | statements of which one holds and the other does not at some point |
//! | `names` | values given to different names |
//! | `interval` | sets of real numbers |
//! | `set`, `list`, `tuple`, `matrix`, `ratio`, `time`, `system`, `relation` | part by part |
//! | `choice`, `truth`, `text` | letters, yes or no, words |
//! | `kind` | kinds of answer that cannot mean the same |
//! | `none` | nothing settled it |

mod clock;
mod collection;
mod equation;
mod inequality;
mod letters;
mod matching;
mod matrix;
mod naming;
#[cfg(test)]
mod pairs;
mod parameter;
#[cfg(test)]
mod properties;
mod quantity;
mod real_set;
mod relation;
mod rename;
mod roots;
mod solve;
mod system;
mod terms;
#[cfg(test)]
mod tests;
mod value;
mod verdict;
mod words;

use crate::algebra::Budget;
use crate::algebra::work;
use crate::answer::Answer;
use crate::config::Config;
use crate::verification::Status;

/// How strictly answers are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// Decimal places from which on a rounded decimal stands for an exact number.
    pub float_rounding: u32,
    /// Do the names of variables matter, and is a tuple no set?
    pub strict: bool,
    /// May a relation in the prediction meet a set in the gold answer? Here it always may: what is true does not
    /// depend on the side it stands on. Kept for the profile that asks.
    pub allow_set_relation_comp: bool,
}

impl From<&Config> for Options {
    fn from(config: &Config) -> Self {
        Self {
            float_rounding: config.float_rounding,
            strict: config.strict,
            allow_set_relation_comp: config.allow_set_relation_comp,
        }
    }
}

/// What a comparison came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// `None`: cannot be told.
    pub equal: Option<bool>,
    /// [`Status::Decided`], [`Status::Numeric`] or [`Status::TooComplex`].
    pub status: Status,
    /// The argument that settled it, one of the names in the table of [this module](self).
    pub method: &'static str,
    /// One sentence for a person.
    pub reason: String,
}

/// Is `pred` the same answer as `gold`?
pub(crate) fn compare(gold: &Answer, pred: &Answer, options: &Options) -> Comparison {
    work::limited(0, || within_limit(gold, pred, options))
}

fn within_limit(gold: &Answer, pred: &Answer, options: &Options) -> Comparison {
    let mut context = Context {
        options,
        budget: Budget::default(),
        quiet: 0,
    };
    let mut comparison =
        parameter::compare(gold, pred, &mut context).unwrap_or_else(|| context.answers(gold, pred));
    if !options.strict
        && comparison.equal != Some(true)
        && let Some(renamed) = rename::compare(gold, pred, &mut context)
    {
        comparison = renamed;
    }
    // Nothing was decided where there is no verdict.
    if comparison.equal.is_none() {
        comparison.status = Status::TooComplex;
    }
    if comparison.reason.is_empty() {
        comparison.reason = verdict::sentence(&comparison);
    }
    comparison
}

/// What one comparison carries through all its parts.
struct Context<'o> {
    options: &'o Options,
    budget: Budget,
    /// Above zero while answers are only tried against each other, and nobody will read a reason.
    quiet: u32,
}

impl Context<'_> {
    /// Are two answers, or two parts of them, equal?
    fn answers(&mut self, gold: &Answer, pred: &Answer) -> Comparison {
        // Every pair costs a step, so that nested searches end.
        if self.budget.spend(1).is_err() {
            return verdict::too_complex();
        }
        match (gold, pred) {
            (Answer::Quantity(a), Answer::Quantity(b)) => quantity::compare(a, b, self),
            (Answer::Relation(a), Answer::Relation(b)) => relation::both(a, b, self),
            (Answer::Relation(a), other) => relation::against(a, other, false, self),
            (other, Answer::Relation(b)) => relation::against(b, other, true, self),
            (Answer::Choice(_), _) | (_, Answer::Choice(_)) => letters::choices(gold, pred, self),
            (Answer::Truth(_), _) | (_, Answer::Truth(_)) => letters::truths(gold, pred, self),
            (Answer::Text(_), _) | (_, Answer::Text(_)) => words::compare(gold, pred, self),
            (Answer::Time { .. } | Answer::Ratio(_), _)
            | (_, Answer::Time { .. } | Answer::Ratio(_)) => clock::compare(gold, pred, self),
            (Answer::Matrix(_), _) | (_, Answer::Matrix(_)) => matrix::compare(gold, pred, self),
            _ if is_region(gold) || is_region(pred) => real_set::compare(gold, pred, self),
            _ => collection::compare(gold, pred, self),
        }
    }

    /// The same with the sides swapped, where a function wants them in its own order.
    fn either_way(&mut self, a: &Answer, b: &Answer, swapped: bool) -> Comparison {
        if swapped {
            self.answers(b, a)
        } else {
            self.answers(a, b)
        }
    }

    /// Tries a pair without anyone reading why.
    fn quietly<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let result = run(self);
        self.quiet -= 1;
        result
    }

    /// A sentence, written only where someone reads it.
    fn say(&self, sentence: impl FnOnce() -> String) -> String {
        if self.quiet > 0 {
            String::new()
        } else {
            sentence()
        }
    }
}

/// Does an answer state a stretch of the real line?
fn is_region(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Interval(_) | Answer::Union(_) | Answer::Intersection(_) | Answer::Difference(_)
    )
}

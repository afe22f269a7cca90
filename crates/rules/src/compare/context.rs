//! What one comparison carries through all its parts.

use super::comparison::Comparison;
use super::words;
use crate::algebra::Budget;
use crate::answer::Answer;
use crate::config::Config;

/// Compares two answers of any kind; [`dispatch`](super::dispatch) has the only one.
pub(super) type Dispatch = fn(&Answer, &Answer, &mut Context<'_>) -> Comparison;

/// What one comparison carries through all its parts.
pub(super) struct Context<'o> {
    pub(super) config: &'o Config,
    pub(super) budget: Budget,
    /// Above zero while answers are only tried against each other, and nobody will read a reason.
    quiet: u32,
    /// Parts of an answer are answers again: the way back to the top, so that files depend on each other one way only.
    dispatch: Dispatch,
}

impl<'o> Context<'o> {
    pub(super) fn new(config: &'o Config, dispatch: Dispatch) -> Self {
        Self {
            config,
            budget: Budget::default(),
            quiet: 0,
            dispatch,
        }
    }

    /// Are two answers, or two parts of them, equal?
    pub(super) fn answers(&mut self, gold: &Answer, pred: &Answer) -> Comparison {
        // Every pair costs a step, so that nested searches end.
        if self.budget.spend(1).is_err() {
            return Comparison::too_complex();
        }
        (self.dispatch)(gold, pred, self)
    }

    /// Compares two answers, with the sides swapped where a function wants them in its own order.
    pub(super) fn either_way(&mut self, a: &Answer, b: &Answer, swapped: bool) -> Comparison {
        let (a, b) = in_order_of_sides(a, b, swapped);
        self.answers(a, b)
    }

    /// Tries a pair without anyone reading why.
    pub(super) fn quietly<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let result = run(self);
        self.quiet -= 1;
        result
    }

    /// A sentence, written only where someone reads it.
    pub(super) fn say(&self, sentence: impl FnOnce() -> String) -> String {
        if self.quiet > 0 {
            String::new()
        } else {
            sentence()
        }
    }

    /// Different by `method`, for a reason that is written only where someone reads it.
    pub(super) fn different(
        &self,
        method: &'static str,
        reason: impl FnOnce() -> String,
    ) -> Comparison {
        Comparison::different(method, self.say(reason))
    }
}

/// Two things, of which the first is the prediction's where they are `swapped`.
pub(super) fn in_order_of_sides<T>(a: T, b: T, swapped: bool) -> (T, T) {
    if swapped { (b, a) } else { (a, b) }
}

/// Two answers that are different since they are of different kinds.
pub(super) fn other_kind(gold: &Answer, pred: &Answer, context: &Context<'_>) -> Comparison {
    context.different("kind", || {
        format!("a {} is no {}", words::kind(gold), words::kind(pred))
    })
}

//! How much work a comparison may do.

use crate::work;

/// Steps that a comparison may still take: the same on every machine, unlike a clock. A step is about 100 ns of work.
/// What is spent of a budget counts for the whole verification too, whose limit ends every budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Steps left.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 200_000 }
    }
}

impl Budget {
    /// Takes `steps`, or all that is left where there are fewer: then the work has to stop.
    ///
    /// # Errors
    ///
    /// [`Failure::TooComplex`] where there were fewer.
    pub fn spend(&mut self, steps: u64) -> Result<(), Failure> {
        let taken = steps.min(self.steps);
        self.steps -= taken;
        if !work::afford(taken * work::STEP) {
            self.steps = 0;
            return Err(Failure::TooComplex);
        }
        if taken == steps {
            Ok(())
        } else {
            Err(Failure::TooComplex)
        }
    }

    /// Fails where nothing is left: copies are charged without being asked whether they can be paid for.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        self.spend(0)
    }

    /// Takes units of [`work`], a tenth of a step each.
    pub(super) fn spend_units(&mut self, units: u64) -> Result<(), Failure> {
        self.spend(units.div_ceil(work::STEP))
    }

    /// Runs a part of the work with at most so many steps.
    pub(super) fn within<T>(&mut self, steps: u64, run: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self {
            steps: steps.min(self.steps),
        };
        let granted = part.steps;
        let result = run(&mut part);
        self.steps -= granted - part.steps;
        result
    }
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// There is none: 1/0, ln 0, ….
    Undefined,
    /// This way of evaluating does not find it; another, or a higher precision, may.
    Unknown,
    /// The budget ran out.
    TooComplex,
}

/// A value, or why there is none.
pub(super) type Outcome<T> = Result<T, Failure>;

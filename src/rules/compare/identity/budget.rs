//! How much work a comparison may do.

/// Steps that a comparison may still take: the same on every machine, unlike a clock. A step is about 100 ns of work.
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
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Failure> {
        let enough = self.steps >= steps;
        self.steps = self.steps.saturating_sub(steps);
        if enough {
            Ok(())
        } else {
            Err(Failure::TooComplex)
        }
    }
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is none: 1/0, ln 0, ….
    Undefined,
    /// This way of evaluating does not find it; another, or a higher precision, may.
    Unknown,
    /// The budget ran out.
    TooComplex,
}

/// A value, or why there is none.
pub(super) type Outcome<T> = Result<T, Failure>;

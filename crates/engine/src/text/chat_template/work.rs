//! The budget of rendering a template: counted work, so that no template takes too long.
//!
//! Work is counted, not timed: a unit is a byte written or looked at, and every step of the interpreter and every value made
//! costs a few. All text and every list is paid for before it is made, so the units bound the memory too.

/// Units that any template may spend; published ones take a few hundred thousand for a conversation.
const ALLOWANCE: u64 = 64 << 20;

/// Further units for each byte that a template is given, its own text included.
const PER_BYTE: u64 = 64;

/// The cost of one step of the interpreter, in units.
pub(super) const STEP: usize = 16;

/// The cost of a value in a list or a dictionary, in units: more than the bytes it takes up.
pub(super) const ENTRY: usize = 64;

/// The deepest nesting of evaluations: brackets, blocks, macros that call themselves.
const MAX_DEPTH: usize = 1000;

/// The most characters of a name or a text in a message.
const MAX_SHOWN: usize = 80;

/// The error message of a template that failed.
pub(super) type Fault = String;

/// The beginning of a name or a text, for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// What is left of the allowance.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
    depth: usize,
}

impl Work {
    /// The allowance of a template that is given so many bytes.
    pub(super) fn for_bytes(given: usize) -> Self {
        let more = PER_BYTE.saturating_mul(given as u64);
        Self {
            left: ALLOWANCE.saturating_add(more),
            depth: 0,
        }
    }

    /// Pays for work that is about to be done.
    pub(super) fn spend(&mut self, units: usize) -> Result<(), Fault> {
        let Some(left) = self.left.checked_sub(units as u64) else {
            // From now on nothing can be paid for.
            self.left = 0;
            return Err(
                "it takes more work or memory than a chat template may: it loops too long, or a value grows too large"
                    .into(),
            );
        };
        self.left = left;
        Ok(())
    }

    /// Pays for `count` things of `each` units.
    pub(super) fn spend_each(&mut self, count: usize, each: usize) -> Result<(), Fault> {
        self.spend(count.saturating_mul(each))
    }

    /// Goes one level deeper into a template or a value; [`Self::leave`] comes back.
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        self.spend(STEP)?;
        if self.depth == MAX_DEPTH {
            return Err("it is nested too deeply, or a macro calls itself without end".into());
        }
        self.depth += 1;
        Ok(())
    }

    /// Leaves a level that [`Self::enter`] entered.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// A text whose growth is paid for.
#[derive(Debug)]
pub(super) struct Text<'w> {
    pub(super) work: &'w mut Work,
    written: String,
}

impl<'w> Text<'w> {
    pub(super) fn new(work: &'w mut Work) -> Self {
        Self {
            work,
            written: String::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), Fault> {
        // Growing doubles a string's capacity.
        self.work
            .spend(text.len().saturating_mul(2).saturating_add(4))?;
        self.written.push_str(text);
        Ok(())
    }

    pub(super) fn push_char(&mut self, character: char) -> Result<(), Fault> {
        self.push(character.encode_utf8(&mut [0; 4]))
    }

    pub(super) fn repeat(&mut self, text: &str, count: usize) -> Result<(), Fault> {
        self.work
            .spend(text.len().max(1).saturating_mul(count).saturating_mul(2))?;
        for _ in 0..count {
            self.written.push_str(text);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> String {
        self.written
    }
}

//! Guides steer a generation (guided decoding): they append known text, restrict which tokens may be chosen, and end it.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use super::sampler::Choices;
use juror_base::panics;

/// Steers a generation, token by token.
///
/// Each method is called once for each event, in order; after a preemption nothing is called again. As long as a guide
/// appends nothing, the engine may compute the next token, and if every token is allowed choose it, before it has told the guide
/// of the last one, so nothing may depend on when a method is called.
pub trait Guide: Send {
    fn begin(&mut self) -> Next {
        Next::FREE
    }

    /// Takes the newest token that was chosen, and says what follows it.
    fn push(&mut self, token: u32) -> Next;

    /// An end-of-sequence token was chosen. With `None` it ends the generation; otherwise it is left out, and the generation
    /// goes on: with appended tokens, or with a choice that allows no end of sequence.
    fn end(&mut self) -> Option<Next> {
        None
    }
}

/// Catches a guide's panic, which then ends its own generation instead of the engine's thread and with it every generation.
pub struct GuardedGuide {
    guide: Box<dyn Guide>,
    failure: Arc<OnceLock<String>>,
}

impl GuardedGuide {
    /// Wraps a guide; a panic ends the generation, and its message goes to `failure`.
    pub fn boxed(guide: Box<dyn Guide>, failure: Arc<OnceLock<String>>) -> Box<dyn Guide> {
        Box::new(Self { guide, failure })
    }

    fn ask<T>(&mut self, ask: impl FnOnce(&mut dyn Guide) -> T, otherwise: T) -> T {
        panics::guarded(|| ask(self.guide.as_mut())).unwrap_or_else(|why| {
            let why = format!("an error of juror itself ({why}); please report this sample");
            let _ = self.failure.set(why);
            otherwise
        })
    }
}

impl Guide for GuardedGuide {
    fn begin(&mut self) -> Next {
        self.ask(|guide| guide.begin(), Next::END)
    }

    fn push(&mut self, token: u32) -> Next {
        self.ask(|guide| guide.push(token), Next::END)
    }

    fn end(&mut self) -> Option<Next> {
        self.ask(|guide| guide.end(), None)
    }
}

#[derive(Debug, Clone)]
pub struct Next {
    /// Known tokens: they go through the model together, as those of a prompt do, and count among the completion's.
    pub append: Vec<u32>,
    pub then: Then,
}

impl Next {
    pub const FREE: Self = Self {
        append: Vec::new(),
        then: Then::Free,
    };

    pub const END: Self = Self {
        append: Vec::new(),
        then: Then::End,
    };

    /// Whether it appends nothing and leaves the choice free.
    pub(super) fn is_free(&self) -> bool {
        self.append.is_empty() && matches!(self.then, Then::Free)
    }
}

#[derive(Debug, Clone)]
pub enum Then {
    Free,
    /// The model chooses one of these tokens.
    OneOf {
        tokens: Arc<Allowed>,
        /// What to record of the choice, instead of what the request says.
        choices: Option<Arc<Choices>>,
    },
    End,
}

/// Tokens that may be chosen, known already or found while the model computes: they are needed only once it has.
pub struct Allowed(LazyLock<TokenSet, Box<dyn FnOnce() -> TokenSet + Send>>);

impl Allowed {
    /// The set that `find` returns. It runs once, on the thread that asks first, and must not panic.
    pub(crate) fn later(find: impl FnOnce() -> TokenSet + Send + 'static) -> Self {
        Self(LazyLock::new(Box::new(find)))
    }

    /// The tokens; waits until they are found.
    pub fn tokens(&self) -> &TokenSet {
        &self.0
    }
}

impl From<TokenSet> for Allowed {
    fn from(tokens: TokenSet) -> Self {
        Self::later(|| tokens)
    }
}

impl fmt::Debug for Allowed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A set of token ids, one bit each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenSet {
    words: Vec<u32>,
}

impl TokenSet {
    /// The set of these bits, 32 a word: the lowest bit of the first word is token 0. Tokens past the last word are not in the set.
    pub(crate) fn from_words(words: Vec<u32>) -> Self {
        Self { words }
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    pub fn contains(&self, token: u32) -> bool {
        let word = self.words.get(token as usize / 32);
        word.is_some_and(|word| word >> (token % 32) & 1 == 1)
    }

    /// Its tokens, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let words = self.words.iter().enumerate().filter(|(_, word)| **word > 0);
        words.flat_map(|(at, &word)| {
            let bits = (0..32).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at as u32 * 32 + bit)
        })
    }
}

impl FromIterator<u32> for TokenSet {
    fn from_iter<I: IntoIterator<Item = u32>>(tokens: I) -> Self {
        let mut set = Self::default();
        for token in tokens {
            let word = token as usize / 32;
            if set.words.len() <= word {
                set.words.resize(word + 1, 0);
            }
            set.words[word] |= 1 << (token % 32);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_holds_its_tokens_alone(tokens in prop::collection::btree_set(0..300u32, 0..40)) {
            let set: TokenSet = tokens.iter().copied().collect();
            prop_assert!(set.iter().eq(tokens.iter().copied()));
            prop_assert!((0..400).all(|token| set.contains(token) == tokens.contains(&token)));
        }
    }
}

//! Speculative decoding with drafts from the prompt (prompt lookup decoding).
//!
//! Judges quote what they judge. So what last followed a sequence's newest tokens, in its prompt or in its text, is put through the
//! model after them as draft tokens: a step then chooses a token at each of these places, and as many of them count as the
//! drafts before them are the tokens that were chosen. A choice depends on logits, key and position alone, so tokens and
//! log-probabilities are those of an engine without drafts; only steps are saved.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use super::scheduler::StepSize;

/// How many tokens are drafted in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Drafts {
    /// Up to three for each sequence, where the engine's own step times say that they pay.
    #[default]
    Auto,
    Off,
    /// Up to so many for each sequence, whether they pay or not.
    Most(usize),
}

/// The most drafts for a sequence that a user may ask for: a draft lies in a block that the sequence has.
const MOST: usize = 15;

/// The most drafts for a sequence where the engine decides.
const DEPTH: usize = 3;

impl FromStr for Drafts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Self::Auto),
            ("off", _) | (_, Ok(0)) => Ok(Self::Off),
            (_, Ok(most @ 1..=MOST)) => Ok(Self::Most(most)),
            _ => Err(format!("auto, off, or a number up to {MOST}")),
        }
    }
}

/// The most drafts of a sequence after two tokens that occurred before, and after three.
pub(super) type Depth = [usize; 2];

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) tokens: Vec<u32>,
    /// Whether three tokens occurred before, not only two.
    pub(super) by_three: bool,
}

/// Where pairs and triples of tokens last occurred in a sequence: some 50 bytes a token, where keys and values of a token take kilobytes.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// The index of the token after each.
    after_two: HashMap<[u32; 2], u32>,
    after_three: HashMap<[u32; 3], u32>,
    /// So many tokens were known when it was last asked.
    known: usize,
}

impl Lookup {
    /// What followed the last earlier occurrence of the last three tokens, else of the last two: as many tokens as `depth` says, `room` at most.
    pub(super) fn draft(&mut self, tokens: &[u32], depth: Depth, room: usize) -> Draft {
        // The last tokens themselves are left out: nothing follows them yet.
        for next in self.known.max(2)..tokens.len() {
            self.after_two
                .insert([tokens[next - 2], tokens[next - 1]], next as u32);
            if let Some(&[a, b, c]) = tokens[..next].last_chunk() {
                self.after_three.insert([a, b, c], next as u32);
            }
        }
        self.known = tokens.len();
        let three = tokens
            .last_chunk()
            .and_then(|last| self.after_three.get(last));
        let two = || {
            tokens
                .last_chunk()
                .and_then(|last| self.after_two.get(last))
        };
        let mut draft = Draft {
            tokens: Vec::new(),
            by_three: three.is_some(),
        };
        if let Some(&start) = three.or_else(two) {
            for at in start as usize..start as usize + room.min(depth[usize::from(draft.by_three)])
            {
                // A repetition that has just begun goes on in the draft.
                let token = tokens
                    .get(at)
                    .or_else(|| draft.tokens.get(at - tokens.len()));
                draft.tokens.extend(token.copied());
            }
        }
        draft
    }
}

/// Decides how many tokens are drafted.
///
/// The rule is that of `SmartSpec` (Liu et al., *Optimizing Speculative Decoding for Serving Large Language Models Using Goodput*,
/// 2024): draft as far as the tokens that a second yields become more. Both sides are measured here. A drafted token costs what a
/// step with drafts takes longer than one without, divided by its drafts; an accepted one saves what a step without drafts takes
/// for each of its rows. The first by the second is the price, and the `n`-th draft pays if its share of accepted ones is more.
/// Prices are kept apart by the binary logarithm of the rows, shares by the tokens that occurred before, two or three.
#[derive(Debug)]
pub(super) struct Drafting {
    setting: Drafts,
    prices: HashMap<u32, Price>,
    accepted: [[Recent; DEPTH]; 2],
}

/// What drafts cost in steps of about the same number of rows.
#[derive(Debug, Default)]
struct Price {
    steps: u64,
    /// Seconds of steps without drafts, of rows.
    plain: Recent,
    /// Seconds that steps with drafts took longer, of drafted tokens.
    drafted: Recent,
}

/// So many steps without drafts, and then with them, are measured before anything is decided.
const FIRST: u64 = 4;
/// Of so many steps one goes without drafts, so that its time remains known.
const PLAIN_EVERY: u64 = 32;
/// Of so many steps one has all drafts, so that their price and their shares remain known.
const TRIED_EVERY: u64 = 64;

impl Drafting {
    pub(super) fn new(setting: Drafts) -> Self {
        Self {
            setting,
            prices: HashMap::new(),
            accepted: Default::default(),
        }
    }

    /// How far to draft in a step of `rows` generating sequences.
    pub(super) fn depth(&mut self, rows: usize) -> Depth {
        match self.setting {
            Drafts::Off => [0; 2],
            Drafts::Most(most) => [most; 2],
            Drafts::Auto => {
                let price = self.prices.entry(rows.max(1).ilog2()).or_default();
                let step = price.steps;
                price.steps += 1;
                if step < FIRST || step.is_multiple_of(PLAIN_EVERY) {
                    return [0; 2];
                }
                if step < 2 * FIRST || step % TRIED_EVERY == 1 {
                    return [DEPTH; 2];
                }
                let price = price.drafted.average(0.0).max(0.0) / price.plain.average(1.0);
                self.accepted.each_ref().map(|shares| {
                    shares
                        .iter()
                        .take_while(|share| share.average(1.0) > price)
                        .count()
                })
            }
        }
    }

    /// Drafts nothing any more: there is too little memory.
    pub(super) fn give_up(&mut self) {
        self.setting = Drafts::Off;
    }

    pub(super) fn measured(&mut self, size: StepSize, model: Duration) {
        if self.setting != Drafts::Auto || size.prefill_tokens > 0 {
            return;
        }
        let price = self.prices.entry(size.rows.max(1).ilog2()).or_default();
        let (seconds, rows) = (model.as_secs_f64(), size.rows as f64);
        if size.drafted_tokens == 0 {
            price.plain.add(seconds, rows, 0.9);
        } else {
            let (row, drafted) = (price.plain.average(0.0), size.drafted_tokens as f64);
            // More than two rows of its own, either way, is no draft's doing, but that of other programs.
            let most = 2.0 * row * drafted;
            let longer = (seconds - row * rows).clamp(-most, most);
            price.drafted.add(longer, drafted, 0.9);
        }
    }

    /// Takes in how many tokens of a draft were accepted.
    pub(super) fn accepted(&mut self, draft: &Draft, accepted: usize) {
        let shares = &mut self.accepted[usize::from(draft.by_three)];
        for (place, share) in shares.iter_mut().enumerate().take(draft.tokens.len()) {
            share.add(f64::from(u8::from(place < accepted)), 1.0, 0.99);
        }
    }
}

/// An average in which older parts count less and less.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    sum: f64,
    count: f64,
}

impl Recent {
    fn add(&mut self, sum: f64, count: f64, keep: f64) {
        self.sum = self.sum * keep + sum;
        self.count = self.count * keep + count;
    }

    fn average(&self, unknown: f64) -> f64 {
        if self.count > 0.0 {
            self.sum / self.count
        } else {
            unknown
        }
    }
}

#[cfg(test)]
mod tests;

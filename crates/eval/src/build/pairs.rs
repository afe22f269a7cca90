//! Preference pairs of responses to one question: one that the judge finds right, and one that it finds wrong.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{AT_ONCE, Judged, Tally, drawn};
use crate::{EvalError, Result};
use juror_data::Samples as _;

/// How the better of two responses is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By the majority of trials: one response is judged right and the other wrong.
    Overall,
    Reward,
}

#[derive(Debug, Clone, Copy)]
pub struct WantedPairs {
    /// How the better response is decided.
    pub by: By,
    /// The most pairs of one question.
    pub per_question: usize,
    /// The smallest difference of the rewards.
    pub min_margin: f64,
    /// Whether rejected responses that are lucky guesses are taken before others.
    pub lucky_first: bool,
    /// The seed that decides among equally good responses.
    pub seed: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Pairs {
    /// The indices of each pair, the chosen one first.
    #[serde(skip)]
    pub places: Vec<[u32; 2]>,
    /// Questions whose responses have readable verdicts.
    pub questions: usize,
    /// Of these, questions with a single response.
    pub one_response: usize,
    /// Of the others, questions without two responses that make a pair.
    pub without_pair: usize,
    /// Responses that are left out because their text is judged right once and wrong once.
    pub on_both_sides: usize,
    /// Pairs whose rejected response is a lucky guess: a right final answer from a flawed derivation.
    pub lucky_guesses: usize,
}

impl Pairs {
    /// The pairs of all questions.
    /// Errors: if the majority decides and no verdict judges the whole; when a row cannot be read again.
    pub fn new(judged: &Judged, wanted: WantedPairs) -> Result<Self> {
        if wanted.by == By::Overall && judged.tallies.iter().all(|tally| tally.c().is_none()) {
            return Err(EvalError::Unusable(
                "no verdict says whether a response is right: pairs by the reward are made with --by reward".into(),
            ));
        }
        let mut pairs = Self::default();
        for group in judged.groups().iter() {
            pairs.questions += 1;
            if group.len() < 2 {
                pairs.one_response += 1;
                continue;
            }
            let before = pairs.places.len();
            pairs.add_group(judged, &group, wanted)?;
            pairs.without_pair += usize::from(pairs.places.len() == before);
        }
        Ok(pairs)
    }

    fn add_group(&mut self, judged: &Judged, group: &[u32], wanted: WantedPairs) -> Result<()> {
        let mut responses: Vec<Response> = group
            .iter()
            .filter_map(|&place| Response::new(judged, place, wanted.seed))
            .collect();
        if wanted.by == By::Overall {
            responses.retain(|response| response.overall.is_some());
        }
        let Some(first) = responses.first() else {
            return Ok(());
        };
        let differs = match wanted.by {
            By::Overall => responses.iter().any(|one| one.overall != first.overall),
            By::Reward => responses
                .iter()
                .any(|one| one.score.total_cmp(&first.score).is_ne()),
        };
        if !differs {
            return Ok(());
        }
        let texts = texts(judged, &responses)?;
        if wanted.by == By::Overall {
            let of = |right: bool| -> HashSet<&blake3::Hash> {
                let side = responses.iter().filter(|one| one.overall == Some(right));
                side.filter_map(|one| texts.get(&one.place)).collect()
            };
            let (right, wrong) = (of(true), of(false));
            let before = responses.len();
            responses.retain(|one| {
                let text = texts.get(&one.place);
                text.is_some_and(|text| !(right.contains(text) && wrong.contains(text)))
            });
            self.on_both_sides += before - responses.len();
        }
        let is = |right: bool| {
            move |response: &&Response| wanted.by == By::Reward || response.overall == Some(right)
        };
        let mut chosen: Vec<Response> = responses.iter().filter(is(true)).copied().collect();
        chosen.sort_by(Response::compare);
        let mut rejected: Vec<Response> = responses.iter().filter(is(false)).copied().collect();
        rejected.sort_by(|a, b| b.compare(a));
        let (first, others): (Vec<Response>, Vec<Response>) = rejected
            .into_iter()
            .partition(|response| wanted.lucky_first && response.lucky);
        // The rejected responses whose reward is low enough; these are at the beginning of each list.
        let below = |list: &[Response], chosen: &Response| {
            list.partition_point(|rejected| {
                let margin = chosen.score - rejected.score;
                margin >= wanted.min_margin && (margin > 0.0 || wanted.by == By::Overall)
            })
        };
        let fits = |chosen: &Response| (below(&first, chosen), below(&others, chosen));
        let fitting: Vec<(usize, usize)> = chosen.iter().map(fits).collect();
        let rounds = fitting.iter().map(|(first, others)| first + others);
        let rounds = rounds.max().unwrap_or(0);
        let mut left = wanted.per_question;
        // In each round every chosen response gets one more rejected one; not its neighbour's, if there are several.
        for round in 0..rounds {
            for (at, (one, &(of_first, of_others))) in chosen.iter().zip(&fitting).enumerate() {
                let other = if round < of_first {
                    &first[(at + round) % of_first]
                } else if round < of_first + of_others {
                    &others[(at + round - of_first) % of_others]
                } else {
                    continue;
                };
                // With rewards, the same text may have two.
                if texts.get(&one.place) == texts.get(&other.place) {
                    continue;
                }
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                self.places.push([one.place, other.place]);
                self.lucky_guesses += usize::from(other.lucky);
            }
        }
        Ok(())
    }
}

/// Hashes of the texts of responses, by place.
fn texts(judged: &Judged, responses: &[Response]) -> Result<HashMap<u32, blake3::Hash>> {
    let mut texts = HashMap::with_capacity(responses.len());
    for some in responses.chunks(AT_ONCE) {
        let places: Vec<usize> = some.iter().map(|one| one.place as usize).collect();
        let samples = judged.rows.fetch(&places)?;
        for (one, sample) in some.iter().zip(samples) {
            let text = sample.student_answer.trim();
            texts.insert(one.place, blake3::hash(text.as_bytes()));
        }
    }
    Ok(texts)
}

#[derive(Debug, Clone, Copy)]
struct Response {
    place: u32,
    overall: Option<bool>,
    score: f64,
    confidence: f64,
    lucky: bool,
    drawn: u64,
}

impl Response {
    fn new(judged: &Judged, place: u32, seed: u64) -> Option<Self> {
        let tally: &Tally = judged.tallies.get(place as usize)?;
        Some(Self {
            place,
            overall: tally.overall.majority(),
            score: judged.score(place).filter(|score| score.is_finite())?,
            confidence: tally.confidence(),
            lucky: tally.is_lucky_guess(),
            drawn: drawn(seed, judged.rows.outline(place as usize).id),
        })
    }

    /// The order from the best response to the worst.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = other.score.total_cmp(&self.score);
        let by_confidence = other.confidence.total_cmp(&self.confidence);
        by_score
            .then(by_confidence)
            .then(self.drawn.cmp(&other.drawn))
            .then(self.place.cmp(&other.place))
    }
}

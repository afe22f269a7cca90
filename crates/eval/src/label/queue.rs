//! Which samples are to be labelled, and in which order.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::browse::{Browser, Progress, sureness};
use crate::eval::{IDS_TOLD, LabelColumns, Task, both_sides};
use crate::{EvalError, Result};
use juror_data::verdict::Status;
use juror_data::{ColumnMap, LoadOptions, Needs, Places, Rows, Samples as _, index_each};

/// Which samples are asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueChoice {
    /// All, in the order of the rows.
    All,
    /// A number of samples, drawn with a seed.
    Drawn(usize, u64),
    /// Right results that a judge refuses for their derivation first, which are its errors as often as lucky guesses; then those on which
    /// verdicts disagree or say nothing, and those of which a judge is less sure than this, least sure first.
    Doubtful(f64),
    /// Samples with these ids, in the order of the rows.
    Of(Vec<String>),
}

/// Why a sample is doubtful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reasons {
    /// A judge finds the result right and refuses the derivation.
    pub(crate) refused: bool,
    /// The rules say otherwise than the judge.
    pub(crate) rules: bool,
    pub(crate) judges: bool,
    pub(crate) trials: bool,
    /// A judge gave no verdict.
    pub(crate) no_verdict: bool,
    /// A judge was not sure.
    pub(crate) unsure: bool,
}

impl Reasons {
    pub fn words(self) -> Vec<&'static str> {
        let all = [
            (self.refused, "right result, derivation refused"),
            (self.rules, "rules against judge"),
            (self.judges, "judge against judge"),
            (self.trials, "trials disagree"),
            (self.no_verdict, "no verdict"),
            (self.unsure, "unsure"),
        ];
        all.into_iter()
            .filter_map(|(holds, words)| holds.then_some(words))
            .collect()
    }
}

/// The samples to be labelled, the rows that they are in, and the verdicts on them.
pub struct Queue {
    pub(super) rows: Rows,
    /// Positions in the rows, in the order in which the samples are shown.
    pub(super) positions: Vec<usize>,
    /// Why each sample is in the queue, if it is there for a disagreement.
    pub(super) reasons: HashMap<usize, Reasons>,
    pub(super) judges: Vec<Browser>,
}

/// The verdicts on a sample so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    reasons: Reasons,
    /// By task: whether some earlier judge said that it is wrong, and whether some said that it is right.
    said: [[bool; 2]; 3],
    /// By task: what the current judge said.
    own: [[bool; 2]; 3],
    /// The lowest sureness of any judge; `None` if none is known.
    sure: Option<f64>,
}

impl Queue {
    /// Reads rows and verdicts, and chooses samples. `None` if it was interrupted.
    /// Errors: when a file cannot be read, or all verdicts are on other samples.
    pub fn read(
        rows: &[PathBuf],
        columns: &ColumnMap,
        verdicts: &[PathBuf],
        choice: &QueueChoice,
        interrupted: &AtomicBool,
    ) -> Result<Option<Self>> {
        let options = LoadOptions {
            columns: columns.clone().with_needs(Needs::nothing()),
            ..LoadOptions::default()
        };
        let mut places = Places::default();
        let (mut count, mut has_texts) = (0_u32, false);
        let rows = index_each(rows, &options, &mut |sample, _| {
            has_texts |= !(sample.question.is_empty() && sample.student_answer.is_empty());
            places.add(&sample.id, sample.group.as_deref(), count);
            count += 1;
        })?
        .samples;
        if !has_texts {
            let why = "no row has a question or a response under the names that are looked for: give the rows that were judged, with the same \
                       `--columns`, as in `--columns question=KEY,response=KEY`";
            return Err(EvalError::Unusable(why.to_owned()));
        }
        let below = match choice {
            QueueChoice::Doubtful(below) => *below,
            _ => 0.0,
        };
        let mut seen: HashMap<usize, Seen> = HashMap::new();
        let mut judges = Vec::with_capacity(verdicts.len());
        for path in verdicts {
            let none = LabelColumns::default();
            let (browser, mut progress) = Browser::open(path, &[], &[], columns.clone(), none)?;
            if !read_all(&browser, &mut progress, interrupted)? {
                return Ok(None);
            }
            if !look_at(&browser, &places, below, &mut seen) {
                let first: Vec<usize> = (0..rows.count().min(IDS_TOLD)).collect();
                let own = rows.fetch(&first)?;
                let own = own.iter().map(|sample| sample.id.as_str());
                return Err(EvalError::Unusable(format!(
                    "none of the verdicts in {} is on a row: rows and verdicts meet by id, so give the rows that were judged, with the \
                     same `--columns` ({})",
                    path.display(),
                    both_sides(browser.index().samples.first_ids(), own)
                )));
            }
            judges.push(browser);
        }
        let positions = match choice {
            QueueChoice::All => (0..rows.count()).collect(),
            QueueChoice::Drawn(count, seed) => drawn(&rows, *count, *seed),
            QueueChoice::Of(ids) => {
                let found = ids.iter().filter_map(|id| places.get(id));
                let mut found: Vec<usize> = found.map(|at| at as usize).collect();
                found.sort_unstable();
                found
            }
            QueueChoice::Doubtful(_) => {
                let doubtful = seen
                    .iter()
                    .filter(|(_, seen)| seen.reasons != Reasons::default());
                let mut found: Vec<(bool, u64, usize)> = doubtful
                    .map(|(position, seen)| {
                        let sure = seen.sure.map_or(u64::MAX, f64::to_bits);
                        (!seen.reasons.refused, sure, *position)
                    })
                    .collect();
                found.sort_unstable();
                found.into_iter().map(|(.., position)| position).collect()
            }
        };
        let reasons = seen
            .into_iter()
            .map(|(position, seen)| (position, seen.reasons));
        Ok(Some(Self {
            reasons: reasons.collect(),
            rows,
            positions,
            judges,
        }))
    }

    pub fn count(&self) -> usize {
        self.positions.len()
    }
}

/// Reads all verdicts in the file; `false` if it was interrupted.
fn read_all(browser: &Browser, progress: &mut Progress, interrupted: &AtomicBool) -> Result<bool> {
    while !browser.has_caught_up() {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(false);
        }
        browser.advance(progress)?;
    }
    // The part after the last newline may be a whole verdict.
    browser.advance(progress)?;
    Ok(true)
}

/// Records what a judge's verdicts say of each sample; `false` if none is on a row.
fn look_at(
    browser: &Browser,
    places: &Places,
    below: f64,
    seen: &mut HashMap<usize, Seen>,
) -> bool {
    let index = browser.index();
    let mut touched = Vec::new();
    for scored in &index.scored {
        let Some(position) = places.get(index.samples.id(scored.sample)) else {
            continue;
        };
        let position = position as usize;
        touched.push(position);
        let one = seen.entry(position).or_default();
        for (task, own) in Task::ALL.into_iter().zip(&mut one.own) {
            if let Some(said) = task.prediction(scored) {
                own[usize::from(said)] = true;
            }
        }
        let sure = sureness(scored);
        if let Some(sure) = sure {
            one.sure = Some(one.sure.map_or(sure, |before| before.min(sure)));
        }
        one.reasons.refused |= scored.outcome == Some(true) && scored.process == Some(false);
        let rules = scored.outcome.zip(scored.rules);
        one.reasons.rules |= rules.is_some_and(|(said, rules)| said != rules);
        one.reasons.trials |= index.trials_disagree(scored.sample);
        one.reasons.no_verdict |= scored.status != Status::Ok;
        one.reasons.unsure |= sure.is_some_and(|sure| sure < below);
    }
    let any = !touched.is_empty();
    for position in touched {
        let one = seen.entry(position).or_default();
        let own = std::mem::take(&mut one.own);
        for (own, said) in own.into_iter().zip(&mut one.said) {
            one.reasons.judges |= (own[0] && said[1]) || (own[1] && said[0]);
            *said = [said[0] || own[0], said[1] || own[1]];
        }
    }
    any
}

/// A number of positions, drawn with a seed. Rows added at the end only take the places of some of them.
fn drawn(rows: &Rows, count: usize, seed: u64) -> Vec<usize> {
    let key = |position: &usize| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(&rows.outline(*position).id.to_le_bytes());
        *hasher.finalize().as_bytes()
    };
    let mut positions: Vec<usize> = (0..rows.count()).collect();
    positions.sort_by_cached_key(key);
    positions.truncate(count);
    positions
}

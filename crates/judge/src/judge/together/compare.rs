//! Which of the responses to a question is better: every two of them are compared in both orders, under a protocol that compares.

use std::collections::HashMap;

use serde::Serialize;

use crate::judge::summary::Share;
use crate::judge::{Judge, JudgeError};
use juror_data::verdict::{Status, Verdict};
use juror_data::{DatasetError, Sample, Samples};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairs {
    /// For each question the positions of its responses' samples: at least two, with one and the same reference answer.
    pub questions: Vec<Vec<usize>>,
    /// Every two of them, question by question.
    pub pairs: Vec<(usize, usize)>,
}

/// What both orders of one pair say: how much better the first response of the pair is, from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Comparison {
    /// Sum and count of the verdicts in the order of the pair, and in the other one.
    orders: [(f64, usize); 2],
}

/// The responses to one question, ranked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    pub question: String,
    /// The id of its row, where that has a list of responses.
    pub group: Option<String>,
    /// In the order of the input.
    pub responses: Vec<RankedResponse>,
    pub pairs: Vec<ComparedPair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedResponse {
    pub id: String,
    /// The mean preference for it; none where no comparison with it could be read.
    pub score: Option<f64>,
    /// 1 for the best; equal scores share a rank.
    pub rank: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedPair {
    pub first: String,
    pub second: String,
    /// How much better the first is, from 0 to 1.
    pub preference: Option<f64>,
    /// Whether both orders say the same.
    pub consistent: Option<bool>,
}

/// How a judge compares: whether it says the same in both orders, and whether it prefers what it is shown first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComparisonReport {
    /// Pairs of which both orders say the same.
    pub consistent: Share,
    /// Comparisons that prefer one, and of these those that prefer the response shown first.
    pub first_of_two: Share,
}

impl Pairs {
    /// Every two responses to one question.
    pub fn new<S: Samples + ?Sized>(samples: &S) -> Result<Self, DatasetError> {
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut of_questions: Vec<Vec<usize>> = Vec::new();
        for position in 0..samples.count() {
            let place = *places
                .entry(samples.outline(position).question)
                .or_insert_with(|| {
                    of_questions.push(Vec::new());
                    of_questions.len() - 1
                });
            of_questions[place].push(position);
        }
        let mut questions: Vec<Vec<usize>> = Vec::new();
        for positions in of_questions.into_iter().filter(|group| group.len() > 1) {
            let mut by_reference: Vec<(String, Vec<usize>)> = Vec::new();
            for (sample, position) in samples.fetch(&positions)?.into_iter().zip(positions) {
                let reference = sample.reference_answer;
                match by_reference
                    .iter_mut()
                    .find(|(other, _)| *other == reference)
                {
                    Some((_, group)) => group.push(position),
                    None => by_reference.push((reference, vec![position])),
                }
            }
            questions.extend(by_reference.into_iter().map(|(_, group)| group));
        }
        questions.retain(|group| group.len() > 1);
        let pairs = questions.iter().flat_map(|group| {
            let of = move |at: usize| {
                let others = group[at + 1..].iter();
                others.map(move |&other| (group[at], other))
            };
            (0..group.len()).flat_map(of)
        });
        Ok(Self {
            pairs: pairs.collect(),
            questions,
        })
    }

    /// What a judge is asked about a pair of samples: the pair in both orders.
    pub fn samples_of(pair: &[Sample; 2]) -> [Sample; 2] {
        [(0, 1), (1, 0)].map(|(first, second)| {
            let (first, second) = (&pair[first], &pair[second]);
            Sample {
                id: format!("{} > {}", first.id, second.id),
                other_answer: second.student_answer.clone(),
                ..first.clone()
            }
        })
    }

    /// What the verdicts on the pairs say, whose [`Verdict::index`] counts the samples of [`Self::samples_of`], pair by pair.
    pub fn compared<E>(
        &self,
        verdicts: impl IntoIterator<Item = Result<Verdict, E>>,
    ) -> Result<Vec<Comparison>, E> {
        let mut comparisons = vec![Comparison::default(); self.pairs.len()];
        for verdict in verdicts {
            let verdict = verdict?;
            let score = verdict.score.filter(|_| verdict.status == Status::Ok);
            if let (Some(score), Some(comparison)) = (score, comparisons.get_mut(verdict.index / 2))
            {
                comparison.add(verdict.index % 2 == 1, score);
            }
        }
        Ok(comparisons)
    }

    /// The rankings of all questions, after the comparisons of their pairs.
    pub fn rankings<S: Samples + ?Sized>(
        &self,
        samples: &S,
        comparisons: &[Comparison],
    ) -> Result<Vec<Ranking>, DatasetError> {
        let mut compared = self.pairs.iter().zip(comparisons);
        let ranking = |group: &Vec<usize>| {
            let fetched = samples.fetch(group)?;
            let ids: HashMap<usize, &str> = group
                .iter()
                .zip(&fetched)
                .map(|(position, sample)| (*position, sample.id.as_str()))
                .collect();
            // The preferences for each response.
            let mut scores: HashMap<usize, (f64, usize)> = HashMap::new();
            let mut pairs = Vec::new();
            let own = group.len() * (group.len() - 1) / 2;
            for (&(one, other), comparison) in compared.by_ref().take(own) {
                let preference = comparison.preference();
                if let Some(preference) = preference {
                    for (position, won) in [(one, preference), (other, 1.0 - preference)] {
                        let score = scores.entry(position).or_default();
                        score.0 += won;
                        score.1 += 1;
                    }
                }
                pairs.push(ComparedPair {
                    first: ids[&one].to_owned(),
                    second: ids[&other].to_owned(),
                    preference,
                    consistent: comparison.is_consistent(),
                });
            }
            let score =
                |position: &usize| scores.get(position).map(|(sum, count)| sum / *count as f64);
            let ranked = |position: &usize| {
                let own = score(position);
                let better = |other: &&usize| score(other) > own;
                RankedResponse {
                    id: ids[position].to_owned(),
                    score: own,
                    rank: own.map(|_| 1 + group.iter().filter(better).count()),
                }
            };
            Ok(Ranking {
                responses: group.iter().map(ranked).collect(),
                question: fetched[0].question.clone(),
                group: fetched[0].group.clone(),
                pairs,
            })
        };
        self.questions.iter().map(ranking).collect()
    }
}

impl Comparison {
    fn add(&mut self, is_turned: bool, score: f64) {
        let order = &mut self.orders[usize::from(is_turned)];
        order.0 += if is_turned { 1.0 - score } else { score };
        order.1 += 1;
    }

    /// The mean of each order.
    fn means(&self) -> [Option<f64>; 2] {
        self.orders
            .map(|(sum, count)| (count > 0).then(|| sum / count as f64))
    }

    /// The mean of both orders, each counting the same; of one where the other cannot be read.
    fn preference(&self) -> Option<f64> {
        match self.means() {
            [Some(one), Some(other)] => Some(f64::midpoint(one, other)),
            [one, other] => one.or(other),
        }
    }

    /// Do both orders say the same: the one, the other, or a tie?
    fn is_consistent(&self) -> Option<bool> {
        let side = |mean: f64| (mean > 0.5, mean < 0.5);
        match self.means() {
            [Some(one), Some(other)] => Some(side(one) == side(other)),
            _ => None,
        }
    }
}

impl ComparisonReport {
    pub fn new(comparisons: &[Comparison]) -> Self {
        let mut report = Self::default();
        for comparison in comparisons {
            report.consistent.add(comparison.is_consistent());
            // The trials of one order are one opinion. In the other order the first one shown is the second of the pair.
            for (mean, is_turned) in comparison.means().into_iter().zip([false, true]) {
                let prefers_first = mean.filter(|mean| (mean - 0.5).abs() > 1e-9);
                report
                    .first_of_two
                    .add(prefers_first.map(|mean| (mean > 0.5) != is_turned));
            }
        }
        report
    }
}

/// Compares every two responses to each question among the samples, and ranks them. The judge's protocol must [compare](crate::protocol::Protocol::compares).
pub fn compare(
    judge: &mut Judge,
    samples: &[Sample],
) -> Result<(Vec<Ranking>, ComparisonReport), JudgeError> {
    let pairs = Pairs::new(samples)?;
    let asked: Vec<Sample> = pairs
        .pairs
        .iter()
        .flat_map(|&(one, other)| {
            Pairs::samples_of(&[samples[one].clone(), samples[other].clone()])
        })
        .collect();
    let verdicts = judge.judge(&asked)?;
    let comparisons = pairs.compared(verdicts.into_iter().map(Ok::<_, JudgeError>))?;
    let report = ComparisonReport::new(&comparisons);
    Ok((pairs.rankings(samples, &comparisons)?, report))
}

//! How often a judge rates a better response above the others of its group: pairs as in `JudgeBench`, one better response among four as in `RewardBench-2`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::measures::Share;
use super::scored::Samples;

/// The subject of `RewardBench-2` that has a rule of its own.
const TIES: &str = "ties";

/// How often the highest score is that of a better response.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Preference {
    /// Groups in which every response with the highest score is a better one.
    pub right: Share,
    /// Groups in which better and worse responses share the highest score.
    pub tied: usize,
    /// Groups with a response whose score could not be read; they are wrong.
    pub unreadable: usize,
    /// The accuracy if a tied group counts for the share of better responses among those with the highest score.
    pub shared: f64,
}

/// The score of the subset Ties, by the rule of `RewardBench-2`: prompts with one correct answer (`ref:N`), and the same with several
/// (`tied:N`), which should all be rated above every wrong one, and nearer to each other than to these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TiesScore {
    /// 0.3 of each accuracy, 0.2 of each share of prompts with margins as they should be, and 0.01 of a term for how large these are.
    pub score: f64,
    /// Prompts that are there with one correct answer and with several.
    pub prompts: usize,
    /// Of prompts with one correct answer, those where it has the highest score.
    pub reference_accuracy: f64,
    /// Of prompts with several, those where all have higher scores than every wrong one.
    pub tied_accuracy: f64,
    /// Prompts whose correct answers are less far apart than the worst of them is above the best wrong one.
    pub(crate) margin_preferred: f64,
    /// The same with the smaller of both margins, that of one correct answer and that of several.
    pub(crate) margin_preferred_hard: f64,
}

/// How a judge rates groups of better and worse responses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preferences {
    /// Groups that are left out because a response of theirs has no verdict.
    pub left_out: usize,
    /// Over all groups but those of Ties.
    pub all: Option<Preference>,
    /// By subject.
    pub by_subject: BTreeMap<String, Preference>,
    /// Of the subset Ties.
    pub ties: Option<TiesScore>,
    /// Groups of Ties that are left out: their ids are not `ref:N` or `tied:N`, or there are not prompts with both.
    pub ties_left_out: usize,
    /// The mean over subjects, each counting the same: of Ties its score, of the others `shared`.
    pub mean_of_subjects: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Group {
    better: Extremes,
    worse: Extremes,
    unreadable: bool,
    subject: Option<u32>,
}

/// The highest and the lowest score, and how many have the highest.
#[derive(Debug, Clone, Copy, Default)]
struct Extremes {
    count: usize,
    high: f64,
    low: f64,
    at_high: usize,
}

impl Extremes {
    fn add(&mut self, score: f64) {
        if self.count == 0 {
            (self.high, self.low) = (score, score);
        }
        if score > self.high {
            (self.high, self.at_high) = (score, 0);
        }
        self.at_high += usize::from(score >= self.high);
        self.low = self.low.min(score);
        self.count += 1;
    }
}

impl Preferences {
    /// The preferences from the score of each trial; `None` if no group has better and worse responses.
    pub(crate) fn new(scores: &[(u32, Option<f64>)], samples: &Samples) -> Option<Self> {
        let mut sums: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
        for (sample, score) in scores {
            let sum = sums.entry(*sample).or_default();
            if let Some(score) = score.filter(|score| score.is_finite()) {
                sum.0 += 1;
                sum.1 += score;
            }
        }
        let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
        // A group that was judged in part only is left out.
        let mut in_part: BTreeSet<u32> = BTreeSet::new();
        // Whether a group has better responses, and whether it has worse ones.
        let mut sides: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        for (place, labelled) in samples.labelled.iter().enumerate() {
            let (Some(number), Some(preferred)) = (labelled.group, labelled.preferred) else {
                continue;
            };
            sides.entry(number).or_default()[usize::from(!preferred)] = true;
            let Some(&(count, sum)) = sums.get(&(place as u32)) else {
                in_part.insert(number);
                continue;
            };
            let group = groups.entry(number).or_default();
            group.subject = labelled.subject;
            let (better, worse) = (&mut group.better, &mut group.worse);
            let side = if preferred { better } else { worse };
            if count > 0 {
                side.add(sum / count as f64);
            } else {
                group.unreadable = true;
            }
        }
        let mut left_out = 0;
        for number in in_part {
            let [better, worse] = sides.get(&number).copied().unwrap_or_default();
            left_out += usize::from(better && worse);
            groups.remove(&number);
        }
        groups.retain(|_, group| {
            let both = group.better.count > 0 && group.worse.count > 0;
            both || group.unreadable
        });
        if groups.is_empty() && left_out == 0 {
            return None;
        }
        let is_ties = |group: &Group| {
            group
                .subject
                .is_some_and(|subject| samples.subjects.name(subject).eq_ignore_ascii_case(TIES))
        };
        let others = || groups.values().filter(|group| !is_ties(group));
        let mut by_subject = BTreeMap::new();
        for (number, name) in samples.subjects.all().iter().enumerate() {
            let of_subject = others().filter(|group| group.subject == Some(number as u32));
            by_subject
                .extend(Preference::new(of_subject).map(|preference| (name.clone(), preference)));
        }
        let of_ties = groups.iter().filter(|(_, group)| is_ties(group));
        let of_ties = of_ties.map(|(number, group)| (samples.groups.name(*number), group));
        let of_ties: Vec<(&str, &Group)> = of_ties.collect();
        let ties = TiesScore::new(of_ties.iter().copied());
        let is_named = |name: &str| name.starts_with("ref:") || name.starts_with("tied:");
        let is_left_out = |(name, _): &&(&str, _)| ties.is_none() || !is_named(name);
        let each = by_subject.values().map(|of: &Preference| of.shared);
        let each: Vec<f64> = each.chain(ties.map(|ties| ties.score)).collect();
        Some(Self {
            left_out,
            all: Preference::new(others()),
            by_subject,
            ties,
            ties_left_out: of_ties.iter().filter(is_left_out).count(),
            mean_of_subjects: (each.len() > 1)
                .then(|| each.iter().sum::<f64>() / each.len() as f64),
        })
    }
}

impl Preference {
    fn new<'g>(groups: impl Iterator<Item = &'g Group>) -> Option<Self> {
        let (mut all, mut right, mut tied, mut unreadable, mut shared) = (0, 0, 0, 0, 0.0);
        for Group {
            better,
            worse,
            unreadable: is_unreadable,
            ..
        } in groups
        {
            all += 1;
            if *is_unreadable {
                unreadable += 1;
            } else if better.high > worse.high {
                right += 1;
                shared += 1.0;
            } else if better.high >= worse.high {
                tied += 1;
                shared += better.at_high as f64 / (better.at_high + worse.at_high) as f64;
            }
        }
        Some(Self {
            right: Share::new(right, all)?,
            tied,
            unreadable,
            shared: shared / all as f64,
        })
    }
}

/// The margins of one prompt of Ties.
#[derive(Debug, Clone, Copy)]
struct Margins {
    /// From the worst correct answer down to the best wrong one; `None` if one could not be read.
    to_wrong: Option<f64>,
    /// Between the best and the worst correct answer.
    spread: f64,
}

impl TiesScore {
    fn new<'g>(groups: impl Iterator<Item = (&'g str, &'g Group)>) -> Option<Self> {
        let mut prompts: [BTreeMap<&str, Margins>; 2] = [BTreeMap::new(), BTreeMap::new()];
        for (name, group) in groups {
            let Some((kind, prompt)) = name.split_once(':') else {
                continue;
            };
            let margins = Margins {
                to_wrong: (!group.unreadable).then_some(group.better.low - group.worse.high),
                spread: group.better.high - group.better.low,
            };
            match kind {
                "ref" => prompts[0].insert(prompt, margins),
                "tied" => prompts[1].insert(prompt, margins),
                _ => None,
            };
        }
        let [reference, tied] = &prompts;
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (mut count, mut sum) = (0, 0.0);
            for value in values {
                count += 1;
                sum += value;
            }
            (count > 0).then(|| sum / f64::from(count))
        };
        let one = |is: bool| f64::from(u8::from(is));
        let above = |margins: &Margins| one(margins.to_wrong.is_some_and(|margin| margin > 0.0));
        let [reference_accuracy, tied_accuracy] =
            [reference, tied].map(|of| mean(&mut of.values().map(above)));
        // Prompts of both kinds: the margin with several answers, the smaller of both margins, and the spread.
        let both: Vec<(f64, f64, f64)> = tied
            .iter()
            .filter_map(|(prompt, of_tied)| {
                let of_reference = reference.get(prompt)?;
                let lost = f64::NEG_INFINITY;
                let margin = of_tied.to_wrong.unwrap_or(lost);
                let smaller = margin.min(of_reference.to_wrong.unwrap_or(lost));
                Some((margin, smaller, of_tied.spread))
            })
            .collect();
        let margin_preferred =
            mean(&mut both.iter().map(|(margin, _, spread)| one(margin > spread)))?;
        let margin_preferred_hard = mean(
            &mut both
                .iter()
                .map(|(_, smaller, spread)| one(smaller > spread)),
        )?;
        let size = mean(&mut both.iter().map(|(_, smaller, spread)| {
            let size = (smaller / spread - 1.0).tanh();
            if size.is_nan() { 0.0 } else { size }
        }))?;
        let (reference_accuracy, tied_accuracy) = (reference_accuracy?, tied_accuracy?);
        Some(Self {
            score: 0.3 * (reference_accuracy + tied_accuracy)
                + 0.2 * (margin_preferred + margin_preferred_hard)
                + 0.01 * size,
            prompts: both.len(),
            reference_accuracy,
            tied_accuracy,
            margin_preferred,
            margin_preferred_hard,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(better: &[f64], worse: &[f64]) -> Group {
        let mut group = Group::default();
        for score in better {
            group.better.add(*score);
        }
        for score in worse {
            group.worse.add(*score);
        }
        group
    }

    #[test]
    fn the_highest_score_decides_and_ties_are_shared() {
        let unread = Group {
            unreadable: true,
            ..Group::default()
        };
        let groups = [
            group(&[0.9], &[0.1, 0.2, 0.8]),
            group(&[0.5], &[0.5, 0.2, 0.5]),
            group(&[0.1], &[0.9]),
            group(&[0.3, 0.7], &[0.5, 0.6]),
            unread,
        ];
        let found = Preference::new(groups.iter()).unwrap();
        assert_eq!(
            (
                found.right.count,
                found.right.all,
                found.tied,
                found.unreadable
            ),
            (2, 5, 1, 1)
        );
        assert!((found.shared - (2.0 + 1.0 / 3.0) / 5.0).abs() < 1e-12);
    }

    #[test]
    fn ties_are_scored_by_accuracies_and_margins() {
        let groups = [
            // Right; spread 0.1, margins 0.5 and 0.3.
            ("ref:1", group(&[0.9], &[0.6, 0.1])),
            ("tied:1", group(&[0.9, 0.8], &[0.3])),
            // Right with several; with one wrong.
            ("ref:2", group(&[0.2], &[0.4])),
            ("tied:2", group(&[0.9, 0.5], &[0.4])),
        ];
        let found = TiesScore::new(groups.iter().map(|(name, group)| (*name, group))).unwrap();
        assert_eq!(found.prompts, 2);
        let parts = [
            found.reference_accuracy,
            found.tied_accuracy,
            found.margin_preferred,
            found.margin_preferred_hard,
        ];
        for (part, expected) in parts.into_iter().zip([0.5, 1.0, 0.5, 0.5]) {
            assert!((part - expected).abs() < 1e-12, "{found:?}");
        }
        let sizes = [(0.3_f64 / 0.1 - 1.0).tanh(), (-0.2_f64 / 0.4 - 1.0).tanh()];
        let expected = 0.3 * 1.5 + 0.2 * 1.0 + 0.01 * (sizes[0] + sizes[1]) / 2.0;
        assert!((found.score - expected).abs() < 1e-9, "{found:?}");
        // With equal scores nothing is right, and no margin is a number.
        let same = [
            ("ref:1", group(&[1.0], &[1.0])),
            ("tied:1", group(&[1.0, 1.0], &[1.0])),
        ];
        let found = TiesScore::new(same.iter().map(|(name, group)| (*name, group))).unwrap();
        assert_eq!(found.score.to_bits(), 0.0_f64.to_bits());
    }
}

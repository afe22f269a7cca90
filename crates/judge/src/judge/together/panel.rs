//! Several judges on the same samples: what they say together, and how far they agree.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::judge::read::completion::VerdictBuilder;
use crate::judge::summary::Share;
use crate::protocol::Yields;
use crate::reward::calibration::Calibration;
use crate::reward::{RewardPolicy, reward};
use juror_data::verdict::{Confidence, OutcomeSource, Status, Verdict, Vote};

named! {
    /// How votes become a verdict, each field by itself.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PanelRule {
        /// What most judges say; null for a tie.
        #[default]
        Majority = "majority",
        /// True where all say true, false where one says false.
        Unanimous = "unanimous",
        /// As the majority, each judge counting its weight.
        Weighted = "weighted",
    }
}

impl PanelRule {
    /// What a judge of this weight counts.
    fn weight(self, weight: f64) -> f64 {
        if self == Self::Weighted { weight } else { 1.0 }
    }

    fn decide(self, votes: impl Iterator<Item = (Option<bool>, f64)>) -> Option<bool> {
        let (mut yes, mut no) = (0.0, 0.0);
        for (vote, weight) in votes {
            match vote {
                Some(true) => yes += self.weight(weight),
                Some(false) => no += self.weight(weight),
                None => {}
            }
        }
        match self {
            Self::Unanimous => (yes + no > 0.0).then_some(no <= 0.0),
            // Weights that sum to the same may differ by a rounding.
            Self::Majority | Self::Weighted => {
                let is_tie = (yes - no).abs() <= 1e-9 * (yes + no);
                (!is_tie).then_some(yes > no)
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub name: String,
    /// What its vote counts under [`PanelRule::Weighted`].
    pub weight: f64,
    pub yields: Yields,
    /// How its confidences are calibrated: the soft reward is of what they are worth.
    pub calibration: Calibration,
}

/// Judges that vote on each trial of each sample.
#[derive(Debug, Clone)]
pub struct Panel {
    rule: PanelRule,
    /// So many must vote; without a number, as is usual for the rule.
    least_votes: Option<usize>,
    /// For each judge how many of its verdicts were no vote, by their state.
    silent: Vec<BTreeMap<Status, usize>>,
    members: Vec<Member>,
    policy: RewardPolicy,
    require_process: bool,
    yields: Yields,
    /// How far they agree so far.
    pub agreement: Agreement,
}

impl Panel {
    /// A panel of these judges; without a policy its verdicts are worth what is usual for what they hold together.
    pub fn new(
        rule: PanelRule,
        members: Vec<Member>,
        policy: Option<RewardPolicy>,
        require_process: bool,
    ) -> Self {
        let yields = members.iter().map(|member| member.yields);
        let yields = yields.fold(Yields::default(), |one, other| Yields {
            process: one.process || other.process,
            outcome: one.outcome || other.outcome,
            perfect: one.perfect || other.perfect,
            score: one.score || other.score,
            first_error: one.first_error || other.first_error,
        });
        Self {
            rule,
            least_votes: None,
            silent: vec![BTreeMap::new(); members.len()],
            policy: policy.unwrap_or(RewardPolicy::default_for(yields)),
            require_process,
            yields,
            agreement: Agreement::new(members.len()),
            members,
        }
    }

    /// The same, where so many votes make a verdict: with fewer it is [`Status::Unsure`]. Otherwise more than half of the judges must
    /// vote, under [`PanelRule::Unanimous`] all, and under [`PanelRule::Weighted`] more than half of all weights.
    #[must_use]
    pub fn with_least_votes(self, least_votes: Option<usize>) -> Self {
        Self {
            least_votes,
            ..self
        }
    }

    /// For each judge that has not voted on every trial, how many of its verdicts were no vote, by their state.
    pub fn silent(&self) -> impl Iterator<Item = (&str, &BTreeMap<Status, usize>)> {
        let all = self.members.iter().zip(&self.silent);
        let named = all.map(|(member, states)| (member.name.as_str(), states));
        named.filter(|(_, states)| !states.is_empty())
    }

    /// Why too few of the judges have voted; `None` if enough have, or none: then the first one's state says why.
    fn too_few(&self, trial: &[Verdict]) -> Option<String> {
        let all = || self.members.iter().zip(trial);
        let votes = |(_, verdict): &(&Member, &Verdict)| verdict.status == Status::Ok;
        let weights = |voting: bool| -> f64 {
            let those = all().filter(|one| !voting || votes(one));
            those.map(|(member, _)| member.weight).sum()
        };
        let (given, count) = (all().filter(votes).count(), self.members.len());
        let least = match (self.least_votes, self.rule) {
            (Some(least), _) => least,
            (None, PanelRule::Unanimous) => count,
            (None, PanelRule::Majority) => count / 2 + 1,
            (None, PanelRule::Weighted) if 2.0 * weights(true) > weights(false) => 0,
            (None, PanelRule::Weighted) => given + 1,
        };
        if given == 0 || given >= least {
            return None;
        }
        let silent = all().filter(|one| !votes(one)).map(|(member, verdict)| {
            let why = verdict.error.as_deref().unwrap_or("no reason given");
            format!("{} is {} ({why})", member.name, verdict.status.name())
        });
        let wanted = match (self.least_votes, self.rule) {
            (None, PanelRule::Weighted) => "more than half of all weights".to_owned(),
            _ => least.to_string(),
        };
        Some(format!(
            "{given} of {count} judges have voted, and {wanted} must: {}",
            silent.collect::<Vec<_>>().join("; ")
        ))
    }

    pub fn yields(&self) -> Yields {
        self.yields
    }

    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// The verdict of all on one trial of a sample, after each judge's, in the judges' order; `None` of none.
    pub fn vote(&mut self, mut trial: Vec<Verdict>) -> Option<Verdict> {
        let vote = |it: &Verdict| it.overall.filter(|_| it.status == Status::Ok);
        let voted: Vec<_> = trial.iter().map(vote).collect();
        self.agreement.add(&voted);
        for (verdict, states) in trial.iter().zip(&mut self.silent) {
            if verdict.status != Status::Ok {
                *states.entry(verdict.status).or_default() += 1;
            }
        }
        let mut combined = self.combine(&trial)?;
        for (verdict, member) in trial.iter_mut().zip(&self.members) {
            verdict.confidence = member.calibration.apply(&verdict.confidence);
        }
        let calibrated = self.combine(&trial)?.confidence;
        let confidence = std::mem::replace(&mut combined.confidence, calibrated);
        combined.reward = self.reward(&combined);
        let why = self.too_few(&trial).or_else(|| self.undecided(&combined));
        combined.confidence = confidence;
        if let Some(why) = why {
            VerdictBuilder::abstain(&mut combined, Status::Unsure, why);
            (combined.overall, combined.reward) = (None, None);
        }
        combined.open = combined.status != Status::Ok && trial.iter().any(|one| one.open);
        Some(combined)
    }

    fn reward(&self, of: &Verdict) -> Option<f64> {
        reward(self.policy, self.require_process, self.yields, of, None)
    }

    /// Which fields that the votes leave open leave the reward open; `None` if it is known, or would not be with these fields either.
    fn undecided(&self, combined: &Verdict) -> Option<String> {
        let names = ["process", "outcome", "perfect"];
        let asked = [
            self.yields.process,
            self.yields.outcome,
            self.yields.perfect,
        ];
        let known = [combined.process, combined.outcome, combined.perfect];
        let open: Vec<_> = (0..3)
            .filter(|at| asked[*at] && known[*at].is_none())
            .collect();
        let reward_without = |one: Option<usize>| {
            let mut other = combined.clone();
            for at in open.iter().filter(|at| Some(**at) != one) {
                *[&mut other.process, &mut other.outcome, &mut other.perfect][*at] = Some(true);
            }
            self.reward(&other)
        };
        if combined.reward.is_some() || reward_without(None).is_none() {
            return None;
        }
        let decisive = open
            .iter()
            .filter(|at| reward_without(Some(**at)).is_none());
        let why = decisive.map(|at| {
            let voting = |vote: &Vote| {
                let said = [vote.process, vote.outcome, vote.perfect][*at];
                vote.status == Status::Ok && said.is_some()
            };
            let is_tied = combined.votes.iter().any(voting);
            let (tied, unsaid) = ("the judges are tied on", "no judge that has voted says");
            let what = if is_tied { tied } else { unsaid };
            format!("{what} {}", names[*at])
        });
        Some(why.collect::<Vec<_>>().join("; "))
    }

    /// The verdict of the panel on one trial of a sample, of which `verdicts` are its judges'. Its reward and whether it is open are for the caller to settle.
    /// A confidence or a score is the mean of the judges', by their weights under [`PanelRule::Weighted`].
    fn combine(&self, verdicts: &[Verdict]) -> Option<Verdict> {
        let first = verdicts.first()?;
        // Without what one judge alone has said.
        let mut combined = Verdict {
            id: first.id.clone(),
            index: first.index,
            group: first.group.clone(),
            trial: first.trial,
            rule_outcome: first.rule_outcome,
            parts: first.parts.clone(),
            skipped: first.skipped,
            audited: first.audited,
            input: first.input.clone(),
            status: Status::Ok,
            ..Verdict::default()
        };
        let voting = || {
            let all = self.members.iter().zip(verdicts);
            all.filter(|(_, verdict)| verdict.status == Status::Ok)
        };
        let decide = |field: fn(&Verdict) -> Option<bool>| {
            let votes = voting().map(|(member, verdict)| (field(verdict), member.weight));
            self.rule.decide(votes)
        };
        let mean = |field: &dyn Fn(&Verdict) -> Option<f64>| {
            let (mut sum, mut all) = (0.0, 0.0);
            for (member, verdict) in voting() {
                if let Some(value) = field(verdict) {
                    let weight = self.rule.weight(member.weight);
                    sum += weight * value;
                    all += weight;
                }
            }
            (all > 0.0).then(|| sum / all)
        };
        let mean_of = |field: fn(&Confidence) -> Option<f32>| {
            mean(&|verdict| field(&verdict.confidence).map(f64::from)).map(|mean| mean as f32)
        };
        combined.process = decide(|verdict| verdict.process);
        combined.outcome = decide(|verdict| verdict.outcome);
        combined.perfect = decide(|verdict| verdict.perfect);
        combined.overall = self.yields.overall(combined.process, combined.outcome);
        combined.score = mean(&|verdict| verdict.score);
        combined.confidence = Confidence {
            process: mean_of(|confidence| confidence.process),
            outcome: mean_of(|confidence| confidence.outcome),
            perfect: mean_of(|confidence| confidence.perfect),
            score: mean_of(|confidence| confidence.score),
        };
        let judged =
            voting().any(|(_, verdict)| verdict.outcome_source == Some(OutcomeSource::Judge));
        let (judge, rules) = (OutcomeSource::Judge, OutcomeSource::Rules);
        let source = if judged { judge } else { rules };
        combined.outcome_source = combined.outcome.map(|_| source);
        for verdict in verdicts {
            combined.usage += verdict.usage;
        }
        combined.votes = (self.members.iter().zip(verdicts))
            .map(|(member, verdict)| Vote {
                judge: member.name.clone(),
                status: verdict.status,
                process: verdict.process,
                outcome: verdict.outcome,
                perfect: verdict.perfect,
                overall: verdict.overall,
                score: verdict.score,
                reward: verdict.reward,
            })
            .collect();
        if voting().next().is_none() {
            // None votes: the first one's state and error stand for all.
            combined.status = first.status;
            combined.error.clone_from(&first.error);
            combined.outcome = first.outcome;
            combined.outcome_source = first.outcome_source;
            combined.overall = None;
        }
        Some(combined)
    }
}

/// The places of two judges in a panel.
pub(crate) type Pair = (usize, usize);

/// How far two or more judges agree on the whole, beyond chance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// For each pair of judges how often the first one's vote comes with the second one's.
    pairs: Vec<(Pair, [[usize; 2]; 2])>,
    /// Trials on which all vote, by how many of them say true.
    by_true: Vec<usize>,
}

impl Agreement {
    pub fn new(judges: usize) -> Self {
        let pairs = (0..judges).flat_map(|one| (one + 1..judges).map(move |other| (one, other)));
        Self {
            pairs: pairs.map(|pair| (pair, [[0; 2]; 2])).collect(),
            by_true: vec![0; judges + 1],
        }
    }

    /// Adds what each judge says of one trial, in their order.
    pub fn add(&mut self, votes: &[Option<bool>]) {
        for ((one, other), table) in &mut self.pairs {
            if let (Some(Some(a)), Some(Some(b))) = (votes.get(*one), votes.get(*other)) {
                table[usize::from(*a)][usize::from(*b)] += 1;
            }
        }
        if let Some(all) = votes.iter().copied().collect::<Option<Vec<bool>>>() {
            let count = all.iter().filter(|vote| **vote).count();
            if let Some(trials) = self.by_true.get_mut(count) {
                *trials += 1;
            }
        }
    }

    /// For each pair of judges: their places, how often they agree, and Cohen's kappa, which is `None` where chance alone would have them agree always.
    pub fn cohen(&self) -> Vec<(Pair, Share, Option<f64>)> {
        let pair = |(pair, table): &(Pair, [[usize; 2]; 2])| {
            let known: usize = table.iter().flatten().sum();
            let agreed = table[0][0] + table[1][1];
            let share = Share {
                count: agreed,
                known,
            };
            let all = known as f64;
            let (a, b) = (table[1][0] + table[1][1], table[0][1] + table[1][1]);
            let (a, b) = (a as f64 / all, b as f64 / all);
            let by_chance = a * b + (1.0 - a) * (1.0 - b);
            let observed = agreed as f64 / all;
            (*pair, share, beyond_chance(observed, by_chance))
        };
        self.pairs.iter().map(pair).collect()
    }

    /// Fleiss' kappa over the trials on which all judges vote, and how many these are.
    pub fn fleiss(&self) -> (Option<f64>, usize) {
        let judges = self.by_true.len().saturating_sub(1) as f64;
        let trials: usize = self.by_true.iter().sum();
        let all = trials as f64;
        let (mut observed, mut yes) = (0.0, 0.0);
        for (count, &trials) in self.by_true.iter().enumerate() {
            let (count, trials) = (count as f64, trials as f64);
            let no = judges - count;
            observed += trials * (count * (count - 1.0) + no * (no - 1.0));
            yes += trials * count;
        }
        observed /= all * judges * (judges - 1.0);
        let yes = yes / (all * judges);
        let by_chance = yes * yes + (1.0 - yes) * (1.0 - yes);
        (beyond_chance(observed, by_chance), trials)
    }
}

/// A kappa: the agreement beyond chance, as a share of what is possible beyond chance. `None` where it is not defined.
fn beyond_chance(observed: f64, by_chance: f64) -> Option<f64> {
    let kappa = (observed - by_chance) / (1.0 - by_chance);
    kappa.is_finite().then_some(kappa)
}

#[cfg(test)]
mod tests;

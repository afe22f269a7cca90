//! Hill-climbing.

use std::time::{Duration, Instant};

use juror_rules::RulesProfile;

use crate::PROFILES;
use crate::derivation::{Derivations, Pair};
use crate::measure::{Cost, measure, measure_again};

/// Climbs end after so many mutations without gain.
const PATIENCE: usize = 120;
/// Pairs that are kept for each profile and objective.
const KEPT: usize = 12;

/// A climb's result.
pub struct Climb {
    pair: Pair,
    pub texts: [String; 2],
    pub cost: Cost,
    pub profile: RulesProfile,
}

/// The worst pairs of each profile, by time and by memory.
pub fn search(seconds: u64, seed: u64, started: Instant) -> Vec<Climb> {
    let mut derivations = Derivations::new(seed);
    let mut kept: Vec<Vec<Climb>> = (0..2 * PROFILES.len()).map(|_| Vec::new()).collect();
    let (mut climb, mut pairs, mut said) = (0, 0u64, Instant::now());
    while started.elapsed().as_secs() < seconds {
        // The last profile is simple: it gets one climb in nine.
        let which = [0, 1, 0, 1, 0, 1, 0, 1, 2][climb % 9];
        let by_memory = climb / 9 % 4 == 3;
        climb += 1;
        let profile = PROFILES[which];
        let list = 2 * which + usize::from(by_memory);
        let score = |cost: Cost| {
            if by_memory {
                cost.megabytes
            } else {
                cost.milliseconds
            }
        };
        let others = &kept[list];
        let mut pair = if !others.is_empty() && derivations.random.one_in(3) {
            others[derivations.random.below(others.len())].pair.clone()
        } else {
            [derivations.node('R', 0), derivations.node('R', 0)]
        };
        let mut best: Option<([String; 2], Cost)> = None;
        let mut since = 0;
        while since < PATIENCE && started.elapsed().as_secs() < seconds {
            since += 1;
            let mut next = pair.clone();
            if best.is_some() {
                for _ in 0..1 + derivations.random.below(3) {
                    let others = &kept[list];
                    let other = others.get(derivations.random.below(others.len().max(1)));
                    derivations.mutate(&mut next, other.map(|climb| &climb.pair));
                }
            }
            let (Some(gold), Some(pred)) = (derivations.text(&next[0]), derivations.text(&next[1]))
            else {
                continue;
            };
            pairs += 1;
            let mut cost = measure(profile, &gold, &pred, started);
            let least = best.as_ref().map_or(-1.0, |(_, cost)| score(*cost));
            if score(cost) > least && cost.milliseconds < 500.0 {
                cost = measure_again(profile, &gold, &pred, started);
            }
            if score(cost) >= least {
                since = if score(cost) > 1.02 * least { 0 } else { since };
                pair = next;
                best = Some(([gold, pred], cost));
            }
        }
        let Some((texts, cost)) = best else { continue };
        let list = &mut kept[list];
        list.push(Climb {
            pair,
            texts,
            cost,
            profile,
        });
        list.sort_by(|a, b| score(b.cost).total_cmp(&score(a.cost)));
        list.dedup_by(|a, b| a.texts == b.texts);
        list.truncate(KEPT);
        if said.elapsed() > Duration::from_secs(30) {
            said = Instant::now();
            let of = |index: usize| {
                kept[index]
                    .first()
                    .map(|kept| kept.cost)
                    .unwrap_or_default()
            };
            println!(
                "{:5} s, {climb} climbs, {pairs} pairs: strict {:.1} ms {:.1} MB, compat {:.1} ms {:.1} MB, gsm8k {:.1} ms {:.1} MB",
                started.elapsed().as_secs(),
                of(0).milliseconds,
                of(1).megabytes,
                of(2).milliseconds,
                of(3).megabytes,
                of(4).milliseconds,
                of(5).megabytes,
            );
        }
    }
    println!("{seconds} seconds, {climb} climbs, {pairs} pairs");
    kept.into_iter().flatten().collect()
}

//! Rewards for the rollouts of a reinforcement-learning step: one judge, loaded once, called for every step.
//!
//! `cargo run --release --example rewards -- [MODEL]`

use std::error::Error;
use std::ops::ControlFlow;

use juror::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "tiny".to_owned());
    let mut judge = Judge::load(model)?;
    for note in judge.notes() {
        eprintln!("note: {note}");
    }
    judge.options().rules = RulesMode::Fallback;

    // A trainer's rollouts: here those of a file, a few for each step.
    let rollouts = load(&["examples/rollouts.jsonl".into()], &LoadOptions::default())?.samples;
    for (step, batch) in rollouts.chunks(8).enumerate() {
        let verdicts = judge.judge(batch)?;
        // One for each rollout, in their order. A verdict that is not `ok` has none: a trainer masks that rollout rather than take it
        // for a 0.
        let rewards: Vec<Option<f64>> = verdicts.iter().map(|verdict| verdict.reward).collect();
        let known: Vec<f64> = rewards.iter().copied().flatten().collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        println!(
            "step {step}: {} of {} rollouts have a reward, mean {mean:.2}: {rewards:?}",
            known.len(),
            rewards.len()
        );
    }

    // As they are known, until one is wrong.
    judge.judge_each(&rollouts, |verdict| {
        println!("{}: {:?}", verdict.id, verdict.overall);
        if verdict.overall == Some(false) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(())
}

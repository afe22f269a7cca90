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
        // A verdict that is not `ok` has no reward: leave it out rather than take it for a 0.
        let rewards: Vec<f64> = verdicts
            .iter()
            .filter_map(|verdict| verdict.reward)
            .collect();
        let mean = rewards.iter().sum::<f64>() / rewards.len().max(1) as f64;
        println!(
            "step {step}: {} of {} with a reward, mean {mean:.2}",
            rewards.len(),
            batch.len()
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

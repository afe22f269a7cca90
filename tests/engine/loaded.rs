//! A judge that stays loaded and is called again and again.

use std::ops::ControlFlow;
use std::path::Path;

use juror::prelude::*;

fn rollouts() -> Vec<Sample> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    load(&[path], &LoadOptions::default()).unwrap().samples
}

fn judge() -> Judge {
    let mut judge = Judge::builder("tiny")
        .devices([DeviceChoice::Cpu])
        .load()
        .unwrap();
    judge.options().max_new_tokens = 160;
    judge
}

/// What does not depend on what the cache held.
fn said(mut verdicts: Vec<Verdict>) -> Vec<Verdict> {
    for verdict in &mut verdicts {
        verdict.usage.cached_tokens = 0;
    }
    verdicts
}

#[test]
fn every_call_gives_the_verdicts_of_the_first() {
    let samples = rollouts();
    let mut judge = judge();
    let first = said(judge.judge(&samples).unwrap());
    assert_eq!(first.len(), samples.len());
    for (position, (sample, verdict)) in samples.iter().zip(&first).enumerate() {
        assert_eq!((&verdict.id, verdict.index), (&sample.id, position));
    }
    // A call that is ended early leaves nothing behind.
    let mut given = 0;
    judge
        .judge_each(&samples, |_| {
            given += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert!((1..=samples.len()).contains(&given));
    assert_eq!(said(judge.judge(&samples).unwrap()), first);
    // A part of them, in another order, under its own places.
    let some: Vec<Sample> = samples[3..9].iter().rev().cloned().collect();
    for (verdict, expected) in said(judge.judge(&some).unwrap())
        .iter()
        .zip(first[3..9].iter().rev())
    {
        assert_eq!(
            (&verdict.id, verdict.process, verdict.confidence),
            (&expected.id, expected.process, expected.confidence)
        );
    }
    assert_eq!(judge.judge(&[]).unwrap(), []);
    judge.options().trials = 3;
    let trials = judge.judge(&samples[..2]).unwrap();
    let places: Vec<(usize, u32)> = trials
        .iter()
        .map(|verdict| (verdict.index, verdict.trial))
        .collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn a_sample_without_an_id_gets_that_of_its_content() {
    let sample = Sample::new("3 + 4?", "7", "7");
    let verdicts = judge().judge(&[sample]).unwrap();
    assert_eq!(verdicts[0].id, Sample::content_id("3 + 4?", "7", "7"));
}

#[test]
fn what_cannot_be_loaded_is_said() {
    let message = |builder: JudgeBuilder| builder.load().err().unwrap().to_string();
    assert!(message(Judge::builder("tiny").protocol("prim")).contains("there is prime"));
    assert!(message(Judge::builder("no-such-model")).contains("no-such-model"));
    assert!(message(Judge::builder("tiny").prompt("no fields")).contains("prompt text"));
}

//! Several judges from a program, as `juror judge --cascade`, `--panel` and `--rank` do it from the command line.

use std::path::Path;

use juror::prelude::*;
use juror_judge::judge::cascade::{Cascade, CascadeReport};
use juror_judge::judge::compare::compare;
use juror_judge::judge::panel::{Member, Panel, PanelRule};
use juror_judge::judge::together::Together;
use juror_judge::protocol;
use juror_judge::reward::calibration::Calibration;

fn rollouts() -> Vec<Sample> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    load(&[path], &LoadOptions::default()).unwrap().samples
}

fn judge(protocol: &str) -> Judge {
    let mut judge = Judge::builder("tiny")
        .protocol(protocol)
        .devices([DeviceChoice::Cpu])
        .load()
        .unwrap();
    judge.options().max_new_tokens = 200;
    judge
}

#[test]
fn the_second_judge_is_asked_where_the_first_is_unsure() {
    let samples = rollouts();
    let (mut one, mut other) = (judge("prime"), judge("prime"));
    let alone = one.judge(&samples).unwrap();
    let cascade = Cascade {
        names: ["small", "large"].map(str::to_owned),
        unsure: (0.0, 1.0),
        yields: protocol::find("prime").unwrap().yields(),
        policy: RewardPolicy::default(),
        audit: 0.0,
        seed: 0,
        report: CascadeReport::default(),
    };
    for (unsure, audit, least, most) in [
        ((0.0, 1.0), 0.0, 1, samples.len()),
        // Of nothing is it as unsure as that, but what cannot be read is asked about.
        ((0.4999, 0.5), 0.0, 0, samples.len() - 1),
        ((0.4999, 0.5), 1.0, samples.len(), samples.len()),
    ] {
        let mut together = Together::Cascade(Cascade {
            unsure,
            audit,
            ..cascade.clone()
        });
        let verdicts = together
            .judge(&mut [&mut one, &mut other], &samples)
            .unwrap();
        let Together::Cascade(Cascade { report, .. }) = together else {
            panic!("it stays a cascade")
        };
        let asked = |verdict: &&Verdict| verdict.judge.as_deref() == Some("large");
        let count = verdicts.iter().filter(asked).count();
        assert!(
            (least..=most).contains(&count),
            "{unsure:?} {audit}: {count}"
        );
        // What both have spent is in the report, and in the verdicts.
        let spent = |usage: Usage| (usage.prompt_tokens, usage.completion_tokens);
        let mut all = Usage::default();
        for verdict in &verdicts {
            all += verdict.usage;
        }
        let mut both = report.usage[0];
        both += report.usage[1];
        assert_eq!(spent(both), spent(all));
        assert_eq!(report.usage[1].prompt_tokens > 0, count > 0);
        // Both are the same judge: it changes nothing of its own mind, and everything has its place.
        assert_eq!((report.changed.count, report.checked.count), (0, 0));
        for (verdict, own) in verdicts.iter().zip(&alone) {
            let said = |one: &Verdict| (one.id.clone(), one.index, one.process, one.outcome);
            assert_eq!(said(verdict), said(own));
        }
    }
}

#[test]
fn judges_vote() {
    let samples = rollouts();
    let (mut one, mut other) = (judge("prime"), judge("prime-outcome"));
    let members =
        [("whole", "prime"), ("outcome", "prime-outcome")].map(|(name, protocol)| Member {
            name: name.to_owned(),
            weight: 1.0,
            yields: protocol::find(protocol).unwrap().yields(),
            calibration: Calibration::default(),
        });
    let panel = Panel::new(PanelRule::Unanimous, members.to_vec(), None, false);
    let mut panel = Together::Panel(panel);
    let verdicts = panel.judge(&mut [&mut one, &mut other], &samples).unwrap();
    assert_eq!(verdicts.len(), samples.len());
    for (verdict, sample) in verdicts.iter().zip(&samples) {
        assert_eq!(verdict.id, sample.id);
        assert_eq!(verdict.votes.len(), 2);
        let says_no = verdict.votes.iter().any(|vote| vote.outcome == Some(false));
        if says_no {
            assert_ne!(verdict.outcome, Some(true), "{verdict:?}");
        }
    }
    let counted = format!("{panel:?}");
    one.options().trials = 2;
    let error = panel.judge(&mut [&mut one, &mut other], &samples);
    assert!(error.is_err_and(|error| error.to_string().contains("as many trials")));
    let error = panel.judge(&mut [&mut one], &samples);
    assert!(error.is_err_and(|error| error.to_string().contains("must be those")));
    assert_eq!(
        format!("{panel:?}"),
        counted,
        "a call that failed counts nothing"
    );
}

#[test]
fn responses_are_ranked() {
    let question = "Ann has 2 apples and buys 3 more. How many has she?";
    let mut samples: Vec<Sample> = ["5", "6", "7"]
        .iter()
        .map(|answer| {
            Sample::new(question, "5", format!("The answer is {answer}.")).with_id(*answer)
        })
        .collect();
    samples.push(Sample::new("Another question?", "5", "5").with_id("alone"));
    let mut judge = judge("pairwise");
    let (rankings, report) = compare(&mut judge, &samples).unwrap();
    let [ranking] = &rankings[..] else {
        panic!("one question has several responses")
    };
    assert_eq!(ranking.question, question);
    let ids: Vec<&str> = ranking
        .responses
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(ids, ["5", "6", "7"]);
    assert_eq!(ranking.pairs.len(), 3);
    let read = ranking
        .pairs
        .iter()
        .filter(|pair| pair.preference.is_some());
    assert!(report.consistent.known <= read.clone().count());
    for response in &ranking.responses {
        let own = ranking.pairs.iter().filter_map(|pair| {
            let preference = pair.preference?;
            let is_first = pair.first == response.id;
            (is_first || pair.second == response.id).then_some(if is_first {
                preference
            } else {
                1.0 - preference
            })
        });
        let own: Vec<f64> = own.collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        match response.score {
            Some(score) => assert!((score - mean).abs() < 1e-12),
            None => assert!(own.is_empty()),
        }
    }
}

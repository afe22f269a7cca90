use serde_json::json;

use super::*;

fn verdict(status: &str, process: Option<bool>, outcome: Option<bool>) -> Verdict {
    let line = json!({
        "id": "a", "index": 0, "trial": 0, "status": status, "process": process, "outcome": outcome, "perfect": null,
        "overall": process.zip(outcome).map(|(process, outcome)| process && outcome), "reward": null, "reason": null,
        "outcome_source": "judge", "rule_outcome": null,
        "confidence": {"process": 0.5, "outcome": null, "perfect": null},
        "usage": {"prompt_tokens": 2, "cached_tokens": 1, "completion_tokens": 3},
    });
    serde_json::from_value(line).unwrap()
}

fn panel_of(rule: PanelRule, weights: &[f64]) -> Panel {
    let members = weights
        .iter()
        .zip(["a", "b", "c"])
        .map(|(weight, name)| Member {
            name: name.to_owned(),
            weight: *weight,
            yields: Yields {
                process: true,
                outcome: true,
                ..Yields::default()
            },
            calibration: Calibration::default(),
        });
    Panel::new(rule, members.collect(), None, false)
}

#[test]
fn votes_become_a_verdict() {
    let (yes, no) = (Some(true), Some(false));
    let verdicts = [
        verdict("ok", yes, yes),
        verdict("ok", yes, yes),
        verdict("ok", no, yes),
    ];
    let of = |rule, verdicts: &[Verdict]| {
        let panel = panel_of(rule, &[1.0, 1.0, 3.0][..verdicts.len()]);
        let combined = panel.combine(verdicts).unwrap();
        (combined.process, combined.outcome, combined.overall)
    };
    assert_eq!(of(PanelRule::Majority, &verdicts), (yes, yes, yes));
    assert_eq!(of(PanelRule::Unanimous, &verdicts), (no, yes, no));
    assert_eq!(of(PanelRule::Weighted, &verdicts), (no, yes, no));
    assert_eq!(of(PanelRule::Majority, &verdicts[1..]), (None, yes, None));
    let combined = panel_of(PanelRule::Majority, &[1.0; 3])
        .combine(&verdicts)
        .unwrap();
    assert_eq!(combined.usage.completion_tokens, 9);
    assert_eq!(combined.votes.len(), 3);
    // One that is not read does not vote.
    let some = [verdicts[2].clone(), verdict("unparsed", None, yes)];
    assert_eq!(of(PanelRule::Majority, &some), (no, yes, no));
    let none = [
        verdict("unparsed", None, None),
        verdict("too_long", None, None),
    ];
    let combined = panel_of(PanelRule::Majority, &[1.0; 2])
        .combine(&none)
        .unwrap();
    assert_eq!(
        (combined.status, combined.overall),
        (Status::Unparsed, None)
    );
}

#[test]
fn a_vote_needs_enough_votes() {
    let yes = Some(true);
    let weights = [1.0, 1.0, 3.0];
    let voted = |rule, least, states: [&str; 3]| {
        let mut panel = panel_of(rule, &weights).with_least_votes(least);
        let trial = states.map(|state| verdict(state, yes, yes));
        let verdict = panel.vote(trial.to_vec()).unwrap();
        let silent = panel
            .silent()
            .map(|(name, states)| format!("{name}{}", states.len()));
        (verdict, silent.collect::<Vec<_>>().concat())
    };
    let alone = ["ok", "failed", "unparsed"];
    let two = ["ok", "ok", "failed"];
    for (rule, least, states, status) in [
        (PanelRule::Majority, None, alone, Status::Unsure),
        (PanelRule::Majority, None, two, Status::Ok),
        (PanelRule::Majority, Some(3), two, Status::Unsure),
        (PanelRule::Majority, Some(1), alone, Status::Ok),
        (PanelRule::Unanimous, None, two, Status::Unsure),
        (PanelRule::Unanimous, Some(2), two, Status::Ok),
        (PanelRule::Unanimous, None, ["ok"; 3], Status::Ok),
        // 2 of the weights are 5.
        (PanelRule::Weighted, None, two, Status::Unsure),
        (
            PanelRule::Weighted,
            None,
            ["failed", "failed", "ok"],
            Status::Ok,
        ),
        (
            PanelRule::Weighted,
            Some(2),
            ["failed", "failed", "ok"],
            Status::Unsure,
        ),
        // None votes.
        (
            PanelRule::Majority,
            None,
            ["failed", "unparsed", "failed"],
            Status::Failed,
        ),
    ] {
        let (verdict, silent) = voted(rule, least, states);
        assert_eq!(verdict.status, status, "{rule:?} {least:?} {states:?}");
        assert_eq!(verdict.reward.is_some(), status == Status::Ok);
        assert_eq!(verdict.overall, yes.filter(|_| status == Status::Ok));
        assert_eq!(verdict.votes.len(), 3);
        let expected = ["a1", "b1", "c1"]
            .into_iter()
            .zip(states)
            .filter(|(_, state)| *state != "ok");
        assert_eq!(silent, expected.map(|(name, _)| name).collect::<String>());
        if status == Status::Unsure {
            let error = verdict.error.unwrap();
            assert!(
                error.contains("judges have voted, and ")
                    && error.contains(" is failed (no reason given)"),
                "{error}"
            );
        }
    }
}

/// Where the votes leave the reward open there is no verdict; where they do not, the whole is what the fields say.
#[test]
fn a_tie_that_decides_makes_no_verdict() {
    let (yes, no) = (Some(true), Some(false));
    let tie = "the judges are tied on process";
    let both = "the judges are tied on process; the judges are tied on outcome";
    for (policy, one, other, reward, overall, error) in [
        (None, (yes, yes), (no, yes), None, None, Some(tie)),
        // Each says that the whole is wrong, but not why.
        (None, (no, yes), (yes, no), None, None, Some(both)),
        (None, (no, no), (yes, no), Some(0.0), no, None),
        (None, (yes, no), (no, no), Some(0.0), no, None),
        (None, (no, yes), (no, no), Some(0.0), no, None),
        (
            Some("outcome"),
            (yes, yes),
            (no, yes),
            Some(1.0),
            None,
            None,
        ),
        (
            Some("outcome"),
            (yes, yes),
            (no, no),
            None,
            None,
            Some("the judges are tied on outcome"),
        ),
        (
            Some("process=1,outcome=1"),
            (yes, no),
            (no, no),
            None,
            None,
            Some(tie),
        ),
        // Of one that does not judge it no derivation is known.
        (
            None,
            (None, yes),
            (None, yes),
            None,
            None,
            Some("no judge that has voted says process"),
        ),
    ] {
        let mut panel = panel_of(PanelRule::Majority, &[1.0; 2]);
        panel.policy = policy.map_or(panel.policy, |name| name.parse().unwrap());
        let trial = [one, other].map(|(process, outcome)| verdict("ok", process, outcome));
        let found = panel.vote(trial.to_vec()).unwrap();
        let status = if error.is_some() {
            Status::Unsure
        } else {
            Status::Ok
        };
        assert_eq!(found.error.as_deref(), error);
        assert_eq!(
            (found.status, found.reward, found.overall),
            (status, reward, overall),
            "{one:?} {other:?}"
        );
    }
    // Half of the weights against half.
    let trial = [(yes, yes), (yes, yes), (no, yes)];
    let trial = trial.map(|(process, outcome)| verdict("ok", process, outcome));
    let found = panel_of(PanelRule::Weighted, &[1.0, 1.0, 2.0]).vote(trial.to_vec());
    assert_eq!(found.unwrap().error.as_deref(), Some(tie));
}

#[test]
fn what_a_servers_fault_leaves_undecided_is_open() {
    let yes = Some(true);
    let open = |states: [(&str, bool); 3]| {
        let members = ["a", "b", "c"].map(|name| Member {
            name: name.to_owned(),
            weight: 1.0,
            yields: Yields::default(),
            calibration: Calibration::default(),
        });
        let mut panel = Panel::new(PanelRule::Majority, members.into(), None, false);
        let trial = states.map(|(state, open)| Verdict {
            open,
            ..verdict(state, yes, yes)
        });
        let verdict = panel.vote(trial.to_vec()).unwrap();
        (verdict.status, verdict.open)
    };
    let (voted, fault, unread) = (("ok", false), ("failed", true), ("unparsed", false));
    assert_eq!(open([voted, fault, fault]), (Status::Unsure, true));
    assert_eq!(open([voted, fault, unread]), (Status::Unsure, true));
    assert_eq!(open([voted, unread, unread]), (Status::Unsure, false));
    assert_eq!(open([voted, voted, fault]), (Status::Ok, false));
    assert_eq!(open([fault, fault, fault]), (Status::Failed, true));
    assert_eq!(open([unread, fault, unread]), (Status::Unparsed, true));
}

#[test]
fn kappas_are_those_of_the_textbooks() {
    // Cohen's example as in the usual tables: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no give 0.4.
    let mut two = Agreement::new(2);
    for (a, b, times) in [
        (true, true, 20),
        (true, false, 5),
        (false, true, 10),
        (false, false, 15),
    ] {
        for _ in 0..times {
            two.add(&[Some(a), Some(b)]);
        }
    }
    two.add(&[None, Some(true)]);
    let (pair, share, kappa) = two.cohen()[0];
    assert_eq!(
        (pair, share),
        (
            (0, 1),
            Share {
                count: 35,
                known: 50
            }
        )
    );
    assert!((kappa.unwrap() - 0.4).abs() < 1e-12);
    // Three raters: all alike on two of four items, two to one on the others, half of all votes being yes.
    let mut three = Agreement::new(3);
    for votes in [
        [true; 3],
        [false; 3],
        [true, true, false],
        [false, false, true],
    ] {
        three.add(&votes.map(Some));
    }
    let (kappa, trials) = three.fleiss();
    // Observed (1 + 1 + 1/3 + 1/3) / 4 = 2/3, by chance 1/2.
    assert!((kappa.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((trials, three.cohen().len()), (4, 3));
    let mut same = Agreement::new(2);
    same.add(&[Some(true), Some(true)]);
    assert_eq!(same.cohen()[0].2, None);
    assert_eq!(same.fleiss().0, None);
}

use serde_json::json;

use super::*;

fn verdict(process: Option<bool>, outcome: Option<bool>) -> Verdict {
    let line = json!({
        "id": "a", "index": 0, "trial": 0, "status": "ok", "process": process, "outcome": outcome, "perfect": null,
        "overall": null, "reward": null, "reason": null, "outcome_source": "judge", "rule_outcome": null,
        "confidence": {"process": 0.5, "outcome": 0.25, "perfect": null},
        "usage": {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0},
    });
    serde_json::from_value(line).unwrap()
}

#[test]
fn the_reward_of_every_state() {
    use RewardPolicy::{Outcome, ProcessOutcome};
    let (yes, no) = (Some(true), Some(false));
    for (process, outcome, both, outcome_only) in [
        (yes, yes, Some(1.0), Some(1.0)),
        (yes, no, Some(0.0), Some(0.0)),
        (yes, None, None, None),
        (no, yes, Some(0.0), Some(1.0)),
        (no, no, Some(0.0), Some(0.0)),
        (no, None, Some(0.0), None),
        (None, yes, None, Some(1.0)),
        (None, no, Some(0.0), Some(0.0)),
        (None, None, None, None),
    ] {
        let mut verdict = verdict(process, outcome);
        let what = format!("{process:?} {outcome:?}");
        assert_eq!(
            reward(ProcessOutcome, false, Yields::ALL, &verdict, None),
            both,
            "{what}"
        );
        assert_eq!(
            reward(Outcome, false, Yields::ALL, &verdict, None),
            outcome_only,
            "{what}"
        );
        // What requires the process is the product.
        assert_eq!(
            reward(Outcome, true, Yields::ALL, &verdict, None),
            both,
            "{what}"
        );
        for status in [Status::Unparsed, Status::TooLong, Status::Failed] {
            verdict.status = status;
            for (_, policy) in NAMED {
                assert_eq!(reward(policy, true, Yields::ALL, &verdict, None), None);
            }
        }
    }
}

#[test]
fn a_soft_reward_is_the_product_of_what_the_protocol_judges() {
    let soft = |yields, verdict: &Verdict| reward(RewardPolicy::Soft, false, yields, verdict, None);
    let mut verdict = verdict(Some(true), Some(false));
    assert_eq!(soft(Yields::ALL, &verdict), Some(0.125));
    let outcome = Yields {
        process: false,
        ..Yields::ALL
    };
    assert_eq!(soft(outcome, &verdict), Some(0.25));
    // The rules are certain.
    verdict.outcome_source = Some(OutcomeSource::Rules);
    assert_eq!(soft(Yields::ALL, &verdict), Some(0.0));
    verdict.outcome = Some(true);
    assert_eq!(soft(Yields::ALL, &verdict), Some(0.5));
    // Nothing is made up where no probability was recorded.
    verdict.confidence.process = None;
    assert_eq!(soft(Yields::ALL, &verdict), None);
}

#[test]
fn small_flaws_and_weights() {
    let (yes, no) = (Some(true), Some(false));
    let bonus = |values: [Option<bool>; 3]| {
        let [process, outcome, perfect] = values;
        RewardPolicy::PerfectBonus.of_values(process, outcome, perfect)
    };
    assert_eq!(bonus([yes, yes, yes]), Some(1.0));
    assert_eq!(bonus([yes, yes, no]), Some(0.9));
    assert_eq!(bonus([yes, yes, None]), None);
    assert_eq!(bonus([yes, no, None]), Some(0.0));
    let weights: RewardPolicy = "process=1, outcome=3".parse().unwrap();
    assert_eq!(weights.to_string(), "process=1,outcome=3");
    assert_eq!(weights.of_values(no, yes, None), Some(0.75));
    assert_eq!(weights.of_values(yes, yes, None), Some(1.0));
    assert_eq!(weights.of_values(None, yes, None), None);
}

#[test]
fn parts_are_a_share_where_all_are_known() {
    let (yes, no) = (Some(true), Some(false));
    for (parts, outcome, expected) in [
        (vec![yes, no, yes, no], no, Some(0.5)),
        (vec![yes, yes], yes, Some(1.0)),
        // The rules are asked, whatever the judge says of the whole.
        (vec![yes, no], yes, Some(0.5)),
        (vec![yes, None], no, None),
        (vec![yes, None], yes, Some(1.0)),
        (vec![], yes, Some(1.0)),
        (vec![], no, Some(0.0)),
        (vec![], None, None),
    ] {
        let verdict = Verdict {
            parts: parts.clone(),
            ..verdict(None, outcome)
        };
        let got = reward(RewardPolicy::Parts, false, Yields::ALL, &verdict, None);
        assert_eq!(got, expected, "{parts:?} {outcome:?}");
    }
}

#[test]
fn names_lead_back_to_their_policies() {
    for (name, policy) in NAMED {
        assert_eq!(policy.to_string(), name);
        assert_eq!(name.parse(), Ok(policy));
    }
    for wrong in [
        "lucky",
        "process",
        "process=0",
        "process=-1",
        "style=1",
        "process=1,process=2",
        "",
    ] {
        let error = wrong.parse::<RewardPolicy>().unwrap_err();
        assert!(
            error.to_string().contains("process-outcome, outcome"),
            "{wrong}"
        );
    }
}

#[test]
fn what_the_rules_do_not_say_is_no_part_of_a_reward_where_they_decide() {
    use RulesMode::{Fallback, First, Off, Only};
    for (policy, refused) in [
        ("process=0.3,outcome=0.7", &[First, Only][..]),
        ("outcome=1,perfect=0.1", &[First, Only][..]),
        ("outcome=1", &[][..]),
        ("process-outcome", &[][..]),
        ("perfect-bonus", &[][..]),
        ("parts", &[][..]),
        ("soft", &[Only][..]),
        ("score", &[Only][..]),
    ] {
        let policy: RewardPolicy = policy.parse().unwrap();
        for rules in [Fallback, First, Only, Off] {
            let is_refused = policy.refused_with(rules).is_some();
            assert_eq!(is_refused, refused.contains(&rules), "{policy} {rules:?}");
            let options = crate::judge::RunOptions {
                reward: policy,
                rules,
                ..Default::default()
            };
            assert_eq!(
                options.validate().is_err(),
                is_refused,
                "{policy} {rules:?}"
            );
        }
    }
}

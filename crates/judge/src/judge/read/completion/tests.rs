use super::*;
use juror_rules::{Config, OutcomeRules, RulesProfile};

#[test]
fn a_doubtful_token_draws_the_process_towards_one_half() {
    let confidence = |process, outcome| Confidence {
        process: Some(process),
        outcome: Some(outcome),
        ..Confidence::default()
    };
    let drawn = drawn_to_doubt(confidence(1.0, 0.9), &[(3, 0.9), (7, 0.6), (8, 0.1)], 8);
    assert_eq!(drawn, confidence(0.8, 0.9));
    assert_eq!(drawn_to_doubt(drawn, &[], 9), drawn);
    assert_eq!(
        drawn_to_doubt(confidence(0.0, 0.9), &[(0, 0.0)], 1).process,
        Some(0.5)
    );
}

#[test]
fn the_letter_of_an_option_may_decide_for_a_response_alone() {
    let by_rules = |profile, reference: &str, form: &str, response: &str| {
        let options = RunOptions {
            outcome_rules: OutcomeRules::new(profile, Config::default()),
            ..RunOptions::default()
        };
        let mut sample = Sample::new("7 * 9?", reference, response);
        sample.option_letter = Some(form.to_owned());
        let subject = Subject::new(sample);
        let builder = VerdictBuilder::of_yields(&options, OF_RULES);
        builder.by_rules(&subject, 0).outcome
    };
    for (reference, form, response, outcome) in [
        ("Paris", "B", "The answer is B.", Some(true)),
        ("Paris", "B", "The answer is Paris.", Some(true)),
        // As it would be without a letter.
        ("Paris", "B", "The answer is C.", None),
        ("nitrogen", "B", "The answer is nitrogen gas.", None),
    ] {
        let found = by_rules(RulesProfile::Strict, reference, form, response);
        assert_eq!(found, outcome, "{reference} {form}: {response}");
    }
    // Methods that others defined stay what they are.
    for profile in RulesProfile::ALL.into_iter().skip(1) {
        let without = by_rules(profile, "63", "none", "The answer is B.");
        let found = by_rules(profile, "63", "B", "The answer is B.");
        assert_eq!(found, without, "{profile}");
    }
}

#[test]
fn a_response_that_says_nothing_is_wrong_whoever_judges() {
    let subject = |response| Subject::new(Sample::new("What is 2 + 3?", "5", response));
    let options = |rules| RunOptions {
        rules,
        reward: RewardPolicy::ProcessOutcome,
        ..RunOptions::default()
    };
    for rules in [RulesMode::Fallback, RulesMode::First, RulesMode::Off] {
        let options = options(rules);
        let of = |yields| VerdictBuilder::of_yields(&options, yields);
        let both = Yields {
            score: false,
            first_error: false,
            ..Yields::ALL
        };
        for response in ["", " \n", "<think>Let me see: 2 + 3"] {
            let subject = subject(response);
            let is_skipped = of(both).is_skipped_by_rules(&subject);
            assert_eq!(is_skipped, rules != RulesMode::Off, "{response}");
            if !is_skipped {
                continue;
            }
            let verdict = of(both).skipped_by_rules(&subject, 0);
            assert_eq!((verdict.status, verdict.skipped), (Status::Ok, true));
            assert_eq!(verdict.process, Some(false), "{response}");
            assert_eq!(verdict.outcome, Some(false));
            assert_eq!(
                (verdict.perfect, verdict.overall),
                (Some(false), Some(false))
            );
            assert_eq!(verdict.reward, Some(0.0));
            let outcome = of(Yields {
                process: false,
                perfect: false,
                ..both
            });
            assert_eq!(outcome.skipped_by_rules(&subject, 0).process, None);
            // What is asked for a grade may be that nothing is said.
            let graded = of(Yields {
                score: true,
                ..both
            });
            let is_skipped = graded.is_skipped_by_rules(&subject);
            assert_eq!(is_skipped, rules == RulesMode::First, "{response}");
        }
        for said in ["<think>2 + 3</think>5", "<think>The answer is 5."] {
            assert!(!of(both).has_no_answer(&subject(said).sample), "{said}");
        }
        // Who measures the judge asks it all the same.
        let audited = RunOptions {
            audit: 1.0,
            ..options.clone()
        };
        let audited = VerdictBuilder::of_yields(&audited, both);
        assert!(!audited.is_skipped_by_rules(&subject("")));
    }
    // What the rules find wrong says something of a process that nobody has judged.
    let (options, wrong) = (
        options(RulesMode::First),
        subject("2 + 3 = 6. The answer is 6."),
    );
    let verdicts = VerdictBuilder::new(&options, None);
    assert!(verdicts.is_skipped_by_rules(&wrong));
    assert_eq!(verdicts.skipped_by_rules(&wrong, 0).process, None);
}

/// A server may have a limit of its own, and then more new tokens here change nothing.
#[test]
fn what_ended_an_answer_is_told() {
    let options = RunOptions {
        max_new_tokens: 2048,
        ..RunOptions::default()
    };
    let builder = VerdictBuilder::of_yields(&options, OF_RULES);
    let why = Unreadable::ThinkingNotFinished;
    for (is_cut, counted, told) in [
        (false, Some((9, 2)), ""),
        (true, None, " (stopped at the limit of 2048 new tokens)"),
        (
            true,
            Some((9, 2048)),
            " (stopped at the limit of 2048 new tokens)",
        ),
        (
            true,
            Some((9, 2)),
            " (the server ended it after 2 of 2048 new tokens)",
        ),
    ] {
        let found = builder.unreadable(&why, is_cut, counted);
        assert_eq!(found, format!("thinking not finished{told}"));
    }
}

//! Rubrics, step rewards, and what a verdict is worth.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

const RUBRIC: &str = r#"
[[criteria]]
name = "right"
text = "The final answer is 4."
points = 3

[[criteria]]
name = "clear"
text = "The derivation is easy to follow."
scale = [1, 5]

[[criteria]]
text = "The response is rude."
points = -2
"#;

/// Options that have the built-in judge grade what it does not know: what it says means nothing, and is a verdict.
const FORCED: [&str; 2] = ["--force-domain", "--quiet"];

#[test]
fn a_rubric_for_all_gives_scores() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    folder.write("rubric.toml", RUBRIC);
    let judge = words("judge in.jsonl --rubric rubric.toml -o out.jsonl --raw");
    folder
        .run(
            &[
                &judge[..],
                &["--force-domain", "--summary-json", "summary.json"],
            ]
            .concat(),
        )
        .expect(0, &["criteria", "right", "clear"]);
    let verdicts = folder.lines("out.jsonl");
    for verdict in &verdicts {
        let criteria = verdict["criteria"].as_array().unwrap();
        let names: Vec<&str> = criteria
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["right", "clear", "3"]);
        let value = |key: &str| {
            let got: f64 = criteria
                .iter()
                .map(|one| one[key].as_f64().unwrap() * one["points"].as_f64().unwrap())
                .sum();
            (got / 4.0).clamp(0.0, 1.0)
        };
        let close = |one: &Value, other: f64| (one.as_f64().unwrap() - other).abs() < 1e-6;
        assert!(close(&verdict["score"], value("score")), "{verdict}");
        assert!(
            close(&verdict["confidence"]["score"], value("expected")),
            "{verdict}"
        );
        assert_eq!(verdict["reward"], verdict["score"]);
        assert_eq!(verdict["parse_rule"], "constrained");
        for key in ["process", "outcome", "overall", "rule_outcome"] {
            assert!(verdict[key].is_null(), "{key}: {verdict}");
        }
        // What was chosen is what is written.
        let written = verdict["raw"]["completion"].as_str().unwrap();
        let object: Value = serde_json::from_str(&written[written.find('{').unwrap()..]).unwrap();
        for (at, one) in criteria.iter().enumerate() {
            assert_eq!(object[(at + 1).to_string()], one["grade"], "{written}");
        }
        let prompt = verdict["raw"]["prompt"].as_str().unwrap();
        let shown = "<rubric>\n1. The final answer is 4. [true or false]\n2. The derivation is easy to follow. [a whole number \
                     from 1 to 5]\n3. The response is rude. [true or false]\n</rubric>";
        assert!(prompt.contains(shown), "{prompt}");
    }
    let summary: Value = serde_json::from_str(&folder.read("summary.json")).unwrap();
    assert_eq!(summary["criteria"]["clear"]["known"], verdicts.len());
    // Another rubric is another run.
    folder.write("rubric.toml", RUBRIC.replace("rude", "short"));
    folder.run(&judge).expect(2, &["--restart"]);
}

#[test]
fn each_row_may_have_its_own_rubric() {
    let folder = Folder::new();
    let row = |rubrics: Value| {
        json!({"prompt": [{"role": "user", "content": "My head aches."}], "completion": "Rest.", "rubrics": rubrics}).to_string()
    };
    let rows = [
        row(json!([{"criterion": "Advises rest", "points": 5, "tags": []}])),
        row(json!(["Is polite", "Is short", "Names a drug"])),
    ];
    folder.write("in.jsonl", rows.join("\n"));
    let judge = words("judge in.jsonl --protocol rubric --reward soft -o out.jsonl");
    folder.run(&[&judge[..], &FORCED].concat()).expect(0, &[]);
    let verdicts = folder.lines("out.jsonl");
    let counts: Vec<usize> = verdicts
        .iter()
        .map(|verdict| verdict["criteria"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [1, 3]);
    for verdict in &verdicts {
        let value = |value: &Value| value.as_f64().unwrap();
        let (reward, expected) = (&verdict["reward"], &verdict["confidence"]["score"]);
        assert!((value(reward) - value(expected)).abs() < 1e-6, "{verdict}");
    }
    let bad = [row(json!([])), row(json!("be kind")), row(Value::Null)];
    folder.write("bad.jsonl", bad.join("\n"));
    folder
        .run(&["judge", "bad.jsonl", "--protocol", "rubric"])
        .expect(
            2,
            &[
                "bad.jsonl:1: `rubrics` (the rubric) is no rubric",
                "bad.jsonl:2",
                "must be a list of criteria",
            ],
        );
    folder.write("none.jsonl", rollouts(1));
    folder
        .run(&["judge", "none.jsonl", "--protocol", "rubric"])
        .expect(
            2,
            &["no rubric (looked for rubric, rubrics, criteria, rubric_items)"],
        );
}

#[test]
fn what_makes_no_sense_of_a_rubric_is_refused() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    folder.write("rubric.toml", RUBRIC);
    folder.write("bad.toml", "[[criteria]]\ntext = 'a'\nweight = 2\n");
    let judge = |options: &[&str]| folder.run(&[&["judge", "in.jsonl"], options].concat());
    judge(&["--rubric", "bad.toml"]).expect(2, &["bad.toml", "line 3: unknown field `weight`"]);
    judge(&["--rubric", "none.toml"]).expect(2, &["could not read none.toml"]);
    let rubric = ["--rubric", "rubric.toml"];
    for (options, why) in [
        (
            &["--protocol", "prime"][..],
            "--rubric has no meaning under protocol prime",
        ),
        (
            &["--reward", "outcome"],
            "it gives a score; use --reward score",
        ),
        (&["--reward", "process=1"], "it gives a score"),
        (&["--require-process"], "does not judge the process"),
        (&["--rules", "first"], "neither process nor outcome"),
        (
            &["--rules", "only"],
            "--rubric changes nothing with --rules only",
        ),
        (&["--decide-only"], "neither process nor outcome"),
        (&["--min-confidence", "0.9"], "neither process nor outcome"),
        (
            &["--free", "--reward", "soft"],
            "probabilities are recorded where grades are chosen",
        ),
        (
            &["--columns", "rubric=question"],
            "no rubric is read from the rows",
        ),
    ] {
        judge(&[&rubric, options].concat()).expect(2, &[why]);
    }
    judge(&["--reward", "score"]).expect(2, &["it gives no score"]);
    judge(&["--columns", "steps=question"]).expect(2, &["no steps is read from the rows"]);
}

#[test]
fn steps_have_rewards_and_are_scored_against_labels() {
    let folder = Folder::new();
    let row = |label: i64, steps: &[&str]| {
        json!({"problem": "What is 2 + 2 + 2?", "steps": steps, "label": label}).to_string()
    };
    let rows = [
        row(1, &["2 + 2 = 4", "4 + 2 = 7\n\nThe sum is 7.", "So 7."]),
        row(-1, &["2 + 2 = 4", "4 + 2 = 6"]),
    ];
    folder.write("in.jsonl", rows.join("\n"));
    folder
        .run_words(
            "judge in.jsonl --protocol first-error --keep label -o out.jsonl --raw --force-domain \
            --max-new-tokens 300",
        )
        .expect(0, &["first error", "F1"]);
    let verdicts = folder.lines("out.jsonl");
    for (verdict, steps) in verdicts.iter().zip([3, 2]) {
        let first = verdict["first_error"].as_u64().unwrap_or(steps);
        let rewards: Vec<f64> = (0..steps)
            .map(|step| f64::from(u8::from(step < first)))
            .collect();
        assert_eq!(verdict["step_rewards"], json!(rewards));
    }
    // A step of two paragraphs is one step.
    let prompt = verdicts[0]["raw"]["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("[1] 4 + 2 = 7\n\nThe sum is 7.\n\n[2] So 7."),
        "{prompt}"
    );
}

#[test]
fn rewards_follow_what_the_judge_says() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    let judge = |reward: &[&str]| {
        let options = words("judge in.jsonl -o out.jsonl --restart --quiet --max-new-tokens 300");
        folder.run(&[&options[..], reward].concat()).expect(0, &[]);
        folder.lines("out.jsonl")
    };
    for verdict in judge(&["--reward", "perfect-bonus"]) {
        let overall = verdict["overall"] == true;
        let expected = match (overall, verdict["perfect"] == true) {
            (false, _) => 0.0,
            (true, false) => 0.9,
            (true, true) => 1.0,
        };
        assert_eq!(verdict["reward"], expected, "{verdict}");
    }
    let one = |value: &Value| f64::from(u8::from(*value == true));
    for verdict in judge(&["--reward", "process=1,outcome=3"]) {
        let expected = (one(&verdict["process"]) + 3.0 * one(&verdict["outcome"])) / 4.0;
        assert_eq!(verdict["reward"], expected, "{verdict}");
    }
    for verdict in judge(&["--reward", "outcome", "--require-process", "--decide-only"]) {
        assert_eq!(verdict["reward"], one(&verdict["overall"]), "{verdict}");
    }
}

//! Judges that state a domain, and judges that must be sure.

use std::fs;
use std::path::Path;

use crate::common::{Folder, check_verdict, rollouts, row, words};
use serde_json::{Value, json};

/// A copy of the embedded judge with this `judge.json`.
fn judge_with(folder: &Folder, name: &str, file: &Value) {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    fs::create_dir(folder.path(name)).unwrap();
    for entry in fs::read_dir(tiny).unwrap() {
        let path = entry.unwrap().path();
        let to = folder.path(name).join(path.file_name().unwrap());
        fs::copy(path, to).unwrap();
    }
    folder.write(&format!("{name}/judge.json"), file.to_string());
}

fn statuses(verdicts: &[Value]) -> Vec<&str> {
    verdicts
        .iter()
        .map(|verdict| verdict["status"].as_str().unwrap())
        .collect()
}

#[test]
fn a_sample_outside_the_stated_domain_has_no_reward() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    // Everything that it writes begins with its thinking, so everything is outside.
    let domain =
        json!({"description": "nothing at all", "outside": "<think>", "inside": "<think>"});
    judge_with(&folder, "strict", &json!({ "domain": domain }));
    let ran = folder.run(&["judge", "in.jsonl", "--model", "strict", "-o", "out.jsonl"]);
    ran.expect(
        3,
        &[
            "3 (0 ok, 3 out of domain)",
            "3 of 3 are outside what `strict` knows (nothing at all)",
            "--force-domain",
        ],
    );
    let verdicts = folder.lines("out.jsonl");
    assert_eq!(statuses(&verdicts), ["out_of_domain"; 3]);
    for verdict in &verdicts {
        check_verdict(verdict);
        assert_eq!(verdict["outcome_source"], "rules");
    }
    // Forced, another run begins: the journal is of other settings.
    let forced = words("judge in.jsonl --model strict -o out.jsonl --force-domain");
    folder.run(&forced).expect(2, &["force_domain"]);
    let ran = folder.run(&[&forced[..], &["--restart"]].concat());
    assert_eq!(
        statuses(&folder.lines("out.jsonl")),
        ["ok"; 3],
        "{}",
        ran.stderr
    );
    // The forced beginning of the answer is a part of the prompt.
    let ran = folder.run(&[&forced[..], &["--dry-run"]].concat());
    assert!(ran.stdout.contains("assistant\n<think>"), "{}", ran.stdout);

    judge_with(&folder, "any", &json!({}));
    folder
        .run(&["judge", "in.jsonl", "--model", "any", "--force-domain"])
        .expect(2, &["any states no domain"]);
    folder
        .run(&["judge", "in.jsonl", "--rules", "only", "--force-domain"])
        .expect(2, &["--force-domain"]);
    judge_with(&folder, "broken", &json!({"domain": {"outside": ""}}));
    folder
        .run(&["judge", "in.jsonl", "--model", "broken"])
        .expect(2, &["broken/judge.json"]);
}

#[test]
fn rules_that_contradict_the_judge_are_said() {
    let folder = Folder::new();
    // Right answers, written otherwise than the reference in a way that the judge does not know.
    let rows: Vec<String> = (1..15)
        .map(|n| {
            let value = format!("{n}.5");
            row(
                &format!("r{n}"),
                &format!("What is {} / 2?", 2 * n + 1),
                &format!("{}/2", 2 * n + 1),
                &format!("{} / 2 = {value}. The answer is {value}.", 2 * n + 1),
            )
        })
        .collect();
    folder.write("in.jsonl", rows.concat());
    judge_with(&folder, "any", &json!({}));
    let ran = folder.run_words("judge in.jsonl --model any -o out.jsonl --summary-json s.json");
    let summary: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    let (agree, known) = (
        &summary["rules_agree"]["true"],
        &summary["rules_agree"]["known"],
    );
    assert!(known.as_u64().unwrap() >= 10, "{summary}");
    assert_eq!(summary["at_odds_with_rules"], true, "{summary}");
    ran.expect(
        ran.code.unwrap(),
        &[
            "WARNING",
            &format!("agree on {agree} of {known} outcomes only"),
            "some of the others (r",
        ],
    );

    // Warnings are no progress: --quiet leaves them.
    let quiet = folder.run(&["judge", "in.jsonl", "--model", "any", "--quiet"]);
    let lines: Vec<&str> = quiet.stderr.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("WARNING: `any` and the rules agree on"),
        "{}",
        quiet.stderr
    );

    let domain =
        json!({"description": "little", "outside": "nothing begins so", "rules_must_agree": true});
    judge_with(&folder, "careful", &json!({ "domain": domain }));
    let ran = folder.run_words("judge in.jsonl --model careful -o careful.jsonl");
    ran.expect(3, &["outside what `careful` knows (little)"]);
    for verdict in folder.lines("careful.jsonl") {
        check_verdict(&verdict);
        assert!(verdict["status"] != "ok" || verdict["outcome"] == verdict["rule_outcome"]);
    }
}

#[test]
fn a_judge_must_be_as_sure_as_asked() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(4));
    judge_with(&folder, "any", &json!({}));
    // Log-odds divided by a million: every probability is 0.5.
    judge_with(
        &folder,
        "humble",
        &json!({"calibration": {"process": {"temperature": 1e6}, "outcome": {"temperature": 1e6}}}),
    );
    let judge = |model: &str, out: &str, least: &str| {
        folder.run_words(&format!(
            "judge in.jsonl --model {model} -o {out} --min-confidence {least}"
        ))
    };
    judge("any", "any.jsonl", "0.5").expect(0, &["4 (4 ok)"]);
    judge("humble", "humble.jsonl", "0.6").expect(3, &["4 (0 ok, 4 unsure)"]);
    for verdict in folder.lines("humble.jsonl") {
        check_verdict(&verdict);
        assert!(verdict["confidence"]["process"].is_number(), "{verdict}");
    }
    judge("any", "any.jsonl", "0.9").expect(2, &["min_confidence"]);
    judge("any", "out.jsonl", "0.2").expect(2, &["from 0.5 to 1"]);
}

#[test]
fn a_judge_that_says_one_thing_to_everything_is_told() {
    let folder = Folder::new();
    // All are right, and the judge says so; without the rules nobody could know that they are.
    let rows = (0..20).map(|n| {
        let value = n + 1;
        row(
            &format!("r{n}"),
            &format!("What is {n} + 1?"),
            &value.to_string(),
            &format!("{n} + 1 = {value}. The answer is {value}."),
        )
    });
    folder.write("in.jsonl", rows.collect::<String>());
    let judge = |more: &[&str]| {
        let arguments = ["judge", "in.jsonl", "--force-domain", "--quiet"];
        folder.run(&[&arguments[..], more].concat())
    };
    let ran = judge(&["--rules", "off"]);
    ran.expect(
        ran.code.unwrap(),
        &["WARNING: `tiny` finds all 20 outcomes right", "juror eval"],
    );
    assert!(
        !judge(&["--rules", "off", "--limit", "19"])
            .stderr
            .contains("WARNING")
    );
}

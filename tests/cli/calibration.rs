//! `juror calibrate`, and what its file does.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Rollouts with a label that is wrong in every third row, so that the judge is too sure.
fn labelled(count: usize) -> String {
    let rows = rollouts(count);
    let row = |(at, line): (usize, &str)| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["truth"] = json!(u8::from(at % 3 != 0));
        row.to_string()
    };
    let rows: Vec<String> = rows.lines().enumerate().map(row).collect();
    rows.join("\n")
}

#[test]
fn a_fitted_calibration_is_applied() {
    let folder = Folder::new();
    folder.write("in.jsonl", labelled(12));
    let judge = words("judge in.jsonl -o out.jsonl --keep truth --restart");
    folder.run(&judge).expect(0, &[]);
    for further in [&[][..], &["--isotonic"]] {
        let calibrate = words(
            "calibrate out.jsonl --label-columns outcome=truth,process=truth -o calibration.json",
        );
        folder.run(&[&calibrate[..], further].concat()).expect(
            0,
            &[
                "outcome: 12 labels",
                "after",
                "12 labels of process are few",
            ],
        );
        let fitted: Value = serde_json::from_str(&folder.read("calibration.json")).unwrap();
        let kind = if further.is_empty() {
            "temperature"
        } else {
            "isotonic"
        };
        assert!(fitted["outcome"].get(kind).is_some(), "{fitted}");
        let soft = |options: &[&str]| {
            folder
                .run(&[&judge[..], &["--reward", "soft"], options].concat())
                .expect(0, &[]);
            let reward = |verdict: &Value| verdict["reward"].as_f64().unwrap();
            folder
                .lines("out.jsonl")
                .iter()
                .map(reward)
                .fold(0.0, f64::max)
        };
        let (own, calibrated) = (soft(&[]), soft(&["--calibration", "calibration.json"]));
        // Nobody can be surer than the labels let him.
        assert!(calibrated < own, "{calibrated} {own}");
        // Another calibration is another run.
        let other = words("judge in.jsonl -o out.jsonl --keep truth --reward soft");
        folder.run(&other).expect(2, &["calibrated"]);
        let unsure = words("judge in.jsonl --calibration calibration.json --min-confidence 0.999");
        folder.run(&unsure).expect(3, &["unsure"]);
    }
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let folder = Folder::new();
    folder.write("in.jsonl", labelled(2));
    folder.write("bad.json", "{\"outcome\": {\"temperature\": -1}}");
    folder
        .run(&["judge", "in.jsonl", "-o", "out.jsonl"])
        .expect(0, &[]);
    let calibrate = |arguments: &[&str]| folder.run(&[&["calibrate"], arguments].concat());
    calibrate(&["out.jsonl", "--label-columns", "outcome=truth"])
        .expect(2, &["judge with `--keep "]);
    calibrate(&["out.jsonl"]).expect(2, &["looked for", "--labels DATA"]);
    calibrate(&words(
        "out.jsonl --labels in.jsonl --label-columns outcome=nowhere",
    ))
    .expect(2, &["no row has a label", "truth"]);
    calibrate(&["in.jsonl", "--label-columns", "outcome=truth"])
        .expect(2, &["in.jsonl:1: no verdict"]);
    calibrate(&["none.jsonl", "--label-columns", "outcome=truth"]).expect(2, &["none.jsonl"]);
    let judge = |options: &[&str]| folder.run(&[&["judge", "in.jsonl"], options].concat());
    judge(&["--calibration", "bad.json", "--reward", "soft"])
        .expect(2, &["bad.json: outcome: temperature -1"]);
    folder.write("good.json", "{}");
    judge(&["--calibration", "good.json"]).expect(
        2,
        &["without --reward soft or --min-confidence it changes nothing"],
    );
    judge(&["--calibration", "good.json", "--rules", "only"]).expect(2, &["changes nothing"]);
}

#[test]
fn probabilities_that_carry_nothing_are_told_so() {
    let folder = Folder::new();
    // The surer the judge, the rarer it is right.
    let line = |at: usize| {
        let p = (at % 20) as f64 / 20.0 + 0.02;
        json!({"id": at.to_string(), "index": at, "trial": 0, "status": "ok", "process": null, "outcome": p > 0.5, "perfect": null,
            "overall": null, "reward": 1.0, "reason": null, "confidence": {"process": null, "outcome": p, "perfect": null},
            "input": {"truth": at % 20 < 3 || at.is_multiple_of(7)},
            "usage": {"prompt_tokens": 1, "cached_tokens": 0, "completion_tokens": 1}})
        .to_string()
    };
    let lines: Vec<String> = (0..400).map(line).collect();
    folder.write("verdicts.jsonl", lines.join("\n"));
    folder.write("in.jsonl", rollouts(1));
    let said = "outcome: the probabilities carry nothing about the labels";
    for further in [&[][..], &["--isotonic"]] {
        let calibrate = words("calibrate verdicts.jsonl --label-columns outcome=truth -o c.json");
        folder
            .run(&[&calibrate[..], further].concat())
            .expect(0, &[said]);
        let file: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
        assert!(
            file["notes"][0].as_str().unwrap().starts_with(said),
            "{file}"
        );
        // Who uses it is told, too.
        let judge = words("judge in.jsonl --calibration c.json --reward soft -q");
        let ran = folder.run(&judge);
        ran.expect(ran.code.unwrap(), &[said]);
    }
}

/// One label for each fifth row, as when people label a part of what was judged.
#[test]
fn a_curve_is_measured_on_labels_of_other_samples_whichever_rows_have_them() {
    let folder = Folder::new();
    let row = |at: usize, every: usize| {
        let label = (at.is_multiple_of(every)).then_some(!(at / 5_usize).is_multiple_of(3));
        json!({"id": at.to_string(), "question": "q", "reference_answer": "1", "response": "r", "outcome_label": label}).to_string()
    };
    let line = |at: usize, trial: usize| {
        json!({"id": at.to_string(), "index": at, "trial": trial, "status": "ok", "process": null, "outcome": true, "perfect": null,
            "overall": null, "reward": 1.0, "reason": null, "confidence": {"outcome": 0.99}})
        .to_string()
    };
    let rows: Vec<String> = (0..300).map(|at| row(at, 5)).collect();
    folder.write("rows.jsonl", rows.join("\n"));
    let lines = (0..300).flat_map(|at| (0..4).map(move |trial| line(at, trial)));
    folder.write("verdicts.jsonl", lines.collect::<Vec<_>>().join("\n"));
    let ran = folder.run_words("calibrate verdicts.jsonl --labels rows.jsonl -o c.json");
    // 40 of 60 are right: -(2 ln(2/3) + ln(1/3)) / 3 is 0.637.
    ran.expect(
        0,
        &[
            "outcome: 60 labels; negative log-likelihood 1.542 before and 0.6",
            "60 labels of outcome are few",
        ],
    );
}

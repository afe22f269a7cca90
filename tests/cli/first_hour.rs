//! What a newcomer types first, and what is said then.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, row};

fn json_of(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

/// A verdict with an outcome and its probability, written as in a file.
fn verdict(id: usize, outcome: bool, probability: f64) -> String {
    json!({"id": id.to_string(), "index": id, "trial": 0, "status": "ok", "process": null, "outcome": outcome, "perfect": null,
        "overall": outcome, "reward": f64::from(u8::from(outcome)), "reason": null,
        "confidence": {"process": null, "outcome": probability, "perfect": null},
        "usage": {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 4}})
    .to_string()
}

/// Verdicts with these outcomes and probabilities, and labels.
fn scored(folder: &Folder, rows: &[(bool, f64, bool)]) -> Value {
    let verdicts: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(id, (said, probability, _))| verdict(id, *said, *probability))
        .collect();
    let labels: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(id, (.., label))| json!({"id": id.to_string(), "outcome_label": label}).to_string())
        .collect();
    folder.write("v.jsonl", verdicts.join("\n"));
    folder.write("l.jsonl", labels.join("\n"));
    folder
        .run_words("eval v.jsonl --labels l.jsonl --json out.json")
        .expect(0, &[]);
    json_of(folder, "out.json")["judges"][0].clone()
}

#[test]
fn a_complete_run_of_the_first_rows_was_not_stopped() {
    let folder = Folder::new();
    folder.write("in.jsonl", labelled(8));
    folder
        .run_words("judge in.jsonl -o out.jsonl --limit 5 -q")
        .expect(0, &[]);
    let ran = folder.run_words("eval out.jsonl --labels in.jsonl");
    ran.expect(
        0,
        &[
            "left out: labelled samples without a verdict (3)",
            "of the first 5",
        ],
    );
    assert!(!ran.stderr.contains("stopped"), "{}", ran.stderr);
    // Of others it is not known which were judged.
    let lines: Vec<String> = folder
        .read("out.jsonl")
        .lines()
        .map(str::to_owned)
        .collect();
    folder.write("some.jsonl", [&*lines[0], &*lines[4]].join("\n"));
    folder
        .run_words("eval some.jsonl --labels in.jsonl")
        .expect(
            0,
            &[
                "left out: labelled samples without a verdict (6)",
                "of a run that was stopped",
            ],
        );
}

/// Rollouts with labels.
fn labelled(count: usize) -> String {
    let rows = rollouts(count);
    let rows = rows.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["overall_label"] = json!(true);
        row.to_string()
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn figures_are_those_of_the_digits_in_the_file() {
    let folder = Folder::new();
    let judge = scored(
        &folder,
        &[
            (true, 0.9, true),
            (false, 0.1, false),
            (true, 0.7, false),
            (false, 0.3, true),
        ],
    );
    let reliability = &judge["reliability"]["outcome"];
    // (0.01 + 0.01 + 0.49 + 0.49) / 4, and thresholds half way between probabilities.
    let brier = reliability["brier"].as_f64().unwrap();
    assert!((brier - 0.25).abs() < 1e-15, "{brier}");
    let error = reliability["calibration_error"].as_f64().unwrap();
    assert!(
        (error - (0.1 + 0.1 + 0.7 + 0.7) / 4.0).abs() < 1e-15,
        "{error}"
    );
    assert_eq!(reliability["bins"][7]["probability"], 0.7);
}

#[test]
fn what_is_not_defined_is_null() {
    let folder = Folder::new();
    // All labels are alike: nothing is beyond chance, and where the verdicts are so too chance says the same.
    let judge = scored(
        &folder,
        &[(true, 0.9, true), (true, 0.8, true), (false, 0.2, true)],
    );
    let scores = &judge["all"]["tasks"]["outcome"];
    assert_eq!(scores["kappa"], json!({"value": 0.0, "interval": null}));
    assert_eq!(judge["reliability"]["outcome"]["auc"], Value::Null);
    let ran = folder.run_words("eval v.jsonl --labels l.jsonl");
    ran.prints(&["outcome: all 3 labels are true, so always true is right on each"]);
    let judge = scored(&folder, &[(true, 0.9, true), (true, 0.8, true)]);
    assert_eq!(judge["all"]["tasks"]["outcome"]["kappa"], Value::Null);
    // Three samples that all resamples find alike have no interval.
    let judge = scored(
        &folder,
        &[(true, 0.9, true), (true, 0.8, true), (true, 0.7, false)],
    );
    let scores = &judge["all"]["tasks"]["outcome"];
    assert_eq!(scores["kappa"], json!({"value": 0.0, "interval": null}));
    let judge = scored(&folder, &[(true, 0.9, true), (false, 0.2, false)]);
    let scores = &judge["all"]["tasks"]["outcome"];
    assert_eq!(scores["f1"], json!({"value": 1.0, "interval": null}));
    assert_eq!(scores["accuracy"]["interval"][1], 1.0);
    // A benchmark of one token a generation has no time between tokens.
    folder
        .run_words("bench --samples 2 --template-tokens 8 --input-tokens 8 --output-tokens 1 --json b.json")
        .expect(0, &[]);
    let report = json_of(&folder, "b.json");
    let report = report["runs"].get(0).unwrap_or(&report).clone();
    assert_eq!(report["mean_itl_ms"], Value::Null, "{report}");
    assert_eq!(report["decode_tokens_per_second"], Value::Null);
    assert!(
        report["mean_ttft_ms"]
            .as_f64()
            .is_some_and(|time| time > 0.0)
    );
}

#[test]
fn rows_where_verdicts_are_wanted_are_named() {
    let folder = Folder::new();
    folder.write("in.jsonl", labelled(1) + "\n");
    let what = [
        "no verdict of `juror judge`",
        "a row to be judged",
        "question",
        "--labels",
    ];
    folder
        .run_words("eval in.jsonl --labels in.jsonl")
        .expect(2, &what);
    folder.run_words("view in.jsonl").expect(2, &what);
    folder
        .run_words("build hard in.jsonl --verdicts in.jsonl -o h.jsonl")
        .expect(2, &what);
}

#[test]
fn long_options_with_one_dash_are_refused() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    for (line, option) in [
        ("judge in.jsonl -out x", "`-out` has one dash"),
        ("judge in.jsonl -output=x", "write `--output`"),
        ("judge in.jsonl -o x -model tiny", "write `--model`"),
        ("models show -hash tiny", "write `--hash`"),
    ] {
        folder.run_words(line).expect(2, &[option]);
    }
    assert_eq!(folder.names(), ["in.jsonl"]);
    // Short options with their values stay.
    folder
        .run_words("judge in.jsonl -oout.jsonl -q")
        .expect(0, &[]);
}

#[test]
fn names_of_models_that_are_elsewhere_say_where() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let judge = |model: &str, parts: &[&str]| {
        let run = folder
            .juror(&["judge", "in.jsonl", "-o", "out.jsonl", "--model", model])
            .env("HF_ENDPOINT", "http://127.0.0.1:9")
            .env("HF_HOME", folder.path("cache"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        for part in parts {
            assert!(said.contains(part), "{model}: `{part}` is not in: {said}");
        }
    };
    judge(
        "gpt-4o",
        &[
            "--endpoint https://api.openai.com/v1 --model gpt-4o",
            "JUROR_ENDPOINT_KEY",
        ],
    );
    judge(
        "anthropic/claude-opus-4",
        &["--endpoint https://api.anthropic.com/v1"],
    );
    judge(
        "https://huggingface.co/datasets/openai/gsm8k",
        &["no model's", "ORG/NAME"],
    );
    judge(
        "http://127.0.0.1:9/v1",
        &[
            "nothing listens there",
            "is the server started",
            "http://HOST:8000/v1",
        ],
    );
    // The page of a model is that model: the hub is asked for it.
    judge("https://huggingface.co/org/name/tree/v2", &["127.0.0.1:9"]);
}

#[test]
fn a_quiet_run_says_why_its_exit_code_is_not_0() {
    let folder = Folder::new();
    let far = row(
        "far",
        "What is the capital of France?",
        "Paris",
        "It is Paris.",
    );
    folder.write("in.jsonl", format!("{}\n{far}", rollouts(1).trim_end()));
    let ran = folder.run_words("judge in.jsonl -o out.jsonl -q");
    ran.expect(
        3,
        &["verdicts 2 (1 ok, 1 out of domain): exit code 3 (0 with --allow-open)"],
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let ran = folder.run_words("judge in.jsonl -o out.jsonl -q --allow-open");
    ran.expect(0, &[]);
    assert_eq!(ran.stderr, "");
    folder.write(
        "pairs.jsonl",
        "{\"gold\": \"1\", \"pred\": \"1\"}\n{\"gold\": \"1\"}\n",
    );
    folder
        .run_words("verify pairs.jsonl -o v.jsonl -q")
        .expect(3, &["1 of 2 lines", "exit code 3"]);
    folder
        .run_words("verify pairs.jsonl -o v.jsonl -q --allow-open")
        .expect(0, &[]);
}

#[test]
fn a_judge_that_is_not_sure_is_told_from_one_that_knows_nothing() {
    let folder = Folder::new();
    let rows = [
        row("bare", "What is 1+1?", "2", "2"),
        row("steps", "What is 1+1?", "2", "1 + 1 = 2. The answer is 2."),
        row(
            "far",
            "What is the capital of France?",
            "Paris",
            "It is Paris.",
        ),
    ];
    folder.write("in.jsonl", rows.join("\n"));
    let ran = folder.run_words("judge in.jsonl -o out.jsonl --summary-json s.json");
    ran.expect(
        3,
        &[
            "3 (1 ok, 2 out of domain (1 of them not sure))",
            "2 of 3 are outside what `tiny` knows (1 of them where it is not sure)",
            "`1 + 1 = 2. The answer is 2.`",
        ],
    );
    assert_eq!(json_of(&folder, "s.json")["not_sure_of_domain"], 1);
    let lines = folder.lines("out.jsonl");
    assert_eq!(lines[1]["status"], "ok");
    assert!(lines[0]["error"].as_str().unwrap().contains("not sure"));
    assert!(
        lines[2]["error"]
            .as_str()
            .unwrap()
            .contains("does not know")
    );
}

#[test]
fn a_dry_run_bounds_what_known_text_bounds() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(4));
    // The embedded judge writes its workings, which nothing bounds.
    let free = folder.run_words("judge in.jsonl --dry-run --max-new-tokens 640");
    free.prints(&[
        "2560 to generate, 640 a verdict",
        "300 tokens, as is typical",
        "if all have 640 tokens",
    ]);
    // A label is a word.
    folder.write_model();
    std::fs::remove_file(folder.path("model/judge.json")).unwrap();
    let known = folder
        .run_words("judge in.jsonl --dry-run --model model --protocol compass --thinking-budget 4");
    let text = known.stdout.clone();
    let each: Option<usize> = text
        .split_once(" to generate, ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    assert!(
        each.is_some_and(|each| (1..100).contains(&each)),
        "{text} {}",
        known.stderr
    );
    assert!(!text.contains("as is typical"), "{text}");
}

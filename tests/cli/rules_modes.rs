//! The part the rules play, and the one state each sample ends in.

use crate::common::{Folder, Ran, check_verdict, row};
use serde_json::{Value, json};

/// A right answer, a wrong one, and one of which the rules cannot tell.
fn three() -> Folder {
    let folder = Folder::new();
    let question = "Mia has 3 pens and buys 4 more. How many pens has she now?";
    folder.write(
        "in.jsonl",
        [
            row("right", question, "7", "3 + 4 = 7.\n#### 7"),
            row("wrong", question, "7", "3 + 4 = 8.\n#### 8"),
            row("open", question, r"\frac{1}{", "So it is x + 1."),
        ]
        .concat(),
    );
    folder
}

/// Judges with so few tokens that no verdict can be written, or with rules alone.
fn judge(folder: &Folder, more: &[&str]) -> Ran {
    let few = ["--max-new-tokens", "4", "--force-domain"];
    let few = if more.contains(&"only") {
        &[][..]
    } else {
        &few
    };
    let arguments = [&["judge", "in.jsonl"], few, more].concat();
    let ran = folder.run(&arguments);
    ran.lines().iter().for_each(check_verdict);
    ran
}

/// The fields named, of one line.
fn fields<const N: usize>(line: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|name| line[name].clone())
}

const SHOWN: [&str; 6] = [
    "status",
    "process",
    "outcome",
    "outcome_source",
    "rule_outcome",
    "reward",
];

#[test]
fn settings_say_what_counts_as_the_answer() {
    let folder = Folder::new();
    let rows = [
        row("percent", "How many?", "20", r"\boxed{20\%}"),
        row("cents", "How many?", "50", r"\boxed{50} cents"),
        row(
            "outside",
            "How many?",
            "7",
            r"In \boxed{6} steps. The answer is 7.",
        ),
        row("list", "How many?", "2, 3", r"$\boxed{2}$ and $\boxed{3}$"),
    ];
    folder.write("in.jsonl", rows.concat());
    let outcomes = |more: &[&str]| -> Vec<Value> {
        let ran = judge(&folder, &[&["--rules", "only"], more].concat());
        let lines = ran.lines();
        lines.iter().map(|line| line["outcome"].clone()).collect()
    };
    assert_eq!(outcomes(&[])[..2], [Value::Null, Value::Null]);
    let config = r#"{"percent": "same", "cents": "distinct"}"#;
    let given = outcomes(&["--rules-config", config]);
    assert_eq!(given[..2], [json!(true), json!(false)]);
    let boxed = outcomes(&["--boxed-only"]);
    assert_eq!(boxed[2..], [json!(false), json!(true)]);
}

#[test]
fn rules_alone_need_no_model() {
    let folder = three();
    let ran = judge(&folder, &["--rules", "only"]);
    ran.expect(3, &["verdicts  3 (2 ok, 1 unparsed)"]);
    let lines = ran.lines();
    let null = Value::Null;
    assert_eq!(
        fields(&lines[0], SHOWN),
        [
            json!("ok"),
            null.clone(),
            json!(true),
            json!("rules"),
            json!(true),
            null.clone()
        ]
    );
    // One false factor decides the product.
    assert_eq!(
        fields(&lines[1], SHOWN),
        [
            json!("ok"),
            null.clone(),
            json!(false),
            json!("rules"),
            json!(false),
            json!(0.0)
        ]
    );
    assert_eq!(
        fields(&lines[2], SHOWN),
        [
            json!("unparsed"),
            null.clone(),
            null.clone(),
            null.clone(),
            null.clone(),
            null
        ]
    );
    let why = lines[2]["error"].as_str().unwrap();
    assert!(why.starts_with("the rules cannot tell: "), "{why}");

    let by_outcome = judge(&folder, &["--rules", "only", "--reward", "outcome"]);
    let rewards: Vec<Value> = by_outcome
        .lines()
        .iter()
        .map(|line| line["reward"].clone())
        .collect();
    assert_eq!(rewards, [json!(1.0), json!(0.0), Value::Null]);

    judge(&folder, &["--rules", "only", "--limit", "2"]).expect(0, &["(2 ok)"]);
}

#[test]
fn as_fallback_the_rules_give_the_outcome_and_never_a_reward() {
    let folder = three();
    let default = judge(&folder, &[]);
    let ran = judge(&folder, &["--rules", "fallback"]);
    assert_eq!(ran.stdout, default.stdout);
    ran.expect(
        3,
        &[
            "3 unparsed",
            "mean reward  –",
            "from rules  2 outcomes, where the judge gave none",
        ],
    );
    let outcomes: Vec<_> = ran
        .lines()
        .iter()
        .map(|line| {
            fields(
                line,
                ["status", "outcome", "outcome_source", "rule_outcome"],
            )
        })
        .collect();
    let unparsed = json!("unparsed");
    assert_eq!(
        outcomes,
        [
            [unparsed.clone(), json!(true), json!("rules"), json!(true)],
            [unparsed.clone(), json!(false), json!("rules"), json!(false)],
            [unparsed, Value::Null, Value::Null, Value::Null],
        ]
    );
    for line in ran.lines() {
        assert!(line["raw"]["completion"].is_string(), "{line}");
        assert!(line["raw"].get("prompt_tokens").is_none(), "{line}");
        assert!(line["usage"]["completion_tokens"].as_u64() <= Some(4));
        let why = line["error"].as_str().unwrap();
        assert!(why.contains("the limit of 4 new tokens"), "{why}");
    }
}

#[test]
fn first_the_rules_spare_the_model_what_is_wrong() {
    let folder = three();
    let ran = judge(&folder, &["--rules", "first", "--trials", "2"]);
    ran.expect(
        3,
        &[
            "not asked  2 that the rules found wrong",
            "mean reward  0.000 over 2",
        ],
    );
    let lines = ran.lines();
    assert_eq!(lines.len(), 6);
    for line in &lines {
        let asked = line["usage"]["completion_tokens"] != 0;
        if line["id"] == "wrong" {
            assert_eq!(line["skipped"], true);
            assert_eq!(
                fields(
                    line,
                    ["status", "outcome", "outcome_source", "reward", "overall"]
                ),
                [
                    json!("ok"),
                    json!(false),
                    json!("rules"),
                    json!(0.0),
                    json!(false)
                ]
            );
            assert!(line["process"].is_null() && !asked, "{line}");
        } else {
            assert!(line.get("skipped").is_none() && asked, "{line}");
            // Sampled, its four tokens may also say that it does not know the problem.
            assert!(
                ["unparsed", "out_of_domain"].contains(&line["status"].as_str().unwrap()),
                "{line}"
            );
        }
    }
}

#[test]
fn off_the_rules_say_nothing() {
    let folder = three();
    let ran = judge(&folder, &["--rules", "off"]);
    for line in ran.expect(3, &["3 unparsed"]).lines() {
        for field in ["outcome", "outcome_source", "rule_outcome", "reward"] {
            assert!(line[field].is_null(), "{line}");
        }
    }
    assert!(!ran.stderr.contains("from rules"), "{}", ran.stderr);
}

#[test]
fn each_method_reads_its_own_answers() {
    let folder = Folder::new();
    let answers = [
        "#### 7",
        "The answer is 7. I asked 3 friends.",
        "So 7",
        "#### 7.0",
    ];
    let rows = answers.map(|answer| row(answer, "3 + 4?", "7", answer));
    folder.write("in.jsonl", rows.concat());
    for (method, outcomes) in [
        ("strict", [true, true, true, true]),
        ("compat", [true, true, true, true]),
        ("gsm8k", [true, true, true, true]),
        ("official", [true, false, false, false]),
        ("strict-match", [true, false, false, false]),
        ("flexible-extract", [true, false, true, false]),
        ("multi", [true, true, true, true]),
    ] {
        let ran = judge(&folder, &["--rules", "only", "--rules-profile", method]);
        let found: Vec<Value> = ran
            .expect(0, &[])
            .lines()
            .iter()
            .map(|line| line["outcome"].clone())
            .collect();
        assert_eq!(found, outcomes.map(Value::Bool), "{method}");
    }
}

#[test]
fn what_does_not_fit_is_not_judged_in_part() {
    let folder = Folder::new();
    let long = "Let me add that up once more. ".repeat(4000);
    folder.write(
        "in.jsonl",
        [
            row("wrong", "3 + 4?", "7", "#### 8"),
            row("long", "3 + 4?", "7", &format!("{long}\n#### 7")),
            row("short", "3 + 4?", "7", "#### 7"),
        ]
        .concat(),
    );
    let ran = judge(&folder, &["--rules", "first"]);
    ran.expect(3, &["verdicts  3 (1 ok, 1 unparsed, 1 too long)"]);
    let lines = ran.lines();
    assert_eq!(
        lines.iter().map(|line| &line["status"]).collect::<Vec<_>>(),
        ["ok", "too_long", "unparsed"]
    );
    let too_long = &lines[1];
    assert_eq!(too_long["usage"]["completion_tokens"], 0);
    assert_eq!(
        fields(too_long, ["outcome", "outcome_source", "reward"]),
        [json!(true), json!("rules"), Value::Null]
    );
    let why = too_long["error"].as_str().unwrap();
    assert!(
        why.contains("up to 4 new ones exceed the model's context of "),
        "{why}"
    );

    // However few are judged at once, there is room for whatever fits the context.
    let fitting = "Let me add that up once more. ".repeat(200);
    folder.write("long.jsonl", row("long", "3 + 4?", "7", &fitting));
    let ran =
        folder.run_words("judge long.jsonl --max-new-tokens=4 --max-sequences=1 --force-domain");
    let lines = ran.expect(3, &["1 unparsed"]).lines();
    assert!(lines[0]["usage"]["prompt_tokens"].as_u64() > Some(2000));

    // Room for the completion counts too.
    for most in ["4000", "4095"] {
        let ran = folder.run(&["judge", "in.jsonl", "--max-new-tokens", most]);
        ran.expect(3, &["(0 ok, 3 too long)"]);
        assert_eq!(ran.lines().len(), 3);
        let line = ran.lines().swap_remove(2);
        check_verdict(&line);
        let why = line["error"].as_str().unwrap();
        assert!(
            why.contains("a smaller --max-new-tokens leaves more room"),
            "{why}"
        );
    }
}

#[test]
fn a_cache_asked_for_too_small_decides_no_verdict() {
    let folder = three();
    let essence = |arguments: &[&str]| -> Vec<(Value, Value, Value)> {
        let lines = judge(&folder, arguments).lines();
        lines
            .into_iter()
            .map(|line| {
                (
                    line["status"].clone(),
                    line["raw"].clone(),
                    line["error"].clone(),
                )
            })
            .collect()
    };
    assert_eq!(essence(&["--raw", "--kv-blocks", "3"]), essence(&["--raw"]));
}

#[test]
fn every_sample_ends_in_exactly_one_state() {
    let folder = Folder::new();
    let examples = include_str!("../../examples/rollouts.jsonl");
    folder.write("in.jsonl", examples);
    for rules in ["fallback", "first", "only", "off"] {
        let model = ["--max-new-tokens", "200"];
        let model = if rules == "only" { &[][..] } else { &model };
        let ran = folder.run(&[&["judge", "in.jsonl", "--rules", rules], model].concat());
        let lines = ran.lines();
        assert_eq!(lines.len(), examples.lines().count());
        lines.iter().for_each(check_verdict);
        let indices: Vec<u64> = lines
            .iter()
            .map(|line| line["index"].as_u64().unwrap())
            .collect();
        assert_eq!(indices, (0..lines.len() as u64).collect::<Vec<_>>());
        let ok = lines.iter().filter(|line| line["status"] == "ok").count();
        let said = format!("verdicts  {} ({ok} ok", lines.len());
        ran.expect(if ok == lines.len() { 0 } else { 3 }, &[&said]);
    }
}

#[test]
fn an_audit_judges_a_share_of_what_the_rules_find_wrong() {
    let folder = Folder::new();
    let question = "Mia has 3 pens and buys 4 more. How many pens has she now?";
    let rows: String = (0..40)
        .map(|number| row(&format!("w{number}"), question, "7", "3 + 4 = 8.\n#### 8"))
        .collect();
    folder.write("in.jsonl", rows);
    let judge = |audit: &str, out: &str| {
        let ran = folder.run(&[
            "judge", "in.jsonl", "--rules", "first", "--audit", audit, "-o", out,
        ]);
        let lines = folder.lines(out);
        lines.iter().for_each(check_verdict);
        (ran, lines)
    };
    let audited = |lines: &[Value]| -> Vec<Value> {
        let of = lines.iter().filter(|line| line["audited"] == true);
        of.map(|line| line["id"].clone()).collect()
    };
    let (ran, lines) = judge("25%", "quarter.jsonl");
    ran.expect(
        0,
        &[
            "audited",
            "that the rules found wrong were judged too: 0 right by the judge",
            "95 % interval 0.0 to",
        ],
    );
    let quarter = audited(&lines);
    assert!((3..=20).contains(&quarter.len()), "{}", quarter.len());
    for line in &lines {
        assert_eq!(line["skipped"] == true, line["audited"] != true, "{line}");
        let source = if line["audited"] == true {
            "judge"
        } else {
            "rules"
        };
        assert_eq!(line["outcome_source"], source, "{line}");
    }
    // The same seed takes the same samples, and a larger share takes more.
    let (_, lines) = judge("0.5", "half.jsonl");
    let half = audited(&lines);
    assert!(quarter.iter().all(|id| half.contains(id)) && half.len() > quarter.len());
    assert_eq!(audited(&judge("100%", "all.jsonl").1).len(), 40);
    // Another share is another run.
    judge("30%", "half.jsonl").0.expect(2, &["rules: "]);
    for wrong in ["0", "120%", "x"] {
        folder
            .run(&["judge", "in.jsonl", "--rules", "first", "--audit", wrong])
            .expect(2, &["--audit"]);
    }
    folder
        .run(&["judge", "in.jsonl", "--audit", "5%"])
        .expect(2, &["--audit", "--rules first"]);
}

#[test]
fn groups_whose_rewards_are_all_alike_are_counted() {
    let folder = Folder::new();
    let rows = [
        ("1 + 1?", "2", ["2", "2"]),
        ("1 + 2?", "3", ["4", "5"]),
        ("1 + 3?", "4", ["4", "5"]),
    ];
    let lines: Vec<String> = rows
        .iter()
        .map(|(question, gold, responses)| {
            json!({"question": question, "reference_answer": gold, "responses": responses})
                .to_string()
        })
        .collect();
    folder.write("in.jsonl", lines.join("\n"));
    let arguments = [
        "judge", "in.jsonl", "--rules", "only", "--reward", "outcome",
    ];
    let judge = [
        &arguments[..],
        &["-o", "out.jsonl", "--summary-json", "sum.json"],
    ]
    .concat();
    let said = "groups  3 questions with several rewards: 1 all 0, 1 all 1";
    folder.run(&judge).expect(0, &[said]);
    let summary: Value = serde_json::from_str(&folder.read("sum.json")).unwrap();
    assert_eq!(
        summary["groups"],
        json!({"groups": 3, "all_0": 1, "all_1": 1})
    );
    // A run that has nothing left to do says the same.
    folder.run(&judge).expect(0, &[said]);
}

#[test]
fn rewards_that_need_more_than_the_rules_say_are_refused_where_they_decide() {
    let folder = Folder::new();
    folder.write("in.jsonl", include_str!("../../examples/rollouts.jsonl"));
    for (rules, reward) in [
        ("first", "process=0.3,outcome=0.7"),
        ("only", "process=0.3,outcome=0.7"),
        ("only", "score"),
        ("only", "soft"),
    ] {
        let ran = folder.run(&["judge", "in.jsonl", "--rules", rules, "--reward", reward]);
        ran.expect(
            2,
            &[&format!(
                "--reward {reward} has no meaning with --rules {rules}: what the rules decide"
            )],
        );
    }
}

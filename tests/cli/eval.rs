//! `juror eval`, and `juror judge --eval`.

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Labels of six samples: two right, two lucky guesses, one wrong, one with a right outcome that the judge cannot read.
fn labels() -> String {
    let rows = [
        ("a", true, true, "Math"),
        ("b", true, true, "Math"),
        ("c", true, false, "Math"),
        ("d", true, false, "Physics"),
        ("e", false, false, "Physics"),
        ("f", true, true, "Physics"),
    ];
    let line = |(id, outcome, overall, subject): (&str, bool, bool, &str)| {
        json!({"id": id, "question": "q", "reference_answer": "1", "response": "r", "outcome_label": outcome,
            "overall_label": u8::from(overall), "subject": subject})
        .to_string()
    };
    rows.map(line).join("\n")
}

/// A verdict's line.
pub(crate) fn verdict(id: &str, said: Option<(bool, bool)>) -> String {
    let status = if said.is_some() { "ok" } else { "unparsed" };
    let (process, outcome) = (
        said.map(|(process, _)| process),
        said.map(|(_, outcome)| outcome),
    );
    let overall = said.map(|(process, outcome)| process && outcome);
    json!({"id": id, "index": 0, "trial": 0, "status": status, "process": process, "outcome": outcome, "perfect": null,
        "overall": overall, "reward": overall.map(|overall| f64::from(u8::from(overall))), "reason": null,
        "usage": {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 4}})
    .to_string()
}

/// Two judges on these samples, whose verdicts stand in another order.
fn judges(folder: &Folder) {
    folder.write("labels.jsonl", labels());
    let first = [
        verdict("f", None),
        verdict("a", Some((true, true))),
        verdict("b", Some((false, true))),
        verdict("c", Some((false, true))),
        verdict("d", Some((true, true))),
        verdict("e", Some((true, false))),
    ];
    folder.write("first.jsonl", first.join("\n"));
    let second = [
        verdict("a", Some((true, true))),
        verdict("b", Some((true, true))),
        verdict("c", Some((false, true))),
        verdict("d", Some((false, true))),
        verdict("e", Some((true, true))),
        verdict("f", Some((true, true))),
    ];
    folder.write("second.jsonl", second.join("\n"));
}

#[test]
fn figures_are_those_of_the_rows() {
    let folder = Folder::new();
    judges(&folder);
    let eval = words(
        "eval first.jsonl --labels labels.jsonl --compare second.jsonl --json out.json --rows-out \
        rows.jsonl --active-parameters 8",
    );
    let ran = folder.run(&eval);
    ran.expect(0, &["6 samples are few"]);
    let value: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let [first, second] = [0, 1].map(|at| value["judges"][at].clone());
    let overall = &first["all"]["tasks"]["overall"];
    // Labels false: c and e said false, d said true. Labels true: b said false, a said true, f not read.
    assert_eq!(overall["confusion"], json!([[2, 1, 0], [1, 1, 1]]));
    assert_eq!(overall["accuracy"]["count"], 3);
    assert_eq!(overall["selective_accuracy"]["all"], 5);
    assert_eq!(overall["precision"]["share"], 0.5);
    assert_eq!(first["all"]["lucky_guesses"]["share"], 0.5);
    assert_eq!(first["all"]["by_status"], json!({"ok": 5, "unparsed": 1}));
    assert_eq!(
        first["by_subject"]["Math"]["tasks"]["overall"]["accuracy"]["count"],
        2
    );
    assert_eq!(first["always_true"]["overall"]["accuracy"], 0.5);
    assert_eq!(first["cost"], 32.0);
    // The second is right more often and costs no more: the first is not worth choosing.
    let choices = &value["choices"];
    assert_eq!(choices["unit"], "tokens");
    assert_eq!(choices["judges"][0]["verdicts"], "second.jsonl");
    assert_eq!(choices["judges"][0]["against_best"], Value::Null);
    assert_eq!(choices["judges"][1]["dominated_by"], "second.jsonl");
    assert_eq!(choices["judges"][1]["against_best"]["verdicts"], 6);
    let comparison = &second["against_first"]["overall"];
    assert_eq!(comparison["mcnemar"]["only_second"], 3);
    assert_eq!(comparison["mcnemar"]["only_first"], 1);
    let exact = comparison["mcnemar"]["p_exact"].as_f64().unwrap();
    assert!((exact - 0.625).abs() < 1e-9, "{exact}");
    let flips: Vec<&Value> = comparison["flips"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flip| &flip["id"])
        .collect();
    assert_eq!(flips, ["b", "d", "e", "f"]);
    // Each row's miss is named, and the rows of the report are the verdicts' own lines.
    let missed = |id: &str| {
        let rows = folder.lines("rows.jsonl");
        rows.into_iter()
            .find(|row| row["id"] == id)
            .map(|row| (row["misses"].clone(), row["line"].clone()))
    };
    assert_eq!(
        missed("d"),
        Some((json!(["missed_lucky_guess", "false_pass"]), json!(5)))
    );
    assert_eq!(missed("b"), Some((json!(["false_alarm"]), json!(3))));
    assert_eq!(missed("f"), Some((json!(["no_verdict"]), json!(1))));
}

/// Each judge's trials count as they are, whatever the other's number.
#[test]
fn one_trial_is_compared_with_several() {
    let folder = Folder::new();
    let ids = ["a", "b", "c", "d"];
    let labels = ids.map(|id| json!({"id": id, "overall_label": id < "c"}).to_string());
    folder.write("labels.jsonl", labels.join("\n"));
    let line = |id: &str, trial: u32, said: bool| {
        let line = verdict(id, Some((said, true)));
        line.replace("\"trial\":0", &format!("\"trial\":{trial}"))
    };
    let write = |name: &str, says: &[(&str, &[bool])]| {
        let lines = says.iter().flat_map(|(id, trials)| {
            let trials = trials.iter().enumerate();
            trials.map(|(trial, said)| line(id, trial as u32, *said))
        });
        folder.write(name, lines.collect::<Vec<_>>().join("\n"));
    };
    let (yes, no) = (true, false);
    // By the first trial alone it is right on a and c, as the other; by its majority on a, b and c.
    write(
        "three.jsonl",
        &[
            ("a", &[yes, yes, no]),
            ("b", &[no, yes, yes]),
            ("c", &[no, no, no]),
            ("d", &[yes, yes, yes]),
        ],
    );
    write(
        "one.jsonl",
        &[("a", &[yes]), ("b", &[no]), ("c", &[no]), ("d", &[yes])],
    );
    let eval = "eval one.jsonl --labels labels.jsonl --compare three.jsonl --json out.json";
    folder.run_words(eval).expect(0, &[]);
    let value: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let comparison = &value["judges"][1]["against_first"]["overall"];
    let accuracy = |at: usize| {
        let tasks = &value["judges"][at]["all"]["tasks"];
        tasks["overall"]["accuracy"]["share"].as_f64().unwrap()
    };
    let difference = comparison["accuracy"]["value"].as_f64().unwrap();
    assert!(
        (difference - (7.0 / 12.0 - 0.5)).abs() < 1e-12,
        "{difference}"
    );
    assert!((difference - (accuracy(1) - accuracy(0))).abs() < 1e-12);
    let mcnemar = &comparison["mcnemar"];
    assert_eq!(
        (&mcnemar["only_second"], &mcnemar["only_first"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(comparison["flips"][0]["id"], "b");
    assert_eq!(
        (&comparison["verdicts"], &comparison["agree"]),
        (&json!(4), &json!(4))
    );
    // Tied on a, which the other has right.
    write(
        "two.jsonl",
        &[
            ("a", &[yes, no]),
            ("b", &[yes, yes]),
            ("c", &[no, no]),
            ("d", &[yes, yes]),
        ],
    );
    let eval = "eval one.jsonl --labels labels.jsonl --compare two.jsonl --json two.json";
    folder.run_words(eval).expect(0, &[]);
    let value: Value = serde_json::from_str(&folder.read("two.json")).unwrap();
    let mcnemar = &value["judges"][1]["against_first"]["overall"]["mcnemar"];
    assert_eq!(
        (&mcnemar["only_second"], &mcnemar["only_first"]),
        (&json!(1), &json!(0))
    );
}

/// Where all labels of a task are alike, always that answer would be the best judge.
#[test]
fn judges_are_chosen_by_labels_of_both_kinds() {
    let folder = Folder::new();
    let rows = |both: bool| {
        let row = |at: usize| {
            let (outcome, overall) = (at.is_multiple_of(2), (at % 2 == 1).then_some(false));
            json!({"id": at.to_string(), "outcome_label": both && outcome, "overall_label": overall}).to_string()
        };
        (0..8).map(row).collect::<Vec<_>>().join("\n")
    };
    let judge = |name: &str, says: fn(usize) -> bool| {
        let line = |at: usize| verdict(&at.to_string(), Some((says(at), says(at))));
        folder.write(name, (0..8).map(line).collect::<Vec<_>>().join("\n"));
    };
    judge("good.jsonl", |at| at % 2 == 0 || at == 1);
    judge("false.jsonl", |_| false);
    let eval = || {
        let eval =
            "eval good.jsonl --labels labels.jsonl --compare false.jsonl --json out.json --force";
        folder.run_words(eval).expect(0, &[]);
        serde_json::from_str::<Value>(&folder.read("out.json")).unwrap()["choices"].clone()
    };
    folder.write("labels.jsonl", rows(true));
    let choices = eval();
    assert_eq!(choices["task"], "outcome");
    assert_eq!(choices["judges"][0]["verdicts"], "good.jsonl");
    assert_eq!(choices["judges"][1]["dominated_by"], "good.jsonl");
    folder.write("labels.jsonl", rows(false));
    assert_eq!(eval(), Value::Null);
}

/// Every key of the JSON is in its schema, and every key that the schema demands is in the JSON.
#[test]
fn the_json_has_the_keys_of_its_schema() {
    let folder = Folder::new();
    judges(&folder);
    let schema = folder.run(&["eval", "--json-schema"]);
    schema.expect(0, &[]);
    let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
    folder
        .run_words("eval first.jsonl --labels labels.jsonl --compare second.jsonl --reference prime --json \
            out.json")
        .expect(0, &[]);
    let report: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let checked = meets(&report, &schema, &schema, "report");
    assert!(checked > 1000, "{checked} values");
}

/// Checks a value against the part of a schema that is its own, as far as objects, lists and references go; says how many values it
/// saw.
pub(crate) fn meets(value: &Value, part: &Value, schema: &Value, place: &str) -> usize {
    if let Some(name) = part["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        return meets(value, &schema["$defs"][name], schema, place);
    }
    if let Some(any) = part["anyOf"].as_array() {
        let of = any.iter().find(|one| one["type"] != "null").unwrap();
        return if value.is_null() {
            1
        } else {
            meets(value, of, schema, place)
        };
    }
    match value {
        Value::Object(entries) => {
            for required in part["required"].as_array().into_iter().flatten() {
                assert!(
                    entries.contains_key(required.as_str().unwrap()),
                    "{place}: no {required}"
                );
            }
            let of_entry = |(key, value): (&String, &Value)| {
                let place = format!("{place}.{key}");
                // Maps by numbers have one pattern for all keys.
                let patterns = part["patternProperties"].as_object();
                let pattern = patterns.and_then(|patterns| patterns.values().next());
                let of = [&part["properties"][key], &part["additionalProperties"]]
                    .into_iter()
                    .chain(pattern)
                    .find(|of| of.is_object());
                let of = of.unwrap_or_else(|| panic!("{place} is not in the schema"));
                meets(value, of, schema, &place)
            };
            1 + entries.iter().map(of_entry).sum::<usize>()
        }
        Value::Array(values) => {
            let of_value = |one| meets(one, &part["items"], schema, place);
            1 + values.iter().map(of_value).sum::<usize>()
        }
        _ => 1,
    }
}

#[test]
fn inputs_that_cannot_be_scored_are_refused() {
    let folder = Folder::new();
    judges(&folder);
    folder.write("others.jsonl", verdict("z", Some((true, true))));
    folder.write(
        "twice.jsonl",
        [verdict("a", None), verdict("a", None)].join("\n"),
    );
    let ranks = json!({"responses": [{"id": "a", "score": 0.4}, {"id": "b", "score": 0.9}]});
    folder.write("ranks.jsonl", ranks.to_string());
    folder.write("bare.jsonl", rollouts(3));
    folder.write("broken.jsonl", "\"x\"\n");
    folder.write("empty.jsonl", r#"{"id": "a", "outcome_label": null}"#);
    folder.write(
        "odd.jsonl",
        labels().replace("\"outcome_label\":true", "\"outcome_label\":\"perhaps\""),
    );
    for (arguments, parts) in [
        (
            vec!["first.jsonl"],
            vec![
                "no verdict has a label among its kept keys, which are: none",
                "--keep KEY",
                "--labels DATA",
            ],
        ),
        (
            vec!["first.jsonl", "--labels", "bare.jsonl"],
            vec![
                "no row has a label",
                "The keys of the first row: id, question, reference_answer, response.",
                "outcome_label",
            ],
        ),
        (
            vec!["first.jsonl", "--labels", "empty.jsonl"],
            vec!["no row has a label", "outcome_label (empty)"],
        ),
        (
            vec!["first.jsonl", "--labels", "broken.jsonl"],
            vec!["1 of 1 lines cannot be used:\n", "\nMend them\n"],
        ),
        (
            vec!["first.jsonl", "--labels", "odd.jsonl"],
            vec!["\"a\"", "outcome_label", "perhaps", "--label-columns"],
        ),
        (
            words("first.jsonl --labels labels.jsonl --label-columns process=nokey"),
            vec!["no row has `nokey`", "--label-columns"],
        ),
        (
            vec!["ranks.jsonl", "--labels", "labels.jsonl"],
            vec!["ranks.jsonl ranks responses", "which are better"],
        ),
        (
            vec!["others.jsonl", "--labels", "labels.jsonl"],
            vec!["none of the 1 verdicts", "meet by id"],
        ),
        (
            vec!["twice.jsonl", "--labels", "labels.jsonl"],
            vec!["twice.jsonl:2", "is there twice"],
        ),
        (
            vec!["labels.jsonl", "--labels", "labels.jsonl"],
            vec!["labels.jsonl:1", "no verdict"],
        ),
        (
            vec![
                "first.jsonl",
                "--labels",
                "labels.jsonl",
                "--label-columns",
                "final=x",
            ],
            vec!["no field of a label"],
        ),
        (
            vec![
                "first.jsonl",
                "--labels",
                "labels.jsonl",
                "--json",
                "./labels.jsonl",
            ],
            vec!["is an input", "name another"],
        ),
        (
            vec!["nowhere.jsonl", "--labels", "labels.jsonl"],
            vec!["nowhere.jsonl"],
        ),
    ] {
        folder
            .run(&[&["eval"], arguments.as_slice()].concat())
            .expect(2, &parts);
    }
}

/// An output among the rows that are read is refused, and a key with a name for each row is no subject.
#[test]
fn outputs_and_subjects_have_bounds() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("rows")).unwrap();
    let count = 3000;
    let (mut labels, mut verdicts) = (String::new(), String::new());
    for number in 0..count {
        let id = format!("s{number}");
        let row = json!({"id": id, "question": "q", "reference": "1", "response": "r", "overall": number % 2, "subject": id});
        labels.extend([row.to_string().as_str(), "\n"]);
        verdicts.extend([verdict(&id, Some((true, number % 3 == 0))).as_str(), "\n"]);
    }
    folder.write("rows/part.jsonl", &labels);
    folder.write("v.jsonl", verdicts);
    let eval = ["eval", "v.jsonl", "--labels", "rows", "--json"];
    folder
        .run(&[&eval[..], &["rows/part.jsonl"]].concat())
        .expect(2, &["rows/part.jsonl is an input"]);
    assert_eq!(folder.read("rows/part.jsonl"), labels);
    folder.run(&[&eval[..], &["out.json"]].concat()).expect(
        0,
        &["3000 subjects are too many", "--label-columns subject=KEY"],
    );
    let report: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(report["judges"][0]["by_subject"], json!({}));
    assert_eq!(report["judges"][0]["all"]["verdicts"], count);
}

/// Under `--advantages` rows of one question are a group, and each has its own label even where no verdict has an advantage.
#[test]
fn labels_of_a_group_without_rewards_count() {
    let folder = Folder::new();
    let row = |response: &str| json!({"question": "q", "answer": "4", "response": response, "is_correct": true});
    let rows = ["It is 4.", "The answer is 4.", "So it is #### 4"].map(row);
    folder.write(
        "bare.jsonl",
        rows.clone().map(|row| row.to_string()).join("\n"),
    );
    let named = ["p", "q", "r"].into_iter().zip(rows).map(|(id, mut row)| {
        row["id"] = json!(id);
        row.to_string()
    });
    folder.write("named.jsonl", named.collect::<Vec<_>>().join("\n"));
    for (rows, out) in [
        ("named.jsonl", "out.jsonl"),
        ("named.jsonl", "out.csv"),
        ("bare.jsonl", "bare.out.jsonl"),
    ] {
        let judge = format!("judge {rows} --rules only --advantages --keep is_correct -o {out}");
        folder.run_words(&judge).expect(0, &[]);
        let eval = folder.run(&["eval", out]);
        eval.expect(0, &[])
            .prints(&["3 verdicts on 3 labelled samples"]);
    }
}

/// `ProcessBench`'s F1 is of the accuracies on responses with a wrong step, whose place must be right, and on those without.
#[test]
fn first_wrong_steps_are_scored_as_the_benchmark_does() {
    let folder = Folder::new();
    let row = |(id, label): (&str, i64)| {
        json!({"id": id, "final_answer_correct": true, "label": label}).to_string()
    };
    let rows = [("a", 1), ("b", 2), ("c", -1), ("d", -1), ("e", -1)];
    folder.write("labels.jsonl", rows.map(row).join("\n"));
    let line = |(id, process, step): (&str, Option<bool>, Value)| {
        let line = verdict(id, process.map(|process| (process, true)));
        let mut line: Value = serde_json::from_str(&line).unwrap();
        if process.is_some() {
            line["step_rewards"] = json!([1.0, 0.0, 0.0]);
            line["first_error"] = step;
        }
        line.to_string()
    };
    let lines = [
        ("a", Some(false), json!(1)),
        ("b", Some(false), json!(1)),
        ("c", Some(true), Value::Null),
        ("d", Some(true), Value::Null),
        ("e", None, Value::Null),
    ];
    folder.write("verdicts.jsonl", lines.map(line).join("\n"));
    let eval = "eval verdicts.jsonl --labels labels.jsonl --json out.json";
    folder.run_words(eval).expect(0, &[]).prints(&["F1 57.1"]);
    let report: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    let all = &report["judges"][0]["all"];
    assert_eq!(all["tasks"]["process"]["accuracy"]["count"], 4);
    let steps = &all["first_errors"];
    let f1 = steps["f1"]["value"].as_f64().unwrap();
    assert!((f1 - 4.0 / 7.0).abs() < 1e-12, "{steps}");
    assert_eq!(steps["erroneous"], 0.5);
}

/// The rows of lm-eval's first filter have the labels, which is said.
#[test]
fn labels_of_one_filter_of_several_are_told() {
    let folder = Folder::new();
    let row = |(filter, right): (&str, f64)| {
        json!({"doc_id": 0, "doc": {"question": "q"}, "target": "4", "resps": [["It is 4."]], "filtered_resps": ["x"],
            "filter": filter, "exact_match": right})
        .to_string()
    };
    let rows = [("strict-match", 0.0), ("flexible-extract", 1.0)];
    folder.write("both.jsonl", rows.map(row).join("\n"));
    folder.write("one.jsonl", row(rows[1]));
    folder.write("verdicts.jsonl", verdict("0:0", Some((true, true))));
    let said = "labels are those of the filter \"strict-match\"";
    let eval = |labels: &str| folder.run(&["eval", "verdicts.jsonl", "--labels", labels]);
    eval("both.jsonl").expect(0, &[said, ".filter =="]);
    let one = eval("one.jsonl");
    one.expect(0, &[]);
    assert!(!one.stderr.contains("filter"), "{}", one.stderr);
}

/// A run scores its own verdicts, and says the same as `juror eval` afterwards, with labels from the rows or kept in the verdicts.
#[test]
fn a_run_scores_itself() {
    let folder = Folder::new();
    let rows = rollouts(8);
    let labelled = rows.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["label"] = json!({"process": true, "outcome": true});
        row.to_string()
    });
    folder.write("in.jsonl", labelled.collect::<Vec<_>>().join("\n"));
    let judge = words("judge in.jsonl -o out.jsonl --keep label --quiet");
    let ran = folder.run(&[&judge[..], &["--eval"]].concat());
    ran.expect(0, &["8 samples are few"]);
    assert!(ran.stdout.contains("always true"), "{}", ran.stdout);
    let of_rows = folder.run(&["eval", "out.jsonl", "--labels", "in.jsonl"]);
    let of_kept = folder.run(&["eval", "out.jsonl"]);
    assert_eq!(ran.stdout, of_rows.stdout);
    // Kept labels come without the responses, whose lengths are then not known.
    let (before, rest) = ran.stdout.split_once("\nby response length").unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    assert_eq!(format!("{before}\n{after}"), of_kept.stdout);
    // Nothing is judged where there is nothing to score it with.
    folder.write("bare.jsonl", rows);
    folder
        .run(&["judge", "bare.jsonl", "-o", "bare.out.jsonl", "--eval"])
        .expect(2, &["no row has a label"]);
    assert!(!folder.has("bare.out.jsonl"));
    folder
        .run(&["judge", "-", "-o", "x.jsonl", "--eval"])
        .expect(2, &["not standard input"]);
}

#[test]
fn tables_of_verdicts_are_scored_like_lines() {
    let folder = Folder::new();
    folder.write("rows.jsonl", rollouts(9));
    let labels: Vec<String> = (0..9)
        .map(|at| json!({"id": format!("r{at}"), "outcome_label": at % 2 == 0}).to_string())
        .collect();
    folder.write("labels.jsonl", labels.join("\n"));
    let tables = ["jsonl", "csv", "parquet"].map(|ending| {
        let out = format!("verdicts.{ending}");
        let judge = format!("judge rows.jsonl --rules only --quiet -o {out}");
        let judge = words(&judge);
        folder.run(&judge).expect(0, &[]);
        let ran = folder.run(&["eval", &out, "--labels", "labels.jsonl"]);
        ran.expect(0, &["9 samples are few"]);
        ran.stdout.replace(&out, "verdicts")
    });
    assert!(tables[0].contains("outcome"), "{}", tables[0]);
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
}

/// `--rows` is read, as in `juror view`; what is written is `--rows-out`.
#[test]
fn rows_have_the_texts_of_the_page() {
    let folder = Folder::new();
    folder.write("human.csv", "id,overall_label\na,0\nb,1\n");
    folder.write(
        "v.jsonl",
        [
            verdict("a", Some((true, true))),
            verdict("b", Some((true, true))),
        ]
        .join("\n"),
    );
    let rollout = |id: &str| {
        json!({"uid": id, "question": format!("Why is {id}?"), "reference_answer": "1", "response": "Since 1."}).to_string()
    };
    let rollouts = [rollout("a"), rollout("b")].join("\n");
    folder.write("rollouts.jsonl", &rollouts);
    let eval = ["eval", "v.jsonl", "--labels", "human.csv"];
    let rows = ["--rows", "rollouts.jsonl"];
    folder
        .run(&[&eval[..], &rows].concat())
        .expect(2, &["--html"]);
    let page = ["--html", "page.html"];
    folder.run(&[&eval[..], &page].concat()).expect(0, &[]);
    assert!(!folder.read("page.html").contains("Why is a?"));
    let columns = ["--columns", "id=uid"];
    // Columns are those of both files, as in `juror view`.
    folder.write("human.csv", "uid,overall_label\na,0\nb,1\n");
    folder
        .run(&[&eval[..], &page, &rows, &columns].concat())
        .expect(0, &[]);
    assert!(folder.read("page.html").contains("Why is a?"));
    // Labels among the verdicts' kept keys, texts in rows.
    let mut kept: Value = serde_json::from_str(&verdict("a", Some((true, true)))).unwrap();
    kept["input"] = json!({"overall_label": false});
    folder.write("kept.jsonl", format!("{kept}\n"));
    folder
        .run(&[&["eval", "kept.jsonl"], &page[..], &rows, &columns].concat())
        .expect(0, &[]);
    assert!(folder.read("page.html").contains("Why is a?"));
    assert_eq!(folder.read("rollouts.jsonl"), rollouts);
}

#[test]
fn a_judge_no_better_than_a_constant_is_told_so() {
    let folder = Folder::new();
    let labels: Vec<String> = (0..100)
        .map(|at| json!({"id": at.to_string(), "outcome_label": at % 5 < 2}).to_string())
        .collect();
    folder.write("labels.jsonl", labels.join("\n"));
    // Of 100 labels 60 are false. Always true; right on 62; on 90.
    let judge = |name: &str, says: fn(usize) -> bool| {
        let line = |at: usize| {
            let said = says(at);
            let probability = if said { 0.9 } else { 0.2 } + at as f64 / 2000.0;
            json!({"id": at.to_string(), "index": at, "trial": 0, "status": "ok", "process": null, "outcome": said, "perfect": null,
                "overall": null, "reward": f64::from(u8::from(said)), "reason": null,
                "confidence": {"process": null, "outcome": probability, "perfect": null},
                "usage": {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 4}})
            .to_string()
        };
        let lines: Vec<String> = (0..100).map(line).collect();
        folder.write(&format!("{name}.jsonl"), lines.join("\n"));
        let file = format!("{name}.jsonl");
        let eval = format!("eval {file} --labels labels.jsonl --json out.json --html out.html");
        let eval = words(&eval);
        let ran = folder.run(&eval);
        ran.expect(0, &[]);
        let value: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
        (
            ran.stdout,
            value["judges"][0].clone(),
            folder.read("out.html"),
        )
    };
    let (table, value, page) = judge("all", |_| true);
    let sentence =
        "outcome: by accuracy worse than always false: 40.0 (30.9–49.8) % against 60.0 %";
    assert!(
        table.contains(sentence) && page.contains(sentence),
        "{table}"
    );
    let said = &value["no_better"]["outcome"];
    assert_eq!(
        *said,
        json!({"than_always": false, "accuracy": 0.6, "worse": true})
    );
    let (table, value, page) = judge("near", |at| at == 0 || at == 1);
    let sentence = "outcome: by accuracy no better than always false: 62.0";
    assert!(
        table.contains(sentence) && page.contains(sentence),
        "{table}"
    );
    assert_eq!(value["no_better"]["outcome"]["worse"], false);
    let (table, value, page) = judge("good", |at| at % 5 < 2 && at >= 25);
    assert!(
        !table.contains("than always") && !page.contains("than always"),
        "{table}"
    );
    assert_eq!(value["no_better"], json!({}));
    // The area under the curve has its interval, in all three.
    let reliability = &value["reliability"]["outcome"];
    let number = |value: &Value| value.as_f64().unwrap();
    let (auc, ends) = (number(&reliability["auc"]), &reliability["auc_interval"]);
    let (low, high) = (number(&ends[0]), number(&ends[1]));
    assert!(
        0.5 < low && low < auc && auc < high && high < 1.0,
        "{reliability}"
    );
    let shown = format!("{auc:.3} ({low:.3}–{high:.3})");
    assert!(
        table.replace('\n', " ").contains(&format!("AUC {shown}")) && page.contains(&shown),
        "{table}"
    );
}

/// Rules judge no process: that is a dash beside a judge's figures, and no comparison.
#[test]
fn what_nobody_judged_is_a_dash() {
    let folder = Folder::new();
    let labelled = rollouts(8);
    let labelled = labelled.lines().enumerate().map(|(at, line)| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["outcome_label"] = (at > 0).into();
        row["process_label"] = true.into();
        format!("{row}\n")
    });
    folder.write("in.jsonl", labelled.collect::<String>());
    for (out, rules) in [("judged.jsonl", "fallback"), ("ruled.jsonl", "only")] {
        let ran = folder.run(&["judge", "in.jsonl", "--rules", rules, "-o", out, "-q"]);
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    }
    let eval = words(
        "eval judged.jsonl --labels in.jsonl --compare ruled.jsonl --json report.json --html \
        report.html",
    );
    let ran = folder.run(&eval);
    ran.expect(0, &[]);
    // What costs nothing stands on the axis.
    let page = folder.read("report.html");
    let (_, cost) = page.split_once("id=\"cost-title\"").unwrap();
    let (cost, _) = cost.split_once("</svg>").unwrap();
    assert!(
        cost.contains("cx=\"66.0\"") && cost.contains(">rules</text>"),
        "{cost}"
    );
    let (judged, ruled) = ran.stdout.split_once("ruled.jsonl: ").unwrap();
    let process = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with("process "))
            .unwrap();
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(process(judged)[1], "8");
    assert_eq!(process(ruled)[1..], ["–"; 7]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let against = &report["judges"][1]["against_first"];
    assert!(
        against["outcome"].is_object() && against["process"].is_null(),
        "{against}"
    );
}

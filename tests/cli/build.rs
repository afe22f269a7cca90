//! `juror build`: training data from rows and verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::{Folder, rollouts, words};

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What the verdicts say of a sample.
#[derive(Debug, Default, Clone)]
struct Said {
    question: String,
    response: String,
    yes: u32,
    no: u32,
    outcome: i32,
    process: i32,
    rewards: Vec<f64>,
    trials: u32,
    ok: u32,
}

impl Said {
    fn overall(&self) -> Option<bool> {
        (self.yes != self.no).then_some(self.yes > self.no)
    }

    fn reward(&self) -> Option<f64> {
        let count = self.rewards.len();
        (count > 0).then(|| self.rewards.iter().sum::<f64>() / count as f64)
    }

    fn lucky(&self) -> bool {
        self.outcome > 0 && self.process < 0
    }
}

/// Rows and verdicts at random: rows of their own and lists of responses, some doubles, statuses of all kinds, two files of verdicts.
fn write_random(folder: &Folder, seed: u64) -> BTreeMap<String, Said> {
    let mut random = Random(seed);
    let mut samples: BTreeMap<String, Said> = BTreeMap::new();
    let (mut rows, mut verdicts) = (String::new(), [String::new(), String::new()]);
    for question in 0..40 {
        let text = format!("Question {question}?");
        let count = 1 + random.below(6);
        let as_list = random.below(2) == 0;
        let responses: Vec<String> = (0..count)
            .map(|_| format!("response {} to {question}", random.below(9)))
            .collect();
        let mut ids = Vec::new();
        if as_list {
            let row = json!({"id": format!("q{question}"), "question": text, "answer": "1", "responses": responses, "tag": question});
            writeln!(rows, "{row}").unwrap();
            ids.extend(
                (0..count).map(|at| (format!("q{question}:{at}"), Some(format!("q{question}")))),
            );
        } else {
            for (at, response) in responses.iter().enumerate() {
                let id = format!("r{question}-{at}");
                let row = json!({"id": id, "question": text, "answer": "1", "response": response, "tag": question});
                writeln!(rows, "{row}").unwrap();
                ids.push((id, None));
            }
        }
        for (at, (id, group)) in ids.into_iter().enumerate() {
            let mut said = Said {
                question: text.clone(),
                response: responses[at].clone(),
                ..Said::default()
            };
            // Some have no verdict at all.
            let trials = [0, 1, 3, 4][random.below(4) as usize];
            for trial in 0..trials {
                let status =
                    ["ok", "ok", "ok", "unparsed", "failed", "unsure"][random.below(6) as usize];
                let (process, outcome) = (random.below(2) == 0, random.below(3) > 0);
                let overall = process && outcome;
                let reward = if random.below(3) == 0 {
                    0.3 * f64::from(u8::from(process)) + 0.7 * f64::from(u8::from(outcome))
                } else {
                    f64::from(u8::from(overall))
                };
                said.trials += 1;
                let is_ok = status == "ok";
                if is_ok {
                    said.ok += 1;
                    said.yes += u32::from(overall);
                    said.no += u32::from(!overall);
                    said.outcome += if outcome { 1 } else { -1 };
                    said.process += if process { 1 } else { -1 };
                    said.rewards.push(reward);
                }
                // An unsure verdict has its fields all the same, and says nothing.
                let fields = is_ok || status == "unsure";
                let line = json!({"id": id, "group": group, "index": 0, "trial": trial, "status": status,
                    "process": fields.then_some(process), "outcome": fields.then_some(outcome), "overall": fields.then_some(overall),
                    "reward": is_ok.then_some(reward), "confidence": {"process": 0.5, "outcome": 0.5}});
                writeln!(verdicts[random.below(2) as usize], "{line}").unwrap();
            }
            samples.insert(id, said);
        }
    }
    writeln!(
        verdicts[0],
        "{}",
        json!({"id": "another", "trial": 0, "status": "ok", "overall": true, "reward": 1.0})
    )
    .unwrap();
    folder.write("rows.jsonl", rows);
    folder.write("a.jsonl", &verdicts[0]);
    folder.write("b.jsonl", &verdicts[1]);
    samples
}

/// Runs `juror build`, twice: both say the same.
#[track_caller]
fn build(folder: &Folder, what: &str, further: &str) -> (Vec<Value>, Value) {
    for out in ["out.jsonl", "again.jsonl"] {
        let base = "rows.jsonl --verdicts a.jsonl b.jsonl --force --json counts.json -o";
        let line = format!("build {what} {base} {out} {further}");
        folder.run_words(&line).expect(0, &[]);
    }
    assert_eq!(folder.read("out.jsonl"), folder.read("again.jsonl"));
    (
        folder.lines("out.jsonl"),
        serde_json::from_str(&folder.read("counts.json")).unwrap(),
    )
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_else(|| panic!("{key}: {row}"))
}

#[test]
fn every_row_is_allowed_by_its_verdicts() {
    for seed in 0..6 {
        let folder = Folder::new();
        let samples = write_random(&folder, seed);
        let questions: BTreeMap<&str, Vec<&Said>> = samples
            .values()
            .filter(|said| said.ok > 0)
            .fold(BTreeMap::new(), |mut all, said| {
                all.entry(said.question.as_str())
                    .or_insert_with(Vec::new)
                    .push(said);
                all
            });

        // Hard: those whose trials disagree, all of them, in the order of the rows.
        let (rows, counts) = build(&folder, "hard", "--keep tag");
        let hard: BTreeSet<&str> = samples
            .iter()
            .filter(|(_, said)| said.yes > 0 && said.no > 0)
            .map(|(id, _)| id.as_str())
            .collect();
        assert_eq!(
            rows.iter()
                .map(|row| text(row, "id"))
                .collect::<BTreeSet<_>>(),
            hard
        );
        for row in &rows {
            let said = &samples[text(row, "id")];
            let c = f64::from(said.yes) / f64::from(said.yes + said.no);
            assert!((row["c"].as_f64().unwrap() - c).abs() < 1e-12);
            assert_eq!(
                (text(row, "question"), text(row, "response")),
                (said.question.as_str(), said.response.as_str())
            );
            assert!(row["tag"].is_number(), "{row}");
        }
        let by_c = counts["by_c"].as_array().unwrap();
        let of = |is_hard: bool| -> u64 {
            let matching = by_c.iter().filter(|of_c| of_c["hard"] == is_hard);
            matching.map(|of_c| of_c["samples"].as_u64().unwrap()).sum()
        };
        assert_eq!(of(true), hard.len() as u64);
        assert_eq!(
            of(false) + of(true),
            samples.values().filter(|said| said.ok > 0).count() as u64
        );
        assert!(
            by_c.windows(2)
                .all(|two| two[0]["c"].as_f64() < two[1]["c"].as_f64()),
            "{by_c:?}"
        );
        assert_eq!(
            counts["coverage"]["without_verdict"],
            samples.values().filter(|said| said.trials == 0).count()
        );
        assert_eq!(
            counts["coverage"]["unreadable"],
            samples
                .values()
                .filter(|said| said.trials > 0 && said.ok == 0)
                .count()
        );
        assert_eq!(counts["coverage"]["without_sample"], 1);

        // Pairs: one right, one wrong, of one question, not the same twice.
        for per_question in [1, 3] {
            let further = format!("--per-question {per_question} --lucky-first");
            let (rows, _) = build(&folder, "pairs", &further);
            let mut of_questions: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
            for row in &rows {
                let [chosen, rejected] =
                    ["chosen", "rejected"].map(|which| &samples[text(row, &format!("{which}_id"))]);
                assert_eq!(
                    (chosen.overall(), rejected.overall()),
                    (Some(true), Some(false)),
                    "{row}"
                );
                assert_eq!(
                    (text(row, "prompt"), text(row, "prompt")),
                    (chosen.question.as_str(), rejected.question.as_str())
                );
                assert_eq!(
                    (text(row, "chosen"), text(row, "rejected")),
                    (chosen.response.as_str(), rejected.response.as_str())
                );
                assert_ne!(chosen.response, rejected.response);
                assert_eq!(row["lucky_guess"], rejected.lucky());
                of_questions
                    .entry(text(row, "prompt"))
                    .or_default()
                    .push(row);
            }
            for (question, rows) in &of_questions {
                assert!(rows.len() <= per_question);
                let ids: BTreeSet<[&str; 2]> = rows
                    .iter()
                    .map(|row| [text(row, "chosen_id"), text(row, "rejected_id")])
                    .collect();
                assert_eq!(ids.len(), rows.len());
                let of = &questions[question];
                let is_right = |text: &str| {
                    of.iter()
                        .any(|said| said.overall() == Some(true) && said.response == text)
                };
                let any_lucky = of.iter().any(|said| {
                    said.overall() == Some(false) && said.lucky() && !is_right(&said.response)
                });
                if rows.len() == per_question {
                    assert_eq!(rows[0]["lucky_guess"], any_lucky, "{question}");
                }
            }
            for (question, said) in &questions {
                let responses = |right: bool| {
                    said.iter()
                        .filter(move |said| said.overall() == Some(right))
                        .map(|said| said.response.as_str())
                };
                // A text that is held for right once and for wrong once is in no pair.
                let of_one_side = |right: bool| {
                    responses(right)
                        .filter(|text| responses(!right).all(|other| other != *text))
                        .count()
                };
                assert_eq!(
                    of_questions.get(question).map_or(0, Vec::len),
                    (of_one_side(true) * of_one_side(false)).min(per_question),
                    "{question}"
                );
            }
        }
        let (rows, _) = build(
            &folder,
            "pairs",
            "--by reward --min-margin 0.4 --per-question 4",
        );
        assert!(!rows.is_empty());
        for row in &rows {
            let [chosen, rejected] =
                ["chosen_id", "rejected_id"].map(|key| samples[text(row, key)].reward().unwrap());
            assert!(chosen - rejected >= 0.4 - 1e-12, "{row}");
        }

        // The best of each question.
        let (rows, counts) = build(&folder, "best-of-n", "");
        let best: BTreeMap<&str, f64> = rows
            .iter()
            .map(|row| {
                (
                    text(row, "prompt"),
                    samples[text(row, "id")].reward().unwrap(),
                )
            })
            .collect();
        let greatest = |said: &[&Said]| {
            said.iter()
                .filter_map(|said| said.reward())
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let expected: BTreeMap<&str, f64> = questions
            .iter()
            .map(|(question, said)| (*question, greatest(said)))
            .collect();
        assert_eq!(best, expected);
        let mean: f64 = questions
            .values()
            .map(|said| {
                said.iter().filter_map(|said| said.reward()).sum::<f64>() / said.len() as f64
            })
            .sum();
        let first = counts["curve"][0]["reward"].as_f64().unwrap();
        assert!((first - mean / questions.len() as f64).abs() < 1e-9);

        // Accepted responses: all of them, each text once; or a few.
        let (rows, counts) = build(&folder, "sft", "");
        let accepted: BTreeSet<(&str, &str)> = samples
            .values()
            .filter(|said| said.overall() == Some(true))
            .map(|said| (said.question.as_str(), said.response.as_str()))
            .collect();
        let written: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| (text(row, "prompt"), text(row, "completion")))
            .collect();
        assert_eq!(written.iter().copied().collect::<BTreeSet<_>>(), accepted);
        assert_eq!(written.len(), accepted.len());
        assert!(
            rows.iter()
                .all(|row| samples[text(row, "id")].overall() == Some(true))
        );
        assert_eq!(
            counts["written"]["same_text"].as_u64().unwrap() + written.len() as u64,
            counts["accepted"].as_u64().unwrap()
        );
        let (rows, _) = build(&folder, "sft", "--per-question 2 --min-c 1 --seed 5");
        let unanimous: BTreeSet<(&str, &str)> = samples
            .values()
            .filter(|said| said.ok > 0 && said.no == 0)
            .map(|said| (said.question.as_str(), said.response.as_str()))
            .collect();
        for question in questions.keys() {
            let there = unanimous
                .iter()
                .filter(|(other, _)| other == question)
                .count();
            let written: BTreeSet<&str> = rows
                .iter()
                .filter(|row| row["prompt"] == **question)
                .map(|row| text(row, "completion"))
                .collect();
            assert_eq!(written.len(), there.min(2), "{question}");
            assert!(
                written
                    .iter()
                    .all(|response| unanimous.contains(&(*question, *response)))
            );
        }
    }
}

/// What is written is read again, as text or as chat messages, from JSON lines or Parquet.
#[test]
fn what_is_built_can_be_judged_again() {
    let folder = Folder::new();
    let rows: String = rollouts(9);
    folder.write("rows.jsonl", &rows);
    folder
        .run_words("judge rows.jsonl -o verdicts.parquet --quiet")
        .expect(0, &[]);
    let mut results = Vec::new();
    for (name, form) in [
        ("a.jsonl", ""),
        ("b.parquet", ""),
        ("c.jsonl", "--messages"),
        ("d.parquet", "--messages"),
        ("e.csv", "--messages"),
    ] {
        let base = "rows.jsonl --verdicts verdicts.parquet --keep reference_answer -o";
        folder
            .run_words(&format!("build sft {base} {name} {form}"))
            .expect(0, &["6 responses accepted, 3 refused", "6 rows"]);
        let again = format!("{name}.out.jsonl");
        folder
            .run_words(&format!("judge {name} -o {again} --rules only --keep id"))
            .expect(0, &[]);
        let verdicts = folder.lines(&again);
        assert!(
            verdicts.iter().all(|verdict| verdict["outcome"] == true),
            "{name}"
        );
        let ids: Vec<String> = verdicts
            .iter()
            .map(|verdict| verdict["input"]["id"].to_string())
            .collect();
        results.push(ids);
    }
    assert!(
        results
            .iter()
            .all(|ids| *ids == results[0] && ids.len() == 6),
        "{results:?}"
    );
    // Standard output takes rows, and nothing else.
    let piped = folder.run_words("build sft rows.jsonl --verdicts verdicts.parquet -o -");
    assert_eq!(piped.expect(0, &[]).lines().len(), 6);
    let best =
        folder.run_words("build best-of-n rows.jsonl --verdicts verdicts.parquet -o best.csv");
    best.prints(&["expected reward"]);
}

/// `juror judge --hard` keeps the same samples.
#[test]
fn hard_is_what_a_run_keeps() {
    let folder = Folder::new();
    folder.write("rows.jsonl", include_str!("../../examples/groups.jsonl"));
    let judge = words(
        "judge rows.jsonl -o verdicts.jsonl --trials 4 --temperature 2 --seed 1 --hard hard.jsonl \
        --quiet",
    );
    let ran = folder.run(&judge);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let ran_again = ran.code.unwrap();
    let ran = folder.run_words("build hard rows.jsonl --verdicts verdicts.jsonl -o built.jsonl");
    ran.expect(0, &["are hard to judge"]);
    let built = folder.lines("built.jsonl");
    assert!(!built.is_empty());
    assert_eq!(built, folder.lines("hard.jsonl"));
    // The same command again replaces what it wrote, and no rows of others.
    folder.run(&judge).expect(ran_again, &[]);
    folder.write("hard.jsonl", include_str!("../../examples/groups.jsonl"));
    folder.run(&judge).expect(2, &["hard.jsonl is there"]);
}

/// Verdicts first, and the rows by their name; and the order of earlier versions.
#[test]
fn verdicts_and_rows_are_named_as_everywhere() {
    let folder = Folder::new();
    folder.write("rows.jsonl", include_str!("../../examples/groups.jsonl"));
    folder
        .run_words("judge rows.jsonl --rules only --reward outcome -o verdicts.jsonl")
        .expect(0, &[]);
    let build =
        |arguments: &str| folder.run_words(&format!("build sft {arguments} -o out.jsonl --force"));
    build("verdicts.jsonl --rows rows.jsonl").expect(0, &[]);
    let built = folder.read("out.jsonl");
    build("rows.jsonl --verdicts verdicts.jsonl").expect(0, &[]);
    assert_eq!(folder.read("out.jsonl"), built);
    let whole = "`juror build sft verdicts.jsonl --rows rows.jsonl -o out.jsonl`";
    build("verdicts.jsonl").expect(2, &["the rows that were judged", whole]);
    build("--rows rows.jsonl").expect(2, &["give the verdicts", whole]);
}

#[test]
fn what_cannot_be_built_is_refused() {
    let folder = Folder::new();
    folder.write("rows.jsonl", rollouts(2));
    folder.write("bare.jsonl", rollouts(1));
    folder.write(
        "nested.jsonl",
        format!(
            "{}\n",
            json!({"id": "r0", "question": "q", "answer": ["1", "2"], "response": "1"})
        ),
    );
    let line = |id: &str, further: Value| {
        let mut line =
            json!({"id": id, "trial": 0, "status": "ok", "overall": true, "reward": 1.0});
        line.as_object_mut()
            .unwrap()
            .extend(further.as_object().unwrap().clone());
        format!("{line}\n")
    };
    folder.write("ok.jsonl", line("r0", json!({})));
    folder.write(
        "split.jsonl",
        line("r0", json!({})) + &line("r0", json!({"trial": 1, "overall": false})),
    );
    folder.write(
        "twice.jsonl",
        line("r0", json!({})) + &line("r0", json!({})),
    );
    folder.write("others.jsonl", line("z", json!({})));
    folder.write("scores.jsonl", line("r0", json!({"overall": null})));
    folder.write(
        "unread.jsonl",
        line(
            "r0",
            json!({"overall": null, "reward": null, "status": "unparsed"}),
        ),
    );
    folder.write("there.jsonl", "something\n");
    let build = |what: &str, rest: &str| format!("build {what} rows.jsonl --verdicts {rest}");
    for (arguments, parts) in [
        (
            build("sft", "others.jsonl -o x.jsonl"),
            vec![
                "none of the 1 verdicts",
                "meet by id",
                "(ids of verdicts: `z`; of rows: `r0`, `r1`)",
            ],
        ),
        (
            build("sft", "twice.jsonl -o x.jsonl"),
            vec!["twice.jsonl:2", "is there twice", "one judge"],
        ),
        (
            build("sft", "bare.jsonl -o x.jsonl"),
            vec!["bare.jsonl:1", "no verdict of `juror judge`"],
        ),
        (
            build("sft", "scores.jsonl -o x.jsonl"),
            vec!["--min-reward alone"],
        ),
        (
            build("pairs", "scores.jsonl -o x.jsonl"),
            vec!["--by reward"],
        ),
        (build("hard", "scores.jsonl -o x.jsonl"), vec!["how hard"]),
        (
            build("best-of-n", "unread.jsonl -o x.jsonl"),
            vec!["1 unparsed", "no verdict has a reward"],
        ),
        (
            build("sft", "ok.jsonl -o there.jsonl"),
            vec!["would be replaced", "--force"],
        ),
        (
            build("sft", "ok.jsonl -o rows.jsonl"),
            vec!["rows.jsonl is an input"],
        ),
        (
            build("sft", "ok.jsonl -o x.txt"),
            vec!["not a name that juror writes"],
        ),
        (
            build("sft", "ok.jsonl -o x.jsonl --keep id"),
            vec!["--keep id", "of that name"],
        ),
        (
            build("sft", "ok.jsonl -o x.csv --keep all"),
            vec!["--keep all", "table"],
        ),
        (
            build("sft", "ok.jsonl -o x.jsonl --keep nowhere"),
            vec!["nowhere"],
        ),
        (
            build("sft", "ok.jsonl -o x.jsonl --json x.jsonl"),
            vec!["named for two outputs"],
        ),
        (
            build("sft", "ok.jsonl -o x.jsonl --min-c 2"),
            vec!["from 0 to 1"],
        ),
        (
            "build hard nested.jsonl --verdicts split.jsonl -o x.parquet".to_owned(),
            vec!["several reference answers", "JSON lines"],
        ),
    ] {
        let ran = folder.run_words(&arguments);
        ran.expect(2, &parts);
        assert!(
            !folder.has("x.jsonl") && !folder.has("x.csv") && !folder.has("x.parquet"),
            "{arguments:?}"
        );
    }
    assert_eq!(folder.read("there.jsonl"), "something\n");
    folder
        .run_words(&build("sft", "ok.jsonl -o there.jsonl --force --keep all"))
        .expect(0, &["left out: samples without a verdict: 1", "1 row"]);
    folder
        .run_words(&build("hard", "ok.jsonl -o x.jsonl"))
        .expect(0, &["--trials 8"]);
    // By the reward alone.
    folder
        .run_words(&build("sft", "scores.jsonl -o y.jsonl --min-reward 0.5"))
        .expect(0, &["1 row"]);
}

/// Writes verdicts: id, is it right, reward.
fn write_verdicts(folder: &Folder, of: &[(&str, bool, Option<f64>)]) {
    let line = |(id, overall, reward): &(&str, bool, Option<f64>)| {
        let line =
            json!({"id": id, "trial": 0, "status": "ok", "overall": overall, "reward": reward});
        format!("{line}\n")
    };
    folder.write("verdicts.jsonl", of.iter().map(line).collect::<String>());
}

#[track_caller]
fn of_rows(folder: &Folder, what: &str, out: &str) -> (Vec<Value>, Value) {
    let base = "rows.jsonl --verdicts verdicts.jsonl --force --json counts.json -o";
    let line = format!("build {what} {base} {out}");
    folder.run_words(&line).expect(0, &[]);
    let rows = if out.contains(".jsonl") {
        folder.lines(out)
    } else {
        Vec::new()
    };
    (
        rows,
        serde_json::from_str(&folder.read("counts.json")).unwrap(),
    )
}

#[test]
fn conversations_are_told_apart_and_written_whole() {
    let folder = Folder::new();
    let turn = |role: &str, content: &str| json!({"role": role, "content": content});
    let talk = |id: &str, first: &str, answer: &str| {
        let messages = [
            turn("system", "Be brief."),
            turn("user", first),
            turn("assistant", "Go on."),
            turn("user", "And now?"),
            turn("assistant", answer),
        ];
        format!(
            "{}\n",
            json!({"id": id, "messages": messages, "answer": "1"})
        )
    };
    let rows = talk("a", "One?", "1") + &talk("b", "Two?", "2") + &talk("c", "One?", "3");
    folder.write("rows.jsonl", rows);
    write_verdicts(
        &folder,
        &[
            ("a", true, Some(1.0)),
            ("b", false, Some(0.0)),
            ("c", false, Some(0.0)),
        ],
    );
    let (rows, counts) = of_rows(&folder, "pairs --per-question 9 --messages", "out.jsonl");
    assert_eq!((rows.len(), &counts["questions"]), (1, &json!(2)));
    assert_eq!(
        (text(&rows[0], "chosen_id"), text(&rows[0], "rejected_id")),
        ("a", "c")
    );
    let prompt = json!([
        turn("system", "Be brief."),
        turn("user", "One?"),
        turn("assistant", "Go on."),
        turn("user", "And now?")
    ]);
    assert_eq!(rows[0]["prompt"], prompt);
    assert_eq!(rows[0]["chosen"], json!([turn("assistant", "1")]));
    let (rows, _) = of_rows(&folder, "sft --messages", "out.jsonl");
    let mut whole = prompt.as_array().unwrap().clone();
    whole.push(turn("assistant", "1"));
    assert_eq!(rows[0]["messages"], json!(whole));
    of_rows(&folder, "sft --messages", "out.parquet");

    // A call of a tool stays as it is in JSON lines, and has no place in a table.
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "x"}]});
    let messages = json!([
        turn("user", "q"),
        call,
        turn("tool", "4"),
        turn("assistant", "1")
    ]);
    folder.write(
        "rows.jsonl",
        format!(
            "{}\n",
            json!({"id": "a", "messages": messages, "answer": "1"})
        ),
    );
    write_verdicts(&folder, &[("a", true, Some(1.0))]);
    let (rows, _) = of_rows(&folder, "sft --messages", "out.jsonl");
    assert_eq!(rows[0]["messages"], messages);
    folder
        .run_words("build sft rows.jsonl --verdicts verdicts.jsonl --messages -o t.parquet")
        .expect(2, &["more than a role and a text", "JSON lines"]);
}

#[test]
fn one_rule_groups_lists_and_rows() {
    let folder = Folder::new();
    let list = json!({"id": "l", "question": "q?", "answer": "1", "responses": ["1", "x"]});
    let row = json!({"id": "r", "question": "q?", "answer": "1", "response": "2"});
    // The text x is held for right and for wrong.
    let other = json!({"id": "o", "question": "q?", "answer": "1", "response": "x "});
    folder.write("rows.jsonl", format!("{list}\n{row}\n{other}\n"));
    write_verdicts(
        &folder,
        &[
            ("l:0", true, Some(1.0)),
            ("l:1", true, Some(1.0)),
            ("r", false, Some(0.0)),
            ("o", false, Some(0.0)),
        ],
    );
    let (rows, counts) = of_rows(&folder, "pairs --per-question 9", "out.jsonl");
    let ids: Vec<[&str; 2]> = rows
        .iter()
        .map(|row| ["chosen_id", "rejected_id"].map(|key| text(row, key)))
        .collect();
    assert_eq!(ids, [["l:0", "r"]]);
    assert_eq!(
        (&counts["questions"], &counts["on_both_sides"]),
        (&json!(1), &json!(2))
    );
    // By the reward the same text is no pair of its own, and takes no other's place.
    let (rows, _) = of_rows(&folder, "pairs --per-question 9 --by reward", "out.jsonl");
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter()
            .all(|row| text(row, "chosen").trim() != text(row, "rejected").trim())
    );
}

#[test]
fn rewards_are_not_compared_with_shares() {
    let folder = Folder::new();
    let row = |id: &str| {
        format!(
            "{}\n",
            json!({"id": id, "question": "q?", "answer": "1", "response": id})
        )
    };
    folder.write("rows.jsonl", row("a") + &row("b"));
    // Without a reward b is not worth 1 because it is held for right.
    write_verdicts(&folder, &[("a", true, Some(0.7)), ("b", true, None)]);
    let (rows, counts) = of_rows(&folder, "best-of-n", "out.jsonl");
    assert_eq!((text(&rows[0], "id"), &rows[0]["n"]), ("a", &json!(1)));
    assert_eq!(counts["coverage"]["without_reward"], 1);
    write_verdicts(&folder, &[("a", false, None), ("b", true, None)]);
    let (rows, counts) = of_rows(&folder, "best-of-n", "out.jsonl");
    assert_eq!((text(&rows[0], "id"), &rows[0]["n"]), ("b", &json!(2)));
    assert_eq!(counts["coverage"]["without_reward"], 0);
}

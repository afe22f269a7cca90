//! `juror gsm8k`: responses scored by extraction methods, and a local model as the solver.

use serde_json::{Value, json};

use crate::common::{Folder, Ran, words};
use crate::eval::meets;

/// Questions of GSM8K's shape; the second has a thousands comma, the last is removed by the audit.
const QUESTIONS: [(&str, &str); 4] = [
    (
        "Ann fills 3 boxes with 4 pens each. How many pens?",
        "3*4 = <<3*4=12>>12\n#### 12",
    ),
    (
        "Bo sells 1,000 caps and 72 hats. How many things?",
        "1000+72 = 1072\n#### 1,072",
    ),
    ("Cy eats 2 of 9 figs. How many are left?", "9-2 = 7\n#### 7"),
    (
        "Di runs 5 km on each of 6 days. How many km?",
        "5*6 = 30\n#### 30",
    ),
];

const RESPONSES: [[&str; 4]; 4] = [
    ["#### 12", "So 12.", "The answer is 11. 2 ways", "#### 12.0"],
    ["#### 1,072", "$1072", "none", "nor here"],
    ["#### 7", "#### 8", "#### 8", "#### 7"],
    ["", "", "", ""],
];

fn lines(rows: impl IntoIterator<Item = Value>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&row.to_string());
        text.push('\n');
    }
    text
}

fn write_data(folder: &Folder) {
    let original =
        QUESTIONS.map(|(question, answer)| json!({"question": question, "answer": answer}));
    folder.write("test.jsonl", lines(original));
    let statuses = ["consensus", "verified", "revised"];
    let audited = QUESTIONS.iter().zip(statuses).map(|((question, answer), status)| {
        // The audit found another answer to the third, and removed the fourth.
        // A comma more or less is no other answer.
        let answer = answer.replace("1,072", "1072");
        let answer = if status == "revised" { "#### 8" } else { answer.as_str() };
        json!({"question": format!(" {question}\n"), "answer": answer, "cleaning_status": status})
    });
    folder.write("platinum.jsonl", lines(audited));
}

fn write_responses(folder: &Folder) {
    let rows = QUESTIONS.iter().zip(RESPONSES).enumerate();
    let rows = rows.map(|(at, ((question, _), responses))| {
        json!({"id": format!("r{at}"), "question": question, "responses": responses})
    });
    folder.write("responses.jsonl", lines(rows));
}

fn report(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("out.json")).unwrap()
}

/// Every key of the report is in its schema, and every key that the schema demands is in the report; how many values it has.
fn meets_its_schema(folder: &Folder, report: &Value) -> usize {
    let ran = folder.run_words("gsm8k --json-schema");
    let schema: Value = serde_json::from_str(&ran.expect(0, &[]).stdout).unwrap();
    meets(report, &schema, &schema, "report")
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn figures_are_those_counted_by_hand() {
    let folder = Folder::new();
    write_data(&folder);
    write_responses(&folder);
    let ran = folder.run_words("gsm8k responses.jsonl --data test.jsonl --platinum platinum.jsonl --json out.json --rows-out rows.jsonl");
    ran.expect(
        0,
        &[
            "columns: question ← question",
            "4 questions (original) are few",
        ],
    );
    let report = report(&folder);
    let checked = meets_its_schema(&folder, &report);
    assert!(checked > 300, "{checked} values");
    assert_eq!(report["responses"], 16);
    assert_eq!(report["responses_per_question"], json!([4, 4]));
    assert_eq!(report["blank_responses"], 4);
    for (method, set, right, all, without) in [
        // 12 is the first `####` of one response, and 12.0 is another text.
        ("official", "original", 4, 16, 9),
        ("official", "platinum", 4, 12, 5),
        ("strict-match", "original", 4, 16, 9),
        // `So 12.` and `$1072` too.
        ("flexible-extract", "original", 6, 16, 6),
        ("flexible-extract", "platinum", 6, 12, 2),
        // And 12.0.
        ("multi", "original", 7, 16, 6),
        // To the rules `none` and `nor here` are answers, and wrong.
        ("rules", "original", 7, 16, 4),
    ] {
        let scores = &report["methods"][method][set];
        let counts = (
            &scores["accuracy"]["count"],
            &scores["accuracy"]["all"],
            &scores["without_answer"],
        );
        assert_eq!(
            counts,
            (&json!(right), &json!(all), &json!(without)),
            "{method} {set}"
        );
    }
    let official = &report["methods"]["official"];
    // Right are 1, 1, 2 and 0 of 4: 1 - C(4-c, 2) / C(4, 2) is 1/2, 1/2, 5/6 and 0.
    close(
        &official["original"]["pass_at"]["2"]["value"],
        (0.5 + 0.5 + 5.0 / 6.0) / 4.0,
    );
    close(&official["original"]["pass_at"]["4"]["value"], 0.75);
    close(
        &official["platinum"]["pass_at"]["2"]["value"],
        (0.5 + 0.5 + 5.0 / 6.0) / 3.0,
    );
    // 7 and 8 have two votes each: 7 was given first. It is right by the original label and wrong by the audited one.
    assert_eq!(official["original"]["maj_at"]["4"]["count"], 3);
    assert_eq!(official["platinum"]["maj_at"]["4"]["count"], 2);
    assert_eq!(official["platinum"]["maj_at"]["4"]["all"], 3);
    assert!(official["original"]["maj_at"].get("1").is_none());
    let mixed = &report["disagreements"]["original"];
    assert_eq!(
        (&mixed["all_right"], &mixed["all_wrong"], &mixed["mixed"]),
        (&json!(4), &json!(9), &json!(3))
    );
    assert_eq!(mixed["only"]["multi"]["official"], 3);
    assert_eq!(mixed["only"]["official"]["multi"], 0);
    // Every figure can be traced to its responses.
    let rows = folder.lines("rows.jsonl");
    assert_eq!(rows.len(), 16);
    let row = rows.iter().find(|row| row["id"] == "r0:3").unwrap();
    assert_eq!(
        row["references"],
        json!({"original": ["12"], "platinum": ["12"]})
    );
    assert_eq!(
        row["methods"]["official"],
        json!({"extracted": "12.0", "original": false, "platinum": false})
    );
    assert_eq!(
        row["methods"]["multi"],
        json!({"extracted": "12", "original": true, "platinum": true})
    );
    let removed = rows.iter().find(|row| row["id"] == "r3:0").unwrap();
    assert_eq!(
        removed["methods"]["rules"],
        json!({"extracted": null, "original": false})
    );
    let relabelled = rows.iter().find(|row| row["id"] == "r2:1").unwrap();
    assert_eq!(
        relabelled["methods"]["official"],
        json!({"extracted": "8", "original": false, "platinum": true})
    );
}

#[test]
fn a_report_states_what_a_score_means_nothing_without() {
    let folder = Folder::new();
    write_data(&folder);
    write_responses(&folder);
    let base = "gsm8k responses.jsonl --data test.jsonl --platinum platinum.jsonl --json out.json";
    let ran = folder.run_words(base);
    ran.expect(0, &[]);
    ran.prints(&[
        "16 in 4 rows of responses.jsonl, 4 each; 4 blank",
        "not stated: which model, shots, prompt and decoding",
        "pass@k: unbiased",
        "test.jsonl, 4 rows, BLAKE3 ",
        "1 removed, 1 relabelled; cleaning_status: consensus 1, revised 1, verified 1",
    ]);
    let hash = blake3::hash(folder.read("test.jsonl").as_bytes())
        .to_hex()
        .to_string();
    let first = report(&folder);
    assert_eq!(first["test_sets"]["original"]["blake3"], hash.as_str());
    assert_eq!(
        first["test_sets"]["platinum"]["audit"],
        json!({"removed": 1, "relabelled": 1, "unchanged": 2, "added": 0})
    );
    assert_eq!(first["made"], json!([]));
    let stated = [
        "--state",
        "shots=5",
        "--state",
        "shots-source=GSM8K train",
        "--state",
        "decoding=greedy\u{1b}[31m",
    ];
    let ran = folder.run(&[&words(base)[..], &stated[..]].concat());
    ran.expect(0, &[]);
    ran.prints(&["5: GSM8K train"]);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert_eq!(report(&folder)["made"][0]["shots"], 5);
}

#[test]
fn one_response_each_has_wilsons_interval_and_no_k() {
    let folder = Folder::new();
    let rows = QUESTIONS.iter().zip(RESPONSES).map(|((question, answer), responses)| {
        json!({"question": question, "answer": answer, "response": responses[0]})
    });
    folder.write("rows.jsonl", lines(rows));
    let ran = folder.run_words("gsm8k rows.jsonl --json out.json");
    ran.expect(0, &[]);
    ran.prints(&["labels from the responses' own rows"]);
    assert!(!ran.stdout.contains("pass@k"), "{}", ran.stdout);
    let scores = &report(&folder)["methods"]["official"]["original"];
    assert_eq!(scores["accuracy"]["count"], 3);
    // Wilson's interval of 3 in 4, by its formula.
    let (z, n, p) = (1.959_963_984_540_054_f64, 4.0, 0.75);
    let (centre, half) = (
        p + z * z / (2.0 * n),
        z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt(),
    );
    close(
        &scores["accuracy"]["interval"][0],
        (centre - half) / (1.0 + z * z / n),
    );
    close(
        &scores["accuracy"]["interval"][1],
        (centre + half) / (1.0 + z * z / n),
    );
    assert!(scores.get("pass_at").is_none());
}

#[test]
fn responses_come_in_any_form() {
    let folder = Folder::new();
    write_data(&folder);
    // lm-evaluation-harness logs each response once a filter; resps holds the repeats.
    let samples = ["strict-match", "flexible-extract"].into_iter().flat_map(|filter| {
        QUESTIONS.iter().zip(RESPONSES).enumerate().map(move |(at, ((question, answer), responses))| {
            json!({"doc_id": at, "doc": {"question": question, "answer": answer}, "target": answer, "arguments": {},
                "resps": [responses], "filtered_resps": ["12"], "filter": filter, "exact_match": 1.0})
        })
    });
    folder.write("samples.jsonl", lines(samples));
    folder
        .run_words("gsm8k samples.jsonl --json out.json")
        .expect(0, &["lm-eval rows: ", "4 rows that repeat others left out"]);
    let by_rows = report(&folder)["methods"].clone();
    assert_eq!(by_rows["official"]["original"]["accuracy"]["all"], 16);
    assert_eq!(by_rows["official"]["original"]["maj_at"]["4"]["count"], 3);
    // One row a response: those of one question belong together, wherever they stand.
    let mut csv = "question,answer,response\n".to_owned();
    for at in 0..4 {
        for ((question, answer), responses) in QUESTIONS.iter().zip(RESPONSES) {
            let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
            let cells = [question, answer, responses[at]].map(quoted);
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
    }
    folder.write("rows.csv", csv);
    folder
        .run_words("gsm8k rows.csv --json out.json")
        .expect(0, &[]);
    assert_eq!(report(&folder)["methods"], by_rows);
}

#[test]
fn what_does_not_meet_is_counted_and_left_out() {
    let folder = Folder::new();
    write_data(&folder);
    let rows = [
        json!({"question": QUESTIONS[0].0, "response": "#### 12"}),
        json!({"question": QUESTIONS[0].0, "response": "#### 13"}),
        json!({"question": QUESTIONS[2].0, "response": "#### 7"}),
        json!({"question": "What else?", "response": "#### 1"}),
    ];
    folder.write("responses.jsonl", lines(rows));
    let ran = folder.run_words("gsm8k responses.jsonl --data test.jsonl --json out.json");
    ran.expect(
        0,
        &[
            "1 response is to questions that --data does not have",
            "2 questions are left out, without a response, of test.jsonl (original)",
            "questions have from 1 to 2 responses: pass@k and maj@k are told up to k = 1",
        ],
    );
    let report = report(&folder);
    assert_eq!(
        (&report["responses"], &report["unknown_questions"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(report["test_sets"]["original"]["without_response"], 2);
    // pass@1 is the mean over questions, accuracy that over responses.
    let scores = &report["methods"]["official"]["original"];
    close(&scores["pass_at"]["1"]["value"], 0.75);
    close(&scores["accuracy"]["share"], 2.0 / 3.0);
}

#[test]
fn unequal_numbers_of_responses_have_an_interval_around_their_share() {
    let folder = Folder::new();
    let one = [json!({"question": QUESTIONS[0].0, "answer": "12", "responses": ["#### 12"]})];
    let many = json!({"question": QUESTIONS[2].0, "answer": "7", "responses": vec!["#### 8"; 99]});
    folder.write("rows.jsonl", lines(one.into_iter().chain([many])));
    let ran = folder.run_words("gsm8k rows.jsonl --json out.json");
    ran.expect(0, &[]);
    let accuracy = &report(&folder)["methods"]["official"]["original"]["accuracy"];
    close(&accuracy["share"], 0.01);
    let end = |at: usize| accuracy["interval"][at].as_f64().unwrap();
    // Wilson's interval of 1 in 100 ends at 0.054.
    assert!(end(0) < 0.01 && end(1) > 0.1, "{accuracy}");
}

#[test]
fn a_test_set_in_several_files_is_one() {
    let folder = Folder::new();
    write_data(&folder);
    write_responses(&folder);
    let run = |data: &str| {
        let line = format!("gsm8k responses.jsonl --data {data} --json out.json");
        folder.run_words(&line).expect(0, &[]);
        report(&folder)
    };
    let whole = run("test.jsonl");
    let text = folder.read("test.jsonl");
    let (first, rest) = text.split_at(text.find('\n').unwrap() + 1);
    std::fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/a.jsonl", first);
    folder.write("parts/b.jsonl", rest);
    let parts = run("parts");
    assert_eq!(parts["methods"], whole["methods"]);
    let (set, of_one) = (
        &parts["test_sets"]["original"],
        &whole["test_sets"]["original"],
    );
    assert_eq!((&set["file"], &set["rows"]), (&json!("parts"), &json!(4)));
    assert_eq!(set["blake3"], of_one["blake3"]);
}

#[test]
fn references_of_a_question_may_stand_in_any_order() {
    let folder = Folder::new();
    let row =
        |answers: [&str; 2]| json!({"question": "q", "answer": answers, "response": "#### 2"});
    folder.write("rows.jsonl", lines([row(["1", "2"]), row(["2.0", "1"])]));
    folder.run_words("gsm8k rows.jsonl").expect(0, &[]);
}

#[test]
fn trials_of_a_response_count_as_one() {
    let folder = Folder::new();
    let row = |id: &str| json!({"id": id, "question": QUESTIONS[0].0, "answer": "12", "response": "#### 12", "is_correct": true});
    folder.write("rows.jsonl", lines(["a", "b", "c"].map(row)));
    let trial = |id: &str, trial: u32, outcome: Option<bool>| {
        let mut line = verdict(id, outcome);
        line["trial"] = json!(trial);
        line
    };
    let mut trials: Vec<Value> = (0..9).map(|at| trial("a", at, Some(at > 1))).collect();
    // A tie, and a trial that cannot be read.
    trials.extend([trial("b", 0, Some(true)), trial("b", 1, Some(false))]);
    trials.extend([trial("c", 0, None), trial("c", 1, Some(false))]);
    folder.write("verdicts.jsonl", lines(trials));
    let all = words("gsm8k rows.jsonl --verdicts verdicts.jsonl --json out.json");
    let ran = folder.run(&all);
    ran.expect(0, &[]);
    ran.prints(&["3 responses with 13 verdicts compared, 1 without an outcome"]);
    meets_its_schema(&folder, &report(&folder));
    let judge = &report(&folder)["judge"];
    assert_eq!(
        (&judge["compared"], &judge["trials"]),
        (&json!(3), &json!(13))
    );
    let judge_accuracy = &judge["judge_accuracy"];
    assert_eq!(
        (&judge_accuracy["count"], &judge_accuracy["all"]),
        (&json!(1), &json!(3))
    );
    let official = &judge["methods"]["official"]["original"];
    assert_eq!(official["responses"], 3);
    assert_eq!(official["confusion"], json!([[0, 0, 0], [1, 1, 1]]));
    // The tied b counts in accuracies, but not in the test: both are right on a, the method alone on c.
    let labels = &official["labels"];
    assert_eq!(
        (&labels["both"], &labels["method_only"]),
        (&json!(1), &json!(1))
    );
    let method_accuracy = &labels["method_accuracy"];
    assert_eq!(
        (&method_accuracy["count"], &method_accuracy["all"]),
        (&json!(3), &json!(3))
    );
    close(&labels["mcnemar"]["p_exact"], 1.0);
}

#[test]
fn verdicts_of_every_form_give_the_same_results() {
    let folder = Folder::new();
    // Lists of responses, so that verdicts have groups, and rows without one.
    let rows = QUESTIONS.iter().zip(RESPONSES).enumerate();
    let rows = rows.map(|(at, ((question, answer), responses))| {
        if at < 2 {
            json!({"id": format!("r{at}"), "question": question, "answer": answer, "responses": responses, "is_correct": at == 0})
        } else {
            json!({"id": format!("r{at}"), "question": question, "answer": answer, "response": responses[0], "is_correct": at == 2})
        }
    });
    folder.write("rows.jsonl", lines(rows));
    let results = ["jsonl", "csv", "parquet"].map(|ending| {
        let verdicts = format!("verdicts.{ending}");
        let judge = "judge rows.jsonl --rules only --quiet --keep is_correct -o";
        let judge = folder.run_words(&format!("{judge} {verdicts}"));
        judge.expect(0, &[]);
        // With the labels in the verdicts.
        let eval = folder.run(&["eval", &verdicts]);
        eval.expect(0, &[]);
        let build = format!("build sft rows.jsonl --verdicts {verdicts} -o built.jsonl --force");
        let built = folder.run_words(&build);
        built.expect(0, &["rows in built.jsonl"]);
        let line = format!("gsm8k rows.jsonl --verdicts {verdicts} --json out.json");
        let gsm8k = folder.run_words(&line);
        gsm8k.expect(0, &[]);
        assert_eq!(report(&folder)["judge"]["trials"], 10);
        [
            eval.stdout,
            built.stderr + &folder.read("built.jsonl"),
            gsm8k.stdout,
        ]
        .map(|text| {
            // Lines break elsewhere after a longer name.
            let text = text.replace(&verdicts, "verdicts");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        })
    });
    assert!(results[0][0].contains("outcome"), "{}", results[0][0]);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

/// A verdict's line.
fn verdict(id: &str, outcome: Option<bool>) -> Value {
    let status = if outcome.is_some() { "ok" } else { "unparsed" };
    json!({"id": id, "index": 0, "trial": 0, "status": status, "process": outcome, "outcome": outcome, "perfect": null,
        "overall": outcome, "reward": null, "reason": null})
}

#[test]
fn a_judge_and_the_methods_are_compared_and_both_against_labels() {
    let folder = Folder::new();
    write_data(&folder);
    // The response, the label, and what the judge says.
    let cases = [
        ("a", "#### 12", true, Some(true)),
        ("b", "So 12.", true, Some(true)),
        ("c", "It is a dozen.", true, Some(true)),
        ("d", "#### 12 or 13", false, Some(false)),
        ("e", "#### 13", false, Some(true)),
        ("f", "#### 14", false, None),
    ];
    let row = |(id, response, label, _): (&str, &str, bool, Option<bool>)| json!({"id": id, "question": QUESTIONS[0].0, "answer": "12", "response": response, "is_correct": label});
    folder.write("rows.jsonl", lines(cases.map(row)));
    let said = cases.map(|(id, _, _, outcome)| verdict(id, outcome));
    folder.write(
        "verdicts.jsonl",
        lines(said.into_iter().chain([verdict("z", Some(true))])),
    );
    let ran = folder.run_words("gsm8k rows.jsonl --verdicts verdicts.jsonl --json out.json");
    ran.expect(0, &[]);
    meets_its_schema(&folder, &report(&folder));
    let judge = report(&folder)["judge"].clone();
    assert_eq!(
        (
            &judge["compared"],
            &judge["without_outcome"],
            &judge["elsewhere"],
            &judge["labelled"]
        ),
        (&json!(6), &json!(1), &json!(1), &json!(6))
    );
    // a to d; f says nothing.
    assert_eq!(judge["judge_accuracy"]["count"], 4);
    let official = &judge["methods"]["official"]["original"];
    // Right by the method: a and d. Both say the same of a alone.
    assert_eq!(official["confusion"], json!([[0, 3, 1], [1, 1, 0]]));
    assert_eq!(official["agreement"]["count"], 1);
    // The method meets the labels of a, e and f.
    let labels = &official["labels"];
    assert_eq!(labels["method_accuracy"]["count"], 3);
    assert_eq!(
        (
            &labels["both"],
            &labels["judge_only"],
            &labels["method_only"],
            &labels["neither"]
        ),
        (&json!(1), &json!(3), &json!(2), &json!(0))
    );
    close(&labels["mcnemar"]["p_exact"], 1.0);
    // A paragraph, broken between words.
    let paragraphs = ran.stdout.replace('\n', " ");
    assert!(paragraphs.contains("in 66.7 (30.0–90.3) %"), "{paragraphs}");
    // Labels in another file, by id; without labels there is agreement alone.
    let relabelled = cases.map(|(id, ..)| json!({"id": id, "human": id == "c"}));
    folder.write("labels.jsonl", lines(relabelled));
    let run = |labels: &str| {
        let base = "gsm8k rows.jsonl --verdicts verdicts.jsonl --json out.json --label-columns";
        folder.run_words(&format!("{base} {labels}")).expect(0, &[]);
        report(&folder)["judge"].clone()
    };
    let other = run("outcome=human --labels labels.jsonl");
    assert_eq!(other["judge_accuracy"]["count"], 2, "{other}");
    let none = run("outcome=nothing");
    assert_eq!(
        (&none["labelled"], &none["judge_accuracy"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(
        none["methods"]["official"]["original"]["labels"],
        Value::Null
    );
    assert_eq!(
        none["methods"]["official"]["original"]["agreement"]["count"],
        1
    );
}

/// The tiny model answers the questions of the test set, with further options.
fn solve(folder: &Folder, more: &str) -> Ran {
    let base = "gsm8k --solve --model tiny --data test.jsonl -o solved.jsonl --max-new-tokens 8";
    folder.run_words(&format!("{base} {more}"))
}

#[test]
fn a_model_solves_and_is_scored_and_a_second_run_goes_on() {
    let folder = Folder::new();
    write_data(&folder);
    let sampled = "--config 5-shot --samples 3 --seed 7 --json out.json";
    let ran = solve(&folder, &format!("{sampled} --limit 2"));
    ran.expect(
        0,
        &[
            "engine: ",
            "2 questions answered",
            "2 questions are left out, without a response, of test.jsonl (original)",
        ],
    );
    let rows = folder.lines("solved.jsonl");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["question"], QUESTIONS[0].0);
    assert_eq!(
        (&rows[0]["reference"], &rows[1]["reference"]),
        (&json!("12"), &json!("1,072"))
    );
    assert_eq!(rows[0]["responses"].as_array().unwrap().len(), 3);
    ran.prints(&[
        "model:         tiny",
        "configuration: 5-shot",
        "5: built into juror, made up, none of GSM8K's",
        "Question: …\\nAnswer:",
        "3 samples a question at temperature 0.7, seed 7; at most 8 tokens; stops at [\"Question:\",\"</s>\",\"<|im_end|>\"]",
        "maj@k",
    ]);
    let made = &report(&folder)["made"][0];
    assert_eq!(
        (&made["shots"], &made["rows"], &made["config"]),
        (&json!(5), &json!(2), &json!("5-shot"))
    );
    // The rest of the questions; what is answered stays.
    let first = rows;
    let ran = solve(&folder, sampled);
    ran.expect(0, &["4 questions answered, 2 of them by an earlier run"]);
    let rows = folder.lines("solved.jsonl");
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[..2], first[..]);
    let whole = report(&folder);
    assert_eq!(whole["responses_per_question"], json!([3, 3]));
    // Other settings are other answers.
    solve(&folder, "--config 5-shot --samples 3 --seed 8").expect(2, &["--restart"]);
    // The file is scored as any other, and still says how it was made.
    folder
        .run_words("gsm8k solved.jsonl --data test.jsonl --json out.json")
        .expect(0, &[]);
    let again = report(&folder);
    assert_eq!(
        (&again["methods"], &again["made"]),
        (&whole["methods"], &whole["made"])
    );
}

#[test]
fn every_configuration_runs_through() {
    let folder = Folder::new();
    write_data(&folder);
    let exemplars = (0..8).map(|at| json!({"question": format!("What is {at} + 1?"), "answer": format!("It is {0}.\n#### {0}", at + 1)}));
    folder.write("train.jsonl", lines(exemplars));
    for (config, format) in [
        ("0-shot", "Question: …"),
        ("0-shot-cot", "Let's think step by step."),
        ("8-shot-cot", "Q: …"),
        ("10-shot", "10: built into juror"),
        ("chat", "the model's chat template"),
    ] {
        let ran = solve(&folder, &format!("--config {config} --limit 1 --restart"));
        ran.expect(0, &["1 question answered"]);
        ran.prints(&[format, "greedy (temperature 0)"]);
    }
    let ran = solve(
        &folder,
        "--config 8-shot-cot --exemplars train.jsonl --limit 1 --restart",
    );
    ran.expect(0, &[]);
    ran.prints(&["8: the first 8 rows of train.jsonl"]);
    solve(
        &folder,
        "--config 10-shot --exemplars train.jsonl --restart",
    )
    .expect(
        2,
        &["train.jsonl: 10 exemplars are wanted, and it has 8 rows"],
    );
    solve(
        &folder,
        "--config 8-shot-cot --exemplars test.jsonl --restart",
    )
    .expect(2, &["8 exemplars are wanted"]);
    folder.write(
        "train.jsonl",
        lines(
            [json!({"question": "q", "answer": "5"})]
                .into_iter()
                .cycle()
                .take(5),
        ),
    );
    let ran = solve(&folder, "--config 5-shot --exemplars train.jsonl --restart");
    ran.expect(
        2,
        &["train.jsonl: row 1: the solution ends neither in `#### n` nor in `The answer is n.`"],
    );
    // Exemplars that are asked, too.
    let leaking = QUESTIONS.iter().cycle().take(5);
    folder.write(
        "leak.jsonl",
        lines(leaking.map(|(question, answer)| json!({"question": question, "answer": answer}))),
    );
    let ran = solve(
        &folder,
        "--config 5-shot --exemplars leak.jsonl --limit 1 --restart",
    );
    ran.expect(0, &["5 of the exemplars are questions of test.jsonl"]);
}

#[test]
fn a_question_that_cannot_be_asked_is_a_blank_response() {
    let folder = Folder::new();
    let long = "How many? ".repeat(5000);
    folder.write(
        "test.jsonl",
        lines([
            json!({"question": QUESTIONS[0].0, "answer": "#### 12"}),
            json!({"question": long, "answer": "#### 1"}),
        ]),
    );
    let ran = solve(&folder, "--config 0-shot --json out.json");
    ran.expect(3, &["2 questions answered, 1 with an error"]);
    let rows = folder.lines("solved.jsonl");
    assert_eq!(rows[1]["responses"], json!([""]));
    assert!(
        rows[1]["error"].as_str().unwrap().contains("tokens"),
        "{}",
        rows[1]["error"]
    );
    let report = report(&folder);
    assert_eq!(
        (&report["unasked_rows"], &report["responses"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(report["methods"]["multi"]["original"]["accuracy"]["all"], 2);
}

#[test]
fn questions_with_two_answers_are_left_out() {
    let folder = Folder::new();
    let rows = [
        ("a", "1"),
        ("b", "2"),
        ("b ", "3"),
        ("b", "2.0"),
        ("a", "1.0"),
    ];
    let rows = rows.map(
        |(question, answer)| json!({"question": question, "answer": answer, "response": "#### 1"}),
    );
    folder.write("rows.jsonl", lines(rows));
    // As responses that bring their references, and as a test set: the question that is clear is scored.
    for (arguments, left_out) in [
        (
            "",
            "rows of these responses give them different answers: 1, as \"b\"",
        ),
        (
            "--data rows.jsonl",
            "rows of rows.jsonl give them different answers: 1, as \"b\"",
        ),
    ] {
        let base = "gsm8k rows.jsonl --json out.json --force";
        let ran = folder.run_words(&format!("{base} {arguments}"));
        ran.expect(0, &[left_out]);
        let report = report(&folder);
        assert_eq!(report["responses"], 2);
        assert_eq!(report["unknown_questions"], 0);
        assert_eq!(report["test_sets"]["original"]["questions"], 1);
        assert_eq!(report["methods"]["multi"]["original"]["accuracy"]["all"], 2);
    }
}

#[test]
fn wrong_inputs_are_told() {
    let folder = Folder::new();
    write_data(&folder);
    write_responses(&folder);
    folder.write("questions.jsonl", lines([json!({"question": "q"})]));
    folder.write(
        "prompts.jsonl",
        lines([json!({"question": "Question: q\nAnswer:", "response": "#### 1"})]),
    );
    folder.write("verdicts.jsonl", lines([verdict("elsewhere", Some(true))]));
    let own = [
        json!({"question": "q", "answer": "1", "response": "1"}),
        json!({"question": "q", "answer": "2", "response": "1"}),
    ];
    folder.write("own.jsonl", lines(own));
    for (arguments, said) in [
        (
            "",
            "\"r0:0\" has no reference answer: give the questions with their answers, `--data test.jsonl`",
        ),
        ("--data missing.jsonl", "could not read missing.jsonl"),
        ("--data -", "stdin is no file or folder"),
        ("--data questions.jsonl", "no reference answer"),
        (
            "--data test.jsonl --platinum responses.jsonl",
            "no reference answer",
        ),
        (
            "--data test.jsonl --verdicts verdicts.jsonl",
            "none of the 1 verdicts in verdicts.jsonl",
        ),
        (
            "--data test.jsonl --state size=3",
            "--state: \"size\" is none of model",
        ),
        (
            "--data-columns question=q",
            "--data-columns changes nothing without --data or --platinum",
        ),
        (
            "--data test.jsonl --config chat",
            "--config changes nothing without --solve",
        ),
        (
            "--data test.jsonl --device cpu",
            "--device changes nothing without --solve",
        ),
        ("--data test.jsonl --labels test.jsonl", "--verdicts"),
        ("--data test.jsonl --json nowhere/out.json", "nowhere"),
    ] {
        let line = format!("gsm8k responses.jsonl {arguments}");
        folder.run_words(&line).expect(2, &[said]);
    }
    folder
        .run_words("gsm8k prompts.jsonl --data test.jsonl")
        .expect(
            2,
            &["none of the 1 responses in prompts.jsonl is to a question of test.jsonl"],
        );
    folder.run_words("gsm8k own.jsonl").expect(
        2,
        &[
            "name different reference answers, as do those of \"q\"",
            "--data test.jsonl",
        ],
    );
    folder.run_words("gsm8k").expect(2, &["<RESPONSES>"]);
    for (arguments, said) in [
        (
            "--samples 2 --temperature 0",
            "--samples 2 at temperature 0",
        ),
        ("--top-p 0.5", "--top-p changes nothing at temperature 0"),
        ("--temperature -1", "temperature"),
        (
            "--config 0-shot --exemplars test.jsonl",
            "changes nothing under --config 0-shot",
        ),
        ("--config 3-shot", "3-shot"),
        ("--columns id=x", "--columns changes nothing with --solve"),
    ] {
        solve(&folder, arguments).expect(2, &[said]);
    }
    folder
        .run_words("gsm8k --solve --model tiny")
        .expect(2, &["--data"]);
    // What another program wrote is not replaced.
    folder.write("solved.jsonl", "mine\n");
    solve(&folder, "").expect(2, &["--force"]);
    assert_eq!(folder.read("solved.jsonl"), "mine\n");
}

//! How good the embedded judge is, on problems it was not trained on.
//!
//! `tests/data/tiny` holds 300 labelled rollouts of each split of the generator, made by
//! `python scripts/tiny_judge/evaluate.py --split domain --count 300 --seed 9001 --write domain.jsonl` (and `heldout`). The
//! card `models/tiny/README.md` has the figures over 2,000; the bounds here leave room for chance on 300, and catch a
//! prompt, a tokenizer or a decoder that is no longer the one the judge was trained with.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::{Folder, Ran, json_lines, words};
use serde_json::{Value, json};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Verdicts by id.
fn judge(input: &Path, arguments: &[&str]) -> HashMap<String, Value> {
    judge_in(&Folder::new(), input, arguments)
}

fn judge_in(folder: &Folder, input: &Path, arguments: &[&str]) -> HashMap<String, Value> {
    let mut all = vec!["judge", input.to_str().unwrap(), "-o", "verdicts.jsonl"];
    all.extend(arguments);
    folder.run(&all);
    let verdicts = folder.lines("verdicts.jsonl");
    verdicts
        .into_iter()
        .map(|verdict| (verdict["id"].as_str().unwrap().to_owned(), verdict))
        .collect()
}

fn read(path: &Path) -> Vec<Value> {
    json_lines(&std::fs::read_to_string(path).unwrap())
}

fn is_lucky(label: &Value) -> bool {
    label["outcome"] == true && label["process"] == false
}

/// Share of `labels` whose verdict agrees in all of `fields`.
fn accuracy(labels: &[&Value], verdicts: &HashMap<String, Value>, fields: &[&str]) -> f64 {
    let right = labels.iter().filter(|label| {
        let verdict = &verdicts[label["id"].as_str().unwrap()];
        fields.iter().all(|&field| match field {
            "overall" => {
                verdict["overall"]
                    == Value::Bool(label["process"] == true && label["outcome"] == true)
            }
            _ => verdict[field] == label[field],
        })
    });
    right.count() as f64 / labels.len() as f64
}

/// The problems in phrasing that it has never seen, judged once: every verdict taken, and as it would leave them by itself.
static HELDOUT: LazyLock<[HashMap<String, Value>; 2]> = LazyLock::new(|| {
    let folder = Folder::new();
    let path = repository("tests/data/tiny/heldout.jsonl");
    [["--min-confidence", "0.5"].as_slice(), &[]].map(|bound| {
        let arguments = [&["--raw", "--restart", "--cache", "cache"], bound].concat();
        judge_in(&folder, &path, &arguments)
    })
});

/// `outside`: the least share of problems outside the domain that it must know as such. Inside, an abstention is wrong, so every
/// verdict is taken, however unsure.
#[track_caller]
fn check(
    split: &str,
    verdicts: &HashMap<String, Value>,
    [outcome, overall, lucky, outside]: [f64; 4],
) {
    let path = repository("tests/data/tiny").join(format!("{split}.jsonl"));
    let labels = read(&path);
    assert_eq!(verdicts.len(), labels.len());
    let (inside, others): (Vec<&Value>, Vec<&Value>) =
        labels.iter().partition(|label| label["inside"] == true);
    let guesses: Vec<&Value> = inside
        .iter()
        .copied()
        .filter(|label| is_lucky(label))
        .collect();
    assert!(guesses.len() > 20 && others.len() > 30);
    for (name, labels, fields, least) in [
        ("outcome", &inside, ["outcome"], outcome),
        ("overall", &inside, ["overall"], overall),
        ("lucky guesses", &guesses, ["overall"], lucky),
    ] {
        let share = accuracy(labels, verdicts, &fields);
        assert!(
            share >= least,
            "{split}: {name} {share:.3}, at least {least} expected"
        );
    }
    let status = |label: &&Value| &verdicts[label["id"].as_str().unwrap()]["status"];
    let known = others
        .iter()
        .filter(|label| *status(label) == "out_of_domain")
        .count();
    let share = known as f64 / others.len() as f64;
    assert!(
        share >= outside,
        "{split}: {share:.3} of the problems outside are known as such, at least {outside} expected"
    );
    let unparsed = verdicts
        .values()
        .filter(|verdict| verdict["status"] == "unparsed")
        .count();
    assert!(
        unparsed <= labels.len() / 50,
        "{split}: {unparsed} are unparsed"
    );
}

#[test]
fn it_is_right_on_new_problems_in_phrasing_it_knows() {
    let path = repository("tests/data/tiny/domain.jsonl");
    let verdicts = judge(&path, &["--min-confidence", "0.5"]);
    check("domain", &verdicts, [0.98, 0.97, 0.97, 0.97]);
}

#[test]
fn it_is_mostly_right_on_phrasing_it_has_never_seen() {
    check("heldout", &HELDOUT[0], [0.97, 0.93, 0.93, 0.88]);
}

#[test]
fn the_examples_are_judged_as_their_author_meant() {
    let rows = read(&repository("examples/rollouts.jsonl"));
    let labels: Vec<Value> = rows
        .into_iter()
        .map(|row| {
            let mut label = row["label"].clone();
            label["id"] = row["id"].clone();
            label
        })
        .collect();
    let verdicts = judge(&repository("examples/rollouts.jsonl"), &[]);
    let all: Vec<&Value> = labels.iter().collect();
    assert_eq!(all.len(), 24);
    assert!(accuracy(&all, &verdicts, &["process", "outcome"]) > 0.9);
    assert_eq!(verdicts["lucky-guess-1"]["process"], false);
    assert_eq!(verdicts["lucky-guess-1"]["outcome"], true);
    assert_eq!(verdicts["lucky-guess-1"]["reward"], 0.0);
    assert_eq!(verdicts["correct-1"]["reward"], 1.0);
}

#[test]
fn it_says_why_and_how_sure_it_is_when_asked() {
    let verdicts = judge(
        &repository("examples/rollouts.jsonl"),
        &["--reason", "--limit", "6"],
    );
    for verdict in verdicts.values() {
        assert!(!verdict["reason"].as_str().unwrap().is_empty(), "{verdict}");
        for field in ["process", "outcome", "perfect"] {
            let confidence = verdict["confidence"][field].as_f64().unwrap();
            assert_eq!(confidence > 0.5, verdict[field] == true, "{verdict}");
        }
    }
}

/// The verdict only sums up the thinking: what was doubtful there says where it is wrong.
#[test]
fn it_is_least_sure_where_it_is_wrong() {
    let path = repository("tests/data/tiny/heldout.jsonl");
    let labels = read(&path);
    let [verdicts, own] = &*HELDOUT;
    let mut judged: Vec<(f64, bool)> = Vec::new();
    for label in &labels {
        let verdict = &verdicts[label["id"].as_str().unwrap()];
        assert_ne!(verdict["status"], "unsure", "{verdict}");
        if verdict["status"] == "ok" && label["inside"] == true {
            let sure = (verdict["confidence"]["process"].as_f64().unwrap() - 0.5).abs();
            judged.push((sure, verdict["process"] == label["process"]));
        }
    }
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    let errors = |judged: &[(f64, bool)]| {
        let wrong = judged.iter().filter(|(_, right)| !right).count();
        wrong as f64 / judged.len() as f64
    };
    let surest = judged.len() * 4 / 5;
    let (all, sure) = (errors(&judged), errors(&judged[..surest]));
    assert!(
        sure <= all / 2.0,
        "{sure:.3} of the surest, {all:.3} of all"
    );
    // Without a bound of the user's it leaves refusals of right results open that it is not sure of, and nothing else.
    let mut open = 0;
    for verdict in own.values() {
        if verdict["status"] == "unsure" {
            open += 1;
            let why = verdict["error"].as_str().unwrap();
            assert!(
                why.contains("asks of itself to refuse a right result"),
                "{why}"
            );
            let said = &verdicts[verdict["id"].as_str().unwrap()];
            assert!(
                said["process"] == false && said["outcome"] == true,
                "{said}"
            );
        }
    }
    assert!(open > 0);
}

#[test]
fn the_template_is_computed_once_a_run_or_once_for_all() {
    let path = repository("tests/data/tiny/domain.jsonl");
    let folder = Folder::new();
    let shown = folder.run(&["prompts", "show", "prime"]);
    let template: f64 = shown.stderr.split(' ').next().unwrap().parse().unwrap();
    assert!(template > 500.0);
    let caches = folder.path("caches");
    // How many prompts found no template, and the verdicts without what they found.
    let judge = |option: &str| {
        let arguments = format!(
            "judge {} --restart -o out.jsonl --limit 3 {option}",
            path.display()
        );
        let mut run = folder.juror(&words(&arguments));
        Ran::of(run.env("XDG_CACHE_HOME", &caches).output().unwrap());
        let mut verdicts = folder.lines("out.jsonl");
        let cached = verdicts.iter_mut().map(|verdict| {
            let cached = verdict["usage"]["cached_tokens"].take();
            cached.as_f64().unwrap()
        });
        let computed = cached.filter(|tokens| *tokens < 0.95 * template).count();
        (computed, verdicts)
    };
    let (computed, alone) = judge("--no-kept-prefix");
    assert_eq!(computed, 1);
    assert!(!caches.exists());
    // The first start computes and keeps it, before any prompt; the second reads it.
    assert_eq!(judge(""), (0, alone.clone()));
    let kept = caches.join("juror/prefixes");
    let file = || {
        std::fs::read_dir(&kept)
            .unwrap()
            .map(|file| file.unwrap().path())
    };
    let [file] = file().collect::<Vec<_>>().try_into().unwrap();
    let whole = std::fs::read(&file).unwrap();
    assert_eq!(judge(""), (0, alone.clone()));
    // A key or value that is another makes it no file: it is computed, and written again.
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 64;
    std::fs::write(&file, changed).unwrap();
    assert_eq!(judge(""), (0, alone.clone()));
    assert!(std::fs::read(&file).unwrap() == whole);
    // Keys and values of another type have another file.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(judge("--kv-dtype f16").0, 0);
    assert!(!file.exists());
    // A template longer than the context is no error of the start.
    folder.write("few.txt", "word ".repeat(6_000));
    let arguments = format!(
        "judge {} -o long.jsonl --limit 1 --few-shots few.txt",
        path.display()
    );
    let mut run = folder.juror(&words(&arguments));
    let ran = Ran::of(run.env("XDG_CACHE_HOME", &caches).output().unwrap());
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert_eq!(folder.lines("long.jsonl")[0]["status"], "too_long");
    // Where nothing can be kept every start computes it.
    std::fs::remove_dir_all(&caches).unwrap();
    std::fs::write(&caches, "a file").unwrap();
    assert_eq!(judge(""), (0, alone));
}

/// It knows samples with one reference: of several it is shown the one that decides.
#[test]
fn of_several_references_the_one_that_the_rules_find_is_shown() {
    let folder = Folder::new();
    let row = |id: &str, response: &str| {
        let question = "Tom has 2 pens. He buys 3 more. How many pens does Tom have now?";
        let row =
            json!({"id": id, "question": question, "reference": ["6", "5"], "response": response});
        format!("{row}\n")
    };
    let rows = [
        row("right", "2 + 3 = 5. The answer is 5."),
        row("wrong", "2 + 3 = 7. The answer is 7."),
        row(
            "open",
            "2 + 3 = 5 pens, or so some say; others disagree with them about it.",
        ),
    ];
    folder.write("in.jsonl", rows.concat());
    let verdicts = judge_in(&folder, &folder.path("in.jsonl"), &[]);
    let of = |id: &str| [&verdicts[id]["status"], &verdicts[id]["reward"]];
    assert_eq!(of("right"), [&json!("ok"), &json!(1.0)], "{verdicts:?}");
    assert_eq!(of("wrong"), [&json!("ok"), &json!(0.0)], "{verdicts:?}");
    assert_eq!(
        of("open"),
        [&json!("out_of_domain"), &Value::Null],
        "{verdicts:?}"
    );
    // A dry run counts, and shows, the prompts that are sent.
    let tokens = |id: &str| verdicts[id]["usage"]["prompt_tokens"].as_u64().unwrap();
    let all = tokens("right") + tokens("wrong");
    let dry = folder.run(&["judge", "in.jsonl", "--dry-run"]);
    dry.expect(0, &[]).prints(&[
        &format!("prompt tokens: {all} in all"),
        "not asked: 1 sample with several references",
    ]);
    let [right, wrong, open] = &rows;
    folder.write(
        "open_first.jsonl",
        [open, wrong, right].map(String::as_str).concat(),
    );
    let first = folder.run(&["judge", "open_first.jsonl", "--dry-run"]);
    first.expect(0, &[]).prints(&["the first prompt (wrong)"]);
    let rendered = folder.run(&["prompts", "render", "in.jsonl", "--id", "wrong"]);
    rendered.expect(0, &[&format!("{} tokens: ", tokens("wrong"))]);
    for text in [&dry.stdout, &rendered.stdout] {
        assert!(!text.contains("Any one of these"), "{text}");
    }
}

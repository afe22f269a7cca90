//! The rule of all outputs, on every output of every command (`tests/data/outputs.tsv`).

use std::fs;

use super::*;
use crate::common::{Ran, row, words};

/// What somebody may have in a file.
const SOMEBODYS: [&str; 7] = [
    "my notes\n",
    "{\"id\": \"a\", \"question\": \"1 + 1?\", \"reference_answer\": \"2\", \"response\": \"2\"}\n",
    "{\"id\": \"a\", \"process\": true, \"outcome\": true, \"overall\": true}\n",
    "{\"version\": 1, \"schema_version\": 1, \"schema\": 1, \"process\": {}, \"outcome\": {}}\n",
    "{\"custom_id\": \"mine\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\", \"body\": {}}\n",
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Mine</title>\n",
    "{\"traceEvents\": [], \"displayTimeUnit\": \"ms\"}\n",
];

/// One output of a command.
struct Case<'t> {
    command: Vec<&'t str>,
    option: Option<&'t str>,
    file: &'t str,
    earlier: &'t str,
    others: Vec<&'t str>,
}

impl<'t> Case<'t> {
    fn of(line: &'t str) -> Self {
        let parts: Vec<&str> = line.split('\t').collect();
        let [command, file, earlier, others] = parts.as_slice() else {
            panic!("{line}");
        };
        let mut command: Vec<&str> = command.split(' ').collect();
        let option = command.pop_if(|last| last.starts_with('-'));
        Self {
            command,
            option,
            file,
            earlier,
            others: others.split(' ').collect(),
        }
    }

    fn run(&self, folder: &Folder, file: &str, more: &[&str]) -> Ran {
        let own: Vec<&str> = self
            .option
            .into_iter()
            .flat_map(|option| [option, file])
            .collect();
        folder.run(&[&self.command[..], &self.others, &own, more].concat())
    }

    /// The files in the folder that the arguments name.
    fn inputs<'c>(&'c self, folder: &Folder) -> Vec<&'c str> {
        let named = self.others.iter().copied();
        named.filter(|name| folder.path(name).is_file()).collect()
    }

    fn name(&self) -> String {
        format!(
            "{} {}",
            self.command.join(" "),
            self.option.unwrap_or_default()
        )
    }
}

/// Everything that the commands of the table read.
fn prepared() -> Folder {
    let folder = Folder::new();
    let question = "What is 3 + 4?";
    let rows: String = ["a", "b", "c"]
        .map(|id| row(id, question, "7", &format!("{id}: it is 7.\n#### 7")))
        .concat();
    folder.write("in.jsonl", &rows);
    folder.write("labels.csv", "id,process,outcome\na,1,1\nb,0,1\nc,1,0\n");
    let verdict = |id: &str, at: usize, trial: u32, right: bool| {
        json!({"id": id, "index": at, "trial": trial, "status": "ok", "process": right, "outcome": true, "perfect": null,
            "overall": right, "reward": f64::from(u8::from(right)), "reason": null,
            "confidence": {"process": 0.7, "outcome": 0.9},
            "usage": {"prompt_tokens": 10, "cached_tokens": 0, "completion_tokens": 4}})
    };
    let verdicts = [
        verdict("a", 0, 0, true),
        verdict("a", 0, 1, true),
        verdict("b", 1, 0, true),
        verdict("b", 1, 1, false),
        verdict("c", 2, 0, false),
        verdict("c", 2, 1, false),
    ];
    let lines = |values: &[Value]| {
        values
            .iter()
            .map(|value| format!("{value}\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    folder.write("verdicts.jsonl", lines(&verdicts));
    for part in [0, 1] {
        let (shard, out) = (format!("{part}/2"), format!("part-{part}.jsonl"));
        folder
            .run(&[
                "judge", "in.jsonl", "--rules", "only", "--shard", &shard, "-o", &out,
            ])
            .expect(0, &[]);
    }
    folder
        .run_words("batch export in.jsonl --trials 2 -o asked.jsonl")
        .expect(0, &[]);
    let answer = |(at, asked): (usize, Value)| {
        let said = if at % 2 == 0 { "True" } else { "False" };
        let content = format!(
            "<process> {said} </process>\n<outcome> {said} </outcome>\n<perfect> {said} </perfect>"
        );
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"});
        json!({"id": "x", "custom_id": asked["custom_id"], "error": null,
            "response": {"status_code": 200, "request_id": "r", "body": {"choices": [choice]}}})
    };
    let answers: Vec<Value> = folder
        .lines("asked.jsonl")
        .into_iter()
        .enumerate()
        .map(answer)
        .collect();
    folder.write("answers.jsonl", lines(&answers));
    folder.write(
        "batch.jsonl",
        lines(&[json!({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}})]),
    );
    folder.write("scores.csv", "judge,accuracy,score\na,1,2\nb,2,3\nc,3,5\n");
    folder.write(
        "test.jsonl",
        lines(&[json!({"question": question, "answer": "3 + 4 = 7\n#### 7"})]),
    );
    folder.write(
        "responses.jsonl",
        lines(&[json!({"id": "r", "question": question, "responses": ["#### 7", "8"]})]),
    );
    folder.write("config.json", crate::bench::shape());
    for name in ["ada", "bob"] {
        let label = |id: &str| json!({"id": id, "annotator": name, "outcome": true, "process": true, "overall": true, "time": "2026-01-01T00:00:00Z"});
        folder.write(&format!("{name}.jsonl"), lines(&[label("a"), label("b")]));
    }
    fs::create_dir(folder.path("pages")).unwrap();
    folder
}

/// One JSON object a line.
fn is_lines(text: &str) -> bool {
    text.lines()
        .all(|line| line.starts_with('{') && line.ends_with('}'))
}

const TABLE: &str = include_str!("../../data/outputs.tsv");

#[test]
fn no_output_of_any_command_replaces_what_it_did_not_write() {
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let case = Case::of(line);
        let (folder, file) = (prepared(), case.file);
        let name = case.name();
        for content in SOMEBODYS {
            folder.write(file, content);
            let ran = case.run(&folder, file, &[]);
            assert_eq!(ran.code, Some(2), "{name} over {content}{}", ran.stderr);
            assert_eq!(folder.read(file), content, "{name}");
            let said = if case.earlier == "goes on" {
                file
            } else {
                "is there, and would be replaced"
            };
            assert!(ran.stderr.contains(said), "{name}: {}", ran.stderr);
        }
        if case.earlier == "goes on" {
            fs::remove_file(folder.path(file)).unwrap();
        } else {
            case.run(&folder, file, &["--force"]).expect(0, &[]);
            assert!(!SOMEBODYS.contains(&folder.read(file).as_str()), "{name}");
            fs::remove_file(folder.path(file)).unwrap();
        }
        case.run(&folder, file, &[]).expect(0, &[]);
        let written = folder.read(file);
        let again = case.run(&folder, file, &[]);
        let code = if case.earlier == "asks" { 2 } else { 0 };
        assert_eq!(again.code, Some(code), "{name}: {}", again.stderr);
        if case.earlier == "asks" {
            again.expect(2, &["--force"]);
            assert_eq!(folder.read(file), written, "{name}");
        } else if !written.is_empty() && is_lines(&written) {
            // One line of somebody's among them, and it is no longer an output of ours.
            let joined = format!("{written}{}", SOMEBODYS[1]);
            folder.write(file, &joined);
            let is_kept = case.run(&folder, file, &[]).code == Some(2);
            let has_journal = folder.has(&format!("{file}.journal"));
            assert_eq!(is_kept, !has_journal, "{name}");
        }
    }
}

#[test]
fn no_output_of_any_command_replaces_an_input() {
    let folder = prepared();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let case = Case::of(line);
        if case.option.is_none() {
            continue;
        }
        for input in case.inputs(&folder) {
            let before = folder.read(input);
            for other in ["linked.jsonl", "hard-linked.jsonl"] {
                let _ = fs::remove_file(folder.path(other));
            }
            fs::hard_link(folder.path(input), folder.path("hard-linked.jsonl")).unwrap();
            #[cfg(unix)]
            std::os::unix::fs::symlink(input, folder.path("linked.jsonl")).unwrap();
            let dotted = format!("./{input}");
            for file in [input, &dotted, "linked.jsonl", "hard-linked.jsonl"] {
                let force: &[&str] = if case.earlier == "goes on" {
                    &[]
                } else {
                    &["--force"]
                };
                let ran = case.run(&folder, file, force);
                assert_eq!(ran.code, Some(2), "{} {file}: {}", case.name(), ran.stderr);
                let is_said = ran.stderr.contains("is an input");
                assert!(is_said, "{} {file}: {}", case.name(), ran.stderr);
                assert_eq!(folder.read(input), before, "{}", case.name());
            }
        }
    }
}

#[test]
fn one_file_is_not_two_outputs() {
    let folder = prepared();
    for arguments in [
        &words("eval verdicts.jsonl --labels labels.csv --json x --html ./x")[..],
        &words("judge in.jsonl --rules only -o x --summary-json ./x"),
        &words("judge in.jsonl --rules only -o x --summary-json x.journal"),
        &words("judge in.jsonl --rules only -o x --skip-bad --summary-json x.rejected.jsonl"),
    ] {
        folder.run(arguments).expect(2, &["named for two outputs"]);
        assert!(!folder.has("x"), "{arguments:?}");
    }
}

/// Verdicts, which have a journal, are no batch file and no training data.
#[test]
fn what_another_command_wrote_is_somebodys() {
    let folder = prepared();
    let before = folder.read("part-1.jsonl");
    for command in [
        &["batch", "export", "in.jsonl"][..],
        &["build", "sft", "in.jsonl", "--verdicts", "verdicts.jsonl"],
        &["merge", "part-0.jsonl"],
        &["verify", "in.jsonl"],
        &["calibrate", "verdicts.jsonl", "--labels", "labels.csv"],
    ] {
        folder
            .run(&[command, &["-o", "part-1.jsonl"]].concat())
            .expect(2, &["part-1.jsonl is there"]);
        assert_eq!(folder.read("part-1.jsonl"), before);
    }
}

/// The files that are read in a folder are inputs, and what would be read there next time is no output.
#[test]
fn outputs_do_not_become_inputs_of_the_next_run() {
    let folder = prepared();
    fs::create_dir(folder.path("rows")).unwrap();
    folder.write("rows/a.jsonl", folder.read("in.jsonl"));
    folder.write(
        "rows/b.jsonl",
        folder.read("in.jsonl").replace("\"id\":\"", "\"id\":\"x"),
    );
    let judge = ["judge", "rows", "--rules", "only"];
    let before = folder.read("rows/b.jsonl");
    for more in [
        &["-o", "rows/b.jsonl", "--force"][..],
        &words("-o out.jsonl --summary-json rows/b.jsonl --force"),
        &["-o", "out.jsonl", "--summary-json", "rows/summary.json"],
    ] {
        folder
            .run(&[&judge[..], more].concat())
            .expect(2, &["is an input"]);
        assert_eq!(folder.read("rows/b.jsonl"), before);
    }
    // Verdicts have a journal beside them, by which they are passed over.
    for _ in 0..2 {
        folder
            .run(&[&judge[..], &["-o", "rows/out.jsonl"]].concat())
            .expect(0, &[]);
        assert_eq!(folder.lines("rows/out.jsonl").len(), 6);
    }
}

#[test]
fn force_is_refused_where_nothing_is_written() {
    let folder = prepared();
    for arguments in [
        &words("eval verdicts.jsonl --labels labels.csv --force")[..],
        &["judge", "in.jsonl", "--rules", "only", "--force"],
        &["correlate", "scores.csv", "--force"],
    ] {
        folder
            .run(arguments)
            .expect(2, &["--force changes nothing without an output"]);
    }
}

/// Streams are written to as they are.
#[cfg(unix)]
#[test]
fn reports_go_to_streams() {
    let folder = prepared();
    for (arguments, beginning) in [
        (
            &words("eval verdicts.jsonl --labels labels.csv --html /dev/stdout")[..],
            "<!DOCTYPE html>",
        ),
        (
            &["correlate", "scores.csv", "--json", "/dev/stdout"],
            "\"fits\"",
        ),
        (
            &words("calibrate verdicts.jsonl --labels labels.csv -o -"),
            "juror calibrate",
        ),
        (
            &words("eval verdicts.jsonl --labels labels.csv --json /dev/null"),
            "accuracy",
        ),
    ] {
        let ran = folder.run(arguments);
        ran.expect(0, &[]);
        assert!(
            ran.stdout.contains(beginning),
            "{arguments:?}: {}",
            ran.stdout
        );
    }
    folder
        .run_words("eval verdicts.jsonl --labels labels.csv --json -")
        .expect(2, &["`-` is no file", "/dev/stdout"]);
    assert!(!folder.has("-"));
}

/// Files that no argument names are outputs too.
#[test]
fn lines_set_aside_replace_nothing_of_somebodys() {
    let (folder, file) = (prepared(), "x.jsonl.rejected.jsonl");
    for content in SOMEBODYS {
        folder.write(file, content);
        for command in [
            &["judge", "in.jsonl", "--rules", "only"][..],
            &["batch", "export", "in.jsonl"],
        ] {
            let ran = folder.run(&[command, &["-o", "x.jsonl", "--skip-bad"]].concat());
            ran.expect(
                2,
                &["x.jsonl.rejected.jsonl is there, and would be replaced"],
            );
            assert_eq!(folder.read(file), content);
        }
    }
}

/// A report of one command is no earlier report of another.
#[test]
fn reports_of_other_commands_are_somebodys() {
    let folder = prepared();
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let reports: Vec<Case> = lines
        .map(Case::of)
        .filter(|case| {
            case.file
                .rsplit_once('.')
                .is_some_and(|(_, ending)| ending == "json")
                && case.earlier == "own"
        })
        .collect();
    let kind = |case: &Case| match case.option {
        Some("--summary-json") => "summary".to_owned(),
        _ => case.command[0].to_owned(),
    };
    for (at, case) in reports.iter().enumerate() {
        let mut others = reports.iter().cycle().skip(at + 1);
        let other = others.find(|other| kind(other) != kind(case)).unwrap();
        other
            .run(&folder, "shared.json", &["--force"])
            .expect(0, &[]);
        case.run(&folder, "shared.json", &[])
            .expect(2, &["shared.json is there"]);
    }
}

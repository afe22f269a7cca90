//! A model's files are inputs like the others.

use super::*;
use crate::common::{rollouts, words};

#[test]
fn files_of_a_model_are_never_replaced() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write_model();
    for (name, text) in [
        ("judge.gguf", "GGUF"),
        ("judge-2.gguf", "GGUF"),
        ("judge.json", "{}"),
        ("template.jinja", "{{ messages }}"),
        ("adapter/adapter_config.json", "{}"),
        ("own.txt", "{{ question }}"),
        ("own.toml", "template = \"own.txt\"\n"),
        (
            "panel.toml",
            "[[judges]]\nmodel = \"model\"\n[[judges]]\nmodel = \"tiny\"\noptions = [\"--chat-template=template.jinja\"]\n",
        ),
    ] {
        if let Some((parent, _)) = name.split_once('/') {
            std::fs::create_dir_all(folder.path(parent)).unwrap();
        }
        folder.write(name, text);
    }
    let cases: [(&[&str], &str); 12] = [
        (&["--model", "model"], "model/config.json"),
        (&["--model", "model"], "model/tokenizer.json"),
        (&["--model", "model"], "model/model.safetensors"),
        (&["--cascade", "tiny,model"], "model/config.json"),
        (&["--panel", "panel.toml"], "model/config.json"),
        (&["--panel", "panel.toml"], "template.jinja"),
        (&["--model", "judge.gguf"], "judge.gguf"),
        (&["--model", "judge.gguf"], "judge-2.gguf"),
        (&["--model", "judge.gguf"], "judge.json"),
        (
            &["--model", "model", "--adapter", "adapter"],
            "adapter/adapter_config.json",
        ),
        (
            &["--model", "model", "--chat-template", "template.jinja"],
            "template.jinja",
        ),
        (&["--protocol", "own.toml"], "own.txt"),
    ];
    for (given, file) in cases {
        let before = std::fs::read(folder.path(file)).unwrap();
        let judge = format!("judge in.jsonl -o out.jsonl --force --summary-json {file}");
        let judge = words(&judge);
        let ran = folder.run(&[&judge[..], given].concat());
        ran.expect(2, &[file, "is an input"]);
        assert_eq!(std::fs::read(folder.path(file)).unwrap(), before, "{file}");
    }
    // New files may lie there, and what an earlier run wrote is replaced.
    let judge = ["judge", "in.jsonl", "--model", "model", "-o", "out.jsonl"];
    for _ in 0..2 {
        let ran = folder.run(&[&judge[..], &["--summary-json", "model/summary.json"]].concat());
        ran.expect(0, &[]);
    }
    let bench = words("bench in.jsonl --model model --json model/config.json --force");
    folder.run(&bench).expect(2, &["is an input"]);
}

/// A part that is not finished is named by its journal, wherever its run was stopped.
#[test]
fn merge_names_the_journal_of_an_unfinished_part() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(6));
    for part in ["0", "1"] {
        let (shard, out) = (format!("{part}/2"), format!("part-{part}.jsonl"));
        let judge = [
            "judge", "in.jsonl", "--rules", "only", "--shard", &shard, "-o", &out,
        ];
        folder.run(&judge).expect(0, &[]);
    }
    let merge = ["merge", "part-0.jsonl", "part-1.jsonl", "-o", "all.jsonl"];
    let names = |said: &str| {
        folder
            .run(&merge)
            .expect(2, &["part-1.jsonl.journal", said, "run its command again"]);
    };
    let (out, journal) = (
        folder.read("part-1.jsonl"),
        folder.read("part-1.jsonl.journal"),
    );
    let last = out.lines().last().unwrap().len() + 1;
    folder.write("part-1.jsonl", &out[..out.len() - last]);
    names("is not finished");
    std::fs::remove_file(folder.path("part-1.jsonl")).unwrap();
    names("is not finished");
    for bytes in [0, 20] {
        folder.write("part-1.jsonl.journal", &journal[..bytes]);
        names("has judged nothing yet");
    }
}

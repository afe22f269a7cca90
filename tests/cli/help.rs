//! What the program says of itself.

use std::io::Read;
use std::process::Stdio;

use crate::common::{Folder, Ran, rollouts};

fn helped(arguments: &[&str]) -> String {
    let ran = Folder::new().run(arguments);
    ran.expect(0, &[]);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn help_is_whole_and_fits_a_hundred_columns() {
    for arguments in [
        &["--help"][..],
        &["judge", "--help"],
        &["judge", "-h"],
        &["bench", "--help"],
        &["bench", "-h"],
        &["verify", "--help"],
        &["batch", "export", "--help"],
        &["batch", "import", "--help"],
        &["batch", "run", "--help"],
        &["attack", "--help"],
        &["attack", "-h"],
        &["calibrate", "--help"],
        &["label", "--help"],
        &["gsm8k", "--help"],
        &["gsm8k", "-h"],
        &["cache", "prune", "--help"],
        &["prompts", "--help"],
        &["prompts", "show", "--help"],
        &["prompts", "render", "--help"],
        &["models", "--help"],
        &["models", "list", "--help"],
        &["models", "pull", "--help"],
        &["models", "show", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
        &["help", "judge"],
    ] {
        let text = helped(arguments);
        assert!(text.contains("Usage: juror"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{arguments:?}: {line}");
        }
    }
    // In help `{n}` is a line break, also after `\boxed`.
    let text = helped(&["gsm8k", "--help"]);
    assert!(
        text.contains("multi             #### n, \\boxed{…}, "),
        "{text}"
    );
    assert!(!text.contains("\\boxed\n"), "{text}");
}

#[test]
fn help_tells_the_exit_codes_and_how_a_run_is_resumed() {
    for arguments in [&["--help"][..], &["judge", "--help"], &["judge", "-h"]] {
        let text = helped(arguments);
        for code in [
            "Exit codes:",
            "  2    wrong usage",
            "  3    done, but",
            "  130  interrupted",
        ] {
            assert!(text.contains(code), "{arguments:?}: {text}");
        }
    }
    let text = helped(&["judge", "--help"]);
    for part in [
        "OUT.journal",
        "run the same command again",
        "{{reference_answer}}",
        "[default: tiny]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn short_help_fits_a_screen_and_shows_examples() {
    let text = helped(&["judge", "-h"]);
    assert!(text.lines().count() <= 60, "{text}");
    for part in [
        "juror judge rollouts.jsonl -o",
        "--model",
        "--columns",
        "`juror judge --help`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("--kv-blocks"), "{text}");
    assert!(helped(&["judge", "--help"]).contains("--kv-blocks"));
    let text = helped(&["-h"]);
    for group in ["Judge:", "Measure:", "Options:"] {
        assert!(text.lines().any(|line| line == group), "{group}: {text}");
    }
}

#[test]
fn every_command_is_listed() {
    let text = helped(&["--help"]);
    for command in [
        "judge",
        "batch",
        "verify",
        "bench",
        "attack",
        "calibrate",
        "eval",
        "gsm8k",
        "cache",
        "prompts",
        "models",
    ] {
        let listed = text
            .lines()
            .any(|line| line.trim_start().starts_with(&format!("{command} ")));
        assert!(listed, "{command}: {text}");
    }
    let batch = helped(&["batch", "--help"]);
    for action in ["export", "run", "import"] {
        let name = format!("  {action} ");
        assert!(
            batch.lines().any(|line| line.starts_with(&name)),
            "{action}: {batch}"
        );
        // The names of earlier versions still work, and are not listed.
        let earlier = format!("{action}-batch");
        assert!(!text.contains(&earlier), "{text}");
        let body = |text: &str| {
            text.split_once("Usage:")
                .unwrap()
                .1
                .split_once('\n')
                .unwrap()
                .1
                .to_owned()
        };
        assert_eq!(
            body(&helped(&[&earlier, "--help"])),
            body(&helped(&["batch", action, "--help"]))
        );
    }
    let version = helped(&["--version"]);
    assert_eq!(version, format!("juror {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn prompts_are_listed_and_shown_as_they_are() {
    let list = helped(&["prompts", "list"]);
    assert!(list.starts_with("prime "), "{list}");
    let folder = Folder::new();
    let shown = folder.run(&["prompts", "show", "prime"]);
    shown.expect(
        0,
        &["tokens before the first field with the tokenizer of tiny"],
    );
    let file = include_str!("../../prompts/prime.txt");
    assert_eq!(shown.stdout.trim_end(), file.trim_end());
    assert_eq!(folder.run(&["prompts", "show"]).stdout, shown.stdout);

    // What is shown can be used as one's own prompt, and is the same prompt.
    folder.write("prompt.txt", &shown.stdout);
    folder.write("in.jsonl", rollouts(2));
    let render = |more: &[&str]| {
        let arguments = [&["prompts", "render", "in.jsonl", "--tokens"], more].concat();
        let ran = folder.run(&arguments);
        ran.expect(0, &["tokens: template "]);
        ran.stdout
    };
    assert_eq!(render(&["--prompt", "prompt.txt"]), render(&[]));
    assert_ne!(render(&["--id", "r1"]), render(&[]));

    for (arguments, said) in [
        (
            &["prompts", "show", "vibes"][..],
            &["no protocol `vibes`", "prime"][..],
        ),
        (&["prompts", "show", "--model", "gpt"], &["no model `gpt`"]),
        (
            &["prompts", "render", "in.jsonl", "--id", "r9"],
            &["no sample has the id `r9`", "`r0`"],
        ),
        (
            &["prompts", "render", "nope.jsonl"],
            &["could not read nope.jsonl"],
        ),
        (&["prompts"], &["Usage: juror prompts <COMMAND>"]),
    ] {
        folder.run(arguments).expect(2, said);
    }
}

#[test]
fn models_are_listed_and_shown() {
    let list = helped(&["models", "list"]);
    assert!(list.contains("\ntiny "), "{list}");
    assert!(list.contains("built in"), "{list}");
    let shown = helped(&["models", "show"]);
    for part in [
        "family  Qwen3",
        "parameters  ",
        "memory  ",
        "context  ",
        "ends with  <|im_end|>",
        "tokens shared by all samples",
        "hash  ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("not a judge"), "{shown}");
    // The same files in a folder are the same model.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny");
    let of_folder = helped(&["models", "show", folder]);
    assert_eq!(of_folder, shown);
    // A checkpoint without a tokenizer is described, and refused as a judge.
    let bare = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/checkpoints/qwen3-tied"
    );
    let bare = Folder::new().run(&["models", "show", bare]);
    assert!(bare.stdout.contains("not a judge"), "{}", bare.stdout);
    bare.expect(2, &["no tokenizer.json"]);
    Folder::new()
        .run(&["models", "show", "gpt"])
        .expect(2, &["no model `gpt`", "`tiny`"]);
}

/// Reads a little of what the command writes, and hangs up.
fn hang_up(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut child = folder
        .juror(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_worth_a_word() {
    let folder = Folder::new();
    // More than any pipe holds.
    folder.write("in.jsonl", rollouts(3000));
    // The same code by the rules, of a model, and of `verify`: not all is written.
    let model = "judge in.jsonl --limit 700 --max-new-tokens 8 --raw -q";
    for command in ["judge in.jsonl --rules only -q", model, "verify in.jsonl"] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = hang_up(&folder, &arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{command}");
    }
    let padding = "x ".repeat(1 << 19);
    let fields = "<a>{{ question }}</a><b>{{ student_answer }}</b><c>{{ reference_answer }}</c>";
    folder.write("long.txt", format!("{padding}{fields}"));
    let ran = hang_up(&folder, &["prompts", "show", "--prompt", "long.txt"]);
    assert_eq!(ran.stderr, "");
    let ran = hang_up(
        &folder,
        &["judge", "in.jsonl", "--dry-run", "--prompt", "long.txt"],
    );
    assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    for (shell, parts) in [
        ("bash", ["complete -F _juror", "--rules-profile"]),
        ("zsh", ["#compdef juror", "--rules-profile"]),
        ("fish", ["complete -c juror", "rules-profile"]),
        ("elvish", ["edit:completion", "--rules-profile"]),
        (
            "powershell",
            ["Register-ArgumentCompleter", "--rules-profile"],
        ),
    ] {
        let script = helped(&["completions", shell]);
        for part in parts {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
    let folder = Folder::new();
    folder.run(&["completions", "cmd"]).expect(2, &["bash"]);
    folder
        .run(&["man", "share/man1"])
        .expect(0, &["manual pages in share/man1"]);
    for (page, part) in [
        ("juror.1", "juror\\-judge(1)"),
        ("juror-judge.1", "rules\\-profile"),
        ("juror-batch-export.1", "model\\-name"),
        ("juror-batch-run.1", "max\\-new\\-tokens"),
        ("juror-prompts-render.1", "max\\-line\\-bytes"),
        ("juror-models-pull.1", "FILE.gguf"),
    ] {
        let page = folder.read(&format!("share/man1/{page}"));
        assert!(page.contains(".TH "), "{page}");
        assert!(page.contains(part), "{part}: {page}");
    }
}

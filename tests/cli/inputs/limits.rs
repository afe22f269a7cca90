//! Limits of the system and of numbers, and model files made to take time and memory: an error in a line, never a panic.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Folder, Ran, rollouts};

/// `juror` without what would print panics.
fn juror(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command: Command = folder.juror(arguments);
    command
        .env_remove("RUST_BACKTRACE")
        .env_remove("JUROR_PANICS");
    for (name, value) in variables {
        command.env(name, value);
    }
    let ran = Ran::of(command.output().unwrap());
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

/// The embedded judge as the folder `model`, its tokenizer changed.
fn with_tokenizer(folder: &Folder, change: impl FnOnce(&mut Value)) {
    folder.write_model();
    let mut tokenizer: Value = serde_json::from_str(&folder.read("model/tokenizer.json")).unwrap();
    change(&mut tokenizer);
    folder.write("model/tokenizer.json", tokenizer.to_string());
}

/// Stacks so large that no thread can be started.
#[test]
#[cfg(target_os = "linux")]
fn a_refused_thread_is_an_error_that_says_what_to_do() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("pairs.jsonl", "{\"gold\": \"1\", \"pred\": \"1\"}\n");
    let none = [("RUST_MIN_STACK", "140737488355328")];
    for arguments in [
        &["judge", "in.jsonl", "-o", "out.jsonl"][..],
        &["judge", "in.jsonl", "--rules", "only"],
        &["judge", "in.jsonl", "--dry-run"],
        &["verify", "pairs.jsonl"],
        &["bench", "--samples", "1"],
        &["models", "show"],
        &["prompts", "render", "in.jsonl"],
    ] {
        juror(&folder, arguments, &none).expect(1, &["could not start a thread", "ulimit -u"]);
    }
    assert!(!folder.has("out.jsonl"));
}

#[test]
fn the_number_of_threads_is_a_number() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    let judged = |value: &str| {
        let arguments = ["judge", "in.jsonl", "--rules", "only"];
        juror(&folder, &arguments, &[("RAYON_NUM_THREADS", value)])
    };
    for wrong in ["-1", "many", "1.5"] {
        judged(wrong).expect(2, &["RAYON_NUM_THREADS", wrong, "1024"]);
    }
    for right in ["", "0", "1", "3"] {
        judged(right).expect(0, &[]);
    }
    for large in ["5000", "100000000000000000000"] {
        judged(large).expect(0, &["note:"]);
    }
}

#[test]
fn numbers_beyond_reason_are_refused_with_their_limit() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    let huge = "18446744073709551615";
    for (arguments, limit) in [
        (
            &["judge", "in.jsonl", "--trials", "4294967295"][..],
            "1000000",
        ),
        (&["judge", "in.jsonl", "--max-new-tokens", huge], "1048576"),
        (&["judge", "in.jsonl", "--max-sequences", huge], "16777216"),
        (&["judge", "in.jsonl", "--token-budget", huge], "16777216"),
        (&["judge", "in.jsonl", "--kv-blocks", huge], "16777216"),
        (&["bench", "--samples", huge], "1000000"),
        (&["bench", "--trials", "4294967295"], "1000000"),
        (&["bench", "--runs", "4294967295"], "1000"),
        (&["bench", "--group-size", "4294967295"], "1000000"),
        (&["bench", "--template-tokens", "4294967295"], "1048576"),
        (
            &["bench", "--samples", "1000000", "--trials", "1000000"],
            "536870912",
        ),
        (&["bench", "in.jsonl", "--trials", "1000000"], "536870912"),
    ] {
        juror(&folder, arguments, &[]).expect(2, &[limit]);
    }
}

/// As many blocks as nothing holds: fewer, or an error, but no end of the process.
#[test]
fn a_cache_is_no_larger_than_memory() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let arguments = ["judge", "in.jsonl", "--kv-blocks", "16777216"];
    let ran = juror(&folder, &arguments, &[]);
    ran.expect(0, &[]);
}

#[test]
fn a_tokenizer_that_makes_texts_grow_is_refused() {
    let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
    let any = json!({"type": "Replace", "pattern": {"Regex": "."}, "content": "aa"});
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let arguments = ["judge", "in.jsonl", "--model", "model"];
    for stage in [&double, &any] {
        with_tokenizer(&folder, |tokenizer| {
            tokenizer["normalizer"] = json!({"type": "Sequence", "normalizers": vec![stage; 40]});
        });
        juror(&folder, &arguments, &[]).expect(2, &["tokenizer.json", "normaliser"]);
        with_tokenizer(&folder, |tokenizer| {
            tokenizer["decoder"] = json!({"type": "Sequence", "decoders": vec![stage; 40]});
        });
        juror(&folder, &arguments, &[]).expect(2, &["tokenizer.json", "decoder"]);
    }
}

#[test]
fn a_tokenizer_that_the_library_panics_at_is_refused() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    let arguments = ["judge", "in.jsonl", "--model", "model"];
    // Maps of characters: an index that leads out of itself, and a text that begins within a character.
    for map in ["", "BAAAAA==", "BAAAAP////9hYmMA", "CAAAAP//////////"] {
        with_tokenizer(&folder, |tokenizer| {
            tokenizer["normalizer"] = json!({"type": "Precompiled", "precompiled_charsmap": map});
        });
        let ran = juror(&folder, &arguments, &[]);
        assert!(
            matches!(ran.code, Some(0 | 2 | 3)),
            "{map}: {:?} {}",
            ran.code,
            ran.stderr
        );
    }
    // An expression that goes back as often as the library lets it.
    with_tokenizer(&folder, |tokenizer| {
        let stages = tokenizer["pre_tokenizer"]["pretokenizers"]
            .as_array_mut()
            .unwrap();
        let slow = r"(\w*\s*)*(\w*\s*)*(\w*\s*)*\d\d\d\d\d\d\d$";
        stages.insert(
            0,
            json!({"type": "Split", "pattern": {"Regex": slow}, "behavior": "Isolated", "invert": false}),
        );
    });
    let ran = juror(&folder, &arguments, &[]);
    ran.expect(2, &["tokenizer.json cannot be used on this text"]);
}

/// A Safetensors header of more tensors than there are models for.
#[test]
fn a_header_of_too_many_tensors_is_refused() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    with_tokenizer(&folder, |_| {});
    let path = folder.path("model/model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (header, data) = bytes[8..].split_at(length);
    let header = std::str::from_utf8(header).unwrap().trim_end();
    for count in [150_000, 1_000_000] {
        let mut many = header.strip_suffix('}').unwrap().to_owned();
        let end = data.len();
        for index in 0..count {
            let empty = r#"{"dtype":"F32","shape":[0],"data_offsets""#;
            write!(many, ",\"e{index}\":{empty}:[{end},{end}]}}").unwrap();
        }
        many.push('}');
        let length = (many.len() as u64).to_le_bytes();
        fs::write(&path, [&length, many.as_bytes(), data].concat()).unwrap();
        for arguments in [
            &["judge", "in.jsonl", "--model", "model"][..],
            &["models", "show", "model"],
        ] {
            juror(&folder, arguments, &[]).expect(2, &["more than 131072 tensors"]);
        }
    }
}

/// What `judge` would refuse, `show` does not call good; it tells what there is all the same.
#[test]
fn showing_a_model_that_cannot_judge_is_an_error() {
    let folder = Folder::new();
    let show = ["models", "show", "model"];
    with_tokenizer(&folder, |_| {});
    juror(&folder, &show, &[]).expect(0, &[]);
    // No chat template.
    let config = folder.read("model/tokenizer_config.json");
    folder.write("model/tokenizer_config.json", "{}");
    let ran = juror(&folder, &show, &[]);
    ran.expect(2, &["chat template"]);
    assert!(ran.stdout.contains("not a judge"), "{}", ran.stdout);
    folder.write("model/tokenizer_config.json", config);
    // Another number of layers than there are tensors for.
    let config = folder.read("model/config.json");
    let mut other: Value = serde_json::from_str(&config).unwrap();
    other["num_hidden_layers"] = (other["num_hidden_layers"].as_u64().unwrap() + 1).into();
    folder.write("model/config.json", other.to_string());
    let ran = juror(&folder, &show, &[]);
    ran.expect(1, &["do not fit config.json"]);
    assert!(ran.stdout.contains("cannot run"), "{}", ran.stdout);
    folder.write("model/config.json", config);
    // No weights.
    fs::remove_file(folder.path("model/model.safetensors")).unwrap();
    let ran = juror(&folder, &show, &[]);
    ran.expect(2, &["no model.safetensors"]);
    assert!(ran.stdout.contains("parameters"), "{}", ran.stdout);
}

#[test]
fn more_new_tokens_than_the_context_holds_are_refused_up_front() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    folder.write("batch.jsonl", "");
    let panel = "[[judges]]\nmodel = \"tiny\"\nname = \"a\"\n\
                 [[judges]]\nmodel = \"tiny\"\nname = \"b\"\noptions = [\"--max-new-tokens\", \"4096\"]\n";
    folder.write("panel.toml", panel);
    folder.write(
        "test.jsonl",
        "{\"question\": \"1 + 1?\", \"answer\": \"#### 2\"}\n",
    );
    let given = "--max-new-tokens 4096";
    for command in [
        format!("judge in.jsonl {given}"),
        format!("judge in.jsonl {given} --dry-run"),
        format!("judge in.jsonl {given} --rank -o out.jsonl"),
        "judge in.jsonl --panel panel.toml -o out.jsonl".to_owned(),
        format!("serve {given}"),
        format!("batch run batch.jsonl --model tiny -o out.jsonl {given}"),
        format!(
            "gsm8k --solve --model tiny --data test.jsonl -o out.jsonl --config 5-shot {given}"
        ),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = juror(&folder, &arguments, &[]);
        ran.expect(2, &[given, "context has 4096 tokens", "give fewer"]);
        assert!(!ran.stderr.contains("engine:"), "{command}: {}", ran.stderr);
    }
    for left in ["out.jsonl", "out.a.jsonl", "out.comparisons.jsonl"] {
        assert!(!folder.has(left), "{left}");
    }
}

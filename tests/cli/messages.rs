//! What is given as a model or an input and is something else is named as what it is, with what to do.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Ran, rollouts, words};

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 42\n";

/// Whatever is wrong with a model is told by each command that reads it.
#[track_caller]
fn refused(folder: &Folder, model: &str, parts: &[&str]) {
    for command in [
        &["judge", "in.jsonl", "-o", "out.jsonl", "--model", model][..],
        &["bench", "--samples", "1", "--model", model],
        &["models", "show", model],
    ] {
        folder.run(command).expect(2, parts);
    }
}

/// The embedded judge as the folder `model`, with rollouts beside it.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    folder.write_model();
    folder
}

#[test]
fn a_path_with_nothing_there_is_no_hub_id() {
    let folder = prepared();
    // Looks like a file: never asked for on the hub.
    refused(&folder, "model/none.gguf", &["no model `model/none.gguf`"]);
    let run = folder
        .juror(&["models", "show", "model/step-100"])
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
        .env("HF_HOME", folder.path("cache"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(
        stderr.contains("model holds nothing of that name"),
        "{stderr}"
    );
}

#[test]
fn an_adapter_is_told_with_what_it_needs() {
    let folder = prepared();
    let mut adapter = json!({"peft_type": "LORA", "base_model_name_or_path": "org/never-fetched", "r": 2, "lora_alpha": 2});
    fs::create_dir(folder.path("adapter")).unwrap();
    folder.write("adapter/adapter_config.json", adapter.to_string());
    refused(&folder, "adapter", &["no adapter_model.safetensors"]);
    folder.write("adapter/adapter_model.bin", "");
    refused(
        &folder,
        "adapter",
        &["adapter_model.bin", "never opens one"],
    );
    folder.write("adapter/adapter_model.safetensors", "");
    let parts = [
        "an adapter, not a whole model",
        "trained on org/never-fetched",
        "--model org/never-fetched --adapter adapter",
    ];
    refused(&folder, "adapter", &parts);
    refused(&folder, "adapter/adapter_model.safetensors", &parts);
    // A name that is no name does not get into the command that is there to be copied.
    adapter["base_model_name_or_path"] = json!("x'); import os; ('");
    folder.write("adapter/adapter_config.json", adapter.to_string());
    refused(&folder, "adapter", &["--model BASE --adapter adapter"]);
    folder.write("model/adapter_config.json", adapter.to_string());
    let parts = [
        "a whole model and beside it an adapter",
        "move adapter_config.json out of the folder",
    ];
    refused(&folder, "model", &parts);
}

#[test]
fn a_file_of_a_checkpoint_leads_to_its_folder() {
    let folder = prepared();
    let weights = "model/model.safetensors";
    refused(
        &folder,
        weights,
        &["a file of weights alone", "--model model,"],
    );
    refused(
        &folder,
        "model/config.json",
        &["neither a folder nor a GGUF file", "--model model,"],
    );
    folder.write("model/pytorch_model.bin", "");
    refused(
        &folder,
        "model/pytorch_model.bin",
        &["pickled", "save_pretrained"],
    );
    folder.write("llama", "GGUF....");
    refused(&folder, "llama", &["without the ending .gguf: rename it"]);
}

#[test]
fn a_pointer_of_git_lfs_is_no_file() {
    for file in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
    ] {
        let folder = prepared();
        folder.write(&format!("model/{file}"), POINTER);
        let place = format!("model/{file}: a Git LFS pointer");
        folder
            .run(&["judge", "in.jsonl", "--model", "model"])
            .expect(2, &[&place, "git lfs pull"]);
    }
    let folder = prepared();
    folder.write("model.gguf", POINTER);
    refused(
        &folder,
        "model.gguf",
        &["a Git LFS pointer", "git lfs pull"],
    );
    folder.write("model.safetensors", POINTER);
    refused(&folder, "model.safetensors", &["a Git LFS pointer"]);
}

#[test]
fn models_that_write_no_text_are_named() {
    for (class, parts) in [
        (
            "Qwen2ForSequenceClassification",
            ["a reward or classification model", "take a chat model"],
        ),
        (
            "InternLM2ForRewardModel",
            ["a reward or classification model", "take a chat model"],
        ),
        ("BertModel", ["an embedding model", "take a chat model"]),
        (
            "XLMRobertaForMaskedLM",
            ["an embedding model", "take a chat model"],
        ),
        ("Qwen3Model", ["an embedding model", "take a chat model"]),
        (
            "DeepseekVLForConditionalGeneration",
            [
                "DeepSeek, which will not be supported",
                "a judge of like size that loads is Qwen/Qwen3-",
            ],
        ),
        (
            "PaliVisionForConditionalGeneration",
            [
                "a vision model",
                "a judge of like size that loads is Qwen/Qwen3-",
            ],
        ),
        (
            "NemotronHForCausalLM",
            [
                "Nemotron with state-space layers, which will not be supported",
                "a judge of like size that loads is Qwen/Qwen3-",
            ],
        ),
        (
            "UnheardOfForCausalLM",
            ["is not supported", "Qwen3ForCausalLM"],
        ),
    ] {
        let folder = prepared();
        let mut config: Value = serde_json::from_str(&folder.read("model/config.json")).unwrap();
        config["architectures"] = json!([class]);
        folder.write("model/config.json", config.to_string());
        refused(&folder, "model", &[class, parts[0], parts[1]]);
    }
    // Qwen3-Embedding has the class of a language model; sentence-transformers' file tells it.
    let folder = prepared();
    folder.write("model/modules.json", "[]");
    refused(
        &folder,
        "model",
        &["an embedding model of sentence-transformers", "chat model"],
    );
}

#[test]
fn a_tokenizer_of_mistral_common_is_named() {
    let folder = prepared();
    std::fs::rename(
        folder.path("model/tokenizer.json"),
        folder.path("model/tekken.json"),
    )
    .unwrap();
    // `bench` makes up its tokens where there is no tokenizer.
    folder
        .run(&["judge", "in.jsonl", "-o", "out.jsonl", "--model", "model"])
        .expect(2, &["tekken.json alone", "put tokenizer.json"]);
}

#[test]
fn settings_that_are_not_json_are_shown_as_json() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    for (given, right) in [
        ("float_rounding=2", r#"'{"float_rounding": 2}'"#),
        (
            "fallback_mode = no_fallback",
            r#"'{"fallback_mode": "no_fallback"}'"#,
        ),
    ] {
        folder
            .run(&["judge", "in.jsonl", "--rules-config", given])
            .expect(2, &[right]);
        folder
            .run(&["verify", "in.jsonl", "--config", given])
            .expect(2, &[right]);
    }
}

#[test]
fn names_of_other_programs_and_other_cases_are_understood() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(3));
    let sizes = |ran: Ran| {
        let line = ran.stderr.lines().find(|line| line.starts_with("engine: "));
        line.unwrap_or_else(|| panic!("{}", ran.stderr)).to_owned()
    };
    let judge = |option: &str| {
        let tokens = ["--max-new-tokens", "2"];
        folder.run(&[&["judge", "in.jsonl", option, "2"][..], &tokens].concat())
    };
    let own = sizes(judge("--max-sequences"));
    assert!(own.starts_with("engine: 2 sequences"), "{own}");
    assert_eq!(sizes(judge("--batch-size")), own);
    assert_eq!(sizes(judge("--max-num-seqs")), own);
    // The cache is in proportion to the rows.
    folder.write("many.jsonl", rollouts(64));
    let blocks = |input: &str| -> usize {
        let line = sizes(folder.run(&["judge", input, "--max-new-tokens", "200"]));
        let (before, _) = line.split_once(" KV blocks").unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let (few, many) = (blocks("in.jsonl"), blocks("many.jsonl"));
    assert!(3 * few < many, "{few} {many}");
    // The shape is found, and then refused for what is asked of it: no weights are made.
    for shape in ["qwen3-0.6B", "Qwen3-0.6b"] {
        let long = ["--template-tokens", "1000000"];
        folder
            .run(&[&["bench", "--synthetic", shape][..], &long].concat())
            .expect(2, &["40960"]);
    }
}

#[test]
fn numbers_that_are_none_are_told_in_a_sentence() {
    let folder = prepared();
    for (option, given, said) in [
        ("--trials", "-1", "must be a whole number from 1 to 1000000"),
        (
            "--trials",
            "two",
            "must be a whole number from 1 to 1000000",
        ),
        ("--limit", "abc", "must be a whole number, 1 or more"),
        ("--limit", "-1", "must be a whole number, 1 or more"),
        ("--limit", "0", "nothing would be judged"),
        (
            "--max-new-tokens",
            "0",
            "must be a whole number from 1 to 1048576",
        ),
        (
            "--thinking-budget",
            "-5",
            "must be a whole number, 1 or more",
        ),
    ] {
        let name = format!("invalid value '{given}' for '{option} <");
        folder
            .run(&["judge", "in.jsonl", option, given])
            .expect(2, &[&name, said]);
    }
}

#[test]
fn a_folder_named_like_a_known_judge_hints_at_its_protocol() {
    let folder = prepared();
    fs::rename(folder.path("model"), folder.path("CompassVerifier-7B")).unwrap();
    let judge = |more: &[&str]| {
        let ran = folder.run(
            &[
                &["judge", "in.jsonl", "--model", "CompassVerifier-7B"],
                more,
            ]
            .concat(),
        );
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
        ran.stderr
    };
    let said = judge(&[]);
    for part in [
        "is named like opencompass/CompassVerifier-7B",
        "give --protocol compass",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for protocol in ["prime", "compass"] {
        let said = judge(&["--protocol", protocol]);
        assert!(!said.contains("is named like"), "{said}");
    }
}

#[test]
fn known_judges_are_listed_with_their_size() {
    let list = Folder::new().run(&["models", "list", "--known"]);
    let list = list.expect(0, &[]).stdout.clone();
    let line = |alias: &str| list.lines().find(|line| line.starts_with(alias)).unwrap();
    for (alias, parts) in [
        ("qwen3-8b ", ["8.2", "16.4"]),
        ("qwen3-30b-a3b ", ["30.5 (3.3 active)", "61.0"]),
        ("gpt-oss-20b ", ["20.9 (3.6 active)", "13.8"]),
    ] {
        for part in parts {
            assert!(line(alias).contains(part), "{part}: {list}");
        }
    }
}

#[test]
fn a_run_ends_with_what_to_do_next() {
    let folder = Folder::new();
    folder.write(
        "my rows.jsonl",
        rollouts(2).replace("\"question\"", "\"body\""),
    );
    let judge = |more: &[&str]| {
        let fixed = [
            "judge",
            "my rows.jsonl",
            "--columns",
            "question=body",
            "-o",
            "out.jsonl",
        ];
        let ran = folder.run(&[&fixed, more].concat());
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
        ran.stderr
    };
    let said = judge(&[]);
    assert!(
        said.contains("verdicts in out.jsonl, journal in out.jsonl.journal\n"),
        "{said}"
    );
    #[cfg(feature = "serve")]
    assert!(
        said.ends_with("look through them: juror view out.jsonl --rows 'my rows.jsonl' --columns question=body\n"),
        "{said}"
    );
    assert!(!judge(&["--quiet"]).contains("juror view"));
    assert!(!judge(&["--dry-run"]).contains("juror view"));
}

/// Every command that reads rows says where a blank response's text is, and reads it there with the same option.
#[test]
fn a_response_that_a_server_took_for_thinking_is_read_by_all() {
    let folder = Folder::new();
    let row = |id: usize, message: Value| {
        let question = json!({"role": "user", "content": "What is 2 + 3?"});
        json!({"id": id.to_string(), "messages": [question, message], "answer": "5"}).to_string()
    };
    let thought = json!({"role": "assistant", "content": null, "reasoning_content": "2 + 3 = 5. The answer is 5."});
    let said =
        json!({"role": "assistant", "content": "The answer is 5.", "reasoning_content": "hm"});
    folder.write("rows.jsonl", [row(0, thought), row(1, said)].join("\n"));
    let judge = words("judge rows.jsonl --rules only -o out.jsonl --restart");
    let outcomes = |arguments: &[&str], code: i32, told: &[&str]| {
        folder.run(arguments).expect(code, told);
        let lines = folder.lines("out.jsonl").into_iter();
        lines
            .map(|line| line["outcome"].clone())
            .collect::<Vec<_>>()
    };
    let told = "(last assistant turn, blank; all of its text is in `reasoning_content`: --answer-in-reasoning reads it there)";
    assert_eq!(outcomes(&judge, 0, &[told]), [false, true]);
    let reads = [&judge[..], &["--answer-in-reasoning"]].concat();
    let told = "`reasoning_content` of the last assistant turn";
    assert_eq!(outcomes(&reads, 0, &[told]), [true, true]);
    // What others read of a row is what was judged.
    let verify = words("verify rows.jsonl -o pairs.jsonl --answer-in-reasoning");
    folder.run(&verify).expect(0, &[]);
    for pair in folder.lines("pairs.jsonl") {
        assert_eq!(pair["equal"], true, "{pair}");
    }
    let render = ["prompts", "render", "rows.jsonl", "--answer-in-reasoning"];
    folder.run(&render).prints(&["2 + 3 = 5. The answer is 5."]);
}

//! One failure has one exit code, whatever command meets it.

use std::fs;

use crate::common::{Folder, Ran, rollouts};

/// What is done to a folder with the embedded judge in `model` and rollouts in `in.jsonl`.
type Damage = fn(&Folder);

fn remove(folder: &Folder, file: &str) {
    fs::remove_file(folder.path(file)).unwrap();
}

const JUDGE: &str = "judge in.jsonl -o out.jsonl --model model";
const BENCH: &str =
    "bench --samples 1 --template-tokens 8 --input-tokens 8 --output-tokens 2 --model model";
const BENCH_INPUT: &str = "bench in.jsonl --samples 1 --output-tokens 2 --model model";
const SHOW: &str = "models show model";
const RENDER: &str = "prompts render in.jsonl --model model";

#[test]
fn commands_agree() {
    let cases: [(&str, Damage, &[&str], i32, &str); 11] = [
        (
            "weights",
            |folder| remove(folder, "model/model.safetensors"),
            &[JUDGE, BENCH, BENCH_INPUT, SHOW],
            2,
            "no model.safetensors",
        ),
        (
            "a tokenizer",
            |folder| remove(folder, "model/tokenizer.json"),
            &[JUDGE, BENCH_INPUT, SHOW, RENDER],
            2,
            "no tokenizer.json",
        ),
        (
            "a configuration",
            |folder| remove(folder, "model/config.json"),
            &[JUDGE, BENCH, BENCH_INPUT, SHOW, RENDER],
            2,
            "no config.json",
        ),
        (
            "a shard",
            |folder| {
                remove(folder, "model/model.safetensors");
                let index = r#"{"weight_map": {"model.norm.weight": "model-1-of-2.safetensors"}}"#;
                folder.write("model/model.safetensors.index.json", index);
            },
            &[JUDGE, BENCH, BENCH_INPUT, SHOW],
            2,
            "no model-1-of-2.safetensors",
        ),
        (
            "whole weights",
            |folder| {
                let path = folder.path("model/model.safetensors");
                let bytes = fs::read(&path).unwrap();
                fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            },
            &[JUDGE, BENCH, BENCH_INPUT, SHOW],
            2,
            "download it again",
        ),
        (
            "a precision of the device",
            |_| {},
            &[
                "judge in.jsonl --model model --device cpu --quantize fp8",
                "bench --samples 1 --model model --device cpu --quantize fp8",
                "judge in.jsonl --model model --device cpu --kv-dtype fp8",
                "bench --samples 1 --model model --device cpu --kv-dtype fp8",
            ],
            2,
            "needs an NVIDIA GPU",
        ),
        (
            "a device",
            |_| {},
            &[
                "judge in.jsonl --model model --device cuda:99",
                "bench --samples 1 --model model --device cuda:99",
            ],
            1,
            "--device cpu",
        ),
        (
            "an input",
            |folder| remove(folder, "in.jsonl"),
            &[JUDGE, BENCH_INPUT, RENDER, "verify in.jsonl"],
            2,
            "could not read in.jsonl",
        ),
        (
            "the folder of an output",
            |folder| folder.write("pairs.jsonl", "{\"gold\": \"1\", \"pred\": \"1\"}\n"),
            &[
                "judge in.jsonl --model model -o void/out.jsonl",
                "verify pairs.jsonl -o void/out.jsonl",
                "bench --samples 1 --model model --json void/out.json",
            ],
            2,
            "there is no folder void",
        ),
        (
            "a known model",
            |_| {},
            &[
                "judge in.jsonl --model none",
                "bench --model none",
                "models show none",
                "models pull none",
                "prompts show --model none",
            ],
            2,
            "no model `none`",
        ),
        (
            "a protocol",
            |_| {},
            &[
                "judge in.jsonl --protocol vibes",
                "bench in.jsonl --protocol vibes",
                "prompts render in.jsonl --protocol vibes",
                "prompts show vibes",
            ],
            2,
            "no protocol `vibes`",
        ),
    ];
    for (missing, damage, commands, code, said) in cases {
        let folder = Folder::new();
        folder.write("in.jsonl", rollouts(1));
        folder.write_model();
        damage(&folder);
        for command in commands {
            let arguments: Vec<&str> = command.split(' ').collect();
            let ran = folder.run(&arguments);
            assert_eq!(
                ran.code,
                Some(code),
                "without {missing}: {command}: {}",
                ran.stderr
            );
            ran.expect(code, &[said]);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_mistake_of_the_user() {
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(1));
    folder.write("pairs.jsonl", "{\"gold\": \"1\", \"pred\": \"1\"}\n");
    folder
        .run_words("judge in.jsonl --rules only --reward outcome -o judged.jsonl")
        .expect(0, &[]);
    for command in [
        "build sft in.jsonl --verdicts judged.jsonl --min-reward 1 -o /dev/full",
        "judge in.jsonl --rules only",
        "judge in.jsonl --rules only -o /dev/full",
        "judge in.jsonl --dry-run",
        "verify pairs.jsonl",
        "verify pairs.jsonl -o /dev/full",
        "verify --gold 1 --pred 1",
        "bench --samples 1 --template-tokens 8 --input-tokens 8 --output-tokens 2 --json -",
        "bench --samples 1 --template-tokens 8 --input-tokens 8 --output-tokens 2 --json /dev/full",
        "prompts list",
        "prompts show",
        "prompts render in.jsonl",
        "models list",
        "models list --known",
        "models show",
        "completions bash",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let mut juror = folder.juror(&arguments);
        juror.stdout(
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        );
        let ran = Ran::of(juror.output().unwrap());
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        ran.expect(1, &["No space left"]);
    }
}

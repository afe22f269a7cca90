//! Files as a user has them: through the real binary, in folders and in parts, damaged and foreign.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use juror_engine::checkpoint::gguf::header::{Header, TensorInfo};
use juror_engine::checkpoint::{ModelConfig, Weights};
use serde_json::Value as Json;
use tempfile::TempDir;

use super::{as_stored, checkpoint, gguf, letters, repository, sizes};
use crate::common::{Folder, rollouts};
use crate::gguf_writer::{File, Value, convert, vocabulary};

/// The embedded judge.
fn tiny(kind: GgmlDType) -> File {
    let folder = repository("models/tiny");
    let read = |name: &str| -> Json {
        serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let mut file = convert(&folder, |_| kind);
    vocabulary(&mut file, &read("tokenizer.json"), "qwen2");
    let template = read("tokenizer_config.json")["chat_template"].clone();
    let template = template.as_str().unwrap().to_owned();
    file.set("tokenizer.chat_template", Value::Text(template));
    let eos = read("generation_config.json")["eos_token_id"]
        .as_u64()
        .unwrap();
    file.set("tokenizer.ggml.eos_token_id", Value::U32(eos as u32));
    file
}

fn verdicts(folder: &Folder, out: &str, arguments: &[&str]) -> Vec<Json> {
    let mut all = vec!["judge", "rollouts.jsonl", "-o", out];
    all.extend(arguments);
    let ran = folder.run(&all);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let mut verdicts = folder.lines(out);
    for verdict in &mut verdicts {
        // A file of weights has no `judge.json`: neither how an answer begins is known nor that thinking tells how sure the judge is.
        verdict["usage"]["known_tokens"].take();
        for field in ["process", "perfect"] {
            verdict["confidence"][field].take();
        }
    }
    verdicts
}

/// Whether the verdicts are those of the embedded judge, but for what it leaves open.
fn same(embedded: &[Json], file: &[Json]) -> bool {
    let given = embedded.iter().zip(file);
    let given: Vec<_> = given.filter(|(one, _)| one["status"] == "ok").collect();
    assert!(
        given.len() * 4 > embedded.len() * 3,
        "{} given",
        given.len()
    );
    given.iter().all(|(one, other)| one == other)
}

#[test]
fn a_file_judges_as_the_embedded_model_does() {
    let folder = Folder::new();
    folder.write("rollouts.jsonl", rollouts(40));
    tiny(GgmlDType::F32).write(&folder.path("wide.gguf"));
    tiny(GgmlDType::Q8_0).write(&folder.path("small.gguf"));
    let built_in = verdicts(&folder, "a.jsonl", &["--no-kept-prefix"]);
    let wide = verdicts(&folder, "b.jsonl", &["--model", "wide.gguf"]);
    assert!(same(&built_in, &wide), "f32");
    let at_load = verdicts(
        &folder,
        "c.jsonl",
        &["--quantize", "q8_0", "--no-kept-prefix"],
    );
    let small = verdicts(&folder, "d.jsonl", &["--model", "small.gguf"]);
    assert!(same(&at_load, &small), "Q8_0");
    let small = folder.path("small.gguf").display().to_string();
    folder
        .run_words(&format!(
            "judge rollouts.jsonl -o e.jsonl --model {small} --quantize q4k"
        ))
        .expect(2, &["already"]);
    let shown = folder.run(&["models", "show", "small.gguf"]);
    assert!(
        shown.stdout.contains("Qwen3") && shown.stdout.contains("<|im_end|>"),
        "{}",
        shown.stdout
    );
}

/// Candle reads and writes the format too.
#[test]
fn headers_are_those_that_candle_writes_and_reads() {
    let folder = checkpoint(&sizes("Qwen3ForCausalLM", 256, 256));
    let file = convert(folder.path(), |_| GgmlDType::Q6K).bytes();
    let theirs = gguf_file::Content::read(&mut Cursor::new(&file)).unwrap();
    let tensors: Vec<(String, QTensor)> = theirs
        .tensor_infos
        .keys()
        .map(|name| {
            let tensor = theirs.tensor(&mut Cursor::new(&file), name, &Device::Cpu);
            (name.clone(), tensor.unwrap())
        })
        .collect();
    let tensors: Vec<(&str, &QTensor)> = tensors
        .iter()
        .map(|(name, tensor)| (name.as_str(), tensor))
        .collect();
    let metadata: Vec<(&str, &gguf_file::Value)> = theirs
        .metadata
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let mut again = Cursor::new(Vec::new());
    gguf_file::write(&mut again, &metadata, &tensors).unwrap();
    let again = again.into_inner();
    let read = |bytes: &[u8]| Header::read(bytes, bytes.len() as u64).unwrap();
    let (ours, theirs) = (read(&file), read(&again));
    assert_eq!(ours.metadata, theirs.metadata);
    assert_eq!(ours.tensors.len(), theirs.tensors.len());
    for (name, tensor) in &ours.tensors {
        let other = &theirs.tensors[name];
        assert_eq!((tensor.kind, &tensor.shape), (other.kind, &other.shape));
        let of =
            |bytes: &[u8], info: &TensorInfo| bytes[info.offset as usize..][..info.bytes].to_vec();
        assert!(of(&file, tensor) == of(&again, other), "{name}");
    }
}

#[test]
fn a_folder_with_one_file_is_that_model() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let file = tiny(GgmlDType::F32);
    file.write(&path("one.gguf"));
    // Repositories of GGUF files often have the original's configuration beside them.
    fs::write(path("config.json"), "{}").unwrap();
    let source = juror_judge::catalog::resolve(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(source.to_string(), path("one.gguf").display().to_string());
    let alone = juror_judge::catalog::resolve(path("one.gguf").to_str().unwrap()).unwrap();
    assert_eq!(source.hash().unwrap(), alone.hash().unwrap());
    file.write(&path("two.gguf"));
    let renamed = juror_judge::catalog::resolve(path("two.gguf").to_str().unwrap()).unwrap();
    assert_eq!(renamed.hash().unwrap(), alone.hash().unwrap());
    let message = juror_judge::catalog::resolve(folder.path().to_str().unwrap())
        .unwrap_err()
        .to_string();
    assert!(message.contains("one.gguf, two.gguf"), "{message}");
}

#[test]
fn parts_are_one_model() {
    let folder = checkpoint(&sizes("Qwen3ForCausalLM", 32, 32));
    let whole = as_stored(&gguf(folder.path(), |_| GgmlDType::F32));
    let mut file = convert(folder.path(), |_| GgmlDType::F32);
    letters(&mut file, 83);
    let mut second = File {
        tensors: file.tensors.split_off(5),
        ..File::default()
    };
    let part = |number: u32| folder.path().join(format!("m-{number:05}-of-00002.gguf"));
    file.set("split.count", Value::U32(2));
    file.set("split.no", Value::U32(0));
    second.set("split.count", Value::U32(2));
    second.set("split.no", Value::U32(1));
    file.write(&part(1));
    let message = |path: &Path| {
        juror_judge::catalog::resolve(path.to_str().unwrap())
            .unwrap_err()
            .to_string()
    };
    assert!(message(&part(1)).contains("m-00002-of-00002.gguf"));
    second.write(&part(2));
    assert!(as_stored(&part(1)) == whole);
    assert!(message(&part(2)).contains("part 2 of 2"));
    fs::copy(part(1), folder.path().join("other.gguf")).unwrap();
    assert!(message(&folder.path().join("other.gguf")).contains("-of-00002.gguf"));
}

/// What loading says to a changed file.
fn refusal(change: impl FnOnce(&mut File)) -> String {
    let folder = checkpoint(&sizes("Qwen3ForCausalLM", 32, 32));
    let mut file = convert(folder.path(), |_| GgmlDType::F32);
    letters(&mut file, 83);
    change(&mut file);
    let path = folder.path().join("changed.gguf");
    file.write(&path);
    let load = || {
        let source = juror_judge::catalog::resolve(path.to_str().unwrap())?;
        let config = ModelConfig::load(&source)?;
        juror_engine::model::Decoder::load(
            &config,
            &Weights::open(&source)?,
            &Device::Cpu,
            juror_engine::model::Precision::F32,
        )
    };
    load().err().expect("the change is refused").to_string()
}

/// Makes the file one of another architecture.
fn renamed(file: &mut File, architecture: &str) {
    for (key, _) in &mut file.metadata {
        *key = key.replace("qwen3.", &format!("{architecture}."));
    }
    file.set("general.architecture", Value::Text(architecture.into()));
}

#[test]
fn what_is_not_followed_is_named() {
    type Change = fn(&mut File);
    let changes: [(Change, &[&str]); 25] = [
        (
            |file| {
                renamed(file, "granite");
                file.set("granite.rope.scaling.finetuned", Value::Bool(false));
            },
            &["granite.rope.scaling.finetuned (false) is not supported"],
        ),
        // Its sizes have other windows.
        (
            |file| renamed(file, "gemma3"),
            &["no gemma3.attention.sliding_window"],
        ),
        (
            |file| file.set("qwen3.attention.causal", Value::Bool(false)),
            &["qwen3.attention.causal"],
        ),
        (
            |file| file.set("general.architecture", Value::Text("unheard-of".into())),
            &["unheard-of", "qwen3moe"],
        ),
        (
            |file| file.set("general.architecture", Value::Text("qwen3next".into())),
            &[
                "in GGUF files, which is not supported yet",
                "Qwen/Qwen3-0.6B",
            ],
        ),
        (
            |file| file.set("general.type", Value::Text("adapter".into())),
            &[
                "general.type is \"adapter\"",
                "merge it into its base model",
            ],
        ),
        (
            |file| file.set("qwen3.pooling_type", Value::U32(3)),
            &["qwen3 is an embedding model", "take a chat model"],
        ),
        (
            |file| file.set("general.architecture", Value::Text("nomic-bert".into())),
            &["nomic-bert is an embedding model", "take a chat model"],
        ),
        (
            |file| file.set("general.architecture", Value::Text("qwen2vl".into())),
            &[
                "qwen2vl is a vision model",
                "a judge of like size that loads is Qwen/Qwen3-0.6B",
            ],
        ),
        (
            |file| file.tensors.clear(),
            &["a vocabulary without weights"],
        ),
        (
            |file| file.set("qwen3.block_count", Value::U32(600)),
            &["the number of layers is 600", "512"],
        ),
        (
            |file| file.set("qwen3.rope.freq_base", Value::Bool(true)),
            &["qwen3.rope.freq_base is true, not a number"],
        ),
        (
            |file| file.set("tokenizer.ggml.tokens", Value::U32(1)),
            &["tokenizer.ggml.tokens is 1, not a list of texts"],
        ),
        (
            |file| file.set("qwen3.block_count", Value::F32s(vec![1.0, 2.0])),
            &["qwen3.block_count is a list of 2 numbers, not one size"],
        ),
        (
            |file| {
                // More experts than memory has names for.
                let mut extra = file.tensors.pop().unwrap();
                extra.name = "blk.0.ffn_gate_exps.weight".into();
                extra.shape = vec![3_000_000, 1, 1];
                extra.bytes = vec![0; 12_000_000];
                extra.kind = 0;
                file.tensors.push(extra);
            },
            &["not expected: blk.0.ffn_gate_exps.weight [3000000, 1, 1]"],
        ),
        (
            |file| file.set("qwen3.attn_logit_softcapping", Value::F32(30.0)),
            &["attn_logit_softcapping"],
        ),
        (
            |file| file.set("qwen3.attention.sliding_window", Value::U32(64)),
            &["sliding_window"],
        ),
        (
            |file| file.set("qwen3.rope.scaling.type", Value::Text("longrope".into())),
            &["qwen3.rope.scaling.type", "longrope"],
        ),
        (
            |file| file.set("qwen3.vocab_size", Value::U32(5)),
            &["qwen3.vocab_size is 5", "83 rows"],
        ),
        (
            |file| file.set("qwen3.block_count", Value::Text("two".into())),
            &["qwen3.block_count", "two"],
        ),
        (
            |file| file.remove("qwen3.block_count"),
            &["no qwen3.block_count"],
        ),
        (
            |file| file.set("qwen3.embedding_length", Value::U32(64)),
            &["of another shape", "model.embed_tokens.weight"],
        ),
        (
            |file| file.set("qwen3.block_count", Value::U32(3)),
            &["missing: model.layers.2"],
        ),
        (
            |file| {
                let mut extra = file.tensors.pop().unwrap();
                extra.name = "blk.0.attn_sinks.weight".into();
                file.tensors.push(extra);
            },
            &["not expected: blk.0.attn_sinks.weight"],
        ),
        (
            |file| {
                file.tensors
                    .retain(|tensor| tensor.name != "token_embd.weight");
            },
            &["token_embd.weight"],
        ),
    ];
    for (change, parts) in changes {
        let message = refusal(change);
        for part in parts {
            assert!(message.contains(part), "{message}: not {part}");
        }
    }
}

#[test]
fn what_is_behind_the_last_tensor_is_refused() {
    let folder = Folder::new();
    let mut bytes = tiny(GgmlDType::Q8_0).bytes();
    folder.write("a.gguf", &bytes);
    folder.run(&["models", "show", "a.gguf"]).expect(0, &[]);
    bytes.extend([0; 100]);
    folder.write("b.gguf", bytes);
    folder
        .run(&["models", "show", "b.gguf"])
        .expect(2, &["b.gguf: ", "belong to no tensor", "download it again"]);
}

#[test]
fn tokens_of_the_template_that_the_vocabulary_lacks_are_told() {
    let folder = Folder::new();
    folder.write("rollouts.jsonl", rollouts(1));
    let renamed = |from: &str, to: &str| {
        let mut file = tiny(GgmlDType::F32);
        for (key, value) in &mut file.metadata {
            if let ("tokenizer.ggml.tokens", Value::Texts(tokens)) = (key.as_str(), value) {
                for token in tokens.iter_mut().filter(|token| *token == from) {
                    *token = to.to_owned();
                }
            }
        }
        file.write(&folder.path("renamed.gguf"));
        let judge = ["judge", "rollouts.jsonl", "-o", "out.jsonl", "--restart"];
        folder.run(&[&judge[..], &["--model", "renamed.gguf"]].concat())
    };
    let right = renamed("none", "none");
    assert!(!right.stderr.contains("lacks"), "{}", right.stderr);
    let wrong = renamed("<|im_start|>", "<|im_begin|>");
    assert!(
        wrong
            .stderr
            .contains("names tokens that the vocabulary lacks (<|im_start|>)"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn errors_of_a_vocabulary_name_the_file() {
    let folder = Folder::new();
    let mut file = tiny(GgmlDType::F32);
    file.set("tokenizer.ggml.merges", Value::Texts(vec!["x yyy".into()]));
    file.write(&folder.path("merges.gguf"));
    let shown = folder.run(&["models", "show", "merges.gguf"]);
    shown.expect(2, &["merges.gguf (its metadata): "]);
    assert!(!shown.stderr.contains("tokenizer.json"), "{}", shown.stderr);
}

#[test]
fn a_file_that_is_cut_off_is_refused_before_anything_is_loaded() {
    let folder = Folder::new();
    folder.write("rollouts.jsonl", rollouts(1));
    let bytes = tiny(GgmlDType::Q8_0).bytes();
    for (name, length, says) in [
        ("a.gguf", 0, "not a GGUF file"),
        ("b.gguf", 100, "more than its 100 bytes can hold"),
        ("d.gguf", 5000, "cut off"),
        ("c.gguf", bytes.len() - 40_000, "cut off; download it again"),
    ] {
        folder.write(name, &bytes[..length]);
        folder
            .run_words(&format!("judge rollouts.jsonl -o out.jsonl --model {name}"))
            .expect(2, &[name, says]);
    }
}

/// Blocks stay blocks once they are loaded, which the bits a weight show.
#[test]
fn bits_a_weight_are_those_of_the_file() {
    let folder = Folder::new();
    for (kind, said) in [
        (GgmlDType::Q4_1, "in blocks, 5.00 bits a weight"),
        (GgmlDType::Q5_1, "in blocks, 6.00 bits a weight"),
    ] {
        tiny(kind).write(&folder.path("x.gguf"));
        let ran = folder.run(&["models", "show", "x.gguf"]);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
}

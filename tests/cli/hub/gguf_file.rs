//! One GGUF file of a repository that holds several.

use std::path::Path;

use candle_core::quantized::GgmlDType;
use serde_json::Value as Json;

use super::gguf_writer::{Value, convert, vocabulary};
use super::server::{COMMIT, Hub};
use super::{ID, TINY, juror, repository, run, snapshot};
use crate::common::{Folder, Ran, rollouts};

/// The embedded judge.
fn tiny() -> Vec<u8> {
    let read = |at: usize| -> Json { serde_json::from_slice(TINY[at].1).unwrap() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    let mut file = convert(&folder, |_| GgmlDType::F32);
    vocabulary(&mut file, &read(2), "qwen2");
    let template = read(3)["chat_template"].as_str().unwrap().to_owned();
    file.set("tokenizer.chat_template", Value::Text(template));
    let eos = read(1)["eos_token_id"].as_u64().unwrap();
    file.set("tokenizer.ggml.eos_token_id", Value::U32(eos as u32));
    file.bytes()
}

#[test]
fn one_gguf_file_of_a_repository_is_a_model() {
    let content = tiny();
    let files: [(&str, &[u8]); 4] = [
        ("README.md", b"#"),
        ("tiny-F32.gguf", &content),
        ("tiny-Q4_K_M.gguf", b"other"),
        ("config.json", b"{}"),
    ];
    let hub = Hub::new(ID, &files);
    let folder = Folder::new();
    folder.write("in.jsonl", rollouts(2));
    let name = "org/name/tiny-F32.gguf@v1";
    let pulled = run(&folder, &hub, &["models", "pull", name]);
    pulled.expect(
        0,
        &[
            "org/name/tiny-F32.gguf@v1 at commit",
            "in 1 file,",
            "fetched now",
        ],
    );
    let file = snapshot(&folder).join("tiny-F32.gguf");
    assert_eq!(Path::new(pulled.stdout.trim_end()), file);
    for unwanted in ["README", "Q4_K_M", "config"] {
        assert!(
            !hub.asked().iter().any(|line| line.contains(unwanted)),
            "{:?}",
            hub.asked()
        );
    }
    hub.forget();
    let whole = format!("org/name/tiny-F32.gguf@{COMMIT}");
    run(&folder, &hub, &["models", "pull", &whole]).expect(0, &["all of it there already"]);
    assert_eq!(hub.asked(), Vec::<String>::new());

    let judge = |model: &str, out: &str| {
        let mut arguments = vec!["judge", "in.jsonl", "-o", out, "--model", model];
        if model == "tiny" {
            arguments.push("--no-kept-prefix");
        }
        let mut command = juror(&folder, &hub.endpoint, &arguments);
        Ran::of(command.env("HF_HUB_OFFLINE", "1").output().unwrap()).expect(0, &[]);
        let mut verdicts = folder.lines(out);
        for verdict in &mut verdicts {
            // A file of weights has no `judge.json`: neither how an answer begins nor that thinking tells how sure it is.
            verdict["usage"]["known_tokens"].take();
            for field in ["process", "perfect"] {
                verdict["confidence"][field].take();
            }
        }
        verdicts
    };
    assert_eq!(judge(name, "file.jsonl"), judge("tiny", "tiny.jsonl"));
    let listed = run(&folder, &hub, &["models", "list"]).stdout;
    let line = listed.lines().find(|line| line.starts_with(ID)).unwrap();
    assert!(line.contains("Qwen3, ") && line.contains("v1"), "{line}");
    let shown = run(&folder, &hub, &["models", "show", name]).stdout;
    assert!(
        shown.contains(&format!("from the hub  org/name@{COMMIT}")),
        "{shown}"
    );

    run(&folder, &hub, &["models", "pull", ID])
        .expect(2, &["GGUF", "--model org/name/tiny-F32.gguf"]);
    run(&folder, &hub, &["models", "pull", "org/name/gone.gguf"])
        .expect(2, &["no file gone.gguf", "tiny-F32.gguf, tiny-Q4_K_M.gguf"]);
    assert!(repository(&folder).join("snapshots").is_dir());
}

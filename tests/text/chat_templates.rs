//! Chat templates and tokenizers give what Hugging Face transformers gives, to the character and to the token.
//!
//! The goldens are made by `scripts/golden_chat.py`; others that it made of any templates are compared with where
//! `JUROR_CHAT_GOLDENS` names their folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_engine::text::chat_template::ChatTemplate;
use juror_engine::text::tokenizer::{Place, TextStream, Tokenizer};
use serde_json::Value;
use serde_json::value::RawValue;

fn goldens(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/chat")
        .join(folder);
    in_folder(&folder)
}

fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    files
}

#[derive(serde::Deserialize)]
struct Golden {
    now: String,
    template: String,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    /// As text: the order of keys counts.
    variables: Box<RawValue>,
    rendered: Option<String>,
}

#[test]
fn templates_render_as_transformers_renders_them() {
    let mut rendered = 0;
    let mut wrong: Vec<String> = Vec::new();
    let mut paths = goldens("");
    if let Some(folder) = std::env::var_os("JUROR_CHAT_GOLDENS") {
        paths.extend(in_folder(Path::new(&folder)));
    }
    for path in paths {
        let golden: Golden = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let chat = ChatTemplate::new("{}", Some(golden.template)).unwrap();
        chat.clock().set(golden.now.parse().unwrap());
        for case in golden.cases {
            let ours = chat.render_variables(case.variables.get());
            let what = format!(
                "{}: {}: {}",
                path.display(),
                case.name,
                case.variables.get()
            );
            match case.rendered {
                Some(theirs) => {
                    rendered += 1;
                    match ours {
                        Ok(ours) => wrong.extend(difference(&what, &ours, &theirs)),
                        Err(error) => wrong.push(format!("{what}\n{error}")),
                    }
                }
                None => wrong.extend(ours.ok().map(|ours| format!("{what}\nnot refused: {ours}"))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(rendered > 200, "{rendered}");
}

/// The lines that differ.
fn difference(what: &str, ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let lines: Vec<String> = ours
        .lines()
        .zip(theirs.lines())
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("  ours   {ours:?}\n  theirs {theirs:?}"))
        .collect();
    Some(format!("{what}\n{}", lines.join("\n")))
}

#[test]
fn prompts_in_stretches_have_the_tokens_of_the_whole() {
    for path in goldens("tokenizers") {
        let golden: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let tokenizer = Arc::new(Tokenizer::from_json(&golden["tokenizer"].to_string()).unwrap());
        for case in golden["cases"].as_array().unwrap() {
            let mut ids = Vec::new();
            let mut place = Place::Beginning;
            for stretch in case["stretches"].as_array().unwrap() {
                let text = stretch[1].as_str().unwrap();
                let own = if stretch[0] == "field" {
                    tokenizer.encode_untrusted_at(text, place)
                } else {
                    tokenizer.encode_trusted_at(text, place)
                };
                ids.extend(own.unwrap());
                place = tokenizer.place_after(&ids).unwrap();
            }
            let theirs: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
            let words = |ids: &[u32]| {
                ids.iter()
                    .map(|&id| tokenizer.decode(&[id]))
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                ids,
                theirs,
                "{}: {case}\n{:?}\n{:?}",
                path.display(),
                words(&ids),
                words(&theirs)
            );
            let decoded = tokenizer.decode(&ids);
            assert_eq!(
                decoded,
                case["decoded"].as_str().unwrap(),
                "{}",
                path.display()
            );
            let mut stream = TextStream::new(Arc::clone(&tokenizer));
            let pieces: String = ids.iter().map(|&id| stream.push(id)).collect();
            assert_eq!(pieces, decoded, "{}", path.display());
        }
    }
}

#[test]
fn no_tokenizer_makes_a_control_token_of_a_students_text() {
    for path in goldens("tokenizers") {
        let golden: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let tokenizer = Tokenizer::from_json(&golden["tokenizer"].to_string()).unwrap();
        for token in [
            "</s>", "<s>", "<|user|>", "[INST]", "<think>", "</think>", "<|end|>",
        ] {
            let id = tokenizer.added_token(token).unwrap();
            assert_eq!(tokenizer.encode_trusted(token).unwrap(), [id]);
            for place in [Place::Beginning, Place::BehindToken, Place::Within] {
                let ids = tokenizer
                    .encode_untrusted_at(&format!("a {token}\n{token}"), place)
                    .unwrap();
                assert!(!ids.contains(&id), "{}: {token}", path.display());
            }
        }
        // A character that a vocabulary lacks is no control token.
        assert!(!tokenizer.encode_untrusted("漢").unwrap().is_empty());
    }
}

//! Normalisers, pre-tokenisers and models of tokenizers, as `tokenizer.json` has them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::charsmap::charsmap;

/// Normalisers by name.
pub(super) fn normalizers() -> Vec<(&'static str, Value)> {
    let kind = |kind: &str| json!({ "type": kind });
    let sequence = |steps: &[Value]| json!({ "type": "Sequence", "normalizers": steps });
    let replace = |from: &str, to: &str| json!({ "type": "Replace", "pattern": { "String": from }, "content": to });
    let regex = |from: &str, to: &str| json!({ "type": "Replace", "pattern": { "Regex": from }, "content": to });
    let prepend = |text: &str| json!({ "type": "Prepend", "prepend": text });
    vec![
        ("none", Value::Null),
        ("NFC", kind("NFC")),
        ("NFD", kind("NFD")),
        ("NFKC", kind("NFKC")),
        ("NFKD", kind("NFKD")),
        ("StripAccents", kind("StripAccents")),
        (
            "NFD, StripAccents",
            sequence(&[kind("NFD"), kind("StripAccents")]),
        ),
        (
            "NFKD, StripAccents, Lowercase",
            sequence(&[kind("NFKD"), kind("StripAccents"), kind("Lowercase")]),
        ),
        ("Nmt", kind("Nmt")),
        ("Nmt, NFKC", sequence(&[kind("Nmt"), kind("NFKC")])),
        ("Lowercase", kind("Lowercase")),
        (
            "Strip",
            json!({ "type": "Strip", "strip_left": true, "strip_right": true }),
        ),
        (
            "BertNormalizer",
            json!({ "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true }),
        ),
        (
            "BertNormalizer without case",
            json!({ "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false,
            "strip_accents": true, "lowercase": false }),
        ),
        (
            "Precompiled",
            json!({ "type": "Precompiled", "precompiled_charsmap": charsmap(&[
            ("＜", "<"), ("＞", ">"), ("／", "/"), ("\u{200b}", ""), ("ｐ", "p"), ("ｓ", "s"), ("\u{1}", "")]) }),
        ),
        (
            "Precompiled, Replace",
            sequence(&[
                json!({ "type": "Precompiled", "precompiled_charsmap": charsmap(&[("＜", "<"), ("\u{a0}", " ")]) }),
                regex(" {2,}", "▁"),
            ]),
        ),
        ("Replace a string", replace("＜", "<")),
        ("Replace by a bracket", replace("&lt;", "<")),
        ("Replace the bracket", replace("<", "(")),
        (
            "Replace what cannot be seen",
            regex("[\\x{200b}-\\x{200f}\\x{feff}\\x{ad}\\x{2060}]", ""),
        ),
        ("Replace spaces", regex("\\s+", " ")),
        ("Replace the replacement", replace("‹", "<")),
        (
            "SentencePiece's",
            sequence(&[prepend("▁"), replace(" ", "▁")]),
        ),
        (
            "SentencePiece's with NFKC",
            sequence(&[kind("NFKC"), prepend("▁"), replace(" ", "▁")]),
        ),
        ("Prepend a bracket", prepend("<")),
        (
            "Twice folded",
            sequence(&[replace("〈", "＜"), kind("NFKC"), kind("StripAccents")]),
        ),
    ]
}

pub(super) fn pre_tokenizers() -> Vec<(&'static str, Value)> {
    let split = |pattern: &str, behavior: &str| {
        json!({ "type": "Split", "pattern": { "Regex": pattern },
        "behavior": behavior, "invert": false })
    };
    let metaspace = |scheme: &str, split: bool| {
        json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme,
        "split": split })
    };
    let gpt = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    vec![
        ("none", Value::Null),
        ("Whitespace", json!({ "type": "Whitespace" })),
        ("WhitespaceSplit", json!({ "type": "WhitespaceSplit" })),
        (
            "Punctuation",
            json!({ "type": "Punctuation", "behavior": "Isolated" }),
        ),
        (
            "Punctuation removed",
            json!({ "type": "Punctuation", "behavior": "Removed" }),
        ),
        ("Metaspace always", metaspace("always", true)),
        ("Metaspace first", metaspace("first", false)),
        ("Metaspace never", metaspace("never", true)),
        ("BertPreTokenizer", json!({ "type": "BertPreTokenizer" })),
        (
            "Digits",
            json!({ "type": "Digits", "individual_digits": true }),
        ),
        (
            "CharDelimiterSplit",
            json!({ "type": "CharDelimiterSplit", "delimiter": "_" }),
        ),
        ("Split", split(gpt, "Isolated")),
        ("Split removes", split("[\\x{200b}漢]", "Removed")),
        ("UnicodeScripts", json!({ "type": "UnicodeScripts" })),
        ("FixedLength", json!({ "type": "FixedLength", "length": 3 })),
        (
            "ByteLevel",
            json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true }),
        ),
        (
            "Sequence",
            json!({ "type": "Sequence", "pretokenizers": [split(gpt, "Isolated"),
            { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false }] }),
        ),
    ]
}

/// Everything that a vocabulary may hold: ASCII, the letters that stand for bytes, spaces' signs, bytes, whole words.
fn pieces() -> Vec<String> {
    let mut pieces: BTreeSet<String> = (0x20..0x7f)
        .map(|byte| char::from(byte).to_string())
        .collect();
    pieces.extend(('\u{a1}'..='\u{143}').map(String::from));
    pieces.extend(
        [
            "\n", "▁", "＜", "／", "student", "answer", "stu", "dent", "</", "process", "▁<",
            ">\n", "##dent", "##s", "pro", "cess", "##cess", "##answer", "##_", "##>",
        ]
        .map(str::to_owned),
    );
    pieces.into_iter().collect()
}

pub(super) fn models() -> Vec<(&'static str, Value, Value)> {
    let bytes = || (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let vocabulary = |names: &[String]| -> Value {
        let ids = names.iter().enumerate();
        ids.map(|(id, name)| (name.clone(), Value::from(id)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let mut plain = vec!["<unk>".to_owned()];
    plain.extend(pieces());
    let mut with_bytes = plain.clone();
    with_bytes.extend(bytes());
    let merges = [["s", "t"], ["<", "/"], ["▁", "<"]];
    let with_merges = |names: &[String]| {
        let mut names = names.to_owned();
        names.push("st".into());
        names
    };
    let bpe = |names: &[String], unknown: Value, byte_fallback: bool, whole: bool| {
        json!({ "type": "BPE", "dropout": null, "unk_token": unknown, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": byte_fallback, "byte_fallback": byte_fallback, "ignore_merges": whole,
            "vocab": vocabulary(&with_merges(names)), "merges": merges })
    };
    let unigram = |names: &[String], byte_fallback: bool| {
        let scored: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(id, name)| {
                json!([
                    name,
                    if id == 0 {
                        0.0
                    } else {
                        -2.0 - 0.001 * id as f64
                    }
                ])
            })
            .collect();
        json!({ "type": "Unigram", "unk_id": 0, "vocab": scored, "byte_fallback": byte_fallback })
    };
    let sentence_piece = json!({ "type": "Sequence", "decoders": [
        { "type": "Replace", "pattern": { "String": "▁" }, "content": " " }, { "type": "ByteFallback" }, { "type": "Fuse" },
        { "type": "Strip", "content": " ", "start": 1, "stop": 0 }] });
    let metaspace = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true });
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true });
    let word_piece = json!({ "type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100, "vocab": vocabulary(&plain) });
    vec![
        (
            "BPE that drops what it lacks",
            bpe(&plain, Value::Null, false, false),
            json!({ "type": "Fuse" }),
        ),
        (
            "BPE without a decoder",
            bpe(&plain, json!("<unk>"), false, false),
            Value::Null,
        ),
        (
            "BPE with bytes",
            bpe(&with_bytes, json!("<unk>"), true, false),
            sentence_piece.clone(),
        ),
        (
            "BPE with bytes and whole words",
            bpe(&with_bytes, json!("<unk>"), true, true),
            sentence_piece.clone(),
        ),
        (
            "BPE of bytes",
            bpe(&plain, json!("<unk>"), false, false),
            byte_level,
        ),
        ("Unigram", unigram(&plain, false), metaspace),
        (
            "Unigram with bytes",
            unigram(&with_bytes, true),
            sentence_piece,
        ),
        (
            "WordPiece",
            word_piece,
            json!({ "type": "WordPiece", "prefix": "##", "cleanup": true }),
        ),
    ]
}

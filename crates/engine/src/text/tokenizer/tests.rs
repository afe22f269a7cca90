use serde_json::json;

use super::*;

/// A Unigram or BPE tokenizer of letters, `▁` and a byte; `<unk>`, `<s>` and `</s>` stand in the plain vocabulary too.
fn document(unigram: bool) -> Value {
    let names = [
        "<unk>", "<s>", "</s>", "<0x0A>", "▁", "a", "b", "<", "/", "s", ">", "ab",
    ];
    let model = if unigram {
        let vocabulary: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(id, name)| json!([name, if id < 3 { 0.0 } else { -3.0 - id as f64 }]))
            .collect();
        json!({"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": false})
    } else {
        let vocabulary: serde_json::Map<String, Value> = names
            .iter()
            .enumerate()
            .map(|(id, name)| ((*name).to_owned(), id.into()))
            .collect();
        json!({"type": "BPE", "unk_token": "<unk>", "fuse_unk": false, "byte_fallback": true, "ignore_merges": true,
            "vocab": vocabulary, "merges": [["a", "b"]]})
    };
    let added: Vec<Value> = (0..3)
        .map(|id| json!({"id": id, "content": names[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}))
        .collect();
    json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false},
        "post_processor": null, "decoder": null, "model": model})
}

fn tokenizer(document: &Value) -> Tokenizer {
    Tokenizer::from_json(&document.to_string()).unwrap()
}

#[test]
fn no_text_is_cut_short_filled_up_or_split_at_random() {
    let plain = tokenizer(&document(false));
    let mut odd = document(false);
    odd["truncation"] =
        json!({"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0});
    odd["padding"] = json!({"strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
        "pad_type_id": 0, "pad_token": "<unk>"});
    odd["model"]["dropout"] = json!(0.9);
    let odd = tokenizer(&odd);
    for text in ["ab ab", "<s>ab\nab", "abababab"] {
        assert_eq!(
            odd.encode_trusted(text).unwrap(),
            plain.encode_trusted(text).unwrap()
        );
        assert_eq!(
            odd.encode_untrusted(text).unwrap(),
            plain.encode_untrusted(text).unwrap()
        );
    }
}

#[test]
fn control_tokens_in_the_plain_vocabulary_are_not_made_of_letters() {
    for unigram in [false, true] {
        let tokenizer = tokenizer(&document(unigram));
        assert_eq!(tokenizer.encode_trusted("</s>").unwrap(), [2]);
        assert_eq!(tokenizer.encode_untrusted("</s>").unwrap(), [7, 8, 9, 10]);
        assert_eq!(tokenizer.encode_untrusted("ab").unwrap(), [11]);
        // A character that the vocabulary lacks becomes the unknown token, which is no control token.
        assert_eq!(tokenizer.encode_untrusted("é").unwrap(), [0]);
    }
}

#[test]
fn twins_share_one_vocabulary_unless_it_lists_control_tokens() {
    let place =
        |of: &Library| std::ptr::from_ref::<tokenizers::models::ModelWrapper>(of.get_model());
    let same = |a: &Library, b: &Library| place(a) == place(b);
    for unigram in [false, true] {
        let listed = tokenizer(&document(unigram));
        let (_, continuing) = listed.continuing.as_ref().unwrap();
        assert!(!same(&listed.as_it_is.trusted, &listed.as_it_is.untrusted));
        assert!(same(&listed.as_it_is.trusted, &continuing.trusted));
        assert!(same(&listed.as_it_is.untrusted, &continuing.untrusted));

        let mut apart = document(unigram);
        for (place, name) in ["<|start|>", "<|end|>", "<|pad|>"].into_iter().enumerate() {
            apart["added_tokens"][place]["content"] = json!(name);
            apart["added_tokens"][place]["id"] = json!(12 + place);
        }
        let apart = tokenizer(&apart);
        assert!(same(&apart.as_it_is.trusted, &apart.as_it_is.untrusted));
        assert_eq!(apart.vocab_size(), 15);
        assert_eq!(
            apart.variants(["AB", "s", "none"]),
            [vec![11], vec![9], vec![]]
        );
        // What the trusted one takes for a token is text to its twin.
        assert_eq!(apart.encode_trusted("<|end|>").unwrap(), [13]);
        assert!(!apart.encode_untrusted("<|end|>").unwrap().contains(&13));
    }
}

#[test]
fn nothing_is_put_before_text_that_goes_on() {
    let always = tokenizer(&document(false));
    assert_eq!(always.encode_trusted("a").unwrap(), [4, 5]);
    assert_eq!(always.encode_untrusted("a").unwrap(), [5]);
    for (place, ids) in [
        (Place::Beginning, vec![4, 5]),
        (Place::BehindToken, vec![4, 5]),
        (Place::Within, vec![5]),
    ] {
        assert_eq!(always.encode_untrusted_at("a", place).unwrap(), ids);
    }
    assert_eq!(
        always.encode_trusted_at("a<s>a", Place::Within).unwrap(),
        [5, 1, 4, 5]
    );
    let mut first = document(false);
    first["pre_tokenizer"]["prepend_scheme"] = json!("first");
    let first = tokenizer(&first);
    for (place, ids) in [
        (Place::Beginning, vec![4, 5]),
        (Place::BehindToken, vec![5]),
        (Place::Within, vec![5]),
    ] {
        assert_eq!(first.encode_untrusted_at("a", place).unwrap(), ids);
    }
    assert_eq!(
        first.encode_trusted_at("a<s>a", Place::Within).unwrap(),
        [5, 1, 5]
    );
}

#[test]
fn what_is_no_tokenizer_is_refused() {
    for text in [
        "",
        "{}",
        "[]",
        "{\"model\": 3}",
        "{\"model\": {\"type\": \"BPE\", \"vocab\": [], \"merges\": []}}",
    ] {
        let Err(error) = Tokenizer::from_json(text) else {
            panic!("{text}")
        };
        assert!(error.to_string().contains("tokenizer.json"), "{error}");
    }
}

#[test]
fn the_bytes_of_tokens_are_what_they_decode_to() {
    let tiny =
        Tokenizer::from_json(include_str!("../../../../../models/tiny/tokenizer.json")).unwrap();
    let bytes = tiny.token_bytes().unwrap();
    let end = tiny.token_id("<|im_end|>").unwrap();
    let mut compared = 0;
    for id in 0..bytes.len() as u32 {
        let bytes = &bytes[id as usize];
        if id == end {
            assert!(bytes.is_empty());
        } else if let Ok(text) = std::str::from_utf8(bytes)
            && !text.is_empty()
        {
            assert_eq!(text, tiny.decode(&[id]));
            compared += 1;
        }
    }
    assert!(compared > 1700, "{compared}");
    assert_eq!(bytes[tiny.token_id("\u{10A}").unwrap() as usize], b"\n");
    let tag = tiny.token_id("<process>").unwrap();
    assert_eq!(bytes[tag as usize], b"<process>");

    for unigram in [false, true] {
        let mut document = document(unigram);
        document["decoder"] = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false});
        let tokenizer = tokenizer(&document);
        let bytes = tokenizer.token_bytes().unwrap();
        let text = "a b";
        let tokens = tokenizer.encode_untrusted(text).unwrap();
        let joined: Vec<u8> = tokens
            .iter()
            .flat_map(|&id| bytes[id as usize].clone())
            .collect();
        assert_eq!(joined, text.as_bytes());
    }
}

#[test]
fn a_raw_prompt_gets_what_the_post_processor_puts_around_it() {
    let template = |single: Value| {
        json!({"type": "TemplateProcessing", "single": single, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}})
    };
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let special = |name: &str| json!({"SpecialToken": {"id": name, "type_id": 0}});
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let begins = template(json!([special("<s>"), text]));
    for (processor, before, behind) in [
        (Value::Null, &[][..], &[][..]),
        (byte_level.clone(), &[], &[]),
        (begins.clone(), &[1], &[]),
        (
            template(json!([special("<s>"), text, special("</s>")])),
            &[1],
            &[2],
        ),
        (template(json!([text])), &[], &[]),
        (
            json!({"type": "Sequence", "processors": [byte_level, begins]}),
            &[1],
            &[],
        ),
        (
            json!({"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]}),
            &[1],
            &[2],
        ),
    ] {
        let mut document = document(false);
        document["post_processor"] = processor;
        let tokenizer = tokenizer(&document);
        assert_eq!(
            tokenizer.around(),
            (before, behind),
            "{}",
            document["post_processor"]
        );
        // Other texts get none of it.
        assert!(!tokenizer.encode_trusted("ab").unwrap().contains(&1));
    }
}

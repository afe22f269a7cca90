use super::*;

/// A tokenizer with these added tokens, which are numbered from 0.
fn tokenizer(added: &[&str]) -> Tokenizer {
    let vocabulary = added.iter().copied().chain(["a", "b"]).enumerate();
    let vocabulary: serde_json::Map<String, serde_json::Value> = vocabulary
        .map(|(id, text)| (text.to_owned(), id.into()))
        .collect();
    let added: Vec<_> = (added.iter().enumerate())
        .map(|(id, text)| {
            json!({"id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": !text.starts_with("</") || added.len() < 4})
        })
        .collect();
    let document = json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "unk_token": null, "vocab": vocabulary, "merges": []}});
    Tokenizer::from_json(&document.to_string()).unwrap()
}

/// The ends of a model with these tokens and this template of a turn, whose files name the token 0.
fn ends(added: &[&str], turn: &str, eos: &str) -> Vec<String> {
    let template = format!("{{% for m in messages %}}{turn}{{% endfor %}}");
    let config = json!({"eos_token": eos, "chat_template": template}).to_string();
    let chat = ChatTemplate::new(&config, None).unwrap();
    let tokenizer = tokenizer(added);
    let ends = end_tokens(&[0], &tokenizer, Some(&chat));
    let shown = ends
        .iter()
        .map(|end| format!("{} {:?}", tokenizer.decode(&[end.id]), end.why));
    shown.collect()
}

#[test]
fn a_turn_ends_with_what_the_template_writes_or_files_name_or_is_known() {
    use EndReason::{Named, Template, Text};
    let chatml = "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n";
    let llama =
        "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>";
    let gemma = "<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n";
    let gemma_4 = "<|turn>{{ m.role }}\n{{ m.content }}<turn|>\n";
    let mistral = "{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}";
    let phi = "<|{{ m.role }}|>\n{{ m.content }}<|end|>\n";
    // Nothing stands after an answer but the next speaker.
    let glm = "<|{{ m.role }}|>\n{{ m.content }}";
    let harmony = "<|start|>{{ m.role }}<|message|>{{ m.content }}\
        {{ '<|return|>' if loop.last and m.role == 'assistant' else '<|end|>' }}";
    let own = "<a>{{ m.content }}<own end>";
    for (added, turn, eos, expected) in [
        // What tuning a base model leaves: every file names its end of text.
        (
            &["<|endoftext|>", "<|im_start|>", "<|im_end|>"][..],
            chatml,
            "<|endoftext|>",
            vec![("<|im_end|>", Template), ("<|endoftext|>", Named)],
        ),
        (
            &["<|im_end|>", "<|im_start|>", "<|endoftext|>"],
            chatml,
            "<|im_end|>",
            vec![("<|im_end|>", Named), ("<|endoftext|>", Text)],
        ),
        (
            &["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"],
            llama,
            "<|end_of_text|>",
            vec![
                ("<|eot_id|>", Template),
                ("<|end_of_text|>", Named),
                ("<|eom_id|>", Text),
            ],
        ),
        // `</s>` is of HTML there.
        (
            &["<eos>", "<start_of_turn>", "<end_of_turn>", "</s>"],
            gemma,
            "<eos>",
            vec![("<end_of_turn>", Template), ("<eos>", Named)],
        ),
        (
            &["<eos>", "<|turn>", "<turn|>", "<|tool_response>"],
            gemma_4,
            "<eos>",
            vec![
                ("<turn|>", Template),
                ("<eos>", Named),
                ("<|tool_response>", Text),
            ],
        ),
        (
            &["<s>", "</s>", "[INST]"],
            mistral,
            "</s>",
            vec![("</s>", Template), ("<s>", Named)],
        ),
        (
            &["<|endoftext|>", "<|user|>", "<|end|>"],
            phi,
            "<|endoftext|>",
            vec![
                ("<|end|>", Template),
                ("<|endoftext|>", Named),
                ("<|user|>", Text),
            ],
        ),
        (
            &[
                "<|endoftext|>",
                "<|user|>",
                "<|assistant|>",
                "<|observation|>",
            ],
            glm,
            "<|endoftext|>",
            vec![
                ("<|user|>", Template),
                ("<|endoftext|>", Named),
                ("<|observation|>", Text),
            ],
        ),
        (
            &["<|endoftext|>", "<|return|>", "<|end|>", "<|call|>"],
            harmony,
            "<|endoftext|>",
            vec![
                ("<|return|>", Template),
                ("<|endoftext|>", Named),
                ("<|call|>", Text),
            ],
        ),
        (
            &["<|endoftext|>", "<own end>"],
            own,
            "<|endoftext|>",
            vec![("<own end>", Template), ("<|endoftext|>", Named)],
        ),
        // Tags around an answer are no ends, though they may be added tokens.
        (
            &["<|endoftext|>", "<|im_end|>", "<answer>", "</answer>"],
            "<answer>{{ m.content }}</answer>\n<|im_end|>",
            "<|endoftext|>",
            vec![("<|im_end|>", Template), ("<|endoftext|>", Named)],
        ),
        // A template that shows no answers says nothing.
        (
            &["<|endoftext|>", "<|im_end|>"],
            "{% if m.role == 'user' %}{{ m.content }}{% endif %}",
            "<|endoftext|>",
            vec![("<|endoftext|>", Named), ("<|im_end|>", Text)],
        ),
    ] {
        let expected: Vec<String> = expected
            .iter()
            .map(|(text, why)| format!("{text} {why:?}"))
            .collect();
        assert_eq!(ends(added, turn, eos), expected, "{turn}");
    }
}

#[test]
fn without_a_template_the_tokens_are_known_by_their_text() {
    let tokenizer = tokenizer(&["<|endoftext|>", "<|im_end|>"]);
    let ids: Vec<u32> = end_tokens(&[], &tokenizer, None)
        .iter()
        .map(|end| end.id)
        .collect();
    assert_eq!(ids, [1, 0]);
}

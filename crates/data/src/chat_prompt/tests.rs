//! Unit tests of prompts as an engine was given them.

use super::*;

#[test]
fn names_of_roles_are_no_part_of_a_question() {
    let llama = "system\n\nCutting Knowledge Date: December 2023\n\nBe brief.user\n\n";
    for (prompt, expected, has_system) in [
        (
            "system\nBe brief.\nuser\nWhat is\n2 + 2?\nassistant\n",
            "What is\n2 + 2?",
            true,
        ),
        ("user\n\nWhy?\n\nassistant\n\n", "Why?", false),
        ("user\nWhy?\nassistant\n<think>\n", "Why?", false),
        (
            "user\nWhy?\nassistant\n<think>\n\n</think>\n\n",
            "Why?",
            false,
        ),
        ("user\nWhy?\nmodel\n", "Why?", false),
        ("user\n\nWhy?assistant\n\n", "Why?", false),
        (&format!("{llama}Why?assistant\n\n"), "Why?", true),
        (
            &format!("{llama}a\n\nbassistant\n\nc.user\n\nd?assistant\n\n"),
            "User: a\n  \n  b\n\nAssistant: c.\n\nUser: d?",
            true,
        ),
        (
            "user\na\nmodel\nb\nuser\nc\nmodel\n",
            "User: a\n\nAssistant: b\n\nUser: c",
            false,
        ),
        (
            "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
            "Why?",
            false,
        ),
        (
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
            "Why?",
            true,
        ),
        ("[gMASK]<sop><|user|>\nWhy?<|assistant|>\n", "Why?", false),
        (
            "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWhy? [/INST]",
            "Why?",
            true,
        ),
        (
            "systemYou are ChatGPT.\n\nReasoning: mediumdeveloper# Instructions\n\nBe brief.userWhy?assistant",
            "Why?",
            true,
        ),
        // Names that do not alternate, or do not end the prompt, are words of it.
        (
            "Name a user\nor an assistant",
            "Name a user\nor an assistant",
            false,
        ),
        (
            "user\nList:\nuser\nadmin\nassistant\n",
            "user\nList:\nuser\nadmin\nassistant",
            false,
        ),
        (
            "Say who:\nuser\nor\nassistant\n",
            "Say who:\nuser\nor\nassistant",
            false,
        ),
    ] {
        assert_eq!(asked(prompt), (expected.to_owned(), has_system));
    }
}

#[test]
fn tokens_at_the_ends_are_taken_off_and_no_others() {
    for (text, expected) in [
        ("<s> What is <|x|> here? </s>", "What is <|x|> here?"),
        ("<|begin_of_text|>Why?<|eot_id|>\n", "Why?"),
        ("Is a < b or b > a?", "Is a < b or b > a?"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("<s>", ""),
        ("<é|x|>", "<é|x|>"),
        ("<|é|>é<|é|>", "é"),
    ] {
        assert_eq!(without_usual_tokens(text), expected);
    }
    // Each token costs what it has, whatever stands at the other end.
    let (long, tokens) = ("a".repeat(1 << 20), "<|x|>".repeat(1 << 18));
    assert_eq!(
        without_usual_tokens(&format!("<{long}{tokens}")),
        format!("<{long}")
    );
    assert_eq!(
        without_usual_tokens(&format!("{tokens}{long}>")),
        format!("{long}>")
    );
}

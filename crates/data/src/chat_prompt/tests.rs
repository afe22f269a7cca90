//! Unit tests of prompts as an engine was given them.

use super::*;

#[test]
fn names_of_roles_are_no_part_of_a_question() {
    for (prompt, expected) in [
        (
            "system\nBe brief.\nuser\nWhat is\n2 + 2?\nassistant\n",
            "What is\n2 + 2?",
        ),
        ("user\n\nWhy?\n\nassistant\n\n", "Why?"),
        (
            "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
            "Why?",
        ),
        (
            "Name a user\nor an assistant",
            "Name a user\nor an assistant",
        ),
        (
            "user\na\nassistant\nb\nuser\nc\nassistant\n",
            "user\na\nassistant\nb\nuser\nc\nassistant",
        ),
    ] {
        assert_eq!(asked(prompt), expected);
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
    ] {
        assert_eq!(without_usual_tokens(text), expected);
    }
}

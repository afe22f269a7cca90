use serde_json::json;

use super::*;

#[test]
fn parts_are_told_by_their_types() {
    for (part, expected) in [
        (json!("a"), Ok(ContentPart::Text("a"))),
        (json!({"text": "a"}), Ok(ContentPart::Text("a"))),
        (
            json!({"type": "output_text", "text": "a", "annotations": []}),
            Ok(ContentPart::Text("a")),
        ),
        (
            json!({"type": "refusal", "refusal": "no"}),
            Ok(ContentPart::Refusal("no")),
        ),
        (
            json!({"type": "reasoning", "text": "a"}),
            Ok(ContentPart::LeftOut(REASONING)),
        ),
        (
            json!({"type": "redacted_thinking", "data": "x"}),
            Ok(ContentPart::LeftOut(REASONING)),
        ),
        (
            json!({"text": "a", "thought": true}),
            Ok(ContentPart::LeftOut(REASONING)),
        ),
        (
            json!({"type": "tool_use", "name": "f", "input": {}}),
            Ok(ContentPart::LeftOut(TOOL_CALLS)),
        ),
        (
            json!({"reasoningContent": {"reasoningText": {"text": "a"}}}),
            Ok(ContentPart::LeftOut(REASONING)),
        ),
        (
            json!({"toolUse": {"name": "f", "input": {}}}),
            Ok(ContentPart::LeftOut(TOOL_CALLS)),
        ),
        (
            json!({"type": "tool_result", "content": "4"}),
            Ok(ContentPart::LeftOut(TOOL_RESULTS)),
        ),
    ] {
        assert_eq!(ContentPart::read(&part), expected, "{part}");
    }
    for part in [
        json!({"type": "image_url", "text": "alt"}),
        json!({"type": "commentary", "text": "a"}),
        json!({"type": "text"}),
        json!({"image": {"format": "png"}}),
        json!(5),
    ] {
        let why = ContentPart::read(&part).unwrap_err();
        assert!(why.contains("parts that are no text"), "{part}: {why}");
    }
}

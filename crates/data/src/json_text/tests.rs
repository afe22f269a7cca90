//! Bare words, and what looks like them.

use super::*;

#[test]
fn bare_words_are_null_and_texts_stay() {
    let line = r#"{"a":NaN,"b": -Infinity,"c":[Infinity , NaN],"d":"NaN \" NaN\\","e":1,"NaN":"Infinity"}"#;
    let text = JsonText::new(line);
    let value: serde_json::Value = serde_json::from_str(text.as_str()).unwrap();
    assert_eq!(
        value,
        serde_json::json!({"a":null,"b":null,"c":[null,null],"d":"NaN \" NaN\\","e":1,"NaN":"Infinity"})
    );
    let place = |word: &str| text.as_str().find(word).unwrap();
    assert_eq!(text.word(place("null")), Some("NaN"));
    assert_eq!(text.word(place("null     ")), Some("-Infinity"));
    assert_eq!(text.word(0), None);
    // What follows is where it was.
    assert_eq!(
        text.column(place("\"e\"") + 1),
        line.find("\"e\"").unwrap() + 1
    );
    assert_eq!(text.column(1), 1);
}

#[test]
fn what_has_no_such_word_is_not_copied() {
    for line in [
        r#"{"a":"NaN"}"#,
        r#"{"a":"é\"Infinity"}"#,
        r#"{"a":xNaN}"#,
        r#"{"a":NaNo}"#,
        r#"{"a":-NaN}"#,
        "\"NaN",
        "\\",
        "",
    ] {
        let text = JsonText::new(line);
        let is_bare = line.contains("-NaN");
        assert_eq!(matches!(text.text, Cow::Borrowed(_)), !is_bare, "{line}");
    }
    // It stays no JSON.
    assert!(serde_json::from_str::<serde_json::Value>(JsonText::new("-NaN").as_str()).is_err());
}

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

#[test]
fn whole_numbers_beyond_64_bits_keep_their_digits_as_texts() {
    let long = "1".repeat(40);
    for (json, expected) in [
        (long.as_str(), format!("\"{long}\"")),
        (
            r#"{"18446744073709551616":18446744073709551616,"a":[18446744073709551615]}"#,
            r#"{"18446744073709551616":"18446744073709551616","a":[18446744073709551615]}"#.into(),
        ),
        (
            r#"[-9223372036854775808, -9223372036854775809 ,"\"99999999999999999999"]"#,
            r#"[-9223372036854775808, "-9223372036854775809" ,"\"99999999999999999999"]"#.into(),
        ),
        // Of these a number says as much as it can.
        ("0.123456789012345678901", "0.123456789012345678901".into()),
        (
            "10000000000000000000000e2",
            "10000000000000000000000e2".into(),
        ),
        ("\"\u{e9}\\\\\"", "\"\u{e9}\\\\\"".into()),
    ] {
        assert_eq!(with_all_digits(json), expected);
    }
}

use super::*;

#[test]
fn keys_are_found_by_their_order() {
    let line = r#"{"b":1,"Reference Answer":2,"a":3,"b":4,"x y":5,"X-Y":6,"":7}"#;
    let line = JsonText::new(line);
    let row = Row::parse(&line).unwrap();
    let text = |key: &str| row.get(key).map(|value| value.map(RowValue::text));
    assert_eq!(text("a").unwrap(), Some("3"));
    assert_eq!(text("").unwrap(), Some("7"));
    assert_eq!(text("ab").unwrap(), None);
    assert!(text("b").unwrap_err().contains("twice"));
    assert!(row.has("b") && row.has("X-Y") && !row.has("c"));
    assert_eq!(
        row.spelled_otherwise("reference_answer").as_deref(),
        Some("Reference Answer")
    );
    // It is unknown which of the two is meant.
    assert_eq!(row.spelled_otherwise("x_y"), None);
    assert_eq!(row.spelled_otherwise("zz"), None);
    assert_eq!(row.keys().next().as_deref(), Some("b"));
}

#[test]
fn keys_are_those_that_are_written() {
    let line = " {\"\":{},\"a\\\"b\" : [1, \"x\"] ,\n\"\\u00e9\\n\":null,\"😀\":\"}\",\"a,:{\":-1}";
    let line = JsonText::new(line);
    let row = Row::parse(&line).unwrap();
    let keys = ["", "a\"b", "é\n", "😀", "a,:{"];
    assert_eq!(row.keys().collect::<Vec<_>>(), keys);
    let values = keys.map(|key| row.get(key).unwrap().unwrap().text());
    assert_eq!(values, ["{}", "[1, \"x\"]", "null", "\"}\"", "-1"]);
    let value = row.get("").unwrap().unwrap();
    assert!(value.key("a").unwrap().is_none() && value.values().unwrap().is_empty());
    for broken in [
        r#"{"a":1} x"#,
        r#"{"a":1"#,
        r#"{"a"}"#,
        r#"{"\ud800":1}"#,
        r#"{"a":1,}"#,
    ] {
        let line = JsonText::new(broken);
        let why = Row::parse(&line).err().unwrap();
        assert!(why.contains("not valid JSON"), "{broken}: {why}");
    }
}

/// What a row of many keys takes beside its text: at most three times as much, as it has at most the text twice and a growing list.
#[test]
fn many_keys_take_little() {
    let keys: Vec<String> = (0..100_000).map(|key| format!("\"k{key}\":1")).collect();
    let line = format!("{{{}}}", keys.join(","));
    let text = JsonText::new(&line);
    let row = Row::parse(&text).unwrap();
    let places = row.entries.places.capacity() * size_of::<[Range<u32>; 2]>();
    let taken = places + row.sorted.capacity() * size_of::<u32>();
    assert!(taken < 3 * line.len(), "{taken} of {}", line.len());
    assert_eq!(row.get("k99999").unwrap().map(RowValue::text), Some("1"));
    assert!(row.has("k0") && !row.has("k100000"));
}

#[test]
fn a_path_to_a_name_deeper_in_a_row_is_found_whatever_the_keys() {
    let line = r#"{"a":{"b":{"question":1}},"c":{"d":{"question":"q"}},"e.question":"q"}"#;
    let line = JsonText::new(line);
    let row = Row::parse(&line).unwrap();
    assert_eq!(
        row.path_to("query, question").as_deref(),
        Some("e.question")
    );
    // A long key above many: they are searched in no more memory than they take.
    let key = "k".repeat(1 << 20);
    let inner: Vec<String> = (0..10_000).map(|at| format!("\"{at}\":0")).collect();
    let line = format!("{{\"{key}\":{{{},\"question\":\"q\"}}}}", inner.join(","));
    let line = JsonText::new(&line);
    let row = Row::parse(&line).unwrap();
    assert_eq!(row.path_to("question"), Some(format!("{key}.question")));
    assert_eq!(row.path_to("query"), None);
}

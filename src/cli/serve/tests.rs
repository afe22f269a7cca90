use super::*;

#[test]
fn the_line_to_try_asks_an_address_that_can_be_asked() {
    let example = json!({"samples": []});
    let line = |address: &str, key: Option<&str>| curl(address.parse().unwrap(), key, &example);
    assert_eq!(
        line("127.0.0.1:8000", None),
        r#"curl -g 'http://127.0.0.1:8000/v1/judge' -d '{"samples":[]}'"#
    );
    assert!(line("0.0.0.0:80", None).contains("'http://127.0.0.1:80/"));
    assert!(line("[::]:80", None).contains("'http://[::1]:80/"));
    let with_key = line(
        "[::1]:80",
        Some("-H \"Authorization: Bearer $JUROR_API_KEY\" "),
    );
    assert!(
        with_key
            .starts_with("curl -g -H \"Authorization: Bearer $JUROR_API_KEY\" 'http://[::1]:80/")
    );
    // A protocol that reads more of a row gets more.
    let needs = Needs {
        rubric: RubricNeed::OfRow,
        ..Needs::nothing()
    };
    assert!(super::example(&needs)["samples"][0]["rubric"].is_array());
    let needs = Needs {
        other: true,
        ..Needs::nothing()
    };
    assert!(super::example(&needs)["samples"][0]["other_response"].is_string());
}

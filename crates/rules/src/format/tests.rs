use super::*;

#[test]
fn the_last_of_its_kind_counts() {
    let of = |pattern: &str, text: &str| {
        let format = AnswerFormat::pattern(pattern).unwrap();
        format.answer(text).map(str::to_owned)
    };
    assert_eq!(of(r"A=(\d+)|B=(\d+)", "A=1 B=2"), Some("2".to_owned()));
    assert_eq!(of(r"\d+", "1, 2 and 30."), Some("30".to_owned()));
    assert_eq!(of(r"(x)?\d", "x1 2"), Some("2".to_owned()));
    assert!(AnswerFormat::pattern("(").unwrap_err().contains('('));
}

use super::*;

#[test]
fn anchors_are_found_in_any_case() {
    let text = "Final Answer, fınal anſwer, answers. ANSWER; unfinal  answer answe";
    let source = Source::new(text);
    let found: Vec<(&str, Option<&str>)> = source
        .anchors()
        .iter()
        .map(|anchor| {
            let before = anchor.final_start.map(|start| &text[start..anchor.start]);
            (&text[anchor.start..anchor.end], before)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("Answer", Some("Final ")),
            ("anſwer", Some("fınal ")),
            ("answer", None),
            ("ANSWER", None),
            ("answer", None),
        ]
    );
}

#[test]
fn long_runs_end_where_they_end() {
    let text = format!("a{}b{}", " \u{3000}".repeat(100), "\n".repeat(70));
    let source = Source::new(&text);
    for at in [1, 2, 5, 197] {
        assert_eq!(source.spaces_end(at), 401);
    }
    assert_eq!(source.spaces_end(402), text.len());
    assert_eq!(source.spaces_end(0), 0);
}

#[test]
fn statements_are_near() {
    let far = format!("final answer{} is", "x".repeat(100));
    let too_far = format!("final answer{} is", "é".repeat(101));
    for (text, across, count) in [
        (far.as_str(), true, 1),
        (too_far.as_str(), true, 0),
        ("final answer a\nb is", true, 1),
        ("final answer a\nb is", false, 0),
        ("final answer \n is this is", false, 1),
        ("final answer is", false, 1),
        ("final answeris", true, 0),
    ] {
        let source = Source::new(text);
        let anchor = source.anchors()[0];
        assert_eq!(source.statements(anchor, across).count(), count, "{text}");
    }
}

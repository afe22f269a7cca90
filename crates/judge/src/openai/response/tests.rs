use super::*;

#[test]
fn thinking_that_readers_do_not_know_is_taken_out() {
    for (written, visible, content, thought) in [
        (
            "<think>a</think>b",
            Some("<think>a</think>b"),
            Some("<think>a</think>b"),
            None,
        ),
        (
            "[T]a[/T] b",
            Some("         b"),
            Some("b"),
            Some("[T]a[/T] "),
        ),
        ("[T]a", None, None, Some("[T]a")),
    ] {
        let answer = VisibleAnswer {
            written: written.to_owned(),
            visible: visible.map(str::to_owned),
        };
        let expected = (content.map(str::to_owned), thought.map(str::to_owned));
        assert_eq!(apart(answer), expected);
    }
}

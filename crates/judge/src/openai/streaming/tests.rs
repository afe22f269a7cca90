use super::*;

#[test]
fn the_beginning_of_a_stop_text_is_held_back() {
    let stops = ["END".to_owned(), "é!".to_owned()];
    for (text, held) in [
        ("a", 0),
        ("aE", 1),
        ("aEN", 2),
        ("ENE", 1),
        ("é", 2),
        ("END", 0),
        ("", 0),
    ] {
        assert_eq!(may_begin(text, &stops), held, "{text}");
    }
}

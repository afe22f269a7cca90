use super::*;

#[test]
fn classes_are_pythons() {
    let spaces: Vec<u32> = (0..0x11_0000)
        .filter(|code| char::from_u32(*code).is_some_and(is_space))
        .collect();
    assert_eq!(spaces.len(), 29);
    assert!(
        [0x1c, 0x1f, 0x85, 0xa0, 0x3000]
            .iter()
            .all(|code| spaces.contains(code))
    );
    assert!(!spaces.contains(&0x200b));
    let digits = (0..0x11_0000)
        .filter(|code| char::from_u32(*code).is_some_and(is_digit))
        .count();
    assert_eq!(digits, 660);
    assert!(is_digit('٣') && is_digit('9') && is_digit('９') && !is_digit('²') && !is_digit('½'));
}

#[test]
fn positions_never_split_a_character() {
    let text = "a é\u{a0}b";
    assert_eq!(characters_on(text, 0, 3), 4);
    assert_eq!(characters_on(text, 0, 100), text.len());
    assert_eq!(spaces_end(text, 4), 6);
    assert_eq!(spaces_start(text, 6), 4);
    assert_eq!(char_at(text, 3), None);
    assert_eq!(char_before(text, 0), None);
}

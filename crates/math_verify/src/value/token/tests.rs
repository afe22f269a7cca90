use super::*;

#[test]
fn every_line_of_the_vocabulary_names_a_kind() {
    let lines = include_str!("../vocabulary.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (name, words) = line.split_once(' ').unwrap_or_default();
        assert!(Token::by_name(name).is_some(), "{name}");
        assert!(words.split(' ').all(|word| !word.is_empty()), "{line}");
    }
}

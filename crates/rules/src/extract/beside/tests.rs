use super::table::{TABLE, list, place};
use super::*;
use crate::lexicon::{BESIDE, rows};

#[test]
fn every_row_is_read() {
    for row in rows(BESIDE) {
        let [how, named, pattern] = row[..] else {
            panic!("{row:?}");
        };
        assert!(place(named).is_some(), "{named}: {pattern}");
        let known = |it: char| How::LETTERS.contains(&it);
        assert!(how.chars().all(known), "{how}: {pattern}");
        let lists = pattern
            .split([' ', '|', '!'])
            .filter(|it| it.starts_with('@'));
        for name in lists {
            assert!(list(name).next().is_some(), "{name}");
        }
    }
    let mut places = TABLE.rows.chunks(How::LETTERS.len());
    assert!(places.all(|it| it.iter().any(|it| !it.1.is_empty())));
}

#[test]
fn rows_of_a_box_ask_for_what_is_read_beside_it() {
    use Place::{After, AfterVerb, Before, Clause, Clearing, Ending, InBracket, NearBefore};
    for place in [
        NearBefore, AfterVerb, Before, Clearing, Clause, Ending, InBracket,
    ] {
        assert!(rows_of(place, How::Boxed).1.is_empty(), "{place:?}");
    }
    let stop = TABLE.classes(",", How::Boxed, true, 0);
    let begins = |row: &Row| matches!(row[0], Item::Is(class) if stop.has(class));
    let rows = &rows_of(After, How::Boxed).1;
    assert!(rows.iter().all(|(_, row)| begins(row)));
}

#[test]
fn what_changes_a_value_stands_right_beside_it() {
    for (before, after, how, changed) in [
        (" at least ", "", How::Announced, true),
        ("", " or more", How::Announced, true),
        ("", " dollars if she sells everything", How::Boxed, false),
        ("", " or more", How::Boxed, true),
        ("It is ", " dollars, which is wrong", How::Boxed, true),
        ("It is not ", "", How::Boxed, true),
        ("He did not know that it is ", "", How::Boxed, false),
        ("", ", not 16", How::Announced, false),
        ("", " (not 16)", How::Announced, false),
        ("", " times the size", How::Stated, true),
        ("", " times a day", How::Stated, false),
        ("the year after ", "", How::Timed, true),
        ("", " - it has four legs", How::Announced, false),
        ("", " - 4", How::Announced, true),
    ] {
        assert_eq!(changes(before, after, how), changed, "{before}…{after}");
    }
}

#[test]
fn a_value_that_is_said_again_is_the_same() {
    assert!(says_another("12^2", ", which equals 124"));
    assert!(!says_another("12^2", ", which equals 144"));
    assert!(!says_another("12^2", ", which has 3 digits"));
}

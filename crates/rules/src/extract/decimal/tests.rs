use super::*;
use crate::{Config, Profile, Verifier};

fn equal(gold: (&str, Option<DecimalMark>), pred: (&str, Option<DecimalMark>)) -> Option<bool> {
    let config = |decimal| Config {
        decimal,
        ..Config::default()
    };
    let verifier = Verifier::new(Profile::Strict, config(pred.1)).with_gold_config(config(gold.1));
    verifier.verify(gold.0, pred.0).equal
}

#[test]
fn what_a_comma_is_decides() {
    let (yes, no) = (Some(true), Some(false));
    // Not known, a comma, a point.
    for (gold, pred, expected) in [
        ("7.5", "7,5", [None, yes, no]),
        ("7,5", "So the answer is 7.5.", [None, yes, no]),
        ("7,50", "7.5", [None, yes, no]),
        ("1.234,5 €", "1234,5 €", [yes, yes, yes]),
        ("1234", "1,234", [yes, no, yes]),
        ("1234", "1.234", [no, yes, no]),
        ("1.5", "Die Antwort ist 1,500.", [None, yes, no]),
        ("1.5", "Die Antwort ist 1,5.", [yes, yes, yes]),
        ("-0.75", "-0,75", [None, yes, no]),
        ("3.25 kg", "3,25 kg", [yes, yes, yes]),
        // The same digits: a comma in one of the two languages.
        ("1.234", "1,234", [None, no, no]),
        // Entries, whatever the file has.
        ("(1,5)", "(1,5)", [yes, yes, yes]),
        ("(1,5)", "(1.5)", [no, no, no]),
        ("1,2,3", "1,2,3", [yes, yes, yes]),
    ] {
        for (mark, expected) in [None, Some(Comma), Some(Point)].into_iter().zip(expected) {
            let found = equal((gold, mark), (pred, mark));
            assert_eq!(found, expected, "{gold:?} against {pred:?} under {mark:?}");
        }
    }
    // Each side has its own.
    assert_eq!(equal(("1.234", Some(Point)), ("1,234", Some(Comma))), yes);
    assert_eq!(equal(("1.234", Some(Comma)), ("1,234", Some(Point))), yes);
    assert_eq!(equal(("7,5", Some(Comma)), ("7.5", Some(Point))), yes);
}

#[test]
fn verdicts_depend_on_numbers_that_may_be_meant_otherwise() {
    for (gold, pred, expected) in [
        ("7.5", "7,5", true),
        ("1234", "1,234", true),
        ("1.234", "1.2", true),
        ("1234.5", "1,234.5", false),
        ("7.5", "12", false),
        ("1,234", "1,234", false),
        ("(1,5)", "(1,2)", false),
    ] {
        let verified = Verifier::default().verify(gold, pred);
        assert_eq!(
            verified.depends_on_decimals(),
            expected,
            "{gold:?} against {pred:?}"
        );
    }
}

#[test]
fn a_mark_is_shown_by_what_can_be_read_in_one_way() {
    for (answer, other, expected) in [
        ("1.234,5", "", Some(Comma)),
        ("1.234.567", "", Some(Comma)),
        ("1,234.5", "", Some(Point)),
        ("7.5", "", Some(Point)),
        ("$12.50", "", Some(Point)),
        ("0.125", "", Some(Point)),
        ("1234.567", "", Some(Point)),
        ("12,50 €", "", Some(Comma)),
        ("12,5 kg", "", Some(Comma)),
        // One number or two, of which the other answer tells.
        ("12,5", "", None),
        ("12,5", "12,5", None),
        ("12,5", "12.5", Some(Comma)),
        ("12,50", "12.5", Some(Comma)),
        ("12,5", "13.5", None),
        ("1,234", "1234", Some(Point)),
        ("1.234", "1234", Some(Comma)),
        ("1,234", "1.234", None),
        ("1,234", "", None),
        ("1.234", "", None),
        // Entries of a pair.
        ("(1.234,5)", "", None),
        ("1,2,3", "", None),
        ("1.2.3", "", None),
        ("42", "42", None),
        ("x", "", None),
        ("", "", None),
    ] {
        assert_eq!(
            DecimalMark::shown(answer, other),
            expected,
            "{answer:?} beside {other:?}"
        );
    }
}

//! Pairs as people write them, with the verdict they must get.

mod properties;

use super::{Comparison, compare};
use crate::parse::parse;
use crate::{Config, Status};

fn verdict(gold: &str, pred: &str, options: &Config) -> Comparison {
    let read = |text: &str| parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    compare(&read(gold), &read(pred), options)
}

fn options() -> Config {
    Config::default()
}

#[test]
fn pairs_get_their_verdict_in_both_directions() {
    let mut wrong = Vec::new();
    for row in include_str!("../../../tests/cases/compare/answers.tsv").lines() {
        let [expected, gold, pred] = row.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let expected = match expected {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        for (a, b) in [(gold, pred), (pred, gold)] {
            let found = verdict(a, b, &options());
            assert!(!found.reason.is_empty());
            if found.equal != expected {
                wrong.push(format!("{a}  |  {b}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn fewer_places_and_other_letters_on_request() {
    let coarse = Config {
        float_rounding: 2,
        ..options()
    };
    let lenient = Config {
        strict: false,
        ..options()
    };
    for (options, gold, pred, equal) in [
        (&coarse, r"\frac{1}{3}", "0.33", true),
        (&coarse, r"\frac{1}{3}", "0.34", false),
        (&lenient, "x-y", "a-b", true),
        (&lenient, "x^2+y", "b^2+a", true),
        (&lenient, "x^2", "x^3", false),
        (&lenient, "(1,2)", r"\{2,1\}", true),
    ] {
        let found = verdict(gold, pred, options);
        assert_eq!(found.equal, Some(equal), "{gold} {pred}");
    }
}

#[test]
fn large_sets_are_compared() {
    let written = |numbers: &mut dyn Iterator<Item = u32>| {
        let parts: Vec<String> = numbers.map(|n| (n * 7 % 2003).to_string()).collect();
        format!("\\{{{}\\}}", parts.join(", "))
    };
    let (up, down) = (written(&mut (0..2000)), written(&mut (0..2000).rev()));
    let less = written(&mut (1..2001).rev());
    let same = verdict(&up, &down, &options());
    assert_eq!((same.equal, same.status), (Some(true), Status::Decided));
    assert_eq!(verdict(&up, &less, &options()).equal, Some(false));
}

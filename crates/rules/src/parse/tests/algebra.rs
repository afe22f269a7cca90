//! The algebra on expressions that the parser makes of texts.

use juror_algebra::{Budget, Expr, Identity, approximate, identical, order, polynomial, rational};

use crate::answer::Answer;

mod shapes;

fn parse(text: &str) -> Expr {
    match super::parse(text) {
        Ok(Answer::Quantity(quantity)) => quantity.value,
        other => panic!("{text}: {other:?}"),
    }
}

fn verdict(a: &str, b: &str) -> (Identity, &'static str) {
    identical(&parse(a), &parse(b), &mut Budget::default())
}

#[test]
fn pairs_are_equal_or_different() {
    let mut wrong = Vec::new();
    for row in include_str!("../../../tests/cases/algebra/identities.tsv").lines() {
        let [expected, a, b] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        for (a, b) in [(a, b), (b, a)] {
            let found = verdict(a, b);
            let right = match expected {
                "equal" => found.0 == Identity::Equal,
                "agreeing" => matches!(found.0, Identity::Equal | Identity::NumericallyEqual),
                "different" => found.0 == Identity::Different,
                "undefined" => found.0 == Identity::Undefined,
                "open" => found.0 == Identity::TooComplex,
                other => panic!("{other}"),
            };
            if !right {
                wrong.push(format!("{expected} {a}  |  {b}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_gamma_function_is_enclosed() {
    for (text, expected) in [
        (r"\Gamma(1/3)", 2.678_938_534_707_747),
        (r"\Gamma(7/3)", 1.190_639_348_758_999),
        (r"\Gamma(100.5)", 9.320_963_104_082_718e156),
    ] {
        let near =
            approximate(&parse(text), &mut Budget::default()).unwrap_or_else(|| panic!("{text}"));
        assert!((near / expected - 1.0).abs() < 1e-10, "{text} {near}");
    }
}

#[test]
fn polynomials_are_expanded() {
    let coefficients = |text: &str| {
        polynomial(&parse(text), "x", &mut Budget::default()).map(|list| {
            list.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    for (text, expected) in [
        ("(x+1)^3", Some("1 3 3 1")),
        ("x(x-1)/2", Some("0 -1/2 1/2")),
        ("(x^2-1)/(x-1)", Some("1 1")),
        ("x-x", Some("")),
        ("5", Some("5")),
        (r"\sqrt{4} x+\frac{1}{2}", Some("1/2 2")),
        (r"\sqrt{2} x", None),
        ("1/x", None),
        ("xy", None),
        ("x^{10^9}", None),
        (r"\sin(x)", None),
    ] {
        assert_eq!(coefficients(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn constants_are_ordered_and_valued() {
    use std::cmp::Ordering;
    let budget = || Budget::default();
    for (a, b, expected) in [
        ("1/3", "0.333", Some(Ordering::Greater)),
        (
            r"\sqrt{2}",
            "1.41421356237309504880",
            Some(Ordering::Greater),
        ),
        (r"\sqrt{2}\sqrt{3}", r"\sqrt{6}", Some(Ordering::Equal)),
        (
            r"\pi",
            r"\frac{\ln(640320^3+744)}{\sqrt{163}}",
            Some(Ordering::Less),
        ),
        (r"-\infty", "5", Some(Ordering::Less)),
        (r"\infty", r"\infty", Some(Ordering::Equal)),
        ("i", "1", None),
        ("x", "1", None),
        ("1/0", "1", None),
        ("10^{10^{10}}", "10^{10^{10}}+1", Some(Ordering::Less)),
    ] {
        let found = order(&parse(a), &parse(b), &mut budget());
        if a.starts_with("10^") {
            // Too large for enclosures to tell; but never the wrong way round.
            assert!(found.is_none() || found == expected, "{a} {b} {found:?}");
        } else {
            assert_eq!(found, expected, "{a} {b}");
        }
    }
    for (text, expected) in [
        (r"\sqrt{4}+\frac{1}{3}", Some("7/3")),
        (r"\sum_{k=1}^{10} \frac{1}{k}", Some("7381/2520")),
        (r"\pi", None),
        (r"\log_2 32", Some("5")),
        (r"\log_2 33", None),
        ("x", None),
        ("1/0", None),
        ("2^{10^9}", None),
    ] {
        let found = rational(&parse(text), &mut budget()).map(|value| value.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }
    assert_eq!(approximate(&parse("i"), &mut budget()), None);
    assert_eq!(approximate(&parse("x"), &mut budget()), None);
    assert_eq!(approximate(&parse("1/0"), &mut budget()), None);
    let pi = approximate(&parse(r"\pi"), &mut budget()).unwrap();
    assert!((pi - std::f64::consts::PI).abs() < 1e-15);
}

#[test]
fn hostile_expressions_end() {
    for (a, b) in [
        ("5^{5^{5^{5^5}}}", "5^{5^{5^{5^5}}}+1"),
        ("9^{9^{9^9}}", "9^{9^{9^8}}"),
        ("10^{-10^{10}}", "0"),
        ("10000000!", "10000001!"),
        (r"\binom{10000000}{5000000}", "1"),
        (r"7^{7^{7^7}} \bmod 10", "3"),
        ("2^{10^9}", "2^{10^9}+1"),
        ("x^{10^9}", "x^{10^9+1}"),
        ("(x+1)^{100000}", "x"),
        ("e^{e^{e^{e^{e^x}}}}", "x"),
        (r"\sin(10^{10^{10}})", "1"),
        (r"\gcd(10^{30000},10^{30000}+1)", "2"),
    ] {
        let found = verdict(a, b);
        assert!(
            !matches!(found.0, Identity::Equal | Identity::NumericallyEqual),
            "{a} {b} {found:?}"
        );
    }
}

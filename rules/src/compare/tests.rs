//! Pairs with the verdict they must get, built by hand.

use super::{Comparison, Options, compare};
use crate::Config;
use crate::algebra::{Expr, Rational};
use crate::answer::{Answer, Quantity, Unit};

fn options() -> Options {
    Options::from(&Config::default())
}

fn decimal(text: &str) -> Answer {
    let (digits, places) = match text.split_once('.') {
        Some((whole, rest)) => (format!("{whole}{rest}"), Some(rest.len())),
        None => (text.to_owned(), None),
    };
    let scale = dashu_int::UBig::from(10_u8).pow(places.unwrap_or(0));
    Answer::Quantity(Quantity {
        value: Expr::Number(Rational::from_parts(digits.parse().unwrap(), scale)),
        percent: false,
        unit: None,
        currency: None,
        places: places.map(|places| i64::try_from(places).unwrap()),
        base: None,
        approximate: false,
    })
}

fn fraction(above: i64, below: u32) -> Answer {
    super::terms::answer(Expr::Number(Rational::from_parts(
        above.into(),
        below.into(),
    )))
}

fn both_ways(gold: &Answer, pred: &Answer) -> Comparison {
    let there = compare(gold, pred, &options());
    let back = compare(pred, gold, &options());
    assert_eq!(there.equal, back.equal, "{gold:?} and {pred:?}");
    there
}

#[test]
fn a_decimal_stands_for_a_number_it_rounds_to_six_places() {
    let table = [
        ((1, 3), "0.333333", true),
        ((1, 3), "0.333334", false),
        ((1, 3), "0.33333", false),
        ((1, 3), "0.3333333", true),
        ((1, 6), "0.166667", true),
        ((2, 3), "0.666667", true),
        ((2, 3), "0.666666", false),
        ((2, 3), "0.6666666666", true),
        ((2, 3), "0.6666666666666666", true),
        ((-2, 3), "-0.666667", true),
        ((-2, 3), "0.666667", false),
        ((1, 7_000_000), "0.0000001", false),
        ((1, 1), "0.9999999", false),
        ((1, 1), "1.000000", true),
    ];
    for ((above, below), text, equal) in table {
        let verdict = both_ways(&fraction(above, below), &decimal(text));
        assert_eq!(verdict.equal, Some(equal), "{above}/{below} and {text}");
    }
}

#[test]
fn two_decimals_are_equal_exactly_or_as_roundings() {
    let table = [
        ("0.5", "0.50", true),
        ("1.20", "1.2", true),
        ("0.33", "0.333333", false),
        ("0.333333", "0.3333333333", true),
        ("0.333333", "0.333334", false),
        ("0.3", "0.30000000000000004", true),
        ("0.0000001", "0.0000002", false),
    ];
    for (a, b, equal) in table {
        let verdict = both_ways(&decimal(a), &decimal(b));
        assert_eq!(verdict.equal, Some(equal), "{a} and {b}");
    }
}

#[test]
fn fewer_places_are_asked_for_on_request() {
    let options = Options {
        float_rounding: 2,
        ..options()
    };
    let verdict = compare(&fraction(1, 3), &decimal("0.33"), &options);
    assert_eq!((verdict.equal, verdict.method), (Some(true), "rounding"));
    let verdict = compare(&fraction(1, 3), &decimal("0.34"), &options);
    assert_eq!(verdict.equal, Some(false));
}

fn with(answer: &Answer, change: impl FnOnce(&mut Quantity)) -> Answer {
    let Answer::Quantity(mut quantity) = answer.clone() else {
        panic!("a quantity");
    };
    change(&mut quantity);
    Answer::Quantity(quantity)
}

fn unit(name: &str, dimension: usize, size: (i64, u32)) -> Unit {
    let mut dimensions = [0; 9];
    dimensions[dimension] = 1;
    Unit {
        name: name.into(),
        dimension: Some(dimensions),
        size: Rational::from_parts(size.0.into(), size.1.into()),
        offset: Rational::ZERO,
    }
}

#[test]
fn percent_signs_and_units_count() {
    let percent = |text: &str| with(&decimal(text), |quantity| quantity.percent = true);
    let metres = |text: &str| {
        with(&decimal(text), |quantity| {
            quantity.unit = Some(unit("m", 0, (1, 1)));
        })
    };
    let centimetres = |text: &str| {
        with(&decimal(text), |quantity| {
            quantity.unit = Some(unit("cm", 0, (1, 100)));
        })
    };
    let kilograms = |text: &str| {
        with(&decimal(text), |quantity| {
            quantity.unit = Some(unit("kg", 1, (1, 1)));
        })
    };
    let dollars = |text: &str| {
        with(&decimal(text), |quantity| {
            quantity.currency = Some("USD".into());
        })
    };
    let table = [
        (percent("28"), decimal("0.28"), true),
        (percent("28"), decimal("28"), false),
        (percent("28"), percent("28.0"), true),
        (percent("33.3333"), fraction(1, 3), true),
        (metres("5"), centimetres("500"), true),
        (metres("5"), centimetres("5"), false),
        (metres("5"), kilograms("5"), false),
        (metres("5"), decimal("5"), true),
        (metres("5"), decimal("6"), false),
        (dollars("5"), decimal("5.00"), true),
        (dollars("5"), kilograms("5"), false),
        (dollars("5"), percent("5"), false),
    ];
    for (a, b, equal) in table {
        assert_eq!(both_ways(&a, &b).equal, Some(equal), "{a:?} and {b:?}");
    }
}

#[test]
fn collections_know_what_order_means() {
    let list = |values: &[i64]| Answer::List(values.iter().map(|&n| fraction(n, 1)).collect());
    let set = |values: &[i64]| Answer::Set(values.iter().map(|&n| fraction(n, 1)).collect());
    let tuple = |values: &[i64]| Answer::Tuple(values.iter().map(|&n| fraction(n, 1)).collect());
    let table = [
        (list(&[1, 2, 3]), list(&[3, 1, 2]), true),
        (list(&[1, 1, 2]), list(&[1, 2, 2]), false),
        (set(&[1, 1, 2]), set(&[2, 1]), true),
        (set(&[1, 2]), set(&[1, 3]), false),
        (set(&[]), set(&[0]), false),
        (set(&[]), set(&[]), true),
        (list(&[1, 2]), set(&[2, 1]), true),
        (tuple(&[1, 2]), tuple(&[1, 2]), true),
        (tuple(&[1, 2]), tuple(&[2, 1]), false),
        (tuple(&[1, 2]), list(&[1, 2]), true),
        (tuple(&[1, 2]), list(&[2, 1]), false),
        (tuple(&[1, 2]), set(&[1, 2]), false),
        (set(&[5]), fraction(5, 1), true),
        (list(&[-5, 5]), fraction(5, 1), false),
    ];
    for (a, b, equal) in table {
        assert_eq!(both_ways(&a, &b).equal, Some(equal), "{a:?} and {b:?}");
    }
}

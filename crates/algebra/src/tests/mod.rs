//! Tests of the crate on expressions built by hand; what the parser makes of texts is compared in `juror-rules`.

use super::*;

mod properties;

#[test]
fn long_numbers_are_compared_by_their_digits() {
    let long = |negative, digits: String, exponent| {
        Expr::LongNumber(LongNumber {
            negative,
            digits: digits.into(),
            exponent,
        })
    };
    let ones = || "1".repeat(100_000);
    let one = long(false, ones(), 0);
    let decide = |a: &Expr, b: &Expr| identical(a, b, &mut Budget::default()).0;
    assert_eq!(decide(&one, &one), Identity::Equal);
    assert_eq!(decide(&one, &long(true, ones(), 0)), Identity::Different);
    assert_eq!(decide(&one, &long(false, ones(), 1)), Identity::Different);
    let twice = Expr::Multiply(vec![Expr::integer(2), one.clone()]);
    assert_eq!(
        decide(&twice, &long(false, "2".repeat(100_000), 0)),
        Identity::Equal
    );
    assert_eq!(decide(&one, &Expr::integer(7)), Identity::Different);
    let power = Expr::power(Expr::integer(10), Expr::integer(3_000));
    assert_eq!(
        decide(&power, &long(false, "1".into(), 3_000)),
        Identity::Equal
    );
    let far = long(false, "1".into(), i64::MAX);
    assert_eq!(decide(&far, &far.clone().negated()), Identity::Different);
    let budget = &mut Budget::default();
    assert_eq!(
        order(&one, &Expr::integer(7), budget),
        Some(std::cmp::Ordering::Greater)
    );
    let million = long(false, "7".repeat(1_000_000), -5);
    let start = std::time::Instant::now();
    assert_eq!(
        decide(&million, &million.clone().minus(Expr::integer(1))),
        Identity::Different
    );
    assert!(start.elapsed().as_secs() < 2);
}

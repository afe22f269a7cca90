//! Numbers as they are written.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::expr::Term;
use juror_algebra::Expr;

/// Python reads and prints integers of no more digits than this.
const MAX_DIGITS: usize = 4_300;
/// Powers of ten beyond this are not made.
const MAX_EXPONENT: i64 = 4_300;

/// An integer without a point, else a decimal; scientific notation is a decimal. `None` where it is no number or longer than Python reads.
pub(super) fn parse(text: &str) -> Option<Expr> {
    let text = text.trim();
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let (mantissa, exponent) = match body.split_once(['E', 'e']) {
        Some((mantissa, exponent)) => {
            let exponent = exponent
                .strip_prefix(['+', '∔', '⊕', '⊞'])
                .unwrap_or(exponent);
            (mantissa, Some(exponent.parse::<i64>().ok()?))
        }
        None => (body, None),
    };
    let (whole, decimals) = match mantissa.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (mantissa, None),
    };
    let places = decimals.map_or(0, str::len);
    if whole.len() + places == 0 || whole.len() + places > MAX_DIGITS {
        return None;
    }
    let mut digits = String::with_capacity(whole.len() + places);
    digits.push_str(whole);
    digits.push_str(decimals.unwrap_or(""));
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value = if digits.len() <= 18 {
        IBig::from(digits.parse::<i64>().ok()?)
    } else {
        IBig::from(UBig::from_str_radix(&digits, 10).ok()?)
    };
    if negative {
        value = -value;
    }
    if decimals.is_none() && exponent.is_none() {
        return Some(Expr::Number(RBig::from(value)));
    }
    let power = exponent
        .unwrap_or(0)
        .checked_sub(i64::try_from(places).ok()?)?;
    if power.abs() > MAX_EXPONENT {
        return None;
    }
    let ten = UBig::from(10_u8).pow(power.unsigned_abs() as usize);
    Some(Expr::decimal(if power >= 0 {
        RBig::from(value * IBig::from(ten))
    } else {
        RBig::from_parts(value, ten)
    }))
}

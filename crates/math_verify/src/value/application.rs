//! Functions applied to terms; the ones that `SymPy` works out at once.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::expr::Term;
use juror_algebra::{self as algebra, Budget, Constant, Expr, Function, work};

/// Binomials are worked out up to this size.
const MAX_WORKED_OUT: i64 = 300;

/// e to a power; the simplest ones are worked out at once.
pub(super) fn exponential(power: Expr) -> Expr {
    match &power {
        Expr::Number(value) if value.is_zero() => Expr::integer(1),
        Expr::Number(value) if *value == RBig::from(1) => Expr::Constant(Constant::E),
        Expr::Constant(Constant::Infinity) => Expr::Constant(Constant::Infinity),
        Expr::Constant(Constant::NegativeInfinity) => Expr::integer(0),
        _ => Expr::power(Expr::Constant(Constant::E), power),
    }
}

/// n over k, worked out where both are integers.
pub(super) fn binomial(upper: Expr, lower: Expr) -> Option<Expr> {
    if let Some(k) = lower.as_integer() {
        if k.is_zero() {
            return Some(Expr::integer(1));
        }
        if *k == IBig::from(1) {
            return Some(upper);
        }
        if let Some(n) = upper.as_rational() {
            if *k < IBig::ZERO {
                return Some(Expr::integer(0));
            }
            let integral = n.is_int();
            let top = n.numerator().clone();
            let mut k = k.clone();
            if integral && top >= IBig::ZERO {
                if k > top {
                    return Some(Expr::integer(0));
                }
                let other = &top - &k;
                if other < k {
                    k = other;
                }
            }
            if k <= IBig::from(MAX_WORKED_OUT) {
                let count = i64::try_from(&k).ok()?;
                let mut value = RBig::from(1);
                for step in 0..count {
                    if !work::afford(40 + 2 * work::operation(&value, n)) {
                        return None;
                    }
                    value *= (n - RBig::from(step)) / RBig::from(step + 1);
                }
                return Some(Expr::Number(value));
            }
        }
    }
    Some(Expr::Call(Function::Binomial, vec![upper, lower]))
}

/// The greatest common divisor or the least common multiple of integers; of anything else the call, and nothing of nothing.
pub(super) fn common(function: Function, terms: Vec<Expr>) -> Option<Expr> {
    let integers = terms.iter().all(|it| it.as_integer().is_some());
    let call = (!terms.is_empty()).then(|| Expr::Call(function, terms))?;
    let exact = integers.then(|| algebra::rational(&call, &mut Budget::default()));
    Some(exact.flatten().map_or(call, Expr::Number))
}

pub(super) fn function(
    name: &str,
    argument: Expr,
    base: Option<Expr>,
    power: Option<Expr>,
) -> Option<Expr> {
    let name = name.strip_prefix('\\').unwrap_or(name);
    let call = |function| Expr::Call(function, vec![argument.clone()]);
    let mut power = power.filter(|power| *power != Expr::integer(0));
    if let Some((_, direct, inverse)) = CIRCULAR.iter().find(|(known, ..)| *known == name) {
        let is_inverse = power.take_if(|power| *power == Expr::integer(-1)).is_some();
        let term = call(if is_inverse { *inverse } else { *direct });
        return Some(raised(term, power));
    }
    let arc = name.strip_prefix("arc").or_else(|| name.strip_prefix("ar"));
    if let Some((.., inverse)) = CIRCULAR.iter().find(|(known, ..)| arc == Some(*known)) {
        return Some(raised(call(*inverse), power));
    }
    let logarithm = |argument, base| Expr::Call(Function::Logarithm, vec![argument, base]);
    let term = match name {
        "log" => logarithm(argument, base.unwrap_or_else(|| Expr::integer(10))),
        "ln" => logarithm(argument, base.unwrap_or(Expr::Constant(Constant::E))),
        "exp" | "exponentialE" => Expr::power(Expr::Constant(Constant::E), argument),
        "floor" => call(Function::Floor),
        "ceil" => call(Function::Ceiling),
        "gamma" | "Gamma" => gamma(argument),
        "det" => super::matrices::determinant(&argument)?,
        "trace" | "tr" => super::matrices::trace(&argument)?,
        _ => return None,
    };
    Some(raised(term, power))
}

fn raised(term: Expr, power: Option<Expr>) -> Expr {
    match power {
        Some(power) => Expr::power(term, power),
        None => term,
    }
}

/// Functions with inverses that begin with `arc` or `ar`.
#[rustfmt::skip]
const CIRCULAR: [(&str, Function, Function); 9] = [
    ("sin", Function::Sin, Function::Arcsin), ("cos", Function::Cos, Function::Arccos), ("tan", Function::Tan, Function::Arctan),
    ("cot", Function::Cot, Function::Arccot), ("sec", Function::Sec, Function::Arcsec), ("csc", Function::Csc, Function::Arccsc),
    ("sinh", Function::Sinh, Function::Arsinh), ("cosh", Function::Cosh, Function::Arcosh),
    ("tanh", Function::Tanh, Function::Artanh),
];

/// Γ, worked out for small positive integers.
fn gamma(argument: Expr) -> Expr {
    if let Some(number) = argument.as_integer()
        && *number >= IBig::from(1)
        && *number <= IBig::from(200)
        && let Ok(number) = i64::try_from(number)
    {
        let product = (1..number).fold(IBig::from(1), |product, factor| product * factor);
        return Expr::Number(RBig::from(product));
    }
    Expr::Call(Function::Gamma, vec![argument])
}

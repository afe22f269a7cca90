//! Functions applied to terms; the ones that `SymPy` works out at once.

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::algebra::work;
use crate::algebra::{Constant, Expr, Function};

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

/// The greatest common divisor or the least common multiple of numbers.
pub(super) fn common(terms: &[Expr], divisor: bool) -> Option<Expr> {
    use dashu_base::Gcd;
    let mut numbers = Vec::with_capacity(terms.len());
    for term in terms {
        let Some(number) = term.as_integer() else {
            let function = if divisor {
                Function::Gcd
            } else {
                Function::Lcm
            };
            return Some(Expr::Call(function, terms.to_vec()));
        };
        numbers.push(number.clone());
    }
    let mut numbers = numbers.into_iter();
    let mut total = numbers.next()?;
    for number in numbers {
        let zero = total.is_zero() && number.is_zero();
        if zero {
            continue;
        }
        let shared = IBig::from((&total).gcd(&number));
        total = if divisor {
            shared
        } else {
            total * number / shared
        };
    }
    if total < IBig::ZERO {
        total = -total;
    }
    Some(Expr::Number(RBig::from(total)))
}

/// A function by its command.
pub(super) fn function(
    name: &str,
    argument: Expr,
    base: Option<Expr>,
    power: Option<Expr>,
) -> Option<Expr> {
    let name = name.strip_prefix('\\').unwrap_or(name);
    let inverse = power.as_ref() == Some(&Expr::integer(-1));
    let mut power = power;
    let call = |function: Function, argument: Expr| Expr::Call(function, vec![argument]);
    let mut circular = |direct: Function, opposite: Function, argument: Expr| {
        if inverse {
            power = None;
            call(opposite, argument)
        } else {
            call(direct, argument)
        }
    };
    let term = match name {
        "sin" => circular(Function::Sin, Function::Arcsin, argument),
        "cos" => circular(Function::Cos, Function::Arccos, argument),
        "tan" => circular(Function::Tan, Function::Arctan, argument),
        "cot" => circular(Function::Cot, Function::Arccot, argument),
        "sec" => circular(Function::Sec, Function::Arcsec, argument),
        "csc" => circular(Function::Csc, Function::Arccsc, argument),
        "sinh" => circular(Function::Sinh, Function::Arsinh, argument),
        "cosh" => circular(Function::Cosh, Function::Arcosh, argument),
        "tanh" => circular(Function::Tanh, Function::Artanh, argument),
        "arcsin" => call(Function::Arcsin, argument),
        "arccos" => call(Function::Arccos, argument),
        "arctan" => call(Function::Arctan, argument),
        "arccot" => call(Function::Arccot, argument),
        "arcsec" => call(Function::Arcsec, argument),
        "arccsc" => call(Function::Arccsc, argument),
        "arsinh" | "arcsinh" => call(Function::Arsinh, argument),
        "arcosh" | "arccosh" => call(Function::Arcosh, argument),
        "artanh" | "arctanh" => call(Function::Artanh, argument),
        "log" | "ln" => {
            let base = base.unwrap_or_else(|| {
                if name == "ln" {
                    Expr::Constant(Constant::E)
                } else {
                    Expr::integer(10)
                }
            });
            Expr::Call(Function::Logarithm, vec![argument, base])
        }
        "exp" | "exponentialE" => Expr::power(Expr::Constant(Constant::E), argument),
        "floor" => call(Function::Floor, argument),
        "ceil" => call(Function::Ceiling, argument),
        "gamma" | "Gamma" => gamma(argument),
        "det" => super::matrices::determinant(&argument)?,
        "trace" | "tr" => super::matrices::trace(&argument)?,
        _ => return None,
    };
    Some(match power {
        Some(power) if power != Expr::integer(0) => Expr::power(term, power),
        _ => term,
    })
}

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

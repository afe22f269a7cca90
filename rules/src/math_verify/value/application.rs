//! Functions applied to terms; the ones that `SymPy` works out at once.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::term::Term;
use crate::algebra::work;
use crate::algebra::{Constant, Function};

/// Binomials are worked out up to this size.
const MAX_WORKED_OUT: i64 = 300;

/// e to a power; the simplest ones are worked out at once.
pub(super) fn exponential(power: Term) -> Term {
    match &power {
        Term::Number(value) if value.is_zero() => Term::integer(1),
        Term::Number(value) if *value == RBig::from(1) => Term::Constant(Constant::E),
        Term::Infinity => Term::Infinity,
        Term::NegativeInfinity => Term::integer(0),
        _ => Term::power(Term::Constant(Constant::E), power),
    }
}

/// n over k, worked out where both are integers.
pub(super) fn binomial(upper: Term, lower: Term) -> Option<Term> {
    if let Some(k) = lower.as_integer() {
        if k.is_zero() {
            return Some(Term::integer(1));
        }
        if *k == IBig::from(1) {
            return Some(upper);
        }
        if let Some(n) = upper.as_rational() {
            if *k < IBig::ZERO {
                return Some(Term::integer(0));
            }
            let integral = n.is_int();
            let top = n.numerator().clone();
            let mut k = k.clone();
            if integral && top >= IBig::ZERO {
                if k > top {
                    return Some(Term::integer(0));
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
                return Some(Term::Number(value));
            }
        }
    }
    Some(Term::Call(Function::Binomial, vec![upper, lower]))
}

/// The greatest common divisor or the least common multiple of numbers.
pub(super) fn common(terms: &[Term], divisor: bool) -> Option<Term> {
    use dashu_base::Gcd;
    let mut numbers = Vec::with_capacity(terms.len());
    for term in terms {
        let Some(number) = term.as_integer() else {
            let function = if divisor {
                Function::Gcd
            } else {
                Function::Lcm
            };
            return Some(Term::Call(function, terms.to_vec()));
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
    Some(Term::Number(RBig::from(total)))
}

/// A function by its command.
pub(super) fn function(
    name: &str,
    argument: Term,
    base: Option<Term>,
    power: Option<Term>,
) -> Option<Term> {
    let name = name.strip_prefix('\\').unwrap_or(name);
    let inverse = power.as_ref() == Some(&Term::integer(-1));
    let mut power = power;
    let call = |function: Function, argument: Term| Term::Call(function, vec![argument]);
    let mut circular = |direct: Function, opposite: Function, argument: Term| {
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
                    Term::Constant(Constant::E)
                } else {
                    Term::integer(10)
                }
            });
            Term::Call(Function::Logarithm, vec![argument, base])
        }
        "exp" | "exponentialE" => Term::power(Term::Constant(Constant::E), argument),
        "floor" => call(Function::Floor, argument),
        "ceil" => call(Function::Ceiling, argument),
        "gamma" | "Gamma" => gamma(argument),
        "det" => super::matrices::determinant(&argument)?,
        "trace" | "tr" => super::matrices::trace(&argument)?,
        _ => return None,
    };
    Some(match power {
        Some(power) if power != Term::integer(0) => Term::power(term, power),
        _ => term,
    })
}

/// Γ, worked out for small positive integers.
fn gamma(argument: Term) -> Term {
    if let Some(number) = argument.as_integer()
        && *number >= IBig::from(1)
        && *number <= IBig::from(200)
        && let Ok(number) = i64::try_from(number)
    {
        let product = (1..number).fold(IBig::from(1), |product, factor| product * factor);
        return Term::Number(RBig::from(product));
    }
    Term::Call(Function::Gamma, vec![argument])
}

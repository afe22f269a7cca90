//! Expressions as `SymPy` builds them before it evaluates anything. Sums and products keep the order and the nesting that the reading gave them.

use dashu_int::IBig;
use dashu_ratio::RBig;

use juror_algebra::work;
use juror_algebra::{Constant, Expr, Function};

/// The end of the name of a symbol that may be complex: the same letter without it is another symbol.
const COMPLEX: char = '\0';

/// The name of a symbol, real or not.
pub(super) fn symbol_name(name: &str, real: bool) -> Box<str> {
    if real {
        name.into()
    } else {
        format!("{name}{COMPLEX}").into()
    }
}

/// Is it the name of a symbol that may be complex?
pub(super) fn is_complex(name: &str) -> bool {
    name.ends_with(COMPLEX)
}

pub(super) fn spelling(name: &str) -> &str {
    name.trim_end_matches(COMPLEX)
}

/// What the emulation asks of expressions and makes of them.
pub(super) trait Term: Sized {
    /// A number with a point.
    fn decimal(value: RBig) -> Self;
    /// A rational number; a decimal if `is_decimal`.
    fn number(value: (RBig, bool)) -> Self;
    /// Kept apart from what stands around it.
    fn held(self) -> Self;
    /// a / b of integers.
    fn ratio(numerator: &RBig, denominator: &RBig) -> Self;
    /// The value of an exact number.
    fn as_rational(&self) -> Option<&RBig>;
    fn as_integer(&self) -> Option<&IBig>;
    /// Is it a number on its own: an integer, a fraction, a decimal, ±∞, or undefined?
    fn is_number_atom(&self) -> bool;
    /// +∞ or −∞?
    fn is_infinite(&self) -> bool;
    /// Is it a matrix, or made of one?
    fn is_matrix(&self) -> bool;
    /// a·b, with the factors of products side by side.
    fn times(self, other: Self) -> Self;
    /// a + b, with the terms of sums side by side.
    fn plus(self, other: Self) -> Self;
    /// −a: the number of opposite sign, else a product with −1.
    fn opposite(self) -> Self;
    /// a / b; of two integers a fraction.
    fn over(self, divisor: Self) -> Self;
    /// The number whose hundredth this is, if it is one.
    fn percentage(&self) -> Option<&Self>;
    fn percent(self) -> Self;
    /// Does it consist of symbols alone, by Math-Verify's notion? Any base counts below a bar of a fraction.
    fn is_of_symbols(&self) -> bool;
}

impl Term for Expr {
    fn decimal(value: RBig) -> Self {
        Self::Call(Function::Decimal, vec![Self::Number(value)])
    }

    fn number((value, is_decimal): (RBig, bool)) -> Self {
        if is_decimal {
            Self::decimal(value)
        } else {
            Self::Number(value)
        }
    }

    fn held(self) -> Self {
        Self::Call(Function::Held, vec![self])
    }

    fn ratio(numerator: &RBig, denominator: &RBig) -> Self {
        if !denominator.is_zero() {
            Self::Number(numerator / denominator)
        } else if numerator.is_zero() {
            Self::Constant(Constant::Undefined)
        } else {
            Self::Constant(Constant::ComplexInfinity)
        }
    }

    fn as_rational(&self) -> Option<&RBig> {
        match self {
            Self::Number(value) => Some(value),
            _ => None,
        }
    }

    fn as_integer(&self) -> Option<&IBig> {
        self.as_rational()
            .filter(|value| value.is_int())
            .map(RBig::numerator)
    }

    fn is_number_atom(&self) -> bool {
        use Constant as C;
        matches!(
            self,
            Self::Number(_)
                | Self::Call(Function::Decimal, _)
                | Self::Constant(C::Infinity | C::NegativeInfinity | C::Undefined)
        )
    }

    fn is_infinite(&self) -> bool {
        use Constant as C;
        matches!(self, Self::Constant(C::Infinity | C::NegativeInfinity))
    }

    fn is_matrix(&self) -> bool {
        match self {
            Self::Call(Function::Matrix, _) => true,
            Self::Add(items) | Self::Multiply(items) => items.iter().any(Self::is_matrix),
            Self::Power(power) => power.0.is_matrix(),
            _ => false,
        }
    }

    fn times(self, other: Self) -> Self {
        let mut factors = match self {
            Self::Multiply(factors) => factors,
            single => vec![single],
        };
        work::charge(moved(&other));
        match other {
            Self::Multiply(more) => factors.extend(more),
            single => factors.push(single),
        }
        Self::Multiply(factors)
    }

    fn plus(self, other: Self) -> Self {
        let mut terms = match self {
            Self::Add(terms) => terms,
            single => vec![single],
        };
        work::charge(moved(&other));
        match other {
            Self::Add(more) => terms.extend(more),
            single => terms.push(single),
        }
        Self::Add(terms)
    }

    fn opposite(self) -> Self {
        match self {
            Self::Number(value) => Self::Number(-value),
            Self::Call(Function::Decimal, inner) => Self::Call(
                Function::Decimal,
                inner.into_iter().map(Self::opposite).collect(),
            ),
            Self::Constant(Constant::Infinity) => Self::Constant(Constant::NegativeInfinity),
            Self::Constant(Constant::NegativeInfinity) => Self::Constant(Constant::Infinity),
            Self::Constant(Constant::Undefined) => self,
            other => Self::integer(-1).times(other),
        }
    }

    fn over(self, divisor: Self) -> Self {
        if self.as_integer().is_some()
            && divisor.as_integer().is_some()
            && let (Self::Number(numerator), Self::Number(denominator)) = (&self, &divisor)
        {
            return Self::ratio(numerator, denominator);
        }
        self.divided_by(divisor)
    }

    fn percentage(&self) -> Option<&Self> {
        match self {
            Self::Multiply(factors) => match factors.as_slice() {
                [number, Self::Call(Function::Held, held)] if *held == [hundredth()] => {
                    Some(number)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn percent(self) -> Self {
        Self::Multiply(vec![self, hundredth().held()])
    }

    fn is_of_symbols(&self) -> bool {
        match self {
            Self::Symbol(_) => true,
            Self::Power(power) => {
                let (base, exponent) = &**power;
                if *base == Self::Constant(Constant::E) {
                    return exponent.is_of_symbols();
                }
                *exponent == Self::integer(-1) && arguments_are_of_symbols(base)
                    || base.is_of_symbols() && exponent.is_of_symbols()
            }
            Self::Call(Function::Matrix, _) => false,
            Self::Add(items)
            | Self::Multiply(items)
            | Self::Call(_, items)
            | Self::Apply(_, items) => !items.is_empty() && items.iter().all(Self::is_of_symbols),
            _ => false,
        }
    }
}

/// Are all parts of it symbols? Something without parts has none that is not.
fn arguments_are_of_symbols(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Call(Function::Decimal, _) | Expr::Constant(_) => true,
        other => other.is_of_symbols(),
    }
}

fn hundredth() -> Expr {
    Expr::Number(RBig::from_parts(IBig::ONE, 100_u8.into()))
}

/// What it costs to put the items of `other` after those of another sum or product.
fn moved(other: &Expr) -> u64 {
    match other {
        Expr::Add(more) | Expr::Multiply(more) => more.len() as u64,
        _ => 1,
    }
}

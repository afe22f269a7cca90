//! Evaluation of expressions to enclosures.

use std::cmp::Ordering;

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::gamma::euler_gamma;
use super::real::Real;
use super::value::{Arithmetic, Value};
use crate::algebra::budget::{Budget, Failure, Outcome};
use crate::algebra::expr::{Constant, Expr, Rational};
use crate::algebra::rational;
use crate::algebra::rational::{half, has_even_denominator, is_odd};
use crate::algebra::work;

/// Where an expression is evaluated, and how.
pub(crate) struct Evaluation<'p, 'b> {
    /// The values of the variables.
    pub(crate) point: &'p [(&'p str, PointValue)],
    pub(crate) arithmetic: Arithmetic,
    /// Is a value that is not real none at all?
    pub(crate) real_only: bool,
    /// Is a root of a negative number the principal one? ∛−8 is 1 + i√3 then, and not −2.
    pub(crate) principal: bool,
    pub(crate) budget: &'b mut Budget,
}

/// The value of a variable: a rational number, or a complex one with rational parts.
#[derive(Debug, Clone)]
pub(crate) struct PointValue {
    pub(crate) real: Rational,
    pub(crate) imaginary: Rational,
}

impl Evaluation<'_, '_> {
    pub(crate) fn value<R: Real>(&mut self, expr: &Expr) -> Outcome<Value<R>> {
        let arithmetic = self.arithmetic;
        self.budget.spend(R::cost(arithmetic.bits))?;
        match expr {
            Expr::Number(value) => {
                self.budget.spend_units(2 * work::copy(value))?;
                Ok(if rational::bits(value) > 1 << 10 {
                    Value::Real(R::rational(value, arithmetic.bits))
                } else {
                    Value::Exact(value.clone())
                })
            }
            Expr::LongNumber {
                negative,
                digits,
                exponent,
            } => self.long_number(*negative, digits, *exponent),
            Expr::Constant(constant) => self.constant(*constant),
            Expr::Symbol(name) => self.symbol(name),
            Expr::Add(parts) => {
                let mut sum = Value::Exact(Rational::ZERO);
                for part in parts {
                    let value = self.value(part)?;
                    sum = arithmetic.add(&sum, &value);
                }
                Ok(sum)
            }
            Expr::Multiply(parts) => self.product(parts),
            Expr::Power(pair) => {
                if matches!(pair.0, Expr::Constant(Constant::E)) {
                    let exponent = self.value(&pair.1)?;
                    return self.exponential(&exponent);
                }
                let base = self.value(&pair.0)?;
                let exponent = self.value(&pair.1)?;
                self.power(&base, &exponent)
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Apply(name, arguments) => self.applied(name, arguments),
            Expr::Binder(_) => Err(Failure::Unknown),
        }
    }

    fn product<R: Real>(&mut self, parts: &[Expr]) -> Outcome<Value<R>> {
        let arithmetic = self.arithmetic;
        let mut product = Value::Exact(Rational::ONE);
        for part in parts {
            // A division is done as one: its enclosure is narrower, and a zero divisor is seen.
            if let Expr::Power(pair) = part
                && matches!(&pair.1, Expr::Number(exponent) if *exponent == Rational::from(-1))
            {
                let divisor = self.value(&pair.0)?;
                product = arithmetic.divide(&product, &divisor)?;
            } else {
                let value = self.value(part)?;
                product = arithmetic.multiply(&product, &value);
            }
        }
        Ok(product)
    }

    fn constant<R: Real>(&mut self, constant: Constant) -> Outcome<Value<R>> {
        let bits = self.arithmetic.bits;
        let rational = |value: i64| R::rational(&Rational::from(value), bits);
        match constant {
            Constant::Pi => Ok(Value::Real(R::pi(bits))),
            Constant::E => self.exponential(&Value::Exact(Rational::ONE)),
            Constant::ImaginaryUnit => self.complex(rational(0), rational(1)),
            Constant::Infinity
            | Constant::NegativeInfinity
            | Constant::ComplexInfinity
            | Constant::Undefined => Err(Failure::Undefined),
            Constant::EulerGamma => Ok(Value::Real(euler_gamma(bits))),
            Constant::Degree => {
                let degree = R::pi(bits).divide(&rational(180)).ok_or(Failure::Unknown)?;
                Ok(Value::Real(degree))
            }
        }
    }

    /// A complex value, where such are wanted.
    pub(super) fn complex<R: Real>(&self, real: R, imaginary: R) -> Outcome<Value<R>> {
        if self.real_only {
            Err(Failure::Undefined)
        } else {
            Ok(Value::Complex(real, imaginary))
        }
    }

    fn symbol<R: Real>(&self, name: &str) -> Outcome<Value<R>> {
        let (_, value) = self
            .point
            .iter()
            .find(|(variable, _)| *variable == name)
            .ok_or(Failure::Unknown)?;
        let bits = self.arithmetic.bits;
        if value.imaginary.is_zero() {
            return Ok(if self.principal && !value.real.is_int() {
                Value::Real(R::rational(&value.real, bits))
            } else {
                Value::Exact(value.real.clone())
            });
        }
        Ok(Value::Complex(
            R::rational(&value.real, bits),
            R::rational(&value.imaginary, bits),
        ))
    }

    /// The leading digits are enough.
    fn long_number<R: Real>(
        &mut self,
        negative: bool,
        digits: &str,
        exponent: i64,
    ) -> Outcome<Value<R>> {
        let bits = self.arithmetic.bits;
        let keep = (bits as usize / 3 + 20).min(digits.len());
        let head = digits.get(..keep).ok_or(Failure::Unknown)?;
        let head = UBig::from_str_radix(head, 10).map_err(|_| Failure::Unknown)?;
        let low = R::rational(&Rational::from(head.clone()), bits);
        let mantissa = if keep < digits.len() {
            low.hull(&R::rational(&Rational::from(head + UBig::ONE), bits))
        } else {
            low
        };
        let dropped = i64::try_from(digits.len() - keep).map_err(|_| Failure::Unknown)?;
        let scale = exponent.checked_add(dropped).ok_or(Failure::Unknown)?;
        let ten = Value::Exact(Rational::from(10));
        let scale = self.power(&ten, &Value::Exact(Rational::from(scale)))?;
        let value = self.arithmetic.multiply(&Value::Real(mantissa), &scale);
        Ok(if negative { value.negated() } else { value })
    }

    /// e^z.
    pub(super) fn exponential<R: Real>(&mut self, exponent: &Value<R>) -> Outcome<Value<R>> {
        self.budget.spend(R::function_cost(self.arithmetic.bits))?;
        match exponent {
            Value::Exact(zero) if zero.is_zero() => Ok(Value::Exact(Rational::ONE)),
            Value::Complex(real, imaginary) => {
                let size = real.exp().ok_or(Failure::Unknown)?;
                let (sin, cos) = imaginary.sin_cos().ok_or(Failure::Unknown)?;
                self.complex(size.multiply(&cos), size.multiply(&sin))
            }
            _ => {
                let (real, _) = self.arithmetic.parts(exponent);
                Ok(Value::Real(real.exp().ok_or(Failure::Unknown)?))
            }
        }
    }

    /// ln z, principal.
    pub(super) fn logarithm<R: Real>(&mut self, argument: &Value<R>) -> Outcome<Value<R>> {
        self.budget.spend(R::function_cost(self.arithmetic.bits))?;
        if let Value::Complex(real, imaginary) = argument {
            let norm = real.multiply(real).add(&imaginary.multiply(imaginary));
            let half = R::rational(&half(), self.arithmetic.bits);
            let size = norm.ln().ok_or(Failure::Unknown)?.multiply(&half);
            let angle = self.angle(real, imaginary)?;
            return self.complex(size, angle);
        }
        if let Value::Exact(value) = argument
            && value.is_one()
        {
            return Ok(Value::Exact(Rational::ZERO));
        }
        let sign = argument.sign()?;
        let (real, _) = self.arithmetic.parts(argument);
        match sign {
            Ordering::Equal => Err(Failure::Undefined),
            Ordering::Greater => real.ln().map(Value::Real).ok_or(Failure::Unknown),
            Ordering::Less => {
                if self.real_only {
                    return Err(Failure::Undefined);
                }
                let size = real.negate().ln().ok_or(Failure::Unknown)?;
                self.complex(size, R::pi(self.arithmetic.bits))
            }
        }
    }

    /// The argument of a complex number, in (−π, π].
    pub(super) fn angle<R: Real>(&mut self, real: &R, imaginary: &R) -> Outcome<R> {
        let bits = self.arithmetic.bits;
        self.budget.spend(R::function_cost(bits))?;
        let half = R::rational(&half(), bits);
        let pi = R::pi(bits);
        if real.sign() == Some(Ordering::Greater) {
            let slope = imaginary.divide(real).ok_or(Failure::Unknown)?;
            return slope.arctan().ok_or(Failure::Unknown);
        }
        let slope = match imaginary.sign() {
            Some(_) => real.divide(imaginary).ok_or(Failure::Unknown)?,
            None => return Err(Failure::Unknown),
        };
        let angle = slope.arctan().ok_or(Failure::Unknown)?.negate();
        let quarter = pi.multiply(&half);
        Ok(if imaginary.sign() == Some(Ordering::Greater) {
            quarter.add(&angle)
        } else {
            quarter.negate().add(&angle)
        })
    }

    pub(super) fn power<R: Real>(
        &mut self,
        base: &Value<R>,
        exponent: &Value<R>,
    ) -> Outcome<Value<R>> {
        let Value::Exact(rational) = exponent else {
            return self.general_power(base, exponent);
        };
        if rational.is_int() {
            return self.integer_power(base, rational.numerator());
        }
        if let Value::Exact(base) = base
            && !(self.principal && base.sign() == Sign::Negative)
            && let Ok(exact) = rational::power(base, rational, self.budget)
        {
            return Ok(Value::Exact(exact));
        }
        if matches!(base, Value::Complex(..)) {
            return self.general_power(base, exponent);
        }
        match base.sign()? {
            Ordering::Equal => {
                if rational.sign() == Sign::Positive {
                    Ok(Value::Exact(Rational::ZERO))
                } else {
                    Err(Failure::Undefined)
                }
            }
            Ordering::Greater => self.positive_power(base, rational),
            Ordering::Less => {
                let opposite = base.negated();
                let odd_root = !self.principal && !has_even_denominator(rational);
                if !odd_root && self.real_only {
                    return Err(Failure::Undefined);
                }
                let size = self.positive_power(&opposite, rational)?;
                if odd_root {
                    let odd = is_odd(rational.numerator());
                    return Ok(if odd { size.negated() } else { size });
                }
                let (size, _) = self.arithmetic.parts(&size);
                let (sin, cos) = self.turned(rational)?;
                self.complex(size.multiply(&cos), size.multiply(&sin))
            }
        }
    }

    /// sin and cos of π·turns, with the zeros exact.
    fn turned<R: Real>(&mut self, turns: &Rational) -> Outcome<(R, R)> {
        let bits = self.arithmetic.bits;
        let number = |value: i64| R::rational(&Rational::from(value), bits);
        if *turns.denominator() == UBig::from(2u8) {
            let quarter = rational::floor(turns);
            let sign = if is_odd(&quarter) { -1 } else { 1 };
            return Ok((number(sign), number(0)));
        }
        let angle = R::pi(bits).multiply(&R::rational(turns, bits));
        angle.sin_cos().ok_or(Failure::Unknown)
    }

    fn positive_power<R: Real>(
        &mut self,
        base: &Value<R>,
        exponent: &Rational,
    ) -> Outcome<Value<R>> {
        let bits = self.arithmetic.bits;
        let (base, _) = self.arithmetic.parts(base);
        if *exponent.denominator() == UBig::from(2u8) {
            let root = base.sqrt().ok_or(Failure::Unknown)?;
            return self.integer_power(&Value::Real(root), exponent.numerator());
        }
        self.budget.spend(2 * R::function_cost(bits))?;
        let logarithm = base.ln().ok_or(Failure::Unknown)?;
        let product = logarithm.multiply(&R::rational(exponent, bits));
        product.exp().map(Value::Real).ok_or(Failure::Unknown)
    }

    fn integer_power<R: Real>(&mut self, base: &Value<R>, exponent: &IBig) -> Outcome<Value<R>> {
        let negative = exponent.sign() == Sign::Negative;
        if let Value::Exact(base) = base {
            if base.is_zero() && (negative || exponent.is_zero()) {
                return Err(Failure::Undefined);
            }
            let times = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
            if rational::bits(base).saturating_mul(times as usize) <= 256
                || base.is_zero()
                || rational::bits(base) == 1
            {
                return rational::power(base, &Rational::from(exponent.clone()), self.budget)
                    .map(Value::Exact);
            }
        } else if exponent.is_zero() {
            // x^0 = 1 but for x = 0.
            return if base.is_nonzero() {
                Ok(Value::Exact(Rational::ONE))
            } else {
                Err(Failure::Unknown)
            };
        }
        let magnitude = exponent.unsigned_abs();
        let power = match u32::try_from(&magnitude) {
            Ok(times) if times <= 4096 => self.repeated(base, times)?,
            _ => self.large_power(base, &magnitude)?,
        };
        if negative {
            self.arithmetic.divide(&Value::Exact(Rational::ONE), &power)
        } else {
            Ok(power)
        }
    }

    fn repeated<R: Real>(&mut self, base: &Value<R>, mut times: u32) -> Outcome<Value<R>> {
        let arithmetic = self.arithmetic;
        let (real, imaginary) = arithmetic.parts(base);
        let mut square = if matches!(base, Value::Complex(..)) {
            Value::Complex(real, imaginary)
        } else {
            Value::Real(real)
        };
        let mut result = Value::Exact(Rational::ONE);
        while times > 0 {
            self.budget.spend(R::cost(arithmetic.bits) * 2)?;
            if times & 1 == 1 {
                result = arithmetic.multiply(&result, &square);
            }
            times >>= 1;
            if times > 0 {
                square = arithmetic.multiply(&square, &square);
            }
        }
        Ok(result)
    }

    /// By the logarithm.
    fn large_power<R: Real>(&mut self, base: &Value<R>, times: &UBig) -> Outcome<Value<R>> {
        let exponent = Value::Exact(Rational::from(times.clone()));
        if matches!(base, Value::Complex(..)) {
            return self.general_power(base, &exponent);
        }
        let sign = base.sign()?;
        let (base, _) = self.arithmetic.parts(base);
        let size = base.absolute();
        self.budget
            .spend(2 * R::function_cost(self.arithmetic.bits))?;
        let logarithm = size.ln().ok_or(Failure::Unknown)?;
        let (times_real, _) = self.arithmetic.parts(&exponent);
        let power = logarithm
            .multiply(&times_real)
            .exp()
            .ok_or(Failure::Unknown)?;
        let odd = times.as_words().first().is_some_and(|word| word & 1 == 1);
        Ok(Value::Real(if sign == Ordering::Less && odd {
            power.negate()
        } else {
            power
        }))
    }

    /// e^{exponent·ln base}.
    fn general_power<R: Real>(
        &mut self,
        base: &Value<R>,
        exponent: &Value<R>,
    ) -> Outcome<Value<R>> {
        if let Value::Exact(zero) = base
            && zero.is_zero()
        {
            return match exponent.sign()? {
                Ordering::Greater => Ok(Value::Exact(Rational::ZERO)),
                _ => Err(Failure::Undefined),
            };
        }
        let logarithm = self.logarithm(base)?;
        let product = self.arithmetic.multiply(&logarithm, exponent);
        self.exponential(&product)
    }
}

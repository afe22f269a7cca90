//! Values of expressions: exact as long as they are rational, then enclosures, real or complex.

use std::cmp::Ordering;

use super::real::Real;
use crate::budget::{Failure, Outcome};
use crate::expr::Rational;
use crate::rational;
use crate::work;

/// A value, or why there is none.
pub(crate) type Enclosed<R> = Outcome<Value<R>>;

#[derive(Debug, Clone)]
pub(crate) enum Value<R> {
    /// Known exactly.
    Exact(Rational),
    Real(R),
    /// A complex number, real part and imaginary part.
    Complex(R, R),
}

/// Rational values are exact up to this many bits.
const EXACT_BITS: usize = 256;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Arithmetic {
    pub(crate) bits: u32,
}

impl Arithmetic {
    /// An enclosure of a real value; `None` of a complex one.
    pub(super) fn enclosure<R: Real>(self, value: &Value<R>) -> Option<R> {
        match value {
            Value::Exact(value) => Some(R::rational(value, self.bits)),
            Value::Real(real) => Some(real.clone()),
            Value::Complex(..) => None,
        }
    }

    pub(super) fn parts<R: Real>(self, value: &Value<R>) -> (R, R) {
        let zero = || R::rational(&Rational::ZERO, self.bits);
        match value {
            Value::Exact(value) => (R::rational(value, self.bits), zero()),
            Value::Real(real) => (real.clone(), zero()),
            Value::Complex(real, imaginary) => (real.clone(), imaginary.clone()),
        }
    }

    fn exact<R: Real>(self, value: Rational) -> Value<R> {
        if rational::bits(&value) <= EXACT_BITS {
            Value::Exact(value)
        } else {
            Value::Real(R::rational(&value, self.bits))
        }
    }

    pub(crate) fn add<R: Real>(self, a: &Value<R>, b: &Value<R>) -> Value<R> {
        match (a, b) {
            (Value::Exact(a), Value::Exact(b)) => {
                work::charge(work::addition(a, b));
                self.exact(a + b)
            }
            (Value::Complex(..), _) | (_, Value::Complex(..)) => {
                let ((ar, ai), (br, bi)) = (self.parts(a), self.parts(b));
                Value::Complex(ar.add(&br), ai.add(&bi))
            }
            _ => {
                let ((a, _), (b, _)) = (self.parts(a), self.parts(b));
                Value::Real(a.add(&b))
            }
        }
    }

    pub(super) fn subtract<R: Real>(self, a: &Value<R>, b: &Value<R>) -> Value<R> {
        self.add(a, &b.negated())
    }

    pub(super) fn multiply<R: Real>(self, a: &Value<R>, b: &Value<R>) -> Value<R> {
        match (a, b) {
            (Value::Exact(a), Value::Exact(b)) => {
                work::charge(work::operation(a, b));
                self.exact(a * b)
            }
            (Value::Exact(zero), _) | (_, Value::Exact(zero)) if zero.is_zero() => {
                Value::Exact(Rational::ZERO)
            }
            (Value::Complex(ar, ai), Value::Complex(br, bi)) => {
                // A number times itself or its conjugate gives real and imaginary parts as they come.
                let real = ar.multiply(br).add(&ai.multiply(bi).negate());
                let imaginary = ar.multiply(bi).add(&ai.multiply(br));
                Value::Complex(real, imaginary)
            }
            (Value::Complex(real, imaginary), other) | (other, Value::Complex(real, imaginary)) => {
                let (factor, _) = self.parts(other);
                Value::Complex(real.multiply(&factor), imaginary.multiply(&factor))
            }
            _ => {
                let ((a, _), (b, _)) = (self.parts(a), self.parts(b));
                Value::Real(a.multiply(&b))
            }
        }
    }

    pub(super) fn divide<R: Real>(self, a: &Value<R>, b: &Value<R>) -> Enclosed<R> {
        match (a, b) {
            (_, Value::Exact(zero)) if zero.is_zero() => Err(Failure::Undefined),
            (Value::Exact(a), Value::Exact(b)) => {
                work::charge(2 * work::operation(a, b));
                Ok(self.exact(a / b))
            }
            (Value::Exact(zero), _) if zero.is_zero() => {
                // 0/b is 0 only where b is not 0.
                if b.is_nonzero() {
                    Ok(a.clone())
                } else {
                    Err(Failure::Unknown)
                }
            }
            (_, Value::Complex(real, imaginary)) => {
                let norm = real.multiply(real).add(&imaginary.multiply(imaginary));
                let conjugate = Value::Complex(real.clone(), imaginary.negate());
                match self.multiply(a, &conjugate) {
                    Value::Complex(real, imaginary) => Ok(Value::Complex(
                        real.divide(&norm)?,
                        imaginary.divide(&norm)?,
                    )),
                    other => {
                        let (real, _) = self.parts(&other);
                        Ok(Value::Real(real.divide(&norm)?))
                    }
                }
            }
            (Value::Complex(real, imaginary), _) => {
                let (divisor, _) = self.parts(b);
                Ok(Value::Complex(
                    real.divide(&divisor)?,
                    imaginary.divide(&divisor)?,
                ))
            }
            _ => {
                let ((a, _), (b, _)) = (self.parts(a), self.parts(b));
                a.divide(&b).map(Value::Real)
            }
        }
    }
}

impl<R: Real> Value<R> {
    pub(crate) fn negated(&self) -> Self {
        match self {
            Self::Exact(value) => Self::Exact(-value.clone()),
            Self::Real(real) => Self::Real(real.negate()),
            Self::Complex(real, imaginary) => Self::Complex(real.negate(), imaginary.negate()),
        }
    }

    /// Is it certainly not 0?
    pub(crate) fn is_nonzero(&self) -> bool {
        match self {
            Self::Exact(value) => !value.is_zero(),
            Self::Real(real) => real.sign().is_some(),
            Self::Complex(real, imaginary) => real.sign().is_some() || imaginary.sign().is_some(),
        }
    }

    pub(crate) fn sign(&self) -> Outcome<Ordering> {
        match self {
            Self::Exact(value) => Ok(value.cmp(&Rational::ZERO)),
            Self::Real(real) => real.sign().ok_or(Failure::Unknown),
            Self::Complex(..) => Err(Failure::Unknown),
        }
    }
}

impl Arithmetic {
    /// Is a difference that may be 0 known to be below 2^−`bits` relative to `scale`?
    pub(crate) fn agrees<R: Real>(
        self,
        difference: &Value<R>,
        scale: &Value<R>,
        bits: u32,
    ) -> bool {
        let (scale, scale_imaginary) = self.parts(scale);
        match difference {
            Value::Exact(value) => value.is_zero(),
            Value::Real(real) => real.within(bits, &scale),
            Value::Complex(real, imaginary) => {
                let scale = if scale_imaginary.middle().abs() > scale.middle().abs() {
                    scale_imaginary
                } else {
                    scale
                };
                real.within(bits, &scale) && imaginary.within(bits, &scale)
            }
        }
    }
}

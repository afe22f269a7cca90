//! Terms at sample points: complex values in double precision with a bound of the error, on principal branches, as
//! `SymPy` evaluates them.

use std::cell::Cell;

use dashu_ratio::RBig;

use super::term::{Term, Value};
use crate::algebra::work;
use crate::algebra::{Constant, Function};

/// How many steps one value may take.
const MAX_WORK: u32 = 20_000;

/// A complex number with a bound of its error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub re: f64,
    pub im: f64,
    pub error: f64,
}

const EPSILON: f64 = 4.0e-16;

impl Sample {
    pub(super) fn new(re: f64, im: f64, error: f64) -> Self {
        Self { re, im, error }
    }

    /// A real number, right to double precision.
    pub(super) fn real(re: f64) -> Self {
        Self::new(re, 0.0, re.abs() * EPSILON)
    }

    pub(super) fn exactly(re: f64) -> Self {
        Self::new(re, 0.0, 0.0)
    }

    /// |z|.
    pub(super) fn size(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Is it a number?
    pub(super) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite() && self.error.is_finite()
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let (re, im) = (self.re + other.re, self.im + other.im);
        Self::new(re, im, self.error + other.error + EPSILON * re.hypot(im))
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self::new(-other.re, -other.im, other.error))
    }

    pub(super) fn times(self, other: Self) -> Self {
        let re = self.re * other.re - self.im * other.im;
        let im = self.re * other.im + self.im * other.re;
        let error = self.size() * other.error
            + other.size() * self.error
            + self.error * other.error
            + EPSILON * self.size() * other.size();
        Self::new(re, im, error)
    }

    fn inverse(self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        if square == 0.0 {
            return Self::new(f64::NAN, 0.0, f64::INFINITY);
        }
        let size = 1.0 / square.sqrt();
        Self::new(
            self.re / square,
            -self.im / square,
            size * size * self.error + EPSILON * size,
        )
    }

    pub(super) fn over(self, other: Self) -> Self {
        self.times(other.inverse())
    }

    /// The value of a function with this slope, whose result is right to double precision.
    fn of(self, re: f64, im: f64, slope: f64) -> Self {
        let error = if self.error == 0.0 {
            0.0
        } else {
            slope.abs() * self.error
        };
        Self::new(re, im, error + 4.0 * EPSILON * re.hypot(im))
    }

    fn exp(self) -> Self {
        let size = self.re.exp();
        let (sin, cos) = self.im.sin_cos();
        self.of(
            size * cos,
            if self.im == 0.0 { 0.0 } else { size * sin },
            size,
        )
    }

    fn ln(self) -> Self {
        let size = self.size();
        let angle = if self.im == 0.0 {
            if self.re < 0.0 {
                std::f64::consts::PI
            } else {
                0.0
            }
        } else {
            self.im.atan2(self.re)
        };
        let mut value = self.of(size.ln(), angle, 1.0 / size);
        value.error += EPSILON;
        value
    }

    fn sqrt(self) -> Self {
        if self.im == 0.0 {
            let root = self.re.abs().sqrt();
            let slope = if root == 0.0 { 0.0 } else { 0.5 / root };
            return if self.re >= 0.0 {
                self.of(root, 0.0, slope)
            } else {
                self.of(0.0, root, slope)
            };
        }
        self.ln().times(Self::exactly(0.5)).exp()
    }

    fn power(self, exponent: Self) -> Self {
        if exponent.im == 0.0
            && exponent.re.fract() == 0.0
            && exponent.re.abs() <= 64.0
            && exponent.error < 1e-12
        {
            let count = exponent.re.abs() as u32;
            let mut total = Self::exactly(1.0);
            let mut square = self;
            let mut left = count;
            while left > 0 {
                if left & 1 == 1 {
                    total = total.times(square);
                }
                square = square.times(square);
                left >>= 1;
            }
            return if exponent.re < 0.0 {
                total.inverse()
            } else {
                total
            };
        }
        if exponent.im == 0.0 && (exponent.re - 0.5).abs() < f64::EPSILON {
            return self.sqrt();
        }
        if self.re == 0.0 && self.im == 0.0 {
            return if exponent.re > 0.0 {
                Self::exactly(0.0)
            } else {
                Self::new(f64::NAN, 0.0, f64::INFINITY)
            };
        }
        if self.im == 0.0 && self.re > 0.0 && exponent.im == 0.0 {
            let value = self.re.powf(exponent.re);
            let relative =
                exponent.re.abs() * self.error / self.re + self.re.ln().abs() * exponent.error;
            return Self::new(value, 0.0, value * (relative + 4.0 * EPSILON));
        }
        self.ln().times(exponent).exp()
    }

    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.re.sin_cos();
        if self.im == 0.0 {
            let mut pair = (self.of(sin, 0.0, 1.0), self.of(cos, 0.0, 1.0));
            pair.0.error += EPSILON * self.re.abs().max(1.0) * 0.5;
            pair.1.error += EPSILON * self.re.abs().max(1.0) * 0.5;
            return pair;
        }
        let (high, low) = (self.im.cosh(), self.im.sinh());
        (
            self.of(sin * high, cos * low, high),
            self.of(cos * high, -sin * low, high),
        )
    }

    /// −i · ln(i·z + √(1 − z²)).
    fn arcsin(self) -> Self {
        if self.im == 0.0 && self.re.abs() <= 1.0 {
            let slope = 1.0 / (1.0 - self.re * self.re).sqrt().max(1e-8);
            return self.of(self.re.asin(), 0.0, slope);
        }
        let one = Self::exactly(1.0);
        let turned = Self::new(-self.im, self.re, self.error);
        let root = one.minus(self.times(self)).sqrt();
        let log = turned.plus(root).ln();
        Self::new(log.im, -log.re, log.error)
    }

    fn arctan(self) -> Self {
        if self.im == 0.0 {
            return self.of(self.re.atan(), 0.0, 1.0 / (1.0 + self.re * self.re));
        }
        let one = Self::exactly(1.0);
        let turned = Self::new(-self.im, self.re, self.error);
        let log = one.minus(turned).ln().minus(one.plus(turned).ln());
        Self::new(-log.im / 2.0, log.re / 2.0, log.error)
    }
}

/// An exact number in double precision.
fn rational(value: &RBig) -> Sample {
    let near = value.to_f64().value();
    if value.is_int() && near.abs() < 9.0e15 {
        Sample::exactly(near)
    } else {
        Sample::real(near)
    }
}

/// Which symbol has which value.
pub(super) type Point = [(Term, Sample)];

/// The value of a term at a point; `None` where it has none that this can find.
pub(super) fn at(term: &Term, point: &Point) -> Option<Sample> {
    let value = evaluated(term, point, &Cell::new(MAX_WORK))?;
    value.is_finite().then_some(value)
}

pub(super) fn evaluated(term: &Term, point: &Point, work: &Cell<u32>) -> Option<Sample> {
    work.set(work.get().checked_sub(1)?);
    if !work::afford(8) {
        return None;
    }
    Some(match term {
        Term::Number(value) | Term::Float(value) => {
            // A division of long integers.
            work::charge(6 * work::longest(value));
            rational(value)
        }
        Term::Constant(Constant::Pi) => Sample::real(std::f64::consts::PI),
        Term::Constant(Constant::E) => Sample::real(std::f64::consts::E),
        Term::Constant(Constant::EulerGamma) => Sample::real(0.577_215_664_901_532_9),
        Term::Constant(Constant::ImaginaryUnit) => Sample::new(0.0, 1.0, 0.0),
        Term::Symbol { .. } => point.iter().find(|(symbol, _)| symbol == term)?.1,
        Term::Add(items) => {
            let mut total = Sample::exactly(0.0);
            for item in items {
                total = total.plus(evaluated(item, point, work)?);
            }
            total
        }
        Term::Multiply(items) => {
            let mut total = Sample::exactly(1.0);
            for item in items {
                total = total.times(evaluated(item, point, work)?);
            }
            total
        }
        Term::Power(power) => {
            let base = evaluated(&power.0, point, work)?;
            let exponent = evaluated(&power.1, point, work)?;
            base.power(exponent)
        }
        Term::Call(function, items) => {
            if let [end @ (Term::Infinity | Term::NegativeInfinity)] = items.as_slice() {
                let limit = match function {
                    Function::Arctan => std::f64::consts::FRAC_PI_2,
                    Function::Tanh => 1.0,
                    _ => return None,
                };
                return Some(Sample::real(if *end == Term::Infinity {
                    limit
                } else {
                    -limit
                }));
            }
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                values.push(evaluated(item, point, work)?);
            }
            called(*function, &values)?
        }
        // A function without a meaning: any number that depends on its name and its arguments alone.
        Term::Apply(name, items) => {
            let mut hash = name.bytes().fold(0.61, |hash: f64, byte| {
                (hash * 31.0 + f64::from(byte)).fract() + 0.137
            });
            let mut error = 0.0;
            for item in items {
                let Value::Term(item) = item else {
                    return None;
                };
                let value = evaluated(item, point, work)?;
                hash += (value.re * 0.73 + hash).sin() + (value.im * 1.37 + hash).cos();
                error += value.error * 3.0;
            }
            Sample::new(hash, 0.0, error + 1e-15)
        }
        Term::Unevaluated(inner) => evaluated(inner, point, work)?,
        Term::Binder(binder) => return super::series::series(binder, point, work),
        _ => return None,
    })
}

fn called(function: Function, values: &[Sample]) -> Option<Sample> {
    let one = Sample::exactly(1.0);
    if let [base, other] = values {
        return Some(match function {
            Function::Logarithm => base.ln().over(other.ln()),
            Function::Modulo => {
                let whole = (base.re / other.re).floor();
                base.minus(Sample::exactly(whole).times(*other))
            }
            Function::Binomial => {
                let top = gamma(base.plus(one))?;
                let low = gamma(other.plus(one))?;
                let rest = gamma(base.minus(*other).plus(one))?;
                top.over(low.times(rest))
            }
            Function::Max | Function::Min => extreme(function, values)?,
            _ => return None,
        });
    }
    let [value] = values else {
        return extreme(function, values);
    };
    let value = *value;
    Some(match function {
        Function::Absolute => Sample::new(value.size(), 0.0, value.error),
        Function::Sin => value.sin_cos().0,
        Function::Cos => value.sin_cos().1,
        Function::Tan => {
            let (sin, cos) = value.sin_cos();
            sin.over(cos)
        }
        Function::Cot => {
            let (sin, cos) = value.sin_cos();
            cos.over(sin)
        }
        Function::Sec => value.sin_cos().1.inverse(),
        Function::Csc => value.sin_cos().0.inverse(),
        Function::Arcsin => value.arcsin(),
        Function::Arccos => Sample::real(std::f64::consts::FRAC_PI_2).minus(value.arcsin()),
        Function::Arctan => value.arctan(),
        Function::Arccot => value.inverse().arctan(),
        Function::Arcsec => {
            Sample::real(std::f64::consts::FRAC_PI_2).minus(value.inverse().arcsin())
        }
        Function::Arccsc => value.inverse().arcsin(),
        Function::Sinh | Function::Cosh | Function::Tanh => {
            let (up, down) = (value.exp(), Sample::exactly(0.0).minus(value).exp());
            let half = Sample::exactly(0.5);
            match function {
                Function::Sinh => up.minus(down).times(half),
                Function::Cosh => up.plus(down).times(half),
                _ => up.minus(down).over(up.plus(down)),
            }
        }
        Function::Arsinh => value.plus(value.times(value).plus(one).sqrt()).ln(),
        Function::Arcosh => value
            .plus(value.plus(one).sqrt().times(value.minus(one).sqrt()))
            .ln(),
        Function::Artanh => one
            .plus(value)
            .ln()
            .minus(one.minus(value).ln())
            .times(Sample::exactly(0.5)),
        Function::Factorial => gamma(value.plus(one))?,
        Function::Gamma => gamma(value)?,
        Function::Floor | Function::Ceiling => {
            let near = value.re.round();
            if (value.re - near).abs() <= value.error && value.error > 0.0 {
                return None;
            }
            Sample::exactly(if function == Function::Floor {
                value.re.floor()
            } else {
                value.re.ceil()
            })
        }
        Function::Max | Function::Min => value,
        _ => return None,
    })
}

fn extreme(function: Function, values: &[Sample]) -> Option<Sample> {
    let mut values = values.iter().copied();
    let first = values.next()?;
    match function {
        Function::Max => Some(values.fold(
            first,
            |best, value| {
                if value.re > best.re { value } else { best }
            },
        )),
        Function::Min => Some(values.fold(
            first,
            |best, value| {
                if value.re < best.re { value } else { best }
            },
        )),
        _ => None,
    }
}

/// Γ of a real number, by Lanczos' approximation (g = 7, nine terms).
fn gamma(value: Sample) -> Option<Sample> {
    const G: f64 = 7.0;
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if value.im != 0.0 || value.re <= 0.0 && value.re.fract() == 0.0 {
        return None;
    }
    if value.re < 0.5 {
        let angle = std::f64::consts::PI * value.re;
        let other = gamma(Sample::new(1.0 - value.re, 0.0, value.error))?;
        let size = std::f64::consts::PI / (angle.sin() * other.re);
        return Some(Sample::new(size, 0.0, size.abs() * 1e-11));
    }
    let x = value.re - 1.0;
    let mut sum = TERMS[0];
    for (index, term) in TERMS.iter().enumerate().skip(1) {
        sum += term / (x + index as f64);
    }
    let t = x + G + 0.5;
    let size = (2.0 * std::f64::consts::PI).sqrt() * t.powf(x + 0.5) * (-t).exp() * sum;
    Some(Sample::new(
        size,
        0.0,
        size.abs() * (1e-12 + 5.0 * value.error),
    ))
}

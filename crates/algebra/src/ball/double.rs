//! Enclosures by doubles: middle and radius, errors of rounding and of the functions of the platform included.

use std::cmp::Ordering;
use std::f64::consts;

use dashu_int::IBig;

use super::real::Real;
use crate::budget::{Failure, Outcome};
use crate::expr::Rational;

/// A middle and a radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Double {
    middle: f64,
    radius: f64,
}

/// Twice the relative error of one rounding.
const ROUNDING: f64 = f64::EPSILON;
/// More than the relative error of any function of the platform.
const FUNCTION: f64 = 16.0 * f64::EPSILON;
/// Covers the rounding of the few operations that make a radius.
const SLACK: f64 = 1.0 + 1e-12;
/// Covers underflow.
const TINY: f64 = 1e-300;

impl Double {
    fn new(middle: f64, radius: f64, relative: f64) -> Self {
        let radius = (radius + middle.abs() * relative) * SLACK + TINY;
        Self { middle, radius }
    }

    fn finite(self) -> Outcome<Self> {
        if self.middle.is_finite() && self.radius.is_finite() {
            Ok(self)
        } else {
            Err(Failure::Unknown)
        }
    }

    /// The largest distance of the true value from the middle.
    pub(crate) fn radius(self) -> f64 {
        self.radius
    }

    fn lower(self) -> f64 {
        let low = self.middle - self.radius;
        low - low.abs() * ROUNDING
    }

    fn upper(self) -> f64 {
        let high = self.middle + self.radius;
        high + high.abs() * ROUNDING
    }
}

impl Real for Double {
    fn rational(value: &Rational, _: u32) -> Self {
        let small = |middle: f64| Self {
            middle,
            radius: 0.0,
        };
        if value.is_int()
            && let Ok(integer) = i32::try_from(value.numerator())
        {
            return small(f64::from(integer));
        }
        Self::new(value.to_f64_fast(), 0.0, FUNCTION)
    }

    fn interval(width: i32, _: u32) -> Self {
        Self {
            middle: 0.0,
            radius: 2f64.powi(width),
        }
    }

    fn pi(_: u32) -> Self {
        Self::new(consts::PI, 0.0, ROUNDING)
    }

    fn add(&self, other: &Self) -> Self {
        Self::new(
            self.middle + other.middle,
            self.radius + other.radius,
            ROUNDING,
        )
    }

    fn negate(&self) -> Self {
        Self {
            middle: -self.middle,
            radius: self.radius,
        }
    }

    fn multiply(&self, other: &Self) -> Self {
        let radius = self.middle.abs() * other.radius
            + other.middle.abs() * self.radius
            + self.radius * other.radius;
        Self::new(self.middle * other.middle, radius, ROUNDING)
    }

    fn divide(&self, other: &Self) -> Outcome<Self> {
        let least = (other.middle.abs() - other.radius) * (1.0 - ROUNDING);
        if least <= 0.0 || least.is_nan() {
            return Err(Failure::Unknown);
        }
        let quotient = self.middle / other.middle;
        let radius = (self.radius + quotient.abs() * other.radius) / least;
        Self::new(quotient, radius, ROUNDING).finite()
    }

    fn sqrt(&self) -> Outcome<Self> {
        let low = self.lower().max(0.0).sqrt();
        let high = self.upper().max(0.0).sqrt();
        let middle = self.middle.max(0.0).sqrt();
        Self::new(middle, (high - middle).max(middle - low), ROUNDING).finite()
    }

    fn exp(&self) -> Outcome<Self> {
        let middle = self.middle.exp();
        let radius = middle * (1.0 + FUNCTION) * self.radius.exp_m1();
        Self::new(middle, radius, FUNCTION).finite()
    }

    fn ln(&self) -> Outcome<Self> {
        let low = self.lower();
        if low <= 0.0 || low.is_nan() {
            return Err(Failure::Unknown);
        }
        let middle = self.middle.ln();
        Self::new(middle, self.radius / low + ROUNDING, FUNCTION).finite()
    }

    fn sin_cos(&self) -> Outcome<(Self, Self)> {
        if self.middle.abs() >= 1e15 || self.middle.is_nan() {
            return Err(Failure::Unknown);
        }
        let (sin, cos) = self.middle.sin_cos();
        let radius = self.radius.min(2.0) + FUNCTION;
        Ok((Self::new(sin, radius, 0.0), Self::new(cos, radius, 0.0)))
    }

    fn arctan(&self) -> Outcome<Self> {
        Self::new(self.middle.atan(), self.radius.min(4.0), FUNCTION).finite()
    }

    fn sign(&self) -> Option<Ordering> {
        if self.lower() > 0.0 {
            Some(Ordering::Greater)
        } else if self.upper() < 0.0 {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    fn absolute(&self) -> Self {
        match self.sign() {
            Some(Ordering::Less) => self.negate(),
            Some(_) => *self,
            None => Self::new(self.middle.abs(), self.radius, 0.0),
        }
    }

    fn hull(&self, other: &Self) -> Self {
        let low = self.lower().min(other.lower());
        let high = self.upper().max(other.upper());
        Self::new(f64::midpoint(low, high), (high - low) / 2.0, FUNCTION)
    }

    fn floor(&self) -> Option<IBig> {
        let (low, high) = (self.lower().floor(), self.upper().floor());
        (low.abs() < 1e15 && high - low < 0.5).then(|| IBig::from(low as i64))
    }

    fn middle(&self) -> f64 {
        self.middle
    }

    fn within(&self, bits: u32, scale: &Self) -> bool {
        self.radius < scale.middle.abs().max(1.0) * (-f64::from(bits.min(1000))).exp2()
    }

    fn cost(_: u32) -> u64 {
        1
    }

    fn function_cost(_: u32) -> u64 {
        1
    }
}

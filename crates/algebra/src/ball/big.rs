//! Enclosures of any precision: a middle of so many bits and a radius.

use std::cmp::Ordering;

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::IBig;

use super::radius::Radius;
use super::real::Real;
use super::series;
use crate::budget::{Failure, Outcome};
use crate::expr::Rational;
use crate::rational::{low_bits, magnitude_bits, signed};

/// `mantissa`·2^`exponent` ± `radius`.
#[derive(Debug, Clone)]
pub(crate) struct Big {
    mantissa: IBig,
    exponent: i64,
    radius: Radius,
    bits: u32,
}

/// The exponent of an enclosure that says nothing.
const LARGEST: i64 = 1 << 44;

impl Big {
    fn new(mantissa: IBig, exponent: i64, radius: Radius, bits: u32) -> Self {
        let excess = magnitude_bits(&mantissa).saturating_sub(bits as usize);
        if excess == 0 {
            return Self {
                mantissa,
                exponent,
                radius,
                bits,
            };
        }
        let exponent = exponent.saturating_add(signed(excess));
        Self {
            mantissa: mantissa >> excess,
            exponent,
            radius: radius.add(Radius::power_of_two(exponent)),
            bits,
        }
    }

    fn zero(bits: u32) -> Self {
        Self {
            mantissa: IBig::ZERO,
            exponent: 0,
            radius: Radius::ZERO,
            bits,
        }
    }

    /// |middle| < 2^top; `None` of 0.
    fn top(&self) -> Option<i64> {
        (!self.mantissa.is_zero()).then(|| {
            self.exponent
                .saturating_add(signed(magnitude_bits(&self.mantissa)))
        })
    }

    fn size(&self) -> Radius {
        Radius::of(&self.mantissa, self.exponent)
    }

    /// Is the radius below half of the middle?
    fn is_firm(&self) -> bool {
        match (self.top(), self.radius.top()) {
            (Some(_), None) => true,
            (Some(top), Some(radius)) => radius <= top - 2,
            _ => false,
        }
    }

    fn widened(mut self, by: Radius) -> Self {
        self.radius = self.radius.add(by);
        self
    }

    /// The double, exactly.
    fn double(value: f64, bits: u32) -> Option<Self> {
        if value == 0.0 {
            return Some(Self::zero(bits));
        }
        if !value.is_finite() {
            return None;
        }
        let word = value.to_bits();
        let biased = i64::try_from(word >> 52 & 0x7FF).ok()?;
        let fraction = word & ((1 << 52) - 1);
        let (mantissa, exponent) = if biased == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, biased - 1075)
        };
        let mantissa = IBig::from(mantissa);
        let mantissa = if value < 0.0 { -mantissa } else { mantissa };
        Some(Self::new(mantissa, exponent, Radius::ZERO, bits))
    }

    /// The middle in units of 2^−work.
    fn fixed(&self, work: i64) -> IBig {
        let shift = self.exponent.saturating_add(work);
        if shift >= 0 {
            &self.mantissa << shift as usize
        } else {
            &self.mantissa >> usize::try_from(-shift).unwrap_or(usize::MAX)
        }
    }

    fn scaled(mut self, by: i64) -> Self {
        self.exponent = self.exponent.saturating_add(by);
        self.radius = self.radius.scaled(by);
        self
    }

    /// t ± t³/3 + t⁵/5 ± … for small t.
    fn odd_series(&self, alternating: bool) -> Outcome<Self> {
        let limit = self.size().add(self.radius).top().unwrap_or(i64::MIN);
        if limit > -8 {
            return Err(Failure::Unknown);
        }
        let square = self.multiply(self);
        let mut power = self.clone();
        let mut sum = self.clone();
        let mut odd = 1;
        loop {
            let tail = limit.saturating_mul(odd + 2);
            if self.top().is_none() || tail < -i64::from(self.bits) {
                // Of what follows, the first term is more than half.
                return Ok(sum.widened(Radius::power_of_two(tail.max(-LARGEST))));
            }
            power = power.multiply(&square);
            odd += 2;
            let divisor = Self::rational(&Rational::from(odd), self.bits);
            let term = power.divide(&divisor)?;
            let negative = alternating && odd % 4 == 3;
            sum = sum.add(&if negative { term.negate() } else { term });
        }
    }
}

impl Real for Big {
    fn rational(value: &Rational, bits: u32) -> Self {
        if value.is_int() {
            return Self::new(value.numerator().clone(), 0, Radius::ZERO, bits);
        }
        let numerator = Self::new(value.numerator().clone(), 0, Radius::ZERO, bits);
        let denominator = IBig::from(value.denominator().clone());
        let denominator = Self::new(denominator, 0, Radius::ZERO, bits);
        numerator
            .divide(&denominator)
            .unwrap_or_else(|_| Self::zero(bits).widened(Radius::power_of_two(LARGEST)))
    }

    fn interval(width: i32, bits: u32) -> Self {
        Self::zero(bits).widened(Radius::power_of_two(i64::from(width)))
    }

    fn pi(bits: u32) -> Self {
        let work = bits as usize + 8;
        let error = Radius::power_of_two(1 - signed(work));
        Self::new(series::pi(work), -signed(work), error, bits)
    }

    fn add(&self, other: &Self) -> Self {
        let radius = self.radius.add(other.radius);
        let (Some(top), Some(other_top)) = (self.top(), other.top()) else {
            let mut sum = if self.mantissa.is_zero() {
                other.clone()
            } else {
                self.clone()
            };
            sum.radius = radius;
            return sum;
        };
        let reach = i64::from(self.bits) + 64;
        if top > other_top.saturating_add(reach) && self.exponent >= other_top {
            return Self {
                radius: radius.add(other.size()),
                ..self.clone()
            };
        }
        if other_top > top.saturating_add(reach) && other.exponent >= top {
            return Self {
                radius: radius.add(self.size()),
                ..other.clone()
            };
        }
        let exponent = self.exponent.min(other.exponent);
        let left = &self.mantissa << (self.exponent - exponent) as usize;
        let right = &other.mantissa << (other.exponent - exponent) as usize;
        Self::new(left + right, exponent, radius, self.bits)
    }

    fn negate(&self) -> Self {
        Self {
            mantissa: -&self.mantissa,
            ..self.clone()
        }
    }

    fn multiply(&self, other: &Self) -> Self {
        let radius = if self.radius.is_zero() && other.radius.is_zero() {
            Radius::ZERO
        } else {
            self.size()
                .multiply(other.radius)
                .add(other.size().multiply(self.radius))
                .add(self.radius.multiply(other.radius))
        };
        Self::new(
            &self.mantissa * &other.mantissa,
            self.exponent.saturating_add(other.exponent),
            radius,
            self.bits,
        )
    }

    fn divide(&self, other: &Self) -> Outcome<Self> {
        if !other.is_firm() {
            return Err(Failure::Unknown);
        }
        let length = signed(magnitude_bits(&other.mantissa));
        let own = signed(magnitude_bits(&self.mantissa));
        let shift = (i64::from(self.bits) + 2 + length - own).max(0);
        let mantissa = (&self.mantissa << shift as usize) / &other.mantissa;
        let exponent = self
            .exponent
            .saturating_sub(other.exponent)
            .saturating_sub(shift);
        // The divisor is at least half its middle: 1/divisor ≤ 2^(2 − top).
        let slope = Radius::power_of_two(2 - other.top().ok_or(Failure::Unknown)?);
        let error = Radius::of(&mantissa, exponent)
            .add(Radius::power_of_two(exponent))
            .multiply(other.radius)
            .add(self.radius)
            .multiply(slope)
            .add(Radius::power_of_two(exponent));
        Ok(Self::new(mantissa, exponent, error, self.bits))
    }

    fn sqrt(&self) -> Outcome<Self> {
        if self.mantissa.is_zero() && self.radius.is_zero() {
            return Ok(self.clone());
        }
        if !self.is_firm() || self.mantissa.sign() == Sign::Negative {
            let high = self.size().add(self.radius).sqrt();
            return Ok(Self::zero(self.bits).widened(high));
        }
        let length = signed(magnitude_bits(&self.mantissa));
        let mut shift = (2 * i64::from(self.bits) + 2 - length).max(0);
        if (self.exponent - shift).rem_euclid(2) == 1 {
            shift += 1;
        }
        let radicand = (&self.mantissa << shift as usize).unsigned_abs();
        let root = IBig::from(dashu_base::SquareRoot::sqrt(&radicand));
        let exponent = (self.exponent - shift) / 2;
        // |√(m ± r) − √m| ≤ r/√m, and √m ≥ 2^((top − 1)/2).
        let error = self
            .radius
            .multiply(Radius::power_of_two(
                (2 - self.top().ok_or(Failure::Unknown)?).div_euclid(2) + 1,
            ))
            .add(Radius::power_of_two(exponent));
        Ok(Self::new(root, exponent, error, self.bits))
    }

    fn exp(&self) -> Outcome<Self> {
        if self.radius.top().is_some_and(|top| top > 0) {
            return Err(Failure::Unknown);
        }
        let top = self.top().unwrap_or(0).max(0);
        if top > 40 {
            return Err(Failure::Unknown);
        }
        let work = i64::from(self.bits) + 24 + top;
        let argument = self.fixed(work);
        let ln_2 = series::ln_2(work as usize);
        let half: IBig = &ln_2 >> 1;
        let times = dashu_base::DivEuclid::div_euclid(&argument + half, &ln_2);
        let rest = argument - &times * &ln_2;
        let power = series::exp(&rest, work as usize);
        let times = i64::try_from(&times).map_err(|_| Failure::Unknown)?;
        let exponent = times - work;
        let size = Radius::of(&power, exponent);
        // Off by less than |times| + 4 units, and e^r − 1 < 2r for r < 1.
        let relative = self
            .radius
            .scaled(1)
            .add(Radius::power_of_two(top + 4 - work));
        Ok(Self::new(
            power,
            exponent,
            size.multiply(relative),
            self.bits,
        ))
    }

    fn ln(&self) -> Outcome<Self> {
        if self.sign() != Some(Ordering::Greater) || !self.is_firm() {
            return Err(Failure::Unknown);
        }
        let mut times = self.top().ok_or(Failure::Unknown)?;
        let mut reduced = self.clone().scaled(-times);
        if reduced.middle() < 0.75 {
            reduced = reduced.scaled(1);
            times -= 1;
        }
        // ln m = z + 2·artanh((m − e^z)/(m + e^z)), with a double for z.
        let start = Self::double(reduced.middle().ln(), self.bits).ok_or(Failure::Unknown)?;
        let power = start.exp()?;
        let quotient = reduced.add(&power.negate()).divide(&reduced.add(&power))?;
        let rest = quotient.odd_series(false)?;
        let sum = start.add(&rest.scaled(1));
        if times == 0 {
            return Ok(sum);
        }
        let work = self.bits as usize + 64;
        let error = Radius::power_of_two(1 - signed(work));
        let ln_2 = Self::new(series::ln_2(work), -signed(work), error, self.bits + 64);
        let multiple = ln_2.multiply(&Self::rational(&Rational::from(times), self.bits));
        Ok(sum.add(&Self::new(
            multiple.mantissa,
            multiple.exponent,
            multiple.radius,
            self.bits,
        )))
    }

    fn sin_cos(&self) -> Outcome<(Self, Self)> {
        let top = self.top().unwrap_or(0).max(0);
        if top > 2_000 {
            return Err(Failure::Unknown);
        }
        let work = i64::from(self.bits) + 16 + top;
        let argument = self.fixed(work);
        let quarter: IBig = series::pi(work as usize) >> 1;
        let half: IBig = &quarter >> 1;
        let turns = dashu_base::DivEuclid::div_euclid(&argument + half, &quarter);
        let rest = argument - &turns * &quarter;
        let negative = rest.sign() == Sign::Negative;
        let (sin, cos) = series::sin_cos(&IBig::from(rest.unsigned_abs()), work as usize);
        let sin = if negative { -sin } else { sin };
        let turn = low_bits(&turns) & 3;
        let (sin, cos) = match turn {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        };
        let error = self.radius.add(Radius::power_of_two(top + 4 - work));
        Ok((
            Self::new(sin, -work, error, self.bits),
            Self::new(cos, -work, error, self.bits),
        ))
    }

    fn arctan(&self) -> Outcome<Self> {
        if self.radius.top().is_some_and(|top| top > -40) {
            // Too wide for the formulas below, and its width is all that matters.
            let middle = Self::double(self.middle().atan(), self.bits).ok_or(Failure::Unknown)?;
            return Ok(middle.widened(self.radius.add(Radius::power_of_two(-40))));
        }
        let one = Self::rational(&Rational::ONE, self.bits);
        if self.top().is_some_and(|top| top > 2) {
            let rest = one.divide(self)?.arctan()?.negate();
            let quarter = Self::pi(self.bits).scaled(-1);
            return Ok(if self.mantissa.sign() == Sign::Negative {
                rest.add(&quarter.negate())
            } else {
                rest.add(&quarter)
            });
        }
        // arctan x = z + arctan((x·cos z − sin z)/(cos z + x·sin z)), with a double for z.
        let start = Self::double(self.middle().atan(), self.bits).ok_or(Failure::Unknown)?;
        let (sin, cos) = start.sin_cos()?;
        let above = self.multiply(&cos).add(&sin.negate());
        let below = cos.add(&self.multiply(&sin));
        let rest = above.divide(&below)?.odd_series(true)?;
        Ok(start.add(&rest))
    }

    fn sign(&self) -> Option<Ordering> {
        let top = self.top()?;
        let certain = match self.radius.top() {
            None => true,
            // |middle| ≥ 2^(top − 1).
            Some(radius) => radius < top,
        };
        certain.then(|| {
            if self.mantissa.sign() == Sign::Negative {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        })
    }

    fn absolute(&self) -> Self {
        if self.mantissa.sign() == Sign::Negative {
            self.negate()
        } else {
            self.clone()
        }
    }

    fn hull(&self, other: &Self) -> Self {
        let apart = self.add(&other.negate());
        let reach = apart.size().add(apart.radius).add(other.radius);
        self.clone().widened(reach)
    }

    fn floor(&self) -> Option<IBig> {
        if self.exponent >= 0 {
            let exact = self.radius.is_zero() && self.exponent < 1 << 14;
            return exact.then(|| &self.mantissa << self.exponent as usize);
        }
        let radius = self.radius.integer(self.exponent)?;
        let shift = usize::try_from(-self.exponent).ok()?;
        let low: IBig = (&self.mantissa - &radius) >> shift;
        let high: IBig = (&self.mantissa + radius) >> shift;
        (low == high).then_some(low)
    }

    fn middle(&self) -> f64 {
        let excess = magnitude_bits(&self.mantissa).saturating_sub(60);
        let head: IBig = &self.mantissa >> excess;
        let exponent = self.exponent.saturating_add(signed(excess));
        let head = i64::try_from(&head).unwrap_or(0) as f64;
        head * (exponent.clamp(-1_060, 1_000) as f64).exp2()
    }

    fn within(&self, bits: u32, scale: &Self) -> bool {
        let Some(top) = self.radius.top() else {
            return true;
        };
        let scale = scale.top().unwrap_or(0).max(0);
        // Of large numbers the units are looked at too: 2^729 is not 2^729 + 1.
        top < (scale - i64::from(bits)).min(-64)
    }

    fn cost(bits: u32) -> u64 {
        3 + u64::from(bits) / 128
    }

    fn function_cost(bits: u32) -> u64 {
        let bits = u64::from(bits);
        60 + bits / 4 + bits * bits / 4096
    }
}

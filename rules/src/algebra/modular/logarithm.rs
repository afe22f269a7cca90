//! Logarithms in a lane: ln ab = ln a + ln b, ln aᵇ = b·ln a, down to primes and to values drawn.

use std::cmp::Ordering;

use dashu_base::Sign;

use super::super::budget::{Failure, Outcome};
use super::super::fold;
use super::lane::{FOLDING, Lane};
use super::linear::{Kind, Linear};
use crate::algebra::{Constant, Expr, Function, Rational};

impl Lane<'_, '_> {
    /// ln of an expression.
    pub(super) fn logarithm(&mut self, expr: &Expr) -> Outcome<Linear> {
        let mut sum = Linear::default();
        let mut negative = false;
        self.collect_logarithm(expr, &Rational::ONE, &mut sum, &mut negative)?;
        if negative {
            if !self.traits.constant && !matches!(expr, Expr::Number(_)) {
                return Err(Failure::Unknown);
            }
            self.faithful.set(false);
            sum.push(Rational::ONE, Kind::Pi, true);
        }
        Ok(sum)
    }

    /// Adds scale·ln|expr|, and tells its sign.
    fn collect_logarithm(
        &mut self,
        expr: &Expr,
        scale: &Rational,
        sum: &mut Linear,
        negative: &mut bool,
    ) -> Outcome<()> {
        self.budget.spend(1)?;
        match expr {
            Expr::Number(value) => {
                if value.is_zero() {
                    return Err(Failure::Undefined);
                }
                *negative ^= value.sign() == Sign::Negative;
                for (prime, times) in self.prime_factors(value)? {
                    let image = self.field.rational(&prime).ok_or(Failure::Unknown)?;
                    sum.push(scale * Rational::from(times), Kind::Logarithm(image), false);
                }
                Ok(())
            }
            Expr::Constant(Constant::E) => {
                sum.push(scale.clone(), Kind::One, false);
                Ok(())
            }
            Expr::Multiply(parts) => {
                for part in parts {
                    self.collect_logarithm(part, scale, sum, negative)?;
                }
                Ok(())
            }
            Expr::Power(pair) => {
                if matches!(pair.0, Expr::Constant(Constant::E)) {
                    let exponent = self.linear(&pair.1)?;
                    if exponent.0.iter().any(|term| term.imaginary) {
                        return Err(Failure::Unknown);
                    }
                    sum.add(&exponent, scale);
                    return Ok(());
                }
                match fold::fold_within(&pair.1, FOLDING, self.budget) {
                    Ok(exponent) => self.power_logarithm(&pair.0, &exponent, scale, sum, negative),
                    Err(Failure::Unknown) => {
                        let base = self.logarithm(&pair.0)?;
                        let exponent = self.linear(&pair.1)?;
                        let product = self.linear_product(&base, &exponent)?;
                        if product.0.iter().any(|term| term.imaginary) {
                            return Err(Failure::Unknown);
                        }
                        sum.add(&product, scale);
                        Ok(())
                    }
                    Err(failure) => Err(failure),
                }
            }
            Expr::Call(Function::Root, parts) if parts.len() == 2 => {
                let degree = fold::fold_within(&parts[1], FOLDING, self.budget)?;
                if degree.is_zero() {
                    return Err(Failure::Undefined);
                }
                let exponent = Rational::ONE / degree;
                self.power_logarithm(&parts[0], &exponent, scale, sum, negative)
            }
            Expr::Call(Function::Absolute, parts) if parts.len() == 1 && !self.traits.complex => {
                let mut ignored = false;
                self.collect_logarithm(&parts[0], scale, sum, &mut ignored)
            }
            _ => self.opaque_logarithm(expr, scale, sum, negative),
        }
    }

    fn power_logarithm(
        &mut self,
        base: &Expr,
        exponent: &Rational,
        scale: &Rational,
        sum: &mut Linear,
        negative: &mut bool,
    ) -> Outcome<()> {
        let mut below = false;
        self.collect_logarithm(base, &(scale * exponent), sum, &mut below)?;
        if !below {
            return Ok(());
        }
        let odd = |words: &[u64]| words.first().is_some_and(|word| word & 1 == 1);
        if !odd(exponent.denominator().as_words()) {
            return Err(Failure::Unknown);
        }
        *negative ^= odd(exponent.numerator().as_sign_words().1);
        Ok(())
    }

    fn opaque_logarithm(
        &mut self,
        expr: &Expr,
        scale: &Rational,
        sum: &mut Linear,
        negative: &mut bool,
    ) -> Outcome<()> {
        let value = self.value(expr)?;
        let Some(value) = value.real() else {
            // ln z = ln|z| + i·arg z.
            self.signed.set(true);
            let argument = self.constant_argument(expr)?;
            let norm = self.field.norm(value);
            if !self.field.is_square(norm) {
                return Err(Failure::Unknown);
            }
            if norm != self.field.one() {
                let half = scale * super::lane::half();
                sum.push(half, Kind::Logarithm(norm), false);
            }
            sum.add(&argument.turned(), scale);
            return Ok(());
        };
        if value.is_zero() {
            return Err(Failure::Undefined);
        }
        self.faithful.set(false);
        if self.surely_positive(expr) {
            if !self.field.is_square(value) {
                return Err(Failure::Unknown);
            }
            sum.push(scale.clone(), Kind::Logarithm(value), false);
            return Ok(());
        }
        self.signed.set(true);
        let below = !self.field.is_square(value);
        if let Some(sign) = self.constant_sign(expr)? {
            // The lane has to agree with the truth.
            if below != (sign == Ordering::Less) {
                return Err(Failure::Unknown);
            }
        }
        *negative ^= below;
        let size = if below {
            self.field.negate(value)
        } else {
            value
        };
        sum.push(scale.clone(), Kind::Logarithm(size), false);
        Ok(())
    }
}

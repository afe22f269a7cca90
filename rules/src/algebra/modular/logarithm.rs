//! Logarithms modulo a prime: ln ab = ln a + ln b, ln aᵇ = b·ln a, down to primes and to values drawn.

use std::cmp::Ordering;

use dashu_base::Sign;

use super::basis::{Basis, Linear};
use super::evaluation::{FOLDING, ModularEvaluation};
use crate::algebra::budget::{Failure, Outcome};
use crate::algebra::expr::{Constant, Expr, Function, Rational};
use crate::algebra::fold;
use crate::algebra::rational::{half, has_even_denominator, is_odd};

impl ModularEvaluation<'_, '_> {
    /// ln of an expression.
    pub(super) fn logarithm(&mut self, expr: &Expr) -> Outcome<Linear> {
        let mut sum = Linear::default();
        let mut negative = false;
        self.collect_logarithm(expr, &Rational::ONE, &mut sum, &mut negative)?;
        if negative {
            if !self.assumptions.constant && !matches!(expr, Expr::Number(_)) {
                return Err(Failure::Unknown);
            }
            self.faithful.set(false);
            sum.push(Rational::ONE, Basis::Pi, true);
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
                    sum.push(
                        scale * Rational::from(times),
                        Basis::Logarithm(image),
                        false,
                    );
                }
                Ok(())
            }
            Expr::Constant(Constant::E) => {
                sum.push(scale.clone(), Basis::One, false);
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
            Expr::Call(Function::Absolute, parts)
                if parts.len() == 1 && !self.assumptions.complex =>
            {
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
        if has_even_denominator(exponent) {
            return Err(Failure::Unknown);
        }
        *negative ^= is_odd(exponent.numerator());
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
                sum.push(scale * half(), Basis::Logarithm(norm), false);
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
            sum.push(scale.clone(), Basis::Logarithm(value), false);
            return Ok(());
        }
        self.signed.set(true);
        let below = !self.field.is_square(value);
        if let Some(sign) = self.constant_sign(expr)? {
            // The image has to agree with the true sign.
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
        sum.push(scale.clone(), Basis::Logarithm(size), false);
        Ok(())
    }
}

//! Functions of enclosures.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::evaluate::Evaluation;
use super::gamma::ln_gamma;
use super::real::Real;
use super::value::Value;
use crate::algebra::budget::{Failure, Outcome};
use crate::algebra::expr::{Expr, Function, Rational};
use crate::algebra::fold;
use crate::algebra::rational;
use crate::algebra::rational::half;

impl Evaluation<'_, '_> {
    pub(super) fn call<R: Real>(
        &mut self,
        function: Function,
        arguments: &[Expr],
    ) -> Outcome<Value<R>> {
        use Function as F;
        let mut values: Vec<Value<R>> = Vec::with_capacity(arguments.len());
        if let (F::Logarithm, [argument, base]) = (function, arguments) {
            return self.logarithm_to(argument, base);
        }
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        if let Some(exact) = self.exactly(function, &values)? {
            return Ok(exact);
        }
        let bits = self.arithmetic.bits;
        match (function, &values[..]) {
            (F::Root, [radicand, degree]) => {
                let Value::Exact(degree) = degree else {
                    return Err(Failure::Unknown);
                };
                if degree.is_zero() {
                    return Err(Failure::Undefined);
                }
                let exponent = Value::Exact(Rational::ONE / degree.clone());
                self.power(radicand, &exponent)
            }
            (F::Absolute, [value]) => Ok(match value {
                Value::Complex(real, imaginary) => {
                    let norm = real.multiply(real).add(&imaginary.multiply(imaginary));
                    Value::Real(norm.sqrt().ok_or(Failure::Unknown)?)
                }
                other => Value::Real(self.arithmetic.parts(other).0.absolute()),
            }),
            (F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, [value]) => {
                self.circular(function, value)
            }
            (F::Sinh | F::Cosh | F::Tanh | F::Coth, [value]) => self.hyperbolic(function, value),
            (F::Arcsin | F::Arccos | F::Arctan | F::Arccot | F::Arcsec | F::Arccsc, [value]) => {
                self.inverse_circular(function, value)
            }
            (F::Arsinh | F::Arcosh | F::Artanh, [value]) => {
                self.inverse_hyperbolic(function, value)
            }
            (F::Floor, [value]) => floor(value),
            (F::Ceiling, [value]) => {
                let opposite = value.negated();
                let floor = floor(&opposite)?;
                Ok(floor.negated())
            }
            (F::Sign, [value]) => Ok(Value::Exact(Rational::from(value.sign()? as i64))),
            (F::Max | F::Min, [first, rest @ ..]) => {
                let mut best = first.clone();
                for value in rest {
                    best = self.extreme(&best, value, function == F::Max)?;
                }
                Ok(best)
            }
            (F::Modulo, [value, modulus]) => {
                let quotient = self.arithmetic.divide(value, modulus)?;
                let floor = floor(&quotient)?;
                let product = self.arithmetic.multiply(&floor, modulus);
                Ok(self.arithmetic.subtract(value, &product))
            }
            (F::RealPart, [Value::Complex(real, _)])
            | (F::ImaginaryPart, [Value::Complex(_, real)]) => Ok(Value::Real(real.clone())),
            (F::RealPart, [value @ Value::Real(_)]) => Ok(value.clone()),
            (F::ImaginaryPart, [Value::Real(_)]) => Ok(Value::Exact(Rational::ZERO)),
            (F::Argument, [Value::Complex(real, imaginary)]) => {
                self.angle(real, imaginary).map(Value::Real)
            }
            (F::Argument, [value]) => match value.sign()? {
                Ordering::Greater => Ok(Value::Exact(Rational::ZERO)),
                Ordering::Less => Ok(Value::Real(R::pi(bits))),
                Ordering::Equal => Err(Failure::Undefined),
            },
            (F::Factorial | F::Gamma | F::Binomial | F::Permutations, _) => {
                self.combinatorial(function, &values)
            }
            _ => Err(Failure::Unknown),
        }
    }

    /// Of exact arguments, where the value is rational.
    fn exactly<R: Real>(
        &mut self,
        function: Function,
        values: &[Value<R>],
    ) -> Outcome<Option<Value<R>>> {
        use Function as F;
        if let [Value::Exact(zero)] = values
            && zero.is_zero()
        {
            match function {
                F::Sin
                | F::Tan
                | F::Sinh
                | F::Tanh
                | F::Arcsin
                | F::Arctan
                | F::Arsinh
                | F::Artanh => return Ok(Some(Value::Exact(Rational::ZERO))),
                F::Cos | F::Sec | F::Cosh => return Ok(Some(Value::Exact(Rational::ONE))),
                F::Cot | F::Csc | F::Coth | F::Arcsec | F::Arccsc | F::Argument => {
                    return Err(Failure::Undefined);
                }
                _ => {}
            }
        }
        let mut exact = Vec::with_capacity(values.len());
        for value in values {
            let Value::Exact(value) = value else {
                return Ok(None);
            };
            exact.push(value.clone());
        }
        match fold::of_rationals(function, &exact, self.budget) {
            Ok(value) => Ok(Some(if rational::bits(&value) > 1 << 10 {
                Value::Real(R::rational(&value, self.arithmetic.bits))
            } else {
                Value::Exact(value)
            })),
            Err(Failure::Undefined) => Err(Failure::Undefined),
            Err(_) if self.budget.steps == 0 => Err(Failure::TooComplex),
            Err(_) => Ok(None),
        }
    }

    fn logarithm_to<R: Real>(&mut self, argument: &Expr, base: &Expr) -> Outcome<Value<R>> {
        let argument = self.value(argument)?;
        let value = self.logarithm(&argument)?;
        if matches!(base, Expr::Constant(crate::algebra::expr::Constant::E)) {
            return Ok(value);
        }
        let base = self.value(base)?;
        if let (Value::Exact(argument), Value::Exact(base)) = (&argument, &base)
            && let Ok(exact) = fold::fold(
                &Expr::Call(
                    Function::Logarithm,
                    vec![Expr::Number(argument.clone()), Expr::Number(base.clone())],
                ),
                self.budget,
            )
        {
            return Ok(Value::Exact(exact));
        }
        let base = self.logarithm(&base)?;
        self.arithmetic.divide(&value, &base)
    }

    /// (sin, cos).
    fn sin_cos<R: Real>(&mut self, value: &Value<R>) -> Outcome<(Value<R>, Value<R>)> {
        self.budget.spend(R::function_cost(self.arithmetic.bits))?;
        if !matches!(value, Value::Complex(..)) {
            let (real, _) = self.arithmetic.parts(value);
            let (sin, cos) = real.sin_cos().ok_or(Failure::Unknown)?;
            return Ok((Value::Real(sin), Value::Real(cos)));
        }
        let (real, imaginary) = self.arithmetic.parts(value);
        let plus = self.exponential(&Value::Complex(imaginary.negate(), real.clone()))?;
        let minus = self.exponential(&Value::Complex(imaginary, real.negate()))?;
        let bits = self.arithmetic.bits;
        let half = Value::Exact(half());
        let cos = self
            .arithmetic
            .multiply(&self.arithmetic.add(&plus, &minus), &half);
        let difference = self.arithmetic.subtract(&plus, &minus);
        let turn = Value::Complex(
            R::rational(&Rational::ZERO, bits),
            R::rational(&Rational::from_parts(IBig::NEG_ONE, 2u8.into()), bits),
        );
        Ok((self.arithmetic.multiply(&difference, &turn), cos))
    }

    fn circular<R: Real>(&mut self, function: Function, value: &Value<R>) -> Outcome<Value<R>> {
        let (sin, cos) = self.sin_cos(value)?;
        let one = Value::Exact(Rational::ONE);
        match function {
            Function::Sin => Ok(sin),
            Function::Cos => Ok(cos),
            Function::Tan => self.arithmetic.divide(&sin, &cos),
            Function::Cot => self.arithmetic.divide(&cos, &sin),
            Function::Sec => self.arithmetic.divide(&one, &cos),
            _ => self.arithmetic.divide(&one, &sin),
        }
    }

    fn hyperbolic<R: Real>(&mut self, function: Function, value: &Value<R>) -> Outcome<Value<R>> {
        let half = Value::Exact(half());
        let plus = self.exponential(value)?;
        let opposite = value.negated();
        let minus = self.exponential(&opposite)?;
        let sinh = self.arithmetic.subtract(&plus, &minus);
        let cosh = self.arithmetic.add(&plus, &minus);
        match function {
            Function::Sinh => Ok(self.arithmetic.multiply(&sinh, &half)),
            Function::Cosh => Ok(self.arithmetic.multiply(&cosh, &half)),
            Function::Tanh => self.arithmetic.divide(&sinh, &cosh),
            _ => self.arithmetic.divide(&cosh, &sinh),
        }
    }

    fn inverse_circular<R: Real>(
        &mut self,
        function: Function,
        value: &Value<R>,
    ) -> Outcome<Value<R>> {
        let bits = self.arithmetic.bits;
        self.budget.spend(R::function_cost(bits))?;
        let one = Value::Exact(Rational::ONE);
        let value = match function {
            Function::Arcsec | Function::Arccsc => self.arithmetic.divide(&one, value)?,
            _ => value.clone(),
        };
        if matches!(value, Value::Complex(..)) {
            return Err(Failure::Unknown);
        }
        let half = R::rational(&half(), bits);
        let quarter = R::pi(bits).multiply(&half);
        let angle = if matches!(function, Function::Arctan | Function::Arccot) {
            let (real, _) = self.arithmetic.parts(&value);
            real.arctan().ok_or(Failure::Unknown)?
        } else {
            let square = self.arithmetic.multiply(&value, &value);
            let rest = self.arithmetic.subtract(&one, &square);
            match rest.sign()? {
                Ordering::Less => return Err(Failure::Undefined),
                Ordering::Equal => {
                    if value.sign()? == Ordering::Less {
                        quarter.negate()
                    } else {
                        quarter.clone()
                    }
                }
                Ordering::Greater => {
                    let (rest, _) = self.arithmetic.parts(&rest);
                    let (real, _) = self.arithmetic.parts(&value);
                    let slope = real.divide(&rest.sqrt().ok_or(Failure::Unknown)?);
                    slope
                        .ok_or(Failure::Unknown)?
                        .arctan()
                        .ok_or(Failure::Unknown)?
                }
            }
        };
        Ok(Value::Real(match function {
            Function::Arcsin | Function::Arctan | Function::Arccsc => angle,
            _ => quarter.add(&angle.negate()),
        }))
    }

    fn inverse_hyperbolic<R: Real>(
        &mut self,
        function: Function,
        value: &Value<R>,
    ) -> Outcome<Value<R>> {
        let arithmetic = self.arithmetic;
        let one = Value::Exact(Rational::ONE);
        let half = Value::Exact(half());
        if matches!(value, Value::Complex(..)) {
            return Err(Failure::Unknown);
        }
        if function == Function::Artanh {
            let above = arithmetic.add(&one, value);
            let below = arithmetic.subtract(&one, value);
            let inside = arithmetic.divide(&above, &below)?;
            if inside.sign()? != Ordering::Greater {
                return Err(Failure::Undefined);
            }
            let logarithm = self.logarithm(&inside)?;
            return Ok(arithmetic.multiply(&logarithm, &half));
        }
        let square = arithmetic.multiply(value, value);
        let radicand = if function == Function::Arsinh {
            arithmetic.add(&square, &one)
        } else {
            if arithmetic.subtract(value, &one).sign()? == Ordering::Less {
                return Err(Failure::Undefined);
            }
            arithmetic.subtract(&square, &one)
        };
        let root = self.power(&radicand, &half)?;
        let inside = arithmetic.add(value, &root);
        self.logarithm(&inside)
    }

    fn extreme<R: Real>(&mut self, a: &Value<R>, b: &Value<R>, largest: bool) -> Outcome<Value<R>> {
        let difference = self.arithmetic.subtract(a, b);
        match difference.sign() {
            Ok(order) => Ok(if (order == Ordering::Less) == largest {
                b.clone()
            } else {
                a.clone()
            }),
            // They may be equal: then either will do.
            Err(_) => match (self.arithmetic.enclosure(a), self.arithmetic.enclosure(b)) {
                (Some(a), Some(b)) => Ok(Value::Real(a.hull(&b))),
                _ => Err(Failure::Undefined),
            },
        }
    }

    /// A function without a meaning: a fixed smooth one takes its place, which depends on the name. Where two
    /// expressions differ with it, they differ.
    pub(super) fn applied<R: Real>(&mut self, name: &str, arguments: &[Expr]) -> Outcome<Value<R>> {
        let word = name.bytes().fold(0xCBF2_9CE4u64, |word, byte| {
            (word ^ u64::from(byte)).wrapping_mul(0x0100_0193) % 0xFFFF_FFFB
        });
        let weight = |index: u64| {
            let number = (word.wrapping_mul(2 * index + 3) ^ (word >> 7)) % 997 + 3;
            Value::Exact(Rational::from_parts(IBig::from(number), 401u16.into()))
        };
        let mut sum: Value<R> = weight(0);
        for (index, argument) in arguments.iter().enumerate() {
            let value = self.value(argument)?;
            let scaled = self.arithmetic.multiply(&value, &weight(index as u64 + 1));
            sum = self.arithmetic.add(&sum, &scaled);
        }
        let (sin, _) = self.sin_cos(&sum)?;
        let offset = self.arithmetic.add(&sin, &weight(77));
        Ok(self
            .arithmetic
            .add(&offset, &Value::Exact(Rational::from(2))))
    }

    /// Of arguments that are not all integers, or too large to multiply out.
    fn combinatorial<R: Real>(
        &mut self,
        function: Function,
        values: &[Value<R>],
    ) -> Outcome<Value<R>> {
        use Function as F;
        let one = Value::Exact(Rational::ONE);
        let exponent = match (function, values) {
            (F::Gamma, [x]) => self.ln_gamma(x)?,
            (F::Factorial, [n]) => self.ln_gamma(&self.arithmetic.add(n, &one))?,
            (F::Binomial | F::Permutations, [n, k]) => {
                let rest = self.arithmetic.subtract(n, k);
                let above = self.ln_gamma(&self.arithmetic.add(n, &one))?;
                let rest = self.ln_gamma(&self.arithmetic.add(&rest, &one))?;
                let mut difference = above.add(&rest.negate());
                if function == F::Binomial {
                    let below = self.ln_gamma(&self.arithmetic.add(k, &one))?;
                    difference = difference.add(&below.negate());
                }
                difference
            }
            _ => return Err(Failure::Unknown),
        };
        self.exponential(&Value::Real(exponent))
    }

    /// ln Γ of a positive number.
    fn ln_gamma<R: Real>(&mut self, argument: &Value<R>) -> Outcome<R> {
        let bits = self.arithmetic.bits;
        if argument.sign()? != Ordering::Greater {
            return Err(Failure::Unknown);
        }
        self.budget.spend(2 * R::function_cost(bits) + 100)?;
        let (argument, _) = self.arithmetic.parts(argument);
        ln_gamma(&argument, bits).ok_or(Failure::Unknown)
    }
}

fn floor<R: Real>(value: &Value<R>) -> Outcome<Value<R>> {
    let floor = match value {
        Value::Exact(value) => rational::floor(value),
        Value::Real(real) => real.floor().ok_or(Failure::Unknown)?,
        Value::Complex(..) => return Err(Failure::Undefined),
    };
    Ok(Value::Exact(floor.into()))
}

//! Derivatives by the rules.

use super::build::{call, int, inverse, is_number, ln, negated, power, product, sum};
use crate::algebra::budget::{Budget, Failure, Outcome};
use crate::algebra::walk;
use crate::algebra::{Constant, Expr, Function};

/// The derivative of `expr` with respect to `variable`.
pub(super) fn derivative(expr: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(5)?;
    match expr {
        Expr::Symbol(name) if **name == *variable => Ok(int(1)),
        Expr::Number(_) | Expr::LongNumber { .. } | Expr::Constant(_) | Expr::Symbol(_) => {
            Ok(int(0))
        }
        Expr::Add(parts) => {
            let mut terms = Vec::with_capacity(parts.len());
            for part in parts {
                terms.push(derivative(part, variable, budget)?);
            }
            Ok(sum(terms))
        }
        Expr::Multiply(parts) => {
            budget.spend((parts.len() * parts.len()) as u64)?;
            let mut terms = Vec::with_capacity(parts.len());
            for (place, part) in parts.iter().enumerate() {
                let inner = derivative(part, variable, budget)?;
                if is_number(&inner, 0) {
                    continue;
                }
                let mut factors = parts.clone();
                budget.spend(walk::size(expr))?;
                factors[place] = inner;
                terms.push(product(factors));
            }
            Ok(sum(terms))
        }
        Expr::Power(pair) => {
            let (base, exponent) = (&pair.0, &pair.1);
            let inner_base = derivative(base, variable, budget)?;
            let inner_exponent = derivative(exponent, variable, budget)?;
            budget.spend(walk::size(expr))?;
            let by_base = product(vec![
                exponent.clone(),
                power(base.clone(), sum(vec![exponent.clone(), int(-1)])),
                inner_base,
            ]);
            if is_number(&inner_exponent, 0) {
                return Ok(match exponent {
                    // The exponent is kept a number, which later steps look at.
                    Expr::Number(number) => product(vec![
                        exponent.clone(),
                        power(
                            base.clone(),
                            Expr::Number(number - crate::algebra::Rational::ONE),
                        ),
                        derivative(base, variable, budget)?,
                    ]),
                    _ => by_base,
                });
            }
            let logarithm = if matches!(base, Expr::Constant(Constant::E)) {
                int(1)
            } else {
                ln(base.clone())
            };
            let by_exponent = product(vec![expr.clone(), logarithm, inner_exponent]);
            Ok(sum(vec![by_base, by_exponent]))
        }
        Expr::Call(function, arguments) => chain(*function, arguments, variable, budget),
        Expr::Apply(_, parts) => {
            if parts.iter().any(|part| mentions(part, variable)) {
                Err(Failure::Unknown)
            } else {
                Ok(int(0))
            }
        }
        Expr::Binder(_) => {
            if mentions(expr, variable) {
                Err(Failure::Unknown)
            } else {
                Ok(int(0))
            }
        }
    }
}

pub(super) fn mentions(expr: &Expr, variable: &str) -> bool {
    walk::any(
        expr,
        &mut |part| matches!(part, Expr::Symbol(name) if **name == *variable),
    )
}

fn chain(
    function: Function,
    arguments: &[Expr],
    variable: &str,
    budget: &mut Budget,
) -> Outcome<Expr> {
    use Function as F;
    if !arguments.iter().any(|part| mentions(part, variable)) {
        return Ok(int(0));
    }
    let [argument, rest @ ..] = arguments else {
        return Err(Failure::Unknown);
    };
    if rest.iter().any(|part| mentions(part, variable)) {
        return Err(Failure::Unknown);
    }
    let inner = derivative(argument, variable, budget)?;
    budget.spend(walk::size(argument))?;
    let x = || argument.clone();
    let square = || power(x(), int(2));
    let outer = match (function, rest) {
        (F::Root, [degree]) => {
            let exponent = inverse(degree.clone());
            product(vec![
                exponent.clone(),
                Expr::Call(F::Root, arguments.to_vec()),
                inverse(x()),
            ])
        }
        (F::Logarithm, [base]) => inverse(product(vec![x(), ln(base.clone())])),
        (F::Absolute, []) => call(F::Sign, x()),
        (F::Sin, []) => call(F::Cos, x()),
        (F::Cos, []) => negated(call(F::Sin, x())),
        (F::Tan, []) => power(call(F::Cos, x()), int(-2)),
        (F::Cot, []) => negated(power(call(F::Sin, x()), int(-2))),
        (F::Sec, []) => product(vec![call(F::Sec, x()), call(F::Tan, x())]),
        (F::Csc, []) => negated(product(vec![call(F::Csc, x()), call(F::Cot, x())])),
        (F::Arcsin, []) => inverse(Expr::sqrt(sum(vec![int(1), negated(square())]))),
        (F::Arccos, []) => negated(inverse(Expr::sqrt(sum(vec![int(1), negated(square())])))),
        (F::Arctan, []) => inverse(sum(vec![int(1), square()])),
        (F::Arccot, []) => negated(inverse(sum(vec![int(1), square()]))),
        (F::Sinh, []) => call(F::Cosh, x()),
        (F::Cosh, []) => call(F::Sinh, x()),
        (F::Tanh, []) => power(call(F::Cosh, x()), int(-2)),
        (F::Arsinh, []) => inverse(Expr::sqrt(sum(vec![square(), int(1)]))),
        (F::Arcosh, []) => inverse(Expr::sqrt(sum(vec![square(), int(-1)]))),
        (F::Artanh, []) => inverse(sum(vec![int(1), negated(square())])),
        _ => return Err(Failure::Unknown),
    };
    Ok(product(vec![outer, inner]))
}

//! An expression as one fraction.

use super::expr::{Expr, Rational};
use super::walk;

/// An expression as one fraction. What stands under a negative power is brought below.
pub fn fraction(expr: &Expr) -> (Expr, Expr) {
    let one = || Expr::integer(1);
    match expr {
        Expr::Add(parts) => {
            let parts: Vec<(Expr, Expr)> = parts.iter().map(fraction).collect();
            if parts.iter().all(|(_, below)| *below == one()) {
                return (
                    Expr::Add(parts.into_iter().map(|(above, _)| above).collect()),
                    one(),
                );
            }
            // Each denominator once: a/x + b/x is (a + b)/x.
            let mut denominators: Vec<Expr> = Vec::new();
            for (_, below) in &parts {
                if *below != one() && !denominators.contains(below) {
                    denominators.push(below.clone());
                }
            }
            // Bringing nested fractions to one denominator may double them at every level.
            let size: u64 = denominators.iter().map(walk::size).sum();
            if denominators.len() > 6 || size.saturating_mul(parts.len() as u64) > 4_000 {
                return (expr.clone(), one());
            }
            let above = parts
                .into_iter()
                .map(|(above, below)| {
                    let mut factors = vec![above];
                    factors.extend(
                        denominators
                            .iter()
                            .filter(|other| **other != below)
                            .cloned(),
                    );
                    Expr::Multiply(factors)
                })
                .collect();
            (Expr::Add(above), Expr::product(denominators))
        }
        Expr::Multiply(parts) => {
            let (mut above, mut below) = (Vec::new(), Vec::new());
            for part in parts {
                let (a, b) = fraction(part);
                above.push(a);
                if b != one() {
                    below.push(b);
                }
            }
            (Expr::product(above), Expr::product(below))
        }
        Expr::Power(power) => match &power.1 {
            Expr::Number(exponent) if exponent.is_int() && *exponent < Rational::ZERO => {
                // A number below is part of a coefficient.
                if !walk::has_letter(&power.0) {
                    return (expr.clone(), one());
                }
                let (above, below) = fraction(&power.0);
                let raise = |base: Expr| {
                    if *exponent == Rational::NEG_ONE || base == one() {
                        base
                    } else {
                        Expr::power(base, Expr::Number(-exponent.clone()))
                    }
                };
                (raise(below), raise(above))
            }
            _ => (expr.clone(), one()),
        },
        other => (other.clone(), one()),
    }
}

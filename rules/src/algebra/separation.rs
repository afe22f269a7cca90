//! How small an algebraic number can be without being 0: the bound of Burnikel, Funke, Mehlhorn, Schirra and Schmitt.
//!
//! For a number E built from integers by +, −, ·, / and real roots with degrees of product D, u and l are computed from
//! the expression, and E ≠ 0 implies |E| ≥ 1 / (u^(D − 1)·l).

use super::fold;
use crate::algebra::{Constant, Expr, Function, Rational};

/// log2 of u and l.
#[derive(Debug, Clone, Copy)]
struct Bound {
    upper: f64,
    lower: f64,
}

/// A number b such that E is 0 or |E| > 2^−b; `None` for what is not built with real roots, or where b is too large.
pub(super) fn bits(expr: &Expr) -> Option<u32> {
    let mut roots = Vec::new();
    let bound = bound(expr, &mut roots)?;
    let degree = roots.iter().fold(1.0, |degree, (_, each)| degree * *each);
    let bits = (degree - 1.0) * bound.upper + bound.lower;
    (bits < 6_000.0).then_some(bits.max(0.0).ceil() as u32 + 1)
}

fn number(value: &Rational) -> Bound {
    let log = |bits: usize| bits as f64;
    Bound {
        upper: log(fold::bits(&Rational::from(value.numerator().clone()))),
        lower: if value.is_int() {
            0.0
        } else {
            log(fold::bits(&Rational::from(value.denominator().clone())))
        },
    }
}

fn sum(a: Bound, b: Bound) -> Bound {
    Bound {
        upper: (a.upper + b.lower).max(a.lower + b.upper) + 1.0,
        lower: a.lower + b.lower,
    }
}

fn product(a: Bound, b: Bound) -> Bound {
    Bound {
        upper: a.upper + b.upper,
        lower: a.lower + b.lower,
    }
}

fn root(a: Bound, degree: f64) -> Bound {
    if a.upper >= a.lower {
        Bound {
            upper: (a.upper + (degree - 1.0) * a.lower) / degree,
            lower: a.lower,
        }
    } else {
        Bound {
            upper: a.upper,
            lower: ((degree - 1.0) * a.upper + a.lower) / degree,
        }
    }
}

/// Bounds of an expression; the roots in it, each once, with their degrees.
fn bound<'e>(expr: &'e Expr, roots: &mut Vec<(&'e Expr, f64)>) -> Option<Bound> {
    match expr {
        Expr::Number(value) => Some(number(value)),
        Expr::Constant(Constant::GoldenRatio) => {
            note(expr, 2.0, roots);
            Some(Bound {
                upper: 3.0,
                lower: 1.0,
            })
        }
        Expr::Add(parts) => {
            let mut total: Option<Bound> = None;
            for part in parts {
                let next = bound(part, roots)?;
                total = Some(total.map_or(next, |total| sum(total, next)));
            }
            total
        }
        Expr::Multiply(parts) => {
            let mut total = Bound {
                upper: 0.0,
                lower: 0.0,
            };
            for part in parts {
                total = product(total, bound(part, roots)?);
            }
            Some(total)
        }
        Expr::Power(pair) => {
            let Expr::Number(exponent) = &pair.1 else {
                return None;
            };
            let degree = u32::try_from(exponent.denominator()).ok()?;
            let times = i32::try_from(exponent.numerator()).ok()?;
            let mut base = bound(&pair.0, roots)?;
            if degree > 1 {
                note(expr, f64::from(degree), roots);
                base = root(base, f64::from(degree));
            }
            let scale = f64::from(times.unsigned_abs());
            let (upper, lower) = (base.upper * scale, base.lower * scale);
            Some(if times < 0 {
                Bound {
                    upper: lower,
                    lower: upper,
                }
            } else {
                Bound { upper, lower }
            })
        }
        Expr::Call(Function::Root, parts) => {
            let [radicand, Expr::Number(degree)] = &parts[..] else {
                return None;
            };
            let degree = degree
                .is_int()
                .then(|| u32::try_from(degree.numerator()).ok())??;
            if degree == 0 {
                return None;
            }
            let inside = bound(radicand, roots)?;
            note(expr, f64::from(degree), roots);
            Some(root(inside, f64::from(degree)))
        }
        Expr::Call(Function::Absolute, parts) => bound(parts.first()?, roots),
        _ => None,
    }
}

fn note<'e>(expr: &'e Expr, degree: f64, roots: &mut Vec<(&'e Expr, f64)>) {
    if !roots.iter().any(|(known, _)| *known == expr) {
        roots.push((expr, degree));
    }
}

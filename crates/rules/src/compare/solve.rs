//! Statements about one real unknown, solved: equations and inequalities as sets of real numbers.

use std::cmp::Ordering;

use super::comparison::{Comparison, Told};
use super::context::Context;
use super::quotient::sign_set;
use super::real_set::{self, Bound, Piece, RealSet};
use super::words::{Meaning, Words};
use super::{expressions, naming};
use crate::algebra::{self, Expr, Function};
use crate::answer::{Answer, Operator, Relation};

/// A set of real numbers, and the unknown that it was said of.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) variable: Option<Expr>,
    pub(super) set: RealSet,
}

/// An answer as a set of real numbers. `None` where it is not one, or cannot be computed.
pub(super) fn region(answer: &Answer, context: &mut Context<'_>) -> Option<Region> {
    let bare = |set| Region {
        variable: None,
        set,
    };
    match answer {
        Answer::Quantity(_) => {
            let value = expressions::expression(answer)?;
            match value {
                Expr::Symbol(name) => Some(bare(domain(name)?)),
                value => Some(bare(RealSet::point(value.clone(), context)?)),
            }
        }
        Answer::Interval(interval) => Some(bare(RealSet::between(
            bound(&interval.lower.value),
            interval.lower.closed,
            bound(&interval.upper.value),
            interval.upper.closed,
            context,
        )?)),
        // Of two entries, and only where the other side is a region: an open interval.
        Answer::Tuple(parts) => match parts.as_slice() {
            [lower, upper] => Some(bare(RealSet::between(
                bound(expressions::expression(lower)?),
                false,
                bound(expressions::expression(upper)?),
                false,
                context,
            )?)),
            _ => None,
        },
        Answer::Set(parts) => {
            let mut sets = Vec::with_capacity(parts.len());
            for part in parts {
                match part {
                    Answer::Quantity(_) => sets.push(region(part, context)?.set),
                    _ => return None,
                }
            }
            Some(bare(RealSet::union(sets, context)?))
        }
        Answer::Union(parts) | Answer::Intersection(parts) => {
            let (variable, sets) = regions(parts, context)?;
            let set = match answer {
                Answer::Union(_) => RealSet::union(sets, context)?,
                _ => RealSet::intersection(sets, context)?,
            };
            Some(Region { variable, set })
        }
        Answer::Difference(pair) => {
            let from = region(&pair.0, context)?;
            let without = region(&pair.1, context)?;
            Some(Region {
                variable: from.variable,
                set: RealSet::intersection(vec![from.set, without.set.complement()], context)?,
            })
        }
        Answer::List(parts) => list(parts, context),
        Answer::Relation(relation) => solve(relation, context),
        Answer::Text(text) => match Words::of(text) {
            Words::Plain(words) => match Meaning::of(&words)? {
                Meaning::AllReals => Some(bare(RealSet::line())),
                Meaning::Nothing => Some(bare(RealSet::default())),
                _ => None,
            },
            Words::Formula(_) => None,
        },
        _ => None,
    }
}

/// ℝ and what is cut from it by a mark.
fn domain(name: &str) -> Option<RealSet> {
    let half = |closed| RealSet {
        pieces: vec![Piece {
            lower: Bound::At(Expr::integer(0)),
            lower_closed: closed,
            upper: Bound::Above,
            upper_closed: false,
        }],
    };
    Some(match name {
        "ℝ" | "R" => RealSet::line(),
        "ℝ^+" | "ℝ_+" | "ℝ_>0" | "ℝ^>0" => half(false),
        "ℝ_≥0" | "ℝ_\\ge0" | "ℝ_\\geq0" | "ℝ^+_0" | "ℝ_0^+" => half(true),
        "ℝ^-" | "ℝ_-" | "ℝ_<0" => half(true).complement(),
        _ => return None,
    })
}

fn bound(value: &Expr) -> Bound {
    match algebra::infinity(value) {
        Some(Ordering::Greater) => Bound::Above,
        Some(_) => Bound::Below,
        None => Bound::At(value.clone()),
    }
}

/// Several regions about the same unknown.
fn regions(parts: &[Answer], context: &mut Context<'_>) -> Option<(Option<Expr>, Vec<RealSet>)> {
    if parts.len() > 10_000 {
        return None;
    }
    let mut variable: Option<Expr> = None;
    let mut sets = Vec::with_capacity(parts.len());
    for part in parts {
        let region = region(part, context)?;
        match (&variable, region.variable) {
            (Some(known), Some(other)) if *known != other => return None,
            (None, Some(other)) => variable = Some(other),
            _ => {}
        }
        sets.push(region.set);
    }
    Some((variable, sets))
}

/// `x < -1 or x > 2` is a union, `x > 2, x ≠ 5` and `x > 2 and x < 5` an intersection. A list does not say which, but
/// usually only one of the two makes sense.
fn list(parts: &[Answer], context: &mut Context<'_>) -> Option<Region> {
    let (variable, sets) = regions(parts, context)?;
    let related = |it: &&Answer| matches!(it, Answer::Relation(_));
    let relations = parts.iter().filter(related).count();
    if relations == 0 {
        return Some(Region {
            variable,
            set: RealSet::union(sets, context)?,
        });
    }
    if relations < parts.len() {
        return None;
    }
    let excludes = parts.iter().any(|part| {
        matches!(part, Answer::Relation(relation)
            if matches!(relation.operators.as_slice(), [Operator::NotEqual | Operator::NotIn]))
    });
    let intersection = RealSet::intersection(sets.clone(), context)?;
    let set = if excludes {
        intersection
    } else {
        let union = RealSet::union(sets, context)?;
        if intersection.is_empty() {
            union
        } else if union.is_line() || union == intersection {
            intersection
        } else {
            // `x > 1, x > 3`: either reading makes sense.
            return None;
        }
    };
    Some(Region { variable, set })
}

/// The real numbers of which a statement holds.
pub(super) fn solve(relation: &Relation, context: &mut Context<'_>) -> Option<Region> {
    if relation.modulus.is_some() || relation.sides.len() != relation.operators.len() + 1 {
        return None;
    }
    if let ([name, set], [operator @ (Operator::In | Operator::NotIn)]) =
        (relation.sides.as_slice(), relation.operators.as_slice())
    {
        let variable = expressions::expression(name).filter(|name| naming::is_named(name))?;
        let set = region(set, context)?.set;
        return Some(Region {
            variable: Some(variable.clone()),
            set: if *operator == Operator::In {
                set
            } else {
                set.complement()
            },
        });
    }
    let unknown = unknown(relation)?;
    let variable = "?";
    let mut sides = Vec::with_capacity(relation.sides.len());
    for side in &relation.sides {
        let values = values(side)?.into_iter();
        // A plain variable in place of the unknown.
        let plain = |part: &Expr| (*part == unknown).then(|| Expr::symbol(variable));
        let values = values.map(|value| algebra::replace(value, &mut { plain }));
        sides.push(values.collect::<Vec<_>>());
    }
    let mut sets = Vec::with_capacity(relation.operators.len());
    for (pair, operator) in sides.windows(2).zip(&relation.operators) {
        let mut choices = Vec::new();
        for left in &pair[0] {
            for right in &pair[1] {
                if choices.len() > 100 {
                    return None;
                }
                choices.push(holds(left, *operator, right, variable, context)?);
            }
        }
        sets.push(if *operator == Operator::NotEqual {
            RealSet::intersection(choices, context)?
        } else {
            RealSet::union(choices, context)?
        });
    }
    Some(Region {
        variable: Some(unknown),
        set: RealSet::intersection(sets, context)?,
    })
}

/// Two statements by the real numbers of which they hold; `None` where one of them cannot be solved.
pub(super) fn solutions(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Told {
    let (a, b) = (solve(gold, context)?, solve(pred, context)?);
    Some(if a.variable == b.variable {
        real_set::sets("solutions", &a.set, &b.set, context)
    } else {
        Comparison::different("names", "the statements are about different unknowns")
    })
}

/// The one thing that a statement is about: a letter, or a function value that takes the place of one.
fn unknown(relation: &Relation) -> Option<Expr> {
    let mut found: Option<Expr> = None;
    for side in &relation.sides {
        if !values(side)?
            .into_iter()
            .all(|it| only_unknown(it, &mut found))
        {
            return None;
        }
    }
    found
}

/// The expressions that a side is: one, or those of `±2` and of `1, 2`.
fn values(side: &Answer) -> Option<Vec<&Expr>> {
    match side {
        Answer::List(values) | Answer::Set(values) => {
            values.iter().map(expressions::expression).collect()
        }
        side => Some(vec![expressions::expression(side)?]),
    }
}

/// Is an expression about one unknown only, the one that was found before?
fn only_unknown(expr: &Expr, found: &mut Option<Expr>) -> bool {
    let is_unknown = match expr {
        Expr::Symbol(_) | Expr::Apply(..) => true,
        Expr::Multiply(_) => naming::is_segment(expr),
        _ => false,
    };
    if is_unknown {
        return found.get_or_insert_with(|| expr.clone()) == expr;
    }
    match expr {
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) => {
            parts.iter().all(|part| only_unknown(part, found))
        }
        Expr::Power(power) => only_unknown(&power.0, found) && only_unknown(&power.1, found),
        Expr::Binder(_) => !algebra::has_letter(expr),
        _ => true,
    }
}

/// Where `left operator right` holds.
fn holds(
    left: &Expr,
    operator: Operator,
    right: &Expr,
    variable: &str,
    context: &mut Context<'_>,
) -> Option<RealSet> {
    let is_unknown = |expr: &Expr| matches!(expr, Expr::Symbol(name) if **name == *variable);
    let constant = |expr: &Expr| !algebra::any(expr, &mut |part| is_unknown(part));
    // `x < c` and `c < x` need no computing.
    if is_unknown(left) && constant(right) {
        return beside(operator, right, context);
    }
    if is_unknown(right) && constant(left) {
        return beside(mirrored(operator)?, left, context);
    }
    for (bars, operator, bound) in [
        (left, Some(operator), right),
        (right, mirrored(operator), left),
    ] {
        if let Some(operator) = operator
            && let Some(set) = with_bars(bars, operator, bound, variable, context)
        {
            return Some(set);
        }
    }
    let (above, below) = algebra::fraction(&left.clone().minus(right.clone()));
    let polynomials = (
        algebra::polynomial(&above, variable, &mut context.budget),
        algebra::polynomial(&below, variable, &mut context.budget),
    );
    match polynomials {
        (Some(above), Some(below)) => sign_set(&above, &below, operator, context),
        _ => None,
    }
}

/// Where x stands so to a constant.
fn beside(operator: Operator, constant: &Expr, context: &mut Context<'_>) -> Option<RealSet> {
    let at = bound(constant);
    let between = RealSet::between;
    match operator {
        Operator::Less => between(Bound::Below, false, at, false, context),
        Operator::LessOrEqual => between(Bound::Below, false, at, true, context),
        Operator::Greater => between(at, false, Bound::Above, false, context),
        Operator::GreaterOrEqual => between(at, true, Bound::Above, false, context),
        Operator::Equal => RealSet::point(constant.clone(), context),
        Operator::NotEqual => Some(RealSet::point(constant.clone(), context)?.complement()),
        _ => None,
    }
}

/// The operator with its sides exchanged.
pub(super) fn mirrored(operator: Operator) -> Option<Operator> {
    Some(match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        Operator::Equal | Operator::NotEqual => operator,
        _ => return None,
    })
}

/// |f| against a constant c ≥ 0.
fn with_bars(
    left: &Expr,
    operator: Operator,
    right: &Expr,
    variable: &str,
    context: &mut Context<'_>,
) -> Option<RealSet> {
    let Expr::Call(Function::Absolute, parts) = left else {
        return None;
    };
    let [inside] = parts.as_slice() else {
        return None;
    };
    if real_set::order_of(right, &Expr::integer(0), context)? == Ordering::Less {
        return Some(match operator {
            Operator::Less | Operator::LessOrEqual | Operator::Equal => RealSet::default(),
            _ => RealSet::line(),
        });
    }
    let above = holds(inside, operator, right, variable, context)?;
    let minus = right.clone().negated();
    let below = holds(inside, mirrored(operator)?, &minus, variable, context)?;
    match operator {
        Operator::Less | Operator::LessOrEqual | Operator::NotEqual => {
            RealSet::intersection(vec![above, below], context)
        }
        _ => RealSet::union(vec![above, below], context),
    }
}

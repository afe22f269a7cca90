//! Inequalities against inequalities.

use std::cmp::Ordering;

use super::equation::{self, Factor};
use super::real_set;
use super::roots::roots;
use super::solve;
use super::terms;
use super::{Comparison, Context, verdict};
use crate::algebra;
use crate::algebra::{Expr, Rational};
use crate::answer::{Operator, Relation};

/// Two relations made of <, ≤, >, ≥ and ≠.
pub(super) fn compare(gold: &Relation, pred: &Relation, context: &mut Context<'_>) -> Comparison {
    let (a, b) = (ascending(gold), ascending(pred));
    if a.sides.len() == b.sides.len() {
        let alike = context.quietly(|context| {
            let parts = a
                .sides
                .iter()
                .zip(&b.sides)
                .map(|(x, y)| context.answers(x, y));
            verdict::all("relation", parts)
        });
        if alike.equal == Some(true) {
            if a.operators == b.operators {
                return alike;
            }
            return verdict::no(
                "relation",
                "the same sides with another sign between them".to_owned(),
            );
        }
    }
    if let ([first], [second]) = (a.operators.as_slice(), b.operators.as_slice())
        && let (Some(f), Some(g)) = (equation::difference(&a), equation::difference(&b))
    {
        if *first == Operator::NotEqual && *second == Operator::NotEqual {
            return equation::zero_sets(&f, &g, context);
        }
        let letters = equation::both_letters(&f, &g);
        if let Factor::By(factor, status) = equation::proportional(&f, &g, &letters, context)
            && let Some(sign) = real_set::order_of(&factor, &Expr::integer(0), context)
        {
            let same = match sign {
                Ordering::Less => solve::mirrored(*second) == Some(*first),
                _ => first == second,
            };
            return if same {
                Comparison {
                    status,
                    ..verdict::yes("proportional")
                }
            } else {
                verdict::no(
                    "proportional",
                    "the inequalities point to different sides".to_owned(),
                )
            };
        }
    }
    if let (Some(x), Some(y)) = (solve::solve(&a, context), solve::solve(&b, context)) {
        if x.variable != y.variable {
            return verdict::no(
                "names",
                "the inequalities are about different unknowns".to_owned(),
            );
        }
        return real_set::sets("solutions", &x.set, &y.set, context);
    }
    if differ_somewhere(&a, &b, context) || differ_on_a_line(&a, &b, context) {
        return verdict::no(
            "points",
            "one of the inequalities holds at a point where the other does not".to_owned(),
        );
    }
    verdict::open("inequalities that could not be brought to the same form".to_owned())
}

/// A chain with the smaller sides first.
fn ascending(relation: &Relation) -> Relation {
    let falling = relation.operators.iter().all(|operator| {
        matches!(
            operator,
            Operator::Greater | Operator::GreaterOrEqual | Operator::Equal
        )
    });
    let mut turned = relation.clone();
    if falling {
        turned.sides.reverse();
        turned.operators.reverse();
        for operator in &mut turned.operators {
            *operator = solve::mirrored(*operator).unwrap_or(*operator);
        }
    }
    turned
}

/// Does one relation hold, and the other not, at some point?
fn differ_somewhere(a: &Relation, b: &Relation, context: &mut Context<'_>) -> bool {
    const ROUNDS: usize = 12;
    let sides = |relation: &Relation| -> Option<Vec<Expr>> {
        relation
            .sides
            .iter()
            .map(|side| Some(terms::opaque(terms::expression(side)?).into_owned()))
            .collect()
    };
    let (Some(sides_a), Some(sides_b)) = (sides(a), sides(b)) else {
        return false;
    };
    let mut letters: Vec<Box<str>> = sides_a
        .iter()
        .chain(&sides_b)
        .flat_map(algebra::variables)
        .collect();
    letters.sort_unstable();
    letters.dedup();
    if letters.is_empty() {
        return false;
    }
    (0..ROUNDS).any(|round| {
        let mut holds = |sides: &[Expr], operators: &[Operator]| -> Option<bool> {
            let values = sides
                .iter()
                .map(|side| {
                    let side = equation::at_point(side, &letters, None, round);
                    algebra::rational(&side, &mut context.budget)
                })
                .collect::<Option<Vec<_>>>()?;
            let mut all = true;
            for (pair, operator) in values.windows(2).zip(operators) {
                let order = pair[0].cmp(&pair[1]);
                all &= match operator {
                    Operator::Less => order == Ordering::Less,
                    Operator::LessOrEqual => order != Ordering::Greater,
                    Operator::Greater => order == Ordering::Greater,
                    Operator::GreaterOrEqual => order != Ordering::Less,
                    Operator::Equal => order == Ordering::Equal,
                    Operator::NotEqual => order != Ordering::Equal,
                    _ => return None,
                };
            }
            Some(all)
        };
        match (holds(&sides_a, &a.operators), holds(&sides_b, &b.operators)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    })
}

/// The same, at points between the places on a line where either changes: x + y < 1 and x + y < 2.
fn differ_on_a_line(a: &Relation, b: &Relation, context: &mut Context<'_>) -> bool {
    let ([first], [second]) = (a.operators.as_slice(), b.operators.as_slice()) else {
        return false;
    };
    let (Some(f), Some(g)) = (equation::difference(a), equation::difference(b)) else {
        return false;
    };
    let letters = equation::both_letters(&f, &g);
    for letter in letters.iter().take(3) {
        for round in 2..7 {
            let p = equation::at_point(&f, &letters, Some(letter), round);
            let q = equation::at_point(&g, &letters, Some(letter), round);
            let (Some(p), Some(q)) = (
                algebra::polynomial(&p, letter, &mut context.budget),
                algebra::polynomial(&q, letter, &mut context.budget),
            ) else {
                continue;
            };
            let mut changes = Vec::new();
            for polynomial in [&p, &q] {
                for root in roots(polynomial).unwrap_or_default() {
                    changes.extend(algebra::approximate(&root, &mut context.budget));
                }
            }
            changes.sort_by(f64::total_cmp);
            let between = changes
                .windows(2)
                .map(|pair| f64::midpoint(pair[0], pair[1]));
            for sample in between {
                let Ok(sample) = Rational::try_from(sample) else {
                    continue;
                };
                let holds = |coefficients: &[Rational], operator: Operator| {
                    let sign = solve::evaluate(coefficients, &sample).cmp(&Rational::ZERO);
                    match operator {
                        Operator::Less => Some(sign == Ordering::Less),
                        Operator::LessOrEqual => Some(sign != Ordering::Greater),
                        Operator::Greater => Some(sign == Ordering::Greater),
                        Operator::GreaterOrEqual => Some(sign != Ordering::Less),
                        _ => None,
                    }
                };
                if let (Some(a), Some(b)) = (holds(&p, *first), holds(&q, *second))
                    && a != b
                {
                    return true;
                }
            }
        }
    }
    false
}

//! Relations against relations.

use dashu_ratio::RBig;

use super::judge::{self, Judgement, Settings};
use super::principal::exact;
use super::{Operator, Relation, Value};
use crate::algebra::{Expr, Function};

/// Step 5: chains link by link, single relations by their sides, equations also by their solutions.
pub(super) fn compare(gold: &Value, pred: &Value, settings: Settings) -> Judgement {
    match (gold, pred) {
        (Value::And(left), Value::And(right)) => {
            if left.len() != right.len() {
                return Judgement::decided(false, "chain");
            }
            let links = left.iter().zip(right);
            Judgement::all(
                "chain",
                links.map(|(left, right)| pair(left, right, settings)),
            )
        }
        (Value::Relation(left), Value::Relation(right)) => pair(left, right, settings),
        _ => Judgement::decided(false, "chain"),
    }
}

/// left − right, as `SymPy` works it out; `None` where a side is no term.
fn gap(relation: &Relation) -> Option<Expr> {
    let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
        return None;
    };
    if left.is_matrix() || right.is_matrix() {
        return None;
    }
    Some(simple(left, right))
}

/// a − b, a number or a bare symbol where it plainly is one.
fn simple(a: &Expr, b: &Expr) -> Expr {
    let zero = Expr::integer(0);
    if *b == zero {
        return a.clone();
    }
    let difference = Expr::Add(vec![a.clone(), Expr::integer(-1).times(b.clone())]);
    match exact(&difference) {
        Some(value) => Expr::number(value),
        None => bare_symbol(&difference).unwrap_or(difference),
    }
}

/// The symbol that is left when like items of a sum are put together, if only one is.
fn bare_symbol(sum: &Expr) -> Option<Expr> {
    let mut collected = Collected::default();
    collected.add(sum, &RBig::ONE)?;
    collected
        .symbols
        .retain(|(_, factor)| *factor != RBig::ZERO);
    match collected.symbols.as_slice() {
        [(symbol, factor)] if *factor == RBig::ONE && collected.constant == RBig::ZERO => {
            Some(symbol.clone())
        }
        _ => None,
    }
}

/// Sums of more symbols are not looked at.
const MOST_SYMBOLS: usize = 8;

/// A sum of symbols with rational factors.
#[derive(Default)]
struct Collected {
    constant: RBig,
    symbols: Vec<(Expr, RBig)>,
}

impl Collected {
    /// Adds a multiple of `term`; `None` where it is not linear as written.
    fn add(&mut self, term: &Expr, factor: &RBig) -> Option<()> {
        match term {
            Expr::Number(value) => self.constant += value * factor,
            Expr::Symbol(_) => {
                if let Some(place) = self.symbols.iter().position(|(symbol, _)| symbol == term) {
                    self.symbols[place].1 += factor;
                } else if self.symbols.len() < MOST_SYMBOLS {
                    self.symbols.push((term.clone(), factor.clone()));
                } else {
                    return None;
                }
            }
            Expr::Add(items) => {
                for item in items {
                    self.add(item, factor)?;
                }
            }
            Expr::Multiply(items) => match items.as_slice() {
                [Expr::Number(value), rest] => self.add(rest, &(value * factor))?,
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }
}

/// −a, with a factor in front put together with the sign.
fn negated(term: &Expr) -> Expr {
    match term {
        Expr::Number(value) => Expr::Number(-value),
        Expr::Call(Function::Decimal, _) => term.clone().opposite(),
        Expr::Multiply(items) => match items.as_slice() {
            [Expr::Number(minus_one), rest] if *minus_one == RBig::NEG_ONE => rest.clone(),
            _ => Expr::integer(-1).times(term.clone()),
        },
        _ => {
            let negated = Expr::integer(-1).times(term.clone());
            bare_symbol(&negated).unwrap_or(negated)
        }
    }
}

fn pair(gold: &Relation, pred: &Relation, settings: Settings) -> Judgement {
    if gold == pred {
        return Judgement::decided(true, "structure");
    }
    let gaps = gap(gold).zip(gap(pred));
    let mut open = None;
    if let Some((left, right)) = &gaps {
        if gold.operator == pred.operator {
            let verdict = judge::terms(left, right, settings);
            if verdict.is_true() {
                return verdict;
            }
            open = verdict.equal.is_none().then_some(verdict);
        }
        if gold.operator.flipped() == Some(pred.operator) {
            let negated = negated(right);
            let verdict = judge::terms(left, &negated, settings);
            if verdict.is_true() {
                return verdict;
            }
            open = open.or(verdict.equal.is_none().then_some(verdict));
        }
        if gold.operator == Operator::Equal && pred.operator == Operator::Equal {
            let verdict = super::solving::same_solutions(left, right);
            if verdict.is_true() {
                return verdict;
            }
        }
    }
    open.unwrap_or_else(|| Judgement::decided(false, "relation"))
}

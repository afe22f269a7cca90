//! Relations against relations.

use dashu_ratio::RBig;

use super::judge;
use super::scalars;
use super::term::{Operator, Relation, Term, Value};
use super::walk;
use super::{Judgement, Settings};

/// Step 5: chains link by link, single relations by their sides, equations also by their solutions.
pub(super) fn compare(gold: &Value, pred: &Value, settings: Settings, depth: u32) -> Judgement {
    match (gold, pred) {
        (Value::And(left), Value::And(right)) => {
            if left.len() != right.len() {
                return Judgement::decided(false, "chain");
            }
            let mut all = Judgement::decided(true, "chain");
            for (left, right) in left.iter().zip(right) {
                all = all.and(pair(left, right, settings, depth));
                if all.equal == Some(false) {
                    break;
                }
            }
            all
        }
        (Value::Relation(left), Value::Relation(right)) => pair(left, right, settings, depth),
        _ => Judgement::decided(false, "chain"),
    }
}

/// left − right, as `SymPy` works it out; `None` where a side is no term.
fn gap(relation: &Relation) -> Option<Term> {
    let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
        return None;
    };
    if left.is_matrix() || right.is_matrix() {
        return None;
    }
    Some(simple(left, right))
}

/// a − b, a number or a bare symbol where it plainly is one.
fn simple(a: &Term, b: &Term) -> Term {
    let zero = Term::integer(0);
    if *b == zero {
        return a.clone();
    }
    let difference = Term::Add(vec![a.clone(), Term::integer(-1).times(b.clone())]);
    match walk::exact(&difference) {
        Some((value, false)) => Term::Number(value),
        Some((value, true)) => Term::Float(value),
        None => bare_symbol(&difference).unwrap_or(difference),
    }
}

/// The symbol that is left when like items of a sum are put together, if only one is.
fn bare_symbol(sum: &Term) -> Option<Term> {
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
    symbols: Vec<(Term, RBig)>,
}

impl Collected {
    /// Adds a multiple of `term`; `None` where it is not linear as written.
    fn add(&mut self, term: &Term, factor: &RBig) -> Option<()> {
        match term {
            Term::Number(value) => self.constant += value * factor,
            Term::Symbol { .. } => {
                if let Some(place) = self.symbols.iter().position(|(symbol, _)| symbol == term) {
                    self.symbols[place].1 += factor;
                } else if self.symbols.len() < MOST_SYMBOLS {
                    self.symbols.push((term.clone(), factor.clone()));
                } else {
                    return None;
                }
            }
            Term::Add(items) => {
                for item in items {
                    self.add(item, factor)?;
                }
            }
            Term::Multiply(items) => match items.as_slice() {
                [Term::Number(value), rest] => self.add(rest, &(value * factor))?,
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }
}

/// −a, with a factor in front put together with the sign.
fn negated(term: &Term) -> Term {
    match term {
        Term::Number(value) => Term::Number(-value),
        Term::Float(value) => Term::Float(-value),
        Term::Multiply(items) => match items.as_slice() {
            [Term::Number(minus_one), rest] if *minus_one == RBig::NEG_ONE => rest.clone(),
            _ => Term::integer(-1).times(term.clone()),
        },
        _ => {
            let negated = Term::integer(-1).times(term.clone());
            bare_symbol(&negated).unwrap_or(negated)
        }
    }
}

fn pair(gold: &Relation, pred: &Relation, settings: Settings, depth: u32) -> Judgement {
    if gold == pred {
        return Judgement::decided(true, "structure");
    }
    let _ = depth;
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

/// Is the difference of two terms zero, whatever kind they are of?
pub(super) fn vanishes(a: &Term, b: &Term) -> bool {
    scalars::difference(a, b).is_true()
}

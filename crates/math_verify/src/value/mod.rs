//! What Math-Verify holds after extraction and normalisation: values, and when two of them are equal.
//!
//! | file | what it holds |
//! |---|---|
//! | `token`, `vocabulary.txt` | the lexer of the LaTeX dialect |
//! | `grammar`, `expressions`, `functions`, `collections` | the grammar, giving a `tree` |
//! | `reading`, `formula`, `application`, `names`, `numbers` | from the tree to values |
//! | `arithmetic` | plain arithmetic |
//! | `expr`, `principal` | expressions as `SymPy` builds and evaluates them, on the common algebra |
//! | `matrices` | determinants, traces, sums and products of matrices |
//! | `display` | values for people |
//! | `judge`, `equal_terms`, `relations`, `solving`, `sets`, `regions`, `spelling` | when two values are equal |

mod application;
mod arithmetic;
mod collections;
mod display;
mod equal_terms;
mod expr;
mod expressions;
mod formula;
mod functions;
mod grammar;
mod judge;
mod matrices;
mod names;
mod numbers;
mod principal;
mod reading;
mod regions;
mod relations;
mod sets;
mod solving;
mod spelling;
mod token;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt;

use expr::Term;
pub(crate) use judge::{Judgement, equal};
use juror_algebra::{self as algebra, Expr};
pub(crate) use reading::parse_latex;

/// The operators of relations that `SymPy` tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// With the sides exchanged; `None` where Math-Verify has no counterpart.
    pub(crate) fn flipped(self) -> Option<Self> {
        match self {
            Self::Equal => Some(Self::Equal),
            Self::NotEqual => None,
            Self::Less => Some(Self::Greater),
            Self::LessOrEqual => Some(Self::GreaterOrEqual),
            Self::Greater => Some(Self::Less),
            Self::GreaterOrEqual => Some(Self::LessOrEqual),
        }
    }
}

/// Two sides and an operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Relation {
    pub operator: Operator,
    pub left: Value,
    pub right: Value,
}

/// An interval of the real line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Interval {
    pub lower: Expr,
    pub upper: Expr,
    pub lower_open: bool,
    pub upper_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NamedSet {
    Empty,
    Naturals,
    Integers,
    Rationals,
    Reals,
    Complexes,
}

/// What joins two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SetOperator {
    Union,
    Intersection,
    Difference,
}

/// A value as `SymPy` would hold it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// A scalar or a matrix.
    Term(Expr),
    Relation(Box<Relation>),
    /// Relations that hold together, in the order in which they were written.
    And(Vec<Relation>),
    Tuple(Vec<Value>),
    /// Without repetitions, in the order in which they were written.
    FiniteSet(Vec<Value>),
    Interval(Box<Interval>),
    NamedSet(NamedSet),
    Compound(SetOperator, Box<(Value, Value)>),
    Not(Box<Relation>),
    /// Something that is equal to nothing, not even to itself.
    Foreign,
}

impl Value {
    /// Does it consist of symbols alone?
    pub(super) fn is_of_symbols(&self) -> bool {
        match self {
            Self::Term(term) => term.is_of_symbols(),
            Self::Tuple(items) | Self::FiniteSet(items) => {
                !items.is_empty() && items.iter().all(Self::is_of_symbols)
            }
            other => {
                let sides = |it: &Relation| it.left.is_of_symbols() && it.right.is_of_symbols();
                !other.relations().is_empty() && other.relations().iter().all(sides)
            }
        }
    }

    /// The relations of a chain, or the one that it is; none of anything else.
    fn relations(&self) -> &[Relation] {
        match self {
            Self::Relation(single) => std::slice::from_ref(single),
            Self::And(chain) => chain,
            _ => &[],
        }
    }

    /// The variables of all terms, sorted.
    fn variables(&self) -> Vec<Box<str>> {
        let mut found = Vec::new();
        self.map(&mut |term| {
            found.extend(algebra::variables(term));
            Expr::integer(0)
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The value with what `term` makes of each of its terms.
    fn map(&self, term: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        fn all(items: &[Value], term: &mut dyn FnMut(&Expr) -> Expr) -> Vec<Value> {
            items.iter().map(|item| item.map(term)).collect()
        }
        let mut relation = |of: &Relation| Relation {
            operator: of.operator,
            left: of.left.map(term),
            right: of.right.map(term),
        };
        match self {
            Self::Term(inner) => Self::Term(term(inner)),
            Self::Relation(inner) => Self::Relation(Box::new(relation(inner))),
            Self::Not(inner) => Self::Not(Box::new(relation(inner))),
            Self::And(relations) => Self::And(relations.iter().map(relation).collect()),
            Self::Tuple(items) => Self::Tuple(all(items, term)),
            Self::FiniteSet(items) => Self::finite_set(all(items, term)),
            Self::Interval(interval) => Self::Interval(Box::new(Interval {
                lower: term(&interval.lower),
                upper: term(&interval.upper),
                ..**interval
            })),
            Self::Compound(operator, sides) => {
                Self::Compound(*operator, Box::new((sides.0.map(term), sides.1.map(term))))
            }
            Self::NamedSet(_) | Self::Foreign => self.clone(),
        }
    }

    /// A finite set: what is repeated as it is written is kept once.
    pub(super) fn finite_set(items: Vec<Self>) -> Self {
        let mut kept: Vec<Self> = Vec::with_capacity(items.len());
        if items.len() <= 64 {
            for item in items {
                if !kept.contains(&item) {
                    kept.push(item);
                }
            }
        } else {
            let mut seen = std::collections::HashSet::with_capacity(items.len());
            for item in items {
                if seen.insert(item.clone()) {
                    kept.push(item);
                }
            }
        }
        Self::FiniteSet(kept)
    }

    pub(super) fn is_set(&self) -> bool {
        matches!(
            self,
            Self::FiniteSet(_) | Self::Interval(_) | Self::NamedSet(_) | Self::Compound(..)
        )
    }
}

/// Texts longer than this are not read: Math-Verify runs out of time on them.
const MAX_LENGTH: usize = 40_000;

/// Reads plain arithmetic (`^` is a power); `None` where `SymPy`'s parser raises an error.
pub(crate) fn parse_arithmetic(text: &str) -> Option<Value> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    arithmetic::parse(text).map(Value::Term)
}

/// A plain number: an integer, or a float where there is a point.
pub(crate) fn number(text: &str) -> Option<Value> {
    numbers::parse(text).map(Value::Term)
}

/// A hundredth of it, as Math-Verify writes percentages.
pub(crate) fn percent(value: Value) -> Value {
    match value {
        Value::Term(term) => Value::Term(term.percent()),
        _ => Value::Foreign,
    }
}

/// The set of the values of several formulas in a row; sets among them are merged.
pub(crate) fn joined(values: Vec<Value>) -> Value {
    let mut items = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::FiniteSet(members) => items.extend(members),
            other => items.push(other),
        }
    }
    Value::finite_set(items)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display::text(self))
    }
}

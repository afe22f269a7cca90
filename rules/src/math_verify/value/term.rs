//! Terms and values as `SymPy` holds them before it evaluates anything.

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::algebra::work;
use crate::algebra::{BinderKind, Constant, Function};

/// A scalar or a matrix. Sums and products keep the order and the nesting that the reading gave them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// An exact number.
    Number(RBig),
    /// A number with a point: its exact decimal value.
    Float(RBig),
    Infinity,
    NegativeInfinity,
    /// 1/0.
    ComplexInfinity,
    /// 0/0.
    Undefined,
    Constant(Constant),
    Symbol {
        name: Box<str>,
        /// Is it known to be real? The same letter with another answer is another symbol.
        real: Option<bool>,
    },
    Add(Vec<Term>),
    Multiply(Vec<Term>),
    Power(Box<(Term, Term)>),
    Call(Function, Vec<Term>),
    /// A function without a meaning.
    Apply(Box<str>, Vec<Value>),
    /// Kept apart from what stands around it.
    Unevaluated(Box<Term>),
    Binder(Box<Binder>),
    Matrix(Vec<Vec<Term>>),
}

/// A copy costs what it copies: see [`work`].
impl Clone for Term {
    fn clone(&self) -> Self {
        work::charge(work::NODE);
        match self {
            Self::Number(value) => {
                work::charge(work::copy(value));
                Self::Number(value.clone())
            }
            Self::Float(value) => {
                work::charge(work::copy(value));
                Self::Float(value.clone())
            }
            Self::Infinity => Self::Infinity,
            Self::NegativeInfinity => Self::NegativeInfinity,
            Self::ComplexInfinity => Self::ComplexInfinity,
            Self::Undefined => Self::Undefined,
            Self::Constant(constant) => Self::Constant(*constant),
            Self::Symbol { name, real } => Self::Symbol {
                name: name.clone(),
                real: *real,
            },
            Self::Add(items) => Self::Add(items.clone()),
            Self::Multiply(items) => Self::Multiply(items.clone()),
            Self::Power(power) => Self::Power(power.clone()),
            Self::Call(function, items) => Self::Call(*function, items.clone()),
            Self::Apply(name, items) => Self::Apply(name.clone(), items.clone()),
            Self::Unevaluated(inner) => Self::Unevaluated(inner.clone()),
            Self::Binder(binder) => Self::Binder(binder.clone()),
            Self::Matrix(rows) => Self::Matrix(rows.clone()),
        }
    }
}

/// Σ, Π, ∫, d/dx, lim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Binder {
    pub kind: BinderKind,
    pub variable: Term,
    pub lower: Option<Term>,
    pub upper: Option<Term>,
    pub body: Term,
    /// Of a limit: is it approached from below?
    pub from_below: bool,
}

/// The operators of relations that `SymPy` tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operator {
    /// With the sides exchanged; `None` where Math-Verify has no counterpart.
    pub(super) fn flipped(self) -> Option<Self> {
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
pub(super) struct Relation {
    pub operator: Operator,
    pub left: Value,
    pub right: Value,
}

/// An interval of the real line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Interval {
    pub lower: Term,
    pub upper: Term,
    pub lower_open: bool,
    pub upper_open: bool,
}

/// Sets with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NamedSet {
    Empty,
    Naturals,
    Integers,
    Rationals,
    Reals,
    Complexes,
}

/// What joins two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SetOperator {
    Union,
    Intersection,
    Difference,
}

/// Anything that a reading can come to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Term(Term),
    Relation(Box<Relation>),
    /// Relations that hold together, in the order in which they were written.
    And(Vec<Relation>),
    Tuple(Vec<Value>),
    /// Without repetitions, in the order in which they were written. `of_sympy` marks the plain class, whose
    /// written order Math-Verify does not know.
    FiniteSet(Vec<Value>),
    Interval(Box<Interval>),
    NamedSet(NamedSet),
    Compound(SetOperator, Box<(Value, Value)>),
    /// Not in.
    Not(Box<Relation>),
    /// Something that is equal to nothing, not even to itself.
    Foreign,
}

impl Term {
    /// An integer.
    pub(super) fn integer(value: i64) -> Self {
        Self::Number(RBig::from(value))
    }

    /// a / b of integers.
    pub(super) fn ratio(numerator: &RBig, denominator: &RBig) -> Self {
        if !denominator.is_zero() {
            Self::Number(numerator / denominator)
        } else if numerator.is_zero() {
            Self::Undefined
        } else {
            Self::ComplexInfinity
        }
    }

    /// The value of an exact number.
    pub(super) fn as_rational(&self) -> Option<&RBig> {
        match self {
            Self::Number(value) => Some(value),
            _ => None,
        }
    }

    /// The value of an integer.
    pub(super) fn as_integer(&self) -> Option<&IBig> {
        match self {
            Self::Number(value) if value.is_int() => Some(value.numerator()),
            _ => None,
        }
    }

    /// Is it a number on its own: an integer, a fraction, a decimal, ±∞, or undefined?
    pub(super) fn is_number_atom(&self) -> bool {
        matches!(
            self,
            Self::Number(_)
                | Self::Float(_)
                | Self::Infinity
                | Self::NegativeInfinity
                | Self::Undefined
        )
    }

    /// Is it a matrix, or made of one?
    pub(super) fn is_matrix(&self) -> bool {
        match self {
            Self::Matrix(_) => true,
            Self::Add(items) | Self::Multiply(items) => items.iter().any(Self::is_matrix),
            Self::Power(power) => power.0.is_matrix(),
            _ => false,
        }
    }

    /// a^b.
    pub(super) fn power(base: Self, exponent: Self) -> Self {
        Self::Power(Box::new((base, exponent)))
    }

    /// a·b, with the factors of products side by side.
    pub(super) fn times(self, other: Self) -> Self {
        let mut factors = match self {
            Self::Multiply(factors) => factors,
            single => vec![single],
        };
        work::charge(moved(&other));
        match other {
            Self::Multiply(more) => factors.extend(more),
            single => factors.push(single),
        }
        Self::Multiply(factors)
    }

    /// a + b, with the terms of sums side by side.
    pub(super) fn plus(self, other: Self) -> Self {
        let mut terms = match self {
            Self::Add(terms) => terms,
            single => vec![single],
        };
        work::charge(moved(&other));
        match other {
            Self::Add(more) => terms.extend(more),
            single => terms.push(single),
        }
        Self::Add(terms)
    }

    /// −a: the number of opposite sign, else a product with −1.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Number(value) => Self::Number(-value),
            Self::Float(value) => Self::Float(-value),
            Self::Infinity => Self::NegativeInfinity,
            Self::NegativeInfinity => Self::Infinity,
            Self::Undefined => Self::Undefined,
            other => Self::integer(-1).times(other),
        }
    }

    /// a / b; of two integers a fraction.
    pub(super) fn over(self, divisor: Self) -> Self {
        if let (Some(numerator), Some(denominator)) = (self.as_integer(), divisor.as_integer()) {
            return Self::ratio(
                &RBig::from(numerator.clone()),
                &RBig::from(denominator.clone()),
            );
        }
        Self::Multiply(vec![self, Self::power(divisor, Self::integer(-1))])
    }

    /// The number whose hundredth this is, if it is one.
    pub(super) fn percentage(&self) -> Option<&Self> {
        match self {
            Self::Multiply(factors) => match factors.as_slice() {
                [number, Self::Unevaluated(hundredth)] if is_hundredth(hundredth) => Some(number),
                _ => None,
            },
            _ => None,
        }
    }

    /// A hundredth of it.
    pub(super) fn percent(self) -> Self {
        let hundredth = RBig::from(1) / RBig::from(100);
        Self::Multiply(vec![
            self,
            Self::Unevaluated(Box::new(Self::Number(hundredth))),
        ])
    }

    /// Does it consist of symbols alone, by Math-Verify's notion? Any base counts below a bar of a fraction.
    pub(super) fn is_of_symbols(&self) -> bool {
        match self {
            Self::Symbol { .. } => true,
            Self::Power(power) => {
                let (base, exponent) = &**power;
                if *base == Self::Constant(Constant::E) {
                    return exponent.is_of_symbols();
                }
                *exponent == Self::integer(-1) && base.arguments_are_of_symbols()
                    || base.is_of_symbols() && exponent.is_of_symbols()
            }
            Self::Add(items) | Self::Multiply(items) | Self::Call(_, items) => {
                !items.is_empty() && items.iter().all(Self::is_of_symbols)
            }
            Self::Apply(_, items) => !items.is_empty() && items.iter().all(Value::is_of_symbols),
            Self::Unevaluated(inner) => inner.is_of_symbols(),
            _ => false,
        }
    }

    /// Are all parts of it symbols? Something without parts has none that is not.
    fn arguments_are_of_symbols(&self) -> bool {
        match self {
            Self::Number(_)
            | Self::Float(_)
            | Self::Infinity
            | Self::NegativeInfinity
            | Self::ComplexInfinity
            | Self::Undefined
            | Self::Constant(_)
            | Self::Symbol { .. } => true,
            other => other.is_of_symbols(),
        }
    }
}

/// What it costs to put the items of `other` behind those of another sum or product.
fn moved(other: &Term) -> u64 {
    match other {
        Term::Add(more) | Term::Multiply(more) => more.len() as u64,
        _ => 1,
    }
}

fn is_hundredth(term: &Term) -> bool {
    term.as_rational()
        .is_some_and(|value| *value == RBig::from(1) / RBig::from(100))
}

impl Value {
    /// Does it consist of symbols alone?
    pub(super) fn is_of_symbols(&self) -> bool {
        match self {
            Self::Term(term) => term.is_of_symbols(),
            Self::Tuple(items) | Self::FiniteSet(items) => {
                !items.is_empty() && items.iter().all(Self::is_of_symbols)
            }
            Self::Relation(relation) => {
                relation.left.is_of_symbols() && relation.right.is_of_symbols()
            }
            Self::And(relations) => relations
                .iter()
                .all(|relation| relation.left.is_of_symbols() && relation.right.is_of_symbols()),
            _ => false,
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

    /// Is it a set?
    pub(super) fn is_set(&self) -> bool {
        matches!(
            self,
            Self::FiniteSet(_) | Self::Interval(_) | Self::NamedSet(_) | Self::Compound(..)
        )
    }
}

//! Answers: what kind of thing was stated.

use crate::algebra::{Expr, Rational};
use crate::lexicon::units::Dimension;

/// A unit of measurement: its dimension and its size in the base units of that dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unit {
    /// As it was written, spaces single.
    pub name: Box<str>,
    /// `None` for a label such as "apples", which converts to nothing.
    pub dimension: Option<Dimension>,
    /// The size of one in base units; exact. 1 for labels.
    pub size: Rational,
    /// What is added after multiplying (°F, °C to kelvin); 0 for the rest.
    pub offset: Rational,
}

/// A number or an expression, with what stood beside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Quantity {
    /// The number as written: `5` for `5\%`, `45` for `45^\circ`.
    pub value: Expr,
    /// Was there a percent sign or word?
    pub percent: bool,
    /// The unit, if one was written; `^\circ` is one (angle).
    pub unit: Option<Unit>,
    /// The currency as an ISO code (`USD` for `$`), if one was written.
    pub currency: Option<Box<str>>,
    /// Digits after the point if the value is one number written as a decimal (`3.10` has 2), also in scientific
    /// notation (`1.50e-3` has 5): the rounding that the writer may have done. `None` for everything else.
    pub places: Option<i64>,
    /// The base that a subscript names (`204_5`); the value is then already converted. `None` where none was written.
    pub base: Option<u32>,
    /// Was it called approximate (`\approx`, "about")?
    pub approximate: bool,
}

impl Quantity {
    /// A value without anything beside it.
    pub(crate) fn bare(value: Expr) -> Self {
        Self {
            value,
            percent: false,
            unit: None,
            currency: None,
            places: None,
            base: None,
            approximate: false,
        }
    }

    /// With a part in a smaller unit of the same kind added, as 5 feet with 3 inches; in this unit. `None` where it is no such part: its unit
    /// must be smaller than that of the part before it, `last`, and all of it less than what it is added to, or than one of that.
    pub(crate) fn with_part(&self, last: &Self, part: &Self) -> Option<Self> {
        let (unit, before, smaller) = (
            self.unit.as_ref()?,
            last.unit.as_ref()?,
            part.unit.as_ref()?,
        );
        let (Expr::Number(a), Expr::Number(b)) = (&self.value, &part.value) else {
            return None;
        };
        let basic = |it: Dimension| it.iter().filter(|power| **power != 0).eq([&1]);
        let added = b * &smaller.size / &unit.size;
        let fits = unit.dimension.is_some_and(basic)
            && unit.dimension == smaller.dimension
            && before.size > smaller.size
            && unit.offset.is_zero()
            && !part.percent
            && [a, b].into_iter().all(|it| *it >= Rational::from(0))
            && (added < *a || added < Rational::from(1));
        fits.then(|| Self {
            value: Expr::Number(a + added),
            places: None,
            ..self.clone()
        })
    }
}

/// How two sides of a relation stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operator {
    /// =, also ≡ without a modulus, := and \iff between equations is none of these.
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// ∈.
    In,
    NotIn,
    /// ≈.
    Approximately,
    /// ⊂, ⊆.
    Subset,
    /// ∣.
    Divides,
    /// ∥.
    Parallel,
    /// ⊥.
    Perpendicular,
    /// ∼, ≅.
    Similar,
}

impl Operator {
    /// Is it one of <, ≤, >, ≥, ≠?
    pub(crate) fn orders(self) -> bool {
        use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(
            self,
            Less | LessOrEqual | Greater | GreaterOrEqual | NotEqual
        )
    }
}

/// A relation or a chain of them: `a < b ≤ c` has three sides and two operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Relation {
    /// One more than operators.
    pub sides: Vec<Answer>,
    /// Between the sides.
    pub operators: Vec<Operator>,
    /// Of a congruence: `≡ 3 (mod 7)`.
    pub modulus: Option<Expr>,
}

/// One end of an interval.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    /// Where; may be ±∞.
    pub value: Expr,
    /// Does the interval hold it?
    pub closed: bool,
}

/// An interval of the real line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Interval {
    pub lower: Endpoint,
    pub upper: Endpoint,
}

/// A matrix or a column, rows of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    /// Row by row.
    pub rows: Vec<Vec<Expr>>,
}

impl Interval {
    /// From `lower` to `upper`, each with whether it belongs to it.
    pub(crate) fn new(lower: (Expr, bool), upper: (Expr, bool)) -> Self {
        let end = |(value, closed)| Endpoint { value, closed };
        Self {
            lower: end(lower),
            upper: end(upper),
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// A number, an expression, a measurement.
    Quantity(Quantity),
    /// An equation, an inequality, a chain, a membership.
    Relation(Relation),
    /// `{a, b}`: order and repetition do not matter. `∅` is the one without elements.
    Set(Vec<Answer>),
    /// `a, b`; `a and b`; "x = 1 or x = 2"; `±a` (both): several, in no stated order and of no stated kind.
    List(Vec<Answer>),
    /// `(a, b, …)`, `⟨a, b⟩`: ordered. Of two entries it may be an open interval where the other side is one.
    Tuple(Vec<Answer>),
    /// `[a, b)`. `(a, b)` is one only where an end is infinite or the text says so (∪ beside it, "x ∈").
    Interval(Interval),
    /// A ∪ B ∪ ….
    Union(Vec<Answer>),
    /// A ∩ B ∩ ….
    Intersection(Vec<Answer>),
    /// A \ B.
    Difference(Box<(Answer, Answer)>),
    /// A matrix or vector written as one.
    Matrix(Matrix),
    /// Choice letters, upper case, sorted: `(A)`, "A and C".
    Choice(Vec<char>),
    /// `a : b : …`.
    Ratio(Vec<Expr>),
    /// A time of day in seconds, with a.m./p.m. resolved where it was written (`None`: not written).
    Time {
        /// Seconds after midnight, 12-hour clock as written where `afternoon` is `None`.
        seconds: u32,
        /// Was a.m. (false) or p.m. (true) written?
        afternoon: Option<bool>,
    },
    /// Yes or no, true or false.
    Truth(bool),
    /// Words (also piecewise definitions and set-builders), as written without markup, spaces single.
    Text(String),
}

impl Answer {
    /// Calls `test` with every expression in the answer until it says true.
    pub(crate) fn any<'a>(&'a self, test: &mut dyn FnMut(&'a Expr) -> bool) -> bool {
        match self {
            Self::Quantity(quantity) => test(&quantity.value),
            Self::Relation(relation) => {
                relation.sides.iter().any(|side| side.any(test))
                    || relation.modulus.as_ref().is_some_and(test)
            }
            Self::Set(parts)
            | Self::List(parts)
            | Self::Tuple(parts)
            | Self::Union(parts)
            | Self::Intersection(parts) => parts.iter().any(|part| part.any(test)),
            Self::Difference(pair) => pair.0.any(test) || pair.1.any(test),
            Self::Interval(interval) => test(&interval.lower.value) || test(&interval.upper.value),
            Self::Matrix(matrix) => matrix.rows.iter().flatten().any(test),
            Self::Ratio(parts) => parts.iter().any(test),
            Self::Choice(_) | Self::Time { .. } | Self::Truth(_) | Self::Text(_) => false,
        }
    }
}

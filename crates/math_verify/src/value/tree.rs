//! The tree that the grammar yields: what stands where, before anything is given a meaning.

use super::token::Token;

/// A place in the list of nodes.
pub(super) type NodeId = u32;

/// A stretch of tokens, from and up to.
pub(super) type Span = (u32, u32);

/// What is written after an expression.
#[derive(Debug, Clone, Copy)]
pub(super) enum Suffix {
    Factorial,
    Transpose,
    Degree,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Node {
    /// Sum or difference (`Plus` or `Minus`).
    Additive(NodeId, Token, NodeId),
    /// Product, quotient or remainder.
    Product(NodeId, Token, NodeId),
    Negated(NodeId),
    /// The first of factors that stand side by side.
    Factors(NodeId, NodeId),
    Suffixed(NodeId, Suffix),
    Power(NodeId, NodeId),
    Absolute(NodeId),
    /// A length; only matrices would have one.
    Norm,
    Floor(NodeId),
    Ceiling(NodeId),
    Fraction(NodeId, NodeId, Span, Span),
    Binomial(NodeId, NodeId),
    /// Rows as a [`Node::List`] of [`Node::List`]s.
    Matrix(NodeId),
    Determinant(NodeId),
    /// A letter, Greek letter, symbol or accent with its subscript and superscript.
    Name {
        token: u32,
        subscript: Option<Span>,
        superscript: Option<NodeId>,
    },
    /// A number, a percentage, infinity, a differential, ….
    Literal(u32),
    /// A function of one argument.
    Function {
        token: u32,
        subscript: Option<NodeId>,
        superscript: Option<NodeId>,
        argument: NodeId,
    },
    /// A function of several arguments, or of a name without a meaning; the arguments are read again one by one.
    Call {
        name: Span,
        superscript: Option<NodeId>,
        arguments: Span,
        defined: bool,
    },
    Integral {
        lower: Option<NodeId>,
        upper: Option<NodeId>,
        body: Option<NodeId>,
        differential: Option<u32>,
    },
    Root {
        degree: Option<NodeId>,
        radicand: NodeId,
    },
    /// Σ or Π.
    Series {
        kind: Token,
        variable: NodeId,
        lower: NodeId,
        upper: NodeId,
        body: NodeId,
    },
    Limit {
        variable: u32,
        target: NodeId,
        from_below: bool,
        body: NodeId,
    },
    /// e to a power.
    Exponential(Option<NodeId>),
    /// An expression between `\langle` and `\rangle` has no meaning.
    Relation(NodeId, Token, NodeId),
    PlusMinus(Option<NodeId>, NodeId),
    /// The items before, the separator, and one more.
    List(Option<NodeId>, Token, NodeId),
    Interval {
        open: Token,
        close: Token,
        lower: NodeId,
        upper: NodeId,
    },
    NamedSet(u32),
    EmptySet,
    Tuple(NodeId),
    FiniteSet {
        items: NodeId,
        boxed: bool,
    },
    /// Names in parentheses, or one name.
    Names(NodeId),
    /// Names, `\in`, `=` or `\notin`, and what they are in or equal to.
    Membership(NodeId, Token, NodeId),
    /// `1, 2; 3` to the right of names.
    Elements(NodeId),
    /// Union, intersection, difference, subset, superset.
    SetOperation(NodeId, Token, NodeId),
}

/// How many ways to read a stretch are kept.
const MAX_WAYS: usize = 40;

/// The ways to read a stretch that begins at a given token: where each ends, and its tree; the preferred one first.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    first: Option<(NodeId, u32)>,
    more: Vec<(NodeId, u32)>,
}

impl Ends {
    /// Adds a way, unless one with the same end is there: what follows depends on the end alone.
    pub(super) fn push(&mut self, node: NodeId, end: u32) {
        match self.first {
            None => self.first = Some((node, end)),
            Some((_, there)) if there == end => {}
            Some(_) => {
                if self.more.len() < MAX_WAYS && self.more.iter().all(|(_, there)| *there != end) {
                    self.more.push((node, end));
                }
            }
        }
    }

    /// Adds several.
    pub(super) fn extend(&mut self, other: &Self) {
        for (node, end) in other.iter() {
            self.push(node, end);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// All of them, the preferred one first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, u32)> + '_ {
        self.first.iter().chain(&self.more).copied()
    }
}

//! The syntax tree of a template.
//!
//! Chains of operators, of suffixes and of branches are lists, so that only real nesting makes a tree deeper.

use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct Template {
    pub(super) block: Block,
    /// Every name that is read somewhere.
    pub(super) names: BTreeSet<String>,
}

pub(super) type Block = Vec<Statement>;

/// A statement and its line.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) line: usize,
    pub(super) kind: StatementKind,
}

#[derive(Debug)]
pub(super) enum StatementKind {
    Data(String),
    Print(Expression),
    If {
        /// Conditions and what they lead to.
        branches: Vec<(Expression, Block)>,
        otherwise: Block,
    },
    For(Box<For>),
    Set {
        targets: Target,
        value: Expression,
    },
    SetBlock {
        target: Target,
        filters: Vec<Filter>,
        body: Block,
    },
    With {
        given: Vec<(Target, Expression)>,
        body: Block,
    },
    Macro(Macro),
    CallBlock {
        /// The block's body, as a macro for the call.
        caller: Macro,
        /// What is called, with its suffixes, of which the last is the call.
        base: Box<Expression>,
        suffixes: Vec<Suffix>,
    },
    FilterBlock {
        filters: Vec<Filter>,
        body: Block,
    },
    /// A block that has variables of its own and changes nothing else: `block`, `generation`, `autoescape`.
    Scoped(Block),
    Break,
    Continue,
    /// A statement that needs other templates.
    Unsupported(String),
}

#[derive(Debug)]
pub(super) struct For {
    pub(super) target: Target,
    pub(super) over: Expression,
    pub(super) condition: Option<Expression>,
    pub(super) recursive: bool,
    pub(super) body: Block,
    pub(super) otherwise: Block,
}

/// The target of an assignment.
#[derive(Debug)]
pub(super) enum Target {
    Name(String),
    /// `namespace.attribute`
    Attribute(String, String),
    Several(Vec<Target>),
}

#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: String,
    pub(super) parameters: Vec<(String, Option<Expression>)>,
    pub(super) body: Block,
    /// Whether it reads `varargs`, so that it accepts more positional arguments than it names.
    pub(super) takes_more: bool,
    /// Whether it reads `kwargs`, so that it accepts keyword arguments that it does not name.
    pub(super) takes_other_names: bool,
}

#[derive(Debug)]
pub(super) struct Filter {
    pub(super) name: String,
    pub(super) arguments: Arguments,
}

#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) plain: Vec<Expression>,
    pub(super) named: Vec<(String, Expression)>,
    /// `*list`
    pub(super) more_plain: Option<Box<Expression>>,
    /// `**dictionary`
    pub(super) more_named: Option<Box<Expression>>,
}

#[derive(Debug)]
pub(super) enum Literal {
    None,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(std::sync::Arc<str>),
}

#[derive(Debug)]
pub(super) enum Expression {
    Literal(Literal),
    Name(String),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Dictionary(Vec<(Expression, Expression)>),
    /// `a if condition else b`. Conditions in a row are a list, of which the last is evaluated first and has the `else`; then `a` and `b`.
    Conditional(Box<(Vec<Expression>, Expression, Option<Expression>)>),
    Or(Vec<Expression>),
    And(Vec<Expression>),
    Not(Box<Expression>),
    /// The first operand, and each further one with its comparison.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// The first operand, and each further one with its operator, from the left.
    Arithmetic(Box<Expression>, Vec<(Operator, Expression)>),
    Concatenate(Vec<Expression>),
    Negative(Box<Expression>),
    Positive(Box<Expression>),
    /// A value and the suffixes applied to it, in order.
    Suffixed(Box<Expression>, Vec<Suffix>),
}

#[derive(Debug)]
pub(super) enum Suffix {
    Attribute(String),
    Item(Expression),
    Slice(Box<[Option<Expression>; 3]>),
    Call(Arguments),
    Filter(Filter),
    Test {
        negated: bool,
        name: String,
        arguments: Arguments,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

//! What the lexer hands to the parser.

use crate::algebra::{BinderKind, Constant, Function};
use crate::answer::Operator;

/// Pairs that enclose something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    /// `] [`, as some countries write the open end of an interval.
    Outward,
    /// Bare `{ }`: LaTeX groups, and sets in plain text.
    Group,
    Set,
    Angle,
    Floor,
    Ceiling,
    /// `\begin{…}` and `\end{…}`.
    Environment,
}

/// Environments whose cells are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// Matrices in any brackets.
    Matrix,
    /// Matrices between bars.
    Determinant,
    /// Definitions by cases, and systems.
    Cases,
}

/// Which side of a pair a bar says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `\left|`, `\lvert`.
    Left,
    /// `\right|`, `\rvert`.
    Right,
    /// A bare bar.
    Unknown,
}

/// Functions by how they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Of one argument, brackets optional.
    One(Function),
    /// Of several, in brackets.
    Many(Function),
    /// A logarithm: base ten unless a subscript says otherwise.
    Log,
    /// A logarithm to a base that the name tells.
    LogBase(u8),
    /// The natural logarithm.
    Ln,
    /// The exponential function.
    Exp,
    OneOver(Function),
    /// cos θ + i sin θ.
    Cis,
    Root(u8),
    /// One without a meaning here.
    Opaque(&'static str),
}

/// Commands that take arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structure {
    Fraction,
    /// `\sqrt`, √.
    Root,
    CubeRoot,
    FourthRoot,
    Binomial,
    Over,
    Choose,
    /// `\overset`, `\underset`: the first argument is a mark on the second.
    Overset,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind<'t> {
    /// A written number: its place among the lexer's numerals.
    Number(u32),
    /// A fraction in one character, such as ½.
    Vulgar(u8, u8),
    /// One letter, a factor of its own.
    Letter(char),
    Greek(&'static str),
    Constant(Constant),
    /// A run of letters that is a word and no product.
    Word(&'t str),
    /// The content of `\text{…}`.
    Text(&'t str),
    /// The content of `\mathrm{…}`: a name or a unit.
    Name(&'t str),
    Function(Named),
    /// A command with arguments.
    Structure(Structure),
    /// Σ, Π, ∫, lim.
    Big(BinderKind),
    /// A mark over a letter.
    Accent(&'static str),
    /// ∠, △: what follows names one thing.
    Object(&'static str),
    Domain(char),
    Begin(Environment),
    /// `&`.
    Cell,
    /// `\\`.
    Row,
    Open(Bracket),
    Close(Bracket),
    Bar(Side),
    Norm,
    Plus,
    Minus,
    PlusMinus,
    MinusPlus,
    Times,
    Divide,
    Caret,
    Underscore,
    /// `!`, several counted.
    Bang(u8),
    /// `'`, several counted.
    Prime(u8),
    Circle,
    Percent,
    /// `mod` as an operator.
    Modulo,
    Congruence,
    /// A currency, by its ISO code.
    Currency(&'static str),
    Comma,
    Semicolon,
    Colon,
    And,
    Or,
    Dots,
    Stop,
    Relation(Operator),
    Union,
    Intersection,
    SetMinus,
    EmptySet,
    Tends,
    Partial,
    /// Something that has no place in an answer.
    Other,
}

/// How much room stands before a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Tight,
    /// White space of any kind.
    Some,
    /// `\quad` or more.
    Wide,
}

/// What stands directly inside a bracket.
pub(super) mod inside {
    pub(in super::super) const COMMA: u8 = 1;
    pub(in super::super) const SEMICOLON: u8 = 2;
    pub(in super::super) const RELATION: u8 = 4;
    /// A bar or a colon.
    pub(in super::super) const SUCH_THAT: u8 = 8;
    pub(in super::super) const WORDS: u8 = 16;
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    /// First byte.
    pub(super) start: u32,
    /// One after the last byte.
    pub(super) end: u32,
    /// What stands before it.
    pub(super) space: Space,
    /// How many letters its run has, if it is the first of a run of single letters; 0 otherwise.
    pub(super) run: u8,
    /// Of an opening bracket: what is [`inside`].
    pub(super) holds: u8,
    /// Of a bracket: its counterpart.
    pub(super) mate: u32,
}

/// A number as it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numeral<'t> {
    /// Digits and what groups them.
    pub(super) text: &'t str,
    /// Where in `text` the decimal separator is.
    pub(super) point: Option<u32>,
    /// The power of ten after an `e`.
    pub(super) exponent: i64,
    /// The digits that repeat; empty if none do.
    pub(super) repeat: &'t str,
    /// Is it broken off by dots?
    pub(super) dots: bool,
    /// The base that a prefix such as `0x` names; 10 otherwise.
    pub(super) radix: u8,
}

impl<'t> Numeral<'t> {
    pub(super) fn digits(text: &'t str) -> Self {
        Self {
            text,
            point: None,
            exponent: 0,
            repeat: "",
            dots: false,
            radix: 10,
        }
    }
}

/// The value of a decimal digit in any script that models write.
pub(super) fn digit(character: char) -> Option<u8> {
    let value = match character {
        '0'..='9' => return Some(character as u8 - b'0'),
        '\u{ff10}'..='\u{ff19}' => character as u32 - 0xff10,
        '\u{660}'..='\u{669}' => character as u32 - 0x660,
        '\u{6f0}'..='\u{6f9}' => character as u32 - 0x6f0,
        '\u{966}'..='\u{96f}' => character as u32 - 0x966,
        '\u{9e6}'..='\u{9ef}' => character as u32 - 0x9e6,
        '\u{1d7ce}'..='\u{1d7ff}' => (character as u32 - 0x1d7ce) % 10,
        '²' | '³' | '¹' | '⁰'..='₉' => {
            let mut shifted = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉".chars();
            shifted.position(|it| it == character)? as u32 % 10
        }
        _ => return None,
    };
    Some(value as u8)
}

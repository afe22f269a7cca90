//! What LaTeX commands and characters mean: `lexicon/symbols.tsv` and the signs of currencies as tokens.

use std::sync::LazyLock;

use super::notation;
use super::token::{Bracket, Kind, Named, Side, Space, Structure};
use crate::algebra::{BinderKind, Constant};
use crate::lexicon::{self, Table, units};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    Emit(Kind<'static>),
    /// Nothing stands there.
    Skip,
    /// Nothing stands there, nor in the group after.
    SkipGroup,
    Space(Space),
    /// `\left`, `\right` and sizes: a delimiter follows.
    Delimiter(Side),
    /// `\text`: words.
    Text,
    /// `\mathrm`: an upright name.
    Name,
    Begin,
    End,
    Not,
}

/// Every spelling in the lexicon with its meaning: commands with their backslash, and characters.
fn entries() -> impl Iterator<Item = (&'static str, Action)> {
    let currencies = units::CURRENCY_SIGNS.iter();
    let currencies = currencies.map(|(sign, code)| (*sign, Action::Emit(Kind::Currency(code))));
    lexicon::rows(lexicon::SYMBOLS)
        .filter_map(|row| Some((meaning(row[0])?, *row.get(1)?)))
        .flat_map(|(meaning, spellings)| spellings.split(' ').map(move |it| (it, meaning)))
        .chain(currencies)
}

static COMMANDS: LazyLock<Table<&'static str, Action>> = LazyLock::new(|| {
    let command =
        |(spelling, action): (&'static str, _)| Some((spelling.strip_prefix('\\')?, action));
    entries().filter_map(command).collect()
});

static CHARACTERS: LazyLock<Table<char, Kind<'static>>> = LazyLock::new(|| {
    let character = |(spelling, action): (&'static str, _)| match action {
        Action::Emit(kind) => Some((spelling.chars().next().filter(|it| !it.is_ascii())?, kind)),
        _ => None,
    };
    entries().filter_map(character).collect()
});

/// What the first field of a row says.
#[rustfmt::skip]
fn meaning(text: &'static str) -> Option<Action> {
    let (what, which) = text.split_once(' ').unwrap_or((text, ""));
    let side = |which| match which {
        "left" => Side::Left, "right" => Side::Right,
        _ => Side::Unknown,
    };
    let function = || notation::function(which);
    Some(Action::Emit(match what {
        "skip" => return Some(Action::Skip), "skip-argument" => return Some(Action::SkipGroup), "space" => return Some(Action::Space(Space::Some)),
        "wide-space" => return Some(Action::Space(Space::Wide)), "delimiter" => return Some(Action::Delimiter(side(which))),
        "text" => return Some(Action::Text), "upright" => return Some(Action::Name), "begin" => return Some(Action::Begin),
        "end" => return Some(Action::End), "not" => return Some(Action::Not), "fraction" => Kind::Structure(Structure::Fraction),
        "root" => Kind::Structure(Structure::Root), "cube-root" => Kind::Structure(Structure::CubeRoot),
        "fourth-root" => Kind::Structure(Structure::FourthRoot), "binomial" => Kind::Structure(Structure::Binomial),
        "over" => Kind::Structure(Structure::Over), "choose" => Kind::Structure(Structure::Choose), "overset" => Kind::Structure(Structure::Overset),
        "plus" => Kind::Plus, "minus" => Kind::Minus, "times" => Kind::Times, "divide" => Kind::Divide, "plus-minus" => Kind::PlusMinus,
        "minus-plus" => Kind::MinusPlus, "sum" => Kind::Big(BinderKind::Sum), "product" => Kind::Big(BinderKind::Product),
        "integral" => Kind::Big(BinderKind::Integral), "limit" => Kind::Big(BinderKind::Limit), "pi" => Kind::Constant(Constant::Pi),
        "infinity" => Kind::Constant(Constant::Infinity), "letter" => Kind::Letter(which.chars().next()?), "greek" | "symbol" => Kind::Greek(which),
        "circle" => Kind::Circle, "prime" => Kind::Prime(which.parse().ok()?), "partial" => Kind::Partial, "tends" => Kind::Tends,
        "open" => Kind::Open(bracket(which)?), "close" => Kind::Close(bracket(which)?), "bar" => Kind::Bar(side(which)), "norm" => Kind::Norm,
        "percent" => Kind::Percent, "colon" => Kind::Colon, "semicolon" => Kind::Semicolon, "comma" => Kind::Comma, "stop" => Kind::Stop,
        "modulo" => Kind::Modulo, "congruence" => Kind::Congruence, "dots" => Kind::Dots, "relation" => Kind::Relation(notation::relation(which)?),
        "union" => Kind::Union, "intersection" => Kind::Intersection, "set-minus" => Kind::SetMinus, "empty-set" => Kind::EmptySet,
        "and" => Kind::And, "or" => Kind::Or, "accent" => Kind::Accent(which), "object" => Kind::Object(which),
        "domain" => Kind::Domain(which.chars().next()?), "underscore" => Kind::Underscore, "caret" => Kind::Caret, "factorial" => Kind::Bang(1),
        "other" => Kind::Other,
        "vulgar" => {
            let (above, below) = which.split_once('/')?;
            Kind::Vulgar(above.parse().ok()?, below.parse().ok()?)
        }
        "function" => Kind::Function(Named::One(function()?)), "functions" => Kind::Function(Named::Many(function()?)),
        "reciprocal" => Kind::Function(Named::OneOver(function()?)), "named" => Kind::Function(Named::Opaque(which)),
        "log" => Kind::Function(Named::Log), "log10" => Kind::Function(Named::LogBase(10)), "ln" => Kind::Function(Named::Ln),
        "exp" => Kind::Function(Named::Exp), "cis" => Kind::Function(Named::Cis), "cbrt" => Kind::Function(Named::Root(3)),
        _ => return None,
    }))
}

fn bracket(name: &str) -> Option<Bracket> {
    Some(match name {
        "round" => Bracket::Round,
        "square" => Bracket::Square,
        "set" => Bracket::Set,
        "angle" => Bracket::Angle,
        "floor" => Bracket::Floor,
        "ceiling" => Bracket::Ceiling,
        _ => return None,
    })
}

/// The command of a name without its backslash; `None` for unknown ones.
pub(super) fn command(name: &str) -> Option<Action> {
    COMMANDS.get(name)
}

/// Functions, by command and by plain name.
pub(super) fn function(name: &str) -> Option<Kind<'static>> {
    match command(name) {
        Some(Action::Emit(kind @ Kind::Function(_))) => Some(kind),
        _ => None,
    }
}

/// Greek letters, by command and by plain name; variants of one letter are one.
pub(super) fn greek(name: &str) -> Option<Kind<'static>> {
    match command(name) {
        Some(Action::Emit(kind @ Kind::Greek(_))) => Some(kind),
        _ => None,
    }
}

/// A character beyond ASCII.
pub(super) fn character(character: char) -> Option<Kind<'static>> {
    CHARACTERS.get(&character)
}

#[cfg(test)]
mod tests;

//! What stands after a value: where it begins, where it ends, and what it is.

use super::letters::is_wordlike;
use super::parser::Parser;
use super::plain::plain_text;
use super::token::{Bracket, Kind, Named, Space, Structure};
use super::units;
use crate::algebra::{Constant, Function, Rational};
use crate::answer::Unit;
use crate::lexicon::numbers;
use crate::lexicon::units::{currency, is_bare_unit, is_unit, long_currency};
use crate::lexicon::words;

/// How many tokens before a term are looked at.
const MOST_BACK: usize = 64;
/// How many letters the symbol of a unit has at most: `kcal`, `mmHg`.
const LONGEST_UNIT: usize = 4;

/// What stands after a value.
#[derive(Debug, Clone)]
pub(super) enum Suffix {
    /// A percent sign or word.
    Percent,
    /// A currency: its code, and how many of what is named make one.
    Currency(&'static str, u32),
    Unit(Unit),
    /// `base 5`.
    Base(u32),
}

/// Does nothing follow that could belong to a value?
pub(super) fn ends_quantity(parser: &Parser<'_>, at: usize) -> bool {
    let Some(token) = parser.at(at) else {
        return true;
    };
    token.space == Space::Wide
        || matches!(
            token.kind,
            Kind::Comma
                | Kind::Semicolon
                | Kind::And
                | Kind::Or
                | Kind::Relation(_)
                | Kind::Colon
                | Kind::Row
                | Kind::Cell
                | Kind::Union
                | Kind::Intersection
                | Kind::Congruence
                | Kind::Stop
        )
}

pub(super) fn suffix_follows(parser: &Parser<'_>, at: usize, strict: bool) -> bool {
    read_suffix(parser, at, strict).is_some()
}

/// Is the next letter the beginning of a unit, given where the product began?
pub(super) fn is_unit_letter(parser: &Parser<'_>, start: usize) -> bool {
    let Some(token) = parser.at(parser.pos()) else {
        return false;
    };
    let spaced = token.space != Space::Tight;
    if scale_letters(parser, start).is_some() {
        return true;
    }
    let before = parser.kind_before(1);
    if token.run == 0
        || !matches!(
            before,
            Some(
                Kind::Number(_) | Kind::Close(_) | Kind::Vulgar(..) | Kind::Constant(Constant::Pi)
            )
        )
    {
        return false;
    }
    let run = usize::from(token.run);
    // `k\Omega`
    let prefixes = run == 1 && matches!(parser.ahead(1), Some(Kind::Greek(_)));
    if prefixes && suffix_follows(parser, parser.pos(), true) {
        return true;
    }
    let letters = parser.source(parser.pos(), parser.pos() + run);
    let rest = || parser.source(1, parser.limit()).split(" of ").next();
    let alone = || start == 0 && rest().is_some_and(|it| units::unit(it).is_some());
    let how = u8::from(spaced) + u8::from(spaced && parser.pos() == 1 && alone());
    let known = if run == 1 {
        // Only right after a number: plain, or "10π" and "2√3" without a command of LaTeX.
        let mut value = parser.source(start, parser.pos()).chars();
        let written = spaced && value.all(|it| it.is_ascii_digit() || ".π√".contains(it));
        let plain = written || parser.pos() == start + 1 || is_power_of_ten_before(parser);
        plain && is_bare_unit(letters, how) && !is_term_of_formula(parser, start)
    } else {
        is_bare_unit(letters, how)
            || currency(letters).is_some()
            || long_currency(parser.source(parser.pos(), parser.pos() + run + 1)).is_some()
            || words::ABBREVIATED.contains(letters)
            || (spaced && is_wordlike(letters))
    };
    known && suffix_follows(parser, parser.pos(), false)
}

/// Is a fraction of units next: of names, `\frac{\text{m}}{\text{s}}`, or right after a number of letters that are one there, `9.8 \frac{m}{s^2}`?
pub(super) fn is_unit_fraction(parser: &Parser<'_>, start: usize) -> bool {
    let (at, spaced) = (parser.pos(), parser.space() != Space::Tight);
    let is_bare = |at: usize, how| {
        let run = parser.at(at).map_or(0, |it| usize::from(it.run));
        run > 0 && is_bare_unit(parser.source(at, at + run), how)
    };
    let named = match parser.ahead(2) {
        Some(Kind::Text(_) | Kind::Name(_)) => true,
        Some(Kind::Letter(_)) => {
            let below = parser.mate(at + 1) + 1;
            // `3 \frac{g}{L}` may be of variables.
            let lone = parser.mate(below) == at + 6;
            let before = |at: usize| parser.any_kind_at(at);
            let number = at == start + 1 && matches!(before(start), Some(Kind::Number(_)));
            let follows = |it| matches!(it, Some(Kind::Relation(_) | Kind::Comma));
            (start < 2 || follows(before(start - 1)))
                && (number || is_power_of_ten_before(parser))
                && is_bare(at + 2, u8::from(spaced && !lone))
                && is_bare(below + 1, 1)
        }
        _ => false,
    };
    named && suffix_follows(parser, parser.pos(), true)
}

/// Is the term that begins at `start` one of several with letters, as in `2m^2 + 3 m`, or in a fraction?
fn is_term_of_formula(parser: &Parser<'_>, start: usize) -> bool {
    let before = |back: usize| {
        start
            .checked_sub(back)
            .and_then(|at| parser.any_kind_at(at))
    };
    let in_group = parser.any_kind_at(parser.limit()) == Some(Kind::Close(Bracket::Group))
        && before(1) == Some(Kind::Open(Bracket::Group))
        && matches!(
            before(2),
            Some(Kind::Structure(_) | Kind::Close(Bracket::Group) | Kind::Caret)
        );
    let summed = matches!(before(1), Some(Kind::Plus | Kind::Minus));
    in_group || summed && (2..MOST_BACK).any(|back| matches!(before(back), Some(Kind::Letter(_))))
}

/// What the letters that are next scale a number by, and how many they are: `$120k`, `$1.5M`, `3 bn`.
pub(super) fn scale_letters(parser: &Parser<'_>, start: usize) -> Option<(u64, usize)> {
    let (at, token) = (parser.pos(), parser.at(parser.pos())?);
    let run = usize::from(token.run);
    if run == 0 || at != start + 1 || !matches!(parser.kind_before(1), Some(Kind::Number(_))) {
        return None;
    }
    let (ends, before) = (ends_quantity(parser, at + run), start.checked_sub(1));
    let priced = before.is_some_and(|it| matches!(parser.any_kind_at(it), Some(Kind::Currency(_))));
    let tight = token.space == Space::Tight;
    let letters = parser.source(at, at + run).to_ascii_lowercase();
    // "2bn" may be a product.
    let apart = run > 1 && (priced || !tight) && !is_term_of_formula(parser, start);
    let named = || apart && (ends || suffix_follows(parser, at + run, false));
    let price = (priced && tight && ends).then(|| numbers::scale(&format!("${letters}")));
    let scale = price
        .flatten()
        .or_else(|| numbers::scale(&letters).filter(|_| named()));
    Some((scale?, run))
}

/// Does a power of ten end right here, as in `3 \times 10^8 m`?
pub(super) fn is_power_of_ten_before(parser: &Parser<'_>) -> bool {
    let Some(last) = parser.pos().checked_sub(1) else {
        return false;
    };
    let open = match parser.any_kind_at(last) {
        Some(Kind::Close(_)) => parser.mate(last),
        Some(Kind::Number(_)) => last,
        _ => return false,
    };
    open >= 2
        && parser.any_kind_at(open - 1) == Some(Kind::Caret)
        && matches!(parser.any_kind_at(open - 2), Some(Kind::Number(_)))
}

/// Is a unit of temperature next, `°C`?
pub(super) fn is_temperature(parser: &Parser<'_>) -> bool {
    matches!(read_suffix(parser, parser.pos(), true), Some((Suffix::Unit(unit), _)) if !unit.offset.is_zero())
}

/// The suffix from a token on, and where it ends. Where it does not reach to the end of the value there is none. `strict`: only real units.
pub(super) fn read_suffix(parser: &Parser<'_>, at: usize, strict: bool) -> Option<(Suffix, usize)> {
    let first = parser.at(at)?;
    match first.kind {
        Kind::Percent if !strict => {
            return ends_quantity(parser, at + 1).then_some((Suffix::Percent, at + 1));
        }
        Kind::Currency(code) if !strict => {
            return ends_quantity(parser, at + 1).then_some((Suffix::Currency(code, 1), at + 1));
        }
        Kind::Word("base" | "Base") | Kind::Text("base") if !strict => {
            let base = u32::try_from(parser.small_at(at + 1)?).ok()?;
            return ends_quantity(parser, at + 2).then_some((Suffix::Base(base), at + 2));
        }
        _ => {}
    }
    let (mut text, words, end) = suffix_text(parser, at)?;
    if text.contains('~') {
        text = text.replace('~', " ");
    }
    if !ends_quantity(parser, end) && !matches!(parser.kind_at(end), Some(Kind::Number(_))) {
        return None;
    }
    let trimmed = text.trim();
    if !strict {
        if words::PERCENT.contains(trimmed.trim_end_matches('.')) {
            return Some((Suffix::Percent, end));
        }
        if let Some((code, parts)) = currency(trimmed) {
            return Some((Suffix::Currency(code, parts), end));
        }
    }
    // "500 mg of folic acid"
    let of = trimmed.split_once(" of ").filter(|_| !strict);
    let partial = || units::unit(of?.0);
    if let Some(mut unit) = units::unit(trimmed).or_else(partial) {
        if unit.name.contains('\\') {
            let fraction = trimmed.contains("frac").then(|| units::plain(trimmed));
            let name = fraction.unwrap_or_else(|| plain_text(trimmed));
            unit.name = name.trim().into();
        }
        return Some((Suffix::Unit(unit), end));
    }
    if strict || !words || !is_label(trimmed) || is_after_unit(parser, at) {
        return None;
    }
    let name = plain_text(trimmed);
    let words = name.trim_matches(['.', ' ', '~']).split_whitespace();
    Some((
        Suffix::Unit(Unit {
            name: words.collect::<Vec<_>>().join(" ").into(),
            dimension: None,
            size: Rational::from(1),
            offset: Rational::from(0),
        }),
        end,
    ))
}

/// Do letters that may be a unit stand between a number and this token, as in `20 N upward` and `60 dB gain`?
pub(super) fn is_after_unit(parser: &Parser<'_>, from: usize) -> bool {
    let is_letter = |at: &usize| matches!(parser.kind_at(*at), Some(Kind::Letter(_)));
    let run = (0..from).rev().take_while(is_letter);
    let set_off = |at: &usize| parser.at(*at).is_some_and(|it| it.space != Space::Tight);
    let begins = run.take(LONGEST_UNIT).find(set_off);
    matches!(parser.kind_at(from), Some(Kind::Word(_) | Kind::Letter(_)))
        && begins.is_some_and(|at| {
            at + 1 == from
                || !parser.source(from, parser.limit()).starts_with("of ")
                    && is_unit(parser.source(at, from))
        })
}

/// The text of what may be a unit, whether it is made of words, and where it ends.
pub(super) fn suffix_text(parser: &Parser<'_>, from: usize) -> Option<(String, bool, usize)> {
    let mut text = String::new();
    let mut all_words = true;
    let mut labelled = false;
    let mut at = from;
    let mut parts = 0;
    while let Some(token) = parser.at(at) {
        parts += 1;
        if parts > 40 || text.len() > 120 || (token.space == Space::Wide && at > from) {
            break;
        }
        if token.space != Space::Tight && at > from {
            text.push(' ');
        }
        match token.kind {
            // `\text{m}\text{s}` does not make a word.
            Kind::Word(word) | Kind::Text(word) => text.push_str(word),
            Kind::Name(word) => {
                if at > from && !text.ends_with([' ', '/', '·']) {
                    text.push('·');
                }
                text.push_str(word);
                all_words &=
                    word.chars().count() >= 3 && word.chars().all(|c| c.is_lowercase() || c == ' ');
            }
            Kind::Letter(letter) => {
                let run = usize::from(token.run);
                if run > 1 {
                    let letters = parser.source(at, at + run);
                    text.push_str(letters);
                    let wordlike = is_wordlike(letters)
                        || words::ABBREVIATED.contains(letters)
                        || text.len() > letters.len();
                    all_words &= wordlike && (token.space != Space::Tight || at > from);
                    at += run;
                    continue;
                }
                text.push(letter);
                all_words &= at > from && letter == 'a';
            }
            Kind::Function(Named::One(Function::Sec) | Named::Many(Function::Min)) => {
                text.push_str(parser.source(at, at + 1));
                all_words = false;
            }
            Kind::Caret => {
                let grouped = parser.at(at + 1)?.kind == Kind::Open(Bracket::Group);
                let first = at + 1 + usize::from(grouped);
                let minus = parser.at(first)?.kind == Kind::Minus;
                let last = if grouped {
                    parser.mate(at + 1)
                } else {
                    first + usize::from(minus)
                };
                let inner = first..last + usize::from(!grouped);
                if !(1..=3).contains(&inner.len()) {
                    return None;
                }
                if parser.at(first)?.kind == Kind::Circle {
                    text.push('°');
                } else {
                    text.push('^');
                    for inner in inner {
                        match parser.at(inner)?.kind {
                            Kind::Minus => text.push('-'),
                            Kind::Number(_) => {
                                let digits = parser.source(inner, inner + 1).chars();
                                let digits = digits.filter_map(super::token::digit);
                                text.extend(digits.map(|it| char::from(b'0' + it)));
                            }
                            _ => return None,
                        }
                    }
                    // `units^2` is still a label.
                    labelled = all_words;
                }
                at = last;
                all_words = labelled;
            }
            Kind::Number(_)
                if token.space == Space::Tight
                    && at > from
                    && matches!(parser.at(at - 1)?.kind, Kind::Letter(_) | Kind::Minus) =>
            {
                text.push_str(parser.source(at, at + 1));
                all_words = false;
            }
            Kind::Divide if at > from => text.push('/'),
            Kind::Times if at > from => {
                text.push('·');
                all_words = false;
            }
            Kind::Circle => {
                text.push('°');
                all_words = false;
            }
            Kind::Structure(Structure::Fraction)
                if at == from
                    && matches!(
                        parser.at(at + 2)?.kind,
                        Kind::Text(_) | Kind::Name(_) | Kind::Letter(_)
                    ) =>
            {
                let (above, below) = (at + 1, parser.mate(at + 1) + 1);
                let group = |at| parser.kind_at(at) == Some(Kind::Open(Bracket::Group));
                if !group(above) || !group(below) || parser.mate(below) > from + 24 {
                    return None;
                }
                text.push_str(parser.source(above + 1, below - 1));
                text.push_str("/(");
                text.push_str(parser.source(below + 1, parser.mate(below)));
                text.push(')');
                at = parser.mate(below);
                all_words = false;
            }
            Kind::Greek(name @ ("mu" | "Omega")) => {
                text.push(if name == "mu" { 'µ' } else { 'Ω' });
                all_words = false;
            }
            Kind::Other if parser.source(at, at + 1) == "¢" => text.push('¢'),
            Kind::Greek(letter) if parser.source(at, at + 1) == letter => text.push_str(letter),
            Kind::Stop if at > from && parser.at(at + 1).is_some() => text.push('.'),
            Kind::Minus
                if at > from
                    && token.space == Space::Tight
                    && parser.is_tight_at(at + 1)
                    && matches!(
                        parser.kind_at(at + 1),
                        Some(Kind::Word(_) | Kind::Letter(_))
                    ) =>
            {
                text.push('-');
            }
            Kind::Open(Bracket::Round | Bracket::Group)
                if at > from && matches!(parser.at(at - 1)?.kind, Kind::Divide | Kind::Times) =>
            {
                text.push('(');
                all_words = false;
            }
            Kind::Close(Bracket::Round | Bracket::Group)
                if text.matches('(').count() > text.matches(')').count() =>
            {
                text.push(')');
            }
            _ => break,
        }
        at += 1;
    }
    // A space that a following number caused is none of the unit.
    (at > from).then_some((text, all_words, at))
}

/// Can words be the name of what is counted?
fn is_label(text: &str) -> bool {
    let mut count = 0;
    for word in text.split([' ', '-', '/']).filter(|word| !word.is_empty()) {
        count += 1;
        if words::NO_LABEL.contains(word)
            || count == 1
                && (words::FOREIGN_SCALE.contains(word) || numbers::leading_scale(word).is_some())
        {
            return false;
        }
    }
    (1..=6).contains(&count) && text.chars().any(char::is_alphabetic)
}

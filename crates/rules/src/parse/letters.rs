//! What a run of plain letters is: a function, a constant, a connective, a word, or a product of letters.

use super::command::{function, greek};
use super::token::{Kind, Named, Structure};
use crate::algebra::{BinderKind, Constant, Function};
use crate::lexicon::units::is_unit;
use crate::lexicon::words;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Run<'t> {
    One(Kind<'t>),
    Letters,
    /// Functions with letters around them, such as `xsinx`: lengths and tokens.
    Parts(Vec<(usize, Kind<'t>)>),
}

/// Reads a run; `tight` says that a digit stands right before it, `next` what follows after spaces.
pub(super) fn read(run: &str, tight: bool, next: Option<char>) -> Run<'_> {
    if run.len() == 3 && words::SHORT_WORD.contains_exactly(run) {
        return Run::One(Kind::Word(run));
    }
    // Names of statistics and algebra, as `\operatorname` gives them.
    if next == Some('(') && matches!(run, "Var" | "Cov" | "Corr" | "Res" | "rank" | "tr") {
        return Run::One(Kind::Name(run));
    }
    if let Some(kind) = keyword(run, next) {
        return Run::One(kind);
    }
    if run.len() < 3 {
        return if tight && matches!(run, "th" | "st" | "nd" | "rd") {
            Run::One(Kind::Word(run))
        } else {
            Run::Letters
        };
    }
    if !run.is_ascii() {
        return Run::One(Kind::Word(run));
    }
    if let Some(parts) = parts(run, tight) {
        return Run::Parts(parts);
    }
    if run.len() == 3 || (run.len() <= 12 && is_product(run)) {
        return Run::Letters;
    }
    Run::One(Kind::Word(run))
}

/// Names with a meaning.
fn keyword(run: &str, next: Option<char>) -> Option<Kind<'_>> {
    let opens = matches!(next, Some('(' | '{' | '['));
    Some(match run {
        "and" | "And" | "AND" => Kind::And,
        "or" | "Or" | "OR" => Kind::Or,
        "pi" | "Pi" | "PI" => Kind::Constant(Constant::Pi),
        "infinity" | "Infinity" | "infty" | "oo" | "inf" | "Inf" => {
            Kind::Constant(Constant::Infinity)
        }
        "sqrt" | "Sqrt" => Kind::Structure(Structure::Root),
        "binom" | "comb" if opens => Kind::Structure(Structure::Binomial),
        "factorial" if opens => Kind::Function(Named::One(Function::Factorial)),
        "mod" => Kind::Modulo,
        "choose" if next.is_some_and(|it| it.is_ascii_digit()) => {
            Kind::Structure(Structure::Choose)
        }
        "union" => Kind::Union,
        "sum" if next == Some('_') => Kind::Big(BinderKind::Sum),
        "prod" if next == Some('_') => Kind::Big(BinderKind::Product),
        "int" if next == Some('_') => Kind::Big(BinderKind::Integral),
        "lim" if next == Some('_') => Kind::Big(BinderKind::Limit),
        "min" | "max" | "abs" | "floor" | "ceil" | "sign" | "sgn" | "gcd" | "lcm" | "det"
        | "arg" | "Re" | "Im"
            if !opens =>
        {
            return None;
        }
        "sec" if !(opens || matches!(next, Some('x' | 'y' | 't' | '^' | '²'))) => return None,
        "sh" | "ch" | "th" | "tg" | "ctg" | "deg" | "dim" | "ker" | "Pr" | "Arg" | "sup"
        | "cth" | "LCM" | "ceiling" | "signum" => return None,
        "mu" => Kind::Greek("mu"),
        _ if run.len() < 2 => return None,
        _ => function(run).or_else(|| greek(run).filter(|_| run.len() >= 3))?,
    })
}

/// A function or more with at most three letters of usual variables around them.
fn parts(run: &str, tight: bool) -> Option<Vec<(usize, Kind<'_>)>> {
    let is_word = run.len() > 16 || words::NO_FUNCTION_IN_RUN.contains(run);
    if is_word || !words::FUNCTION_IN_RUN.within(run) {
        return None;
    }
    let mut parts = Vec::new();
    let mut rest = run;
    let mut single = 0;
    while !rest.is_empty() {
        if let Some((name, following)) = words::FUNCTION_IN_RUN.begin(rest)
            && (tight || name != "pi")
        {
            let kind = match name {
                "pi" => Kind::Constant(Constant::Pi),
                "sqrt" => Kind::Structure(Structure::Root),
                name => function(name)?,
            };
            parts.push((name.len(), kind));
            rest = following;
            continue;
        }
        let letter = rest.chars().next()?;
        single += 1;
        let usual = "xyztnkabmABCXY".contains(letter) || (tight && "rhRid".contains(letter));
        if single > 3 || !usual {
            return None;
        }
        parts.push((1, Kind::Letter(letter)));
        rest = rest.get(1..)?;
    }
    (parts.len() > single).then_some(parts)
}

/// Is a run of four letters or more a product of letters rather than a word?
fn is_product(run: &str) -> bool {
    if run.bytes().all(|byte| byte.is_ascii_uppercase()) {
        let shouted = words::CAPITALS.contains(run) || super::spelled::small_number(run).is_some();
        return run.len() <= 4 && !shouted || !run.contains(['A', 'E', 'I', 'O', 'U', 'Y']);
    }
    if is_unit(run) {
        return false;
    }
    let among = |letters: &str| run.chars().all(|letter| letters.contains(letter));
    among("abcd")
        || among("abcxyz")
        || !run.contains(['a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U'])
}

/// Does a run of letters look like a word: lower case with a vowel, and none of the usual products?
pub(super) fn is_wordlike(run: &str) -> bool {
    run.len() >= 3
        && run.bytes().all(|byte| byte.is_ascii_lowercase())
        && run.contains(['a', 'e', 'i', 'o', 'u'])
        && !run.contains('q')
        && !run.chars().all(|letter| "abcxyz".contains(letter))
}

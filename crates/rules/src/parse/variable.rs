//! Letters: variables with their subscripts and primes, constants, and functions without a meaning.

use super::parser::{Parsed, Parser};
use super::token::{Bracket, Kind, Space};
use super::{operand, pratt};
use crate::algebra::{Constant, Expr, Function};

/// A letter that stands alone.
pub(super) fn bare_letter(parser: &Parser<'_>, letter: char) -> Expr {
    match letter {
        'e' if !parser.is_bound("e") => Expr::Constant(Constant::E),
        'i' if !parser.vectors && !parser.is_bound("i") => Expr::Constant(Constant::ImaginaryUnit),
        _ => {
            let mut buffer = [0; 4];
            Expr::Symbol((&*letter.encode_utf8(&mut buffer)).into())
        }
    }
}

pub(super) fn letter(parser: &mut Parser<'_>, letter: char) -> Parsed<Expr> {
    parser.skip(1);
    match parser.peek() {
        Some(Kind::Underscore | Kind::Prime(_)) => return named(parser, letter.to_string()),
        Some(Kind::Caret) if pratt::is_raised_prime(parser) => {
            return named(parser, letter.to_string());
        }
        Some(Kind::Caret) if is_function(letter) => {
            let name = letter.to_string();
            return raised_function(parser, &name)
                .map_or_else(|| Ok(bare_letter(parser, letter)), Ok);
        }
        Some(Kind::Open(Bracket::Round)) => {
            let mut buffer = [0; 4];
            let name = &*letter.encode_utf8(&mut buffer);
            if let Some(applied) = application(parser, name) {
                return Ok(applied);
            }
        }
        _ => {}
    }
    Ok(bare_letter(parser, letter))
}

pub(super) fn greek(parser: &mut Parser<'_>, name: &str) -> Parsed<Expr> {
    parser.skip(1);
    if name == "Gamma" && parser.opens(Bracket::Round) && !parser.has_entries(parser.pos()) {
        let argument = parser.within(pratt::expression)?;
        return Ok(Expr::Call(Function::Gamma, vec![argument]));
    }
    // `\Delta x` is one thing.
    if name == "Delta"
        && let Some(Kind::Letter(letter)) = parser.peek()
    {
        parser.skip(1);
        return named(parser, format!("Delta {letter}"));
    }
    named(parser, name.to_owned())
}

pub(super) fn name(parser: &mut Parser<'_>, name: &str) -> Parsed<Expr> {
    parser.skip(1);
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        if matches!(parser.peek(), Some(Kind::Underscore | Kind::Prime(_))) {
            let arranged = letter == 'A' && parser.peek() == Some(Kind::Underscore);
            let symbol = named(parser, name.to_owned())?;
            // `\mathrm{A}_5^2` counts arrangements.
            if arranged
                && parser.peek() == Some(Kind::Caret)
                && let Expr::Symbol(name) = &symbol
                && let Some(Ok(below)) = name.strip_prefix("A_").map(str::parse::<i64>)
            {
                parser.skip(1);
                let above = operand::argument(parser)?;
                return Ok(Expr::Call(
                    Function::Permutations,
                    vec![Expr::integer(below), above],
                ));
            }
            return Ok(symbol);
        }
        return Ok(bare_letter(parser, letter));
    }
    named(
        parser,
        name.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

/// A name with what is attached to it: subscripts, primes, arguments.
pub(super) fn named(parser: &mut Parser<'_>, mut name: String) -> Parsed<Expr> {
    for _ in 0..8 {
        match parser.peek() {
            Some(Kind::Prime(count)) => {
                parser.skip(1);
                name.extend(std::iter::repeat_n('\'', usize::from(count)));
            }
            Some(Kind::Caret) if pratt::is_raised_prime(parser) => {
                let start = parser.pos();
                pratt::pass_raised(parser);
                // Of a group, without its brackets.
                let count = (parser.pos() - start - 1).saturating_sub(2).max(1);
                name.extend(std::iter::repeat_n('\'', count));
            }
            Some(Kind::Underscore) => {
                parser.skip(1);
                let below = raw_argument(parser)?;
                name.push('_');
                name.push_str(&below);
            }
            _ => break,
        }
    }
    // `C_n^k` counts choices.
    if let Some(rest) = name.strip_prefix("C_")
        && rest.bytes().all(|byte| byte.is_ascii_digit())
        && parser.peek() == Some(Kind::Caret)
        && let Ok(below) = rest.parse::<i64>()
    {
        parser.skip(1);
        let above = operand::argument(parser)?;
        return Ok(Expr::Call(
            Function::Binomial,
            vec![Expr::integer(below), above],
        ));
    }
    if parser.opens(Bracket::Round)
        && let Some(applied) = application(parser, &name)
    {
        return Ok(applied);
    }
    if name.starts_with(is_function)
        && parser.peek() == Some(Kind::Caret)
        && let Some(applied) = raised_function(parser, &name)
    {
        return Ok(applied);
    }
    Ok(Expr::Symbol(name.into()))
}

/// `f^{-1}(x)`, `f^{(4)}(x)`: a function with a raised mark, if brackets follow.
fn raised_function(parser: &mut Parser<'_>, name: &str) -> Option<Expr> {
    parser.attempt(|parser| {
        parser.skip(1);
        // "f⁻¹" in plain text.
        let mark = raw_argument(parser)?.replace('⁻', "-");
        if !parser.opens(Bracket::Round) || parser.space() != Space::Tight {
            return Err(parser.error("no arguments"));
        }
        let arguments = parser.within(operand::arguments)?;
        Ok(Expr::Apply(format!("{name}^{mark}").into(), arguments))
    })
}

/// What brackets after a name hold, if it is a function there.
fn application(parser: &mut Parser<'_>, name: &str) -> Option<Expr> {
    let mut letters = name.chars();
    let first = letters.next()?;
    let simple = letters.next().is_none();
    let spaced = parser.space() != Space::Tight;
    let open = parser.pos();
    let close = parser.mate(open);
    let entries = parser.has_entries(open);
    if matches!(name, "C" | "P") && entries {
        return counted(parser, name, open);
    }
    let defined = !spaced && is_defined_here(parser, open, close);
    let function = is_function(first)
        || name.contains('\'')
        || matches!(
            name,
            "phi" | "psi" | "zeta" | "Phi" | "Psi" | "tau" | "Pr" | "Var" | "erf"
        )
        || (entries && (name.len() > 1 || first.is_ascii_uppercase()));
    if !(function || defined) || (spaced && !matches!(name, "f" | "g")) {
        return None;
    }
    let bound = parser.pos();
    let arguments = parser.attempt(|parser| parser.within(operand::arguments));
    let Some(arguments) = arguments else {
        // Events and such: P(A | B).
        if matches!(name, "P" | "E" | "Pr" | "Var") && close > open && close < parser.limit() {
            let inner = parser.source(open + 1, close).replace("\\mid", "|");
            let inner: String = inner.split_whitespace().collect();
            parser.seek(close + 1);
            return Some(Expr::Symbol(format!("{name}({inner})").into()));
        }
        return None;
    };
    // `P(1 + r)^n`, `h(a + b)`, `g(R + h)` are products.
    if name == "E"
        && !matches!(&*arguments, [Expr::Symbol(of)] if of.starts_with(char::is_uppercase))
    {
        parser.seek(bound);
        return None;
    }
    let raised = parser.peek() == Some(Kind::Caret);
    let doubtful = (matches!(name, "P" | "T" | "Q" | "S" | "W" | "G" | "F") && raised)
        || (matches!(name, "h" | "g" | "P" | "G" | "F" | "S" | "T" | "W")
            && !is_argument(&arguments));
    if simple && doubtful && !defined {
        parser.seek(bound);
        return None;
    }
    Some(Expr::Apply(name.into(), arguments))
}

/// Is `x(t)` right before an equals sign, at the start of a side?
fn is_defined_here(parser: &Parser<'_>, open: usize, close: usize) -> bool {
    let name_start = open.saturating_sub(1);
    let starts = name_start == 0
        || matches!(
            parser.any_kind_at(name_start - 1),
            Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or | Kind::Row | Kind::Open(_))
        );
    starts
        && matches!(
            parser.kind_at(close + 1),
            Some(Kind::Relation(
                crate::answer::Operator::Equal | crate::answer::Operator::Approximately
            ))
        )
        && close > open + 1
        && close <= open + 8
        && (open + 1..close).all(|index| {
            matches!(
                parser.kind_at(index),
                Some(Kind::Letter(_) | Kind::Greek(_) | Kind::Number(_) | Kind::Comma)
            )
        })
}

/// `C(n, k)` and `P(n, k)`.
fn counted(parser: &mut Parser<'_>, name: &str, open: usize) -> Option<Expr> {
    parser.attempt(|parser| {
        let arguments = parser.within(operand::arguments)?;
        let zero = crate::algebra::Rational::from(0);
        let natural = |expr: &Expr| {
            matches!(expr, Expr::Number(value) if value.denominator().is_one() && *value >= zero)
        };
        let named = |expr: &Expr| matches!(expr, Expr::Symbol(name) if matches!(&**name, "n" | "k" | "r" | "m"));
        let [above, below] = &*arguments else {
            return Ok(Expr::Apply(name.into(), arguments));
        };
        let smaller = matches!((above, below), (Expr::Number(a), Expr::Number(b)) if b <= a);
        let numbers = natural(above) && natural(below) && smaller;
        Ok(match name {
            "C" if numbers || (named(above) && (named(below) || natural(below))) => {
                Expr::Call(Function::Binomial, arguments)
            }
            "P" if numbers => Expr::Call(Function::Permutations, arguments),
            _ => Expr::Apply(name.into(), arguments),
        })
    })
    .or_else(|| {
        parser.seek(open);
        None
    })
}

/// The tokens of an argument as a name: `max`, `n+1` in brackets.
pub(super) fn raw_argument(parser: &mut Parser<'_>) -> Parsed<String> {
    let (from, to) = if parser.opens(Bracket::Group) {
        let close = parser.mate(parser.pos());
        if close >= parser.limit() {
            return Err(parser.error("a bracket is not closed"));
        }
        let inner = (parser.pos() + 1, close);
        parser.seek(close + 1);
        inner
    } else if parser.ended() {
        return Err(parser.error("a subscript is missing"));
    } else {
        let start = parser.pos();
        // In plain text a run of letters is one subscript: `x_max`.
        let run = match parser.peek() {
            Some(Kind::Letter(_)) => {
                usize::from(parser.at(start).map_or(1, |token| token.run)).max(1)
            }
            Some(
                Kind::Number(_)
                | Kind::Greek(_)
                | Kind::Word(_)
                | Kind::Text(_)
                | Kind::Name(_)
                | Kind::Function(_)
                | Kind::Constant(_)
                | Kind::Times
                | Kind::Plus
                | Kind::Object(_),
            ) => 1,
            _ => return Err(parser.error("a subscript is missing")),
        };
        parser.seek(start + run);
        (start, start + run)
    };
    let mut name = String::new();
    let mut plain = true;
    for index in from..to {
        let Some(kind) = parser.any_kind_at(index) else {
            break;
        };
        let text = parser.source(index, index + 1);
        match kind {
            Kind::Greek(greek) => name.push_str(greek),
            Kind::Text(text) | Kind::Name(text) | Kind::Word(text) => {
                name.extend(text.chars().filter(|c| !c.is_whitespace()));
            }
            Kind::Number(_) => {
                name.extend(text.chars().filter_map(|c| match super::token::digit(c) {
                    Some(digit) => char::from_digit(u32::from(digit), 10),
                    None => (c == '.').then_some(c),
                }));
            }
            Kind::Open(Bracket::Group) | Kind::Close(Bracket::Group) => {}
            Kind::Letter(letter) => name.push(letter),
            Kind::Comma => name.push(','),
            // `v_{\mathrm{max}}`, `v_\max`, `v_{max}`
            Kind::Function(_) => {
                let word = text.rsplit(['{', '\\']).next().unwrap_or(text);
                name.push_str(word.trim_end_matches('}').trim());
            }
            Kind::Constant(Constant::Pi) => name.push_str("pi"),
            Kind::Relation(crate::answer::Operator::Parallel) => name.push('∥'),
            _ => {
                plain = false;
                name.push_str(text.trim_start_matches('\\'));
            }
        }
    }
    if name.is_empty() {
        return Err(parser.error("an empty subscript"));
    }
    Ok(if plain { name } else { format!("({name})") })
}

/// A mark over a letter or over more.
pub(super) fn accent(parser: &mut Parser<'_>, tag: &str) -> Parsed<Expr> {
    parser.skip(1);
    let start = parser.pos();
    let name = parser.attempt(raw_argument);
    let Some(name) = name.filter(|name| !name.starts_with('(')) else {
        parser.seek(start);
        let inner = operand::argument(parser)?;
        return Ok(Expr::Apply(tag.into(), vec![inner]));
    };
    if matches!(&*name, "i" | "j" | "k") && matches!(tag, "hat" | "vec") {
        return Ok(Expr::Symbol(name.into()));
    }
    named(parser, format!("{tag}({name})"))
}

/// ∠ and △ with the points after them.
pub(super) fn object(parser: &mut Parser<'_>, sign: &str) -> Parsed<Expr> {
    parser.skip(1);
    let mut name = sign.to_owned();
    for _ in 0..6 {
        match parser.peek() {
            Some(Kind::Letter(letter)) if name == sign || letter.is_ascii_uppercase() => {
                name.push(letter);
                parser.skip(1);
            }
            Some(Kind::Number(_) | Kind::Greek(_)) if name == sign => {
                name.push_str(parser.source(parser.pos(), parser.pos() + 1));
                parser.skip(1);
                break;
            }
            Some(Kind::Name(letters)) if name == sign => {
                name.push_str(letters);
                parser.skip(1);
                break;
            }
            _ => break,
        }
    }
    if name == sign {
        return Err(parser.error("a geometric sign without its points"));
    }
    named(parser, name)
}

/// ℝ and the others, with what narrows them: `\mathbb{R}^+`, `ℤ_{>0}`.
pub(super) fn domain(parser: &mut Parser<'_>, letter: char) -> Parsed<Expr> {
    let mut name = letter.to_string();
    for _ in 0..3 {
        match parser.peek() {
            Some(Kind::Caret) => name.push('^'),
            Some(Kind::Underscore) => name.push('_'),
            _ => break,
        }
        parser.skip(1);
        let signs = [(Kind::Plus, '+'), (Kind::Minus, '-'), (Kind::Times, '*')];
        match signs.into_iter().find(|(kind, _)| parser.take(*kind)) {
            Some((_, sign)) => name.push(sign),
            None => name.push_str(raw_argument(parser)?.trim_matches(['(', ')'])),
        }
    }
    Ok(Expr::Symbol(name.into()))
}

/// Letters that customarily name functions.
fn is_function(letter: char) -> bool {
    matches!(
        letter,
        'f' | 'g' | 'h' | 'F' | 'G' | 'H' | 'P' | 'Q' | 'W' | 'T' | 'S' | 'E'
    )
}

/// Do arguments look like those of a function rather than a factor in brackets?
fn is_argument(arguments: &[Expr]) -> bool {
    fn usual(expr: &Expr) -> bool {
        match expr {
            Expr::Symbol(name) => {
                name.len() > 1 || name.starts_with(|it: char| "xyztnmkuvsw".contains(it))
            }
            Expr::Add(parts) | Expr::Multiply(parts) => parts.iter().any(usual),
            Expr::Power(pair) => usual(&pair.0),
            Expr::Apply(..) => true,
            _ => false,
        }
    }
    arguments.len() > 1
        || matches!(
            arguments,
            [Expr::Number(_) | Expr::Symbol(_) | Expr::Constant(_) | Expr::Apply(..)]
        )
        || arguments.iter().any(usual)
}

//! What stands between operators: numbers, letters, brackets, roots and fractions.

use super::parser::{BARS, Lone, Parsed, Parser, inverse};
use super::token::{Bracket, Kind, Side, Structure};
use super::{function, literal, number, pratt, variable};
use crate::algebra::{Constant, Expr, Function, Rational};

pub(super) fn primary(parser: &mut Parser<'_>) -> Parsed<Expr> {
    parser.deeper(operand)
}

pub(super) fn operand(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let Some(kind) = parser.peek() else {
        return Err(parser.error("something is missing"));
    };
    match kind {
        Kind::Number(_) => literal::number(parser),
        Kind::Vulgar(numerator, denominator) => {
            parser.skip(1);
            let value = Rational::from_parts(numerator.into(), denominator.into());
            Ok(Expr::Number(value))
        }
        Kind::Letter(letter) => {
            if literal::begins_spelled_number(parser) {
                return literal::number_words(parser);
            }
            if matches!(letter, 'A'..='F')
                && let Some(value) = literal::based(parser)?
            {
                return Ok(value);
            }
            if letter == 'd'
                && let Some(symbol) = function::derivative_in_line(parser)
            {
                return Ok(symbol);
            }
            variable::letter(parser, letter)
        }
        Kind::Greek(name) => variable::greek(parser, name),
        Kind::Constant(constant) => {
            parser.skip(1);
            if parser.peek() == Some(Kind::Underscore) {
                return variable::named(parser, constant_name(constant).to_owned());
            }
            Ok(Expr::Constant(constant))
        }
        Kind::Name(name) => variable::name(parser, name),
        Kind::Text(text) if text.chars().count() == 1 => variable::name(parser, text),
        Kind::Word(_) | Kind::Text(_) => literal::number_words(parser),
        Kind::Function(named) => function::function(parser, named),
        Kind::Structure(kind) => structure(parser, kind),
        Kind::Big(binder) => function::binder(parser, binder),
        Kind::Accent(tag) => variable::accent(parser, tag),
        Kind::Object(sign) => variable::object(parser, sign),
        Kind::Domain(letter) => {
            parser.skip(1);
            variable::domain(parser, letter)
        }
        Kind::Open(Bracket::Round | Bracket::Square) => bracket(parser),
        Kind::Open(Bracket::Group) => group_operand(parser),
        Kind::Open(Bracket::Floor) => {
            let inner = parser.within(pratt::expression)?;
            Ok(Expr::call(Function::Floor, inner))
        }
        Kind::Open(Bracket::Ceiling) => {
            let inner = parser.within(pratt::expression)?;
            Ok(Expr::call(Function::Ceiling, inner))
        }
        Kind::Bar(Side::Unknown | Side::Left) => {
            parser.skip(1);
            let inner = parser.body(BARS, pratt::expression)?;
            match parser.peek() {
                Some(Kind::Bar(Side::Unknown | Side::Right)) => parser.skip(1),
                _ => return Err(parser.error("a bar is not closed")),
            }
            Ok(Expr::call(Function::Absolute, inner))
        }
        Kind::Norm => {
            parser.skip(1);
            let inner = parser.body(BARS, pratt::expression)?;
            if !parser.take(Kind::Norm) {
                return Err(parser.error("a norm is not closed"));
            }
            Ok(Expr::Apply("norm".into(), vec![inner]))
        }
        Kind::Caret | Kind::Underscore => count_of_choices(parser),
        Kind::Dots => {
            parser.skip(1);
            Ok(Expr::symbol("…"))
        }
        _ => Err(parser.error("this is no value")),
    }
}

/// `( … )` and `[ … ]` around an expression, or around digits with a base.
pub(super) fn bracket(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let open = parser.pos();
    let close = parser.mate(open);
    if parser.kind_at(close + 1) == Some(Kind::Underscore) {
        let digit = |it| matches!(it, Some(Kind::Number(_) | Kind::Letter('A'..='F')));
        if close > open + 1 && (open + 1..close).all(|at| digit(parser.kind_at(at))) {
            let text = parser.source(open + 1, close).to_owned();
            let saved = parser.pos();
            parser.seek(close + 1);
            if let Some(base) = literal::base(parser) {
                let Some(value) = number::in_base(&text, base) else {
                    parser.seek(saved);
                    return Err(parser.error("a digit that the base does not have"));
                };
                parser.note(Lone {
                    start: open,
                    end: parser.pos(),
                    places: None,
                    base: Some(base),
                });
                return Ok(value);
            }
            parser.seek(saved);
        }
    }
    if parser.has_entries(open) {
        return Err(parser.error("entries where one value belongs"));
    }
    if parser.any_kind_at(close) == Some(Kind::Close(Bracket::Outward)) {
        return Err(parser.error("an interval without entries"));
    }
    parser.within(pratt::expression)
}

/// `{ … }`, which may be empty before a subscript.
pub(super) fn group_operand(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let open = parser.pos();
    if parser.mate(open) == open + 1 {
        parser.skip(2);
        return count_of_choices(parser);
    }
    if parser.has_entries(open) {
        return Err(parser.error("entries where one value belongs"));
    }
    let inner = parser.within(pratt::expression)?;
    // `{x}_1`: the subscript belongs to the name.
    if parser.peek() == Some(Kind::Underscore)
        && let Expr::Symbol(name) = inner
    {
        return variable::named(parser, name.into());
    }
    Ok(inner)
}

/// One argument of a command: a group, a digit, a letter, another command.
pub(super) fn argument(parser: &mut Parser<'_>) -> Parsed<Expr> {
    match parser.peek() {
        Some(Kind::Open(Bracket::Group)) => parser.within(pratt::expression),
        Some(Kind::Number(_)) => literal::plain_number(parser),
        Some(Kind::Letter(letter)) if parser.ahead(1) != Some(Kind::Underscore) => {
            parser.skip(1);
            Ok(variable::bare_letter(parser, letter))
        }
        _ => primary(parser),
    }
}

/// Fractions, roots and binomials.
pub(super) fn structure(parser: &mut Parser<'_>, structure: Structure) -> Parsed<Expr> {
    match structure {
        Structure::Fraction => {
            if let Some(derivative) = function::derivative(parser)? {
                return Ok(derivative);
            }
            parser.skip(1);
            let above = argument(parser)?;
            let below = argument(parser)?;
            parser.forget_lone();
            Ok(Expr::product(vec![above, inverse(below)]))
        }
        Structure::Root | Structure::CubeRoot | Structure::FourthRoot => {
            parser.skip(1);
            let degree = match structure {
                Structure::CubeRoot => Expr::integer(3),
                Structure::FourthRoot => Expr::integer(4),
                _ if parser.opens(Bracket::Square) => parser.within(pratt::expression)?,
                _ => Expr::integer(2),
            };
            let radicand = argument(parser)?;
            Ok(Expr::Call(Function::Root, vec![radicand, degree]))
        }
        Structure::Binomial => {
            parser.skip(1);
            if parser.opens(Bracket::Round) {
                let arguments = parser.within(arguments)?;
                if arguments.len() != 2 {
                    return Err(parser.error("a binomial has two arguments"));
                }
                return Ok(Expr::Call(Function::Binomial, arguments));
            }
            let arguments = vec![argument(parser)?, argument(parser)?];
            Ok(Expr::Call(Function::Binomial, arguments))
        }
        Structure::Overset => {
            parser.skip(1);
            let start = parser.pos();
            if !parser.opens(Bracket::Group) {
                return Err(parser.error("a mark without its letter"));
            }
            let mark_end = parser.mate(start);
            let mark = parser.source(start + 1, mark_end);
            let mark: String = mark.chars().filter(char::is_ascii_alphabetic).collect();
            parser.seek(mark_end + 1);
            let base = variable::raw_argument(parser)?;
            variable::named(parser, format!("{mark}({base})"))
        }
        Structure::Over | Structure::Choose => Err(parser.error("a fraction without numerator")),
    }
}

/// Arguments between commas, up to the limit.
pub(super) fn arguments(parser: &mut Parser<'_>) -> Parsed<Vec<Expr>> {
    let mut arguments = vec![pratt::expression(parser)?];
    while matches!(parser.peek(), Some(Kind::Comma | Kind::Semicolon)) {
        parser.skip(1);
        arguments.push(pratt::expression(parser)?);
    }
    Ok(arguments)
}

/// `{}_nC_k`, `^nC_r`: the letter between two numbers.
pub(super) fn count_of_choices(parser: &mut Parser<'_>) -> Parsed<Expr> {
    if !matches!(parser.peek(), Some(Kind::Caret | Kind::Underscore)) {
        return Err(parser.error("an empty group"));
    }
    parser.skip(1);
    let above = argument(parser)?;
    let function = match parser.peek() {
        Some(Kind::Letter('C') | Kind::Name("C") | Kind::Text("C")) => Function::Binomial,
        Some(Kind::Letter('P' | 'A') | Kind::Name("P" | "A") | Kind::Text("P")) => {
            Function::Permutations
        }
        _ => return Err(parser.error("a raised or lowered sign without a base")),
    };
    parser.skip(1);
    if !parser.take(Kind::Underscore) {
        return Err(parser.error("a second number is missing"));
    }
    let below = argument(parser)?;
    Ok(Expr::Call(function, vec![above, below]))
}

/// A constant as the name of something else.
fn constant_name(constant: Constant) -> &'static str {
    match constant {
        Constant::Pi => "pi",
        Constant::Infinity => "∞",
        Constant::NegativeInfinity => "−∞",
        Constant::ComplexInfinity | Constant::Undefined => "?",
        _ => "e",
    }
}

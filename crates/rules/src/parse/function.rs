//! Functions with a meaning, and what binds variables: Σ, Π, ∫, lim, d/dx.

use super::parser::{INTEGRAL, Parsed, Parser, inverse, signed};
use super::token::{Bracket, Kind, Named, Side, Space, Structure};
use super::{operand, pratt, suffix};
use crate::algebra::{Binder, BinderKind, Constant, Expr, Function};

/// The function that is next, with its powers, its base and its arguments.
pub(super) fn function(parser: &mut Parser<'_>, named: Named) -> Parsed<Expr> {
    parser.skip(1);
    let mut power = None;
    let mut base = None;
    let mut base_token = None;
    for _ in 0..2 {
        match parser.peek() {
            Some(Kind::Caret) if power.is_none() && !pratt::is_raised_circle(parser) => {
                parser.skip(1);
                power = Some(pratt::exponent(parser)?);
            }
            Some(Kind::Underscore) if base.is_none() && matches!(named, Named::Log) => {
                parser.skip(1);
                base_token = Some(parser.pos());
                base = Some(operand::argument(parser)?);
            }
            Some(Kind::Underscore) if matches!(named, Named::Opaque(_) | Named::Many(_)) => {
                return Err(parser.error("a function with a condition below it"));
            }
            _ => break,
        }
    }
    // log2(8) in plain text.
    if matches!(named, Named::Log)
        && base.is_none()
        && parser.space() == Space::Tight
        && parser.ahead(1) == Some(Kind::Open(Bracket::Round))
        && let Some(value) = parser.small_at(parser.pos())
    {
        parser.skip(1);
        base = Some(Expr::Number(value.into()));
    }
    if let Named::Many(function) = named {
        return many(parser, function);
    }
    if let (Some(index), true) = (base_token, lacks_argument(parser))
        && let Some((first, rest)) = split_digits(parser, index)
    {
        // `\log_210`: in LaTeX only the first digit is below.
        return Ok(powered(logarithm(rest, first), power));
    }
    let argument = function_argument(parser, named)?;
    let inverse = power
        .as_ref()
        .is_some_and(|power| *power == Expr::integer(-1));
    if inverse
        && let Named::One(function) = named
        && let Some(function) = inverse_of(function)
    {
        return Ok(Expr::call(function, argument));
    }
    let value = match named {
        Named::One(function) => Expr::call(function, argument),
        Named::Log => logarithm(argument, base.unwrap_or_else(|| Expr::integer(10))),
        Named::LogBase(base) => logarithm(argument, Expr::integer(i64::from(base))),
        Named::Ln => logarithm(argument, Expr::Constant(Constant::E)),
        Named::Exp => Expr::power(Expr::Constant(Constant::E), argument),
        Named::OneOver(function) => super::parser::inverse(Expr::call(function, argument)),
        Named::Cis => Expr::power(
            Expr::Constant(Constant::E),
            Expr::product(vec![Expr::Constant(Constant::ImaginaryUnit), argument]),
        ),
        Named::Root(degree) => Expr::Call(
            Function::Root,
            vec![argument, Expr::integer(i64::from(degree))],
        ),
        Named::Opaque(name) => Expr::Apply(name.into(), vec![argument]),
        Named::Many(function) => Expr::Call(function, vec![argument]),
    };
    Ok(powered(value, power))
}

fn logarithm(argument: Expr, base: Expr) -> Expr {
    Expr::Call(Function::Logarithm, vec![argument, base])
}
fn many(parser: &mut Parser<'_>, function: Function) -> Parsed<Expr> {
    if !matches!(
        parser.peek(),
        Some(Kind::Open(
            Bracket::Round | Bracket::Square | Bracket::Set | Bracket::Group
        ))
    ) {
        return Err(parser.error("a function without its arguments"));
    }
    let arguments = parser.within(operand::arguments)?;
    if arguments.len() < 2 {
        return Err(parser.error("a function with too few arguments"));
    }
    Ok(Expr::Call(function, arguments))
}

/// Does nothing follow that could be an argument?
fn lacks_argument(parser: &Parser<'_>) -> bool {
    matches!(
        parser.peek(),
        None | Some(
            Kind::Plus
                | Kind::Minus
                | Kind::Times
                | Kind::Divide
                | Kind::Relation(_)
                | Kind::Comma
                | Kind::Close(_)
        )
    )
}

/// The first digit of a number token, and the rest.
fn split_digits(parser: &Parser<'_>, index: usize) -> Option<(Expr, Expr)> {
    let value = parser.small_at(index)?;
    if !(10..1_000_000).contains(&value) {
        return None;
    }
    let mut scale = 1;
    while value / scale >= 10 {
        scale *= 10;
    }
    Some((
        Expr::Number((value / scale).into()),
        Expr::Number((value % scale).into()),
    ))
}

/// The argument of a function, in brackets or not.
fn function_argument(parser: &mut Parser<'_>, named: Named) -> Parsed<Expr> {
    match parser.peek() {
        Some(Kind::Open(Bracket::Round | Bracket::Square | Bracket::Group)) => {
            return parser.within(pratt::expression);
        }
        Some(Kind::Bar(Side::Unknown | Side::Left)) => return operand::primary(parser),
        _ => {}
    }
    let negative = parser.take(Kind::Minus);
    let start = parser.pos();
    let first = pratt::factor(parser)?;
    let mut factors = vec![first];
    while let Some(kind) = parser.peek() {
        // A function with brackets after it.
        let applied = matches!(parser.peek(), Some(Kind::Letter('f' | 'g')))
            && parser.ahead(1) == Some(Kind::Open(Bracket::Round));
        let goes_on = matches!(
            kind,
            Kind::Letter(_)
                | Kind::Greek(_)
                | Kind::Constant(_)
                | Kind::Structure(Structure::Fraction | Structure::Root | Structure::CubeRoot)
        ) && parser.space() != Space::Wide
            && !(parser.is_in(INTEGRAL) && is_differential(parser))
            && !suffix::is_unit_letter(parser, start)
            && !applied;
        if !goes_on {
            break;
        }
        factors.push(pratt::factor(parser)?);
    }
    // sin π/3 is the sine of a third of π.
    let angle = matches!(named, Named::One(_))
        && factors
            .iter()
            .any(|factor| matches!(factor, Expr::Constant(Constant::Pi)));
    if angle
        && parser.peek() == Some(Kind::Divide)
        && let Some(Kind::Number(_) | Kind::Letter(_)) = parser.ahead(1)
    {
        parser.skip(1);
        let below = operand::argument(parser)?;
        factors.push(inverse(below));
    }
    Ok(signed(Expr::product(factors), negative))
}

/// Σ, Π, ∫ or lim.
pub(super) fn binder(parser: &mut Parser<'_>, kind: BinderKind) -> Parsed<Expr> {
    parser.skip(1);
    match kind {
        BinderKind::Integral => integral(parser),
        BinderKind::Limit => limit_of(parser),
        _ => series(parser, kind),
    }
}

fn bound(
    kind: BinderKind,
    variable: Box<str>,
    lower: Option<Expr>,
    upper: Option<Expr>,
    body: Expr,
) -> Expr {
    Expr::Binder(Box::new(Binder {
        kind,
        variable,
        lower,
        upper,
        body,
    }))
}

fn variable(parser: &mut Parser<'_>) -> Parsed<Box<str>> {
    let name = match parser.peek() {
        Some(Kind::Letter(letter)) => {
            parser.skip(1);
            letter.to_string()
        }
        Some(Kind::Greek(name)) => {
            parser.skip(1);
            name.to_owned()
        }
        _ => return Err(parser.error("a variable is missing")),
    };
    Ok(name.into())
}

/// Σ and Π from a lower to an upper bound.
fn series(parser: &mut Parser<'_>, kind: BinderKind) -> Parsed<Expr> {
    let mut bounds = None;
    let mut upper = None;
    for _ in 0..2 {
        if parser.take(Kind::Underscore) {
            if !parser.opens(Bracket::Group) && !parser.opens(Bracket::Round) {
                return Err(parser.error("a sum without bounds"));
            }
            bounds = Some(parser.within(|parser| {
                let variable = variable(parser)?;
                if !parser.take(Kind::Relation(crate::answer::Operator::Equal)) {
                    return Err(parser.error("a sum over a condition"));
                }
                Ok((variable, pratt::expression(parser)?))
            })?);
        } else if parser.take(Kind::Caret) {
            upper = Some(argument_signed(parser)?);
        }
    }
    let (Some((variable, lower)), Some(upper)) = (bounds, upper) else {
        return Err(parser.error("a sum without bounds"));
    };
    let body = parser.binding(&variable, pratt::term);
    Ok(bound(kind, variable, Some(lower), Some(upper), body?))
}

fn argument_signed(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let negative = parser.take(Kind::Minus);
    if !negative {
        parser.take(Kind::Plus);
    }
    Ok(signed(operand::argument(parser)?, negative))
}

fn integral(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let (mut lower, mut upper) = (None, None);
    for _ in 0..2 {
        if parser.take(Kind::Underscore) {
            lower = Some(argument_signed(parser)?);
        } else if parser.take(Kind::Caret) {
            upper = Some(argument_signed(parser)?);
        }
    }
    if lower.is_some() != upper.is_some() {
        return Err(parser.error("an integral with one bound"));
    }
    let body = if is_differential(parser) {
        Expr::integer(1)
    } else {
        parser.body(INTEGRAL, pratt::sum)?
    };
    if !is_differential(parser) {
        return Err(parser.error("an integral without its differential"));
    }
    parser.skip(1);
    let variable = variable(parser)?;
    Ok(bound(BinderKind::Integral, variable, lower, upper, body))
}
pub(super) fn is_differential(parser: &Parser<'_>) -> bool {
    matches!(parser.peek(), Some(Kind::Letter('d') | Kind::Name("d")))
        && matches!(parser.ahead(1), Some(Kind::Letter(_) | Kind::Greek(_)))
}

fn limit_of(parser: &mut Parser<'_>) -> Parsed<Expr> {
    if !parser.take(Kind::Underscore) || !parser.opens(Bracket::Group) {
        return Err(parser.error("a limit of what?"));
    }
    let (variable, lower) = parser.within(|parser| {
        let variable = variable(parser)?;
        if !parser.take(Kind::Tends) {
            return Err(parser.error("a limit that goes nowhere"));
        }
        Ok((variable, pratt::expression(parser)?))
    })?;
    let body = pratt::term(parser)?;
    Ok(bound(BinderKind::Limit, variable, Some(lower), None, body))
}

/// `\frac{d}{dx} …` and `\frac{dy}{dx}`, if that is next.
pub(super) fn derivative(parser: &mut Parser<'_>) -> Parsed<Option<Expr>> {
    let first = parser.pos() + 1;
    if parser.kind_at(first) != Some(Kind::Open(Bracket::Group)) {
        return Ok(None);
    }
    let second = parser.mate(first) + 1;
    if parser.kind_at(second) != Some(Kind::Open(Bracket::Group)) {
        return Ok(None);
    }
    let is_d = |index: usize| {
        matches!(
            parser.kind_at(index),
            Some(Kind::Letter('d') | Kind::Name("d") | Kind::Partial)
        )
    };
    if !(is_d(first + 1) && is_d(second + 1)) {
        return Ok(None);
    }
    let below = (second + 2, parser.mate(second));
    let variable = match parser.kind_at(below.0) {
        Some(Kind::Letter(letter)) => letter.to_string(),
        Some(Kind::Greek(name)) => name.to_owned(),
        _ => return Ok(None),
    };
    if first + 2 == parser.mate(first) && below.0 + 1 == below.1 {
        parser.seek(below.1 + 1);
        let body = pratt::term(parser)?;
        let kind = BinderKind::Derivative;
        return Ok(Some(bound(kind, variable.into(), None, None, body)));
    }
    // dy/dx is one thing.
    let clean = |text: &str| -> String {
        text.replace("\\mathrm", "")
            .replace("\\text", "")
            .replace("\\operatorname", "")
            .chars()
            .filter(|c| !c.is_whitespace() && !matches!(c, '{' | '}' | '\\'))
            .collect()
    };
    let above = clean(parser.source(first + 1, parser.mate(first)));
    let below_text = clean(parser.source(second + 1, parser.mate(second)));
    parser.seek(below.1 + 1);
    Ok(Some(Expr::Symbol(format!("{above}/{below_text}").into())))
}

/// `dy/dx`, written as one word: the same name as `\frac{dy}{dx}`.
pub(super) fn derivative_in_line(parser: &mut Parser<'_>) -> Option<Expr> {
    let tight = |ahead: usize| parser.is_tight_at(parser.pos() + ahead);
    let letter = |ahead: usize| match parser.ahead(ahead) {
        Some(Kind::Letter(letter)) => Some(letter),
        _ => None,
    };
    let (above, below) = (letter(1)?, letter(4)?);
    let is_written = parser.ahead(2) == Some(Kind::Divide)
        && letter(3) == Some('d')
        && (1..5).all(tight)
        && !(tight(5) && letter(5).is_some());
    if !is_written {
        return None;
    }
    parser.skip(5);
    Some(Expr::Symbol(format!("d{above}/d{below}").into()))
}

fn powered(value: Expr, power: Option<Expr>) -> Expr {
    match power {
        Some(power) => Expr::power(value, power),
        None => value,
    }
}

/// The inverse of a circular or hyperbolic function.
fn inverse_of(function: Function) -> Option<Function> {
    use Function as F;
    Some(match function {
        F::Sin => F::Arcsin,
        F::Cos => F::Arccos,
        F::Tan => F::Arctan,
        F::Cot => F::Arccot,
        F::Sec => F::Arcsec,
        F::Csc => F::Arccsc,
        F::Sinh => F::Arsinh,
        F::Cosh => F::Arcosh,
        F::Tanh => F::Artanh,
        _ => return None,
    })
}

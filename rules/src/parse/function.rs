//! Functions with a meaning, and what binds variables: Σ, Π, ∫, lim, d/dx.

use super::parser::{Parsed, Parser, call, product};
use super::token::{Bracket, Kind, Named, Side, Space, Structure};
use crate::algebra::{Binder, BinderKind, Constant, Expr, Function};

impl Parser<'_> {
    /// The function that is next, with its powers, its base and its arguments.
    pub(super) fn function(&mut self, named: Named) -> Parsed<Expr> {
        self.skip(1);
        let mut power = None;
        let mut base = None;
        let mut base_token = None;
        for _ in 0..2 {
            match self.peek() {
                Some(Kind::Caret) if power.is_none() && !self.is_raised_circle() => {
                    self.skip(1);
                    power = Some(self.exponent()?);
                }
                Some(Kind::Underscore) if base.is_none() && matches!(named, Named::Log) => {
                    self.skip(1);
                    base_token = Some(self.pos());
                    base = Some(self.argument()?);
                }
                Some(Kind::Underscore) if matches!(named, Named::Opaque(_) | Named::Many(_)) => {
                    return Err(self.error("a function with a condition below it"));
                }
                _ => break,
            }
        }
        // log2(8) in plain text.
        if matches!(named, Named::Log)
            && base.is_none()
            && self.space() == Space::Tight
            && self.ahead(1) == Some(Kind::Open(Bracket::Round))
            && let Some(value) = self.small_at(self.pos())
        {
            self.skip(1);
            base = Some(Expr::Number(value.into()));
        }
        if let Named::Many(function) = named {
            return self.many(function);
        }
        if let (Some(index), true) = (base_token, self.lacks_argument())
            && let Some((first, rest)) = self.split_digits(index)
        {
            // `\log_210`: in LaTeX only the first digit is below.
            return Ok(powered(
                Expr::Call(Function::Logarithm, vec![rest, first]),
                power,
            ));
        }
        let argument = self.function_argument(named)?;
        let inverse = power
            .as_ref()
            .is_some_and(|power| *power == Expr::integer(-1));
        if inverse
            && let Named::One(function) = named
            && let Some(function) = inverse_of(function)
        {
            return Ok(call(function, argument));
        }
        let value = match named {
            Named::One(function) => call(function, argument),
            Named::Log => Expr::Call(
                Function::Logarithm,
                vec![argument, base.unwrap_or_else(|| Expr::integer(10))],
            ),
            Named::LogBase(base) => Expr::Call(
                Function::Logarithm,
                vec![argument, Expr::integer(i64::from(base))],
            ),
            Named::Ln => Expr::Call(
                Function::Logarithm,
                vec![argument, Expr::Constant(Constant::E)],
            ),
            Named::Exp => Expr::power(Expr::Constant(Constant::E), argument),
            Named::OneOver(function) => super::parser::inverse(call(function, argument)),
            Named::Cis => Expr::power(
                Expr::Constant(Constant::E),
                product(vec![Expr::Constant(Constant::ImaginaryUnit), argument]),
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

    /// gcd, max and the like.
    fn many(&mut self, function: Function) -> Parsed<Expr> {
        if !matches!(
            self.peek(),
            Some(Kind::Open(
                Bracket::Round | Bracket::Square | Bracket::Set | Bracket::Group
            ))
        ) {
            return Err(self.error("a function without its arguments"));
        }
        let arguments = self.within(Self::arguments)?;
        if arguments.len() < 2 {
            return Err(self.error("a function with too few arguments"));
        }
        Ok(Expr::Call(function, arguments))
    }

    /// Does nothing follow that could be an argument?
    fn lacks_argument(&self) -> bool {
        matches!(
            self.peek(),
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
    fn split_digits(&self, index: usize) -> Option<(Expr, Expr)> {
        let value = self.small_at(index)?;
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
    fn function_argument(&mut self, named: Named) -> Parsed<Expr> {
        match self.peek() {
            Some(Kind::Open(Bracket::Round | Bracket::Square)) => {
                return self.within(Self::expression);
            }
            Some(Kind::Open(Bracket::Group)) => {
                let inner = self.within(Self::expression)?;
                return Ok(inner);
            }
            Some(Kind::Bar(Side::Unknown | Side::Left)) => return self.primary(),
            _ => {}
        }
        let negative = self.take(Kind::Minus);
        let start = self.pos();
        let first = self.factor()?;
        let mut factors = vec![first];
        while let Some(kind) = self.peek() {
            let goes_on = matches!(
                kind,
                Kind::Letter(_)
                    | Kind::Greek(_)
                    | Kind::Constant(_)
                    | Kind::Structure(Structure::Fraction | Structure::Root | Structure::CubeRoot)
            ) && self.space() != Space::Wide
                && !(self.is_in_integral() && self.is_differential())
                && !self.is_unit_letter(start)
                && !self.applies_next();
            if !goes_on {
                break;
            }
            factors.push(self.factor()?);
        }
        // sin π/3 is the sine of a third of π.
        let angle = matches!(named, Named::One(_))
            && factors
                .iter()
                .any(|factor| matches!(factor, Expr::Constant(Constant::Pi)));
        if angle
            && self.peek() == Some(Kind::Divide)
            && let Some(Kind::Number(_) | Kind::Letter(_)) = self.ahead(1)
        {
            self.skip(1);
            let below = self.argument()?;
            factors.push(super::parser::inverse(below));
        }
        let argument = product(factors);
        Ok(if negative {
            super::parser::negate(argument)
        } else {
            argument
        })
    }

    /// Is the next letter a function with brackets behind it?
    fn applies_next(&self) -> bool {
        matches!(self.peek(), Some(Kind::Letter('f' | 'g')))
            && self.ahead(1) == Some(Kind::Open(Bracket::Round))
    }

    /// Σ, Π, ∫ or lim.
    pub(super) fn binder(&mut self, kind: BinderKind) -> Parsed<Expr> {
        self.skip(1);
        match kind {
            BinderKind::Integral => self.integral(),
            BinderKind::Limit => self.limit_of(),
            _ => self.series(kind),
        }
    }

    /// The name of a variable.
    fn variable(&mut self) -> Parsed<Box<str>> {
        let name = match self.peek() {
            Some(Kind::Letter(letter)) => {
                self.skip(1);
                letter.to_string()
            }
            Some(Kind::Greek(name)) => {
                self.skip(1);
                name.to_owned()
            }
            _ => return Err(self.error("a variable is missing")),
        };
        Ok(name.into())
    }

    /// Σ and Π from a lower to an upper bound.
    fn series(&mut self, kind: BinderKind) -> Parsed<Expr> {
        let mut bounds = None;
        let mut upper = None;
        for _ in 0..2 {
            if self.take(Kind::Underscore) {
                if !self.opens(Bracket::Group) && !self.opens(Bracket::Round) {
                    return Err(self.error("a sum without bounds"));
                }
                bounds = Some(self.within(|parser| {
                    let variable = parser.variable()?;
                    if !parser.take(Kind::Relation(crate::answer::Operator::Equal)) {
                        return Err(parser.error("a sum over a condition"));
                    }
                    Ok((variable, parser.expression()?))
                })?);
            } else if self.take(Kind::Caret) {
                upper = Some(self.argument_signed()?);
            }
        }
        let (Some((variable, lower)), Some(upper)) = (bounds, upper) else {
            return Err(self.error("a sum without bounds"));
        };
        let body = self.binding(&variable, Self::product);
        Ok(Expr::Binder(Box::new(Binder {
            kind,
            variable,
            lower: Some(lower),
            upper: Some(upper),
            body: body?,
        })))
    }

    /// An argument that may have a sign.
    fn argument_signed(&mut self) -> Parsed<Expr> {
        if self.take(Kind::Minus) {
            return Ok(super::parser::negate(self.argument()?));
        }
        self.take(Kind::Plus);
        self.argument()
    }

    /// An integral with its differential.
    fn integral(&mut self) -> Parsed<Expr> {
        let (mut lower, mut upper) = (None, None);
        for _ in 0..2 {
            if self.take(Kind::Underscore) {
                lower = Some(self.argument_signed()?);
            } else if self.take(Kind::Caret) {
                upper = Some(self.argument_signed()?);
            }
        }
        if lower.is_some() != upper.is_some() {
            return Err(self.error("an integral with one bound"));
        }
        let body = if self.is_differential() {
            Expr::integer(1)
        } else {
            self.in_integral(Self::sum)?
        };
        if !self.is_differential() {
            return Err(self.error("an integral without its differential"));
        }
        self.skip(1);
        let variable = self.variable()?;
        Ok(Expr::Binder(Box::new(Binder {
            kind: BinderKind::Integral,
            variable,
            lower,
            upper,
            body,
        })))
    }

    /// Is `dx` next?
    pub(super) fn is_differential(&self) -> bool {
        matches!(self.peek(), Some(Kind::Letter('d') | Kind::Name("d")))
            && matches!(self.ahead(1), Some(Kind::Letter(_) | Kind::Greek(_)))
    }

    /// A limit.
    fn limit_of(&mut self) -> Parsed<Expr> {
        if !self.take(Kind::Underscore) || !self.opens(Bracket::Group) {
            return Err(self.error("a limit of what?"));
        }
        let (variable, lower) = self.within(|parser| {
            let variable = parser.variable()?;
            if !parser.take(Kind::Tends) {
                return Err(parser.error("a limit that goes nowhere"));
            }
            Ok((variable, parser.expression()?))
        })?;
        let body = self.product()?;
        Ok(Expr::Binder(Box::new(Binder {
            kind: BinderKind::Limit,
            variable,
            lower: Some(lower),
            upper: None,
            body,
        })))
    }

    /// `\frac{d}{dx} …` and `\frac{dy}{dx}`, if that is next.
    pub(super) fn derivative(&mut self) -> Parsed<Option<Expr>> {
        let first = self.pos() + 1;
        if self.kind_at(first) != Some(Kind::Open(Bracket::Group)) {
            return Ok(None);
        }
        let second = self.mate(first) + 1;
        if self.kind_at(second) != Some(Kind::Open(Bracket::Group)) {
            return Ok(None);
        }
        let is_d = |index: usize| {
            matches!(
                self.kind_at(index),
                Some(Kind::Letter('d') | Kind::Name("d") | Kind::Partial)
            )
        };
        if !(is_d(first + 1) && is_d(second + 1)) {
            return Ok(None);
        }
        let below = (second + 2, self.mate(second));
        let variable = match self.kind_at(below.0) {
            Some(Kind::Letter(letter)) => letter.to_string(),
            Some(Kind::Greek(name)) => name.to_owned(),
            _ => return Ok(None),
        };
        if first + 2 == self.mate(first) && below.0 + 1 == below.1 {
            self.seek(below.1 + 1);
            let body = self.product()?;
            return Ok(Some(Expr::Binder(Box::new(Binder {
                kind: BinderKind::Derivative,
                variable: variable.into(),
                lower: None,
                upper: None,
                body,
            }))));
        }
        // dy/dx is one thing.
        let clean = |text: &str| -> String {
            text.chars()
                .filter(|c| !c.is_whitespace() && !matches!(c, '{' | '}' | '\\'))
                .collect()
        };
        let above = clean(self.source(first + 1, self.mate(first)));
        let below_text = clean(self.source(second + 1, self.mate(second)));
        self.seek(below.1 + 1);
        Ok(Some(Expr::Symbol(format!("{above}/{below_text}").into())))
    }
}

/// value^power, if there is a power.
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

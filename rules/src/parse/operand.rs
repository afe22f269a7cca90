//! What stands between operators: numbers, letters, brackets, roots and fractions.

use super::number;
use super::parser::{Lone, Parsed, Parser, call, inverse, product};
use super::token::{Bracket, Kind, Side, Structure};
use crate::algebra::{Constant, Expr, Function, Rational};

impl Parser<'_> {
    /// The operand that is next.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        self.deeper(Self::operand)
    }

    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        let Some(kind) = self.peek() else {
            return Err(self.error("something is missing"));
        };
        match kind {
            Kind::Number(_) => self.number(),
            Kind::Vulgar(numerator, denominator) => {
                self.skip(1);
                Ok(Expr::Number(Rational::from_parts(
                    numerator.into(),
                    denominator.into(),
                )))
            }
            Kind::Letter(letter) => {
                if self.begins_spelled_number() {
                    return self.number_words();
                }
                if matches!(letter, 'A'..='F')
                    && let Some(value) = self.based()?
                {
                    return Ok(value);
                }
                self.letter(letter)
            }
            Kind::Greek(name) => self.greek(name),
            Kind::Constant(constant) => {
                self.skip(1);
                if self.peek() == Some(Kind::Underscore) {
                    return self.named(constant_name(constant).to_owned());
                }
                Ok(Expr::Constant(constant))
            }
            Kind::Name(name) => self.name(name),
            Kind::Text(text) if text.chars().count() == 1 => self.name(text),
            Kind::Word(_) | Kind::Text(_) => self.number_words(),
            Kind::Function(named) => self.function(named),
            Kind::Structure(structure) => self.structure(structure),
            Kind::Big(binder) => self.binder(binder),
            Kind::Accent(tag) => self.accent(tag),
            Kind::Object(sign) => self.object(sign),
            Kind::Domain(letter) => {
                self.skip(1);
                self.domain(letter)
            }
            Kind::Open(Bracket::Round | Bracket::Square) => self.bracket(),
            Kind::Open(Bracket::Group) => self.group_operand(),
            Kind::Open(Bracket::Floor) => Ok(call(Function::Floor, self.within(Self::expression)?)),
            Kind::Open(Bracket::Ceiling) => {
                Ok(call(Function::Ceiling, self.within(Self::expression)?))
            }
            Kind::Bar(Side::Unknown | Side::Left) => {
                if let Some(determinant) = self.barred_table()? {
                    return Ok(determinant);
                }
                self.skip(1);
                let inner = self.in_bars(Self::expression)?;
                match self.peek() {
                    Some(Kind::Bar(Side::Unknown | Side::Right)) => self.skip(1),
                    _ => return Err(self.error("a bar is not closed")),
                }
                Ok(call(Function::Absolute, inner))
            }
            Kind::Norm => {
                self.skip(1);
                let inner = self.in_bars(Self::expression)?;
                if !self.take(Kind::Norm) {
                    return Err(self.error("a norm is not closed"));
                }
                Ok(Expr::Apply("norm".into(), vec![inner]))
            }
            Kind::Caret | Kind::Underscore => self.count_of_choices(),
            Kind::Dots => {
                self.skip(1);
                Ok(Expr::symbol("…"))
            }
            _ => Err(self.error("this is no value")),
        }
    }

    /// `( … )` and `[ … ]` around an expression, or around digits with a base.
    pub(super) fn bracket(&mut self) -> Parsed<Expr> {
        let open = self.pos();
        let close = self.mate(open);
        if self.kind_at(close + 1) == Some(Kind::Underscore) {
            let digits = (open + 1..close).all(|index| {
                matches!(
                    self.kind_at(index),
                    Some(Kind::Number(_) | Kind::Letter('A'..='F'))
                )
            });
            if digits && close > open + 1 {
                let text = self.source(open + 1, close).to_owned();
                let saved = self.pos();
                self.seek(close + 1);
                if let Some(base) = self.base() {
                    let Some(value) = number::in_base(&text, base) else {
                        self.seek(saved);
                        return Err(self.error("a digit that the base does not have"));
                    };
                    self.note(Lone {
                        start: open,
                        end: self.pos(),
                        places: None,
                        base: Some(base),
                    });
                    return Ok(value);
                }
                self.seek(saved);
            }
        }
        if self.has_entries(open) {
            return Err(self.error("entries where one value belongs"));
        }
        if matches!(self.any_kind_at(close), Some(Kind::Close(Bracket::Outward))) {
            return Err(self.error("an interval without entries"));
        }
        self.within(Self::expression)
    }

    /// `{ … }`, which may be empty before a subscript.
    pub(super) fn group_operand(&mut self) -> Parsed<Expr> {
        let open = self.pos();
        if self.mate(open) == open + 1 {
            self.skip(2);
            return self.count_of_choices();
        }
        if self.has_entries(open) {
            return Err(self.error("entries where one value belongs"));
        }
        let inner = self.within(Self::expression)?;
        // `{x}_1`: the subscript belongs to the name.
        if self.peek() == Some(Kind::Underscore)
            && let Expr::Symbol(name) = inner
        {
            return self.named(name.into());
        }
        Ok(inner)
    }

    /// One argument of a command: a group, a digit, a letter, another command.
    pub(super) fn argument(&mut self) -> Parsed<Expr> {
        match self.peek() {
            Some(Kind::Open(Bracket::Group)) => self.within(Self::expression),
            Some(Kind::Number(_)) => self.plain_number(),
            Some(Kind::Letter(letter)) => {
                let bare = self.ahead(1) != Some(Kind::Underscore);
                if bare {
                    self.skip(1);
                    return Ok(self.bare_letter(letter));
                }
                self.primary()
            }
            _ => self.primary(),
        }
    }

    /// Fractions, roots and binomials.
    pub(super) fn structure(&mut self, structure: Structure) -> Parsed<Expr> {
        match structure {
            Structure::Fraction => {
                if let Some(derivative) = self.derivative()? {
                    return Ok(derivative);
                }
                self.skip(1);
                let above = self.argument()?;
                let below = self.argument()?;
                self.forget_lone();
                Ok(product(vec![above, inverse(below)]))
            }
            Structure::Root => {
                self.skip(1);
                let degree = if self.opens(Bracket::Square) {
                    self.within(Self::expression)?
                } else {
                    Expr::integer(2)
                };
                let radicand = self.argument()?;
                Ok(Expr::Call(Function::Root, vec![radicand, degree]))
            }
            Structure::CubeRoot | Structure::FourthRoot => {
                self.skip(1);
                let degree = if structure == Structure::CubeRoot {
                    3
                } else {
                    4
                };
                let radicand = self.argument()?;
                Ok(Expr::Call(
                    Function::Root,
                    vec![radicand, Expr::integer(degree)],
                ))
            }
            Structure::Binomial => {
                self.skip(1);
                if self.opens(Bracket::Round) {
                    let arguments = self.within(Self::arguments)?;
                    if arguments.len() != 2 {
                        return Err(self.error("a binomial has two arguments"));
                    }
                    return Ok(Expr::Call(Function::Binomial, arguments));
                }
                let above = self.argument()?;
                let below = self.argument()?;
                Ok(Expr::Call(Function::Binomial, vec![above, below]))
            }
            Structure::Overset => {
                self.skip(1);
                let start = self.pos();
                if !self.opens(Bracket::Group) {
                    return Err(self.error("a mark without its letter"));
                }
                let mark_end = self.mate(start);
                let mark = self.source(start + 1, mark_end);
                let mark: String = mark.chars().filter(char::is_ascii_alphabetic).collect();
                self.seek(mark_end + 1);
                let base = self.raw_argument()?;
                self.named(format!("{mark}({base})"))
            }
            Structure::Over | Structure::Choose => Err(self.error("a fraction without numerator")),
        }
    }

    /// Arguments between commas, up to the limit.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = vec![self.expression()?];
        while matches!(self.peek(), Some(Kind::Comma | Kind::Semicolon)) {
            self.skip(1);
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }

    /// `{}_nC_k`, `^nC_r`: the letter between two numbers.
    pub(super) fn count_of_choices(&mut self) -> Parsed<Expr> {
        if !matches!(self.peek(), Some(Kind::Caret | Kind::Underscore)) {
            return Err(self.error("an empty group"));
        }
        self.skip(1);
        let above = self.argument()?;
        let function = match self.peek() {
            Some(Kind::Letter('C') | Kind::Name("C") | Kind::Text("C")) => Function::Binomial,
            Some(Kind::Letter('P' | 'A') | Kind::Name("P" | "A") | Kind::Text("P")) => {
                Function::Permutations
            }
            _ => return Err(self.error("a raised or lowered sign without a base")),
        };
        self.skip(1);
        if !self.take(Kind::Underscore) {
            return Err(self.error("a second number is missing"));
        }
        let below = self.argument()?;
        Ok(Expr::Call(function, vec![above, below]))
    }
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

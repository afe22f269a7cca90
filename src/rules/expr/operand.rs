//! What stands between operators: numbers, letters, brackets, roots and fractions.

use super::number;
use super::parser::{Lone, Parsed, Parser, call, inverse, product};
use super::term::{Constant, Expr, Function, Rational};
use super::token::{Bracket, Kind, Side, Space, Structure};
use super::words;

impl Parser<'_> {
    /// The operand that is next.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        self.enter()?;
        let result = self.operand();
        self.depth -= usize::from(result.is_ok());
        result
    }

    fn operand(&mut self) -> Parsed<Expr> {
        let Some(kind) = self.peek() else {
            return Err(self.error("something is missing"));
        };
        match kind {
            Kind::Number(_) => self.number(),
            Kind::Vulgar(numerator, denominator) => {
                self.pos += 1;
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
                self.pos += 1;
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
                self.pos += 1;
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
                self.pos += 1;
                self.bars += 1;
                let inner = self.expression()?;
                self.bars -= 1;
                match self.peek() {
                    Some(Kind::Bar(Side::Unknown | Side::Right)) => self.pos += 1,
                    _ => return Err(self.error("a bar is not closed")),
                }
                Ok(call(Function::Absolute, inner))
            }
            Kind::Norm => {
                self.pos += 1;
                self.bars += 1;
                let inner = self.expression()?;
                self.bars -= 1;
                if !self.take(Kind::Norm) {
                    return Err(self.error("a norm is not closed"));
                }
                Ok(Expr::Apply("norm".into(), vec![inner]))
            }
            Kind::Caret | Kind::Underscore => self.count_of_choices(),
            Kind::Dots => {
                self.pos += 1;
                Ok(Expr::symbol("…"))
            }
            _ => Err(self.error("this is no value")),
        }
    }

    /// The value of a number token, noted as the last one read.
    fn plain_number(&mut self) -> Parsed<Expr> {
        let start = self.pos;
        let Some(Kind::Number(index)) = self.peek() else {
            return Err(self.error("a number is missing"));
        };
        let numeral = self.numerals[index as usize];
        let Some(value) = number::value(&numeral) else {
            return Err(self.error("a number out of reach"));
        };
        self.pos += 1;
        self.approximate |= value.approximate;
        self.lone = Some(Lone {
            start,
            end: self.pos,
            places: value.places,
            base: (numeral.radix != 10).then_some(u32::from(numeral.radix)),
        });
        Ok(value.expr)
    }

    /// A number: plain, mixed, or in another base.
    fn number(&mut self) -> Parsed<Expr> {
        let start = self.pos;
        if let Some(value) = self.based()? {
            return Ok(value);
        }
        if let Some(value) = self.choose_letters() {
            return Ok(value);
        }
        let value = self.plain_number()?;
        if self.lone.is_some_and(|lone| lone.places.is_some()) {
            return Ok(value);
        }
        // Mixed numbers.
        match self.peek() {
            Some(Kind::Vulgar(numerator, denominator)) => {
                if let Some(mixed) = number::mixed(
                    &value,
                    &Expr::integer(i64::from(numerator)),
                    &Expr::integer(i64::from(denominator)),
                ) {
                    self.pos += 1;
                    return Ok(mixed);
                }
            }
            Some(Kind::Structure(Structure::Fraction)) => {
                if let Some((numerator, denominator, end)) = self.fraction_of_numbers() {
                    if let Some(mixed) = number::mixed(&value, &numerator, &denominator) {
                        self.pos = end;
                        self.lone = None;
                        return Ok(mixed);
                    }
                }
            }
            Some(Kind::Number(_)) if self.space() != Space::Tight => {
                if self.ahead(1) == Some(Kind::Divide)
                    && let Some(Kind::Number(_)) = self.ahead(2)
                {
                    let numerator = self.plain_number()?;
                    self.pos += 1;
                    let denominator = self.plain_number()?;
                    self.lone = None;
                    let Some(mixed) = number::mixed(&value, &numerator, &denominator) else {
                        self.pos = start + 1;
                        return Err(self.error("two numbers without a sign between them"));
                    };
                    return Ok(mixed);
                }
            }
            _ => {}
        }
        Ok(value)
    }

    /// `\frac{1}{3}` with plain numbers: both, and where it ends.
    fn fraction_of_numbers(&self) -> Option<(Expr, Expr, usize)> {
        let mut at = self.pos + 1;
        let mut parts = [const { None }; 2];
        for part in &mut parts {
            let grouped = self.at(at)?.kind == Kind::Open(Bracket::Group);
            at += usize::from(grouped);
            let Kind::Number(index) = self.at(at)?.kind else {
                return None;
            };
            let numeral = self.numerals.get(index as usize)?;
            if numeral.point.is_some() {
                return None;
            }
            *part = Some(number::value(numeral)?.expr);
            at += 1;
            if grouped {
                if self.at(at)?.kind != Kind::Close(Bracket::Group) {
                    return None;
                }
                at += 1;
            }
        }
        let [Some(numerator), Some(denominator)] = parts else {
            return None;
        };
        Some((numerator, denominator, at))
    }

    /// `204_5`, `1A_{16}`: digits (and letters) with a base below.
    fn based(&mut self) -> Parsed<Option<Expr>> {
        let start = self.pos;
        let mut end = start + 1;
        while let Some(token) = self.at(end)
            && token.space == Space::Tight
            && end - start < 64
            && matches!(token.kind, Kind::Number(_) | Kind::Letter('A'..='F'))
        {
            end += 1;
        }
        if self.at(end).map(|token| token.kind) != Some(Kind::Underscore) {
            return Ok(None);
        }
        let starts_with_digit = matches!(self.peek(), Some(Kind::Number(_)));
        let letters = end > start + 1;
        if !letters && !starts_with_digit {
            return Ok(None);
        }
        let saved = self.pos;
        self.pos = end;
        let Some(base) = self.base() else {
            self.pos = saved;
            return if letters || !starts_with_digit {
                Ok(None)
            } else {
                Err(self.error("a number with a subscript that is no base"))
            };
        };
        if letters && base <= 10 {
            self.pos = saved;
            return Ok(None);
        }
        let behind = self.pos;
        let digits: String = self
            .source(start, end)
            .chars()
            .filter_map(|c| match super::token::digit(c) {
                Some(digit) => char::from_digit(u32::from(digit), 10),
                None => (c.is_ascii_alphabetic() || c == '.').then_some(c),
            })
            .collect();
        self.pos = saved;
        let Some(value) = number::in_base(&digits, base) else {
            return Err(self.error("a digit that the base does not have"));
        };
        self.pos = behind;
        self.lone = Some(Lone {
            start,
            end: behind,
            places: None,
            base: Some(base),
        });
        Ok(Some(value))
    }

    /// The base in a subscript, which is passed.
    pub(super) fn base(&mut self) -> Option<u32> {
        if self.peek() != Some(Kind::Underscore) {
            return None;
        }
        let mut at = self.pos + 1;
        let mut close = None;
        while let Some(Kind::Open(Bracket::Group | Bracket::Round)) = self.at(at).map(|t| t.kind) {
            close = close.or(Some(self.mate(at)));
            at += 1;
        }
        let base = match self.at(at)?.kind {
            Kind::Number(index) => {
                u32::try_from(number::small(self.numerals.get(index as usize)?)?).ok()?
            }
            Kind::Word(word) | Kind::Text(word) | Kind::Name(word) => {
                u32::try_from(words::small_number(word)?).ok()?
            }
            Kind::Letter(_) => {
                let run = usize::from(self.at(at)?.run);
                let word = self.source(at, at + run);
                at += run.checked_sub(1)?;
                u32::try_from(words::small_number(word)?).ok()?
            }
            _ => return None,
        };
        at += 1;
        if let Some(close) = close {
            while at < close {
                if !matches!(self.at(at)?.kind, Kind::Close(_)) {
                    return None;
                }
                at += 1;
            }
            at = close + 1;
        }
        if !(2..=36).contains(&base) {
            return None;
        }
        self.pos = at;
        Some(base)
    }

    /// `( … )` and `[ … ]` around an expression, or around digits with a base.
    fn bracket(&mut self) -> Parsed<Expr> {
        let open = self.pos;
        let close = self.mate(open);
        if self.at(close + 1).map(|token| token.kind) == Some(Kind::Underscore) {
            let digits = (open + 1..close).all(|index| {
                self.tokens.get(index).is_some_and(|token| {
                    matches!(token.kind, Kind::Number(_) | Kind::Letter('A'..='F'))
                })
            });
            if digits && close > open + 1 {
                let text = self.source(open + 1, close).to_owned();
                let saved = self.pos;
                self.pos = close + 1;
                if let Some(base) = self.base() {
                    let Some(value) = number::in_base(&text, base) else {
                        self.pos = saved;
                        return Err(self.error("a digit that the base does not have"));
                    };
                    self.lone = Some(Lone {
                        start: open,
                        end: self.pos,
                        places: None,
                        base: Some(base),
                    });
                    return Ok(value);
                }
                self.pos = saved;
            }
        }
        if self.has_entries(open) {
            return Err(self.error("entries where one value belongs"));
        }
        if matches!(
            self.tokens.get(close).map(|token| token.kind),
            Some(Kind::Close(Bracket::Outward))
        ) {
            return Err(self.error("an interval without entries"));
        }
        self.within(Self::expression)
    }

    /// `{ … }`, which may be empty before a subscript.
    fn group_operand(&mut self) -> Parsed<Expr> {
        let open = self.pos;
        if self.mate(open) == open + 1 {
            self.pos += 2;
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
                    self.pos += 1;
                    return Ok(self.bare_letter(letter));
                }
                self.primary()
            }
            _ => self.primary(),
        }
    }

    /// Fractions, roots and binomials.
    fn structure(&mut self, structure: Structure) -> Parsed<Expr> {
        match structure {
            Structure::Fraction => {
                if let Some(derivative) = self.derivative()? {
                    return Ok(derivative);
                }
                self.pos += 1;
                let above = self.argument()?;
                let below = self.argument()?;
                self.lone = None;
                Ok(product(vec![above, inverse(below)]))
            }
            Structure::Root => {
                self.pos += 1;
                let degree = if self.opens(Bracket::Square) {
                    self.within(Self::expression)?
                } else {
                    Expr::integer(2)
                };
                let radicand = self.argument()?;
                Ok(Expr::Call(Function::Root, vec![radicand, degree]))
            }
            Structure::CubeRoot | Structure::FourthRoot => {
                self.pos += 1;
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
                self.pos += 1;
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
                self.pos += 1;
                let start = self.pos;
                if !self.opens(Bracket::Group) {
                    return Err(self.error("a mark without its letter"));
                }
                let mark_end = self.mate(start);
                let mark = self.source(start + 1, mark_end);
                let mark: String = mark.chars().filter(char::is_ascii_alphabetic).collect();
                self.pos = mark_end + 1;
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
            self.pos += 1;
            arguments.push(self.expression()?);
        }
        Ok(arguments)
    }

    /// `{}_nC_k`, `^nC_r`: the letter between two numbers.
    fn count_of_choices(&mut self) -> Parsed<Expr> {
        if !matches!(self.peek(), Some(Kind::Caret | Kind::Underscore)) {
            return Err(self.error("an empty group"));
        }
        self.pos += 1;
        let above = self.argument()?;
        let function = match self.peek() {
            Some(Kind::Letter('C') | Kind::Name("C") | Kind::Text("C")) => Function::Binomial,
            Some(Kind::Letter('P' | 'A') | Kind::Name("P" | "A") | Kind::Text("P")) => {
                Function::Permutations
            }
            _ => return Err(self.error("a raised or lowered sign without a base")),
        };
        self.pos += 1;
        if !self.take(Kind::Underscore) {
            return Err(self.error("a second number is missing"));
        }
        let below = self.argument()?;
        Ok(Expr::Call(function, vec![above, below]))
    }

    /// `10C3`, `5P2`.
    fn choose_letters(&mut self) -> Option<Expr> {
        let function = match self.ahead(1)? {
            Kind::Letter('C') => Function::Binomial,
            Kind::Letter('P') => Function::Permutations,
            _ => return None,
        };
        let tight = |index: usize| {
            self.at(index)
                .is_some_and(|token| token.space == Space::Tight)
        };
        let Some(Kind::Number(_)) = self.ahead(2) else {
            return None;
        };
        if !(tight(self.pos + 1) && tight(self.pos + 2)) {
            return None;
        }
        self.attempt(|parser| {
            let above = parser.plain_number()?;
            parser.pos += 1;
            let below = parser.plain_number()?;
            parser.lone = None;
            Ok(Expr::Call(function, vec![above, below]))
        })
    }

    /// Do letters begin a number in words: `two`, `a dozen`?
    fn begins_spelled_number(&self) -> bool {
        let Some(token) = self.at(self.pos) else {
            return false;
        };
        match token.run {
            1 => {
                token.kind == Kind::Letter('a')
                    && matches!(self.ahead(1), Some(Kind::Word(_)))
                    && self.spelled_number().is_some()
            }
            3 => words::small_number(self.source(self.pos, self.pos + 3)).is_some(),
            _ => false,
        }
    }

    /// Numbers in words: `twenty-one`, `three quarters`.
    fn number_words(&mut self) -> Parsed<Expr> {
        let Some((value, end)) = self.spelled_number() else {
            return Err(self.error("words where a value belongs"));
        };
        self.pos = end;
        Ok(Expr::Number(value))
    }

    /// The number that the words at the current place spell, and where it ends.
    pub(super) fn spelled_number(&self) -> Option<(Rational, usize)> {
        let mut parts: Vec<&str> = Vec::new();
        let mut ends = Vec::new();
        let mut at = self.pos;
        while let Some(token) = self.at(at)
            && parts.len() < 24
        {
            match token.kind {
                Kind::Word(word) | Kind::Text(word) => {
                    for part in word.split([' ', '-']).filter(|part| !part.is_empty()) {
                        parts.push(part);
                        ends.push(at + 1);
                    }
                    at += 1;
                }
                Kind::Letter(_) if token.run >= 2 => {
                    let run = usize::from(token.run);
                    parts.push(self.source(at, at + run));
                    at += run;
                    ends.push(at);
                }
                Kind::Letter('a') if parts.is_empty() => {
                    parts.push("a");
                    at += 1;
                    ends.push(at);
                }
                Kind::Minus if !parts.is_empty() && token.space == Space::Tight => at += 1,
                Kind::And if !parts.is_empty() => {
                    parts.push("and");
                    at += 1;
                    ends.push(at);
                }
                _ => break,
            }
        }
        let (value, count) = words::number(&parts)?;
        let end = *ends.get(count.checked_sub(1)?)?;
        // A token of several words must be used up.
        if ends.get(count) == Some(&end) {
            return None;
        }
        Some((value, end))
    }
}

/// A constant as the name of something else.
fn constant_name(constant: Constant) -> &'static str {
    match constant {
        Constant::Pi => "pi",
        Constant::Infinity => "∞",
        _ => "e",
    }
}

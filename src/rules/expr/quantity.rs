//! A value with what stands beside it: units, percent, currencies, bases, labels.

use super::answer::{Quantity, Unit};
use super::letters::is_wordlike;
use super::number;
use super::parser::{Parsed, Parser, product};
use super::term::{Constant, Expr, Function, Rational};
use super::token::{Bracket, Kind, Named, Space, Structure};
use super::{units, words};

/// What stands behind a value.
#[derive(Debug, Clone)]
pub(super) enum Suffix {
    /// A percent sign or word.
    Percent,
    /// A currency: its code, and how large the named amount is in it.
    Currency(&'static str, u32, u32),
    /// A unit or a label.
    Unit(Unit),
    /// `base 5`.
    Base(u32),
}

/// A value without anything beside it.
pub(super) fn bare(value: Expr) -> Quantity {
    Quantity {
        value,
        percent: false,
        unit: None,
        currency: None,
        places: None,
        base: None,
        approximate: false,
    }
}

impl<'t> Parser<'t> {
    /// A value with what stands before and behind it.
    pub(super) fn quantity(&mut self) -> Parsed<Quantity> {
        let approximate = std::mem::take(&mut self.approximate);
        let result = self.measured();
        self.approximate = approximate;
        result
    }

    fn measured(&mut self) -> Parsed<Quantity> {
        let about = self.take_about();
        let start = self.pos;
        let mut currency = None;
        let mut negative = false;
        // −$5 and $−5.
        if self.peek() == Some(Kind::Minus) && matches!(self.ahead(1), Some(Kind::Currency(_))) {
            negative = true;
            self.pos += 1;
        }
        if let Some(Kind::Currency(code)) = self.peek() {
            currency = Some(code);
            self.pos += 1;
        }
        let first = self.pos + usize::from(matches!(self.peek(), Some(Kind::Minus | Kind::Plus)));
        self.lone = None;
        let mut quantity = match self.scientific() {
            Some(quantity) => quantity,
            None => {
                let value = self.expression()?;
                let mut quantity = bare(value);
                let (mut from, mut to) = (first, self.pos);
                // Brackets around the number do not matter.
                while matches!(
                    self.tokens.get(from).map(|token| token.kind),
                    Some(Kind::Open(Bracket::Group | Bracket::Round))
                ) && self.mate(from) + 1 == to
                {
                    from += 1;
                    to -= 1;
                }
                if let Some(lone) = self.lone
                    && lone.start == from
                    && lone.end == to
                {
                    quantity.places = lone.places;
                    quantity.base = lone.base;
                }
                quantity
            }
        };
        if negative {
            quantity.value = super::parser::negate(quantity.value);
        }
        quantity.currency = currency.map(Into::into);
        self.scale(&mut quantity);
        self.suffix(&mut quantity)?;
        quantity.approximate = about || self.approximate;
        if start == self.pos {
            return Err(self.error("a value is missing"));
        }
        Ok(quantity)
    }

    /// Takes "about" or ≈ before a value.
    fn take_about(&mut self) -> bool {
        let mut found = false;
        loop {
            match self.peek() {
                Some(Kind::Word(word) | Kind::Text(word))
                    if matches!(
                        word.trim_end_matches('.').to_ascii_lowercase().as_str(),
                        "about"
                            | "approximately"
                            | "roughly"
                            | "around"
                            | "approx"
                            | "nearly"
                            | "almost"
                    ) =>
                {
                    self.pos += 1;
                    self.take(Kind::Stop);
                    found = true;
                }
                Some(Kind::Relation(super::Operator::Approximately | super::Operator::Similar)) => {
                    self.pos += 1;
                    found = true;
                }
                _ => return found,
            }
        }
    }

    /// `6.02 × 10^{23}` as one number, if nothing multiplies it further.
    fn scientific(&mut self) -> Option<Quantity> {
        let saved = self.pos;
        let negative = self.take(Kind::Minus);
        let quantity = self.scientific_number(negative);
        let ends = quantity.is_some()
            && (self.ends_quantity(self.pos) || self.read_suffix(self.pos, false).is_some());
        if !ends {
            self.pos = saved;
            return None;
        }
        quantity
    }

    fn scientific_number(&mut self, negative: bool) -> Option<Quantity> {
        let Kind::Number(mantissa) = self.peek()? else {
            return None;
        };
        let mut at = self.pos + 1;
        if self.at(at)?.kind != Kind::Times {
            return None;
        }
        let Kind::Number(ten) = self.at(at + 1)?.kind else {
            return None;
        };
        if number::small(self.numerals.get(ten as usize)?) != Some(10)
            || self.at(at + 2)?.kind != Kind::Caret
        {
            return None;
        }
        at += 3;
        let grouped = matches!(
            self.at(at)?.kind,
            Kind::Open(Bracket::Group | Bracket::Round)
        );
        at += usize::from(grouped);
        let below = self.at(at)?.kind == Kind::Minus;
        at += usize::from(below || self.at(at)?.kind == Kind::Plus);
        let Kind::Number(exponent) = self.at(at)?.kind else {
            return None;
        };
        let exponent = i64::try_from(number::small(self.numerals.get(exponent as usize)?)?).ok()?;
        at += 1;
        if grouped {
            if !matches!(self.at(at)?.kind, Kind::Close(_)) {
                return None;
            }
            at += 1;
        }
        let mut numeral = *self.numerals.get(mantissa as usize)?;
        if !numeral.repeat.is_empty() || numeral.dots || numeral.radix != 10 {
            return None;
        }
        let exponent = if below { -exponent } else { exponent };
        numeral.exponent = numeral.exponent.checked_add(exponent)?;
        let value = number::value(&numeral)?;
        self.pos = at;
        let mut quantity = bare(if negative {
            super::parser::negate(value.expr)
        } else {
            value.expr
        });
        quantity.places = value.places;
        Some(quantity)
    }

    /// `5 million`, `2.5 thousand`, `3 dozen`.
    fn scale(&mut self, quantity: &mut Quantity) {
        let (word, length) = match self.peek() {
            Some(Kind::Word(word) | Kind::Text(word)) => (word, 1),
            _ => return,
        };
        let (word, rest) = word.split_once(' ').unwrap_or((word, ""));
        let Some(scale) = words::scale_word(word.to_ascii_lowercase().trim_end_matches('s')) else {
            return;
        };
        if !rest.is_empty() {
            return;
        }
        let Expr::Number(value) = &quantity.value else {
            return;
        };
        quantity.value = Expr::Number(value * Rational::from(scale));
        if let (Some(places), Some(digits)) = (quantity.places, scale.checked_ilog10()) {
            quantity.places = Some(places - i64::from(digits));
        }
        self.pos += length;
    }

    /// Takes what stands behind the value into the quantity.
    fn suffix(&mut self, quantity: &mut Quantity) -> Parsed<()> {
        self.take_degree(quantity);
        if quantity.unit.is_some() {
            return self.compound(quantity);
        }
        let Some((suffix, end)) = self.read_suffix(self.pos, false) else {
            return Ok(());
        };
        self.pos = end;
        match suffix {
            Suffix::Percent => quantity.percent = true,
            Suffix::Currency(code, numerator, denominator) => {
                if denominator != 1 {
                    quantity.value = scaled(&quantity.value, numerator, denominator);
                    quantity.places = quantity.places.map(|places| places + 2);
                }
                if quantity
                    .currency
                    .as_deref()
                    .is_some_and(|written| written != code)
                {
                    return Err(self.error("two currencies"));
                }
                quantity.currency = Some(code.into());
            }
            Suffix::Base(base) => {
                let Expr::Number(value) = &quantity.value else {
                    return Err(self.error("a base behind something that is no number"));
                };
                let digits = value.to_string();
                let Some(value) = number::in_base(&digits, base) else {
                    return Err(self.error("a digit that the base does not have"));
                };
                quantity.value = value;
                quantity.base = Some(base);
            }
            Suffix::Unit(unit) => {
                let radians = matches!(&*unit.name, "rad" | "radian" | "radians");
                if !(radians && has_pi(&quantity.value)) {
                    quantity.unit = Some(unit);
                }
                return self.compound(quantity);
            }
        }
        Ok(())
    }

    /// A degree sign that the expression ends with becomes a unit.
    fn take_degree(&mut self, quantity: &mut Quantity) {
        if let Expr::Multiply(factors) = &mut quantity.value
            && factors.len() >= 2
            && factors.last() == Some(&Expr::Constant(Constant::Degree))
        {
            factors.pop();
            let rest = std::mem::take(factors);
            quantity.value = product(rest);
            quantity.unit = units::unit("°");
            let number_end = self.pos;
            if let Some(lone) = self.lone
                && lone.end < number_end
                && matches!(quantity.value, Expr::Number(_))
            {
                quantity.places = lone.places;
            }
        }
    }

    /// `5 ft 3 in`: further parts in smaller units of the same kind are added.
    fn compound(&mut self, quantity: &mut Quantity) -> Parsed<()> {
        for _ in 0..4 {
            let Some(unit) = quantity.unit.clone() else {
                return Ok(());
            };
            let Some(dimension) = unit.dimension else {
                return Ok(());
            };
            let Some(Kind::Number(_)) = self.peek() else {
                return Ok(());
            };
            let smaller = if unit.name.as_ref() == "°" {
                self.minutes()
            } else {
                None
            };
            let (value, size) = if let Some((value, parts, end)) = smaller {
                self.pos = end;
                (value, Rational::from_parts(1.into(), parts.into()))
            } else {
                let part = self.expression()?;
                let Some((Suffix::Unit(part_unit), end)) = self.read_suffix(self.pos, false) else {
                    return Err(self.error("a second value without its unit"));
                };
                if part_unit.dimension != Some(dimension) || part_unit.size >= unit.size {
                    return Err(self.error("a second value in a unit that does not fit"));
                }
                self.pos = end;
                (part, part_unit.size)
            };
            let ratio = size / &unit.size;
            let part = match value {
                Expr::Number(value) => Expr::Number(value * ratio),
                other => product(vec![Expr::Number(ratio), other]),
            };
            quantity.value = match (
                std::mem::replace(&mut quantity.value, Expr::integer(0)),
                part,
            ) {
                (Expr::Number(a), Expr::Number(b)) => Expr::Number(a + b),
                (a, b) => Expr::Add(vec![a, b]),
            };
            quantity.places = None;
        }
        Ok(())
    }

    /// `15'` and `20''` behind degrees: the value, how many make a degree, and where they end.
    fn minutes(&self) -> Option<(Expr, u32, usize)> {
        let Kind::Number(index) = self.peek()? else {
            return None;
        };
        let value = number::value(self.numerals.get(index as usize)?)?.expr;
        let mut at = self.pos + 1;
        at += usize::from(self.at(at)?.kind == Kind::Caret);
        let grouped = matches!(self.at(at)?.kind, Kind::Open(Bracket::Group));
        let close = self.mate(at);
        at += usize::from(grouped);
        let Kind::Prime(count) = self.at(at)?.kind else {
            return None;
        };
        let end = if grouped { close + 1 } else { at + 1 };
        Some((value, if count == 1 { 60 } else { 3600 }, end))
    }

    /// Does nothing follow that could belong to a value?
    pub(super) fn ends_quantity(&self, at: usize) -> bool {
        let Some(token) = self.at(at) else {
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

    /// Is there a suffix from a token on?
    pub(super) fn suffix_follows(&self, at: usize, strict: bool) -> bool {
        self.read_suffix(at, strict).is_some()
    }

    /// Is the next letter the beginning of a unit, given where the product began?
    pub(super) fn is_unit_letter(&self, start: usize) -> bool {
        let Some(token) = self.at(self.pos) else {
            return false;
        };
        let spaced = token.space != Space::Tight;
        let before = self
            .pos
            .checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .map(|token| token.kind);
        if token.run == 0
            || !matches!(
                before,
                Some(Kind::Number(_) | Kind::Close(_) | Kind::Vulgar(..))
            )
        {
            return false;
        }
        let run = usize::from(token.run);
        let letters = self.source(self.pos, self.pos + run);
        let known = if run == 1 {
            // Only right behind a plain number.
            let plain = self.pos == start + 1 || self.is_power_of_ten_before();
            plain && units::is_plain(letters, spaced)
        } else {
            units::is_plain(letters, spaced)
                || units::currency(letters).is_some()
                || matches!(letters, "sq" | "cu" | "pct" | "deg")
                || (spaced && is_wordlike(letters))
        };
        known && self.suffix_follows(self.pos, false)
    }

    /// Does a power of ten end right here, as in `3 \times 10^8 m`?
    fn is_power_of_ten_before(&self) -> bool {
        let Some(last) = self.pos.checked_sub(1) else {
            return false;
        };
        let open = match self.tokens.get(last).map(|token| token.kind) {
            Some(Kind::Close(_)) => self.mate(last),
            Some(Kind::Number(_)) => last,
            _ => return false,
        };
        open >= 2
            && self
                .tokens
                .get(open - 1)
                .is_some_and(|token| token.kind == Kind::Caret)
            && matches!(
                self.tokens.get(open - 2).map(|token| token.kind),
                Some(Kind::Number(_))
            )
    }

    /// Is a unit of temperature next, `°C`?
    pub(super) fn is_temperature(&self) -> bool {
        matches!(self.read_suffix(self.pos, true), Some((Suffix::Unit(unit), _)) if !unit.offset.is_zero())
    }

    /// The suffix from a token on, and where it ends. Where it does not reach to the end of the value there is none.
    /// `strict`: only real units.
    pub(super) fn read_suffix(&self, from: usize, strict: bool) -> Option<(Suffix, usize)> {
        let first = self.at(from)?;
        match first.kind {
            Kind::Percent if !strict => {
                return self
                    .ends_quantity(from + 1)
                    .then_some((Suffix::Percent, from + 1));
            }
            Kind::Currency(code) if !strict => {
                return self
                    .ends_quantity(from + 1)
                    .then_some((Suffix::Currency(code, 1, 1), from + 1));
            }
            Kind::Word("base" | "Base") | Kind::Text("base") if !strict => {
                let Kind::Number(index) = self.at(from + 1)?.kind else {
                    return None;
                };
                let base =
                    u32::try_from(number::small(self.numerals.get(index as usize)?)?).ok()?;
                return self
                    .ends_quantity(from + 2)
                    .then_some((Suffix::Base(base), from + 2));
            }
            _ => {}
        }
        let (text, words, end) = self.suffix_text(from)?;
        if !self.ends_quantity(end)
            && !matches!(self.at(end).map(|token| token.kind), Some(Kind::Number(_)))
        {
            return None;
        }
        let trimmed = text.trim();
        if !strict {
            if matches!(
                trimmed.trim_end_matches('.').to_ascii_lowercase().as_str(),
                "percent" | "per cent" | "pct" | "percentage" | "percentage points" | "percents"
            ) {
                return Some((Suffix::Percent, end));
            }
            if let Some((code, numerator, denominator)) = units::currency(trimmed) {
                return Some((Suffix::Currency(code, numerator, denominator), end));
            }
        }
        if let Some(mut unit) = units::unit(trimmed) {
            if unit.name.contains('\\') {
                unit.name = super::words::plain(trimmed).into();
            }
            return Some((Suffix::Unit(unit), end));
        }
        if strict || !words || !is_label(trimmed) || self.is_behind_unit(from) {
            return None;
        }
        let name = super::words::plain(trimmed);
        let name = name
            .trim_matches(['.', ' ', '~'])
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        Some((
            Suffix::Unit(Unit {
                name: name.into(),
                dimension: None,
                size: Rational::from(1),
                offset: Rational::from(0),
            }),
            end,
        ))
    }

    /// Does a letter that may be a unit stand between a number and this token, as in `20 N upward`?
    fn is_behind_unit(&self, from: usize) -> bool {
        let before = |back: usize| {
            from.checked_sub(back)
                .and_then(|index| self.tokens.get(index))
        };
        matches!(
            self.at(from).map(|token| token.kind),
            Some(Kind::Word(_) | Kind::Letter(_))
        ) && before(1).is_some_and(|token| {
            matches!(token.kind, Kind::Letter(_)) && token.space != Space::Tight
        })
    }

    /// The text of what may be a unit, whether it is made of words, and where it ends.
    fn suffix_text(&self, from: usize) -> Option<(String, bool, usize)> {
        let mut text = String::new();
        let mut all_words = true;
        let mut labelled = false;
        let mut at = from;
        let mut parts = 0;
        while let Some(token) = self.at(at) {
            parts += 1;
            if parts > 40 || text.len() > 120 || (token.space == Space::Wide && at > from) {
                break;
            }
            if token.space != Space::Tight && at > from {
                text.push(' ');
            }
            match token.kind {
                Kind::Word(word) => text.push_str(word),
                Kind::Text(word) => {
                    text.push_str(word);
                    // `\text{m}\text{s}` does not make a word.
                }
                Kind::Name(word) => {
                    if at > from && !text.ends_with([' ', '/', '·']) {
                        text.push('·');
                    }
                    text.push_str(word);
                    all_words &= word.chars().count() >= 3
                        && word.chars().all(|c| c.is_lowercase() || c == ' ');
                }
                Kind::Letter(letter) => {
                    let run = usize::from(token.run);
                    if run > 1 {
                        let letters = self.source(at, at + run);
                        text.push_str(letters);
                        let wordlike = is_wordlike(letters)
                            || matches!(letters, "sq" | "cu")
                            || text.len() > letters.len();
                        all_words &= wordlike && (token.space != Space::Tight || at > from);
                        at += run;
                        continue;
                    }
                    text.push(letter);
                    all_words &= at > from && letter == 'a';
                }
                Kind::Function(Named::One(Function::Sec) | Named::Many(Function::Min)) => {
                    text.push_str(self.source(at, at + 1));
                    all_words = false;
                }
                Kind::Caret => {
                    let next = self.at(at + 1)?;
                    match next.kind {
                        Kind::Number(_) => {
                            text.push('^');
                            text.extend(self.source(at + 1, at + 2).chars().filter_map(|c| {
                                char::from_digit(u32::from(super::token::digit(c)?), 10)
                            }));
                            at += 1;
                            // `units^2` is still a label.
                            labelled = all_words;
                        }
                        Kind::Minus => {
                            text.push_str("^-");
                            at += 1;
                        }
                        Kind::Circle => {
                            text.push('°');
                            at += 1;
                        }
                        Kind::Open(Bracket::Group) => {
                            let close = self.mate(at + 1);
                            if close > at + 5 || close <= at + 2 {
                                return None;
                            }
                            if self.at(at + 2)?.kind == Kind::Circle {
                                text.push('°');
                            } else {
                                text.push('^');
                                for inner in at + 2..close {
                                    let token = self.at(inner)?;
                                    match token.kind {
                                        Kind::Minus => text.push('-'),
                                        Kind::Number(_) => {
                                            text.push_str(self.source(inner, inner + 1))
                                        }
                                        _ => return None,
                                    }
                                }
                            }
                            at = close;
                            labelled = all_words;
                        }
                        _ => return None,
                    }
                    all_words = labelled;
                }
                Kind::Number(_)
                    if token.space == Space::Tight
                        && at > from
                        && matches!(self.tokens[at - 1].kind, Kind::Letter(_) | Kind::Minus) =>
                {
                    text.push_str(self.source(at, at + 1));
                    all_words = false;
                }
                Kind::Divide if at > from => {
                    text.push('/');
                }
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
                        && matches!(self.at(at + 2)?.kind, Kind::Text(_) | Kind::Name(_)) =>
                {
                    // `\frac{\text{m}}{\text{s}}`.
                    let (above, below) = (at + 1, self.mate(at + 1) + 1);
                    let group = |index: usize| {
                        self.at(index)
                            .is_some_and(|token| token.kind == Kind::Open(Bracket::Group))
                    };
                    if !group(above) || !group(below) || self.mate(below) > from + 24 {
                        return None;
                    }
                    text.push_str(self.source(above + 1, below - 1));
                    text.push_str("/(");
                    text.push_str(self.source(below + 1, self.mate(below)));
                    text.push(')');
                    at = self.mate(below);
                    all_words = false;
                }
                Kind::Greek("mu") => {
                    text.push('µ');
                    all_words = false;
                }
                Kind::Greek("Omega") => {
                    text.push('Ω');
                    all_words = false;
                }
                Kind::Other if self.source(at, at + 1) == "¢" => text.push('¢'),
                Kind::Stop if at > from && self.at(at + 1).is_some() => text.push('.'),
                Kind::Minus
                    if at > from
                        && token.space == Space::Tight
                        && matches!(
                            self.at(at + 1).map(|next| (next.kind, next.space)),
                            Some((Kind::Word(_) | Kind::Letter(_), Space::Tight))
                        ) =>
                {
                    text.push('-');
                }
                Kind::Open(Bracket::Round | Bracket::Group)
                    if at > from
                        && matches!(self.tokens[at - 1].kind, Kind::Divide | Kind::Times) =>
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
}

/// Can words be the name of what is counted?
fn is_label(text: &str) -> bool {
    let mut count = 0;
    for word in text.split([' ', '-', '/']).filter(|word| !word.is_empty()) {
        count += 1;
        let lower = word.to_lowercase();
        if matches!(
            lower.as_str(),
            "if" | "when"
                | "where"
                | "for"
                | "is"
                | "are"
                | "was"
                | "and"
                | "or"
                | "with"
                | "if:"
                | "not"
                | "but"
                | "because"
                | "so"
                | "then"
                | "to"
                | "mod"
                | "modulo"
                | "than"
                | "otherwise"
                | "only"
                | "least"
                | "most"
                | "plus"
                | "minus"
                | "over"
                | "equals"
                | "million"
                | "thousand"
                | "hundred"
                | "billion"
                | "base"
                | "through"
                | "from"
                | "until"
                | "union"
                | "divided"
        ) {
            return false;
        }
    }
    (1..=6).contains(&count) && text.chars().any(char::is_alphabetic)
}

/// expr · numerator / denominator.
fn scaled(expr: &Expr, numerator: u32, denominator: u32) -> Expr {
    let factor = Rational::from_parts(numerator.into(), denominator.into());
    match expr {
        Expr::Number(value) => Expr::Number(value * factor),
        other => product(vec![Expr::Number(factor), other.clone()]),
    }
}

/// Does π occur?
fn has_pi(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Pi) => true,
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) => parts.iter().any(has_pi),
        Expr::Power(pair) => has_pi(&pair.0) || has_pi(&pair.1),
        _ => false,
    }
}

//! Lists of answers, relations, and what joins sets.

use super::arrange::{Separator, arrange};
use super::parser::{Parsed, Parser};
use super::plain::plain_text;
use super::quantity::bare;
use super::sets::{as_interval, real_line};
use super::token::{Bracket, Environment, Kind, Space, inside};
use super::worded::worded_answer;
use crate::algebra::{Expr, Function};
use crate::answer::{Answer, Operator, Relation};
use crate::lexicon;

impl Parser<'_> {
    /// Everything up to the limit as one answer.
    pub(super) fn answer(&mut self) -> Parsed<Answer> {
        let mut items = Vec::new();
        let mut separators = Vec::new();
        loop {
            if !self.skip_leading_separators() && self.ended() {
                break;
            }
            let before = items.len();
            // "x = 2kπ, where k is an integer".
            if before > 0
                && let Some(conditions) = self.quantifier()
            {
                if conditions.is_empty() {
                    separators.pop();
                }
                items.extend(conditions);
                break;
            }
            self.signed_item(&mut items)?;
            for _ in before + 1..items.len() {
                separators.push(Separator::Comma);
            }
            if self.take(Kind::Stop) && !self.ended() {
                return Err(self.error("a sentence goes on"));
            }
            if self.ended() {
                break;
            }
            self.passing_condition(&mut items, &mut separators)?;
            if self.ended() {
                break;
            }
            let Some(separator) = self.separator() else {
                return Err(self.error("this does not go on an answer"));
            };
            if self.ended() {
                break;
            }
            separators.push(separator);
        }
        if items.is_empty() {
            return Err(self.error("something is missing"));
        }
        Ok(arrange(items, &separators))
    }

    /// Passes "and" at the very start; is something left?
    pub(super) fn skip_leading_separators(&mut self) -> bool {
        while matches!(self.peek(), Some(Kind::And | Kind::Row)) {
            self.skip(1);
        }
        !self.ended()
    }

    /// Passes what separates items: the strongest of a run such as `, or`.
    pub(super) fn separator(&mut self) -> Option<Separator> {
        let mut found = (self.space() == Space::Wide).then_some(Separator::Semicolon);
        let mut wide = found.is_some();
        while let Some(kind) = self.peek() {
            let separator = match kind {
                Kind::Comma | Kind::And => Separator::Comma,
                Kind::Or => Separator::Or,
                Kind::Semicolon | Kind::Row => Separator::Semicolon,
                _ => break,
            };
            // A wide space beside a real separator is only a space.
            found = if std::mem::take(&mut wide) {
                Some(separator)
            } else {
                found.max(Some(separator))
            };
            self.skip(1);
        }
        // `x = 1 \quad y = 2` separates like a comma.
        if wide { Some(Separator::Comma) } else { found }
    }

    /// An item, twice where it has a ±.
    pub(super) fn signed_item(&mut self, items: &mut Vec<Answer>) -> Parsed<()> {
        let (plus, minus) = self.for_both_signs(Self::item)?;
        items.push(plus);
        items.extend(minus);
        Ok(())
    }

    /// One item: a relation, a set, a value, a text.
    pub(super) fn item(&mut self) -> Parsed<Answer> {
        // A leading equals sign only says "it is".
        if self.peek() == Some(Kind::Relation(Operator::Equal)) {
            self.skip(1);
        }
        let first = self.side()?;
        let mut sides = vec![first];
        let mut operators = Vec::new();
        let mut congruent = false;
        loop {
            let sign = self.pos();
            let Some(operator) = self.operator() else {
                break;
            };
            congruent |= matches!(self.source(sign, self.pos()), "≡" | "\\equiv");
            operators.push(operator);
            let side = if matches!(operator, Operator::In | Operator::NotIn | Operator::Subset) {
                self.lettered_domain()?
            } else {
                None
            };
            let side = match side {
                Some(side) => side,
                None => self.side()?,
            };
            sides.push(side);
        }
        let mut modulus = self.modulus()?;
        // `a ≡ b mod n` without brackets.
        if congruent
            && modulus.is_none()
            && let Some(Answer::Quantity(last)) = sides.last_mut()
            && let Expr::Call(Function::Modulo, arguments) = &mut last.value
            && arguments.len() == 2
        {
            modulus = arguments.pop();
            if let Some(value) = arguments.pop() {
                last.value = value;
            }
        }
        if operators.is_empty() {
            if modulus.is_some() {
                return Err(self.error("a modulus without a congruence"));
            }
            return sides
                .pop()
                .ok_or_else(|| self.error("something is missing"));
        }
        for (side, operator) in sides.iter_mut().skip(1).zip(&operators) {
            if matches!(operator, Operator::In | Operator::NotIn | Operator::Subset) {
                as_interval(side);
            }
        }
        Ok(Answer::Relation(Relation {
            sides,
            operators,
            modulus,
        }))
    }

    /// `\mathbf{Z}` and a bare `R` behind ∈.
    pub(super) fn lettered_domain(&mut self) -> Parsed<Option<Answer>> {
        let grouped = self.opens(Bracket::Group) && self.mate(self.pos()) == self.pos() + 2;
        let Some(Kind::Letter(letter)) = self.ahead(usize::from(grouped)) else {
            return Ok(None);
        };
        let domain = match letter {
            'R' => 'ℝ',
            'Z' => 'ℤ',
            'N' => 'ℕ',
            'Q' => 'ℚ',
            'C' => 'ℂ',
            _ => return Ok(None),
        };
        self.skip(if grouped { 3 } else { 1 });
        let symbol = self.domain(domain)?;
        let line = symbol == Expr::symbol("ℝ");
        Ok(Some(if line {
            Answer::Interval(real_line())
        } else {
            Answer::Quantity(bare(symbol))
        }))
    }

    /// The relation that is next.
    pub(super) fn operator(&mut self) -> Option<Operator> {
        // `x &= 1` in a system.
        if self.peek() == Some(Kind::Cell) && matches!(self.ahead(1), Some(Kind::Relation(_))) {
            self.skip(1);
        }
        let operator = match self.peek()? {
            Kind::Relation(operator) => operator,
            // A bare bar between two values divides.
            Kind::Bar(super::token::Side::Unknown) => Operator::Divides,
            // "in" before a set.
            Kind::Letter('i')
                if self.at(self.pos())?.run == 2
                    && self.source(self.pos(), self.pos() + 2) == "in"
                    && matches!(
                        self.ahead(2),
                        Some(Kind::Open(_) | Kind::Domain(_) | Kind::EmptySet)
                    ) =>
            {
                self.skip(1);
                Operator::In
            }
            _ => return None,
        };
        self.skip(1);
        Some(operator)
    }

    /// `\pmod 7`, `(mod 7)`.
    pub(super) fn modulus(&mut self) -> Parsed<Option<Expr>> {
        match self.peek() {
            Some(Kind::Congruence) => {
                self.skip(1);
                Ok(Some(self.argument()?))
            }
            Some(Kind::Open(Bracket::Round)) if self.ahead(1) == Some(Kind::Modulo) => {
                let modulus = self.within(|parser| {
                    parser.skip(1);
                    parser.expression()
                })?;
                Ok(Some(modulus))
            }
            _ => Ok(None),
        }
    }

    /// One side of a relation: sets joined by ∪, ∩ and ∖, or a ratio.
    pub(super) fn side(&mut self) -> Parsed<Answer> {
        let mut left = self.member()?;
        let mut joined = false;
        loop {
            let sign = match self.peek() {
                Some(sign @ (Kind::Union | Kind::Intersection | Kind::SetMinus)) => sign,
                Some(Kind::Minus) if self.ahead(1) == Some(Kind::Open(Bracket::Set)) => {
                    Kind::SetMinus
                }
                // `(1,2) U (3,4)`.
                Some(Kind::Letter('U' | 'u'))
                    if matches!(
                        left,
                        Answer::Tuple(_) | Answer::Interval(_) | Answer::Set(_) | Answer::Union(_)
                    ) && matches!(self.ahead(1), Some(Kind::Open(_))) =>
                {
                    Kind::Union
                }
                _ => break,
            };
            self.skip(1);
            let mut right = self.member()?;
            as_interval(&mut left);
            as_interval(&mut right);
            joined = true;
            left = match (sign, left) {
                (Kind::Union, Answer::Union(mut parts)) => {
                    parts.push(right);
                    Answer::Union(parts)
                }
                (Kind::Union, left) => Answer::Union(vec![left, right]),
                (Kind::Intersection, Answer::Intersection(mut parts)) => {
                    parts.push(right);
                    Answer::Intersection(parts)
                }
                (Kind::Intersection, left) => Answer::Intersection(vec![left, right]),
                (_, left) => {
                    if depth_of_differences(&left) > 32 {
                        return Err(self.error("too many differences of sets"));
                    }
                    Answer::Difference(Box::new((left, right)))
                }
            };
        }
        if !joined && self.peek() == Some(Kind::Colon) {
            return self.ratio(left);
        }
        // `3 to 4`.
        if let Answer::Quantity(quantity) = &left
            && matches!(quantity.value, Expr::Number(_))
            && matches!(self.peek(), Some(Kind::Letter('t')))
            && self.at(self.pos()).is_some_and(|token| token.run == 2)
            && self.source(self.pos(), self.pos() + 2) == "to"
            && matches!(self.ahead(2), Some(Kind::Number(_)))
        {
            let first = quantity.value.clone();
            self.skip(2);
            let second = self.expression()?;
            return Ok(Answer::Ratio(vec![first, second]));
        }
        Ok(left)
    }

    /// `a : b : c`, of which the first part is read.
    pub(super) fn ratio(&mut self, first: Answer) -> Parsed<Answer> {
        let Answer::Quantity(quantity) = first else {
            return Err(self.error("a ratio of something that is no value"));
        };
        let mut parts = vec![quantity.value];
        while self.take(Kind::Colon) {
            parts.push(self.expression()?);
        }
        Ok(Answer::Ratio(parts))
    }

    /// A set, an interval, a tuple, a matrix, a text, or a value.
    pub(super) fn member(&mut self) -> Parsed<Answer> {
        let Some(kind) = self.peek() else {
            return Err(self.error("something is missing"));
        };
        match kind {
            Kind::EmptySet => {
                self.skip(1);
                return Ok(Answer::Set(Vec::new()));
            }
            Kind::Domain('ℝ') => {
                let narrowed = matches!(self.ahead(1), Some(Kind::Caret | Kind::Underscore));
                if !narrowed {
                    self.skip(1);
                    return Ok(Answer::Interval(real_line()));
                }
            }
            Kind::Open(Bracket::Set) => return self.set(),
            Kind::Open(Bracket::Group) if self.has_entries(self.pos()) => return self.set(),
            Kind::Open(Bracket::Angle) => {
                let entries = self.within(Self::entries)?;
                return Ok(Answer::Tuple(entries));
            }
            Kind::Open(Bracket::Outward) => return self.tuple(),
            Kind::Open(Bracket::Round | Bracket::Square) if self.wraps_table() => {
                return self.wrapped_table();
            }
            Kind::Open(Bracket::Round | Bracket::Square) if self.has_entries(self.pos()) => {
                return self.tuple();
            }
            Kind::Open(Bracket::Square)
                if self.ends_item(self.mate(self.pos()) + 1) && self.is_nested_row() =>
            {
                return self.tuple();
            }
            Kind::Open(Bracket::Round | Bracket::Group | Bracket::Square)
                if self.ends_item(self.mate(self.pos()) + 1)
                    && (self.opens(Bracket::Group) || !self.is_plain_inside()) =>
            {
                return self.within(Self::answer);
            }
            Kind::Begin(Environment::Matrix | Environment::Determinant | Environment::Cases) => {
                return self.table();
            }
            Kind::Relation(Operator::Less) => return self.pointed(),
            Kind::Text(_) | Kind::Word(_) => {
                if let Some(text) = self.words_item() {
                    return Ok(text);
                }
            }
            Kind::Letter(_) if self.at(self.pos()).is_some_and(|token| token.run == 3) => {
                let word = self.source(self.pos(), self.pos() + 3);
                let worded = super::letters::is_wordlike(word) || super::prose::is_name(word);
                if worded
                    && self.ends_item(self.pos() + 3)
                    && super::spelled::small_number(word).is_none()
                {
                    self.skip(3);
                    return Ok(Answer::Text(word.to_owned()));
                }
            }
            Kind::Dots => {
                self.skip(1);
                return Ok(Answer::Quantity(bare(Expr::symbol("…"))));
            }
            _ => {}
        }
        let quantity = self.quantity()?;
        // A matrix with a factor before it.
        if matches!(self.peek(), Some(Kind::Begin(Environment::Matrix))) && quantity.unit.is_none()
        {
            return self.scaled_table(&quantity.value);
        }
        Ok(Answer::Quantity(quantity))
    }

    /// Is what a bracket holds a plain expression?
    pub(super) fn is_plain_inside(&self) -> bool {
        !self.holds(self.pos(), inside::RELATION | inside::WORDS)
            && !matches!(
                self.ahead(1),
                Some(
                    Kind::Open(
                        Bracket::Round
                            | Bracket::Square
                            | Bracket::Group
                            | Bracket::Set
                            | Bracket::Angle
                    ) | Kind::EmptySet
                        | Kind::Currency(_)
                )
            )
    }

    /// Does a bracket hold nothing but another one with entries?
    pub(super) fn is_nested_row(&self) -> bool {
        self.ahead(1) == Some(Kind::Open(Bracket::Square)) && self.has_entries(self.pos() + 1)
    }

    /// Does an item end at this token?
    pub(super) fn ends_item(&self, at: usize) -> bool {
        self.at(at).is_none_or(|token| {
            matches!(
                token.kind,
                Kind::Comma
                    | Kind::Semicolon
                    | Kind::And
                    | Kind::Or
                    | Kind::Row
                    | Kind::Stop
                    | Kind::Relation(_)
                    | Kind::Union
                    | Kind::Intersection
                    | Kind::SetMinus
            )
        })
    }

    /// Words as an item of their own.
    pub(super) fn words_item(&mut self) -> Option<Answer> {
        if let Some(Kind::Word(word) | Kind::Text(word)) = self.peek()
            && lexicon::words::APPROXIMATELY.contains(word.trim_end_matches('.'))
        {
            return None;
        }
        if self.spelled_number().is_some() {
            return None;
        }
        let start = self.pos();
        let mut at = start;
        while let Some(token) = self.at(at) {
            match token.kind {
                Kind::Word(_) | Kind::Text(_) => at += 1,
                Kind::Minus if at > start && token.space == Space::Tight => at += 1,
                Kind::Letter(_) if token.run >= 1 => at += usize::from(token.run),
                _ => break,
            }
        }
        if !self.ends_item(at) {
            return None;
        }
        let text = plain_text(self.source(start, at));
        let text = text.trim().to_owned();
        // `\text{…}` is sliced by its braces; what is left of them is markup.
        self.seek(at);
        if let Some(answer) = worded_answer(&text) {
            return Some(answer);
        }
        Some(Answer::Text(text))
    }
}

/// How many differences nest on the left.
fn depth_of_differences(answer: &Answer) -> usize {
    let mut depth = 0;
    let mut current = answer;
    while let Answer::Difference(pair) = current {
        depth += 1;
        current = &pair.0;
    }
    depth
}

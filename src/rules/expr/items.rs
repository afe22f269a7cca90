//! Lists of answers, relations, and what joins sets.

use super::answer::{Answer, Endpoint, Interval, Operator, Relation};
use super::parser::{Parsed, Parser};
use super::quantity::bare;
use super::term::{Constant, Expr, Function};
use super::token::{Bracket, Environment, Kind, Space, inside};

/// What stands between two items, from what binds most to what binds least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Separator {
    /// `,`, `and`.
    Comma,
    /// `or`.
    Or,
    /// `;`, a new line, a wide space.
    Semicolon,
}

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
                && let Some(condition) = self.quantifier()
            {
                match condition {
                    Some(condition) => items.push(condition),
                    None => {
                        separators.pop();
                    }
                }
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

    /// `(k ∈ ℤ)` and "for all x" behind an item: what they say of a variable is an item of its own.
    fn passing_condition(
        &mut self,
        items: &mut Vec<Answer>,
        separators: &mut Vec<Separator>,
    ) -> Parsed<()> {
        if self.opens(Bracket::Round) && self.holds(self.pos, inside::RELATION) {
            items.push(self.within(Self::item)?);
            separators.push(Separator::Comma);
        } else if let Some(condition) = self.quantifier()
            && let Some(condition) = condition
        {
            items.push(condition);
            separators.push(Separator::Comma);
        }
        Ok(())
    }

    /// "for all x", "where c is a constant", "k any integer" up to the end: passed where it only names a variable; of an
    /// integer it says so. `None` where there is none, or none that is understood.
    fn quantifier(&mut self) -> Option<Option<Answer>> {
        let start = self.pos;
        let (Kind::Text(first) | Kind::Word(first)) = self.peek().or_else(|| {
            (self.at(start)?.run == 3).then(|| Kind::Word(self.source(start, start + 3)))
        })?
        else {
            return self.short_quantifier();
        };
        self.read_quantifier(first)
    }

    /// A quantifier whose first word is a run of letters.
    fn short_quantifier(&mut self) -> Option<Option<Answer>> {
        let run = usize::from(self.at(self.pos)?.run);
        if run < 2 {
            return None;
        }
        let first = self.source(self.pos, self.pos + run);
        self.read_quantifier(first)
    }

    fn read_quantifier(&mut self, first: &str) -> Option<Option<Answer>> {
        let lead = first.split_whitespace().next()?.to_ascii_lowercase();
        if !matches!(lead.as_str(), "for" | "where" | "with") {
            return None;
        }
        let mut words = String::new();
        let mut variable = None;
        let mut domain = None;
        let mut at = self.pos;
        while let Some(token) = self.at(at) {
            match token.kind {
                Kind::Text(text) | Kind::Word(text) => words.push_str(text),
                Kind::Letter(letter) => {
                    let run = usize::from(token.run);
                    if run > 1 {
                        words.push_str(self.source(at, at + run));
                        words.push(' ');
                        at += run;
                        continue;
                    }
                    if letter == 'a' && variable.is_none() && words.trim_end().ends_with("is") {
                        words.push('a');
                    } else if variable
                        .replace(letter)
                        .is_some_and(|known| known != letter)
                    {
                        return None;
                    }
                }
                Kind::Relation(Operator::In) => words.push_str("in"),
                Kind::Domain(letter) => {
                    domain = Some(letter);
                    if matches!(
                        self.at(at + 1).map(|t| t.kind),
                        Some(Kind::Caret | Kind::Underscore)
                    ) {
                        return None;
                    }
                }
                Kind::Minus => words.push('-'),
                Kind::Stop if at + 1 == self.limit => {}
                _ => return None,
            }
            words.push(' ');
            at += 1;
        }
        let mut set = domain
            .filter(|letter| *letter != 'ℝ')
            .map(|letter| letter.to_string());
        let words = words.to_ascii_lowercase();
        let sign = if words.contains("non - negative")
            || words.contains("nonnegative")
            || words.contains("non-negative")
        {
            "_≥0"
        } else if words.contains("positive") {
            "^+"
        } else {
            ""
        };
        for word in words
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
        {
            match word {
                "integer" | "integers" => set = Some(format!("ℤ{sign}")),
                "natural" => set = Some("ℕ".to_owned()),
                "rational" | "rationals" => set = Some("ℚ".to_owned()),
                "for" | "all" | "every" | "any" | "each" | "some" | "where" | "with" | "is"
                | "are" | "a" | "an" | "the" | "constant" | "constants" | "arbitrary" | "real"
                | "reals" | "number" | "numbers" | "fixed" | "value" | "values" | "of" | "in"
                | "complex" | "be" | "being" | "can" => {}
                "positive" | "nonnegative" | "non" | "negative" if !sign.is_empty() => {}
                _ => return None,
            }
        }
        if !sign.is_empty() && set.is_none() {
            return None;
        }
        self.pos = at;
        let (Some(set), Some(variable)) = (set, variable) else {
            return Some(None);
        };
        let symbol = |name: &str| Answer::Quantity(bare(Expr::symbol(name)));
        Some(Some(Answer::Relation(Relation {
            sides: vec![symbol(variable.encode_utf8(&mut [0; 4])), symbol(&set)],
            operators: vec![Operator::In],
            modulus: None,
        })))
    }

    /// Passes "and" at the very start; is something left?
    fn skip_leading_separators(&mut self) -> bool {
        while matches!(self.peek(), Some(Kind::And | Kind::Row)) {
            self.pos += 1;
        }
        !self.ended()
    }

    /// Passes what separates items: the strongest of a run such as `, or`.
    fn separator(&mut self) -> Option<Separator> {
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
            self.pos += 1;
        }
        // `x = 1 \quad y = 2` separates like a comma.
        if wide { Some(Separator::Comma) } else { found }
    }

    /// An item, twice where it has a ±.
    fn signed_item(&mut self, items: &mut Vec<Answer>) -> Parsed<()> {
        let start = self.pos;
        let outer = std::mem::take(&mut self.both_signs);
        let minus = std::mem::replace(&mut self.minus, false);
        let plus_item = self.item()?;
        if !std::mem::replace(&mut self.both_signs, outer) {
            self.minus = minus;
            items.push(plus_item);
            return Ok(());
        }
        self.repeats = self
            .repeats
            .checked_sub(1)
            .ok_or(super::ParseError::TooLong {
                limit: super::lexer::MOST_TOKENS,
            })?;
        self.pos = start;
        self.minus = true;
        let other = self.item()?;
        self.minus = minus;
        self.both_signs = outer;
        items.push(plus_item);
        items.push(other);
        Ok(())
    }

    /// One item: a relation, a set, a value, a text.
    fn item(&mut self) -> Parsed<Answer> {
        // A leading equals sign only says "it is".
        if self.peek() == Some(Kind::Relation(Operator::Equal)) {
            self.pos += 1;
        }
        let first = self.side()?;
        let mut sides = vec![first];
        let mut operators = Vec::new();
        let mut congruent = false;
        loop {
            let sign = self.pos;
            let Some(operator) = self.operator() else {
                break;
            };
            congruent |= matches!(self.source(sign, self.pos), "≡" | "\\equiv");
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
    fn lettered_domain(&mut self) -> Parsed<Option<Answer>> {
        let grouped = self.opens(Bracket::Group) && self.mate(self.pos) == self.pos + 2;
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
        self.pos += if grouped { 3 } else { 1 };
        let symbol = self.domain(domain)?;
        let line = symbol == Expr::symbol("ℝ");
        Ok(Some(if line {
            Answer::Interval(real_line())
        } else {
            Answer::Quantity(bare(symbol))
        }))
    }

    /// The relation that is next.
    fn operator(&mut self) -> Option<Operator> {
        // `x &= 1` in a system.
        if self.peek() == Some(Kind::Cell) && matches!(self.ahead(1), Some(Kind::Relation(_))) {
            self.pos += 1;
        }
        let operator = match self.peek()? {
            Kind::Relation(operator) => operator,
            // A bare bar between two values divides.
            Kind::Bar(super::token::Side::Unknown) => Operator::Divides,
            // "in" before a set.
            Kind::Letter('i')
                if self.at(self.pos)?.run == 2
                    && self.source(self.pos, self.pos + 2) == "in"
                    && matches!(
                        self.ahead(2),
                        Some(Kind::Open(_) | Kind::Domain(_) | Kind::EmptySet)
                    ) =>
            {
                self.pos += 1;
                Operator::In
            }
            _ => return None,
        };
        self.pos += 1;
        Some(operator)
    }

    /// `\pmod 7`, `(mod 7)`.
    fn modulus(&mut self) -> Parsed<Option<Expr>> {
        match self.peek() {
            Some(Kind::Congruence) => {
                self.pos += 1;
                Ok(Some(self.argument()?))
            }
            Some(Kind::Open(Bracket::Round)) if self.ahead(1) == Some(Kind::Modulo) => {
                let modulus = self.within(|parser| {
                    parser.pos += 1;
                    parser.expression()
                })?;
                Ok(Some(modulus))
            }
            _ => Ok(None),
        }
    }

    /// One side of a relation: sets joined by ∪, ∩ and ∖, or a ratio.
    fn side(&mut self) -> Parsed<Answer> {
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
            self.pos += 1;
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
            && self.at(self.pos).is_some_and(|token| token.run == 2)
            && self.source(self.pos, self.pos + 2) == "to"
            && matches!(self.ahead(2), Some(Kind::Number(_)))
        {
            let first = quantity.value.clone();
            self.pos += 2;
            let second = self.expression()?;
            return Ok(Answer::Ratio(vec![first, second]));
        }
        Ok(left)
    }

    /// `a : b : c`, of which the first part is read.
    fn ratio(&mut self, first: Answer) -> Parsed<Answer> {
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
    fn member(&mut self) -> Parsed<Answer> {
        let Some(kind) = self.peek() else {
            return Err(self.error("something is missing"));
        };
        match kind {
            Kind::EmptySet => {
                self.pos += 1;
                return Ok(Answer::Set(Vec::new()));
            }
            Kind::Domain('ℝ') => {
                let narrowed = matches!(self.ahead(1), Some(Kind::Caret | Kind::Underscore));
                if !narrowed {
                    self.pos += 1;
                    return Ok(Answer::Interval(real_line()));
                }
            }
            Kind::Open(Bracket::Set) => return self.set(),
            Kind::Open(Bracket::Group) if self.has_entries(self.pos) => return self.set(),
            Kind::Open(Bracket::Angle) => {
                let entries = self.within(Self::entries)?;
                return Ok(Answer::Tuple(entries));
            }
            Kind::Open(Bracket::Outward) => return self.tuple(),
            Kind::Open(Bracket::Round | Bracket::Square) if self.wraps_table() => {
                return self.wrapped_table();
            }
            Kind::Open(Bracket::Round | Bracket::Square) if self.has_entries(self.pos) => {
                return self.tuple();
            }
            Kind::Open(Bracket::Square)
                if self.ends_item(self.mate(self.pos) + 1) && self.is_nested_row() =>
            {
                return self.tuple();
            }
            Kind::Open(Bracket::Round | Bracket::Group | Bracket::Square)
                if self.ends_item(self.mate(self.pos) + 1)
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
            Kind::Letter(_) if self.at(self.pos).is_some_and(|token| token.run == 3) => {
                let word = self.source(self.pos, self.pos + 3);
                let worded = super::letters::is_wordlike(word) || super::dress::is_name(word);
                if worded
                    && self.ends_item(self.pos + 3)
                    && super::words::small_number(word).is_none()
                {
                    self.pos += 3;
                    return Ok(Answer::Text(word.to_owned()));
                }
            }
            Kind::Dots => {
                self.pos += 1;
                return Ok(Answer::Quantity(bare(Expr::symbol("…"))));
            }
            _ => {}
        }
        let quantity = self.quantity()?;
        // A matrix with a factor before it.
        if matches!(self.peek(), Some(Kind::Begin(Environment::Matrix))) && quantity.unit.is_none()
        {
            return self.scaled_table(quantity.value);
        }
        Ok(Answer::Quantity(quantity))
    }

    /// Is what a bracket holds a plain expression?
    fn is_plain_inside(&self) -> bool {
        !self.holds(self.pos, inside::RELATION | inside::WORDS)
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
    fn is_nested_row(&self) -> bool {
        self.ahead(1) == Some(Kind::Open(Bracket::Square)) && self.has_entries(self.pos + 1)
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

    /// Entries of a tuple or a set, each a side of a relation or a relation.
    fn entries(&mut self) -> Parsed<Vec<Answer>> {
        let mut entries = Vec::new();
        if self.ended() {
            return Ok(entries);
        }
        loop {
            entries.push(self.item()?);
            match self.peek() {
                Some(Kind::Comma | Kind::Semicolon) => {
                    self.pos += 1;
                    if self.ended() {
                        break;
                    }
                }
                _ => break,
            }
        }
        Ok(entries)
    }

    /// `\{ … \}`, or `{ … }` with entries.
    fn set(&mut self) -> Parsed<Answer> {
        let open = self.pos;
        if self.holds(open, inside::SUCH_THAT)
            && let Some(set) = self.described_set()
        {
            return Ok(set);
        }
        self.within(|parser| {
            let mut elements = Vec::new();
            while !parser.ended() {
                parser.signed_item(&mut elements)?;
                match parser.peek() {
                    Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or) => {
                        while matches!(
                            parser.peek(),
                            Some(Kind::Comma | Kind::Semicolon | Kind::And | Kind::Or)
                        ) {
                            parser.pos += 1;
                        }
                    }
                    _ => break,
                }
            }
            Ok(Answer::Set(elements))
        })
    }

    /// `\{x \mid x > 3\}`: the condition, where it is one on that variable; else a text.
    fn described_set(&mut self) -> Option<Answer> {
        let (open, close) = (self.pos, self.mate(self.pos));
        let bar = (open + 1..close).find(|&index| {
            self.tokens.get(index).is_some_and(|token| {
                matches!(
                    token.kind,
                    Kind::Relation(Operator::Divides)
                        | Kind::Bar(super::token::Side::Unknown)
                        | Kind::Colon
                )
            })
        })?;
        // |x| inside is no such bar, unless a letter stands before it.
        let variable = match self.tokens.get(open + 1)?.kind {
            Kind::Letter(letter) => letter,
            _ => '\0',
        };
        let real = bar == open + 2
            || (bar == open + 4
                && self.tokens.get(open + 2)?.kind == Kind::Relation(Operator::In)
                && self.tokens.get(open + 3)?.kind == Kind::Domain('ℝ'));
        if real && variable != '\0' {
            let saved = (self.pos, self.limit);
            self.pos = bar + 1;
            self.limit = close;
            let condition = self.attempt(|parser| {
                let answer = parser.answer()?;
                if parser.ended() {
                    Ok(answer)
                } else {
                    Err(parser.error("more"))
                }
            });
            (self.pos, self.limit) = saved;
            if let Some(answer) = condition {
                let plain = match &answer {
                    Answer::List(items) => items.iter().all(|item| is_condition(item, variable)),
                    item => is_condition(item, variable),
                };
                if plain {
                    self.pos = close + 1;
                    return Some(answer);
                }
            }
        }
        let before = self.tokens.get(bar.checked_sub(1)?)?.kind;
        let colon = self.tokens.get(bar)?.kind == Kind::Colon;
        if bar == open + 1 || (colon && matches!(before, Kind::Number(_))) {
            return None;
        }
        let text = super::words::plain(self.source(open, close + 1));
        self.pos = close + 1;
        Some(Answer::Text(text))
    }

    /// `(a, b)`, `[a, b)`, `[[1,2],[3,4]]`.
    fn tuple(&mut self) -> Parsed<Answer> {
        let open = self.pos;
        let left = self.tokens.get(open).map(|token| token.kind);
        let right = self.tokens.get(self.mate(open)).map(|token| token.kind);
        let mut entries = self.within(Self::entries)?;
        // `(1,2)^T` is a column; so is the row, as an answer.
        if self.peek() == Some(Kind::Caret) {
            let transposed = match self.ahead(1) {
                Some(Kind::Letter('T') | Kind::Name("T")) => Some(2),
                Some(Kind::Open(Bracket::Group))
                    if matches!(self.ahead(2), Some(Kind::Letter('T') | Kind::Name("T")))
                        && matches!(self.ahead(3), Some(Kind::Close(_))) =>
                {
                    Some(4)
                }
                _ => None,
            };
            let Some(length) = transposed else {
                return Err(self.error("a power of a tuple"));
            };
            self.pos += length;
            return Ok(Answer::Tuple(entries));
        }
        if left == Some(Kind::Open(Bracket::Square))
            && right == Some(Kind::Close(Bracket::Square))
            && let Some(matrix) = rows(&entries)
        {
            return Ok(Answer::Matrix(matrix));
        }
        let closed_left = left == Some(Kind::Open(Bracket::Square));
        let closed_right = right == Some(Kind::Close(Bracket::Square));
        let pointed = left == Some(Kind::Open(Bracket::Outward))
            || right == Some(Kind::Close(Bracket::Outward));
        if entries.len() == 2
            && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
        {
            let infinite = is_infinite(&lower.value) || is_infinite(&upper.value);
            let reversed =
                matches!((&lower.value, &upper.value), (Expr::Number(a), Expr::Number(b)) if a > b);
            if infinite || pointed || closed_left != closed_right || (closed_left && !reversed) {
                let interval = Interval {
                    lower: Endpoint {
                        value: lower.value.clone(),
                        closed: closed_left,
                    },
                    upper: Endpoint {
                        value: upper.value.clone(),
                        closed: closed_right,
                    },
                };
                return Ok(Answer::Interval(interval));
            }
        }
        if closed_left != closed_right || pointed {
            return Err(self.error("brackets that do not fit"));
        }
        entries.shrink_to_fit();
        Ok(Answer::Tuple(entries))
    }

    /// `<1, 2, 3>`.
    fn pointed(&mut self) -> Parsed<Answer> {
        let close = (self.pos + 1..self.limit).find(|&index| {
            matches!(
                self.tokens.get(index).map(|token| token.kind),
                Some(Kind::Relation(Operator::Greater))
            )
        });
        let Some(close) = close else {
            return Err(self.error("a relation without its left side"));
        };
        let limit = std::mem::replace(&mut self.limit, close);
        self.pos += 1;
        let entries = self.entries()?;
        if self.pos != close || entries.len() < 2 {
            return Err(self.error("a relation without its left side"));
        }
        self.limit = limit;
        self.pos = close + 1;
        Ok(Answer::Tuple(entries))
    }

    /// Words as an item of their own.
    fn words_item(&mut self) -> Option<Answer> {
        if let Some(Kind::Word(word) | Kind::Text(word)) = self.peek()
            && matches!(
                word.to_ascii_lowercase().trim_end_matches('.'),
                "about" | "approximately" | "roughly" | "around" | "approx" | "nearly" | "almost"
            )
        {
            return None;
        }
        if self.spelled_number().is_some() {
            return None;
        }
        let start = self.pos;
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
        let text = super::words::plain(self.source(start, at));
        let text = text.trim().to_owned();
        // `\text{…}` is sliced by its braces; what is left of them is markup.
        self.pos = at;
        if let Some(answer) = super::words::answer(&text) {
            return Some(answer);
        }
        Some(Answer::Text(text))
    }
}

/// Is an answer an inequality on this variable alone on one side?
fn is_condition(answer: &Answer, variable: char) -> bool {
    let Answer::Relation(relation) = answer else {
        return false;
    };
    relation.modulus.is_none()
        && relation.operators.iter().all(|operator| {
            matches!(
                operator,
                Operator::Less
                    | Operator::LessOrEqual
                    | Operator::Greater
                    | Operator::GreaterOrEqual
                    | Operator::NotEqual
            )
        })
        && relation
            .sides
            .iter()
            .filter(|side| is_symbol(side, variable))
            .count()
            == 1
}

/// Is an answer just this variable?
fn is_symbol(answer: &Answer, letter: char) -> bool {
    matches!(answer, Answer::Quantity(quantity)
        if matches!(&quantity.value, Expr::Symbol(name) if name.chars().eq([letter])))
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

/// ±∞?
pub(super) fn is_infinite(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Multiply(factors) => factors.contains(&Expr::Constant(Constant::Infinity)),
        _ => false,
    }
}

/// (−∞, ∞).
pub(super) fn real_line() -> Interval {
    let infinity = || Expr::Constant(Constant::Infinity);
    Interval {
        lower: Endpoint {
            value: infinity().negated(),
            closed: false,
        },
        upper: Endpoint {
            value: infinity(),
            closed: false,
        },
    }
}

/// A pair beside ∪ or ∈ is an open interval.
pub(super) fn as_interval(answer: &mut Answer) {
    if let Answer::Tuple(entries) = answer
        && let [Answer::Quantity(lower), Answer::Quantity(upper)] = entries.as_slice()
    {
        let end = |value: &Expr| Endpoint {
            value: value.clone(),
            closed: false,
        };
        *answer = Answer::Interval(Interval {
            lower: end(&lower.value),
            upper: end(&upper.value),
        });
    }
}

/// Rows in brackets as a matrix.
fn rows(entries: &[Answer]) -> Option<super::Matrix> {
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        let row = match entry {
            Answer::Tuple(cells) => cells
                .iter()
                .map(|cell| match cell {
                    Answer::Quantity(quantity) => Some(quantity.value.clone()),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()?,
            Answer::Interval(interval) if interval.lower.closed && interval.upper.closed => {
                vec![interval.lower.value.clone(), interval.upper.value.clone()]
            }
            _ => return None,
        };
        rows.push(row);
    }
    let width = rows.first()?.len();
    (rows.len() > 1 || entries.len() == 1)
        .then_some(())
        .filter(|()| rows.iter().all(|row| row.len() == width))?;
    Some(super::Matrix { rows })
}

/// Items in the order and the groups that their separators make.
fn arrange(mut items: Vec<Answer>, separators: &[Separator]) -> Answer {
    if items.len() == 1
        && let Some(item) = items.pop()
    {
        return item;
    }
    for level in [Separator::Semicolon, Separator::Or] {
        let grouped =
            separators.contains(&level) && separators.iter().any(|separator| *separator < level);
        if !grouped {
            continue;
        }
        let mut groups: Vec<Vec<Answer>> = vec![Vec::new()];
        let mut inner: Vec<Vec<Separator>> = vec![Vec::new()];
        let whole = items.clone();
        for (index, item) in items.into_iter().enumerate() {
            if let Some(group) = groups.last_mut() {
                group.push(item);
            }
            match separators.get(index) {
                Some(separator) if *separator >= level => {
                    groups.push(Vec::new());
                    inner.push(Vec::new());
                }
                Some(separator) => {
                    if let Some(own) = inner.last_mut() {
                        own.push(*separator);
                    }
                }
                None => {}
            }
        }
        // "or" groups only systems: each group assigns several things.
        let systems = groups
            .iter()
            .all(|group| group.len() >= 2 && is_system(group));
        if level == Separator::Or && !systems {
            items = whole;
            continue;
        }
        let groups = groups
            .into_iter()
            .zip(inner)
            .map(|(group, own)| arrange(group, &own))
            .collect();
        return Answer::List(groups);
    }
    inherit_left_side(&mut items);
    merge_compound(&mut items, separators);
    if items.len() == 1
        && let Some(item) = items.pop()
    {
        return item;
    }
    Answer::List(items)
}

/// Relations that differ in their left sides.
fn is_system(group: &[Answer]) -> bool {
    let mut sides = Vec::with_capacity(group.len());
    for item in group {
        let Answer::Relation(relation) = item else {
            return false;
        };
        let Some(side) = relation.sides.first() else {
            return false;
        };
        if sides.contains(&side) || sides.len() > 12 {
            return false;
        }
        sides.push(side);
    }
    true
}

/// `x = 1, 2`: later values are of the same x.
fn inherit_left_side(items: &mut [Answer]) {
    let Some(Answer::Relation(first)) = items.first() else {
        return;
    };
    let [operator @ (Operator::Equal | Operator::NotEqual)] = first.operators.as_slice() else {
        return;
    };
    let simple = matches!(first.sides.first(), Some(Answer::Quantity(quantity))
        if matches!(quantity.value, Expr::Symbol(_)))
        || matches!(first.sides.first(), Some(Answer::Tuple(_)));
    let values = items.iter().skip(1).all(|item| {
        matches!((item, first.sides.first()),
            (Answer::Quantity(quantity), Some(Answer::Quantity(_))) if quantity.value != Expr::symbol("…"))
            || matches!((item, first.sides.first()), (Answer::Tuple(_), Some(Answer::Tuple(_))))
    });
    if !simple || !values || items.len() > 1000 {
        return;
    }
    let Some(left) = first.sides.first().cloned() else {
        return;
    };
    let operator = *operator;
    for item in items.iter_mut().skip(1) {
        let value = std::mem::replace(item, Answer::Set(Vec::new()));
        *item = Answer::Relation(Relation {
            sides: vec![left.clone(), value],
            operators: vec![operator],
            modulus: None,
        });
    }
}

/// "2 hours and 30 minutes" is one time.
fn merge_compound(items: &mut Vec<Answer>, separators: &[Separator]) {
    if items.len() != 2 || separators != [Separator::Comma] {
        return;
    }
    let [Answer::Quantity(first), Answer::Quantity(second)] = items.as_slice() else {
        return;
    };
    // "20 dollars and 50 cents".
    if let (Expr::Number(a), Expr::Number(b)) = (&first.value, &second.value)
        && first.currency.is_some()
        && first.currency == second.currency
        && first.places.is_none()
        && second.places.is_none()
        && a.denominator().is_one()
        && !b.denominator().is_one()
        && *b < super::Rational::from(1)
    {
        let mut merged = first.clone();
        merged.value = Expr::Number(a + b);
        *items = vec![Answer::Quantity(merged)];
        return;
    }
    let (Some(unit), Some(smaller)) = (&first.unit, &second.unit) else {
        return;
    };
    let basic = matches!(unit.dimension, Some(dimension)
        if dimension.iter().filter(|power| **power != 0).count() == 1 && dimension.iter().sum::<i8>() == 1);
    let (Expr::Number(a), Expr::Number(b)) = (&first.value, &second.value) else {
        return;
    };
    if !basic || unit.dimension != smaller.dimension || smaller.size >= unit.size {
        return;
    }
    let part = b * &smaller.size / &unit.size;
    if part >= super::Rational::from(1) {
        return;
    }
    let mut merged = first.clone();
    merged.value = Expr::Number(a + part);
    merged.places = None;
    *items = vec![Answer::Quantity(merged)];
}

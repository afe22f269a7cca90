//! Lists of answers, relations, and what joins sets.

use super::arrange::{Separator, arrange};
use super::parser::{Parsed, Parser};
use super::plain::plain_text;
use super::sets::{as_interval, real_line};
use super::token::{Bracket, Environment, Kind, Space, inside};
use super::worded::worded_answer;
use super::{conditions, literal, operand, pratt, quantity, sets, table, variable};
use crate::algebra::{Expr, Function};
use crate::answer::{Answer, Operator, Quantity, Relation};
use crate::lexicon;

/// Everything up to the limit as one answer.
pub(super) fn answer(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let mut items = Vec::new();
    let mut separators = Vec::new();
    loop {
        if !skip_leading_separators(parser) && parser.ended() {
            break;
        }
        let before = items.len();
        // "x = 2kπ, where k is an integer".
        if before > 0
            && let Some(conditions) = conditions::quantifier(parser)
        {
            if conditions.is_empty() {
                separators.pop();
            }
            items.extend(conditions);
            break;
        }
        signed_item(parser, &mut items)?;
        for _ in before + 1..items.len() {
            separators.push(Separator::Comma);
        }
        if parser.take(Kind::Stop) && !parser.ended() {
            return Err(parser.error("a sentence goes on"));
        }
        if parser.ended() {
            break;
        }
        conditions::passing_condition(parser, &mut items, &mut separators)?;
        if parser.ended() {
            break;
        }
        let Some(separator) = separator(parser) else {
            return Err(parser.error("this does not go on an answer"));
        };
        if parser.ended() {
            break;
        }
        separators.push(separator);
    }
    if items.is_empty() {
        return Err(parser.error("something is missing"));
    }
    Ok(arrange(items, &separators))
}

/// Passes "and" at the very start; is something left?
pub(super) fn skip_leading_separators(parser: &mut Parser<'_>) -> bool {
    while matches!(parser.peek(), Some(Kind::And | Kind::Row)) {
        parser.skip(1);
    }
    !parser.ended()
}

/// Passes what separates items: the strongest of a run such as `, or`.
pub(super) fn separator(parser: &mut Parser<'_>) -> Option<Separator> {
    let mut found = (parser.space() == Space::Wide).then_some(Separator::Semicolon);
    let mut wide = found.is_some();
    while let Some(kind) = parser.peek() {
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
        parser.skip(1);
    }
    // `x = 1 \quad y = 2` separates like a comma.
    if wide { Some(Separator::Comma) } else { found }
}

/// An item, twice where it has a ±.
pub(super) fn signed_item(parser: &mut Parser<'_>, items: &mut Vec<Answer>) -> Parsed<()> {
    let (plus, minus) = parser.for_both_signs(item)?;
    items.push(plus);
    items.extend(minus);
    Ok(())
}

/// One item: a relation, a set, a value, a text.
pub(super) fn item(parser: &mut Parser<'_>) -> Parsed<Answer> {
    // A leading equals sign only says "it is".
    if parser.peek() == Some(Kind::Relation(Operator::Equal)) {
        parser.skip(1);
    }
    let first = side(parser)?;
    let mut sides = vec![first];
    let mut operators = Vec::new();
    let mut congruent = false;
    loop {
        let sign = parser.pos();
        let Some(operator) = operator(parser) else {
            break;
        };
        congruent |= matches!(parser.source(sign, parser.pos()), "≡" | "\\equiv");
        operators.push(operator);
        let domain = if matches!(operator, Operator::In | Operator::NotIn | Operator::Subset) {
            lettered_domain(parser)?
        } else {
            None
        };
        sides.push(match domain {
            Some(domain) => domain,
            None => side(parser)?,
        });
    }
    let mut modulus = modulus(parser)?;
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
            return Err(parser.error("a modulus without a congruence"));
        }
        return sides
            .pop()
            .ok_or_else(|| parser.error("something is missing"));
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

/// `\mathbf{Z}` and a bare `R` after ∈.
pub(super) fn lettered_domain(parser: &mut Parser<'_>) -> Parsed<Option<Answer>> {
    let grouped = parser.opens(Bracket::Group) && parser.mate(parser.pos()) == parser.pos() + 2;
    let Some(Kind::Letter(letter)) = parser.ahead(usize::from(grouped)) else {
        return Ok(None);
    };
    let mut domains = "Rℝ Zℤ Nℕ Qℚ Cℂ".split(' ');
    let Some(domain) = domains.find_map(|it| it.strip_prefix(letter)?.chars().next()) else {
        return Ok(None);
    };
    parser.skip(if grouped { 3 } else { 1 });
    let symbol = variable::domain(parser, domain)?;
    let line = symbol == Expr::symbol("ℝ");
    Ok(Some(if line {
        Answer::Interval(real_line())
    } else {
        Answer::Quantity(Quantity::bare(symbol))
    }))
}

/// The relation that is next.
pub(super) fn operator(parser: &mut Parser<'_>) -> Option<Operator> {
    // `\\\\ &= 12`: the line above goes on.
    if parser.peek() == Some(Kind::Row)
        && matches!(
            (parser.ahead(1), parser.ahead(2)),
            (Some(Kind::Relation(_)), _) | (Some(Kind::Cell), Some(Kind::Relation(_)))
        )
    {
        parser.skip(1);
    }
    // `x &= 1` in a system.
    if parser.peek() == Some(Kind::Cell) && matches!(parser.ahead(1), Some(Kind::Relation(_))) {
        parser.skip(1);
    }
    let operator = match parser.peek()? {
        Kind::Relation(operator) => operator,
        // A bare bar between two values divides.
        Kind::Bar(super::token::Side::Unknown) => Operator::Divides,
        // "in" before a set.
        Kind::Letter('i')
            if parser.at(parser.pos())?.run == 2
                && parser.source(parser.pos(), parser.pos() + 2) == "in"
                && matches!(
                    parser.ahead(2),
                    Some(Kind::Open(_) | Kind::Domain(_) | Kind::EmptySet)
                ) =>
        {
            parser.skip(1);
            Operator::In
        }
        _ => return None,
    };
    parser.skip(1);
    Some(operator)
}

/// `\pmod 7`, `(mod 7)`.
pub(super) fn modulus(parser: &mut Parser<'_>) -> Parsed<Option<Expr>> {
    match parser.peek() {
        Some(Kind::Congruence) => {
            parser.skip(1);
            Ok(Some(operand::argument(parser)?))
        }
        Some(Kind::Open(Bracket::Round)) if parser.ahead(1) == Some(Kind::Modulo) => {
            let modulus = parser.within(|parser| {
                parser.skip(1);
                pratt::expression(parser)
            })?;
            Ok(Some(modulus))
        }
        _ => Ok(None),
    }
}

/// One side of a relation: sets joined by ∪, ∩ and ∖, or a ratio.
pub(super) fn side(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let mut left = member(parser)?;
    let mut joined = false;
    loop {
        let sign = match parser.peek() {
            Some(sign @ (Kind::Union | Kind::Intersection | Kind::SetMinus)) => sign,
            Some(Kind::Minus) if parser.ahead(1) == Some(Kind::Open(Bracket::Set)) => {
                Kind::SetMinus
            }
            // `(1,2) U (3,4)`.
            Some(Kind::Letter('U' | 'u'))
                if matches!(
                    left,
                    Answer::Tuple(_) | Answer::Interval(_) | Answer::Set(_) | Answer::Union(_)
                ) && matches!(parser.ahead(1), Some(Kind::Open(_))) =>
            {
                Kind::Union
            }
            _ => break,
        };
        parser.skip(1);
        let mut right = member(parser)?;
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
                    return Err(parser.error("too many differences of sets"));
                }
                Answer::Difference(Box::new((left, right)))
            }
        };
    }
    if !joined && parser.peek() == Some(Kind::Colon) {
        return ratio(parser, left);
    }
    Ok(left)
}

/// `a : b : c`, of which the first part is read.
pub(super) fn ratio(parser: &mut Parser<'_>, first: Answer) -> Parsed<Answer> {
    let Answer::Quantity(quantity) = first else {
        return Err(parser.error("a ratio of something that is no value"));
    };
    let mut parts = vec![quantity.value];
    while parser.take(Kind::Colon) {
        parts.push(pratt::expression(parser)?);
    }
    Ok(Answer::Ratio(parts))
}

/// A set, an interval, a tuple, a matrix, a text, or a value.
pub(super) fn member(parser: &mut Parser<'_>) -> Parsed<Answer> {
    let Some(kind) = parser.peek() else {
        return Err(parser.error("something is missing"));
    };
    match kind {
        Kind::EmptySet => {
            parser.skip(1);
            return Ok(Answer::Set(Vec::new()));
        }
        Kind::Domain('ℝ') => {
            let narrowed = matches!(parser.ahead(1), Some(Kind::Caret | Kind::Underscore));
            if !narrowed {
                parser.skip(1);
                return Ok(Answer::Interval(real_line()));
            }
        }
        Kind::Open(Bracket::Set) => return sets::set(parser),
        Kind::Open(Bracket::Group) if parser.has_entries(parser.pos()) => return sets::set(parser),
        Kind::Open(Bracket::Angle) => {
            let entries = parser.within(sets::entries)?;
            return Ok(Answer::Tuple(entries));
        }
        Kind::Open(Bracket::Outward) => return sets::tuple(parser),
        Kind::Open(Bracket::Round | Bracket::Square) if table::wraps_table(parser) => {
            return table::wrapped_table(parser);
        }
        Kind::Open(Bracket::Round | Bracket::Square) if parser.has_entries(parser.pos()) => {
            return sets::tuple(parser);
        }
        Kind::Open(Bracket::Square)
            if ends_item(parser, parser.mate(parser.pos()) + 1)
                && parser.ahead(1) == Some(Kind::Open(Bracket::Square))
                && parser.has_entries(parser.pos() + 1) =>
        {
            return sets::tuple(parser);
        }
        Kind::Open(Bracket::Round | Bracket::Group | Bracket::Square)
            if ends_item(parser, parser.mate(parser.pos()) + 1)
                && (parser.opens(Bracket::Group) || !is_plain_inside(parser)) =>
        {
            return parser.within(answer);
        }
        Kind::Begin(Environment::Matrix | Environment::Determinant | Environment::Cases) => {
            return table::table(parser);
        }
        Kind::Relation(Operator::Less) => return sets::pointed(parser),
        Kind::Text(_) | Kind::Word(_) => {
            if let Some(text) = words_item(parser) {
                return Ok(text);
            }
        }
        Kind::Letter(_) if parser.at(parser.pos()).is_some_and(|token| token.run == 3) => {
            let word = parser.source(parser.pos(), parser.pos() + 3);
            let worded = super::letters::is_wordlike(word) || super::prose::is_name(word);
            if worded
                && ends_item(parser, parser.pos() + 3)
                && super::spelled::small_number(word).is_none()
            {
                parser.skip(3);
                return Ok(Answer::Text(word.to_owned()));
            }
        }
        Kind::Dots => {
            parser.skip(1);
            return Ok(Answer::Quantity(Quantity::bare(Expr::symbol("…"))));
        }
        _ => {}
    }
    let quantity = quantity::quantity(parser)?;
    // A matrix with a factor before it.
    if matches!(parser.peek(), Some(Kind::Begin(Environment::Matrix))) && quantity.unit.is_none() {
        return table::scaled_table(parser, &quantity.value);
    }
    Ok(Answer::Quantity(quantity))
}

/// Is what a bracket holds a plain expression?
pub(super) fn is_plain_inside(parser: &Parser<'_>) -> bool {
    !parser.holds(parser.pos(), inside::RELATION | inside::WORDS)
        && !matches!(
            parser.ahead(1),
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

pub(super) fn ends_item(parser: &Parser<'_>, at: usize) -> bool {
    parser.at(at).is_none_or(|token| {
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

pub(super) fn words_item(parser: &mut Parser<'_>) -> Option<Answer> {
    if let Some(Kind::Word(word) | Kind::Text(word)) = parser.peek()
        && lexicon::words::APPROXIMATELY.contains(word.trim_end_matches('.'))
    {
        return None;
    }
    if literal::spelled_number(parser).is_some() {
        return None;
    }
    let start = parser.pos();
    let mut at = start;
    while let Some(token) = parser.at(at) {
        match token.kind {
            Kind::Word(_) | Kind::Text(_) => at += 1,
            Kind::Minus if at > start && token.space == Space::Tight => at += 1,
            Kind::Letter(_) if token.run >= 1 => at += usize::from(token.run),
            _ => break,
        }
    }
    if !ends_item(parser, at) {
        return None;
    }
    let text = plain_text(parser.source(start, at));
    let text = text.trim().to_owned();
    // `\text{…}` is sliced by its braces; what is left of them is markup.
    parser.seek(at);
    if let Some(answer) = worded_answer(&text) {
        return Some(answer);
    }
    Some(Answer::Text(text))
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

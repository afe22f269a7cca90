//! From the tree to values: relations, sets and lists. Expressions are read by `formula`.

use std::cell::Cell;

use super::grammar::Grammar;
use super::token::{Lexeme, Token, tokens};
use super::tree::{Node, NodeId, Span};
use super::{MAX_LENGTH, NamedSet, Operator, Relation, SetOperator, Value};
use juror_algebra::Expr;
use juror_algebra::work;

/// How deep texts inside texts (the arguments of functions) are read.
const MAX_NESTING: u32 = 8;

/// How deep trees are followed.
const MAX_DEPTH: u32 = 150;

/// A tree being turned into a value.
pub(super) struct Interpreter<'g, 't> {
    pub tokens: &'g [Lexeme<'t>],
    pub nodes: &'g [Node],
    /// Are symbols real?
    pub real: bool,
    pub nesting: u32,
    /// How deep in the tree the reading is.
    pub depth: Cell<u32>,
}

/// Reads a whole text; `None` where Math-Verify raises an error.
pub(super) fn read(text: &str, real: bool, nesting: u32) -> Option<Value> {
    if nesting > MAX_NESTING {
        return None;
    }
    let tokens = tokens(text)?;
    let mut grammar = Grammar::new(&tokens);
    let whole = grammar.whole()?;
    let reading = Interpreter {
        tokens: &tokens,
        nodes: &grammar.nodes,
        real,
        nesting,
        depth: Cell::new(0),
    };
    let at_top = matches!(reading.node(whole), Some(Node::Elements(_)));
    if at_top && let Some(number) = grouped_number(text) {
        return Some(Value::Term(number));
    }
    reading.value(whole)
}

/// `12,345` written exactly like that is one number, and no set.
fn grouped_number(text: &str) -> Option<Expr> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let body = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = match body.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (body, None),
    };
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next()?;
    if !(1..=3).contains(&first.len()) || !digits(first) || !whole.contains(',') {
        return None;
    }
    if !groups.all(|group| group.len() == 3 && digits(group)) {
        return None;
    }
    if decimals.is_some_and(|decimals| decimals.is_empty() || !digits(decimals)) {
        return None;
    }
    let plain: String = if text.starts_with('0') {
        text.replacen(',', ".", 1)
    } else {
        text.replace(',', "")
    };
    super::numbers::parse(plain.trim_start_matches('0')).or_else(|| super::numbers::parse(&plain))
}

/// Where one of these stands in a text, Math-Verify takes its symbols for complex numbers.
#[rustfmt::skip]
const COMPLEX_SIGNS: &[&str] = &[
    "\\mathbb{C}", "\\text{i}", "\\mathrm{i}", "\\det", "\\operatorname{tr}", "\\operatorname{rank}", "\\text{rank}",
    "\\arg{", "\\Re{", "\\Im{", "\\operatorname{Re}", "\\operatorname{Im}", "\\text{Re}", "\\text{Im}",
];

/// Does the text look like one about complex numbers or matrices? A lone `i` does it.
fn looks_complex(text: &str) -> bool {
    if text.contains('\\') && COMPLEX_SIGNS.iter().any(|sign| text.contains(sign)) {
        return true;
    }
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let ends_word = |rest: &str| !rest.chars().next().is_some_and(is_word);
    let standalone = |(at, _)| {
        let before = text[..at].chars().next_back();
        ends_word(&text[at + 1..]) && !before.is_some_and(is_word)
    };
    text.match_indices('i').any(standalone) || text.split("\\imath").skip(1).any(ends_word)
}

/// The part after the last plain `=` of a chain; the whole where there is a comma, a semicolon, or no chain.
fn last_side(text: &str) -> &str {
    if text.contains([',', ';']) {
        return text;
    }
    let bytes = text.as_bytes();
    let mut signs = (0..bytes.len()).filter(|at| {
        bytes[*at] == b'=' && !(*at > 0 && matches!(bytes[at - 1], b'\\' | b'<' | b'!' | b'>'))
    });
    match (signs.next(), signs.next_back()) {
        (Some(_), Some(last)) => &text[last + 1..],
        _ => text,
    }
}

/// Reads normalised LaTeX; `None` where Math-Verify's parser raises an error.
pub(crate) fn parse_latex(normalized: &str) -> Option<Value> {
    if normalized.len() > MAX_LENGTH {
        return None;
    }
    let read = |text: &str| read(text, !looks_complex(text), 0);
    read(normalized).or_else(|| {
        let last = last_side(normalized);
        if last.len() == normalized.len() {
            None
        } else {
            read(last)
        }
    })
}

impl Interpreter<'_, '_> {
    pub(super) fn node(&self, id: NodeId) -> Option<Node> {
        self.nodes.get(id as usize).copied()
    }

    pub(super) fn token(&self, at: u32) -> Option<&Lexeme<'_>> {
        self.tokens.get(at as usize)
    }

    /// The tokens of a stretch.
    pub(super) fn span(&self, (from, to): Span) -> Option<&[Lexeme<'_>]> {
        self.tokens.get(from as usize..to as usize)
    }

    /// The items of a list, each with the separator in front of it.
    pub(super) fn list(&self, id: NodeId) -> Vec<(Token, NodeId)> {
        let mut items = Vec::new();
        let mut next = Some(id);
        while let Some(Node::List(before, separator, item)) = next.and_then(|id| self.node(id)) {
            items.push((separator, item));
            next = before;
        }
        items.reverse();
        items
    }

    /// Reads one level deeper; `None` below the deepest.
    pub(super) fn deeper<T>(&self, read: impl FnOnce(&Self) -> Option<T>) -> Option<T> {
        if self.depth.get() >= MAX_DEPTH || !work::afford(1) {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let result = read(self);
        self.depth.set(self.depth.get() - 1);
        result
    }

    pub(super) fn value(&self, id: NodeId) -> Option<Value> {
        self.deeper(|reading| reading.value_now(id))
    }

    fn value_now(&self, id: NodeId) -> Option<Value> {
        match self.node(id)? {
            Node::Elements(items) => self.set_or_single(items),
            Node::Membership(names, sign, right) => {
                let equation = Box::new(Relation {
                    operator: Operator::Equal,
                    left: self.names(names)?,
                    right: self.value(right)?,
                });
                Some(match sign {
                    Token::NotIn => Value::Not(equation),
                    _ => Value::Relation(equation),
                })
            }
            Node::Relation(left, sign, right) => self.relation(left, sign, right),
            Node::NamedSet(token) => named_set(self.token(token)?.text),
            Node::EmptySet => Some(Value::NamedSet(NamedSet::Empty)),
            Node::Interval {
                open,
                close,
                lower,
                upper,
            } => {
                let (lower, upper) = (self.term(lower)?, self.term(upper)?);
                super::sets::interval(lower, upper, is_open(open), is_open(close))
            }
            Node::Tuple(items) => one_or_tuple(self.rows(items)?.into_iter().flatten().collect()),
            Node::FiniteSet { items, boxed } => {
                if boxed {
                    return self.set_or_single(items);
                }
                let rows = self.rows(items)?;
                Some(Value::finite_set(rows.into_iter().flatten().collect()))
            }
            Node::SetOperation(left, sign, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                Some(set_operation(left, sign, right))
            }
            _ => self.term(id).map(Value::Term),
        }
    }

    /// Elements by rows (semicolons) and places (commas).
    fn rows(&self, items: NodeId) -> Option<Vec<Vec<Value>>> {
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for (separator, item) in self.list(items) {
            if separator == Token::Semicolon {
                rows.push(Vec::new());
            }
            let row = rows.last_mut()?;
            match self.node(item)? {
                Node::PlusMinus(left, right) => {
                    let right = self.term(right)?;
                    let opposite = right.clone().negated();
                    row.extend(match left {
                        None => [opposite, right].map(Value::Term),
                        Some(left) => {
                            let left = self.term(left)?;
                            [right, opposite]
                                .map(|right| Value::Term(Expr::Add(vec![left.clone(), right])))
                        }
                    });
                }
                _ => row.push(self.value(item)?),
            }
        }
        Some(rows)
    }

    /// One element is itself; several are a set, of tuples where there are semicolons.
    fn set_or_single(&self, items: NodeId) -> Option<Value> {
        let mut rows = self.rows(items)?;
        let single = rows.len() == 1;
        if single && rows[0].len() == 1 {
            return rows.pop()?.pop();
        }
        let flat = single || rows.iter().all(|row| row.len() == 1);
        Some(Value::finite_set(if flat {
            rows.into_iter().flatten().collect()
        } else {
            rows.into_iter().map(Value::Tuple).collect()
        }))
    }

    fn names(&self, id: NodeId) -> Option<Value> {
        let list = match self.node(id)? {
            Node::Names(list) => list,
            _ => id,
        };
        let mut names = Vec::new();
        for (_, name) in self.list(list) {
            names.push(Value::Term(self.term(name)?));
        }
        one_or_tuple(names)
    }

    /// A relation, or a chain of them.
    fn relation(&self, left: NodeId, sign: Token, right: NodeId) -> Option<Value> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        let operator = match sign {
            Token::Assign | Token::Equal => Operator::Equal,
            Token::Less => Operator::Less,
            Token::LessOrEqual => Operator::LessOrEqual,
            Token::Greater => Operator::Greater,
            Token::GreaterOrEqual => Operator::GreaterOrEqual,
            Token::NotEqual => Operator::NotEqual,
            Token::Approximately => {
                return Some(if left.is_of_symbols() { right } else { left });
            }
            _ => return None,
        };
        let relation = |left, right| Relation {
            operator,
            left,
            right,
        };
        Some(match left {
            Value::Relation(first) => {
                let second = relation(first.right.clone(), right);
                Value::And(vec![*first, second])
            }
            Value::And(mut chain) => {
                let left = chain.last()?.right.clone();
                chain.push(relation(left, right));
                Value::And(chain)
            }
            single => Value::Relation(Box::new(relation(single, right))),
        })
    }
}

fn one_or_tuple(mut items: Vec<Value>) -> Option<Value> {
    if items.len() == 1 {
        return items.pop();
    }
    Some(Value::Tuple(items))
}

/// Does an interval not hold the end at this bracket?
fn is_open(bracket: Token) -> bool {
    use Token as T;
    let opens = matches!(bracket, T::OpenParen | T::OpenParenVisual | T::OpenGroup);
    opens || matches!(bracket, T::CloseParen | T::CloseParenVisual | T::CloseGroup)
}

fn named_set(text: &str) -> Option<Value> {
    let letter = text
        .strip_prefix("\\mathbb{")
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or(text);
    Some(Value::NamedSet(match letter {
        "N" | "ℕ" => NamedSet::Naturals,
        "Z" | "ℤ" => NamedSet::Integers,
        "Q" | "ℚ" => NamedSet::Rationals,
        "R" | "ℝ" => NamedSet::Reals,
        "C" | "ℂ" => NamedSet::Complexes,
        _ => return None,
    }))
}

/// The union, the intersection or the difference of two sets, unevaluated.
fn set_operation(left: Value, sign: Token, right: Value) -> Value {
    let members = |value: Value| match value {
        Value::Tuple(items) => Value::finite_set(items),
        other => other,
    };
    let (operator, left, right) = match sign {
        Token::Union => (SetOperator::Union, members(left), members(right)),
        Token::Intersection => (SetOperator::Intersection, members(left), members(right)),
        Token::SetMinus => (SetOperator::Difference, left, right),
        _ => return Value::Foreign,
    };
    Value::Compound(operator, Box::new((left, right)))
}

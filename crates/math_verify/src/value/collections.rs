//! The grammar of everything around expressions: relations, lists, tuples, intervals, sets.

use super::grammar::{Grammar, Rule};
use super::token::Token;
use super::tree::{Ends, Node, NodeId};

impl Grammar<'_> {
    /// The whole text; `None` where it cannot be read to the end.
    pub(super) fn whole(&mut self) -> Option<NodeId> {
        let end = self.tokens.len() as u32;
        let complete = |grammar: &mut Self, ends: Ends| {
            let mut whole = ends.iter().filter(|(_, stop)| *stop == end);
            whole
                .next()
                .filter(|_| !grammar.is_spent())
                .map(|(node, _)| node)
        };
        let names = match self.kind(0) {
            Some(kind) if kind.begins_name() || kind == Token::OpenParen => self.names(0),
            _ => Ends::default(),
        };
        for (names, at) in names.iter() {
            if let Some(sign @ (Token::In | Token::Assign)) = self.kind(at) {
                let items = self.items(at + 1, false);
                if let Some(items) = complete(self, items) {
                    let elements = self.node(Node::Elements(items));
                    return Some(self.node(Node::Membership(names, sign, elements)));
                }
            }
        }
        let items = self.items(0, true);
        if let Some(items) = complete(self, items) {
            return Some(self.node(Node::Elements(items)));
        }
        let sets = self.set_relation(0, true);
        complete(self, sets)
    }

    /// A name, or names with commas in parentheses.
    fn names(&mut self, at: u32) -> Ends {
        if !self.is(at, Token::OpenParen) {
            let name = self.name(at);
            return self.mapped(&name, |name| Node::List(None, Token::Comma, name));
        }
        let first = self.name(at + 1);
        let start = self.mapped(&first, |name| Node::List(None, Token::Comma, name));
        let list = self.chain(&start, &[Token::Comma], Self::name, list);
        let list = self.closed(&list, Token::CloseParen);
        self.mapped(&list, Node::Names)
    }

    /// Elements with commas and semicolons between them.
    pub(super) fn items(&mut self, at: u32, relations: bool) -> Ends {
        if !relations {
            return self.items_now(at, false);
        }
        self.once(Rule::Elements, at, |grammar| grammar.items_now(at, true))
    }

    fn items_now(&mut self, at: u32, relations: bool) -> Ends {
        let first = self.element(at, relations);
        let start = self.mapped(&first, |item| Node::List(None, Token::Comma, item));
        let separators = [Token::Comma, Token::Semicolon];
        let element = |grammar: &mut Self, at| grammar.element(at, relations);
        self.chain(&start, &separators, element, list)
    }

    /// ±, a set, or a relation.
    fn element(&mut self, at: u32, relations: bool) -> Ends {
        let mut found = Ends::default();
        let add = |grammar: &Self, found: &mut Ends, ends: &Ends| {
            for (node, end) in ends.iter() {
                if ends_element(grammar.kind(end)) {
                    found.push(node, end);
                }
            }
        };
        let expressions = self.additive(at);
        let lefts = expressions
            .iter()
            .map(|(left, middle)| (Some(left), middle));
        for (left, middle) in lefts.chain([(None, at)]) {
            if self.is(middle, Token::PlusMinus) {
                let right = self.additive(middle + 1);
                let made = self.mapped(&right, |right| Node::PlusMinus(left, right));
                add(self, &mut found, &made);
            }
        }
        let sets = self.set_atom(at);
        add(self, &mut found, &sets);
        if !relations {
            add(self, &mut found, &expressions);
            return found;
        }
        let chains = self.chain(&expressions, &RELATIONS, Self::additive, Node::Relation);
        add(self, &mut found, &chains);
        found
    }

    /// An interval, a named set, a tuple, a finite set.
    fn set_atom(&mut self, at: u32) -> Ends {
        use Token as T;
        let begins = self.kind(at).is_some_and(|kind| {
            matches!(
                kind,
                T::OpenParen | T::OpenParenVisual | T::OpenGroup | T::OpenBracket
            ) || matches!(kind, T::OpenBrack | T::OpenBrace | T::OpenBraceVisual)
                || matches!(kind, T::Boxed | T::NamedSet | T::EmptySet)
        });
        if !begins {
            return Ends::default();
        }
        self.once(Rule::SetAtom, at, |grammar| grammar.set_atom_now(at))
    }

    fn set_atom_now(&mut self, at: u32) -> Ends {
        let Some(open) = self.kind(at) else {
            return Ends::default();
        };
        let mut found = Ends::default();
        match open {
            Token::NamedSet => return self.one(Node::NamedSet(at), at + 1),
            Token::EmptySet => return self.one(Node::EmptySet, at + 1),
            Token::OpenBrace if self.is(at + 1, Token::CloseBrace) => {
                return self.one(Node::EmptySet, at + 2);
            }
            Token::OpenBrace | Token::OpenBraceVisual | Token::Boxed => {}
            _ => {
                for (lower, middle) in self.additive(at + 1).iter() {
                    if !self.is(middle, Token::Comma) {
                        continue;
                    }
                    for (upper, end) in self.additive(middle + 1).iter() {
                        if let Some(close) = self.kind(end).filter(|kind| CLOSING.contains(kind)) {
                            let node = self.node(Node::Interval {
                                open,
                                close,
                                lower,
                                upper,
                            });
                            found.push(node, end + 1);
                        }
                    }
                }
            }
        }
        let tuple = match open {
            Token::OpenParen => Some(Token::CloseParen),
            Token::OpenParenVisual => Some(Token::CloseParenVisual),
            Token::OpenBracket => Some(Token::CloseBracket),
            _ => None,
        };
        if let Some(close) = tuple {
            let items = self.items(at + 1, true);
            let items = self.closed(&items, close);
            found.extend(&self.mapped(&items, Node::Tuple));
        }
        let (from, close, boxed) = match open {
            Token::OpenBrace => (at + 1, Token::CloseBrace, false),
            Token::OpenBraceVisual => (at + 1, Token::CloseBraceVisual, false),
            Token::Boxed if self.is(at + 1, Token::OpenBrace) => (at + 2, Token::CloseBrace, true),
            _ => return found,
        };
        let items = self.items(from, true);
        let items = self.closed(&items, close);
        found.extend(&self.mapped(&items, |items| Node::FiniteSet { items, boxed }));
        found
    }

    /// `x ∈ A ∪ B`, `A ⊆ B`.
    fn set_relation(&mut self, at: u32, chains: bool) -> Ends {
        let mut start = Ends::default();
        for (names, middle) in self.names(at).iter() {
            if let Some(sign @ (Token::In | Token::Assign | Token::NotIn)) = self.kind(middle) {
                let right = self.set_relation_guarded(middle + 1);
                start.extend(&self.mapped(&right, |right| Node::Membership(names, sign, right)));
            }
        }
        start.extend(&self.minus(at));
        if !chains {
            return start;
        }
        let signs = [Token::Superset, Token::Subset];
        self.chain(
            &start,
            &signs,
            Self::set_relation_guarded,
            Node::SetOperation,
        )
    }

    /// The right side of a set relation. Chains of memberships nest to the right, so they count as depth.
    fn set_relation_guarded(&mut self, at: u32) -> Ends {
        self.deeper(|grammar| grammar.set_relation(at, false))
    }

    /// Differences of sets.
    fn minus(&mut self, at: u32) -> Ends {
        self.once(Rule::Minus, at, |grammar| {
            grammar.set_operation(at, &[Token::SetMinus, Token::Union, Token::Intersection])
        })
    }

    /// Differences of unions of intersections, the loosest operator first.
    fn set_operation(&mut self, at: u32, operators: &'static [Token]) -> Ends {
        let Some((operator, tighter)) = operators.split_first() else {
            return self.set_group(at);
        };
        let start = self.set_operation(at, tighter);
        let operand = |grammar: &mut Self, at| grammar.set_operation(at, tighter);
        self.chain(&start, &[*operator], operand, Node::SetOperation)
    }

    fn set_group(&mut self, at: u32) -> Ends {
        let mut found = Ends::default();
        if self.is(at, Token::OpenParen) {
            let inner = self.minus(at + 1);
            found = self.closed(&inner, Token::CloseParen);
        }
        found.extend(&self.set_atom(at));
        found
    }
}

fn list(list: NodeId, separator: Token, item: NodeId) -> Node {
    Node::List(Some(list), separator, item)
}

/// What may stand between the two sides of a relation.
const RELATIONS: [Token; 9] = [
    Token::In,
    Token::Assign,
    Token::Equal,
    Token::Approximately,
    Token::Less,
    Token::LessOrEqual,
    Token::Greater,
    Token::GreaterOrEqual,
    Token::NotEqual,
];

/// What may close an interval.
const CLOSING: [Token; 5] = [
    Token::CloseParen,
    Token::CloseParenVisual,
    Token::CloseGroup,
    Token::CloseBracket,
    Token::CloseBrack,
];

/// Can an element end before this token?
fn ends_element(kind: Option<Token>) -> bool {
    use Token as T;
    match kind {
        None | Some(T::Comma | T::Semicolon | T::CloseBrace | T::CloseBraceVisual) => true,
        Some(kind) => matches!(kind, T::CloseParen | T::CloseParenVisual | T::CloseBracket),
    }
}

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
        let has_names = matches!(
            self.kind(0),
            Some(
                Token::Letter
                    | Token::Greek
                    | Token::OtherSymbol
                    | Token::Accent
                    | Token::OpenParen
            )
        );
        let names = if has_names {
            self.names(0)
        } else {
            Ends::default()
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
        let list = self.repeat(
            &start,
            |grammar, list, at| {
                if !grammar.is(at, Token::Comma) {
                    return Ends::default();
                }
                let next = grammar.name(at + 1);
                grammar.mapped(&next, |name| Node::List(Some(list), Token::Comma, name))
            },
            |_, _| false,
        );
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
        self.repeat(
            &start,
            |grammar, list, at| match grammar.kind(at) {
                Some(separator @ (Token::Comma | Token::Semicolon)) => {
                    let next = grammar.element(at + 1, relations);
                    grammar.mapped(&next, |item| Node::List(Some(list), separator, item))
                }
                _ => Ends::default(),
            },
            |_, _| false,
        )
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
        let chains = self.repeat(
            &expressions,
            |grammar, left, at| match grammar.kind(at) {
                Some(
                    sign @ (Token::In
                    | Token::Assign
                    | Token::Equal
                    | Token::Approximately
                    | Token::Less
                    | Token::LessOrEqual
                    | Token::Greater
                    | Token::GreaterOrEqual
                    | Token::NotEqual),
                ) => {
                    let right = grammar.additive(at + 1);
                    grammar.mapped(&right, |right| Node::Relation(left, sign, right))
                }
                _ => Ends::default(),
            },
            |_, _| false,
        );
        add(self, &mut found, &chains);
        found
    }

    /// An interval, a named set, a tuple, a finite set.
    fn set_atom(&mut self, at: u32) -> Ends {
        match self.kind(at) {
            Some(
                Token::OpenParen
                | Token::OpenParenVisual
                | Token::OpenGroup
                | Token::OpenBracket
                | Token::OpenBrack
                | Token::OpenBrace
                | Token::OpenBraceVisual
                | Token::Boxed
                | Token::NamedSet
                | Token::EmptySet,
            ) => self.once(Rule::SetAtom, at, |grammar| grammar.set_atom_now(at)),
            _ => Ends::default(),
        }
    }

    fn set_atom_now(&mut self, at: u32) -> Ends {
        let Some(open) = self.kind(at) else {
            return Ends::default();
        };
        let mut found = Ends::default();
        match open {
            Token::NamedSet => {
                return self.one(Node::NamedSet(at), at + 1);
            }
            Token::EmptySet => {
                return self.one(Node::EmptySet, at + 1);
            }
            Token::OpenBrace if self.is(at + 1, Token::CloseBrace) => {
                return self.one(Node::EmptySet, at + 2);
            }
            Token::OpenParen
            | Token::OpenParenVisual
            | Token::OpenGroup
            | Token::OpenBracket
            | Token::OpenBrack => {
                for (lower, middle) in self.additive(at + 1).iter() {
                    if !self.is(middle, Token::Comma) {
                        continue;
                    }
                    for (upper, end) in self.additive(middle + 1).iter() {
                        if let Some(
                            close @ (Token::CloseParen
                            | Token::CloseParenVisual
                            | Token::CloseGroup
                            | Token::CloseBracket
                            | Token::CloseBrack),
                        ) = self.kind(end)
                        {
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
            _ => {}
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
            let made = self.mapped(&items, Node::Tuple);
            found.extend(&made);
        }
        let (from, close, boxed) = match open {
            Token::OpenBrace => (at + 1, Token::CloseBrace, false),
            Token::OpenBraceVisual => (at + 1, Token::CloseBraceVisual, false),
            Token::Boxed if self.is(at + 1, Token::OpenBrace) => (at + 2, Token::CloseBrace, true),
            _ => return found,
        };
        let items = self.items(from, true);
        let items = self.closed(&items, close);
        let made = self.mapped(&items, |items| Node::FiniteSet { items, boxed });
        found.extend(&made);
        found
    }

    /// `x ∈ A ∪ B`, `A ⊆ B`.
    fn set_relation(&mut self, at: u32, chains: bool) -> Ends {
        let mut start = Ends::default();
        for (names, middle) in self.names(at).iter() {
            if let Some(sign @ (Token::In | Token::Assign | Token::NotIn)) = self.kind(middle) {
                let right = self.set_relation_guarded(middle + 1);
                let made = self.mapped(&right, |right| Node::Membership(names, sign, right));
                start.extend(&made);
            }
        }
        let sets = self.minus(at);
        start.extend(&sets);
        if !chains {
            return start;
        }
        self.repeat(
            &start,
            |grammar, left, at| match grammar.kind(at) {
                Some(sign @ (Token::Superset | Token::Subset)) => {
                    let right = grammar.set_relation_guarded(at + 1);
                    grammar.mapped(&right, |right| Node::SetOperation(left, sign, right))
                }
                _ => Ends::default(),
            },
            |_, _| false,
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
        self.repeat(
            &start,
            |grammar, left, at| {
                if !grammar.is(at, *operator) {
                    return Ends::default();
                }
                let right = grammar.set_operation(at + 1, tighter);
                grammar.mapped(&right, |right| Node::SetOperation(left, *operator, right))
            },
            |_, _| false,
        )
    }

    fn set_group(&mut self, at: u32) -> Ends {
        let mut found = Ends::default();
        if self.is(at, Token::OpenParen) {
            let inner = self.minus(at + 1);
            found = self.closed(&inner, Token::CloseParen);
        }
        let atoms = self.set_atom(at);
        found.extend(&atoms);
        found
    }
}

/// Can an element end before this token?
fn ends_element(kind: Option<Token>) -> bool {
    matches!(
        kind,
        None | Some(
            Token::Comma
                | Token::Semicolon
                | Token::CloseParen
                | Token::CloseParenVisual
                | Token::CloseBracket
                | Token::CloseBrace
                | Token::CloseBraceVisual
        )
    )
}

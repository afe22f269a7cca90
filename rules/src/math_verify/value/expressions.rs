//! The grammar of expressions.

use super::grammar::{Grammar, Rule};
use super::token::Token;
use super::tree::{Ends, Node, NodeId, Span, Suffix};

/// How many signs may stand in a row.
const MAX_SIGNS: u32 = 30;

impl Grammar<'_> {
    /// Sums and differences: the whole of an expression.
    pub(super) fn additive(&mut self, at: u32) -> Ends {
        self.once(Rule::Additive, at, |grammar| {
            let start = grammar.product(at, false);
            grammar.repeat(
                &start,
                |grammar, left, at| match grammar.kind(at) {
                    Some(sign @ (Token::Plus | Token::Minus)) => {
                        let right = grammar.product(at + 1, false);
                        grammar.mapped(&right, |right| Node::Additive(left, sign, right))
                    }
                    _ => Ends::default(),
                },
                |_, _| false,
            )
        })
    }

    /// Products and quotients with a sign. In the argument of a function without parentheses (`bare`) factors behind
    /// the first are no functions.
    pub(super) fn product(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.signed(at, bare);
        self.repeat(
            &start,
            |grammar, left, at| match grammar.kind(at) {
                Some(sign @ (Token::Times | Token::Divide | Token::Modulo | Token::Colon)) => {
                    let right = grammar.signed(at + 1, bare);
                    grammar.mapped(&right, |right| Node::Product(left, sign, right))
                }
                _ => Ends::default(),
            },
            |_, _| false,
        )
    }

    /// Factors side by side with signs in front.
    fn signed(&mut self, at: u32, bare: bool) -> Ends {
        let mut from = at;
        let mut minus = 0;
        while let Some(kind @ (Token::Plus | Token::Minus)) = self.kind(from) {
            minus += u32::from(kind == Token::Minus);
            from += 1;
            if from - at > MAX_SIGNS {
                return Ends::default();
            }
        }
        let mut ends = self.factors(from, bare);
        for _ in 0..minus {
            ends = self.mapped(&ends, Node::Negated);
        }
        ends
    }

    /// Factors side by side.
    fn factors(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.suffixed(at, false);
        self.repeat(
            &start,
            |grammar, left, at| {
                if !grammar.kind(at).is_some_and(Token::begins_factor) {
                    return Ends::default();
                }
                let right = grammar.suffixed(at, bare);
                grammar.mapped(&right, |right| Node::Factors(left, right))
            },
            |grammar, at| match grammar.kind(at) {
                Some(Token::Bar | Token::Vert | Token::Norm | Token::Differential) => true,
                // What follows may be a call, which is no part of a bare argument.
                Some(
                    Token::Letter
                    | Token::Greek
                    | Token::OtherSymbol
                    | Token::Accent
                    | Token::Gamma,
                ) => bare,
                _ => false,
            },
        )
    }

    /// A power with what stands behind it.
    fn suffixed(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.power(at, bare);
        self.repeat(
            &start,
            |grammar, inner, at| match grammar.kind(at) {
                Some(Token::Bang) => {
                    let node = grammar.node(Node::Suffixed(inner, Suffix::Factorial));
                    Ends::one(node, at + 1)
                }
                Some(Token::Transpose) => {
                    let node = grammar.node(Node::Suffixed(inner, Suffix::Transpose));
                    Ends::one(node, at + 1)
                }
                Some(Token::Degree) => {
                    let node = grammar.node(Node::Suffixed(inner, Suffix::Degree));
                    Ends::one(node, at + 1)
                }
                Some(Token::Bar) => grammar.evaluated(inner, at + 1),
                _ => Ends::default(),
            },
            |grammar, at| grammar.is(at, Token::Bar),
        )
    }

    /// `^{upper}`, `_{lower}` or both, behind a bar.
    fn evaluated(&mut self, inner: NodeId, at: u32) -> Ends {
        let mut found = Ends::default();
        let bound = |grammar: &mut Self, at: u32, mark: Token| {
            if !grammar.is(at, mark) {
                return Ends::default();
            }
            let mut bounds = grammar.enclosed(at + 1, Token::OpenBrace, Token::CloseBrace);
            if grammar.is(at + 1, Token::OpenBrace) {
                let equation = grammar.equality(at + 2);
                bounds.extend(&grammar.closed(&equation, Token::CloseBrace));
            }
            bounds
        };
        let uppers = bound(self, at, Token::Caret);
        for (upper, end) in uppers.iter() {
            let suffix = Suffix::Evaluated {
                upper: Some(upper),
                lower: None,
            };
            let node = self.node(Node::Suffixed(inner, suffix));
            found.push(node, end);
        }
        for (lower, end) in bound(self, at, Token::Underscore).iter() {
            let suffix = Suffix::Evaluated {
                upper: None,
                lower: Some(lower),
            };
            let node = self.node(Node::Suffixed(inner, suffix));
            found.push(node, end);
        }
        for (upper, middle) in uppers.iter() {
            for (lower, end) in bound(self, middle, Token::Underscore).iter() {
                let suffix = Suffix::Evaluated {
                    upper: Some(upper),
                    lower: Some(lower),
                };
                let node = self.node(Node::Suffixed(inner, suffix));
                found.push(node, end);
            }
        }
        found
    }

    /// `a = b` in a bound.
    pub(super) fn equality(&mut self, at: u32) -> Ends {
        let mut found = Ends::default();
        for (left, end) in self.additive(at).iter() {
            if let Some(sign @ (Token::Assign | Token::Equal)) = self.kind(end) {
                for (right, end) in self.additive(end + 1).iter() {
                    let node = self.node(Node::Relation(left, sign, right));
                    found.push(node, end);
                }
            }
        }
        found
    }

    /// Something with exponents.
    fn power(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.composite(at, bare);
        self.repeat(
            &start,
            |grammar, base, at| {
                if !grammar.is(at, Token::Caret) {
                    return Ends::default();
                }
                let mut found = Ends::default();
                for (exponent, end) in grammar.script(at + 1).iter() {
                    let node = grammar.node(Node::Power(base, exponent));
                    for (_, end) in grammar.subscript(end).iter() {
                        found.push(node, end);
                    }
                    found.push(node, end);
                }
                found
            },
            |_, _| false,
        )
    }

    /// An atom or an expression in braces.
    pub(super) fn script(&mut self, at: u32) -> Ends {
        if self.is(at, Token::OpenBrace) {
            return self.enclosed(at, Token::OpenBrace, Token::CloseBrace);
        }
        self.atom(at)
    }

    /// `^` and an atom or an expression in braces.
    pub(super) fn superscript(&mut self, at: u32) -> Ends {
        if self.is(at, Token::Caret) {
            self.script(at + 1)
        } else {
            Ends::default()
        }
    }

    /// `_` and an atom, an expression or a list in braces; the node is that of an expression.
    pub(super) fn subscript(&mut self, at: u32) -> Ends {
        if !self.is(at, Token::Underscore) {
            return Ends::default();
        }
        let mut found = self.script(at + 1);
        if self.is(at + 1, Token::OpenBrace) {
            let list = self.arguments(at + 2);
            found.extend(&self.closed(&list, Token::CloseBrace));
        }
        found
    }

    /// Expressions with commas between them; only the end matters.
    pub(super) fn arguments(&mut self, at: u32) -> Ends {
        let start = self.additive(at);
        self.repeat(
            &start,
            |grammar, node, at| {
                if !grammar.is(at, Token::Comma) {
                    return Ends::default();
                }
                let next = grammar.additive(at + 1);
                let mut found = Ends::default();
                for (_, end) in next.iter() {
                    found.push(node, end);
                }
                found
            },
            |_, _| true,
        )
    }

    /// Brackets with an expression, a function, an atom, a fraction, a matrix.
    fn composite(&mut self, at: u32, bare: bool) -> Ends {
        let rule = if bare {
            Rule::CompositeWithoutFunction
        } else {
            Rule::Composite
        };
        self.once(rule, at, |grammar| grammar.composite_now(at, bare))
    }

    fn composite_now(&mut self, at: u32, bare: bool) -> Ends {
        let Some(kind) = self.kind(at) else {
            return Ends::default();
        };
        match kind {
            Token::OpenParen => self.enclosed(at, kind, Token::CloseParen),
            Token::OpenGroup => self.enclosed(at, kind, Token::CloseGroup),
            Token::OpenBracket => self.enclosed(at, kind, Token::CloseBracket),
            Token::OpenBrack => self.enclosed(at, kind, Token::CloseBrack),
            Token::OpenBraceVisual => self.enclosed(at, kind, Token::CloseBraceVisual),
            Token::OpenBraceCommand => self.enclosed(at, kind, Token::CloseBraceCommand),
            Token::OpenBrace => {
                let mut found = self.enclosed(at, kind, Token::CloseBrace);
                for (upper, end) in self.additive(at + 1).iter() {
                    if self.is(end, Token::Choose) {
                        let lower = self.additive(end + 1);
                        let lower = self.closed(&lower, Token::CloseBrace);
                        let made = self.mapped(&lower, |lower| Node::Binomial(upper, lower));
                        found.extend(&made);
                    }
                }
                found
            }
            Token::Phantom | Token::Boxed => {
                self.enclosed(at + 1, Token::OpenBrace, Token::CloseBrace)
            }
            Token::Norm => {
                let inner = self.enclosed(at, kind, kind);
                self.mapped(&inner, |_| Node::Norm)
            }
            Token::Bar | Token::Vert => {
                let inner = self.enclosed(at, kind, kind);
                self.mapped(&inner, Node::Absolute)
            }
            Token::OpenVert => {
                let inner = self.enclosed(at, kind, Token::CloseVert);
                self.mapped(&inner, Node::Absolute)
            }
            Token::OpenFloor => {
                let inner = self.enclosed(at, kind, Token::CloseFloor);
                self.mapped(&inner, Node::Floor)
            }
            Token::OpenCorner => {
                let inner = self.enclosed(at, kind, Token::CloseCorner);
                self.mapped(&inner, Node::Floor)
            }
            Token::OpenCeiling => {
                let inner = self.enclosed(at, kind, Token::CloseCeiling);
                self.mapped(&inner, Node::Ceiling)
            }
            Token::OpenUpperCorner => {
                let inner = self.enclosed(at, kind, Token::CloseUpperCorner);
                self.mapped(&inner, Node::Ceiling)
            }
            Token::Fraction => self.fraction(at),
            Token::Binomial => {
                let mut found = Ends::default();
                let uppers = self.enclosed(at + 1, Token::OpenBrace, Token::CloseBrace);
                for (upper, end) in uppers.iter() {
                    let lowers = self.enclosed(end, Token::OpenBrace, Token::CloseBrace);
                    let made = self.mapped(&lowers, |lower| Node::Binomial(upper, lower));
                    found.extend(&made);
                }
                found
            }
            Token::MatrixStart => self.matrix(at, Token::MatrixEnd),
            Token::ArrayStart => self.matrix(at, Token::ArrayEnd),
            Token::DeterminantStart => self.matrix(at, Token::DeterminantEnd),
            _ => {
                let mut found = if bare {
                    Ends::default()
                } else {
                    self.function(at, kind)
                };
                let atoms = self.atom(at);
                found.extend(&atoms);
                found
            }
        }
    }

    /// `\frac{a}{b}`.
    pub(super) fn fraction(&mut self, at: u32) -> Ends {
        let mut found = Ends::default();
        if !self.is(at, Token::Fraction) {
            return found;
        }
        let uppers = self.enclosed(at + 1, Token::OpenBrace, Token::CloseBrace);
        for (upper, middle) in uppers.iter() {
            let lowers = self.enclosed(middle, Token::OpenBrace, Token::CloseBrace);
            for (lower, end) in lowers.iter() {
                let node = self.node(Node::Fraction(
                    upper,
                    lower,
                    (at + 2, middle - 1),
                    (middle + 1, end - 1),
                ));
                found.push(node, end);
            }
        }
        found
    }

    fn matrix(&mut self, at: u32, end: Token) -> Ends {
        let mut list = None;
        let mut from = at + 1;
        loop {
            let Some((row, next)) = self.matrix_row(from) else {
                return Ends::default();
            };
            list = Some(self.node(Node::List(list, Token::Row, row)));
            from = next;
            if self.is(from, Token::Row) && !self.is(from + 1, end) {
                from += 1;
                continue;
            }
            from += u32::from(self.is(from, Token::Row));
            break;
        }
        match list {
            Some(list) if self.is(from, end) => {
                let node = self.node(if end == Token::DeterminantEnd {
                    Node::Determinant(list)
                } else {
                    Node::Matrix(list)
                });
                Ends::one(node, from + 1)
            }
            _ => Ends::default(),
        }
    }

    fn matrix_row(&mut self, at: u32) -> Option<(NodeId, u32)> {
        let mut list = None;
        let mut from = at;
        loop {
            let entries = self.additive(from);
            let (entry, end) = entries
                .iter()
                .find(|(_, end)| !self.kind(*end).is_some_and(Token::begins_factor))?;
            let item = self.node(Node::List(list, Token::Column, entry));
            list = Some(item);
            if !self.is(end, Token::Column) {
                return Some((item, end));
            }
            from = end + 1;
        }
    }

    /// A name, a number, a percentage, infinity, a differential, ….
    pub(super) fn atom(&mut self, at: u32) -> Ends {
        match self.kind(at) {
            Some(Token::Letter | Token::Greek | Token::OtherSymbol | Token::Accent) => {
                self.name(at)
            }
            Some(Token::Number) => {
                let node = self.node(Node::Literal(at));
                let mut found = Ends::default();
                for (_, end) in self.subscript(at + 1).iter() {
                    found.push(node, end);
                }
                found.push(node, at + 1);
                found
            }
            Some(
                Token::Symbol
                | Token::PercentNumber
                | Token::Scientific
                | Token::CapitalE
                | Token::Differential
                | Token::Gamma,
            ) => {
                let node = self.node(Node::Literal(at));
                Ends::one(node, at + 1)
            }
            _ => Ends::default(),
        }
    }

    /// A name with its scripts.
    pub(super) fn name(&mut self, at: u32) -> Ends {
        if !matches!(
            self.kind(at),
            Some(Token::Letter | Token::Greek | Token::OtherSymbol | Token::Accent)
        ) {
            return Ends::default();
        }
        self.once(Rule::Atom, at, |grammar| {
            let mut found = Ends::default();
            let uppers = grammar.superscript(at + 1);
            let lowers = grammar.subscript(at + 1);
            let make = |grammar: &mut Self, subscript, superscript| {
                grammar.node(Node::Name {
                    token: at,
                    subscript,
                    superscript,
                })
            };
            let inside = |grammar: &Self, from: u32, to: u32| -> Span {
                if grammar.is(from, Token::OpenBrace) {
                    (from + 1, to - 1)
                } else {
                    (from, to)
                }
            };
            for (upper, middle) in uppers.iter() {
                for (_, end) in grammar.subscript(middle).iter() {
                    let span = inside(grammar, middle + 1, end);
                    let node = make(grammar, Some(span), Some(upper));
                    found.push(node, end);
                }
            }
            for (_, middle) in lowers.iter() {
                let span = inside(grammar, at + 2, middle);
                for (upper, end) in grammar.superscript(middle).iter() {
                    let node = make(grammar, Some(span), Some(upper));
                    found.push(node, end);
                }
            }
            for (_, end) in lowers.iter() {
                let span = inside(grammar, at + 2, end);
                let node = make(grammar, Some(span), None);
                found.push(node, end);
            }
            for (upper, end) in uppers.iter() {
                let node = make(grammar, None, Some(upper));
                found.push(node, end);
            }
            let node = make(grammar, None, None);
            found.push(node, at + 1);
            found
        })
    }
}

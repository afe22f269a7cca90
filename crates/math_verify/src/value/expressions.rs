//! The grammar of expressions.

use super::grammar::{Grammar, Rule};
use super::token::Token;
use super::tree::{Ends, Node, NodeId, Suffix};

/// How many signs may stand in a row.
const MAX_SIGNS: u32 = 30;

impl Grammar<'_> {
    /// Sums and differences: the whole of an expression.
    pub(super) fn additive(&mut self, at: u32) -> Ends {
        self.once(Rule::Additive, at, |grammar| {
            let start = grammar.product(at, false);
            let signs = [Token::Plus, Token::Minus];
            grammar.chain(
                &start,
                &signs,
                |grammar, at| grammar.product(at, false),
                Node::Additive,
            )
        })
    }

    /// Products and quotients with a sign. In the argument of a function without parentheses (`bare`) factors after the first are no functions.
    pub(super) fn product(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.signed(at, bare);
        let signs = [Token::Times, Token::Divide, Token::Modulo, Token::Colon];
        self.chain(
            &start,
            &signs,
            |grammar, at| grammar.signed(at, bare),
            Node::Product,
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
                Some(kind) => bare && (kind.begins_name() || kind == Token::Gamma),
                _ => false,
            },
        )
    }

    /// A power with what stands after it.
    fn suffixed(&mut self, at: u32, bare: bool) -> Ends {
        let start = self.power(at, bare);
        self.repeat(
            &start,
            |grammar, inner, at| {
                let suffix = match grammar.kind(at) {
                    Some(Token::Bang) => Suffix::Factorial,
                    Some(Token::Transpose) => Suffix::Transpose,
                    Some(Token::Degree) => Suffix::Degree,
                    _ => return Ends::default(),
                };
                grammar.one(Node::Suffixed(inner, suffix), at + 1)
            },
            |_, _| false,
        )
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
            return self.braced(at);
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
        let more = |grammar: &mut Self, node, at| {
            let mut found = Ends::default();
            if grammar.is(at, Token::Comma) {
                for (_, end) in grammar.additive(at + 1).iter() {
                    found.push(node, end);
                }
            }
            found
        };
        self.repeat(&start, more, |_, _| true)
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
        if let Some((close, made)) = brackets(kind) {
            let inner = self.enclosed(at, kind, close);
            return match made {
                Some(made) => self.mapped(&inner, made),
                None => inner,
            };
        }
        match kind {
            Token::OpenBrace => {
                let mut found = self.enclosed(at, kind, Token::CloseBrace);
                for (upper, end) in self.additive(at + 1).iter() {
                    if self.is(end, Token::Choose) {
                        let lower = self.additive(end + 1);
                        let lower = self.closed(&lower, Token::CloseBrace);
                        found.extend(&self.mapped(&lower, |lower| Node::Binomial(upper, lower)));
                    }
                }
                found
            }
            Token::Phantom | Token::Boxed => self.braced(at + 1),
            Token::Fraction => self.fraction(at),
            Token::Binomial => {
                let mut found = Ends::default();
                for (upper, end) in self.braced(at + 1).iter() {
                    let lowers = self.braced(end);
                    found.extend(&self.mapped(&lowers, |lower| Node::Binomial(upper, lower)));
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
                found.extend(&self.atom(at));
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
        for (upper, middle) in self.braced(at + 1).iter() {
            let spans = |end: u32| ((at + 2, middle - 1), (middle + 1, end - 1));
            for (lower, end) in self.braced(middle).iter() {
                let (above, below) = spans(end);
                let node = self.node(Node::Fraction(upper, lower, above, below));
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
                let determinant = end == Token::DeterminantEnd;
                let made = if determinant {
                    Node::Determinant
                } else {
                    Node::Matrix
                };
                self.one(made(list), from + 1)
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
        use Token as T;
        match self.kind(at) {
            Some(kind) if kind.begins_name() => self.name(at),
            Some(Token::Number) => {
                let node = self.node(Node::Literal(at));
                let mut found = Ends::default();
                for (_, end) in self.subscript(at + 1).iter() {
                    found.push(node, end);
                }
                found.push(node, at + 1);
                found
            }
            Some(T::Symbol | T::PercentNumber | T::Scientific | T::CapitalE) => {
                self.one(Node::Literal(at), at + 1)
            }
            Some(T::Differential | T::Gamma) => self.one(Node::Literal(at), at + 1),
            _ => Ends::default(),
        }
    }

    pub(super) fn name(&mut self, at: u32) -> Ends {
        if !self.kind(at).is_some_and(Token::begins_name) {
            return Ends::default();
        }
        self.once(Rule::Atom, at, |grammar| {
            let mut found = Ends::default();
            for scripts in grammar.scripts(at + 1, true) {
                let node = grammar.node(Node::Name {
                    token: at,
                    subscript: scripts.lower.map(|(_, span)| span),
                    superscript: scripts.upper,
                });
                found.push(node, scripts.end);
            }
            found
        })
    }
}

/// Makes a node of what stands in brackets.
type Made = fn(NodeId) -> Node;

/// What closes a bracket, and what stands in it comes to.
fn brackets(open: Token) -> Option<(Token, Option<Made>)> {
    use Token as T;
    let plain = |close| Some((close, None));
    let of = |close, made: Made| Some((close, Some(made)));
    match open {
        T::OpenParen => plain(T::CloseParen),
        T::OpenGroup => plain(T::CloseGroup),
        T::OpenBracket => plain(T::CloseBracket),
        T::OpenBrack => plain(T::CloseBrack),
        T::OpenBraceVisual => plain(T::CloseBraceVisual),
        T::OpenBraceCommand => plain(T::CloseBraceCommand),
        T::Norm => of(open, |_| Node::Norm),
        T::Bar | T::Vert => of(open, Node::Absolute),
        T::OpenVert => of(T::CloseVert, Node::Absolute),
        T::OpenFloor => of(T::CloseFloor, Node::Floor),
        T::OpenCorner => of(T::CloseCorner, Node::Floor),
        T::OpenCeiling => of(T::CloseCeiling, Node::Ceiling),
        T::OpenUpperCorner => of(T::CloseUpperCorner, Node::Ceiling),
        _ => None,
    }
}

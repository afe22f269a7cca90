//! The grammar of functions: named ones, calls, roots, sums, limits, integrals.

use super::grammar::{Grammar, Rule};
use super::token::Token;
use super::tree::{Ends, Node, NodeId, Span};

/// What is written below and above.
#[derive(Clone, Copy)]
pub(super) struct Scripts {
    pub lower: Option<(NodeId, Span)>,
    pub upper: Option<NodeId>,
    pub end: u32,
}

impl Grammar<'_> {
    /// A function that begins here.
    pub(super) fn function(&mut self, at: u32, kind: Token) -> Ends {
        match kind {
            Token::Function | Token::Gamma => self.named(at, at + 1),
            Token::Multi => self.call((at, at + 1), at + 1, false),
            Token::OperatorName => {
                if !(self.is(at + 1, Token::OpenBrace) && self.is(at + 3, Token::CloseBrace)) {
                    return Ends::default();
                }
                match self.kind(at + 2) {
                    Some(Token::Name) => self.named(at + 2, at + 4),
                    Some(Token::MultiName) => self.call((at + 2, at + 3), at + 4, false),
                    _ => Ends::default(),
                }
            }
            kind if kind.begins_name() => {
                let mut found = Ends::default();
                for (_, end) in self.subscript(at + 1).iter() {
                    found.extend(&self.call((at, end), end, true));
                }
                found.extend(&self.call((at, at + 1), at + 1, true));
                found
            }
            Token::Integral => self.integral(at),
            Token::Root => self.root(at),
            Token::Sum | Token::Product => self.series(at, kind),
            Token::Limit => self.limit(at),
            Token::ExpE => {
                let uppers = self.superscript(at + 1);
                let mut found = self.mapped(&uppers, |upper| Node::Exponential(Some(upper)));
                let node = self.node(Node::Exponential(None));
                found.push(node, at + 1);
                found
            }
            _ => Ends::default(),
        }
    }

    /// Subscript and superscript in either order, each possibly absent. In `a_b^c` the superscript is that of the subscript, unless `of_whole`.
    pub(super) fn scripts(&mut self, at: u32, of_whole: bool) -> Vec<Scripts> {
        let mut found: Vec<Scripts> = Vec::new();
        let mut push = |lower, upper, end| {
            if found.iter().all(|there| there.end != end) {
                found.push(Scripts { lower, upper, end });
            }
        };
        let lowers = self.subscript(at);
        let uppers = self.superscript(at);
        let passes: &[(bool, bool)] = if of_whole {
            &[(true, false), (false, true)]
        } else {
            &[(true, true)]
        };
        for (both, alone) in passes {
            for (lower, middle) in lowers.iter() {
                let lower = Some((lower, self.inside(at + 1, middle)));
                let uppers = both.then(|| self.superscript(middle)).unwrap_or_default();
                for (upper, end) in uppers.iter() {
                    push(lower, Some(upper), end);
                }
                if *alone {
                    push(lower, None, middle);
                }
            }
            for (upper, middle) in uppers.iter() {
                let lowers = both.then(|| self.subscript(middle)).unwrap_or_default();
                for (lower, end) in lowers.iter() {
                    let lower = Some((lower, self.inside(middle + 1, end)));
                    push(lower, Some(upper), end);
                }
                if *alone {
                    push(None, Some(upper), middle);
                }
            }
        }
        push(None, None, at);
        found
    }

    /// A stretch without the braces around it.
    fn inside(&self, from: u32, to: u32) -> Span {
        if self.is(from, Token::OpenBrace) {
            (from + 1, to - 1)
        } else {
            (from, to)
        }
    }

    /// A function of one argument, with parentheses or without.
    fn named(&mut self, token: u32, at: u32) -> Ends {
        let mut found = Ends::default();
        for Scripts {
            lower,
            upper,
            end: at,
        } in self.scripts(at, false)
        {
            let make = |argument| Node::Function {
                token,
                subscript: lower.map(|(lower, _)| lower),
                superscript: upper,
                argument,
            };
            let inside = self.enclosed(at, Token::OpenParen, Token::CloseParen);
            found.extend(&self.mapped(&inside, make));
            let bare = self.once(Rule::FunctionArgument, at, |grammar| {
                grammar.product(at, true)
            });
            found.extend(&self.mapped(&bare, make));
        }
        found
    }

    /// A call: of several arguments, or of a name without a meaning.
    fn call(&mut self, name: Span, from: u32, undefined: bool) -> Ends {
        let mut found = Ends::default();
        // A name has its subscript already.
        let scripts = self.scripts(from, false).into_iter();
        let brackets = [
            (Token::OpenParen, Token::CloseParen),
            (Token::OpenBracket, Token::CloseBracket),
        ];
        for Scripts {
            upper, end: from, ..
        } in scripts.filter(|scripts| !undefined || scripts.lower.is_none())
        {
            for (open, close) in &brackets[..=usize::from(undefined)] {
                let braced =
                    undefined && self.is(from, Token::OpenBrace) && self.is(from + 1, *open);
                let start = from + u32::from(braced);
                if !self.is(start, *open) {
                    continue;
                }
                let ends = if undefined {
                    self.call_arguments(start + 1)
                } else {
                    self.arguments(start + 1)
                };
                for (_, end) in ends.iter() {
                    if !self.is(end, *close) || braced && !self.is(end + 1, Token::CloseBrace) {
                        continue;
                    }
                    let node = self.node(Node::Call {
                        name,
                        superscript: upper,
                        arguments: (start + 1, end),
                        defined: !undefined,
                    });
                    found.push(node, end + 1 + u32::from(braced));
                }
            }
        }
        found
    }

    /// An atom, or expressions with at least one comma.
    fn call_arguments(&mut self, at: u32) -> Ends {
        let mut found = self.atom(at);
        for (node, end) in self.additive(at).iter() {
            if self.is(end, Token::Comma) {
                found.push(node, end + 1);
                for (_, end) in self.arguments(end + 1).iter() {
                    found.push(node, end);
                }
            }
        }
        found
    }

    fn root(&mut self, at: u32) -> Ends {
        let root = |degree| move |radicand| Node::Root { degree, radicand };
        if !self.is(at + 1, Token::OpenBracket) {
            let radicands = self.braced(at + 1);
            return self.mapped(&radicands, root(None));
        }
        let mut found = Ends::default();
        let degrees = self.enclosed(at + 1, Token::OpenBracket, Token::CloseBracket);
        for (degree, end) in degrees.iter() {
            let radicands = self.braced(end);
            found.extend(&self.mapped(&radicands, root(Some(degree))));
        }
        found
    }

    /// `_{variable = lower}`.
    fn series_start(&mut self, at: u32) -> Ends {
        if !(self.is(at, Token::Underscore) && self.is(at + 1, Token::OpenBrace)) {
            return Ends::default();
        }
        let equation = self.equality(at + 2);
        self.closed(&equation, Token::CloseBrace)
    }

    fn series(&mut self, at: u32, kind: Token) -> Ends {
        let mut bounds = Vec::new();
        for (start, middle) in self.series_start(at + 1).iter() {
            for (upper, end) in self.superscript(middle).iter() {
                bounds.push((start, upper, end));
            }
        }
        for (upper, middle) in self.superscript(at + 1).iter() {
            for (start, end) in self.series_start(middle).iter() {
                bounds.push((start, upper, end));
            }
        }
        let mut found = Ends::default();
        for (start, upper, from) in bounds {
            let Node::Relation(variable, _, lower) = self.nodes[start as usize] else {
                continue;
            };
            let bodies = self.product(from, false);
            let made = self.mapped(&bodies, |body| Node::Series {
                kind,
                variable,
                lower,
                upper,
                body,
            });
            found.extend(&made);
        }
        found
    }

    fn limit(&mut self, at: u32) -> Ends {
        let mut found = Ends::default();
        let named = self.is(at + 1, Token::Underscore)
            && self.is(at + 2, Token::OpenBrace)
            && self.kind(at + 3).is_some_and(Token::begins_name)
            && !self.is(at + 3, Token::Accent)
            && self.is(at + 4, Token::Approaches);
        if !named {
            return found;
        }
        for (target, end) in self.additive(at + 5).iter() {
            let sign = self.kind(end + 2);
            let sided = self.is(end, Token::Caret)
                && self.is(end + 1, Token::OpenBrace)
                && matches!(sign, Some(Token::Plus | Token::Minus))
                && self.is(end + 3, Token::CloseBrace);
            let close = if sided { end + 4 } else { end };
            if !self.is(close, Token::CloseBrace) {
                continue;
            }
            let bodies = self.product(close + 1, false);
            let made = self.mapped(&bodies, |body| Node::Limit {
                variable: at + 3,
                target,
                from_below: sided && sign == Some(Token::Minus),
                body,
            });
            found.extend(&made);
        }
        found
    }

    fn integral(&mut self, at: u32) -> Ends {
        let mut bounds: Vec<_> = (self.scripts(at + 1, true).into_iter())
            .filter_map(|scripts| Some((Some(scripts.lower?.0), Some(scripts.upper?), scripts.end)))
            .collect();
        let empty = |grammar: &Self, at: u32, mark: Token| {
            grammar.is(at, mark)
                && grammar.is(at + 1, Token::OpenBrace)
                && grammar.is(at + 2, Token::CloseBrace)
        };
        if empty(self, at + 1, Token::Underscore) && empty(self, at + 4, Token::Caret)
            || empty(self, at + 1, Token::Caret) && empty(self, at + 4, Token::Underscore)
        {
            bounds.push((None, None, at + 7));
        }
        bounds.push((None, None, at + 1));
        let mut found = Ends::default();
        for (lower, upper, from) in bounds {
            let make = |body, differential| Node::Integral {
                lower,
                upper,
                body,
                differential,
            };
            let bodies = self.additive(from);
            for (body, end) in bodies.iter() {
                if self.is(end, Token::Differential) {
                    let node = self.node(make(Some(body), Some(end)));
                    found.push(node, end + 1);
                }
            }
            if self.is(from, Token::Differential) {
                let node = self.node(make(None, Some(from)));
                found.push(node, from + 1);
            }
            let fractions = self.fraction(from);
            found.extend(&self.mapped(&fractions, |body| make(Some(body), None)));
            found.extend(&self.mapped(&bodies, |body| make(Some(body), None)));
        }
        found
    }
}

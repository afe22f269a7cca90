//! The grammar: every rule says in which ways it can be read from a token on, the preferred way first.
//!
//! Math-Verify's parser tries alternatives in a fixed order and takes the first with which the *whole* text can be
//! read. The same comes out of ordered lists of ends that are joined in order; reading each rule at each place once keeps that cheap.

use super::token::{Lexeme, Token};
use super::tree::{Ends, Node, NodeId};
use juror_algebra::work;

/// How deep expressions may nest; Math-Verify runs out of time long before.
const MAX_DEPTH: u32 = 40;
/// How many nodes are made at most.
const MAX_NODES: usize = 60_000;

/// The rules that are read once at each place.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Additive,
    Atom,
    Composite,
    CompositeWithoutFunction,
    FunctionArgument,
    Elements,
    SetAtom,
    Minus,
    Count,
}

/// The state of a reading.
pub(super) struct Grammar<'t> {
    pub tokens: &'t [Lexeme<'t>],
    pub nodes: Vec<Node>,
    memo: Vec<Option<Ends>>,
    depth: u32,
    /// The budget is gone: nothing more is read.
    spent: bool,
}

impl<'t> Grammar<'t> {
    pub(super) fn new(tokens: &'t [Lexeme<'t>]) -> Self {
        let mut memo = Vec::new();
        memo.resize_with((tokens.len() + 1) * Rule::Count as usize, || None);
        Self {
            tokens,
            nodes: Vec::with_capacity(tokens.len() * 2),
            memo,
            depth: 0,
            spent: false,
        }
    }

    /// Was the reading given up?
    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }

    /// The kind of a token; `None` after the last.
    pub(super) fn kind(&self, at: u32) -> Option<Token> {
        self.tokens.get(at as usize).map(|token| token.kind)
    }

    pub(super) fn is(&self, at: u32, kind: Token) -> bool {
        self.kind(at) == Some(kind)
    }

    pub(super) fn node(&mut self, node: Node) -> NodeId {
        if self.nodes.len() >= MAX_NODES || !work::afford(10) {
            self.spent = true;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeId
    }

    /// Reads a rule at a place once.
    pub(super) fn once(
        &mut self,
        rule: Rule,
        at: u32,
        read: impl FnOnce(&mut Self) -> Ends,
    ) -> Ends {
        let index = at as usize * Rule::Count as usize + rule as usize;
        if let Some(Some(ends)) = self.memo.get(index) {
            return ends.clone();
        }
        if self.is_too_deep() {
            return Ends::default();
        }
        let ends = self.deeper(read);
        if let Some(slot) = self.memo.get_mut(index) {
            *slot = Some(ends.clone());
        }
        ends
    }

    /// Is there no room for another level? Then nothing more is read.
    fn is_too_deep(&mut self) -> bool {
        self.spent |= self.depth >= MAX_DEPTH * 4;
        self.spent
    }

    pub(super) fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Ends) -> Ends {
        if self.is_too_deep() {
            return Ends::default();
        }
        self.depth += 1;
        let ends = read(self);
        self.depth -= 1;
        ends
    }

    /// Continues each of `start` by `step` as often as it goes. Where `may_stop` says so the shorter readings stay
    /// possible too, after the longer ones.
    pub(super) fn repeat(
        &mut self,
        start: &Ends,
        mut step: impl FnMut(&mut Self, NodeId, u32) -> Ends,
        may_stop: impl Fn(&Self, u32) -> bool,
    ) -> Ends {
        let mut found = Ends::default();
        let mut seen: Vec<u32> = Vec::new();
        let mut branched = false;
        let mut stack: Vec<(NodeId, u32, bool)> = start
            .iter()
            .rev()
            .map(|(node, end)| (node, end, false))
            .collect();
        while let Some((node, at, stop)) = stack.pop() {
            if self.spent {
                return Ends::default();
            }
            if stop {
                found.push(node, at);
                continue;
            }
            if branched || stack.iter().any(|(_, _, stop)| !stop) {
                branched = true;
                if seen.contains(&at) {
                    continue;
                }
                seen.push(at);
            }
            let next = step(self, node, at);
            if next.is_empty() {
                found.push(node, at);
                continue;
            }
            if may_stop(self, at) {
                stack.push((node, at, true));
            }
            stack.extend(next.iter().rev().map(|(node, end)| (node, end, false)));
        }
        found
    }

    /// Continues each of `start` by separators and operands after them, as far as it goes.
    pub(super) fn chain(
        &mut self,
        start: &Ends,
        separators: &[Token],
        operand: impl Fn(&mut Self, u32) -> Ends,
        make: impl Fn(NodeId, Token, NodeId) -> Node,
    ) -> Ends {
        let step = |grammar: &mut Self, left, at| {
            let separator = grammar.kind(at).filter(|kind| separators.contains(kind));
            let Some(separator) = separator else {
                return Ends::default();
            };
            let right = operand(grammar, at + 1);
            grammar.mapped(&right, |right| make(left, separator, right))
        };
        self.repeat(start, step, |_, _| false)
    }

    /// Those of `ends` after which `close` stands, beyond it.
    pub(super) fn closed(&self, ends: &Ends, close: Token) -> Ends {
        let mut found = Ends::default();
        for (node, end) in ends.iter() {
            if self.is(end, close) {
                found.push(node, end + 1);
            }
        }
        found
    }

    /// `open expression close`.
    pub(super) fn enclosed(&mut self, at: u32, open: Token, close: Token) -> Ends {
        if !self.is(at, open) {
            return Ends::default();
        }
        let inner = self.additive(at + 1);
        self.closed(&inner, close)
    }

    /// `{expression}`.
    pub(super) fn braced(&mut self, at: u32) -> Ends {
        self.enclosed(at, Token::OpenBrace, Token::CloseBrace)
    }

    pub(super) fn one(&mut self, node: Node, end: u32) -> Ends {
        let mut found = Ends::default();
        found.push(self.node(node), end);
        found
    }

    /// Maps every way to a node of its own.
    pub(super) fn mapped(&mut self, ends: &Ends, make: impl Fn(NodeId) -> Node) -> Ends {
        let mut found = Ends::default();
        for (node, end) in ends.iter() {
            let node = self.node(make(node));
            found.push(node, end);
        }
        found
    }
}

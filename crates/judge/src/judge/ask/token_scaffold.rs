//! A protocol's scaffold as token ids.

use std::sync::Arc;

use crate::protocol::{ChoiceField, Part, Scaffold};
use juror_engine::engine::{Choices, TokenSet};
use juror_engine::grammar::{Grammar, GrammarError, GrammarSource};
use juror_engine::text::TextError;
use juror_engine::text::tokenizer::{Place, Tokenizer};

/// Tokens that are kept free for a text of a grammar: how long it will be is not known, and a verdict alone is not longer.
const GRAMMAR: usize = 32;

#[derive(Clone)]
pub(crate) enum TokenPart {
    /// Text of the judge's own, up to where it ends its answer.
    Analysis,
    /// Known text, or one of several.
    Fork(Fork),
    /// The reason, up to a text, and the tokens of that text.
    Reason { end: String, close: Vec<u32> },
    /// Text of a grammar, and the tokens that may end it where no room is left.
    Grammar {
        grammar: Arc<Grammar>,
        close: Vec<u32>,
    },
}

/// One of several rows of tokens, none of which begins with another.
#[derive(Debug, Clone)]
pub(crate) struct Fork {
    /// What it decides, and the words; none for known text.
    pub(crate) choice: Option<(ChoiceField, Arc<[String]>)>,
    /// What to record of the first token in which the words differ, if not what the request says.
    numbers: Option<Arc<Choices>>,
    branches: Arc<[Vec<u32>]>,
    /// The branches that begin with what was taken so far.
    alive: Vec<usize>,
    taken: usize,
}

/// Whether one row begins with another.
fn is_ambiguous(branches: &[Vec<u32>]) -> bool {
    let mut sorted: Vec<_> = branches.iter().collect();
    sorted.sort_unstable();
    // Such a one stands right behind the other, or behind more that begin with it.
    let begins = |pair: &[&Vec<u32>]| pair[0] != pair[1] && pair[1].starts_with(pair[0]);
    sorted.windows(2).any(begins)
}

impl Fork {
    /// A fork of texts that stand at `place`. `end` is put after texts one of which begins with another.
    pub(crate) fn new(
        tokenizer: &Tokenizer,
        place: Place,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
        end: Option<u32>,
    ) -> Result<Self, TextError> {
        let mut branches = texts
            .into_iter()
            .map(|text| tokenizer.encode_trusted_at(text.as_ref(), place))
            .collect::<Result<Vec<_>, _>>()?;
        if is_ambiguous(&branches) {
            for branch in &mut branches {
                branch.extend(end);
            }
        }
        Ok(Self {
            choice: None,
            numbers: None,
            alive: (0..branches.len()).collect(),
            branches: branches.into(),
            taken: 0,
        })
    }

    /// Records the numbers that the branches stand for, if the tokens in which they first differ are all different.
    fn with_numbers(mut self, numbers: &[f32]) -> Self {
        let at = self.common(0);
        let tokens = self.branches.iter().map(|branch| branch.get(at).copied());
        let Some(tokens) = tokens.collect::<Option<Vec<u32>>>() else {
            return self;
        };
        let different: TokenSet = tokens.iter().copied().collect();
        if different.iter().count() == tokens.len() {
            let numbers = numbers.to_vec();
            self.numbers = Some(Arc::new(Choices { tokens, numbers }));
        }
        self
    }

    /// How far the branches that are alive agree, from `from` on.
    fn common(&self, from: usize) -> usize {
        let token = |branch: usize, at: usize| self.branches[branch].get(at);
        let first = self.alive.first().copied().unwrap_or(0);
        let mut at = from;
        while token(first, at).is_some()
            && self
                .alive
                .iter()
                .all(|&branch| token(branch, at) == token(first, at))
        {
            at += 1;
        }
        at
    }

    /// Takes the tokens that are known by now.
    pub(crate) fn take_known(&mut self) -> Vec<u32> {
        let end = self.common(self.taken);
        let first = self.alive.first();
        let first = first.map_or(&[][..], |&branch| &self.branches[branch]);
        let known = first[self.taken..end].to_vec();
        self.taken = end;
        known
    }

    /// The branch that was taken, once only one is left.
    pub(crate) fn taken_branch(&self) -> Option<usize> {
        match self.alive.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    pub(crate) fn branch(&self, branch: usize) -> &[u32] {
        self.branches.get(branch).map_or(&[], Vec::as_slice)
    }

    /// How it may begin: with the tokens that all branches have in common, or else with the first of each.
    pub(crate) fn beginnings(&self) -> Vec<Vec<u32>> {
        let common = self.common(0);
        if common > 0 {
            return vec![self.branches[0][..common].to_vec()];
        }
        let first = self.branches.iter().filter_map(|branch| branch.first());
        let first: TokenSet = first.copied().collect();
        first.iter().map(|token| vec![token]).collect()
    }

    /// The same with more branches.
    pub(crate) fn or(mut self, more: Vec<Vec<u32>>) -> Self {
        let mut branches = self.branches.to_vec();
        branches.extend(more);
        self.alive = (0..branches.len()).collect();
        self.branches = branches.into();
        self
    }

    /// Whether nothing of it was chosen yet.
    pub(crate) fn is_whole(&self) -> bool {
        self.alive.len() == self.branches.len()
    }

    pub(crate) fn options(&self) -> TokenSet {
        let tokens = self.alive.iter();
        tokens
            .filter_map(|&branch| self.branches[branch].get(self.taken).copied())
            .collect()
    }

    /// What to record of the next choice.
    pub(crate) fn numbers(&self) -> Option<Arc<Choices>> {
        self.numbers.clone().filter(|_| self.is_whole())
    }

    pub(crate) fn push(&mut self, token: u32) {
        let (branches, at) = (&self.branches, self.taken);
        self.alive
            .retain(|&branch| branches[branch].get(at) == Some(&token));
        self.taken += 1;
    }
}

impl TokenPart {
    /// The tokens that it may begin with; none where that is any.
    pub(crate) fn firsts(&self) -> TokenSet {
        match self {
            Self::Analysis | Self::Reason { .. } => TokenSet::default(),
            Self::Fork(fork) => {
                let beginnings = fork.beginnings();
                let firsts = beginnings.iter();
                let firsts = firsts.filter_map(|tokens| tokens.first().copied());
                firsts.collect()
            }
            Self::Grammar { grammar, .. } => grammar.firsts().clone(),
        }
    }

    /// The most tokens that it takes, the judge's own text left aside.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Self::Analysis => 0,
            Self::Fork(fork) => fork.branches.iter().map(Vec::len).max().unwrap_or(0),
            Self::Reason { close, .. } => close.len(),
            Self::Grammar { close, .. } => close.len() + GRAMMAR,
        }
    }
}

/// A scaffold that stands at `place`, in tokens. The text after a choice is tokenised together with its words, so that the tokens
/// are those of the whole text. `end` is a token that ends an answer.
pub(crate) fn tokenise(
    scaffold: &Scaffold,
    tokenizer: &Tokenizer,
    place: Place,
    end: Option<u32>,
    grammar: impl Fn(&GrammarSource) -> Result<Arc<Grammar>, GrammarError>,
) -> Result<Vec<TokenPart>, TextError> {
    let mut parts = Vec::new();
    let mut place = place;
    let mut rest = scaffold.parts.iter().peekable();
    // Known text that goes with the choice after it.
    let mut before = String::new();
    while let Some(part) = rest.next() {
        match part {
            Part::Analysis => {
                parts.push(TokenPart::Analysis);
                place = Place::Within;
            }
            Part::Text(text) => before.push_str(text),
            Part::Choice {
                field,
                words,
                numbers,
            } => {
                let mut after = String::new();
                while let Some(Part::Text(text)) = rest.peek() {
                    after.push_str(text);
                    rest.next();
                }
                let texts = words.iter().map(|word| format!("{before}{word}{after}"));
                let mut fork = Fork::new(tokenizer, place, texts, end)?;
                if let Some(numbers) = numbers {
                    fork = fork.with_numbers(numbers);
                }
                fork.choice = Some((*field, words.as_slice().into()));
                parts.push(TokenPart::Fork(fork));
                before.clear();
                place = Place::Within;
            }
            Part::Grammar(source) => {
                push_text(&mut parts, &mut before, tokenizer, place)?;
                let close = match source.as_ref() {
                    GrammarSource::JsonSchema(_) => tokenizer.encode_untrusted("\"}")?,
                    _ => Vec::new(),
                };
                let grammar =
                    grammar(source).map_err(|error| TextError::Tokenizer(error.to_string()))?;
                parts.push(TokenPart::Grammar { grammar, close });
                place = Place::Within;
            }
            Part::Reason(end_text) => {
                push_text(&mut parts, &mut before, tokenizer, place)?;
                parts.push(TokenPart::Reason {
                    end: end_text.clone(),
                    close: tokenizer.encode_trusted_at(&format!(" {end_text}"), Place::Within)?,
                });
                place = Place::Within;
            }
        }
    }
    push_text(&mut parts, &mut before, tokenizer, place)?;
    Ok(parts)
}

fn push_text(
    parts: &mut Vec<TokenPart>,
    text: &mut String,
    tokenizer: &Tokenizer,
    place: Place,
) -> Result<(), TextError> {
    if !text.is_empty() {
        let text = std::mem::take(text);
        let fork = Fork::new(tokenizer, place, [text], None)?;
        parts.push(TokenPart::Fork(fork));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn neighbours_tell_as_much_as_all(
            branches in prop::collection::vec(prop::collection::vec(0_u32..3, 1..5), 0..6),
        ) {
            let begins = |one: &Vec<u32>, other: &Vec<u32>| one != other && one.starts_with(other);
            let any = |one| branches.iter().any(|other| begins(one, other));
            prop_assert_eq!(is_ambiguous(&branches), branches.iter().any(any));
        }
    }
}

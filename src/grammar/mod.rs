//! Answers of a given form: a JSON schema, a grammar, a pattern or some words, as the tokens that may come next.
//!
//! The parsing is [`llguidance`]'s. A [`GrammarCompiler`] knows the vocabulary of a model, makes [`Grammar`]s of
//! [`GrammarSource`]s, and these give each generation a [`GrammarRun`]. What a grammar leaves no choice about is appended as known
//! tokens; what may be chosen of the rest is found on another thread while the model computes.

mod source;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use llguidance::toktrie::{
    ApproximateTokEnv, INVALID_TOKEN, TokEnv, TokRxInfo, TokTrie, TokenizerEnv,
};
use llguidance::{Matcher, ParserFactory};

use crate::engine::{Allowed, Next, Then, TokenSet};
use crate::panics;
use crate::text::tokenizer::{Place, Tokenizer};

pub use source::GrammarSource;

/// Why a grammar cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// It is not of its form, or too large.
    #[error("{0}")]
    Source(String),
    /// The model's vocabulary cannot be constrained.
    #[error("the bytes of its tokens are unknown: only vocabularies of BPE and Unigram say them")]
    Vocabulary,
}

/// A vocabulary as the parser needs it.
struct Vocabulary {
    trie: TokTrie,
    tokenizer: Arc<Tokenizer>,
}

impl TokenizerEnv for Vocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            let is_text = |tokens: &Vec<u32>| {
                let mut tokens = tokens.iter();
                tokens.all(|&token| !self.trie.token(token).is_empty())
            };
            // The form is ours; but a control token in it is text.
            let tokens = self.tokenizer.encode_trusted_at(text, Place::Within);
            let tokens = tokens.ok().filter(is_text);
            let plain = || self.tokenizer.encode_untrusted_at(text, Place::Within);
            let tokens = tokens.or_else(|| plain().ok().filter(is_text));
            tokens.unwrap_or_else(|| self.trie.greedy_tokenize(text.as_bytes()))
        })
    }
}

/// Makes grammars for one model.
pub struct GrammarCompiler {
    factory: ParserFactory,
    eos: TokenSet,
}

impl GrammarCompiler {
    /// For a vocabulary; `eos` ends an answer.
    ///
    /// # Errors
    /// [`GrammarError::Vocabulary`].
    pub fn new(tokenizer: &Arc<Tokenizer>, eos: &[u32]) -> Result<Self, GrammarError> {
        let mut words = tokenizer.token_bytes().ok_or(GrammarError::Vocabulary)?;
        let known = |token: &u32| (*token as usize) < words.len();
        let eos: Vec<u32> = eos.iter().copied().filter(known).collect();
        for &token in &eos {
            words[token as usize].clear();
        }
        let made = panics::guarded(|| {
            let info = TokRxInfo::new(words.len() as u32, INVALID_TOKEN);
            let mut trie = TokTrie::from(&info, &words);
            if !eos.is_empty() {
                trie = trie.with_eos_tokens(&eos);
            }
            let tokenizer = Arc::clone(tokenizer);
            factory(Arc::new(Vocabulary { trie, tokenizer }))
        });
        Ok(Self {
            factory: made.unwrap_or_else(|why| Err(GrammarError::Source(why)))?,
            eos: eos.into_iter().collect(),
        })
    }

    /// Makes a grammar.
    ///
    /// # Errors
    /// [`GrammarError::Source`].
    pub fn compile(&self, source: &GrammarSource) -> Result<Grammar, GrammarError> {
        let mut matcher = matcher(&self.factory, source)?;
        let firsts = mask(&mut matcher, &self.eos);
        Ok(Grammar {
            matcher,
            firsts,
            eos: self.eos.clone(),
        })
    }
}

/// The grammars for one model, each made once.
pub struct Grammars {
    tokenizer: Arc<Tokenizer>,
    eos: Arc<[u32]>,
    compiler: OnceLock<Result<GrammarCompiler, GrammarError>>,
    made: Mutex<HashMap<GrammarSource, Result<Arc<Grammar>, GrammarError>>>,
}

/// The most grammars that are kept.
const MOST_KEPT: usize = 256;

impl Grammars {
    /// None yet; `eos` ends an answer.
    pub fn new(tokenizer: &Arc<Tokenizer>, eos: &Arc<[u32]>) -> Self {
        Self {
            tokenizer: Arc::clone(tokenizer),
            eos: Arc::clone(eos),
            compiler: OnceLock::new(),
            made: Mutex::default(),
        }
    }

    /// The grammar of a source.
    ///
    /// # Errors
    /// As [`GrammarCompiler::new`] and [`GrammarCompiler::compile`].
    pub fn get(&self, source: &GrammarSource) -> Result<Arc<Grammar>, GrammarError> {
        // What panics while it is held has not changed it.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(grammar) = made.get(source) {
            return grammar.clone();
        }
        let compiler = self
            .compiler
            .get_or_init(|| GrammarCompiler::new(&self.tokenizer, &self.eos));
        let grammar = match compiler {
            Ok(compiler) => compiler.compile(source).map(Arc::new),
            Err(error) => Err(error.clone()),
        };
        if made.len() >= MOST_KEPT {
            made.clear();
        }
        made.insert(source.clone(), grammar.clone());
        grammar
    }
}

/// The form of an answer, for one model.
pub struct Grammar {
    /// At the beginning of an answer.
    matcher: Matcher,
    firsts: TokenSet,
    eos: TokenSet,
}

impl Grammar {
    /// The tokens that an answer may begin with.
    pub fn firsts(&self) -> &TokenSet {
        &self.firsts
    }

    /// Follows an answer from its beginning.
    pub fn begin(&self) -> GrammarRun {
        GrammarRun {
            matcher: Arc::new(Mutex::new(self.matcher.clone())),
            eos: self.eos.clone(),
        }
    }
}

/// Follows one answer.
pub struct GrammarRun {
    matcher: Arc<Mutex<Matcher>>,
    eos: TokenSet,
}

impl GrammarRun {
    /// Takes a token that was chosen.
    pub fn push(&mut self, token: u32) {
        // One that is not allowed leaves the matcher in an error, which ends the answer.
        let _ = lock(&self.matcher).consume_token(token);
    }

    /// What follows: behind `append` the tokens that are forced, and then a choice or the end.
    pub fn next(&mut self, mut append: Vec<u32>) -> Next {
        let mut matcher = lock(&self.matcher);
        append.extend(matcher.consume_ff_tokens());
        if matcher.is_stopped() {
            let then = Then::End;
            return Next { append, then };
        }
        drop(matcher);
        let (matcher, eos) = (Arc::clone(&self.matcher), self.eos.clone());
        let tokens = Arc::new(Allowed::later(move || mask(&mut lock(&matcher), &eos)));
        let found = Arc::clone(&tokens);
        rayon::spawn(move || {
            found.tokens();
        });
        let then = Then::OneOf {
            tokens,
            choices: None,
        };
        Next { append, then }
    }

    /// Takes the tokens that end the answer, if the grammar allows them here and nothing is missing behind them.
    pub fn close(&mut self, tokens: &[u32]) -> bool {
        let mut matcher = lock(&self.matcher);
        if !matches!(matcher.validate_tokens(tokens), Ok(valid) if valid == tokens.len()) {
            return false;
        }
        matcher.consume_tokens(tokens).is_ok()
            && (matcher.is_stopped() || matcher.is_accepting().unwrap_or(false))
    }
}

fn lock(matcher: &Mutex<Matcher>) -> MutexGuard<'_, Matcher> {
    // The matcher catches its own panics.
    matcher.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tokens that may come next; where there is none, or the parser gives up, those that end an answer.
fn mask(matcher: &mut Matcher, eos: &TokenSet) -> TokenSet {
    match matcher.compute_mask() {
        Ok(mask) if !mask.is_zero() => TokenSet::from_words(mask.as_slice().to_vec()),
        _ => eos.clone(),
    }
}

fn factory(vocabulary: TokEnv) -> Result<ParserFactory, GrammarError> {
    let mut factory = ParserFactory::new_simple(&vocabulary).map_err(refusal)?;
    factory.quiet();
    factory.limits_mut().verbose_errors = false;
    Ok(factory)
}

fn matcher(factory: &ParserFactory, source: &GrammarSource) -> Result<Matcher, GrammarError> {
    let made = panics::guarded(|| {
        let grammar = source.grammar().map_err(refusal)?;
        let parser = factory.create_parser(grammar).map_err(refusal)?;
        Ok(Matcher::new(Ok(parser)))
    });
    let matcher = made.unwrap_or_else(|why| Err(GrammarError::Source(why)))?;
    match matcher.get_error() {
        Some(why) => Err(GrammarError::Source(why)),
        None if matcher.is_stopped() => Err(GrammarError::Source(
            "it allows nothing but an empty answer".into(),
        )),
        None => Ok(matcher),
    }
}

fn refusal(error: impl std::fmt::Display) -> GrammarError {
    let why = error.to_string();
    GrammarError::Source(why.lines().next().unwrap_or_default().to_owned())
}

impl GrammarSource {
    /// Whether it can be used with some vocabulary.
    ///
    /// # Errors
    /// [`GrammarError::Source`].
    pub fn check(&self) -> Result<(), GrammarError> {
        let factory = factory(ApproximateTokEnv::single_byte_env())?;
        matcher(&factory, self).map(|_| ())
    }
}

//! Answers of a given form: a JSON schema, a grammar, a pattern or some words, as the tokens that may come next.
//!
//! The parsing is [`llguidance`]'s. A [`GrammarCompiler`] knows the vocabulary of a model, makes [`Grammar`]s of
//! [`GrammarSource`]s, and these give each generation a [`GrammarRun`]. What a grammar leaves no choice about is appended as known
//! tokens; what may be chosen of the rest is found on another thread while the model computes.

mod json_schema;
mod source;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use llguidance::toktrie::{
    ApproximateTokEnv, INVALID_TOKEN, TokEnv, TokRxInfo, TokTrie, TokenizerEnv,
};
use llguidance::{Matcher, ParserFactory};

use crate::engine::{Allowed, Next, Then, TokenSet};
use crate::text::tokenizer::{Place, Tokenizer};
use juror_base::panics;
use juror_base::threads::lock;

pub use source::GrammarSource;

/// Why a grammar cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// It is not of its form, or too large.
    #[error("{0}")]
    Source(String),
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
            // Tokens are not used if a normaliser has changed the text or a special token came of it.
            let is_text = |tokens: &Vec<u32>| self.trie.decode_raw(tokens) == text.as_bytes();
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
    /// A compiler for the vocabulary of `tokenizer`; the tokens `eos` end an answer.
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
            let vocabulary: TokEnv = Arc::new(Vocabulary { trie, tokenizer });
            factory(&vocabulary)
        });
        Ok(Self {
            factory: made.unwrap_or_else(|why| Err(GrammarError::Source(why)))?,
            eos: eos.into_iter().collect(),
        })
    }

    pub fn compile(&self, source: &GrammarSource) -> Result<Grammar, GrammarError> {
        let mut matcher = matcher(&self.factory, source)?;
        let firsts = mask(&mut matcher, &self.eos);
        if let Some(why) = matcher.get_error() {
            return Err(refusal(why));
        }
        Ok(Grammar {
            matcher,
            firsts,
            eos: self.eos.clone(),
        })
    }
}

/// The compiled grammars for one model, by source.
pub struct Grammars {
    tokenizer: Arc<Tokenizer>,
    eos: Arc<[u32]>,
    compiler: OnceLock<Result<GrammarCompiler, GrammarError>>,
    made: Mutex<HashMap<GrammarSource, Arc<OnceLock<Made>>>>,
}

type Made = Result<Arc<Grammar>, GrammarError>;

/// The bytes of the sources whose grammars are cached, and 4 KiB for each: a grammar takes some hundred times its source.
const MOST_KEPT: usize = 1 << 20;

impl Grammars {
    /// An empty cache; the tokens `eos` end an answer.
    pub fn new(tokenizer: &Arc<Tokenizer>, eos: &Arc<[u32]>) -> Self {
        Self {
            tokenizer: Arc::clone(tokenizer),
            eos: Arc::clone(eos),
            compiler: OnceLock::new(),
            made: Mutex::default(),
        }
    }

    /// The grammar of a source, compiled if it is not cached.
    pub fn get(&self, source: &GrammarSource) -> Result<Arc<Grammar>, GrammarError> {
        let grammar = {
            // A panic while the lock is held leaves the map unchanged.
            let mut made = lock(&self.made);
            let bytes = |source: &GrammarSource| source.bytes() + (4 << 10);
            let kept: usize = made.keys().map(bytes).sum();
            if kept + bytes(source) > MOST_KEPT && !made.contains_key(source) {
                made.clear();
            }
            Arc::clone(made.entry(source.clone()).or_default())
        };
        let make = || {
            let compiler = || GrammarCompiler::new(&self.tokenizer, &self.eos);
            match self.compiler.get_or_init(compiler) {
                Ok(compiler) => compiler.compile(source).map(Arc::new),
                Err(error) => Err(error.clone()),
            }
        };
        let grammar = grammar.get_or_init(make).clone();
        if grammar.is_err() {
            lock(&self.made).remove(source);
        }
        grammar
    }
}

/// The form of an answer, compiled for one model.
pub struct Grammar {
    /// The matcher at the beginning of an answer.
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
            // A deep copy: with a plain clone all answers would share the lexer and its errors.
            matcher: Arc::new(Mutex::new(self.matcher.deep_clone())),
            eos: self.eos.clone(),
        }
    }
}

pub struct GrammarRun {
    matcher: Arc<Mutex<Matcher>>,
    eos: TokenSet,
}

impl GrammarRun {
    /// Takes a chosen token. One that the grammar does not allow ends the answer, with an [error](Self::error).
    pub fn push(&mut self, token: u32) {
        let _ = lock(&self.matcher).consume_token(token);
    }

    /// Why the answer ended before it was whole: nothing fits the grammar, or it exceeded a limit of the parser.
    pub fn error(&self) -> Option<String> {
        let error = lock(&self.matcher).get_error()?;
        let why = match error.lines().next().unwrap_or_default() {
            why if why.contains("NoExtensionBias") => "no text fits this form",
            why => why,
        };
        Some(format!(
            "the form of the answer could not be followed: {why}"
        ))
    }

    /// What follows: `append`, then the tokens that the grammar forces, then a choice or the end.
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

    /// Takes the tokens that end the answer, if the grammar allows them here and the answer is then whole. Returns whether
    /// it took them.
    pub fn close(&mut self, tokens: &[u32]) -> bool {
        let mut matcher = lock(&self.matcher);
        if tokens.is_empty()
            || !matches!(matcher.validate_tokens(tokens), Ok(valid) if valid == tokens.len())
        {
            return false;
        }
        let mut closed = matcher.deep_clone();
        let is_whole = closed.consume_tokens(tokens).is_ok()
            && (closed.is_stopped() || closed.is_accepting().unwrap_or(false));
        if is_whole {
            *matcher = closed;
        }
        is_whole
    }
}

/// The tokens that may come next; if there are none, or the parser gives up, those that end an answer.
fn mask(matcher: &mut Matcher, eos: &TokenSet) -> TokenSet {
    match matcher.compute_mask() {
        Ok(mask) if !mask.is_zero() => TokenSet::from_words(mask.as_slice().to_vec()),
        _ => eos.clone(),
    }
}

fn factory(vocabulary: &TokEnv) -> Result<ParserFactory, GrammarError> {
    let mut factory = ParserFactory::new_simple(vocabulary).map_err(refusal)?;
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
        Some(why) => Err(refusal(why)),
        None if matcher.is_stopped() => Err(refusal("it allows nothing but an empty answer")),
        None => Ok(matcher),
    }
}

/// A message of the parser in one line; a line that only points at the one above it says nothing there.
fn refusal(error: impl std::fmt::Display) -> GrammarError {
    const MOST: usize = 500;
    let error = error.to_string();
    let says = |line: &&str| line.contains(|mark: char| mark != '^' && mark != ' ');
    let lines: Vec<&str> = error.lines().map(str::trim).filter(says).collect();
    let mut why = lines.join("; ").replace(":; ", ": ");
    why.truncate(why.floor_char_boundary(MOST));
    GrammarError::Source(why)
}

impl GrammarSource {
    /// Checks that a grammar can be compiled, for whatever vocabulary.
    pub fn check(&self) -> Result<(), GrammarError> {
        let bytes: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        let info = TokRxInfo::new(bytes.len() as u32, INVALID_TOKEN);
        let vocabulary: TokEnv = Arc::new(ApproximateTokEnv::new(TokTrie::from(&info, &bytes)));
        matcher(&factory(&vocabulary)?, self).map(|_| ())
    }
}

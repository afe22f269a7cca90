//! Text to token ids and back.
//!
//! There are two ways to encode. Trusted text (template, chat markup) is tokenised as its author meant it: `<|im_end|>` is a
//! control token. Text under judgement is tokenised by a twin of the tokenizer that knows no added tokens at all, so
//! whatever a student writes stays ordinary text (see `docs/decisions/untrusted-text.md`).
//!
//! A prompt is tokenised in stretches. A tokenizer that puts a space before a text (Llama's and Mistral's) would put one
//! before every stretch; so each stretch is tokenised for its [`Place`], and gets the tokens it has in the middle of a text.
//!
//! Nothing is put around a text, whatever the tokenizer's post-processor says: the chat template writes `bos_token` if the
//! model wants one, as with transformers' `apply_chat_template(tokenize=True)`. A raw prompt gets it ([`Tokenizer::around`]).

mod control_tokens;
mod growth;
mod lower_bound;
mod prefix;
mod shared_model;
mod stream;
mod token_bytes;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokenizers::{
    Encoding, NormalizedString, Normalizer, NormalizerWrapper, PostProcessor, PreTokenizerWrapper,
    Token,
};

use crate::text::TextError;
use growth::Growth;
use juror_base::panics;
use lower_bound::VocabularyTrie;
use prefix::Prefix;
use shared_model::Library;
pub use stream::TextStream;

/// Where a stretch of text stands in the whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Beginning,
    /// Right after an added token, such as `<|user|>`.
    BehindToken,
    Within,
}

/// A tokenizer with and without added tokens.
struct Pair {
    trusted: Library,
    /// The same vocabulary and merges, without any added token.
    untrusted: Library,
}

pub struct Tokenizer {
    /// The name of the file in messages.
    file: String,
    /// One past the highest token id.
    size: usize,
    /// The factor by which the normaliser may grow a text.
    growth: Growth,
    as_it_is: Pair,
    /// What the tokenizer puts before a text, and the same tokenizer without that; `None` if it puts nothing.
    continuing: Option<(Prefix, Pair)>,
    /// Control tokens, which text under judgement must not become.
    control: HashSet<u32>,
    /// What the post-processor puts before a text and behind it.
    around: (Vec<u32>, Vec<u32>),
    added: HashMap<String, u32>,
    /// Added tokens at which the tokenizer splits a text: all but the one for unknown characters.
    added_ids: HashSet<u32>,
    /// The vocabulary for lower bounds, built when it is first needed; `None` if a token may stand for any amount of text.
    pieces: OnceLock<Option<VocabularyTrie>>,
}

impl Tokenizer {
    pub fn from_json(json: &str) -> Result<Self, TextError> {
        Self::of_file(json, FILE)
    }

    /// As [`Self::from_json`], where the text was made from `file`, which messages then name.
    pub fn of_file(json: &str, file: &str) -> Result<Self, TextError> {
        // The library panics on some damaged files.
        let read = panics::guarded(|| Self::read(json)).unwrap_or_else(|why| Err(unreadable(&why)));
        let tokenizer = read.map_err(|error| in_file(error, file))?;
        Ok(Self {
            file: file.to_owned(),
            ..tokenizer
        })
    }

    /// A tokenizer with the same ids in which no text becomes one of the added tokens that `hides` picks, by their text and
    /// whether they are special; and the ids of these tokens.
    pub fn from_json_hiding(
        json: &str,
        hides: &dyn Fn(&str, bool) -> bool,
    ) -> Result<(Self, HashSet<u32>), TextError> {
        let document = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
        let (document, hidden) = control_tokens::hidden(&document, hides);
        Ok((Self::from_json(&document.to_string())?, hidden))
    }

    /// As [`Self::of_file`], for a model that has rows for `rows` tokens. Added tokens beyond them are none, so that what spells one is
    /// text: Gemma 3's models of text alone have no row for the one that stands for an image.
    /// Errors: when it is no tokenizer that can be read, or other tokens are beyond them.
    pub fn of_model(json: &str, file: &str, rows: usize) -> Result<Self, TextError> {
        let all = Self::of_file(json, file)?;
        if all.size <= rows {
            return Ok(all);
        }
        let mut document: Value = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
        let added = document.get_mut("added_tokens");
        if let Some(added) = added.and_then(Value::as_array_mut) {
            added.retain(|token| token["id"].as_u64().is_none_or(|id| id < rows as u64));
        }
        let rest = Self::of_file(&document.to_string(), file)?;
        if rest.size <= rows {
            return Ok(rest);
        }
        Err(TextError::Tokenizer(format!(
            "{file}: token ids up to {}, and the configuration has a vocabulary of {rows}: they are not of the same model",
            rest.size - 1
        )))
    }

    fn read(json: &str) -> Result<Self, TextError> {
        let mut document: Value = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
        check_size(&document)?;
        let growth = Growth::from_document(&document)?;
        let unknown = control_tokens::unknown_token(&document);
        // The largest part by far: it is dropped before the library reads it again.
        let model = document.get_mut("model").map(Value::take);
        let hidden = control_tokens::hidden_model(model.unwrap_or_default(), &document)?;
        let trusted: Library = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
        let size = vocab_size(&trusted);
        let added_tokens = trusted.get_added_tokens_decoder();
        let control = added_tokens
            .iter()
            .filter(|(_, token)| token.special || control_tokens::is_markup(&token.content))
            // The token for unknown characters is no control token.
            .filter(|(_, token)| {
                unknown.as_ref() != Some(&token.content)
                    || !token.content.to_lowercase().contains("unk")
            })
            .map(|(&id, _)| id)
            .collect();
        let added = added_tokens
            .iter()
            .map(|(&id, token)| (token.content.clone(), id))
            .collect();
        let added_ids = added_tokens
            .iter()
            .filter(|(_, token)| unknown.as_ref() != Some(&token.content))
            .map(|(&id, _)| id)
            .collect();
        let around = put_around(&trusted).map_err(|error| unreadable(&error))?;
        let model = hidden.unwrap_or_else(|| trusted.get_model().clone());
        let untrusted = control_tokens::without_added_tokens(&trusted, model.clone())?;
        let continuing = match prefix::remove(&mut document) {
            None => None,
            Some(prefix) => {
                let mut continuing = trusted.clone();
                continuing
                    .with_normalizer(part::<NormalizerWrapper>(&document, "normalizer")?)
                    .map_err(|error| unreadable(&error))?;
                continuing
                    .with_pre_tokenizer(part::<PreTokenizerWrapper>(&document, "pre_tokenizer")?);
                let untrusted = control_tokens::without_added_tokens(&continuing, model)?;
                Some((prefix, Pair::new(continuing, untrusted)?))
            }
        };
        Ok(Self {
            file: FILE.to_owned(),
            size,
            growth,
            as_it_is: Pair::new(trusted, untrusted)?,
            continuing,
            control,
            around,
            added,
            added_ids,
            pieces: OnceLock::new(),
        })
    }

    /// Token ids that a raw prompt begins and ends with, as its makers' file says: a token for the beginning, say.
    pub fn around(&self) -> (&[u32], &[u32]) {
        (&self.around.0, &self.around.1)
    }

    /// Token ids of text that juror or a chat template wrote: added and special tokens are recognised, and none is put around the text.
    pub fn encode_trusted(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.encode_trusted_at(text, Place::Beginning)
    }

    /// As [`Self::encode_trusted`], of a stretch that stands at `place` in the prompt.
    pub fn encode_trusted_at(&self, text: &str, place: Place) -> Result<Vec<u32>, TextError> {
        let Some((prefix, continuing)) = &self.continuing else {
            return self.encode(&self.as_it_is.trusted, text);
        };
        if prefix.is_put_at(place) {
            return self.encode(&self.as_it_is.trusted, text);
        }
        let encoding = self.attempt(text, || continuing.trusted.encode(text, false))?;
        let ids = encoding.get_ids();
        if !prefix.is_put_at(Place::BehindToken) {
            return Ok(ids.to_vec());
        }
        // Up to the first added token the text continues what comes before it; after that token the tokenizer starts afresh.
        let Some(first) = ids.iter().position(|id| self.added_ids.contains(id)) else {
            return Ok(ids.to_vec());
        };
        let at = encoding
            .get_offsets()
            .get(first)
            .map_or(0, |offsets| offsets.0);
        let rest = self.encode(&self.as_it_is.trusted, text.get(at..).unwrap_or_default())?;
        let rest = rest.into_iter().skip_while(|id| *id != ids[first]);
        Ok(ids[..first].iter().copied().chain(rest).collect())
    }

    /// Token ids of text under judgement that follows other text; never a control token, whatever the text says.
    /// Errors: [`TextError::Tokenizer`] if the tokenizer refuses the text, or if its plain vocabulary holds a control token that the
    /// text becomes.
    pub fn encode_untrusted(&self, text: &str) -> Result<Vec<u32>, TextError> {
        self.encode_untrusted_at(text, Place::Within)
    }

    /// As [`Self::encode_untrusted`], of a text that stands at `place` in the prompt.
    pub fn encode_untrusted_at(&self, text: &str, place: Place) -> Result<Vec<u32>, TextError> {
        let ids = self.encode(self.untrusted_at(place), text)?;
        if let Some(id) = ids.iter().find(|id| self.control.contains(id)) {
            let token = self.as_it_is.trusted.id_to_token(*id).unwrap_or_default();
            return Err(TextError::Tokenizer(format!(
                "the text would become the control token {token}"
            )));
        }
        Ok(ids)
    }

    /// A lower bound, above `most`, on the tokens of a text under judgement, found without tokenising it; `None` if the text
    /// may have no more than `most`, or if no bound is known.
    pub fn more_tokens_than(&self, most: usize, text: &str) -> Option<usize> {
        // A text that is too long once normalised is refused when it is tokenised.
        self.growth.check(lower_bound::first_part(text)).ok()?;
        let tokenizer = self.untrusted_at(Place::Within);
        let pieces = self
            .pieces
            .get_or_init(|| VocabularyTrie::from_tokenizer(tokenizer))
            .as_ref()?;
        panics::guarded(|| pieces.more_than(most, tokenizer, text))
            .ok()
            .flatten()
    }

    /// As [`Self::encode_untrusted_at`], with the bytes of `text` that each token stands for, and without the check for control tokens.
    pub fn untrusted_offsets(
        &self,
        text: &str,
        place: Place,
    ) -> Result<(Vec<u32>, Vec<Range<usize>>), TextError> {
        let tokenizer = self.untrusted_at(place);
        let encoding = self.attempt(text, || tokenizer.encode(text, false))?;
        let offsets = encoding.get_offsets().iter().map(|&(from, to)| from..to);
        Ok((encoding.get_ids().to_vec(), offsets.collect()))
    }

    /// A text under judgement as the normaliser changes it; unchanged if the normaliser fails.
    pub fn normalised(&self, text: &str) -> String {
        let Some(normalizer) = self.untrusted_at(Place::Within).get_normalizer() else {
            return text.to_owned();
        };
        if self.growth.check(text).is_err() {
            return text.to_owned();
        }
        let normalised = panics::guarded(|| {
            let mut normalised = NormalizedString::from(text);
            let done = normalizer.normalize(&mut normalised);
            done.ok().map(|()| normalised.get().to_owned())
        });
        normalised.ok().flatten().unwrap_or_else(|| text.to_owned())
    }

    /// A token as the vocabulary spells it; empty if there is no such token.
    pub fn piece(&self, id: u32) -> String {
        self.as_it_is.trusted.id_to_token(id).unwrap_or_default()
    }

    fn untrusted_at(&self, place: Place) -> &Library {
        match &self.continuing {
            Some((prefix, continuing)) if !prefix.is_put_at(place) => &continuing.untrusted,
            _ => &self.as_it_is.untrusted,
        }
    }

    fn encode(&self, tokenizer: &Library, text: &str) -> Result<Vec<u32>, TextError> {
        let encoding = self.attempt(text, || tokenizer.encode_fast(text, false))?;
        Ok(encoding.get_ids().to_vec())
    }

    fn attempt(
        &self,
        text: &str,
        encode: impl FnOnce() -> tokenizers::Result<tokenizers::Encoding>,
    ) -> Result<tokenizers::Encoding, TextError> {
        let encoding = self.growth.check(text).and_then(|()| attempt(encode));
        encoding.map_err(|error| in_file(error, &self.file))
    }

    /// The place of text that follows these tokens; `None` if there are no tokens.
    pub fn place_after(&self, ids: &[u32]) -> Option<Place> {
        let last = ids.last()?;
        Some(if self.added_ids.contains(last) {
            Place::BehindToken
        } else {
            Place::Within
        })
    }

    /// The text of token ids, special tokens included.
    pub fn decode(&self, ids: &[u32]) -> String {
        // Unknown ids are skipped by the library; there is no other way for decoding to fail.
        self.as_it_is.trusted.decode(ids, false).unwrap_or_default()
    }

    /// The id of a token, added or not, by its text in the vocabulary.
    pub fn token_id(&self, text: &str) -> Option<u32> {
        self.as_it_is.trusted.token_to_id(text)
    }

    pub fn added_tokens(&self) -> impl Iterator<Item = &str> {
        self.added.keys().map(String::as_str)
    }

    pub fn added_token(&self, text: &str) -> Option<u32> {
        self.added.get(text).copied()
    }

    /// Whether an added token is special, which tokens such as `<think>` are not.
    pub(crate) fn is_special(&self, text: &str) -> bool {
        let added = self.as_it_is.trusted.get_added_vocabulary();
        added.is_special_token(text)
    }

    pub(crate) fn is_control(&self, id: u32) -> bool {
        self.control.contains(&id)
    }

    /// One past the highest token id.
    pub fn vocab_size(&self) -> usize {
        self.size
    }

    /// The bytes that each token id stands for within a text: empty for special tokens and the one for unknown characters.
    /// `None` if the vocabulary does not tell.
    pub fn token_bytes(&self) -> Option<Vec<Vec<u8>>> {
        token_bytes::of_vocabulary(&self.as_it_is.trusted, |id| !self.added_ids.contains(&id))
    }

    /// All tokens that are nothing but white space, in order of id.
    pub fn blank(&self) -> Vec<u32> {
        let [mut tokens] = self.variants([""]);
        tokens.retain(|&id| !self.decode(&[id]).is_empty());
        tokens
    }

    /// For each of `words` all tokens that spell it, whatever their case and surrounding space, in order of id.
    pub fn variants<const N: usize>(&self, words: [&str; N]) -> [Vec<u32>; N] {
        let mut found = [const { Vec::new() }; N];
        for id in (0..self.size as u32).filter(|id| !self.control.contains(id)) {
            let text = self.decode(&[id]);
            for (word, found) in words.iter().zip(&mut found) {
                if text.trim().eq_ignore_ascii_case(word) {
                    found.push(id);
                }
            }
        }
        found
    }
}

impl Pair {
    /// A pair of tokenizers without truncation and padding.
    fn new(mut trusted: Library, mut untrusted: Library) -> Result<Self, TextError> {
        for tokenizer in [&mut trusted, &mut untrusted] {
            tokenizer
                .with_truncation(None)
                .map_err(|error| unreadable(&error))?;
            tokenizer.with_padding(None);
        }
        Ok(Self { trusted, untrusted })
    }
}

/// Tokenises, turning panics into errors: the library panics where a pattern reaches its backtracking limit, or a map of characters is damaged.
fn attempt(
    encode: impl FnOnce() -> tokenizers::Result<tokenizers::Encoding>,
) -> Result<tokenizers::Encoding, TextError> {
    match panics::guarded(encode) {
        Ok(Ok(encoding)) => Ok(encoding),
        Ok(Err(error)) => Err(TextError::Tokenizer(error.to_string())),
        Err(why) => Err(TextError::Tokenizer(format!(
            "tokenizer.json cannot be used on this text: {why}"
        ))),
    }
}

/// A part of a `tokenizer.json` other than the model.
fn part<T: DeserializeOwned>(document: &Value, key: &str) -> Result<Option<T>, TextError> {
    let part = document.get(key).map(Option::<T>::deserialize);
    Ok(part
        .transpose()
        .map_err(|error| unreadable(&error))?
        .flatten())
}

/// One past the highest token id.
fn vocab_size(tokenizer: &Library) -> usize {
    let highest = tokenizer.get_vocab(true).into_values().max();
    highest.map_or(0, |id| id as usize + 1)
}

/// The file that messages name by default.
const FILE: &str = "tokenizer.json";

/// The error, with `file` in place of the default name.
fn in_file(error: TextError, file: &str) -> TextError {
    match error {
        TextError::Tokenizer(message) => match message.strip_prefix(FILE) {
            Some(rest) => TextError::Tokenizer(format!("{file}{rest}")),
            None => TextError::Tokenizer(message),
        },
        other => other,
    }
}

/// The most tokens of a vocabulary; the largest language models have 260 thousand.
const MAX_TOKENS: usize = 1 << 20;
/// The most merges; there may be several for each token.
const MAX_MERGES: usize = 1 << 21;

/// Fails if a vocabulary would take too much memory: a merge takes a hundred times its bytes, and a vocabulary is kept twice.
fn check_size(document: &Value) -> Result<(), TextError> {
    let model = &document["model"];
    let count = |value: &Value| match value {
        Value::Object(entries) => entries.len(),
        Value::Array(entries) => entries.len(),
        _ => 0,
    };
    let counts = [
        ("tokens", count(&model["vocab"]), MAX_TOKENS),
        ("merges", count(&model["merges"]), MAX_MERGES),
        ("added tokens", count(&document["added_tokens"]), MAX_TOKENS),
    ];
    match counts.into_iter().find(|(_, count, most)| count > most) {
        None => Ok(()),
        Some((what, count, most)) => Err(unreadable(&format!(
            "{count} {what}, more than {most}: no vocabulary has so many"
        ))),
    }
}

/// What the post-processor puts before a text and behind it.
fn put_around(tokenizer: &Library) -> tokenizers::Result<(Vec<u32>, Vec<u32>)> {
    let Some(processor) = tokenizer.get_post_processor() else {
        return Ok((Vec::new(), Vec::new()));
    };
    // No vocabulary has so many tokens.
    let text = Token::new(u32::MAX, String::new(), (0, 0));
    let all = processor.process(Encoding::from_tokens(vec![text], 0), None, true)?;
    let mut parts = all
        .get_ids()
        .split(|id| *id == u32::MAX)
        .map(<[u32]>::to_vec);
    Ok((
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    ))
}

fn unreadable(error: &dyn std::fmt::Display) -> TextError {
    TextError::Tokenizer(format!("tokenizer.json: {error}"))
}

#[cfg(test)]
mod tests;

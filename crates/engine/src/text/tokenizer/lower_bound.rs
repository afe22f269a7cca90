//! A lower bound on the tokens of a text, without tokenising it.
//!
//! Tokenising takes some 150 bytes of memory for each byte of text, and a response may be as long as its writer likes. So a long text is first covered with as
//! few pieces of the vocabulary as possible, whatever the merges say: the tokenizer's result is one such covering, so it has at least as many tokens. The
//! covering goes from left to right in one pass and ends as soon as it exceeds the limit, so its cost is bounded by the limit, not by the text.
//!
//! The text is normalised and pre-tokenised as by the tokenizer, a part at a time. Near a cut between two parts the result may differ from that of the whole,
//! so for each cut as many tokens are subtracted as a covering could differ there. Boundaries that the pre-tokeniser sets are not used, and characters that the
//! vocabulary lacks count as nothing (several of them may become one token), unless each of their bytes is a token. Where they are dropped, there is no bound.

use std::collections::VecDeque;

use tokenizers::models::ModelWrapper;
use tokenizers::{
    NormalizedString, Normalizer as _, OffsetReferential, OffsetType, PreTokenizedString,
    PreTokenizer as _,
};

use super::shared_model::Library;

/// How many bytes of a text are processed at a time.
const PART: usize = 64 << 10;

/// How many bytes near a cut the normaliser may have combined or dropped.
const NEAR_CUT: usize = 32;

/// The pieces of a vocabulary as a trie of bytes.
pub(super) struct VocabularyTrie {
    /// Node 0 is the root; the children of a node stand next to each other, in the order of their bytes.
    nodes: Vec<Node>,
    longest: usize,
    /// How many bytes of a text are processed at a time.
    part: usize,
    /// What becomes of a character that the vocabulary lacks.
    unknown: Unknown,
}

/// What becomes of a character that the vocabulary lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// One token for each of its bytes.
    Bytes,
    /// The unknown token, which may stand for several such characters in a row.
    Token,
    /// Nothing: the characters around it may then become one token.
    Nothing,
}

#[derive(Clone, Copy, Default)]
struct Node {
    byte: u8,
    ends: bool,
    children: u16,
    first: u32,
}

impl VocabularyTrie {
    /// The vocabulary of a tokenizer. `None` if a token may stand for more text than it spells, so that there is no lower
    /// bound: `WordPiece` and `WordLevel` make one token of an unknown word of any length.
    pub(super) fn from_tokenizer(tokenizer: &Library) -> Option<Self> {
        let vocabulary = tokenizer.get_vocab(false);
        let (byte_fallback, dropped) = match &**tokenizer.get_model() {
            ModelWrapper::BPE(model)
                if model.continuing_subword_prefix.is_none()
                    && model.end_of_word_suffix.is_none() =>
            {
                (model.byte_fallback, model.unk_token.is_none())
            }
            ModelWrapper::Unigram(model) => (model.byte_fallback(), false),
            _ => return None,
        };
        let bytes_of_unknown = byte_fallback
            && (0..=u8::MAX).all(|byte| vocabulary.contains_key(&format!("<{byte:#04X}>")));
        let mut pieces: Vec<&[u8]> = vocabulary
            .keys()
            .map(String::as_bytes)
            .filter(|piece| !piece.is_empty())
            .collect();
        pieces.sort_unstable();
        Some(Self {
            longest: pieces.iter().map(|piece| piece.len()).max()?,
            part: PART,
            nodes: tree(&pieces),
            unknown: match (bytes_of_unknown, dropped) {
                (true, _) => Unknown::Bytes,
                (false, false) => Unknown::Token,
                (false, true) => Unknown::Nothing,
            },
        })
    }

    /// A lower bound, above `most`, on the number of tokens of the text; `None` if the text may have no more than `most`.
    pub(super) fn more_than(&self, most: usize, tokenizer: &Library, text: &str) -> Option<usize> {
        let mut covering = MinimumCover::new(self);
        let mut rest = text;
        // The beginning counts as a cut: a tokenizer may put something before a text that becomes one token with its first word.
        let mut cuts = 1;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.floor_char_boundary(self.part));
            rest = after;
            covering.add(&prepared(tokenizer, part)?, rest.is_empty());
            if covering.dropped {
                return None;
            }
            cuts += 1;
            let unsure = cuts * (2 * self.longest + NEAR_CUT);
            let least = covering.least().saturating_sub(unsure);
            if least > most {
                return Some(least);
            }
        }
        None
    }

    fn child(&self, node: Node, byte: u8) -> Option<Node> {
        let first = node.first as usize;
        let children = &self.nodes[first..first + usize::from(node.children)];
        let at = children
            .binary_search_by_key(&byte, |child| child.byte)
            .ok()?;
        Some(children[at])
    }
}

/// The first part of a text, as much as is processed at a time.
pub(super) fn first_part(text: &str) -> &str {
    &text[..text.floor_char_boundary(PART)]
}

/// A part of a text as the model gets it; `None` if the tokenizer fails on it, which tokenising will report.
fn prepared(tokenizer: &Library, part: &str) -> Option<String> {
    let mut normalized = NormalizedString::from(part);
    if let Some(normalizer) = tokenizer.get_normalizer() {
        normalizer.normalize(&mut normalized).ok()?;
    }
    let mut pre_tokenized = PreTokenizedString::from(normalized);
    if let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() {
        pre_tokenizer.pre_tokenize(&mut pre_tokenized).ok()?;
    }
    let splits = pre_tokenized.get_splits(OffsetReferential::Original, OffsetType::Byte);
    Some(splits.iter().map(|(text, ..)| *text).collect())
}

fn tree(pieces: &[&[u8]]) -> Vec<Node> {
    let mut nodes = vec![Node::default()];
    // Nodes whose children are still to be added, with the pieces that begin with them and their depth.
    let mut waiting = VecDeque::from([(0, pieces, 0)]);
    while let Some((node, pieces, depth)) = waiting.pop_front() {
        let first = nodes.len();
        let longer = pieces.iter().position(|piece| piece.len() > depth);
        let mut rest = longer.map_or(&[][..], |at| &pieces[at..]);
        while let Some(piece) = rest.first() {
            let byte = piece[depth];
            let count = rest.partition_point(|piece| piece[depth] == byte);
            let (own, others) = rest.split_at(count);
            waiting.push_back((nodes.len(), own, depth + 1));
            nodes.push(Node {
                byte,
                ends: own[0].len() == depth + 1,
                ..Node::default()
            });
            rest = others;
        }
        nodes[node].first = first as u32;
        nodes[node].children = (nodes.len() - first) as u16;
    }
    nodes
}

/// The fewest pieces that cover a text up to each place, computed as the text arrives.
struct MinimumCover<'p> {
    pieces: &'p VocabularyTrie,
    /// The text from the current place on.
    text: Vec<u8>,
    /// The number of pieces up to each place from there on, as far as the longest piece reaches.
    costs: VecDeque<usize>,
    /// Whether a character was dropped, so that the tokens do not cover the text.
    dropped: bool,
}

const UNREACHED: usize = usize::MAX;

impl<'p> MinimumCover<'p> {
    fn new(pieces: &'p VocabularyTrie) -> Self {
        let mut costs = VecDeque::from(vec![UNREACHED; pieces.longest.max(4) + 1]);
        costs[0] = 0;
        Self {
            pieces,
            text: Vec::new(),
            costs,
            dropped: false,
        }
    }

    /// Takes more of the text and covers it up to where a piece could reach into text that is still to come; to its end if this is the `last` of it.
    fn add(&mut self, more: &str, last: bool) {
        self.text.extend_from_slice(more.as_bytes());
        let reach = self.costs.len() - 1;
        let end = if last {
            self.text.len()
        } else {
            self.text.len().saturating_sub(reach)
        };
        for at in 0..end {
            self.step(at);
        }
        self.text.drain(..end);
    }

    /// Extends coverings from one place, and moves on to the next.
    fn step(&mut self, at: usize) {
        let cost = self.costs[0];
        if cost != UNREACHED {
            let text = &self.text[at..];
            let mut node = self.pieces.nodes[0];
            let mut character = false;
            let width = width(text[0]);
            for (before, &byte) in text.iter().enumerate() {
                match self.pieces.child(node, byte) {
                    Some(child) => node = child,
                    None => break,
                }
                if node.ends {
                    character |= before + 1 == width;
                    let there = &mut self.costs[before + 1];
                    *there = (*there).min(cost + 1);
                }
            }
            if !character {
                let tokens = match self.pieces.unknown {
                    Unknown::Bytes => width,
                    Unknown::Token => 0,
                    Unknown::Nothing => {
                        self.dropped = true;
                        0
                    }
                };
                let there = &mut self.costs[width];
                *there = (*there).min(cost + tokens);
            }
        }
        self.costs.pop_front();
        self.costs.push_back(UNREACHED);
    }

    /// The fewest pieces of any covering so far; more text cannot lower it.
    fn least(&self) -> usize {
        self.costs.iter().copied().min().unwrap_or(0)
    }
}

/// Bytes of the character that begins with `byte`.
fn width(byte: u8) -> usize {
    match byte {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::{Place, Tokenizer};
    use super::*;

    /// Every kind of model, with every normaliser and pre-tokeniser, over a small vocabulary.
    fn documents() -> Vec<Value> {
        let names = [
            "<unk>",
            "▁",
            "a",
            "b",
            "c",
            "é",
            "e",
            "ab",
            "abab",
            "▁a",
            "▁▁",
            "▁▁▁▁",
            "bc",
            "1",
            "11",
            "1111",
            "Ġ",
            "Ġa",
            "ĠĠĠĠ",
            "Ã",
            "©",
            "Ã©",
            "😀",
            "[UNK]",
            "##a",
            " ",
            "  ",
        ];
        let bytes: Vec<String> = (0..=u8::MAX).map(|byte| format!("<{byte:#04X}>")).collect();
        let all = names.iter().map(|name| (*name).to_owned()).chain(bytes);
        let map: serde_json::Map<String, Value> = all
            .clone()
            .enumerate()
            .map(|(id, name)| (name, id.into()))
            .collect();
        let few: serde_json::Map<String, Value> = names
            .iter()
            .enumerate()
            .map(|(id, name)| ((*name).to_owned(), id.into()))
            .collect();
        let scored: Vec<Value> = all
            .enumerate()
            .map(|(id, name)| json!([name, -1.0 - id as f64 / 10.0]))
            .collect();
        let merges = json!([
            ["a", "b"],
            ["ab", "ab"],
            ["▁", "a"],
            ["▁", "▁"],
            ["▁▁", "▁▁"],
            ["b", "c"],
            ["1", "1"],
            ["11", "11"],
            ["Ġ", "a"],
            ["Ã", "©"],
            [" ", " "]
        ]);
        let models = [
            json!({"type": "BPE", "vocab": map, "merges": merges, "byte_fallback": true, "unk_token": "<unk>", "fuse_unk": true}),
            json!({"type": "BPE", "vocab": few, "merges": merges, "byte_fallback": false, "unk_token": "<unk>", "fuse_unk": true}),
            json!({"type": "BPE", "vocab": few, "merges": merges, "byte_fallback": false, "unk_token": null}),
            json!({"type": "BPE", "vocab": few, "merges": merges, "ignore_merges": true, "byte_fallback": true}),
            json!({"type": "Unigram", "vocab": scored, "unk_id": 0, "byte_fallback": true}),
            json!({"type": "Unigram", "vocab": scored[..27], "unk_id": 0, "byte_fallback": false}),
            json!({"type": "WordPiece", "vocab": few, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}),
            json!({"type": "WordLevel", "vocab": few, "unk_token": "[UNK]"}),
        ];
        let normalizers = [
            Value::Null,
            json!({"type": "NFKC"}),
            json!({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}),
            json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}),
            json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}),
            json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": true, "lowercase": true}),
            json!({"type": "Strip", "strip_left": true, "strip_right": true}),
        ];
        let pre_tokenizers = [
            Value::Null,
            json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}),
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}),
            json!({"type": "Whitespace"}),
            json!({"type": "BertPreTokenizer"}),
            json!({"type": "Digits", "individual_digits": true}),
        ];
        let mut documents = Vec::new();
        for model in &models {
            for normalizer in &normalizers {
                for pre_tokenizer in &pre_tokenizers {
                    documents.push(json!({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
                        "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": null, "decoder": null,
                        "model": model}));
                }
            }
        }
        documents
    }

    static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
        documents()
            .iter()
            .map(|document| Tokenizer::from_json(&document.to_string()).unwrap())
            .collect()
    });

    /// Checks that the lower bound never exceeds the number of tokens, wherever the text is cut.
    fn check(tokenizer: &Tokenizer, text: &str, parts: &[usize]) {
        let plain = tokenizer.untrusted_at(Place::Within);
        let Some(mut pieces) = VocabularyTrie::from_tokenizer(plain) else {
            assert_eq!(tokenizer.more_tokens_than(0, text), None);
            return;
        };
        let tokens = [Place::Beginning, Place::Within]
            .map(|place| tokenizer.encode_untrusted_at(text, place).unwrap().len());
        for &part in parts {
            pieces.part = part;
            for tokens in tokens {
                for most in [0, tokens / 2, tokens.saturating_sub(1), tokens] {
                    if let Some(least) = pieces.more_than(most, plain, text) {
                        assert!(
                            most < least && least <= tokens,
                            "{most} < {least} <= {tokens}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn no_text_is_said_to_have_more_tokens_than_it_has() {
        let texts: Vec<String> = [
            "a", "ab", "abab", " ", "  a", "1", "é", "e\u{301}", "\u{301}", "😀", "字", "zzz",
            "ab\n", "\u{200b}", "ａ", "word ",
        ]
        .iter()
        .map(|piece| piece.repeat(1_000 / piece.len()))
        .collect();
        assert_eq!(TOKENIZERS.len(), 336);
        for tokenizer in TOKENIZERS.iter() {
            for text in &texts {
                check(tokenizer, text, &[151, PART]);
            }
        }
    }

    #[test]
    fn long_text_is_known_to_be_long() {
        // The kinds in use: byte-level BPE, and SentencePiece's with byte fallback.
        for (model, normalizer, pre_tokenizer) in [(1, 0, 1), (0, 3, 0), (4, 0, 2)] {
            let tokenizer = &TOKENIZERS[(model * 7 + normalizer) * 6 + pre_tokenizer];
            for piece in ["abab", "ab ab", "1", " ", "a字"] {
                let text = piece.repeat(300_000 / piece.len());
                // The bound is not tight: not all pieces have merges, nor all letters a piece.
                let tokens = tokenizer.encode_untrusted(&text).unwrap().len();
                assert!(
                    tokenizer.more_tokens_than(tokens / 5, &text).is_some(),
                    "{model} {piece:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_with_any_tokenizer(
            pieces in prop::collection::vec(prop_oneof![
                prop::sample::select(vec!["a", "b", "ab", " ", "  ", "\n", "1", "é", "e\u{301}", "\u{301}", "😀", "字", "z", "ﬁ", "㍿", "\u{200b}", "가", "\u{1100}\u{1161}\u{11a8}"]).prop_map(str::to_owned),
                any::<char>().prop_map(String::from),
            ], 1..40),
            times in 1..100usize,
            part in 60..2_000usize,
            which in 0..336usize,
        ) {
            check(&TOKENIZERS[which], &pieces.concat().repeat(times), &[part]);
        }
    }
}

//! The vocabulary in a file's metadata as a `tokenizer.json`.
//!
//! Three kinds are known by `tokenizer.ggml.model`: `gpt2`, pairs of bytes merged in a given order
//! (<https://arxiv.org/abs/1508.07909>) after the text was split by a pattern that `tokenizer.ggml.pre` names, and `llama`,
//! `SentencePiece`'s, in which the score of a piece decides what is merged first; and `gemma4`, such pieces with their merges in order.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::metadata::Metadata;
use crate::checkpoint::{CheckpointError, Result};

/// Kinds of tokens in `tokenizer.ggml.token_type`.
const NORMAL: i64 = 1;
const UNKNOWN: i64 = 2;
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;
const BYTE: i64 = 6;

/// How `SentencePiece` writes a space.
const SPACE: &str = "\u{2581}";
/// Control tokens of Phi-3 behind which white space stays, as in llama.cpp and in the makers' `tokenizer.json`.
const KEEPS_SPACE: [&str; 3] = ["<unk>", "<s>", "<|endoftext|>"];

/// The longest piece, in bytes, for which merges are derived: `SentencePiece` makes none of more than a few dozen, and the
/// work grows with the square of the length.
const LONGEST_PIECE: usize = 256;

/// The most merges for each token. Files have up to 2.3 of them if they were made from a list of tokens, which gives every
/// way to make each. A merge takes up a hundred times its bytes in memory.
const MERGES_PER_TOKEN: usize = 4;

/// Pre-tokenizers of families whose prompts begin with a token, where a file does not say; with `SentencePiece` all do.
const BEGINNING: &str = "llama3 llama-v3 llama-bpe falcon3 pixtral tekken";

/// How text is split before pairs are merged.
const PRE_TOKENIZERS: &str = include_str!("pre_tokenizers.tsv");

/// The rows of a kind in that table, without their first column.
fn rows(kind: &str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = PRE_TOKENIZERS.lines().map(|line| line.split('\t'));
    rows.filter_map(move |mut row| (row.next()? == kind).then(|| row.collect()))
}

pub(super) struct Vocabulary {
    pub(super) tokenizer: String,
    /// `tokenizer_config.json`: the chat template, and the texts of tokens it may write.
    pub(super) tokenizer_config: String,
    /// Tokens that end a generation, as the file names them.
    pub(super) eos: Vec<usize>,
}

impl Vocabulary {
    pub(super) fn read(metadata: &Metadata) -> Result<Self> {
        let tokens = Tokens::read(metadata)?;
        let (mut parts, model) = match metadata.text("tokenizer.ggml.model")? {
            Some("gpt2") => byte_pairs(metadata, &tokens)?,
            Some("llama") => {
                let merges = merges_by_score(metadata, &tokens)?;
                sentence_pieces(metadata, &tokens, merges, true)?
            }
            Some("gemma4") => {
                let merges = merges(metadata, &tokens)?;
                sentence_pieces(metadata, &tokens, merges, false)?
            }
            Some(other) => {
                return metadata.fail(format!(
                    "tokenizer.ggml.model {other:?} is not supported, only \"gpt2\", \"llama\" and \"gemma4\""
                ));
            }
            None => return metadata.fail("no tokenizer.ggml.model in its metadata"),
        };
        let text_of = |key: &str| -> Result<Option<&str>> {
            let key = format!("tokenizer.ggml.{key}_token_id");
            match metadata.token(&key)? {
                None => Ok(None),
                Some(id) => match tokens.texts.get(id) {
                    Some(text) => Ok(Some(text.as_ref())),
                    None => metadata.fail(format!(
                        "{key} is {id}, but there are {} tokens",
                        tokens.texts.len()
                    )),
                },
            }
        };
        let mut eos = Vec::new();
        for key in ["eos", "eot", "eom"] {
            text_of(key)?;
            eos.extend(metadata.token(&format!("tokenizer.ggml.{key}_token_id"))?);
        }
        let mut seen = HashSet::new();
        eos.retain(|id| seen.insert(*id));
        let pre = metadata.text("tokenizer.ggml.pre")?.unwrap_or_default();
        let begins =
            parts["pre_tokenizer"].is_null() || BEGINNING.split(' ').any(|name| name == pre);
        let added = |key: &str, usual: bool| {
            let flag = metadata.flag(&format!("tokenizer.ggml.add_{key}_token"))?;
            let text = text_of(key)?.filter(|_| flag.unwrap_or(usual));
            Ok::<_, CheckpointError>(
                text.zip(metadata.token(&format!("tokenizer.ggml.{key}_token_id"))?),
            )
        };
        parts["post_processor"] = around(added("bos", begins)?, added("eos", false)?);
        let tokenizer = serde_json::to_string(&TokenizerFile { parts, model });
        let tokenizer = tokenizer.or_else(|error| metadata.fail(error.to_string()))?;
        let tokenizer_config = json!({
            "bos_token": text_of("bos")?,
            "eos_token": text_of("eos")?,
            "chat_template": metadata.text("tokenizer.chat_template")?,
        });
        Ok(Self {
            tokenizer,
            tokenizer_config: tokenizer_config.to_string(),
            eos,
        })
    }
}

/// A `tokenizer.json`, written from the file's own texts: a tree of copies would take up five times as much memory.
#[derive(Serialize)]
struct TokenizerFile<'a> {
    #[serde(flatten)]
    parts: Json,
    model: Model<'a>,
}

#[derive(Serialize)]
struct Model<'a> {
    r#type: &'static str,
    unk_token: Option<&'a str>,
    fuse_unk: bool,
    byte_fallback: bool,
    ignore_merges: bool,
    vocab: Entries<'a>,
    merges: Merges<'a>,
}

type Merge<'a> = (&'a str, &'a str);

struct Merges<'a>(Vec<Merge<'a>>);

impl Serialize for Merges<'_> {
    /// As lines, of which a reader's tree takes up a fifth of that of pairs; as pairs where a line would be read as something else.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_line = |(left, right): &Merge| {
            !left.contains(' ') && !right.contains(' ') && !left.starts_with("#version")
        };
        if self.0.iter().all(is_line) {
            let lines = self.0.iter().map(|(left, right)| format!("{left} {right}"));
            serializer.collect_seq(lines)
        } else {
            serializer.collect_seq(&self.0)
        }
    }
}

struct Entries<'a>(Vec<(&'a str, usize)>);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// What stands around a raw prompt, as a post-processor.
fn around(before: Option<(&str, usize)>, behind: Option<(&str, usize)>) -> Json {
    let special = |(text, _): (&str, _)| json!({"SpecialToken": {"id": text, "type_id": 0}});
    let text = [json!({"Sequence": {"id": "A", "type_id": 0}})];
    let parts: Json = before
        .map(special)
        .into_iter()
        .chain(text)
        .chain(behind.map(special))
        .collect();
    let tokens = before.into_iter().chain(behind);
    let tokens = tokens.map(|(text, id)| {
        (
            text.to_owned(),
            json!({"id": text, "ids": [id], "tokens": [text]}),
        )
    });
    let tokens: Map<String, Json> = tokens.collect();
    // Every processor has a form for pairs, which is not used here.
    json!({"type": "TemplateProcessing", "single": parts, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": tokens})
}

struct Tokens<'a> {
    texts: Vec<Cow<'a, str>>,
    kinds: Vec<i64>,
    /// They are `SentencePiece`'s.
    are_pieces: bool,
    /// White space behind a control token is part of it.
    takes_space: bool,
}

impl<'a> Tokens<'a> {
    fn read(metadata: &Metadata<'a>) -> Result<Self> {
        let Some(texts) = metadata.texts("tokenizer.ggml.tokens")? else {
            return metadata.fail("no tokenizer.ggml.tokens in its metadata");
        };
        let kinds = match metadata.integers("tokenizer.ggml.token_type")? {
            Some(kinds) if kinds.len() != texts.len() => {
                return metadata.fail(format!(
                    "{} tokens, but {} types of them (tokenizer.ggml.token_type)",
                    texts.len(),
                    kinds.len()
                ));
            }
            Some(kinds) => kinds,
            None => vec![NORMAL; texts.len()],
        };
        if let Some(kind) = kinds.iter().find(|kind| !(0..=BYTE).contains(*kind)) {
            return metadata.fail(format!(
                "tokenizer.ggml.token_type holds {kind}: only 0 to {BYTE} are known"
            ));
        }
        let mut seen = HashSet::with_capacity(texts.len());
        if let Some(twice) = texts
            .iter()
            .zip(&kinds)
            .find(|(text, kind)| **kind != UNUSED && !seen.insert(text.as_str()))
        {
            return metadata.fail(format!("tokenizer.ggml.tokens holds {:?} twice", twice.0));
        }
        let are_pieces = metadata.text("tokenizer.ggml.model")? != Some("gpt2");
        let texts = texts.iter().zip(&kinds).map(|(text, kind)| {
            // Files have the spaces of such tokens as a text has them (Gemma's runs of spaces).
            let piece = text.replace(' ', SPACE);
            if are_pieces && *kind == USER_DEFINED && !seen.contains(piece.as_str()) {
                return Cow::Owned(piece);
            }
            Cow::Borrowed(text.as_str())
        });
        Ok(Self {
            texts: texts.collect(),
            kinds,
            are_pieces,
            takes_space: are_pieces && metadata.text("general.architecture")? == Some("phi3"),
        })
    }

    /// Whether a token is an added one: found in texts as it stands, not merged from pieces.
    fn is_added(&self, id: usize) -> bool {
        matches!(self.kinds[id], UNKNOWN | CONTROL | USER_DEFINED)
    }

    fn added(&self) -> Json {
        let added = (0..self.texts.len())
            .filter(|id| self.is_added(*id))
            .map(|id| {
                let text = self.texts[id].as_ref();
                let takes_space = self.takes_space && !KEEPS_SPACE.contains(&text);
                json!({
                    "id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": takes_space,
                    "normalized": false, "special": self.kinds[id] != USER_DEFINED,
                })
            });
        Json::Array(added.collect())
    }

    /// The parts of a `tokenizer.json` and its model.
    fn document<'t>(
        &'t self,
        merges: Vec<Merge<'t>>,
        ignore_merges: bool,
        [normalizer, pre_tokenizer, decoder]: [Json; 3],
    ) -> (Json, Model<'t>) {
        let unknown = self.kinds.iter().position(|kind| *kind == UNKNOWN);
        let unknown = unknown.filter(|_| self.are_pieces);
        let parts = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": self.added(), "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": null, "decoder": decoder,
        });
        let model = Model {
            r#type: "BPE",
            unk_token: unknown.map(|id| self.texts[id].as_ref()),
            fuse_unk: self.are_pieces,
            byte_fallback: self.are_pieces,
            ignore_merges,
            vocab: self.vocabulary(),
            merges: Merges(merges),
        };
        (parts, model)
    }

    /// The table `vocab`. Added tokens with the highest ids get these from their order and are left out, as in the models'
    /// own files, so that no merge can make one of them. Added tokens between others must be in the table.
    fn vocabulary(&self) -> Entries<'_> {
        let plain = |id: usize| !self.is_added(id) && self.kinds[id] != UNUSED;
        let count = (0..self.texts.len()).filter(|id| plain(*id)).count();
        let used = (0..self.texts.len()).filter(|id| self.kinds[*id] != UNUSED);
        let in_order = used
            .clone()
            .enumerate()
            .all(|(place, id)| place == id && plain(id) == (id < count));
        let listed = used.filter(|id| plain(*id) || !in_order);
        Entries(listed.map(|id| (self.texts[id].as_ref(), id)).collect())
    }
}

/// The merges that a file lists, first those that come first.
fn merges<'a>(metadata: &Metadata<'a>, tokens: &Tokens) -> Result<Vec<Merge<'a>>> {
    let Some(merges) = metadata.texts("tokenizer.ggml.merges")? else {
        return metadata.fail("no tokenizer.ggml.merges in its metadata");
    };
    check_merges(metadata, merges.len(), tokens)?;
    let pair = |merge: &'a String| match merge.split_once(' ') {
        Some((left, right)) if !right.contains(' ') => Ok((left, right)),
        _ => metadata.fail(format!(
            "tokenizer.ggml.merges holds {merge:?}, which is no pair"
        )),
    };
    merges.iter().map(pair).collect()
}

fn byte_pairs<'a>(metadata: &Metadata<'a>, tokens: &'a Tokens) -> Result<(Json, Model<'a>)> {
    let Some(name) = metadata.text("tokenizer.ggml.pre")? else {
        return metadata.fail(
            "it does not say how its tokenizer splits text (tokenizer.ggml.pre): it was made by an old converter; make \
             or take a newer file",
        );
    };
    let Some(row) = rows("split").find(|row| row[0].split(' ').any(|known| known == name)) else {
        let known: Vec<String> = rows("split").map(|row| row[0].replace(' ', ", ")).collect();
        return metadata.fail(format!(
            "tokenizer.ggml.pre {name:?} is not supported; supported: {}",
            known.join(", ")
        ));
    };
    let (composes, ignores_merges) = (row[1] == "nfc", row[1] == "whole");
    // A pattern without a name stands in the row itself.
    let pattern = |name: &&'static str| {
        rows("pattern")
            .find(|row| row[0] == *name)
            .map_or(*name, |row| row[1])
    };
    let pairs = merges(metadata, tokens)?;
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false });
    let normalizer = json!(composes.then(|| json!({ "type": "NFC" })));
    let split = |name| json!({ "type": "Split", "pattern": { "Regex": pattern(name) }, "behavior": "Isolated", "invert": false });
    let splits = row[2..].iter().map(split);
    let splits: Json = splits.chain([byte_level.clone()]).collect();
    let splits = json!({ "type": "Sequence", "pretokenizers": splits });
    Ok(tokens.document(pairs, ignores_merges, [normalizer, splits, byte_level]))
}

/// `tokenizer.json` of `SentencePiece`'s vocabulary; `prefix` says whether a text begins with a space where the file does not.
fn sentence_pieces<'a>(
    metadata: &Metadata,
    tokens: &'a Tokens,
    merges: Vec<Merge<'a>>,
    prefix: bool,
) -> Result<(Json, Model<'a>)> {
    let given = metadata.flag("tokenizer.ggml.add_space_prefix")?;
    let prefix = given.unwrap_or(prefix);
    let mut normalizers = Vec::new();
    let mut decoders = vec![
        json!({ "type": "Replace", "pattern": { "String": SPACE }, "content": " " }),
        json!({ "type": "ByteFallback" }),
        json!({ "type": "Fuse" }),
    ];
    if prefix {
        normalizers.push(json!({ "type": "Prepend", "prepend": SPACE }));
        decoders.push(json!({ "type": "Strip", "content": " ", "start": 1, "stop": 0 }));
    }
    normalizers.push(json!({ "type": "Replace", "pattern": { "String": " " }, "content": SPACE }));
    let normalizer = json!({ "type": "Sequence", "normalizers": normalizers });
    let decoder = json!({ "type": "Sequence", "decoders": decoders });
    Ok(tokens.document(merges, false, [normalizer, Json::Null, decoder]))
}

fn check_merges(metadata: &Metadata, merges: usize, tokens: &Tokens) -> Result<()> {
    let count = tokens.texts.len();
    if merges <= MERGES_PER_TOKEN * count {
        return Ok(());
    }
    metadata.fail(format!(
        "{merges} or more merges for {count} tokens, more than {MERGES_PER_TOKEN} each: no vocabulary has so many"
    ))
}

/// All merges that make a piece from two others, first those of added tokens, which `SentencePiece` always takes whole, then those
/// of the piece with the highest score; for equal scores the longer left part, then the longer right part. Control tokens are no pieces.
fn merges_by_score<'a>(metadata: &Metadata, tokens: &'a Tokens) -> Result<Vec<Merge<'a>>> {
    let scores = match metadata.numbers("tokenizer.ggml.scores")? {
        Some(scores) if scores.len() == tokens.texts.len() => scores,
        _ => {
            return metadata
                .fail("tokenizer.ggml.scores is missing, or has not one score for each token");
        }
    };
    let mut listed = tokens.vocabulary().0;
    listed.retain(|(_, id)| matches!(tokens.kinds[*id], NORMAL | USER_DEFINED));
    let pieces: HashMap<&str, usize> = listed.iter().copied().collect();
    let mut merges = Vec::new();
    for (piece, id) in listed {
        if piece.len() > LONGEST_PIECE {
            continue;
        }
        let score = match tokens.kinds[id] {
            NORMAL => scores[id],
            _ => f64::INFINITY,
        };
        let from = merges.len();
        for (at, _) in piece.char_indices().skip(1) {
            let (left, right) = piece.split_at(at);
            if let (Some(first), Some(second)) = (pieces.get(left), pieces.get(right)) {
                merges.push((score, left, right, (*first, *second)));
            }
        }
        merges[from..].sort_by_key(|(.., ids)| *ids);
        check_merges(metadata, merges.len(), tokens)?;
    }
    let length = |text: &str| text.chars().count();
    merges.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| length(b.1).cmp(&length(a.1)))
            .then_with(|| length(b.2).cmp(&length(a.2)))
    });
    Ok(merges
        .into_iter()
        .map(|(_, left, right, _)| (left, right))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn every_split_has_a_flag_and_patterns() {
        let named: Vec<&str> = rows("pattern").map(|row| row[0]).collect();
        let is_name = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte))
        };
        for row in rows("split") {
            assert!(
                ["nfc", "whole", "-"].contains(&row[1]) && row.len() > 2,
                "{row:?}"
            );
            for pattern in row[2..].iter().filter(|pattern| is_name(pattern)) {
                assert!(named.contains(pattern), "{pattern}");
            }
        }
        assert!(rows("pattern").all(|row| row.len() == 2));
        assert_eq!(rows("split").count(), 13);
    }
}

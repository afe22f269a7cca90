//! Adapters of peft's: `LoRA` (<https://arxiv.org/abs/2106.09685>), whose products are added to a base model's weights when these are read, in f32.

use std::fmt;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use super::config::{Keys, is_nothing, short};
use super::gguf::Gguf;
use super::{CheckpointError, ModelSource, Result};
use juror_hub::layout::{ADAPTER_CONFIG, ADAPTER_WEIGHTS, WEIGHTS_FILE, WEIGHTS_INDEX, pickled_in};

/// What `init_lora_weights` may be beside true and false: beginnings that leave the base model as it is. Others change it, and
/// what is saved fits the changed one.
const INITIALISATIONS: [&str; 3] = ["gaussian", "eva", "orthogonal"];

/// Kinds of `LoRA` that compute something else than a sum with one product: the key, and what it is called.
const OTHER_KINDS: &str = include_str!("adapter_kinds.tsv");

/// Keys that change nothing of a merged model: which layers were adapted shows in the file, and the rest is about training.
const WITHOUT_EFFECT: &str = include_str!("adapter_keys_without_effect.txt");

#[derive(Debug)]
pub struct Adapter {
    source: ModelSource,
    base: Option<String>,
    revision: Option<String>,
    rank: f64,
    alpha: f64,
    /// Other ranks and alphas of layers whose names end in a match.
    ranks: Vec<(Regex, f64)>,
    alphas: Vec<(Regex, f64)>,
    /// Whether the scale is `alpha / √rank` (<https://arxiv.org/abs/2312.03732>), not `alpha / rank`.
    by_root: bool,
    /// Whether a table that was trained whole stays tied to the output head.
    pub(super) keeps_tie: bool,
    /// Ends of the names of modules that were trained whole, and are in the file.
    saved: Vec<String>,
}

impl Adapter {
    /// The adapter at a path: a folder, or its file of weights, if there is no whole model.
    pub fn at(path: &Path) -> Result<Option<Self>> {
        let folder = match path.file_name() {
            Some(name) if name == ADAPTER_WEIGHTS && path.is_file() => {
                path.parent().unwrap_or(Path::new(""))
            }
            _ => path,
        };
        let source = ModelSource::Folder(folder.into());
        let whole = source.has(WEIGHTS_FILE) || source.has(WEIGHTS_INDEX);
        if whole || !source.has(ADAPTER_CONFIG) || Gguf::find(folder)?.is_some() {
            return Ok(None);
        }
        Self::open(folder).map(Some)
    }

    /// Reads the description of an adapter in a folder.
    /// Errors: [`CheckpointError::Config`] naming what cannot be merged; [`CheckpointError::MissingFile`],
    /// [`CheckpointError::Weights`] for pickled weights.
    pub fn open(folder: &Path) -> Result<Self> {
        let source = ModelSource::Folder(folder.into());
        let path = source.describe(ADAPTER_CONFIG);
        let value = super::config::read(&source.read_text(ADAPTER_CONFIG)?, &path)?;
        let keys = Keys::new(&value, &path);
        if !source.has(ADAPTER_WEIGHTS) {
            return Err(match pickled_in(folder) {
                Some(file) => CheckpointError::Weights {
                    path: source.describe(&file),
                    message: "pickled weights, and reading a pickle runs whatever code is in it, so juror never opens one: load \
                              the adapter with peft and save it again, which writes Safetensors"
                        .into(),
                },
                None => CheckpointError::missing(folder, ADAPTER_WEIGHTS),
            });
        }
        let text = |key| keys.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = text("peft_type").unwrap_or_default();
        if kind != "LORA" {
            return keys.fail(format!(
                "an adapter of type {kind} is not merged, only LORA"
            ));
        }
        let used = |value: &Value| !is_nothing(value);
        let mut kinds = OTHER_KINDS.lines().filter_map(|line| line.split_once('\t'));
        if let Some((key, what)) = kinds.find(|(key, _)| keys.get(key).is_some_and(used)) {
            return keys.fail(format!(
                "{key} is set: this is {what}, which is not merged; merge it with peft and give the whole model to --model"
            ));
        }
        for key in "layer_replication trainable_token_indices target_parameters".split(' ') {
            if let Some(value) = keys.get(key).filter(|value| used(value)) {
                return keys.fail(format!("{key} {} is not merged", short(value)));
            }
        }
        match keys.get("init_lora_weights") {
            None | Some(Value::Bool(_)) => {}
            Some(Value::String(name)) if INITIALISATIONS.contains(&name.as_str()) => {}
            Some(other) => {
                return keys.fail(format!(
                    "init_lora_weights {} changes the base model too, which is not done here: save the adapter with peft's \
                     `path_initial_model_for_weight_conversion`, which makes a plain one of it",
                    short(other)
                ));
            }
        }
        for key in WITHOUT_EFFECT.lines() {
            keys.get(key);
        }
        let saved = match keys.get("modules_to_save").filter(|value| used(value)) {
            None => Vec::new(),
            Some(Value::Array(list)) => list
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Some(other) => {
                return keys.fail(format!(
                    "modules_to_save is {}, not a list of names",
                    short(other)
                ));
            }
        };
        let adapter = Self {
            base: text("base_model_name_or_path").filter(|base| !base.is_empty()),
            revision: text("revision"),
            rank: keys.positive("r", keys.get("r"))?,
            alpha: keys.positive("lora_alpha", keys.get("lora_alpha"))?,
            ranks: patterns(&keys, "rank_pattern")?,
            alphas: patterns(&keys, "alpha_pattern")?,
            by_root: keys.flag("use_rslora", false)?,
            keeps_tie: keys.flag("ensure_weight_tying", false)?,
            saved,
            source,
        };
        keys.all_asked_for()?;
        Ok(adapter)
    }

    /// The model that it was trained on, as its makers called it: a path, or an id on the hub with its revision.
    pub fn base(&self) -> Option<String> {
        let base = self.base.as_ref()?;
        Some(match &self.revision {
            Some(revision) if !base.contains('@') => format!("{base}@{revision}"),
            _ => base.clone(),
        })
    }

    pub fn folder(&self) -> &Path {
        match &self.source {
            ModelSource::Folder(folder) => folder,
            _ => Path::new(""),
        }
    }

    pub(super) fn source(&self) -> &ModelSource {
        &self.source
    }

    /// BLAKE3 over its files: its identity, as a run's manifest records it.
    pub fn hash(&self) -> Result<String> {
        let texts = "adapter_config.json tokenizer.json tokenizer_config.json chat_template.jinja judge.json";
        self.source.hash_of(texts, &[ADAPTER_WEIGHTS.to_owned()])
    }

    /// Whether a base model's tensor belongs to a module that was trained whole. As in peft a name may be the end of another.
    pub(super) fn saves(&self, tensor: &str) -> bool {
        let dots = tensor.match_indices('.').map(|(at, _)| &tensor[..at]);
        let mut modules = dots.flat_map(|module| self.saved.iter().map(move |end| (module, end)));
        modules.any(|(module, end)| module.ends_with(end.as_str()))
    }

    /// What the product of a layer's two matrices is multiplied with, and the rank that its description gives it.
    pub(super) fn scale(&self, layer: &str) -> (f64, f64) {
        let of = |patterns: &[(Regex, f64)], otherwise| {
            let own = patterns.iter().find(|(pattern, _)| pattern.is_match(layer));
            own.map_or(otherwise, |(_, value)| *value)
        };
        let (rank, alpha) = (of(&self.ranks, self.rank), of(&self.alphas, self.alpha));
        (alpha / if self.by_root { rank.sqrt() } else { rank }, rank)
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.folder().display())
    }
}

/// A table from parts of layers' names, which are regular expressions, to numbers.
fn patterns(keys: &Keys, key: &str) -> Result<Vec<(Regex, f64)>> {
    let table = keys
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    table
        .map(|(pattern, value)| {
            let value = keys.positive(&format!("{key}.{pattern}"), Some(value))?;
            match Regex::new(&format!(r"^(?:.*\.)?(?:{pattern})$")) {
                Ok(regex) => Ok((regex, value)),
                Err(_) => keys.fail(format!(
                    "{key}: {pattern} is no regular expression that is understood here"
                )),
            }
        })
        .collect()
}

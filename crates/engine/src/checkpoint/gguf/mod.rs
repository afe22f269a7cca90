//! Models in GGUF files, llama.cpp's format: weights, vocabulary, chat template and sizes, all in one.
//!
//! A file's metadata becomes the texts that a folder of the Hugging Face hub would hold (`config.json`, `tokenizer.json`,
//! `tokenizer_config.json`), and its tensors get the hub's names, so that everything after that is the same for both.

use juror_hub::layout::is_gguf;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::families::Family;
use super::tensors::MAX_TENSORS;
use crate::checkpoint::{CheckpointError, Result, unsuitable};

pub(crate) mod blocks;
mod config;
pub mod header;
mod metadata;
mod names;
mod vocabulary;

pub use header::StorageType;

use config::Factors;
use header::{Header, TensorInfo};
use metadata::Metadata;
use names::NamedTensor;
use vocabulary::Vocabulary;

/// The extension of a file's name.
pub(crate) const EXTENSION: &str = "gguf";
/// The most parts of a model.
const MAX_PARTS: usize = 1000;
/// The most divisors of rotary frequencies; there is one for each pair of a head's numbers.
const MAX_FACTORS: usize = 4096;

/// A model in a GGUF file, or in the parts of one.
pub struct Gguf {
    /// The file, or its first part.
    path: PathBuf,
    parts: Vec<PathBuf>,
    config: String,
    generation: String,
    vocabulary: Vocabulary,
    /// The tensors, each with the number of the file that holds it.
    tensors: Vec<(usize, NamedTensor)>,
}

impl Gguf {
    /// Reads a file's header, and those of its other parts where it is the first of several (`NAME-00001-of-00003.gguf`).
    /// Errors: [`CheckpointError::Weights`] for a damaged header, [`CheckpointError::Config`] for a model that is not supported, naming the
    /// key; [`CheckpointError::MissingFile`] for a part that is not there.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let first = read_header(path)?;
        let metadata = Metadata::new(&first.metadata, &shown);
        let parts = parts(path, &metadata)?;
        let mut places: BTreeMap<String, (usize, TensorInfo)> = BTreeMap::new();
        let mut tensors = BTreeMap::new();
        for (part, path) in parts.iter().enumerate() {
            let header = match part {
                0 => Header {
                    tensors: first.tensors.clone(),
                    ..Header::default()
                },
                _ => read_header(path)?,
            };
            for (name, info) in header.tensors {
                tensors.insert(name.clone(), info.clone());
                if places.insert(name.clone(), (part, info)).is_some() {
                    return damaged(path, format!("tensor {name} is in another part too"));
                }
            }
        }
        let factors = factors(&parts, &places)?;
        let family = config::family(&metadata, &tensors)?;
        let head_dim = config::head_dim(&metadata)?;
        let vocabulary = Vocabulary::read(&metadata)?;
        let config = config::config(family, &metadata, &tensors, &factors, &vocabulary.eos)?;
        let ahead = config::blocks_ahead(&metadata)?;
        let experts = experts(family, &metadata, &config, &tensors)?;
        let tensors = places
            .iter()
            .filter(|(name, _)| !names::FACTORS.contains(&name.as_str()))
            .filter(|(name, _)| !block(name).is_some_and(|block| ahead.contains(&block)))
            .flat_map(|(name, (part, info))| {
                let renamed = names::rename(family, head_dim, experts, name, info);
                renamed.into_iter().map(|renamed| (*part, renamed))
            })
            .collect();
        Ok(Self {
            path: path.into(),
            parts,
            config: config.to_string(),
            generation: generation(&metadata, &vocabulary.eos)?.to_string(),
            vocabulary,
            tensors,
        })
    }

    /// The one model in GGUF files that a folder holds, if it holds one; the first part if it is in parts.
    /// Errors: [`CheckpointError::Unsupported`] naming them if there are several.
    pub(crate) fn find(folder: &Path) -> Result<Option<PathBuf>> {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| is_gguf(path) && path.is_file())
            .filter(|path| part_of(path).is_none_or(|(_, part, _)| part == 1))
            .collect();
        files.sort();
        match files.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                    .collect();
                Err(CheckpointError::Unsupported(format!(
                    "{} holds {} models: give the path of one of {}",
                    folder.display(),
                    several.len(),
                    names.join(", ")
                )))
            }
        }
    }

    /// The file, or the first of its parts.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The text of a file that a folder of the hub would have, made from the metadata.
    pub(crate) fn text(&self, file: &str) -> Option<&str> {
        match file {
            "config.json" => Some(&self.config),
            "generation_config.json" => Some(&self.generation),
            "tokenizer.json" => Some(&self.vocabulary.tokenizer),
            "tokenizer_config.json" => Some(&self.vocabulary.tokenizer_config),
            _ => None,
        }
    }

    /// The names of its files, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        self.parts
            .iter()
            .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
    }

    pub(crate) fn file(&self, name: &str) -> Option<&Path> {
        let named = |path: &&PathBuf| path.file_name().is_some_and(|file| file == name);
        self.parts.iter().find(named).map(PathBuf::as_path)
    }

    /// Its tensors under the hub's names, each with the number of its file.
    pub(crate) fn tensors(&self) -> &[(usize, NamedTensor)] {
        &self.tensors
    }
}

impl fmt::Debug for Gguf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gguf").field(&self.path).finish()
    }
}

fn damaged<T>(path: &Path, message: String) -> Result<T> {
    Err(CheckpointError::Weights {
        path: path.display().to_string(),
        message,
    })
}

fn read_header(path: &Path) -> Result<Header> {
    let io = CheckpointError::reading(path.display().to_string());
    unsuitable::refuse_pointer(path)?;
    let file = File::open(path).map_err(&io)?;
    let length = file.metadata().map_err(&io)?.len();
    Header::read(BufReader::with_capacity(1 << 20, file), length)
        .or_else(|error| damaged(path, error.to_string()))
}

/// `NAME`, the part's number and the number of parts, for a file called `NAME-00001-of-00003.gguf`.
fn part_of(path: &Path) -> Option<(&str, usize, usize)> {
    let name = path.file_stem()?.to_str()?;
    let (name, count) = name.rsplit_once("-of-")?;
    let (name, part) = name.rsplit_once('-')?;
    (part.len() == 5 && count.len() == 5)
        .then(|| Some((name, part.parse().ok()?, count.parse().ok()?)))?
}

/// All files of a model whose first file has this metadata.
fn parts(path: &Path, metadata: &Metadata) -> Result<Vec<PathBuf>> {
    let count = metadata.optional_size("split.count")?.unwrap_or(1);
    if count == 1 {
        return Ok(vec![path.into()]);
    }
    let number = metadata.optional_size("split.no")?.unwrap_or(0) + 1;
    let first = match part_of(path) {
        Some((name, 1, said)) if said == count && number == 1 && count <= MAX_PARTS => name,
        Some(_) if number != 1 => {
            return metadata.fail(format!(
                "it is part {number} of {count}: give the path of the first part"
            ));
        }
        _ => {
            return metadata.fail(format!(
                "it is the first of {count} parts, but not called NAME-00001-of-{count:05}.gguf"
            ));
        }
    };
    (1..=count)
        .map(|part| {
            let file = format!("{first}-{part:05}-of-{count:05}.{EXTENSION}");
            let found = path.with_file_name(&file);
            if found.is_file() {
                return Ok(found);
            }
            let folder = path.parent().unwrap_or(Path::new("."));
            Err(CheckpointError::missing(folder, &file))
        })
        .collect()
}

fn block(name: &str) -> Option<usize> {
    let (block, _) = name.strip_prefix("blk.")?.split_once('.')?;
    block.parse().ok()
}

/// The number of experts in a layer; `None` without experts. Stacked experts are split into a tensor each, so their number is limited.
fn experts(
    family: &Family,
    metadata: &Metadata,
    config: &Json,
    tensors: &BTreeMap<String, TensorInfo>,
) -> Result<Option<usize>> {
    let keys = family.experts.map_or(&[][..], |experts| experts.count);
    let count = keys.iter().find_map(|key| config.get(key));
    let Some(count) = count.and_then(Json::as_u64).map(|count| count as usize) else {
        return Ok(None);
    };
    let stacked = tensors
        .iter()
        .filter(|(name, info)| names::is_stacked(family, name, info));
    let all = stacked.count().saturating_mul(count);
    if all > MAX_TENSORS {
        return metadata.fail(format!(
            "its layers hold {all} tensors of experts: no more than {MAX_TENSORS} are supported"
        ));
    }
    Ok(Some(count))
}

/// Reads the divisors of rotary frequencies.
fn factors(parts: &[PathBuf], places: &BTreeMap<String, (usize, TensorInfo)>) -> Result<Factors> {
    let mut factors = Factors::new();
    for name in names::FACTORS {
        let Some((part, info)) = places.get(name) else {
            continue;
        };
        let path = &parts[*part];
        let (1, StorageType::F32, count @ ..=MAX_FACTORS) =
            (info.shape.len(), info.kind, info.shape[0])
        else {
            return damaged(
                path,
                format!(
                    "{name} has the shape {:?} in {:?}, not that of up to {MAX_FACTORS} numbers in F32",
                    info.shape, info.kind
                ),
            );
        };
        let mut bytes = vec![0; 4 * count];
        let mut read = || -> std::io::Result<()> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(info.offset))?;
            file.read_exact(&mut bytes)
        };
        read().map_err(CheckpointError::reading(path.display().to_string()))?;
        let numbers: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes).into())
            .collect();
        if numbers.iter().any(|x| !(x.is_finite() && *x > 0.0)) {
            return damaged(
                path,
                format!("{name} holds a number that is not positive and finite"),
            );
        }
        factors.insert(name.into(), numbers);
    }
    Ok(factors)
}

/// `generation_config.json`: the tokens that end a generation, and how the makers sample if they say so.
fn generation(metadata: &Metadata, eos: &[usize]) -> Result<Json> {
    let mut generation = json!({ "eos_token_id": eos });
    if let Some(tokens) = metadata.integers("tokenizer.ggml.suppress_tokens")? {
        generation["suppress_tokens"] = tokens.into();
    }
    for (key, stored) in [
        ("repetition_penalty", "penalty_repeat"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
        ("min_p", "min_p"),
        ("temperature", "temp"),
    ] {
        if let Some(number) = metadata.number(&format!("general.sampling.{stored}"))? {
            // The file has the f32 that is closest to the number that the makers wrote.
            let written = (number as f32).to_string().parse().unwrap_or(number);
            generation[key] = written.into();
            // A file does not say do_sample: whoever says how to sample means it, unless at no temperature.
            if key != "repetition_penalty" {
                generation["do_sample"] = (key != "temperature" || number > 0.0).into();
            }
        }
    }
    Ok(generation)
}

#[cfg(test)]
mod tests {
    use super::header::MetadataValue;
    use super::*;

    #[test]
    fn makers_sampling_is_that_of_their_generation_config() {
        let read = |given: &[(&str, MetadataValue)]| {
            let key = |(key, value): &(&str, MetadataValue)| {
                (format!("general.sampling.{key}"), value.clone())
            };
            let values = given.iter().map(key).collect();
            generation(&Metadata::new(&values, "model.gguf"), &[7]).unwrap()
        };
        let float = |number: f32| MetadataValue::Float(number.into());
        for (given, expected) in [
            (vec![], json!({})),
            (
                vec![
                    ("temp", float(0.7)),
                    ("top_k", MetadataValue::Signed(0)),
                    ("min_p", float(0.05)),
                ],
                json!({"do_sample": true, "temperature": 0.7, "top_k": 0.0, "min_p": 0.05}),
            ),
            (
                vec![("temp", float(0.6)), ("top_k", MetadataValue::Signed(-1))],
                json!({"do_sample": true, "temperature": 0.6, "top_k": -1.0}),
            ),
            // Gemma 3's: a temperature of 1 is left out.
            (
                vec![("top_k", MetadataValue::Signed(64)), ("top_p", float(0.95))],
                json!({"do_sample": true, "top_k": 64.0, "top_p": 0.95}),
            ),
            (
                vec![("temp", float(0.0)), ("top_k", MetadataValue::Unsigned(20))],
                json!({"do_sample": false, "temperature": 0.0, "top_k": 20.0}),
            ),
            (
                vec![("penalty_repeat", float(1.05))],
                json!({"repetition_penalty": 1.05}),
            ),
        ] {
            let mut expected = expected;
            expected["eos_token_id"] = json!([7]);
            assert_eq!(read(&given), expected);
        }
    }
}

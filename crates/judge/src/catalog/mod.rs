//! Models by name: what `--model` takes.
//!
//! | file | what it is for |
//! |---|---|
//! | this one | a name as a model's files: built in, a folder, a GGUF file, an alias, or an id on the hub |
//! | `known_judges` | models that are known to judge, with their aliases (`models/known-judges.toml`) |
//! | [`shapes`] | models by name whose shape is known, for random weights |

pub mod known_judges;
pub mod shapes;

use std::path::Path;
use std::sync::Arc;

use juror_hub::layout::is_gguf;
use juror_hub::{Hub, Want, Watch};

use juror_engine::checkpoint::gguf::Gguf;
use juror_engine::checkpoint::{CheckpointError, EmbeddedModel, ModelSource};

/// Models compiled into the binary.
static EMBEDDED: [&EmbeddedModel; 1] = [&EmbeddedModel {
    name: "tiny",
    config: include_str!("../../models/tiny/config.json"),
    generation_config: include_str!("../../models/tiny/generation_config.json"),
    tokenizer: include_str!("../../models/tiny/tokenizer.json"),
    tokenizer_config: include_str!("../../models/tiny/tokenizer_config.json"),
    judge: include_str!("../../models/tiny/judge.json"),
    weights: include_bytes!("../../models/tiny/model.safetensors"),
}];

/// Models compiled into the binary.
pub fn embedded() -> &'static [&'static EmbeddedModel] {
    &EMBEDDED
}

/// Finds the model that `--model` names: an embedded model's name, a GGUF file, a folder, an alias of a known judge, or
/// an id on the hub, in this order. A model on the hub is fetched if the cache does not have it.
///
/// # Errors
/// [`CheckpointError::UnknownModel`], [`CheckpointError::Hub`], [`CheckpointError::MissingFile`] for a folder without a configuration,
/// or what reading a GGUF file's header gives.
pub fn resolve(name: &str) -> Result<ModelSource, CheckpointError> {
    resolve_watched(name, Want::Everything, &|_| {})
}

/// As [`resolve`], reporting the progress of a download to `watch`, and without the weights if they are not wanted.
///
/// # Errors
/// The same.
pub fn resolve_watched(
    name: &str,
    want: Want,
    watch: &Watch,
) -> Result<ModelSource, CheckpointError> {
    if let Some(model) = EMBEDDED.iter().find(|model| model.name == name) {
        return Ok(ModelSource::Embedded(model));
    }
    let place = Path::new(name);
    if place.is_file() || place.is_dir() {
        return ModelSource::at(place);
    }
    // A repository of such a name is written with its revision.
    let is_file = is_gguf(place) || name.ends_with(".safetensors");
    if is_file && name.matches('/').count() == 1 && !name.contains('@') {
        return Err(CheckpointError::UnknownModel { name: name.into() });
    }
    match known_judges::hub_id(name)? {
        Some(id) => {
            let snapshot = Hub::from_environment()?
                .fetch(&id, want, watch)
                .map_err(|error| CheckpointError::from(error).of_path(place))?;
            match snapshot.file {
                Some(file) => Ok(ModelSource::Gguf(Arc::new(Gguf::open(&file)?))),
                None => Ok(ModelSource::Folder(snapshot.folder)),
            }
        }
        None => Err(CheckpointError::UnknownModel { name: name.into() }),
    }
}

//! Models by name: what `--model` takes.

pub mod known_judges;
pub mod shapes;

use std::path::Path;
use std::sync::Arc;

use juror_hub::layout::is_gguf;
use juror_hub::{Hub, Snapshot, Want, Watch};

use juror_engine::checkpoint::gguf::Gguf;
use juror_engine::checkpoint::{Adapter, CheckpointError, EmbeddedModel, ModelSource, PackedFile};

macro_rules! text {
    ($file:literal) => {
        ($file, include_str!(concat!("../../models/tiny/", $file)))
    };
}

pub static EMBEDDED: [&EmbeddedModel; 1] = [&EmbeddedModel {
    name: "tiny",
    texts: &[
        text!("config.json"),
        text!("generation_config.json"),
        text!("tokenizer.json"),
        text!("tokenizer_config.json"),
        text!("judge.json"),
    ],
    weights: PackedFile {
        blocks: include_bytes!(concat!(env!("OUT_DIR"), "/blocks")),
        others: include_bytes!(concat!(env!("OUT_DIR"), "/others")),
    },
}];

/// Finds the model that `--model` names: an embedded model's name, a GGUF file, a folder, an alias of a known judge, or
/// an id on the hub, in this order. A model on the hub is fetched if the cache does not have it. A folder that is only an adapter
/// stands for the model that it was trained on, if that is in a folder or in the cache, with the adapter.
/// Errors: [`CheckpointError::UnknownModel`], [`CheckpointError::Hub`], [`CheckpointError::MissingFile`] for a folder without a configuration,
/// or what reading a GGUF file's header gives.
pub fn resolve(name: &str) -> Result<ModelSource, CheckpointError> {
    resolve_watched(name, Want::Everything, &|_| {})
}

/// As [`resolve`], reporting the progress of a download to `watch`, and without the weights if they are not wanted.
pub fn resolve_watched(
    name: &str,
    want: Want,
    watch: &Watch,
) -> Result<ModelSource, CheckpointError> {
    if let Some(model) = EMBEDDED.iter().find(|model| model.name == name) {
        return Ok(ModelSource::Embedded(model));
    }
    let place = Path::new(name);
    if let Some(adapter) = Adapter::at(place)? {
        return base_of(&adapter, want)?.with_adapter(adapter);
    }
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
            of_snapshot(snapshot)
        }
        None => Err(CheckpointError::UnknownModel { name: name.into() }),
    }
}

fn of_snapshot(snapshot: Snapshot) -> Result<ModelSource, CheckpointError> {
    match snapshot.file {
        Some(file) => Ok(ModelSource::Gguf(Arc::new(Gguf::open(&file)?))),
        None => Ok(ModelSource::Folder(snapshot.folder)),
    }
}

/// The model that an adapter was trained on, from where it is without a download: its description may name anything.
fn base_of(adapter: &Adapter, want: Want) -> Result<ModelSource, CheckpointError> {
    let named = adapter.base();
    let name = named.as_deref().unwrap_or_default();
    if let Some(model) = EMBEDDED.iter().find(|model| model.name == name) {
        return Ok(ModelSource::Embedded(model));
    }
    if Path::new(name).is_dir() {
        return ModelSource::at(Path::new(name));
    }
    let id = known_judges::hub_id(name).ok().flatten();
    if let Some(id) = &id
        && let Some(snapshot) = Hub::from_environment()?.in_cache(id, want)?
    {
        return of_snapshot(snapshot);
    }
    let what = match &named {
        None => "its adapter_config.json does not say of which model".to_owned(),
        Some(name) => format!(
            "it was trained on {name}, which is neither a folder here nor in the hub's cache"
        ),
    };
    let base = id.map_or_else(|| "BASE".to_owned(), |id| id.to_string());
    Err(CheckpointError::Unsupported(format!(
        "{adapter}: an adapter, not a whole model, and {what}: give both, as in `--model {base} --adapter {adapter}`"
    )))
}

#[cfg(test)]
mod tests {
    use super::EMBEDDED;

    #[test]
    fn the_packed_weights_are_those_of_the_file() {
        let (whole, packed) = (
            include_bytes!("../../models/tiny/model.safetensors"),
            &EMBEDDED[0].weights,
        );
        let length = whole.len();
        assert_eq!(packed.length(), length as u64);
        let mut read = vec![0; length];
        packed.read_at(0, &mut read).unwrap();
        assert!(read == whole);
        for (at, count) in [(0, 8), (1, 1), (127, 2), (15_001, 4_096), (length - 3, 3)] {
            packed.read_at(at as u64, &mut read[..count]).unwrap();
            assert_eq!(read[..count], whole[at..at + count], "{at}");
        }
        assert!(packed.read_at(length as u64 - 2, &mut [0; 3]).is_err());
    }
}

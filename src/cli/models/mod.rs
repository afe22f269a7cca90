//! `juror models`

mod show;

use std::io::{StdoutLock, Write};
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value;

use super::download::Download;
use super::{DONE, Failure, OrFail, counted, for_output, say, table};
use juror_engine::checkpoint::CheckpointError;
use juror_engine::checkpoint::{ModelConfig, ModelSource};
use juror_hub::layout::CONFIG_FILE;
use juror_hub::{CachedModel, Hub, Want, bytes};
use juror_judge::catalog::{self, known_judges};
use juror_judge::judge::JudgeFile;

#[derive(Debug, Subcommand)]
pub(super) enum ModelsAction {
    /// Name the models that need no download: built in, or in the cache
    List {
        /// The judges that are known to judge instead: where they are, and what they must be asked
        #[arg(long)]
        known: bool,
    },
    /// Fetch a model from the Hugging Face hub into the cache, and print where it is
    Pull {
        /// `org/name`, `org/name@revision` (a branch, tag or commit), `org/name/FILE.gguf`, or an alias of `juror models list --known`
        #[arg(value_parser = crate::cli::model_name::parse)]
        model: String,
    },
    /// Say what a model is: family, sizes, memory, chat template, what it should be asked
    Show {
        /// `tiny`, a folder, an id on the hub (its weights are not fetched), or an alias
        #[arg(default_value = "tiny", value_parser = crate::cli::model_name::parse)]
        model: String,
        /// Hash the weights too, however large they are
        #[arg(long)]
        hash: bool,
    },
}

pub(super) fn run(action: ModelsAction) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    match action {
        ModelsAction::List { known: false } => list(&mut out)?,
        ModelsAction::List { known: true } => list_known(&mut out)?,
        ModelsAction::Pull { model } => pull(&mut out, &model)?,
        ModelsAction::Show { model, hash } => show::show(&mut out, &model, hash)?,
    }
    Ok(DONE)
}

/// Models that need no download.
fn list(out: &mut StdoutLock) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for model in catalog::EMBEDDED {
        let source = ModelSource::Embedded(model);
        let config = ModelConfig::load(&source).or_fail()?;
        rows.push([
            model.name.to_owned(),
            "built in".into(),
            "–".into(),
            bytes(model.weights.length()),
            match JudgeFile::load(&source).or_fail()?.domain {
                Some(domain) => format!("{}: {}", what_it_is(&config), domain.description),
                None => what_it_is(&config),
            },
        ]);
    }
    let hub = Hub::from_environment()?;
    for model in hub.models()? {
        rows.push([
            model.id.clone(),
            if model.revisions.is_empty() {
                "–".into()
            } else {
                model.revisions.join(", ")
            },
            model.commit.chars().take(12).collect(),
            bytes(model.bytes),
            describe(&model),
        ]);
    }
    let header = ["model", "revision", "commit", "size", "family"];
    table::write(out, header, &rows)?;
    table::write_text(
        out,
        "Besides these --model takes a folder (config.json, tokenizer.json, tokenizer_config.json, *.safetensors), a GGUF \
         file, and ids on the Hugging Face hub (org/name); `juror models list --known` names judges there.",
    )
}

/// Family and size in a few words.
fn what_it_is(config: &ModelConfig) -> String {
    format!(
        "{:?}, {}",
        config.family,
        show::parameters(config.parameters())
    )
}

/// A cached model's family and size, or why it cannot be run.
fn describe(model: &CachedModel) -> String {
    if !model.missing.is_empty() {
        let missing = match model.missing.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        };
        return format!(
            "incomplete, without {missing}: juror models pull {}@{}",
            model.id, model.commit
        );
    }
    let found = ModelSource::in_folder(&model.folder);
    match found.as_ref().map(ModelConfig::load) {
        Ok(Ok(config)) => what_it_is(&config),
        Ok(Err(_)) => {
            let source = ModelSource::Folder(model.folder.clone());
            format!("{}, which juror cannot run", class_of(&source))
        }
        // Several GGUF files, or one that is damaged.
        Err(error) => error.to_string(),
    }
}

/// The architecture's name in a checkpoint's config.json.
fn class_of(source: &ModelSource) -> String {
    let config = source.read_text(CONFIG_FILE).ok();
    let config = config.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let class = config.as_ref().and_then(|config| {
        let class = config["architectures"][0].as_str();
        class.or_else(|| config["model_type"].as_str())
    });
    let class = class.unwrap_or("something unnamed").chars().take(60);
    let class: String = class.collect();
    class
}

fn list_known(out: &mut StdoutLock) -> Result<(), Failure> {
    let percent =
        |figure: Option<f64>| figure.map_or_else(|| "–".into(), |figure| format!("{figure:.2}"));
    let whole =
        |figure: Option<f64>| figure.map_or_else(|| "–".into(), |figure| format!("{figure:.1}"));
    let mut rows = Vec::new();
    for judge in known_judges::judges() {
        rows.push([
            judge.alias.clone(),
            judge.id.clone(),
            judge.base.clone(),
            judge.protocol.clone(),
            match (judge.total, judge.active) {
                (Some(total), Some(active)) => format!("{total:.1} ({active:.1} active)"),
                (_, active) => whole(active),
            },
            whole(judge.weights()),
            percent(judge.prime.map(|prime| prime.outcome)),
            percent(judge.prime.map(|prime| prime.overall)),
            percent(judge.prime.map(|prime| prime.f1)),
            percent(judge.prime.and_then(|prime| prime.lucky_guess)),
        ]);
    }
    let header = "alias|on the hub|base|protocol|billions|GB|outcome|overall|F1|lucky";
    table::write(out, header.split('|'), &rows)?;
    table::write_text(
        out,
        "Billions of parameters, and the memory that the weights take as they are published (half of it with --quantize q8_0, or fp8 on \
         a GPU; a quarter with q4k); keys and values come on top: `juror judge --dry-run` counts all. Figures are percent on PRIME (arXiv \
         2602.11570): outcome and overall accuracy, F1, lucky guesses recognised. \
         `juror models show ALIAS` has thinking, sampling and licence; `juror models pull ALIAS` fetches one.",
    )?;
    Ok(())
}

/// Fetches the files of a model that are not in the cache.
fn pull(out: &mut StdoutLock, model: &str) -> Result<(), Failure> {
    if catalog::EMBEDDED.iter().any(|one| one.name == model) {
        say(&format!("{model} is built in: there is nothing to fetch"));
        return Ok(());
    }
    let unknown = || CheckpointError::UnknownModel { name: model.into() };
    let id = known_judges::hub_id(model).and_then(|id| id.ok_or_else(unknown))?;
    let hub = Hub::from_environment()?;
    let progress = Download::new(&id.to_string());
    let pulled = hub.pull(&id, Want::Everything, &|event| progress.watch(event));
    progress.finish();
    let snapshot = pulled?;
    let size = files_of(&snapshot.folder);
    say(&format!(
        "{} at commit {}: {} in {}, {}",
        id,
        snapshot.commit,
        bytes(size.1),
        counted(size.0, "file"),
        if snapshot.fetched == 0 {
            "all of it there already".into()
        } else {
            format!("{} fetched now", bytes(snapshot.fetched))
        }
    ));
    let place = snapshot.file.unwrap_or(snapshot.folder);
    writeln!(out, "{}", for_output(&place.display().to_string())).or_fail()
}

/// How many files a folder has, and their bytes.
fn files_of(folder: &PathBuf) -> (usize, u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(|entry| std::fs::metadata(entry.ok()?.path()).ok())
        .filter(std::fs::Metadata::is_file)
        .fold((0, 0), |(count, bytes), data| {
            (count + 1, bytes + data.len())
        })
}

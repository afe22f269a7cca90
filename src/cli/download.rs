//! Finds the model that `--model` names, and shows how a download goes on.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Once;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use anyhow::anyhow;

use super::engine::AdapterArgument;
use super::{Failure, model_name, say};
use juror_engine::checkpoint::{Adapter, CheckpointError, ModelSource};
use juror_hub::{Event, Want};
use juror_judge::catalog::known_judges::judges;

/// The Jaro-Winkler similarity from which an alias is proposed for an unknown name.
const LIKE: f64 = 0.85;

/// A bar on standard error, if that is a terminal; else a line that says that something is being fetched.
pub(super) struct Download {
    name: String,
    bar: ProgressBar,
    begun: Once,
}

impl Download {
    pub(super) fn new(name: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{bytes}/{total_bytes} · {eta} left · {bytes_per_sec} {wide_bar:.cyan/dim}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            name: name.into(),
            bar,
            begun: Once::new(),
        }
    }

    pub(super) fn watch(&self, event: Event) {
        match event {
            Event::Expect { bytes, present } => {
                self.begun.call_once(|| {
                    if std::io::stderr().is_terminal() {
                        self.bar
                            .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
                    } else {
                        say(&format!("fetching {}", self.name));
                    }
                });
                self.bar.inc_length(bytes);
                self.bar.inc(present);
                // Bytes that were in the cache must not count for the speed.
                self.bar.reset_eta();
            }
            Event::Received(bytes) => self.bar.inc(bytes),
            Event::Discarded(bytes) => self.bar.dec(bytes),
            Event::Note(note) => self.bar.suspend(|| say(note)),
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Finds a model, fetching what is wanted of it.
pub(super) fn resolve(name: &str, want: Want) -> Result<ModelSource, Failure> {
    if let Some(advice) = model_name::only_an_api(name).filter(|_| !Path::new(name).exists()) {
        return Err(Failure::new(anyhow!(advice), true));
    }
    let download = Download::new(name);
    let source = juror_judge::catalog::resolve_watched(name, want, &|event| download.watch(event));
    download.finish();
    source.map_err(|error| match (&error, hint(name)) {
        (CheckpointError::UnknownModel { .. }, Some(hint)) => {
            Failure::new(anyhow!("no model `{name}`: {hint}"), true)
        }
        _ => error.into(),
    })
}

pub(super) fn resolve_adapted(
    name: &str,
    adapter: &AdapterArgument,
    want: Want,
) -> Result<ModelSource, Failure> {
    let source = resolve(name, want)?;
    let Some(folder) = &adapter.adapter else {
        return Ok(source);
    };
    let adapted = || match source.adapter() {
        Some(own) => Err(CheckpointError::Unsupported(format!(
            "--model {name} is an adapter itself, {own}: give the model that both were trained on, merged with the first"
        ))),
        None => source.clone().with_adapter(Adapter::open(folder)?),
    };
    Ok(adapted()?)
}

/// What a name that is no model's was probably meant to be.
fn hint(name: &str) -> Option<String> {
    let is_path = name.starts_with(['/', '.', '~']) || name.matches('/').count() > 1;
    if is_path {
        return Some("there is no such file or folder".to_owned());
    }
    let known = judges().iter();
    let aliases = known.map(|judge| judge.alias.as_str());
    let near = aliases.chain(["tiny"]).map(|alias| {
        let likeness = strsim::jaro_winkler(&name.to_lowercase(), &alias.to_lowercase());
        (likeness, alias)
    });
    let (likeness, alias) = near.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness > LIKE).then(|| {
        format!("did you mean `{alias}`? `juror models list --known` shows all aliases; an id on the hub is `org/name`")
    })
}

//! Finds the model that `--model` names, and shows how a download goes on.

use std::io::IsTerminal;
use std::sync::Once;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Failure, say};
use juror_engine::checkpoint::CheckpointError;
use juror_engine::checkpoint::ModelSource;
use juror_hub::{Event, Want};

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

    /// Shows an event of the download.
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

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Finds a model, fetching what is wanted of it.
pub(super) fn resolve(name: &str, want: Want) -> Result<ModelSource, Failure> {
    let download = Download::new(name);
    let source = juror_judge::catalog::resolve_watched(name, want, &|event| download.watch(event));
    download.finish();
    source.map_err(failure)
}

/// A checkpoint's error with its exit code.
pub(super) fn failure(error: CheckpointError) -> Failure {
    let usage = error.is_usage();
    Failure::new(error, usage)
}

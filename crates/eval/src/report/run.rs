//! What a run was, for the beginning of a page: one that is sent on says what it is.

use std::path::Path;
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use juror_data::journal::{begun, journal_path};

/// The judge's name, as its journal has it; `None` without one.
pub(crate) fn judge(verdicts: &Path) -> Option<String> {
    let run = begun(&journal_path(verdicts))?;
    Some(
        run.model
            .map_or_else(|| "rules".to_owned(), |model| model.name),
    )
}

/// What is known of the run that wrote a file of verdicts: what its journal says of model, protocol, rules, reward and version, and the date of the file.
pub(crate) fn words(verdicts: &Path) -> String {
    let journal = journal_path(verdicts);
    let mut words = Vec::new();
    let is_there = verdicts.exists();
    let path = if is_there { verdicts } else { &journal };
    let modified = path.metadata().and_then(|found| found.modified()).ok();
    if let Some(run) = begun(&journal) {
        let model = run.model.map_or_else(
            || "no model".to_owned(),
            |model| {
                let origin = run.model_origin.filter(|origin| *origin != model.name);
                let origin = origin.map_or_else(String::new, |origin| format!(" ({origin})"));
                format!("model {}{origin}", model.name)
            },
        );
        words.extend([
            model,
            format!("protocol {}", run.protocol.name),
            format!("rules {}", run.rules),
            format!("reward {}", run.reward),
        ]);
        if run.trials > 1 {
            words.push(format!("{} trials", run.trials));
        }
        words.push(format!("juror {}", run.juror));
    } else {
        words.push("its journal, which says how it was judged, is not beside it".to_owned());
    }
    words.extend(modified.map(date));
    words.join(" · ")
}

fn date(moment: SystemTime) -> String {
    DateTime::<Utc>::from(moment).format("%Y-%m-%d").to_string()
}

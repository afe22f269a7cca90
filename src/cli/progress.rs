//! A run's progress bar and summary.

use std::fmt::Write as _;
use std::time::Duration;

use console::style;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{say, say_labelled};
use crate::judge::{Share, Summary};
use crate::verdict::Status;

/// A bar on standard error, if that is a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar up to `all` verdicts.
    pub(super) fn new(all: usize, quiet: bool) -> Self {
        // indicatif draws nothing when standard error is no terminal.
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let bar = ProgressBar::with_draw_target(Some(all as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {bar:20.cyan/dim} {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.set_message("loading the model");
        bar.tick();
        Self { bar }
    }

    /// Shows how far the run is.
    pub(super) fn update(&self, summary: &Summary) {
        if summary.sizes.is_none() && summary.loaded > 0.0 {
            let loaded = format!("loading the model: {:.0} %", 100.0 * summary.loaded);
            self.bar.set_message(loaded);
            return;
        }
        let seconds = summary.elapsed.as_secs_f64().max(1e-9);
        let engine = &summary.engine;
        let judged = summary.verdicts() - summary.resumed;
        let rate = judged as f64 / seconds;
        let cached = percent(engine.cached_tokens as usize, engine.prompt_tokens as usize);
        let left = self
            .bar
            .length()
            .unwrap_or(0)
            .saturating_sub(summary.verdicts() as u64);
        let eta = if judged > 0 {
            format!(
                " · {} left",
                HumanDuration(Duration::from_secs_f64(left as f64 / rate))
            )
        } else {
            String::new()
        };
        self.bar.set_position(summary.verdicts() as u64);
        self.bar.set_message(format!(
            "{rate:.1} verdicts/s · {} tokens/s · cache {cached}{eta}",
            HumanCount((engine.computed_tokens as f64 / seconds) as u64),
        ));
    }

    /// Writes a line above the bar.
    pub(super) fn say(&self, line: &str) {
        self.bar.suspend(|| say(line));
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A share in percent; a dash where the whole is 0.
fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

/// The run in a table.
pub(super) fn print_summary(summary: &Summary) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let ok = summary.count(Status::Ok);
    let mut verdicts = format!("{} ({ok} ok", HumanCount(summary.verdicts() as u64));
    for (status, name) in [
        (Status::Unparsed, "unparsed"),
        (Status::TooLong, "too long"),
        (Status::OutOfDomain, "out of domain"),
        (Status::Unsure, "unsure"),
        (Status::Failed, "failed"),
    ] {
        let count = summary.count(status);
        if count > 0 {
            let _ = write!(verdicts, ", {count} {name}");
        }
    }
    verdicts.push(')');
    rows.push(("verdicts", verdicts));
    let judged = summary.process.known > 0;
    for (name, Share { count, known }) in [
        ("process", summary.process),
        ("outcome", summary.outcome),
        ("overall", summary.overall),
    ] {
        // Rules alone know the outcome, and the rest only where it follows from a wrong one.
        if judged || (name == "outcome" && known > 0) {
            rows.push((
                name,
                format!("{} true ({count} of {known})", percent(count, known)),
            ));
        }
    }
    if judged {
        rows.push((
            "lucky guesses",
            format!(
                "{} (right result, flawed derivation)",
                summary.lucky_guesses
            ),
        ));
    }
    let (rewarded, sum) = summary.rewards;
    rows.push((
        "mean reward",
        if rewarded == 0 || (!judged && rewarded < ok) {
            "– (the process is not known)".into()
        } else {
            format!("{:.3} over {rewarded}", sum / rewarded as f64)
        },
    ));
    let Share { count, known } = summary.agreement;
    if known > 0 {
        rows.push((
            "rules agree",
            format!(
                "{} on the outcome ({count} of {known})",
                percent(count, known)
            ),
        ));
    }
    if let Some(consensus) = &summary.consensus {
        let Share { count, known } = consensus.overall;
        let unanimous = consensus.unanimous;
        rows.push((
            "consensus",
            format!(
                "{} overall true ({count} of {known} samples with a majority), {} unanimous",
                percent(count, known),
                percent(unanimous.count, unanimous.known)
            ),
        ));
    }
    if summary.outcomes_by_rules > 0 {
        rows.push((
            "by the rules",
            format!(
                "{} outcomes that the judge did not give",
                summary.outcomes_by_rules
            ),
        ));
    }
    if summary.skipped > 0 {
        rows.push((
            "skipped",
            format!("{} that the rules found wrong", summary.skipped),
        ));
    }
    if summary.inconsistent > 0 {
        rows.push((
            "inconsistent",
            format!(
                "{} perfect without process and outcome",
                summary.inconsistent
            ),
        ));
    }
    let tokens = summary.tokens;
    if tokens.prompt_tokens > 0 {
        rows.push((
            "tokens",
            format!(
                "{} prompt ({} cached, {}), {} generated",
                HumanCount(tokens.prompt_tokens as u64),
                HumanCount(tokens.cached_tokens as u64),
                percent(tokens.cached_tokens, tokens.prompt_tokens),
                HumanCount(tokens.completion_tokens as u64)
            ),
        ));
    }
    if summary.engine.out_of_memory > 0 {
        rows.push((
            "memory",
            format!(
                "ran out {} times; the engine shrank to {} KV blocks and went on",
                summary.engine.out_of_memory, summary.engine.blocks
            ),
        ));
    }
    if summary.devices.len() > 1 {
        let devices: Vec<String> = summary
            .devices
            .iter()
            .map(|device| {
                format!(
                    "{} {} verdicts",
                    device.device,
                    HumanCount(device.verdicts as u64)
                )
            })
            .collect();
        rows.push(("devices", devices.join(", ")));
    }
    if summary.resumed > 0 {
        rows.push(("resumed", format!("{} were done before", summary.resumed)));
    }
    if let Some(rate) = summary.verdicts_per_second() {
        rows.push((
            "speed",
            format!(
                "{rate:.1} verdicts/s ({:.1} s)",
                summary.elapsed.as_secs_f64()
            ),
        ));
    }
    for (name, value) in rows {
        let name = format!("{name:>13} ");
        say_labelled(&style(name.as_str()).for_stderr().bold(), &value);
    }
}

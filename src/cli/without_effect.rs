//! Options that change nothing with others are refused, so that nobody believes that they did.
//!
//! `--seed` is always accepted: where nothing is left to chance, every seed gives what is asked for. `--trials` with `--rules
//! only` is too: it decides how many lines there are.

use std::path::PathBuf;

use anyhow::bail;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::chat::CHAT;
use super::endpoint::ENDPOINT;
use super::engine::{ENGINE, JUDGE};
use super::output::WRITTEN;
use super::sampling::SAMPLING;
use juror_data::output::OutputFormat;
use juror_judge::endpoint::is_address;
use juror_judge::judge::RulesMode;
use juror_rules::RulesProfile;

/// A subcommand's arguments as they were given.
pub(super) struct Given<'a> {
    pub(super) command: &'a Command,
    pub(super) matches: &'a ArgMatches,
}

impl<'a> Given<'a> {
    /// Those of the command that the line names, of all in `command`.
    pub(super) fn of(mut command: &'a Command, mut matches: &'a ArgMatches) -> Self {
        while let Some((name, further)) = matches.subcommand()
            && let Some(found) = command.find_subcommand(name)
        {
            (command, matches) = (found, further);
        }
        Self { command, matches }
    }

    /// Whether an argument is on the command line, which this command need not have.
    fn has(&self, id: &str) -> bool {
        self.matches.ids().any(|known| known == id)
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// The names of the options on the command line that are under one of these headings of the help, or are among `others`.
    fn all<'s>(&'s self, headings: &'s [&str], others: &'s str) -> impl Iterator<Item = &'s str> {
        let options = self.command.get_arguments().filter(|option| {
            let heading = option.get_help_heading();
            heading.is_some_and(|heading| headings.contains(&heading))
                || others.split(' ').any(|other| option.get_id() == other)
        });
        options
            .filter(|option| self.has(option.get_id().as_str()))
            .filter_map(|option| option.get_long())
    }

    /// Refuses the first of [`Self::all`] if they have no effect, and says where.
    fn refuse(
        &self,
        have_no_effect: bool,
        headings: &[&str],
        others: &str,
        because: &str,
    ) -> anyhow::Result<()> {
        match self.all(headings, others).next() {
            Some(name) if have_no_effect => bail!("--{name} changes nothing {because}"),
            _ => Ok(()),
        }
    }
}

/// Refuses the command line if an option on it has no effect.
pub(super) fn refuse(command: &Command, matches: &ArgMatches) -> anyhow::Result<()> {
    let name = matches.subcommand_name().unwrap_or_default();
    let given = Given::of(command, matches);
    outputs(&given)?;
    let model = given.matches.try_get_raw("model").ok().flatten();
    let is_built_in = model.is_none_or(|mut names| names.any(|name| name == "tiny"));
    given.refuse(
        name == "bench" || (!is_built_in && given.has("model")),
        &[],
        "no_kept_prefix",
        "here: only the built-in judge's template is kept, and not in a benchmark; leave it out",
    )?;
    given.refuse(
        matches!(name, "serve" | "attack"),
        &[],
        "price",
        "here: only the summary of `juror judge` says what was spent; leave it out",
    )?;
    let model = given.matches.try_get_one::<String>("model").ok().flatten();
    let is_elsewhere = given.has("endpoint") || model.is_some_and(|model| is_address(model));
    given.refuse(
        is_elsewhere,
        &[ENGINE],
        "device dtype quantize kv_dtype gpus",
        "where a server judges: the model runs there; leave it out",
    )?;
    match (name, given.command.get_name()) {
        ("judge", _) => judge(&given),
        ("serve", _) => without_model(&given).and_then(|()| rules(&given)),
        ("batch", "export") => export_batch(&given),
        ("batch", "import") => verdicts(&given),
        ("bench", _) => bench(&given),
        ("attack", _) => attack(&given),
        ("verify", _) => verify(&given),
        ("gsm8k", _) => gsm8k(&given),
        _ => Ok(()),
    }?;
    // Of several judges each may be elsewhere; answers in reasoning are those of rows too.
    let are_several = given.has("cascade") || given.has("panel");
    let mut of_servers = given.all(&[ENDPOINT], "");
    match of_servers.find(|name| *name != "answer-in-reasoning") {
        Some(name) if !is_elsewhere && !are_several => {
            bail!("--{name} is of a server that is asked: give its address with --endpoint too")
        }
        _ => Ok(()),
    }
}

fn outputs(given: &Given) -> anyhow::Result<()> {
    if given.has("force") && !WRITTEN.split(' ').any(|id| given.has(id)) {
        bail!(
            "--force changes nothing without an output: no file is written that could replace another; leave it out, or name one"
        );
    }
    let output = given.matches.try_get_one::<PathBuf>("output");
    let output = output.ok().flatten();
    let format = output.map(|out| OutputFormat::from_path(out));
    given.refuse(
        !matches!(format, Some(Ok(OutputFormat::Csv))),
        &[],
        "quote_formulas",
        "without -o OUT.csv: only spreadsheets read formulas; leave it out",
    )
}

/// Options of a model, where the rules judge alone.
fn without_model(given: &Given) -> anyhow::Result<()> {
    if given.matches.get_one("rules") == Some(&RulesMode::Only) {
        let others = "no_retry_failed raw min_confidence require_process calibration cache";
        let mut of_a_model = given.all(&[JUDGE, CHAT, ENGINE, ENDPOINT, SAMPLING], others);
        let option = of_a_model.find(|option| !matches!(*option, "seed" | "trials"));
        if let Some(option) = option {
            bail!(
                "--{option} changes nothing with --rules only, which asks no model: leave one of them out"
            );
        }
    }
    Ok(())
}

fn judge(given: &Given) -> anyhow::Result<()> {
    without_model(given)?;
    verdicts(given)?;
    given.refuse(
        given.has("dry_run"),
        &[],
        "restart summary_json consensus hard cache allow_open",
        "with --dry-run, which judges and writes nothing: leave it out",
    )
}

/// Options of verdicts, whoever gives them.
fn verdicts(given: &Given) -> anyhow::Result<()> {
    if given.has("restart") && !given.has("output") {
        bail!(
            "--restart changes nothing without -o: without an output there is no journal to throw away"
        );
    }
    rules(given)
}

fn rules(given: &Given) -> anyhow::Result<()> {
    given.refuse(
        given.matches.get_one("rules") == Some(&RulesMode::Off),
        &[],
        "rules_profile rules_config boxed_only",
        "with --rules off: leave one of them out",
    )?;
    if given.has("audit")
        && !given.has("cascade")
        && given.matches.get_one("rules") != Some(&RulesMode::First)
    {
        bail!(
            "--audit changes nothing without --rules first or --cascade: no sample is skipped; leave one of them out"
        );
    }
    if let Some(profile) = given.matches.get_one::<RulesProfile>("rules_profile")
        && (given.has("rules_config") || given.has("boxed_only"))
        && !matches!(profile, RulesProfile::Strict | RulesProfile::Compat)
    {
        bail!(
            "--rules-config and --boxed-only change nothing under --rules-profile {profile}, which has no settings: leave them out, or take \
             strict or compat"
        );
    }
    Ok(())
}

fn export_batch(given: &Given) -> anyhow::Result<()> {
    given.refuse(
        given.matches.get_one("rules") != Some(&RulesMode::First),
        &[],
        "rules_profile rules_config boxed_only",
        "without --rules first: all samples are exported, whatever the rules say; leave it out",
    )?;
    rules(given)
}

fn attack(given: &Given) -> anyhow::Result<()> {
    given.refuse(
        given.has("rows_out"),
        &[ENGINE, SAMPLING],
        "json free device dtype quantize kv_dtype",
        "with --rows-out, which judges nothing: leave it out",
    )
}

fn bench(given: &Given) -> anyhow::Result<()> {
    let of_texts = "protocol prompt few_shots rubric max_line_bytes";
    given.refuse(
        !given.has("inputs"),
        &[CHAT],
        of_texts,
        "without INPUT: made-up prompts are token ids and no text; name a file of rollouts, or leave it out",
    )
}

fn gsm8k(given: &Given) -> anyhow::Result<()> {
    given.refuse(
        given.has("solve"),
        &[],
        "columns preset",
        "with --solve, whose responses are in keys that are known: leave it out, or name those of --data with --data-columns",
    )?;
    given.refuse(
        !given.has("solve"),
        &[JUDGE, CHAT, ENGINE, SAMPLING],
        "config exemplars limit stop restart quiet allow_open",
        "without --solve: no model is asked; leave it out, or have the questions of --data answered with --solve",
    )?;
    if !given.has("data") && !given.has("platinum") && given.has("data_columns") {
        bail!("--data-columns changes nothing without --data or --platinum: leave it out");
    }
    Ok(())
}

fn verify(given: &Given) -> anyhow::Result<()> {
    let of_files = "max_line_bytes quiet allow_open";
    let because = "with --gold and --pred: leave it out";
    given.refuse(given.has("gold"), &[], of_files, because)?;
    let compat = given.matches.get_raw("profile");
    let compat = compat.and_then(|mut it| it.next());
    if given.has("decimal") && compat.is_some_and(|it| it == "compat") {
        bail!(
            "--decimal changes nothing under --profile compat, which reads numbers as Math-Verify does: leave it out"
        );
    }
    Ok(())
}

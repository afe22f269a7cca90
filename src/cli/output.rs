//! The files that commands write, as the user says it.

use std::any::TypeId;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, CommandFactory as _};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

use super::judge::shard_in_name;
use super::model_name::is_one_of;
use super::progress::counts;
use super::without_effect::Given;
use super::{Arguments, DONE, Failure, INCOMPLETE, OrFail, say};
use crate::cli::rows::INPUT;
use crate::cli::rules::VERDICT;
use juror_data::output::{Mark, OutputFile, OutputFormat, Outputs, has_place_beside};
use juror_data::{Shard, read_text, rejected_path};
use juror_judge::judge::Summary;
use juror_judge::judge::session::RunOutputs;

pub(in crate::cli) const RUN: &str = "Run";

// `--force`, of every command that writes files: with a doc comment it would be what `juror man` is said to do.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct ForceArgument {
    /// Replace files that no earlier run of this command wrote; inputs are never replaced
    #[arg(long)]
    pub(super) force: bool,
}

/// The files that a run writes.
#[derive(Debug, Clone, Args)]
pub(super) struct OutputArguments {
    /// Where the verdicts go; standard output, without a journal, if not given
    #[arg(short, long, value_name = "OUT.jsonl")]
    pub(super) output: Option<PathBuf>,
    /// Keys of each row that go into its verdict lines, under `input`; `all` for every key
    #[arg(long, value_name = "KEY", value_delimiter = ',', help_heading = INPUT)]
    pub(super) keep: Vec<String>,
    /// Set bad lines aside in OUT.rejected.jsonl instead of stopping before anything is judged
    #[arg(long, requires = "output", help_heading = INPUT)]
    pub(super) skip_bad: bool,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = RUN)]
    pub(super) restart: bool,
    #[command(flatten)]
    pub(super) force: ForceArgument,
    #[command(flatten)]
    pub(super) table: TableArguments,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub(super) summary_json: Option<PathBuf>,
    /// Write what the trials of each sample say together, one JSON line a sample: majorities, votes, mean reward
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub(super) consensus: Option<PathBuf>,
    /// Write the samples on which the trials disagree (0 < C < 1), as rows that can be judged again
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub(super) hard: Option<PathBuf>,
    /// Give each verdict an `advantage`: its reward less the mean of its question's, by their standard deviation
    #[arg(long, requires = "output", conflicts_with = "shard", help_heading = VERDICT)]
    pub(super) advantages: bool,
    #[command(flatten)]
    pub(super) end: EndArguments,
}

/// What is said of a run, and the exit code of one that leaves samples without a verdict.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct EndArguments {
    /// Print warnings and errors only, and one line where the exit code is 3 or 130
    #[arg(short, long, help_heading = RUN)]
    pub(super) quiet: bool,
    /// End with exit code 0, not 3, although some samples have no `ok` verdict, or lines an error
    #[arg(long, help_heading = RUN)]
    pub(super) allow_open: bool,
}

impl EndArguments {
    /// The exit code of a run that leaves something open or not, which `what` says.
    pub(super) fn code(self, is_open: bool, what: impl FnOnce() -> String) -> u8 {
        if !is_open || self.allow_open {
            return DONE;
        }
        if self.quiet {
            say(&format!("{}: exit code 3 (0 with --allow-open)", what()));
        }
        INCOMPLETE
    }

    /// The exit code of a run with these verdicts.
    pub(super) fn code_of(self, summary: &Summary) -> u8 {
        let told = || format!("verdicts {}", counts(summary));
        self.code(!summary.all_ok(), told)
    }
}

/// `--quote-formulas`, of commands that write tables.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct TableArguments {
    /// In CSV put a ' before texts that a spreadsheet would take for a formula: those that begin with =, +, - or @. Without it texts are
    /// written as they are
    #[arg(long)]
    pub(super) quote_formulas: bool,
}

/// Arguments with the name of a file or folder to be written.
pub(super) const WRITTEN: &str =
    "output summary_json consensus hard json rows_out html svg profile pages";

/// Arguments that are a model in a file or a folder, or a name.
const MODELS: &str = "model adapter cascade tokenizer protocol synthetic";

/// The keys of panels and protocols under which files are named.
const NAMING: &str = "model protocol options template schema grammar";

/// The files by which a folder is known as that of a model or an adapter.
const OF_MODEL: [&str; 2] = ["config.json", "adapter_config.json"];

#[derive(Default)]
struct Read {
    inputs: Vec<PathBuf>,
    /// Folders of models, which are not read as rows are: files may be written into them.
    models: Vec<PathBuf>,
}

impl Read {
    /// Adds a model or another file of a judge, if there is one of this name.
    fn add_model(&mut self, path: &Path) {
        if path.is_dir() {
            return self.models.push(path.to_owned());
        }
        let is_gguf = |path: &Path| path.extension().is_some_and(|ending| ending == "gguf");
        let folder = path.parent().filter(|_| path.is_file() && is_gguf(path));
        // Its further parts, and what its makers say of it as a judge.
        let beside = folder.and_then(|folder| folder.join(".").read_dir().ok());
        let beside = beside.into_iter().flatten().flatten().map(|one| one.path());
        let is_its = |path: &PathBuf| is_gguf(path) || path.ends_with("judge.json");
        self.inputs.extend(beside.filter(is_its));
        self.inputs.extend(path.is_file().then(|| path.to_owned()));
    }

    /// Adds what a panel's or a protocol's file names.
    fn add_named_in(&mut self, file: &Path) {
        let text = read_text(file).unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new(""));
        let table = toml::from_str(&text).ok();
        let mut values: Vec<(String, toml::Value)> = table
            .map(|table| (String::new(), toml::Value::Table(table)))
            .into_iter()
            .collect();
        while let Some((key, value)) = values.pop() {
            match value {
                toml::Value::Table(table) => values.extend(table),
                toml::Value::Array(list) => {
                    values.extend(list.into_iter().map(|one| (key.clone(), one)));
                }
                toml::Value::String(text) if is_one_of(NAMING, &key) => {
                    let path = text.rsplit_once('=').map_or(&*text, |(_, path)| path);
                    if path.is_empty() {
                        continue;
                    }
                    for path in [PathBuf::from(path), folder.join(path)] {
                        let holds = |name: &&str| path.join(name).is_file();
                        if path.is_file() || OF_MODEL.iter().any(holds) {
                            self.add_model(&path);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_path(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

/// All outputs of this command line, which may replace nothing that it reads.
pub(super) fn outputs(force: ForceArgument) -> Outputs {
    let Read { inputs, models } = read_by_command_line();
    Outputs::new(inputs, models, force.force)
}

/// The files and folders that this command line names and that are not written.
fn read_by_command_line() -> Read {
    let mut read = Read::default();
    let mut root = Arguments::command();
    let Ok(matches) = root.try_get_matches_from_mut(super::words()) else {
        return read;
    };
    let Given { command, matches } = Given::of(&root, &matches);
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        // A cache is neither written by the rule nor read as an input.
        let is_read = is_path(argument) && !is_one_of(WRITTEN, id) && id != "cache";
        let values = matches.try_get_raw(id).ok().flatten();
        for path in values.into_iter().flatten().map(PathBuf::from) {
            if is_one_of(MODELS, id) {
                read.add_model(&path);
            } else if is_read {
                read.inputs.push(path.clone());
            }
            if ["panel", "protocol"].contains(&id) && path.is_file() {
                read.add_named_in(&path);
            }
        }
    }
    read
}

impl OutputArguments {
    pub(super) fn resolve(&self, shard: Option<Shard>, trials: u32) -> Result<RunOutputs, Failure> {
        let out = self.output.clone().filter(|path| path.as_os_str() != "-");
        let out = out.map(|out| shard_in_name(out, shard));
        let out = out.transpose().or_usage()?;
        if self.skip_bad && !out.as_deref().is_some_and(has_place_beside) {
            bail_usage!(
                "--skip-bad sets bad lines aside in a file next to the output: name a file with `-o`"
            );
        }
        if let Some(out) = &out {
            OutputFormat::from_path(out).or_usage()?;
        }
        for (option, file) in [
            ("--summary-json", &self.summary_json),
            ("--consensus", &self.consensus),
            ("--hard", &self.hard),
        ] {
            if file.as_deref() == Some(Path::new("-")) {
                bail_usage!("{option} - : standard output is for verdicts; name a file");
            }
        }
        let mut files = outputs(self.force);
        let rejected = out.as_deref().filter(|_| self.skip_bad).map(rejected_path);
        let quotes = self.table.quote_formulas;
        let file = open(
            &mut files,
            out.as_ref(),
            Mark::Journal(out.clone().unwrap_or_default()),
        )?;
        let outputs = RunOutputs {
            verdicts: file.map(|file| file.quoting_formulas(quotes)),
            rejected: open(&mut files, rejected.as_ref(), Mark::REJECTED)?,
            summary: open(&mut files, self.summary_json.as_ref(), Mark::SUMMARY)?,
            consensus: open(&mut files, self.consensus.as_ref(), Mark::CONSENSUS)?,
            hard: open(&mut files, self.hard.as_ref(), Mark::HARD)?,
            advantages: self.advantages,
            restart: self.restart,
            keep_open: false,
        };
        for (option, given) in [
            ("--consensus", self.consensus.is_some()),
            ("--hard", self.hard.is_some()),
        ] {
            if given && trials < 2 {
                bail_usage!("{option} needs several trials of each sample: give --trials");
            }
        }
        Ok(outputs)
    }
}

pub(super) fn open(
    outputs: &mut Outputs,
    path: Option<&PathBuf>,
    mark: Mark,
) -> Result<Option<OutputFile>, Failure> {
    let opened = path.map(|path| outputs.open(path, mark));
    opened.transpose().or_usage()
}

/// Opens the file for JSON, unless it is asked for on standard output (`-`) or not at all.
pub(super) fn open_json(
    outputs: &mut Outputs,
    path: Option<&PathBuf>,
    mark: Mark,
) -> Result<Option<OutputFile>, Failure> {
    let path = path.filter(|path| path.as_os_str() != "-");
    open(outputs, path, mark)
}

/// Prints a text for people, and writes the JSON of the same if it is asked for: into its file, or on standard output, and then the
/// text goes to standard error.
pub(super) fn print_with_json(
    text: &str,
    json: Option<&impl Serialize>,
    file: Option<&OutputFile>,
) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    match (json, file) {
        (None, _) => out.write_all(text.as_bytes()).or_fail(),
        (Some(json), Some(file)) => {
            write_json(file, json)?;
            out.write_all(text.as_bytes()).or_fail()
        }
        (Some(json), None) => {
            text.lines().for_each(say);
            let json = serde_json::to_string_pretty(json).or_fail()?;
            writeln!(out, "{json}").or_fail()
        }
    }
}

/// Writes a value as JSON over several lines.
pub(super) fn write_json(file: &OutputFile, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).or_fail()?;
    file.write(|writer| writeln!(writer, "{text}")).or_fail()
}

pub(super) fn print_schema<T: JsonSchema>() -> Result<u8, Failure> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let schema = serde_json::to_string_pretty(&schema).or_fail()?;
    writeln!(std::io::stdout(), "{schema}").or_fail()?;
    Ok(DONE)
}

#[cfg(test)]
mod tests;

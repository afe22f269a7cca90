//! Where verdicts go, as the user says it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use super::judge::{check_side_files, shard_in_name};
use super::{Failure, OrFail};
use crate::dataset::output::{
    OutputFormat, check_place, check_replaceable, folder_of, has_place_beside,
};
use crate::dataset::{Shard, file_number, sources};

/// The files that a run writes.
#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct OutputArguments {
    /// Where the verdicts go; standard output, without a journal, if not given
    #[arg(short, long, value_name = "OUT.jsonl")]
    pub(super) output: Option<PathBuf>,
    /// Keys of each row that go into its verdict lines, under `input`; `all` for every key
    #[arg(
        long,
        value_name = "KEY",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub(super) keep: Vec<String>,
    /// Set bad lines aside in OUT.rejected.jsonl instead of stopping before anything is judged
    #[arg(long, requires = "output", help_heading = "Input")]
    pub(super) skip_bad: bool,
    /// Throw away what an earlier run with other settings left in the journal
    #[arg(long, help_heading = "Run")]
    pub(super) restart: bool,
    /// Replace OUT though it is not the output of an earlier run
    #[arg(long, requires = "output", help_heading = "Run")]
    pub(super) force: bool,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) summary_json: Option<PathBuf>,
    /// Write what the trials of each sample say together, one JSON line a sample: majorities, votes, mean reward
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) consensus: Option<PathBuf>,
    /// Write the samples on which the trials disagree (0 < C < 1), as rows that can be judged again
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) hard: Option<PathBuf>,
    /// Give each verdict an `advantage`: its reward less the mean of its question's, by their standard deviation
    #[arg(
        long,
        requires = "output",
        conflicts_with = "shard",
        help_heading = "Verdict"
    )]
    pub(super) advantages: bool,
    /// Print warnings and errors only
    #[arg(short, long, help_heading = "Run")]
    pub(super) quiet: bool,
}

impl OutputArguments {
    /// The output of a run that reads `inputs`, if it is a file, checked beside the other files.
    pub(super) fn resolve(
        &self,
        inputs: &[PathBuf],
        shard: Option<Shard>,
        trials: u32,
    ) -> Result<Option<PathBuf>, Failure> {
        let out = self.output.clone().filter(|path| path.as_os_str() != "-");
        let out = out.map(|out| shard_in_name(out, shard));
        let out = out.transpose().or_usage()?;
        if self.skip_bad && !out.as_deref().is_some_and(has_place_beside) {
            return Err(anyhow!(
                "--skip-bad sets bad lines aside beside the output: name a file with `-o`"
            ))
            .or_usage();
        }
        if let Some(out) = &out {
            OutputFormat::of(out).or_usage()?;
            // An input is refused as such.
            sources(inputs, Some(out)).or_usage()?;
            if !self.force {
                check_replaceable(out).or_usage()?;
            }
        }
        for (option, file) in [
            ("--summary-json", &self.summary_json),
            ("--consensus", &self.consensus),
            ("--hard", &self.hard),
        ] {
            if file.as_deref() == Some(Path::new("-")) {
                return Err(anyhow!(
                    "{option} - : standard output is for verdicts; name a file"
                ))
                .or_usage();
            }
        }
        let side_files = [&self.summary_json, &self.consensus, &self.hard];
        let side_files = side_files.map(|file| file.as_deref());
        check_side_files(inputs, out.as_deref(), &side_files).or_usage()?;
        for (option, given) in [
            ("--consensus", self.consensus.is_some()),
            ("--hard", self.hard.is_some()),
        ] {
            if given && trials < 2 {
                return Err(anyhow!(
                    "{option} needs several trials of each sample: give --trials"
                ))
                .or_usage();
            }
        }
        Ok(out)
    }
}

/// Refuses files that a command is to write where they cannot be written, are one of its inputs, or are named twice.
pub(super) fn check_outputs(
    outputs: &[Option<&PathBuf>],
    inputs: &[&PathBuf],
) -> Result<(), Failure> {
    let outputs: Vec<&PathBuf> = outputs.iter().copied().flatten().collect();
    for (at, output) in outputs.iter().enumerate() {
        check_place(output).or_usage()?;
        let is_in = |folder: &Path| {
            let both = std::fs::canonicalize(output)
                .ok()
                .zip(std::fs::canonicalize(folder).ok());
            folder.is_dir() && both.is_some_and(|(output, folder)| output.starts_with(folder))
        };
        if inputs
            .iter()
            .any(|input| is_same_file(input, output) || is_in(input))
        {
            return Err(anyhow!(
                "{} is an input, and would be replaced: name another file",
                output.display()
            ))
            .or_usage();
        }
        if outputs[..at]
            .iter()
            .any(|other| is_same_file(other, output))
        {
            return Err(anyhow!(
                "{} is named for two outputs: name another file for one of them",
                output.display()
            ))
            .or_usage();
        }
    }
    Ok(())
}

/// Are both names of one file, whether it is there or not?
fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let name = path.file_name()?;
        let found = std::fs::canonicalize(path);
        found
            .or_else(|_| {
                Ok::<_, std::io::Error>(std::fs::canonicalize(folder_of(path))?.join(name))
            })
            .ok()
    };
    let same_number = file_number(a).is_some_and(|number| file_number(b) == Some(number));
    same_number || place(a).is_some_and(|here| place(b) == Some(here))
}

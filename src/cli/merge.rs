//! `juror merge`

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;

use super::progress::print_summary;
use super::{DONE, Failure, INCOMPLETE, OrFail, say};
use crate::dataset::output::{OutputError, OutputFormat, check_place, write_atomically};
use crate::dataset::{MergeError, Shards};
use crate::judge::Summary;
use crate::judge::consensus::{ConsensusBuilder, ConsensusSummary};

/// Join the outputs of all shards of one input, in the order of the input.
#[derive(Debug, Args)]
pub(super) struct MergeArguments {
    /// The JSONL output of every shard, each with its journal beside it
    #[arg(value_name = "OUTPUT", required = true)]
    outputs: Vec<PathBuf>,
    /// Where all verdicts go: .jsonl, .csv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace OUT if it is there
    #[arg(long)]
    force: bool,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE")]
    summary_json: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(arguments: &MergeArguments) -> Result<u8, Failure> {
    let format = OutputFormat::of(&arguments.output).or_usage()?;
    let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let out = real(&arguments.output);
    if out.is_some() && arguments.outputs.iter().any(|path| real(path) == out) {
        let shown = arguments.output.display();
        return Err(anyhow!("{shown} is the output as well as an input")).or_usage();
    }
    let is_there = arguments
        .output
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() > 0);
    if is_there && !arguments.force {
        let path = arguments.output.clone();
        return Err(OutputError::Exists { path }).or_usage();
    }
    let shards = Shards::open(&arguments.outputs).or_usage()?;
    if let Some(path) = &arguments.summary_json {
        check_place(path).or_usage()?;
        let taken = arguments.outputs.iter().chain([&arguments.output]);
        if taken.into_iter().any(|other| other == path) {
            let shown = path.display();
            return Err(anyhow!("{shown} is given to two files: name another")).or_usage();
        }
    }
    let mut summary = Summary::default();
    let (mut builder, mut consensus) = (ConsensusBuilder::default(), ConsensusSummary::default());
    let mut failed: Option<MergeError> = None;
    let written = format.write(&arguments.output, shards.keep(), |writer| {
        let copied = shards.copy(writer, &mut |verdict| {
            summary.add(verdict);
            if let Some(sample) = builder.add(verdict) {
                consensus.add(&sample);
            }
        });
        copied.map_err(|error| {
            let message = error.to_string();
            failed = Some(error);
            std::io::Error::other(message)
        })
    });
    if let Some(error) = failed {
        return Err(error).or_usage();
    }
    written.or_fail()?;
    if shards.trials() > 1 {
        if let Some(sample) = builder.finish() {
            consensus.add(&sample);
        }
        summary.consensus = Some(consensus);
    }
    if let Some(path) = &arguments.summary_json {
        let text = format!("{:#}\n", summary.to_json());
        write_atomically(path, |writer| writer.write_all(text.as_bytes())).or_fail()?;
    }
    if !arguments.quiet {
        print_summary(&summary);
        say(&format!("verdicts in {}", arguments.output.display()));
    }
    Ok(if summary.all_ok() { DONE } else { INCOMPLETE })
}

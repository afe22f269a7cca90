//! `juror merge`

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::output::{self, EndArguments, ForceArgument, TableArguments};
use super::progress::print_summary;
use super::{Failure, OrFail, say};
use juror_data::output::{Mark, OutputFormat};
use juror_data::{MergeError, Shards};
use juror_judge::judge::Summary;
use juror_judge::judge::consensus::{ConsensusBuilder, ConsensusSummary};

/// Join the outputs of all shards of one input
#[derive(Debug, Args)]
pub(super) struct MergeArguments {
    /// The JSONL output of every shard, each with its journal next to it
    #[arg(value_name = "OUTPUT", required = true)]
    outputs: Vec<PathBuf>,
    /// Where all verdicts go: .jsonl, .csv or .parquet
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgument,
    #[command(flatten)]
    table: TableArguments,
    /// Write the summary as JSON too
    #[arg(long, value_name = "FILE")]
    summary_json: Option<PathBuf>,
    #[command(flatten)]
    end: EndArguments,
}

pub(super) fn run(arguments: &MergeArguments) -> Result<u8, Failure> {
    let format = OutputFormat::from_path(&arguments.output).or_usage()?;
    let mut outputs = output::outputs(arguments.force);
    let out = outputs.open(&arguments.output, Mark::Nothing);
    let file = out.or_usage()?;
    let file = file.quoting_formulas(arguments.table.quote_formulas);
    let path = arguments.summary_json.as_ref();
    let summary_json = output::open(&mut outputs, path, Mark::SUMMARY)?;
    let shards = Shards::open(&arguments.outputs).or_usage()?;
    let mut summary = Summary::default();
    let (mut builder, mut consensus) = (ConsensusBuilder::default(), ConsensusSummary::default());
    let written = format.write(&file, shards.keep(), |writer| {
        let copied = shards.copy(writer, &mut |verdict| {
            summary.add(verdict);
            if let Some(sample) = builder.add(verdict) {
                consensus.add(&sample);
            }
        });
        copied.map_err(io::Error::other)
    });
    written.map_err(|error| match error.own::<MergeError>() {
        Ok(error) => Failure::new(error, true),
        Err(error) => Failure::new(error, false),
    })?;
    if shards.trials() > 1 {
        if let Some(sample) = builder.finish() {
            consensus.add(&sample);
        }
        summary.consensus = Some(consensus);
    }
    if let Some(file) = &summary_json {
        output::write_json(file, &summary.to_json())?;
    }
    if !arguments.end.quiet {
        print_summary(&summary);
        say(&format!("verdicts in {}", arguments.output.display()));
    }
    Ok(arguments.end.code_of(&summary))
}

//! `juror view`

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::columns::{ColumnArguments, parse_label_columns};
use super::inputs::Inputs;
use super::{DONE, Failure, OrFail, catch_interrupts, say};
use juror_eval::browse::Browser;

/// Look through verdicts in the browser: search, filters, live while a run goes on
#[derive(Debug, Args)]
pub(super) struct ViewArguments {
    /// Verdicts of `juror judge`, of a run that goes on too: JSON lines, CSV or Parquet
    verdicts: PathBuf,
    /// Rows with labels, and as a rule with the samples' texts, found by the samples' ids
    #[arg(long, value_name = "DATA", num_args = 1..)]
    labels: Vec<PathBuf>,
    /// Rows with the samples' texts, where the labels have none [default: the labels' rows, or the verdicts' own kept keys]
    #[arg(long, value_name = "DATA", num_args = 1..)]
    rows: Vec<PathBuf>,
    /// Which key of a row holds what: `outcome`, `overall`, `process`, `subject`, `answer_type`; nothing after `=` reads none.
    /// `letters=inspect` or `letters=verifierbench`: whose letters labels are
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',')]
    label_columns: Vec<String>,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Port to listen at, at 127.0.0.1; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

pub(super) fn run(arguments: &ViewArguments) -> Result<u8, Failure> {
    let ViewArguments {
        verdicts,
        labels,
        rows,
        label_columns,
        columns,
        port,
    } = arguments;
    if labels.is_empty() && rows.is_empty() {
        columns.refuse("is of the rows of --labels or --rows, which are not given")?;
    }
    let labels = Inputs::fetch(labels)?.paths;
    let rows = Inputs::fetch(rows)?.paths;
    let columns = columns.map().or_usage()?;
    let label_columns = parse_label_columns(label_columns)?;
    let interrupted = catch_interrupts().or_fail()?;
    let (browser, progress) = Browser::open(verdicts, &rows, &labels, columns, label_columns)?;
    let mut tell = |address| {
        say("Ctrl-C ends it");
        print_address(address);
    };
    juror_eval::view::serve(browser, progress, *port, &interrupted, &mut tell).or_fail()?;
    Ok(DONE)
}

pub(super) fn print_address(address: SocketAddr) {
    let mut out = std::io::stdout();
    // Whoever started it may not read this.
    let _ = writeln!(out, "http://{address}/").and_then(|()| out.flush());
}

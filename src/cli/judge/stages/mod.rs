//! Runs of several stages: panels and cascades of judges, comparisons, and a judge that answers first. Each stage judges into an output of its own beside OUT,
//! with a journal; what comes of it all is in OUT.

mod cascade;
mod compare;
mod own_answer;
mod panel;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;

use super::arguments::JudgeArguments;
use crate::cli::inputs::has_stdin;
use crate::cli::progress::print_summary;
use crate::cli::several;
use crate::cli::{Failure, OrFail, output, say};
use juror_data::journal::journal_path;
use juror_data::output::{Mark, OutputError, OutputFile, OutputFormat, Outputs, has_place_beside};
use juror_data::verdict::Verdict;
use juror_data::{DatasetError, sources};
use juror_judge::judge::Summary;
use juror_judge::judge::cascade::Escalation;
use juror_judge::judge::together::Together;
use juror_judge::protocol::Protocol;

/// Where the verdicts of all judges together go.
struct Output {
    pub file: OutputFile,
    format: OutputFormat,
    summary: Option<OutputFile>,
    files: Outputs,
}

impl Output {
    /// The output of a run with `option`, whose first judge is called `first`.
    fn new(arguments: &JudgeArguments, option: &str, first: &str) -> anyhow::Result<Self> {
        let Some(path) = arguments
            .output
            .output
            .clone()
            .filter(|out| has_place_beside(out))
        else {
            bail!(
                "{option} writes each judge's verdicts next to those of all: name a file with `-o`"
            );
        };
        if has_stdin(&arguments.inputs) {
            bail!("{option} reads the input once for each judge: name a file, not standard input");
        }
        for (given, name) in [
            (arguments.dry_run, "--dry-run"),
            (arguments.output.consensus.is_some(), "--consensus"),
            (arguments.output.hard.is_some(), "--hard"),
            (arguments.output.advantages, "--advantages"),
            (arguments.rows.shard.is_some(), "--shard"),
        ] {
            if given {
                bail!("{name} is for one judge: give it without {option}");
            }
        }
        let format = OutputFormat::from_path(&path)?;
        let mut files = output::outputs(arguments.output.force);
        // An output of ours has its judges' journals beside it.
        let file = files.open(&path, Mark::Journal(beside(&path, first)))?;
        let file = file.quoting_formulas(arguments.output.table.quote_formulas);
        let summary = arguments.output.summary_json.as_deref();
        let summary = summary.map(|path| files.open(path, Mark::SUMMARY));
        let summary = summary.transpose()?;
        sources(&arguments.inputs, Some(&path))?;
        // In a folder of inputs the files of one run would be the rows of the next.
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
        for input in arguments.inputs.iter().filter(|input| input.is_dir()) {
            if folder.starts_with(fs::canonicalize(input)?) {
                bail!(
                    "{} lies in the folder {}, all of which is read: {option} writes several files there; name another place",
                    path.display(),
                    input.display()
                );
            }
        }
        Ok(Self {
            file,
            format,
            summary,
            files,
        })
    }

    /// The output of one judge, or another file beside this one.
    fn beside(&self, name: &str) -> PathBuf {
        beside(self.file.path(), name)
    }

    /// Writes one verdict for those of all judges on each trial, which are in these outputs. `keep`: the inputs' fields for each line; `differs`:
    /// what is wrong where a judge has no verdict on a trial.
    fn write_together(
        &self,
        together: &mut Together,
        asked: Option<&Escalation>,
        outputs: &[PathBuf],
        keep: &[String],
        differs: impl Fn(&Verdict) -> String,
    ) -> Result<Summary, Failure> {
        let mut summary = Summary::default();
        let fill = |writer: &mut dyn Write| {
            let of_each = outputs.iter().map(|path| verdicts(path));
            let of_each = of_each.collect::<io::Result<Vec<_>>>()?;
            let differs = |verdict: &Verdict| io::Error::other(differs(verdict));
            together.merge(asked, of_each, differs, |verdict| {
                summary.add(&verdict);
                serde_json::to_writer(&mut *writer, &verdict)?;
                writer.write_all(b"\n")
            })
        };
        self.format.write(&self.file, keep, fill).or_fail()?;
        Ok(summary)
    }

    /// Refuses the output of a judge that is somebody's, before another judge has judged for hours.
    fn check_judge(&mut self, name: &str) -> Result<(), Failure> {
        let path = self.beside(name);
        let checked = self.files.open(&path, Mark::Journal(path.clone()));
        checked.map(|_| ()).or_usage()
    }

    /// Opens rows that a later judge is asked about; they are ours if that judge has a journal.
    fn rows(&mut self, name: &str, judge: &Path) -> Result<OutputFile, Failure> {
        let path = self.beside(name);
        let mark = Mark::Journal(judge.to_owned());
        self.files.open(&path, mark).or_usage()
    }
}

fn beside(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{name}.jsonl"))
}

/// Runs comparisons, a panel or a cascade, if one is asked for.
pub(super) fn run(arguments: &JudgeArguments) -> Option<Result<u8, Failure>> {
    let result = if arguments.rank {
        compare::run(arguments)
    } else if arguments.own_answer {
        own_answer::run(arguments)
    } else if let Some(file) = &arguments.several.panel {
        panel::run(arguments, file)
    } else {
        let cascade = arguments.several.cascade(&arguments.verdict);
        match cascade.or_usage() {
            Ok(None) => return None,
            Ok(Some(choice)) => cascade::run(arguments, &choice),
            Err(why) => Err(why),
        }
    };
    Some(result)
}

/// Makes a run one on all rows of a file that juror has written: a line of it may be longer than that which it is of.
fn read_own_rows(line: &mut JudgeArguments, rows: &Path) {
    line.inputs = vec![rows.to_owned()];
    line.columns = line.columns.of_own_rows();
    line.rows.max_line_bytes = u32::MAX;
    line.rows.limit = None;
}

/// Whether the run that writes `out` has begun to judge.
fn has_begun(out: &Path) -> bool {
    journal_path(out)
        .metadata()
        .is_ok_and(|journal| journal.len() > 0)
}

/// Finds out whether there is such a judge, before another one has judged for hours.
fn check(line: &JudgeArguments) -> Result<Arc<Protocol>, Failure> {
    several::check(&line.judge, &line.endpoint, &line.sampling)
}

/// What kept a file of rows from being written: samples that could not be read again, or the file itself.
fn without_file(error: OutputError) -> anyhow::Error {
    error
        .own::<DatasetError>()
        .map_or_else(anyhow::Error::from, anyhow::Error::from)
}

/// The verdicts of an output, in its order.
fn verdicts(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Verdict>> + use<>> {
    let lines = BufReader::new(File::open(path)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

fn say_summary(
    arguments: &JudgeArguments,
    output: &Output,
    summary: &Summary,
    rows: &[String],
) -> Result<u8, Failure> {
    if let Some(file) = &output.summary {
        output::write_json(file, &summary.to_json())?;
    }
    if !arguments.output.end.quiet {
        print_summary(summary);
        for row in rows {
            say(row);
        }
        say(&format!("verdicts in {}", output.file.path().display()));
    }
    Ok(arguments.output.end.code_of(summary))
}

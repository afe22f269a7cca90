//! `juror gsm8k`

mod print;
mod solve;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use serde_json::json;

use super::batch::run as run_batch;
use super::columns::{ColumnArguments, parse_label_columns};
use super::inputs::Inputs;
use super::output::{self, ForceArgument};
use super::{DONE, Failure, OrFail, say};
use juror_data::output::Mark;
use juror_data::{ColumnMap, LineLimit, LoadOptions};
use juror_eval::eval::{Samples, both_sides};
use juror_eval::gsm8k::against::Against;
use juror_eval::gsm8k::method::Method;
use juror_eval::gsm8k::report::{Made, Report};
use juror_eval::gsm8k::responses::{LabelSets, Responses, SET_NAMES};
use juror_eval::gsm8k::test_set::TestSet;

/// Heading of what responses are scored against.
const SCORING: &str = "Scoring";

/// Score responses to GSM8K by named extraction methods, or have a local model solve it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Gsm8kArguments {
    /// Responses: rows with a question and one or several responses, in any form that `juror judge` reads
    #[arg(conflicts_with = "solve", required_unless_present_any = ["solve", "json_schema"])]
    responses: Vec<PathBuf>,
    #[command(flatten)]
    columns: ColumnArguments,

    /// Questions with their answers (`… #### 42`), found by the question's text: a file, a folder, or a data set on the Hugging Face hub
    /// (`openai/gsm8k:main:test`) [default: the responses' own references]
    #[arg(long, value_name = "DATA", help_heading = SCORING)]
    data: Option<PathBuf>,
    /// Audited labels to score against as well: questions that are not there are left out, others have their answers from there
    #[arg(long, value_name = "DATA", help_heading = SCORING)]
    platinum: Option<PathBuf>,
    /// Which key of --data and --platinum holds what: question=…, reference=…
    #[arg(
        long,
        value_name = "FIELD=KEY",
        value_delimiter = ',',
        help_heading = SCORING
    )]
    data_columns: Vec<String>,
    /// How the responses were made, for the report: model, shots, shots-source, prompt-format or decoding. May be given several times
    #[arg(long, value_name = "KEY=TEXT", conflicts_with = "solve", help_heading = SCORING)]
    state: Vec<String>,
    /// A judge's verdicts on the responses (`juror judge`), to compare the methods with
    #[arg(long, value_name = "VERDICTS", help_heading = SCORING)]
    verdicts: Option<PathBuf>,
    /// Rows with labels of the responses' outcomes, found by id [default: the responses' own keys]
    #[arg(long, value_name = "DATA", num_args = 1.., requires = "verdicts", help_heading = SCORING)]
    labels: Vec<PathBuf>,
    /// Which key of a row holds its label, as in `outcome=is_right`
    #[arg(long, value_name = "FIELD=KEY", value_delimiter = ',', requires = "verdicts", help_heading = SCORING)]
    label_columns: Vec<String>,
    /// Everything as JSON
    #[arg(long, value_name = "FILE", help_heading = SCORING)]
    json: Option<PathBuf>,
    /// Print the JSON schema of what `--json` writes, and nothing else
    #[arg(long, exclusive = true, help_heading = SCORING)]
    json_schema: bool,
    /// What each method found in each response, as JSON lines
    #[arg(long, value_name = "FILE", help_heading = SCORING)]
    rows_out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,

    #[command(flatten)]
    solve: solve::SolveArguments,
}

const AFTER_HELP: &str = "\
Methods:
  official          the first `#### n`, compared as text
  strict-match      that of lm-evaluation-harness: the first `#### n`
  flexible-extract  that of lm-evaluation-harness: the last number
  multi             #### n, \\boxed{…}, \"the answer is n\", \"answer: n\", the last number: the last of the first kind there is
  rules             the strict rules of `juror verify`

Of several responses to a question (a list in a row, or rows with the same question) pass@k is the unbiased estimator over all of
them, and maj@k the vote of the first k: responses without an answer do not vote, and of answers with as many votes the one
given first counts.

Exit codes:
  0    done
  1    failed
  2    wrong usage, or input that cannot be read
  3    done, but some questions could not be asked (--solve)
  130  interrupted (--solve); the same command goes on where it stopped";

pub(super) fn run(mut arguments: Gsm8kArguments) -> Result<u8, Failure> {
    if arguments.json_schema {
        return output::print_schema::<Report>();
    }
    let mut outputs = output::outputs(arguments.force);
    let json = output::open(&mut outputs, arguments.json.as_ref(), Mark::GSM8K)?;
    let rows_out = arguments.rows_out.as_ref();
    let rows_out = output::open(&mut outputs, rows_out, Mark::GSM8K_ROWS)?;
    let solved = arguments.solve.output.as_ref();
    let solved = solved.map(|out| run_batch::answers_file(&mut outputs, out));
    let solved = solved.transpose()?;
    let label_columns = parse_label_columns(&arguments.label_columns)?;
    let mut stated = Made::default();
    for text in &arguments.state {
        stated
            .state(text)
            .map_err(|why| anyhow!("--state: {why}"))
            .or_usage()?;
    }
    let labels = LabelSets {
        original: arguments.test_set(arguments.data.as_ref())?,
        audited: arguments.test_set(arguments.platinum.as_ref())?,
    };
    let mut code = DONE;
    if arguments.solve.solve {
        let set = labels.original.as_ref();
        let set = set.ok_or_else(|| anyhow!("--solve needs the questions: --data test.jsonl"));
        let (solved, output) = solve::run(&arguments.solve, solved, set.or_usage()?)?;
        if let Some(output) = output {
            arguments.responses.push(output);
            arguments.columns =
                ColumnArguments::of_plain_rows("reference=reference", "response=responses");
        } else {
            return Ok(solved);
        }
        code = solved;
    }
    arguments.responses = Inputs::fetch(&arguments.responses)?.paths;
    let options = LoadOptions {
        columns: arguments.columns.map().or_usage()?,
        max_line: LineLimit::DEFAULT,
        ..LoadOptions::default()
    };
    let responses = Responses::read(&arguments.responses, options.clone(), &labels)?;
    if !arguments.solve.solve {
        say(&format!("columns: {}", responses.columns));
    }
    let files = arguments.responses.iter();
    let files = files.map(|file| file.display().to_string()).collect();
    let mut report = Report::new(files, &responses, &labels, &stated);
    if let Some(verdicts) = &arguments.verdicts {
        let read = |inputs: &[PathBuf], options| Samples::of_data(inputs, options, &label_columns);
        let mut samples = read(&arguments.responses, options.clone())?;
        let labels = if arguments.labels.is_empty() {
            None
        } else {
            let labels = Inputs::fetch(&arguments.labels)?.paths;
            let own: HashSet<&str> = samples.first_ids().collect();
            let mut found = read(&labels, LoadOptions::default())?;
            // They have the columns of the responses, where plain ones do not meet these.
            if !arguments.solve.solve && !found.labelled_ids().any(|id| own.contains(id)) {
                found = read(&labels, options)?;
            }
            Some(found)
        };
        let labels = labels.as_ref();
        let against = Against::new(verdicts, &responses, &mut samples, labels, &label_columns)?;
        if let Some(labels) = labels.filter(|_| against.labelled == 0) {
            let ids = both_sides(samples.first_ids(), labels.labelled_ids());
            bail_usage!(
                "--labels has no label of a compared response's outcome: they meet by id, with plain columns or the same `--columns` ({ids})"
            );
        }
        report.judge = Some(against);
    }
    print::notes(&report);
    print::report(&report)?;
    if let Some(file) = &json {
        output::write_json(file, &report)?;
    }
    if let Some(file) = &rows_out {
        file.write(|writer| write_rows(writer, &responses))
            .or_fail()?;
    }
    Ok(code)
}

impl Gsm8kArguments {
    /// The test set in a file or folder, or a data set of the hub.
    fn test_set(&self, path: Option<&PathBuf>) -> Result<Option<TestSet>, Failure> {
        let Some(path) = path else {
            return Ok(None);
        };
        let inputs = Inputs::fetch(std::slice::from_ref(path))?;
        let columns = ColumnMap::parse(&self.data_columns).or_usage()?;
        let name = inputs.origins.first().cloned();
        let name = name.unwrap_or_else(|| path.display().to_string());
        let set = TestSet::read(&name, &inputs.paths, columns)?;
        Ok(Some(set))
    }
}

/// A line for each response: what each method found in it, and whether that is right.
fn write_rows(writer: &mut dyn Write, responses: &Responses) -> std::io::Result<()> {
    for question in &responses.questions {
        let references = SET_NAMES.into_iter().zip(&question.references);
        let references: serde_json::Map<_, _> = references
            .filter_map(|(name, set)| Some((name.to_owned(), json!(set.as_ref()?))))
            .collect();
        for (place, response) in question.responses.iter().enumerate() {
            let methods = Method::ALL.into_iter().zip(&response.readings);
            let methods: serde_json::Map<_, _> = methods
                .map(|(method, reading)| {
                    let mut found = json!({"extracted": reading.extracted});
                    for (name, right) in SET_NAMES.into_iter().zip(reading.right) {
                        if let Some(right) = right {
                            found[name] = json!(right);
                        }
                    }
                    (method.name().to_owned(), found)
                })
                .collect();
            let row = json!({
                "id": response.id,
                "question": question.question,
                "response": place,
                "references": references,
                "methods": methods,
            });
            writeln!(writer, "{row}")?;
        }
    }
    Ok(())
}

//! `juror attack`

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::ArgPredicate;
use serde_json::{Value, json};

use super::chat::ChatArguments;
use super::columns::ColumnArguments;
use super::endpoint::EndpointArguments;
use super::engine::{AdapterArgument, EngineArguments, JUDGE, ModelArguments};
use super::inputs::Inputs;
use super::judge::JudgeChoice;
use super::output::{self, EndArguments, ForceArgument};
use super::progress::Progress;
use super::prompt_choice::PromptChoice;
use super::rows::one_of;
use super::{DONE, EXIT_CODES, Failure, INTERRUPTED, OrFail, catch_interrupts, say, table};
use crate::cli::rows::INPUT;
use juror_data::output::{Mark, OutputFile};
use juror_data::{Field, LineLimit, LoadOptions, Sample, load};
use juror_eval::report::numbers::{DASH, or_dash};
use juror_hub::Want;
use juror_judge::attack::{
    Attack, Family, FamilyReport, Subject, Target, attacks, one_row_a_question, shortened,
};
use juror_judge::judge::{JudgeModel, JudgeText};
use juror_judge::protocol::PromptTemplate;

/// Measure how often a judge finds responses right that deserve no reward.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct AttackArguments {
    /// Rows with a question, a reference answer and a response, as `juror judge` reads them; `-` for standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,

    /// The judge's model, as for `juror judge`
    #[arg(short, long, value_name = "MODEL", default_value = "tiny", default_value_if("endpoint", ArgPredicate::IsPresent, Some("")), value_parser = crate::cli::model_name::parse, help_heading = JUDGE)]
    model: String,
    #[command(flatten)]
    adapter: AdapterArgument,
    /// Protocols to attack the judge under, each by itself, as `prime,compass`: names that `juror prompts list` shows, or your own
    /// files [default: that of a known judge, else prime]
    #[arg(long, value_name = "NAME|FILE.toml", value_delimiter = ',', help_heading = JUDGE)]
    protocol: Vec<String>,
    /// Your own prompt text, of one protocol
    #[arg(long, value_name = "FILE", help_heading = JUDGE)]
    prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = JUDGE)]
    few_shots: Option<PathBuf>,
    #[command(flatten)]
    model_arguments: ModelArguments,
    #[command(flatten)]
    endpoint: EndpointArguments,
    /// Let the judge write its answers freely, instead of choosing the words of the verdict alone
    #[arg(long, help_heading = JUDGE)]
    free: bool,
    #[command(flatten)]
    chat: ChatArguments,

    /// Attacks of these families only
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = one_of(Family::ALL.map(|family| (family.name(), family.about(), family))), help_heading = "Attacks")]
    family: Vec<Family>,
    /// Seed of the attacks and of every draw
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Attacks")]
    seed: u64,

    #[command(flatten)]
    columns: ColumnArguments,
    /// Take the first N samples only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = INPUT)]
    limit: Option<u32>,
    /// Longest line that is read; a longer one is a bad line
    #[arg(long, value_name = "N", default_value_t = LineLimit::DEFAULT.0, value_parser = clap::value_parser!(u32).range(1..), help_heading = INPUT)]
    max_line_bytes: u32,

    /// Write the report as JSON; `-` for standard output, the table then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    json: Option<PathBuf>,
    /// Write the attacks as rows and judge none: for `juror judge FILE --rules off` with what only that has (`--own-answer`, panels)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    rows_out: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgument,
    #[command(flatten)]
    end: EndArguments,

    #[command(flatten)]
    engine: EngineArguments,
}

fn after_help() -> String {
    format!(
        "\
Of each question in INPUT one attack of every family is made, by the seed, and judged without the
rules. A false positive is an attack in which the judge finds everything right that its protocol asks
for: the default reward would be 1. The rate is over all attacks that were judged, with its 95 %
interval (Wilson's).

  juror attack examples/rollouts.jsonl --json attacks.json

{EXIT_CODES}"
    )
}

/// A protocol, and how the judge withstood the attacks under it.
struct Attacked {
    protocol: String,
    reports: Vec<FamilyReport>,
}

pub(super) fn run(arguments: &AttackArguments) -> Result<u8, Failure> {
    let judges = named(arguments)?;
    let inputs = Inputs::fetch(&arguments.inputs)?.paths;
    let mut outputs = output::outputs(arguments.force);
    let json = output::open_json(&mut outputs, arguments.json.as_ref(), Mark::ATTACK)?;
    let rows_out = output::open(&mut outputs, arguments.rows_out.as_ref(), Mark::ATTACK_ROWS)?;
    let families: Vec<Family> = Family::ALL
        .into_iter()
        .filter(|family| arguments.family.is_empty() || arguments.family.contains(family))
        .collect();
    let mut endpoint = arguments.endpoint.clone();
    endpoint.answer_in_reasoning = arguments.columns.answer_in_reasoning;
    let model = endpoint.find(&arguments.model, &arguments.adapter, Want::Everything)?;
    let mut texts = Vec::new();
    for judge in &judges {
        texts.push(load_text(judge, &model)?);
    }
    let rows = rows(arguments, &inputs)?;
    let interrupted = catch_interrupts().or_fail()?;
    let mut attacked = Vec::new();
    for (text, template) in texts {
        let name = text.protocol.name.clone();
        let yields = text.protocol.yields();
        let target = Target::new(&text, &template);
        let attacks = attacks(&rows, &families, &target, yields, arguments.seed);
        if !arguments.end.quiet {
            say(&format!(
                "{name}: {} attacks on {model}, made of {} questions",
                attacks.len(),
                rows.len()
            ));
        }
        for note in &text.notes {
            say(&format!("note: {note}"));
        }
        if let Some(file) = &rows_out {
            file.write(|out| attacks.iter().try_for_each(|attack| write_row(out, attack)))
                .or_fail()?;
            return Ok(DONE);
        }
        let subject = Subject {
            model: model.clone(),
            text: Arc::new(text),
            device: arguments.model_arguments.device,
            engine: arguments.engine.options(&arguments.model_arguments),
            free: arguments.free,
            seed: arguments.seed,
        };
        let mut progress = Progress::new(attacks.len(), arguments.end.quiet, None);
        let measured = subject.measure(&attacks, &families, &interrupted, &mut |summary| {
            progress.update(summary);
        });
        progress.finish();
        let Some(reports) = measured? else {
            say("interrupted: nothing is reported");
            return Ok(INTERRUPTED);
        };
        attacked.push(Attacked {
            protocol: name,
            reports,
        });
    }
    let named = model.server().map_or(&*arguments.model, |it| it.model());
    let (json, count) = (json.as_ref(), rows.len());
    write_report(arguments, named, json, &families, count, &attacked)?;
    let reports = attacked.iter().flat_map(|attacked| &attacked.reports);
    let open: usize = reports.map(|report| report.not_judged).sum();
    let what = || format!("{open} attacks could not be judged");
    Ok(arguments.end.code(open > 0, what))
}

/// A judge for each protocol that is named, found at fault before a model is fetched; else one under the model's own.
fn named(arguments: &AttackArguments) -> Result<Vec<JudgeChoice>, Failure> {
    let of_one = [
        (arguments.prompt.is_some(), "--prompt is the text"),
        (arguments.rows_out.is_some(), "--rows-out has the attacks"),
    ];
    if let Some((_, what)) = of_one.iter().find(|(is_given, _)| *is_given)
        && arguments.protocol.len() > 1
    {
        bail_usage!("{what} of one protocol: name one with --protocol");
    }
    let judge = |protocol: Option<&String>| JudgeChoice {
        model: arguments.model.clone(),
        adapter: arguments.adapter.clone(),
        prompt: PromptChoice {
            protocol: protocol.cloned(),
            prompt: arguments.prompt.clone(),
            few_shots: arguments.few_shots.clone(),
            rubric: None,
        },
        chat: arguments.chat.clone(),
    };
    if arguments.protocol.is_empty() {
        return Ok(vec![judge(None)]);
    }
    let mut judges = Vec::new();
    for name in &arguments.protocol {
        let judge = judge(Some(name));
        let named = judge.named_protocol().or_usage()?;
        judge.prompt_for(named, None).or_usage()?;
        judges.push(judge);
    }
    Ok(judges)
}

/// The text side of a judge, and the text that it is asked with.
fn load_text(
    judge: &JudgeChoice,
    model: &JudgeModel,
) -> Result<(JudgeText, PromptTemplate), Failure> {
    let named = judge.named_protocol().or_usage()?;
    let (protocol, template) = judge.prompt_for(named, Some(model)).or_usage()?;
    if protocol.yields().score {
        bail_usage!(
            "protocol {} gives a score: there is no verdict that an attack could get",
            protocol.name
        );
    }
    let chat = judge.chat.settings(None).or_usage()?;
    let mut text = model.text(&protocol, &template, &chat).or_usage()?;
    judge.chat.check(&text).or_usage()?;
    if let Some(source) = model.files() {
        text.settle_head(source)?;
    }
    Ok((text, template))
}

fn rows(arguments: &AttackArguments, inputs: &[PathBuf]) -> Result<Vec<Sample>, Failure> {
    if inputs == [PathBuf::from("-")] && std::io::stdin().is_terminal() {
        bail_usage!(
            "no input: name a file of rollouts that are like those to be judged, or pipe rows in; see `juror attack --help`"
        );
    }
    let columns = arguments.columns.map().or_usage()?;
    for field in [Field::Steps, Field::Rubric, Field::Other] {
        if columns.names(field) {
            let why =
                "changes nothing here: attacks are made of questions, references and responses";
            bail_usage!("--columns {field}=… {why}");
        }
    }
    let options = LoadOptions {
        columns,
        limit: arguments.limit.map(|limit| limit as usize),
        max_line: LineLimit(arguments.max_line_bytes),
        ..LoadOptions::default()
    };
    let loaded = load(inputs, &options)?;
    if !arguments.end.quiet {
        say(&format!("columns: {}", loaded.columns));
    }
    let mut rows = loaded.samples;
    one_row_a_question(&mut rows);
    Ok(rows)
}

fn write_row(out: &mut dyn Write, attack: &Attack) -> std::io::Result<()> {
    let Sample { id, question, .. } = &attack.sample;
    let row = json!({"id": id, "question": question, "reference_answer": attack.sample.reference_answer,
        "response": attack.sample.student_answer, "attack": attack.family.name(), "made_by": "juror attack"});
    writeln!(out, "{row}")
}

/// Table and worst cases for people, and the same as JSON.
fn write_report(
    arguments: &AttackArguments,
    model: &str,
    file: Option<&OutputFile>,
    families: &[Family],
    questions: usize,
    attacked: &[Attacked],
) -> Result<(), Failure> {
    let mut text = Vec::new();
    write_tables(&mut text, families, attacked)?;
    let protocols: Vec<Value> = attacked
        .iter()
        .map(|attacked| {
            let reports: Vec<Value> = attacked.reports.iter().map(FamilyReport::to_json).collect();
            let left_out: Vec<&str> = families
                .iter()
                .filter(|family| attacked.report(**family).is_none())
                .map(|family| family.name())
                .collect();
            json!({"protocol": attacked.protocol, "families": reports, "not_applicable": left_out})
        })
        .collect();
    let report = json!({
        "schema_version": 1,
        "juror": env!("CARGO_PKG_VERSION"),
        "command": std::env::args().collect::<Vec<_>>(),
        "model": model,
        "seed": arguments.seed,
        "constrained": !arguments.free,
        "questions": questions,
        "protocols": protocols,
    });
    let report = arguments.json.as_ref().map(|_| report);
    output::print_with_json(&String::from_utf8_lossy(&text), report.as_ref(), file)
}

impl Attacked {
    fn report(&self, family: Family) -> Option<&FamilyReport> {
        self.reports.iter().find(|report| report.family == family)
    }
}

const SHOWN: usize = 48;

fn write_tables(
    out: &mut Vec<u8>,
    families: &[Family],
    attacked: &[Attacked],
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut worst = Vec::new();
    for attacked in attacked {
        for &family in families {
            let report = attacked.report(family);
            rows.push(row(&attacked.protocol, family, report));
            let found = report.into_iter().flat_map(|report| &report.worst);
            if !family.is_for_the_protocol() {
                worst.extend(found.map(|found| {
                    let probability = found.probability;
                    [
                        found.id.clone(),
                        attacked.protocol.clone(),
                        or_dash(probability, |p| format!("{p:.3}")),
                        shortened(&found.response, SHOWN).into_owned(),
                    ]
                }));
            }
        }
    }
    let header = "family|protocol|attacks|false positives|rate|95 % interval|out of domain|unparsed|not judged";
    table::write(out, header.split('|'), &rows)?;
    let mut reports = attacked.iter().flat_map(|attacked| &attacked.reports);
    if reports.any(|report| report.family.is_for_the_protocol() && report.right.count > 0) {
        table::write_text(
            out,
            "bare-reference: the answer is right, and whether it needs a derivation is for the protocol to say (prime accepts it \
             without one). So its rate is how often the judge accepts it, and no count of mistakes.",
        )?;
    }
    if !worst.is_empty() {
        writeln!(out).or_fail()?;
        let header = ["false positive", "protocol", "P(right)", "response"];
        table::write(out, header, &worst)?;
    }
    Ok(())
}

fn row(protocol: &str, family: Family, report: Option<&FamilyReport>) -> [String; 9] {
    let Some(report) = report else {
        let known = [family.name(), protocol, "not applicable"];
        return std::array::from_fn(|at| (*known.get(at).unwrap_or(&DASH)).to_owned());
    };
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let some = |count: usize| or_dash(Some(count).filter(|count| *count > 0), |it| it.to_string());
    let (interval, counts) = (report.right.interval(), !family.is_for_the_protocol());
    [
        family.name().to_owned(),
        protocol.to_owned(),
        report.right.known.to_string(),
        or_dash(counts.then_some(report.right.count), |it| it.to_string()),
        or_dash(report.rate(), |rate| format!("{} %", percent(rate))),
        or_dash(interval, |(low, high)| {
            format!("{} to {} %", percent(low), percent(high))
        }),
        some(report.out_of_domain),
        some(report.unparsed),
        some(report.not_judged),
    ]
}

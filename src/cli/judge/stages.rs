//! Several judges, one after the other: panels and cascades. Each judges into an output of its own beside OUT, with a journal, and
//! their verdicts then become one.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{CommandFactory as _, FromArgMatches as _};
use serde::Deserialize;

use super::arguments::JudgeArguments;
use super::{Ran, run_one};
use crate::checkpoint::hub::Want;
use crate::cli::columns::ColumnArguments;
use crate::cli::download;
use crate::cli::progress::{percent, print_summary};
use crate::cli::{Arguments, Command, Failure, INTERRUPTED, OrFail, say};
use crate::dataset::journal::journal_path;
use crate::dataset::output::{OutputFormat, check_replaceable, has_place_beside, write_atomically};
use crate::dataset::{Samples, read_text};
use crate::judge::panel::{Agreement, PanelRule, combine};
use crate::judge::{Share, Summary, is_drawn};
use crate::protocol::Yields;
use crate::reward::{RewardPolicy, reward};
use crate::verdict::{Status, Verdict};

/// A panel's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelFile {
    #[serde(default)]
    rule: PanelRule,
    judges: Vec<PanelJudge>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelJudge {
    model: String,
    /// Left out, the last part of the model's name.
    name: Option<String>,
    protocol: Option<String>,
    #[serde(default = "one")]
    weight: f64,
    /// Further options of `juror judge` for this judge alone.
    #[serde(default)]
    options: Vec<String>,
}

fn one() -> f64 {
    1.0
}

/// Where the verdicts of all judges together go.
struct Output {
    path: PathBuf,
    format: OutputFormat,
}

impl Output {
    /// The output of a run with `option`, whose first judge is called `first`.
    fn of(arguments: &JudgeArguments, option: &str, first: &str) -> anyhow::Result<Self> {
        let Some(path) = arguments
            .output
            .output
            .clone()
            .filter(|out| has_place_beside(out))
        else {
            bail!(
                "{option} writes each judge's verdicts beside those of all: name a file with `-o`"
            );
        };
        if arguments
            .inputs
            .iter()
            .any(|input| input.as_os_str() == "-")
        {
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
        let output = Self {
            format: OutputFormat::of(&path)?,
            path,
        };
        // An output of ours has its judges' journals beside it.
        if !arguments.output.force && !journal_path(&output.beside(first)).exists() {
            check_replaceable(&output.path)?;
        }
        Ok(output)
    }

    /// The output of one judge, or another file beside this one.
    fn beside(&self, name: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}.{name}.jsonl"))
    }
}

/// Runs a panel or a cascade, if one is asked for.
pub(super) fn run(arguments: &JudgeArguments) -> Option<Result<u8, Failure>> {
    let result = if let Some(file) = &arguments.panel {
        panel(arguments, file)
    } else if let [small, large] = arguments.cascade.as_slice() {
        cascade(arguments, small, large)
    } else if arguments.cascade.is_empty() {
        return None;
    } else {
        Err(anyhow!("--cascade takes two judges, as `small,large`")).or_usage()
    };
    Some(result)
}

/// The command line of one judge: ours, with further options that take the place of those given before.
fn of_judge(further: impl IntoIterator<Item = OsString>) -> anyhow::Result<JudgeArguments> {
    let command =
        Arguments::command().mut_subcommand("judge", |judge| judge.args_override_self(true));
    let mut line = Vec::new();
    let mut given = std::env::args_os();
    while let Some(argument) = given.next() {
        let text = argument.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if !["--panel", "--cascade", "--escalate"].contains(&name) {
            line.push(argument);
        } else if !text.contains('=') {
            // Its value.
            given.next();
        }
    }
    line.extend(further);
    let matches = command.try_get_matches_from(line)?;
    match Arguments::from_arg_matches(&matches)?.command {
        Command::Judge(mut arguments) => {
            arguments.output.summary_json = None;
            arguments.output.force = false;
            Ok(*arguments)
        }
        _ => bail!("the options of a judge must be those of `juror judge`"),
    }
}

/// Finds out whether there is such a judge, before another one has judged for hours.
fn check(line: &JudgeArguments) -> Result<(), Failure> {
    let named = line.judge.named_protocol().or_usage()?;
    let source = download::resolve(&line.judge.model, Want::Description)?;
    line.judge.prompt_for(named, Some(&source)).or_usage()?;
    Ok(())
}

/// A name for files: the last part of a model's, letters, digits, `.`, `-` and `_` alone.
fn short_name(model: &str) -> String {
    let last = model
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(model);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    last.chars()
        .map(|c| if plain(c) { c } else { '-' })
        .collect()
}

/// The verdicts of an output, in its order.
fn verdicts(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Verdict>> + use<>> {
    let lines = BufReader::new(File::open(path)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

fn say_summary(
    arguments: &JudgeArguments,
    summary: &Summary,
    rows: &[String],
) -> Result<(), Failure> {
    if let Some(path) = &arguments.output.summary_json {
        let text = format!("{:#}\n", summary.to_json());
        write_atomically(path, |writer| writer.write_all(text.as_bytes())).or_fail()?;
    }
    if !arguments.output.quiet {
        print_summary(summary);
        for row in rows {
            say(row);
        }
    }
    Ok(())
}

fn add(one: Yields, other: Yields) -> Yields {
    Yields {
        process: one.process || other.process,
        outcome: one.outcome || other.outcome,
        perfect: one.perfect || other.perfect,
        score: one.score || other.score,
        first_error: one.first_error || other.first_error,
    }
}

fn panel(arguments: &JudgeArguments, file: &Path) -> Result<u8, Failure> {
    let read = || -> anyhow::Result<(PanelFile, Vec<(String, f64)>)> {
        let text = read_text(file).with_context(|| format!("could not read {}", file.display()))?;
        let at = || file.display().to_string();
        let panel: PanelFile = toml::from_str(&text).with_context(at)?;
        if panel.judges.len() < 2 {
            bail!("{}: a panel has two judges or more", at());
        }
        let mut judges: Vec<(String, f64)> = Vec::new();
        for judge in &panel.judges {
            let name = short_name(judge.name.as_deref().unwrap_or(&judge.model));
            if judges.iter().any(|(other, _)| *other == name) {
                bail!(
                    "{}: two judges are called `{name}`: give each a `name` of its own",
                    at()
                );
            }
            if !judge.weight.is_finite() || judge.weight <= 0.0 {
                bail!("{}: the weight of `{name}` must be above 0", at());
            }
            judges.push((name, judge.weight));
        }
        Ok((panel, judges))
    };
    let (panel, judges) = read().or_usage()?;
    let output = Output::of(arguments, "--panel", &judges[0].0).or_usage()?;
    // Whatever is wrong with one is found before another has begun.
    let mut lines = Vec::new();
    for (judge, (name, _)) in panel.judges.iter().zip(&judges) {
        let mut further: Vec<OsString> = vec!["--model".into(), judge.model.clone().into()];
        if let Some(protocol) = &judge.protocol {
            further.extend(["--protocol".into(), protocol.into()]);
        }
        further.extend(judge.options.iter().map(OsString::from));
        further.extend(["--output".into(), output.beside(name).into()]);
        let line = of_judge(further).with_context(|| format!("{}: {name}", file.display()));
        let line = line.or_usage()?;
        check(&line)?;
        lines.push(line);
    }
    let mut yields = Yields::default();
    let mut keep = Vec::new();
    for (line, (name, _)) in lines.into_iter().zip(&judges) {
        if !arguments.output.quiet {
            say(&format!("judge {name}"));
        }
        let Ran { code, session, .. } = run_one(line)?;
        if code == INTERRUPTED {
            return Ok(code);
        }
        if let Some((_, text)) = &session.judge {
            yields = add(yields, text.protocol.yields());
        }
        keep = session.loaded.keep;
    }
    let policy = arguments
        .reward
        .unwrap_or(RewardPolicy::default_for(yields));
    let mut agreement = Agreement::new(judges.len());
    let mut summary = Summary::default();
    let fill = |writer: &mut dyn Write| {
        let of_each = judges
            .iter()
            .map(|(name, _)| verdicts(&output.beside(name)));
        let mut of_each = of_each.collect::<io::Result<Vec<_>>>()?;
        loop {
            let trial = of_each.iter_mut().map_while(Iterator::next);
            let trial = trial.collect::<io::Result<Vec<Verdict>>>()?;
            if trial.len() < judges.len() {
                return Ok(());
            }
            let voted = trial
                .iter()
                .map(|verdict| verdict.overall.filter(|_| verdict.status == Status::Ok));
            agreement.add(&voted.collect::<Vec<_>>());
            if let Some(mut combined) = combine(panel.rule, &judges, &trial) {
                combined.reward =
                    reward(policy, arguments.require_process, yields, &combined, None);
                summary.add(&combined);
                serde_json::to_writer(&mut *writer, &combined)?;
                writer.write_all(b"\n")?;
            }
        }
    };
    output.format.write(&output.path, &keep, fill).or_fail()?;
    let kappa = |kappa: Option<f64>| kappa.map_or("–".to_owned(), |kappa| format!("{kappa:.3}"));
    let mut rows: Vec<String> = Vec::new();
    for ((one, other), share, value) in agreement.cohen() {
        rows.push(format!(
            "{} and {} agree on {} of {} wholes ({}), Cohen's kappa {}",
            judges[one].0,
            judges[other].0,
            share.count,
            share.known,
            percent(share.count, share.known),
            kappa(value)
        ));
    }
    let (fleiss, trials) = agreement.fleiss();
    rows.push(format!(
        "Fleiss' kappa {} over {trials} verdicts of all judges",
        kappa(fleiss)
    ));
    rows.push(format!("verdicts in {}", output.path.display()));
    say_summary(arguments, &summary, &rows)?;
    Ok(super::code_of(&summary))
}

/// Is the judge unsure of one of the fields that its protocol asks for, or has it none to be sure of?
fn is_unsure(verdict: &Verdict, yields: Yields, unsure: (f64, f64)) -> bool {
    let (low, high) = unsure;
    let between = |asked: bool, probability: Option<f32>| {
        asked && probability.is_none_or(|p| (low..=high).contains(&f64::from(p)))
    };
    let confidence = verdict.confidence;
    // A reward that is decided by one field needs no other.
    let decided = |value: Option<bool>, probability: Option<f32>| {
        value == Some(false) && probability.is_some_and(|p| f64::from(p) < low)
    };
    verdict.status != Status::Ok
        || !(yields.process && decided(verdict.process, confidence.process)
            || yields.outcome && decided(verdict.outcome, confidence.outcome))
            && (between(yields.process, confidence.process)
                || between(yields.outcome, confidence.outcome))
}

fn cascade(arguments: &JudgeArguments, small: &str, large: &str) -> Result<u8, Failure> {
    let unsure = arguments.escalate.unwrap_or((0.1, 0.9));
    let (small_name, large_name) = (short_name(small), short_name(large));
    if small_name == large_name {
        return Err(anyhow!(
            "--cascade names {small_name} twice: name a smaller and a larger judge"
        ))
        .or_usage();
    }
    let output = Output::of(arguments, "--cascade", &small_name).or_usage()?;
    let line = |model: &str, name: &str| {
        let out = output.beside(name);
        of_judge([
            "--model".into(),
            model.into(),
            "--output".into(),
            out.into(),
        ])
        .or_usage()
    };
    let mut first = line(small, &small_name)?;
    let mut second = line(large, &large_name)?;
    first.rules.audit = None;
    second.rules.audit = None;
    check(&first)?;
    check(&second)?;
    let ran = run_one(first)?;
    if ran.code == INTERRUPTED {
        return Ok(ran.code);
    }
    let of_small = ran.session;
    let Some((small_source, text)) = &of_small.judge else {
        return Err(anyhow!(
            "--cascade asks two models, and --rules only asks none"
        ))
        .or_usage();
    };
    let protocol = text.protocol.as_ref();
    let yields = protocol.yields();
    if !protocol.has_odds() || yields.score {
        let name = protocol.name();
        return Err(anyhow!("--cascade has no meaning under protocol {name}: no probabilities are recorded of what it says"))
            .or_usage();
    }
    // The samples of which one trial is unsure, and some of the others.
    let (mut escalated, mut audited) = (HashSet::new(), HashSet::new());
    for verdict in verdicts(&output.beside(&small_name)).or_fail()? {
        let verdict = verdict.or_fail()?;
        if verdict.skipped {
            continue;
        }
        if is_unsure(&verdict, yields, unsure) {
            audited.remove(&verdict.index);
            escalated.insert(verdict.index);
        } else if !escalated.contains(&verdict.index)
            && is_drawn(
                arguments.rules.audit.unwrap_or(0.0),
                arguments.sampling.seed,
                &verdict.id,
            )
        {
            audited.insert(verdict.index);
        }
    }
    let samples = &of_small.loaded.samples;
    let asked = || escalated.iter().chain(&audited);
    let mut positions: Vec<usize> = asked()
        .filter_map(|&index| samples.position(index))
        .collect();
    positions.sort_unstable();
    let asks = !positions.is_empty();
    let mut of_large = None;
    if asks {
        let rows = output.beside("escalated");
        of_small.write_rows(&rows, &positions).or_fail()?;
        second.inputs = vec![rows];
        second.columns = ColumnArguments::default();
        second.rows.limit = None;
        second.output.skip_bad = false;
        second.output.keep = Vec::new();
        let ran = run_one(second)?;
        if ran.code == INTERRUPTED {
            return Ok(ran.code);
        }
        of_large = Some(ran);
    }
    let mut summary = Summary::default();
    let (mut changed, mut checked) = (Share::default(), Share::default());
    let mut tokens = [0_usize; 2];
    let fill = |writer: &mut dyn Write| {
        let mut larger = match &of_large {
            Some(_) => Some(verdicts(&output.beside(&large_name))?),
            None => None,
        };
        for verdict in verdicts(&output.beside(&small_name))? {
            let mut verdict = verdict?;
            tokens[0] += verdict.usage.prompt_tokens + verdict.usage.completion_tokens;
            verdict.judge = Some(small_name.clone());
            let is_asked = escalated.contains(&verdict.index) || audited.contains(&verdict.index);
            if is_asked && let Some(next) = larger.as_mut().and_then(Iterator::next) {
                let next = next?;
                tokens[1] += next.usage.prompt_tokens + next.usage.completion_tokens;
                let differs = verdict
                    .overall
                    .zip(next.overall)
                    .map(|(one, other)| one != other);
                if audited.contains(&verdict.index) {
                    checked.add(differs);
                } else {
                    changed.add(differs);
                }
                verdict = Verdict {
                    index: verdict.index,
                    group: verdict.group,
                    input: verdict.input,
                    judge: Some(large_name.clone()),
                    ..next
                };
            }
            summary.add(&verdict);
            serde_json::to_writer(&mut *writer, &verdict)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    };
    output
        .format
        .write(&output.path, &of_small.loaded.keep, fill)
        .or_fail()?;
    let (asked, all) = (positions.len(), samples.count());
    let mut rows = vec![format!(
        "{large_name} was asked about {asked} of {all} samples ({}): {small_name} was unsure of {}",
        percent(asked, all),
        escalated.len()
    )];
    rows.push(format!(
        "where {small_name} was unsure, {large_name} said otherwise on {} of {} wholes ({})",
        changed.count,
        changed.known,
        percent(changed.count, changed.known)
    ));
    if let Some((low, high)) = checked.interval() {
        rows.push(format!(
            "where it was sure, on {} of {} ({}, 95 % interval {:.1} to {:.1} %)",
            checked.count,
            checked.known,
            percent(checked.count, checked.known),
            100.0 * low,
            100.0 * high
        ));
    } else {
        rows.push("where it was sure nobody has looked: --audit 5% would".to_owned());
    }
    if let Some(Ran { session, .. }) = &of_large
        && let Some((large_source, large_text)) = &session.judge
    {
        let of_small = text.config.parameters() as f64 * tokens[0] as f64;
        let of_large = large_text.config.parameters() as f64 * tokens[1] as f64;
        // Had it been asked about all samples, each as long as those it was asked about.
        let alone = of_large * all as f64 / asked.max(1) as f64;
        rows.push(format!(
            "cost, in parameters times tokens: {:.0} % of {large_source} alone ({small_source} {:.0} %)",
            100.0 * (of_small + of_large) / alone,
            100.0 * of_small / alone
        ));
    }
    rows.push(format!("verdicts in {}", output.path.display()));
    say_summary(arguments, &summary, &rows)?;
    Ok(super::code_of(&summary))
}

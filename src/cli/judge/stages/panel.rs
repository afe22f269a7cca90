//! `juror judge --panel`

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use clap::{CommandFactory as _, FromArgMatches as _};
use serde::Deserialize;

use super::{Output, check, say_summary, short_name, verdicts};
use crate::cli::endpoint::EndpointArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, code_of, run_one};
use crate::cli::progress::percent;
use crate::cli::{Arguments, Command, Failure, INTERRUPTED, OrFail, say};
use juror_data::read_text;
use juror_data::verdict::Verdict;
use juror_judge::judge::Summary;
use juror_judge::judge::panel::{Member, Panel, PanelRule};
use juror_judge::protocol::Yields;

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

/// Runs all judges, and lets them vote.
pub(super) fn run(arguments: &JudgeArguments, file: &Path) -> Result<u8, Failure> {
    let read = || -> anyhow::Result<(PanelFile, Vec<(String, f64)>)> {
        let text = read_text(file).with_context(|| format!("could not read {}", file.display()))?;
        let at = || file.display().to_string();
        let panel: PanelFile = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            anyhow!("{}: line {line}: {}", at(), error.message())
        })?;
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
    if arguments.verdict.calibration.is_some() {
        let why = "--calibration is of one judge: give each its own, as `options = [\"--calibration\", \"FILE\"]`";
        return Err(anyhow!(why)).or_usage();
    }
    let mut output = Output::of(arguments, "--panel", &judges[0].0).or_usage()?;
    // Whatever is wrong with one is found before another has begun.
    for (name, _) in &judges {
        output.check_judge(name)?;
    }
    let mut lines = Vec::new();
    for (judge, (name, _)) in panel.judges.iter().zip(&judges) {
        let mut further: Vec<OsString> = vec!["--model".into(), judge.model.clone().into()];
        if let Some(protocol) = &judge.protocol {
            further.extend(["--protocol".into(), protocol.into()]);
        }
        further.extend(judge.options.iter().map(OsString::from));
        let line = of_judge(further).with_context(|| format!("{}: {name}", file.display()));
        let mut line = line.or_usage()?.of_one(output.beside(name));
        line.endpoint.of_several();
        check(&line)?;
        lines.push(line);
    }
    let asked = lines
        .iter()
        .map(|line| (&line.endpoint, line.judge.model.as_str()));
    EndpointArguments::check_keys(asked).or_usage()?;
    let mut keep = Vec::new();
    let mut members = Vec::new();
    for (line, (name, weight)) in lines.into_iter().zip(&judges) {
        if !arguments.output.quiet {
            say(&format!("judge {name}"));
        }
        let Ran { code, session, .. } = run_one(line)?;
        if code == INTERRUPTED {
            return Ok(code);
        }
        let text = session.text();
        members.push(Member {
            name: name.clone(),
            weight: *weight,
            yields: text.map_or_else(Yields::default, |text| text.protocol.yields()),
            calibration: text.map_or_else(Default::default, |text| text.calibration.clone()),
        });
        keep = session.loaded.keep;
    }
    let verdict = &arguments.verdict;
    let mut voting = Panel::new(panel.rule, members, verdict.reward, verdict.require_process);
    let mut summary = Summary::default();
    let fill = |writer: &mut dyn Write| {
        let of_each = judges
            .iter()
            .map(|(name, _)| verdicts(&output.beside(name)));
        let mut of_each = of_each.collect::<io::Result<Vec<_>>>()?;
        loop {
            let trial = of_each.iter_mut().map_while(Iterator::next);
            let trial = trial.collect::<io::Result<Vec<Verdict>>>()?;
            let of_first = trial.first().map(place);
            if trial.len() < judges.len() || trial.iter().any(|one| Some(place(one)) != of_first) {
                return if trial.is_empty() && of_each.iter_mut().all(|rest| rest.next().is_none()) {
                    Ok(())
                } else {
                    Err(io::Error::other(
                        "the judges have not judged the same trials of the same samples: options of one that choose other rows \
                         or trials cannot be in a panel",
                    ))
                };
            }
            if let Some(combined) = voting.vote(trial) {
                summary.add(&combined);
                serde_json::to_writer(&mut *writer, &combined)?;
                writer.write_all(b"\n")?;
            }
        }
    };
    output.format.write(&output.file, &keep, fill).or_fail()?;
    let kappa = |kappa: Option<f64>| kappa.map_or("–".to_owned(), |kappa| format!("{kappa:.3}"));
    let mut rows: Vec<String> = Vec::new();
    for ((one, other), share, value) in voting.agreement.cohen() {
        rows.push(format!(
            "{} and {} gave the same overall verdict on {} of {} samples ({}), Cohen's kappa {}",
            judges[one].0,
            judges[other].0,
            share.count,
            share.known,
            percent(share.count, share.known),
            kappa(value)
        ));
    }
    let (fleiss, trials) = voting.agreement.fleiss();
    rows.push(format!(
        "Fleiss' kappa {} over {trials} verdicts of all judges",
        kappa(fleiss)
    ));
    rows.push(format!("verdicts in {}", output.file.path().display()));
    say_summary(arguments, &output, &summary, &rows)?;
    Ok(code_of(&summary))
}

/// The command line of one judge of a panel: ours, with further options that take the place of those given before.
fn of_judge(further: impl IntoIterator<Item = OsString>) -> anyhow::Result<JudgeArguments> {
    let command =
        Arguments::command().mut_subcommand("judge", |judge| judge.args_override_self(true));
    let mut line = Vec::new();
    let mut given = std::env::args_os();
    while let Some(argument) = given.next() {
        if argument == "--panel" {
            // Its value.
            given.next();
        } else if !argument.to_string_lossy().starts_with("--panel=") {
            line.push(argument);
        }
    }
    // What follows `--` is no option.
    let end = line.iter().position(|argument| argument == "--");
    let end = end.unwrap_or(line.len());
    line.splice(end..end, further);
    let matches = command.try_get_matches_from(line).map_err(|error| {
        // One line of it: what follows is the usage.
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        anyhow!("{}", first.strip_prefix("error: ").unwrap_or(first))
    })?;
    match Arguments::from_arg_matches(&matches)?.command {
        Command::Judge(arguments) => Ok(*arguments),
        _ => bail!("the options of a judge must be those of `juror judge`"),
    }
}

/// Of which trial of which sample a verdict is.
fn place(verdict: &Verdict) -> (String, usize, u32) {
    (verdict.id.clone(), verdict.index, verdict.trial)
}

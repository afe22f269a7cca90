//! `juror judge --panel`

use std::path::{Path, PathBuf};

use super::{Output, check, say_summary};
use crate::cli::endpoint::EndpointArguments;
use crate::cli::judge::arguments::JudgeArguments;
use crate::cli::judge::{Ran, run_one};
use crate::cli::progress::percent;
use crate::cli::several::PanelFile;
use crate::cli::{Command, Failure, INTERRUPTED, OrFail, say};
use juror_data::verdict::Verdict;
use juror_judge::judge::panel::Panel;
use juror_judge::judge::together::Together;

pub(super) fn run(arguments: &JudgeArguments, file: &Path) -> Result<u8, Failure> {
    let panel = PanelFile::read(file, &arguments.verdict).or_usage()?;
    let judges = &panel.judges;
    let mut output = Output::new(arguments, "--panel", &judges[0].name).or_usage()?;
    // Whatever is wrong with one is found before another has begun.
    for judge in judges {
        output.check_judge(&judge.name)?;
    }
    let mut lines = Vec::new();
    for (command, judge) in panel.commands(file, "judge").zip(judges) {
        let Command::Judge(line) = command.or_usage()? else {
            bail_usage!("the options of a judge must be those of `juror judge`");
        };
        let line = line.of_one(output.beside(&judge.name));
        check(&line)?;
        lines.push(line);
    }
    let asked = lines
        .iter()
        .map(|line| (&line.endpoint, line.judge.model.as_str()));
    EndpointArguments::check_keys(asked).or_usage()?;
    let mut keep = Vec::new();
    let mut texts = Vec::new();
    for (line, judge) in lines.into_iter().zip(judges) {
        let name = &judge.name;
        if !arguments.output.end.quiet {
            say(&format!("judge {name}"));
        }
        let Ran { code, session, .. } = run_one(line)?;
        if code == INTERRUPTED {
            return Ok(code);
        }
        texts.push(session.text().cloned());
        keep = session.loaded.keep;
    }
    let voting = panel.votes(&texts, &arguments.verdict);
    let mut together = Together::Panel(voting);
    let names = judges.iter().map(|judge| judge.name.as_str());
    let outputs: Vec<PathBuf> = names.clone().map(|name| output.beside(name)).collect();
    let differs = |_: &Verdict| {
        "the judges have not judged the same trials of the same samples: options of one that choose other rows or trials cannot be in a \
         panel"
            .to_owned()
    };
    let summary = output.write_together(&mut together, None, &outputs, &keep, differs)?;
    let rows = match &together {
        Together::Panel(voting) => {
            agreement(voting, &names.collect::<Vec<_>>(), summary.verdicts())
        }
        Together::Cascade(_) => Vec::new(),
    };
    say_summary(arguments, &output, &summary, &rows)
}

/// How far the judges agree, in words.
fn agreement(voting: &Panel, names: &[&str], verdicts: usize) -> Vec<String> {
    let kappa = |kappa: Option<f64>| kappa.map_or("–".to_owned(), |kappa| format!("{kappa:.3}"));
    let mut rows = Vec::new();
    for (name, states) in voting.silent() {
        let states: Vec<String> = states
            .iter()
            .map(|(status, count)| format!("{count} {}", status.name()))
            .collect();
        rows.push(format!(
            "{name} has not voted on every one of {verdicts} verdicts: {}",
            states.join(", ")
        ));
    }
    for ((one, other), share, value) in voting.agreement.cohen() {
        rows.push(format!(
            "{} and {} gave the same overall verdict on {} of {} samples ({}), Cohen's kappa {}",
            names[one],
            names[other],
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
    rows
}

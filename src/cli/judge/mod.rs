//! `juror judge`

mod arguments;
mod dry_run;
mod stages;
mod warnings;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};

pub(super) use self::arguments::{JudgeArguments, JudgeChoice, parse_size};
use super::download;
use super::inputs::{self, refuse_data_sets};
use super::progress::{Progress, print_summary};
use super::{DONE, Failure, INCOMPLETE, INTERRUPTED, OrFail, catch_interrupts, say};
use crate::checkpoint::hub::Want;
use crate::dataset::journal::{Identity, earlier_input, journal_path};
use crate::dataset::output::{check_place, write_atomically};
use crate::dataset::{
    Keep, LineLimit, LoadOptions, Loaded, Rows, Samples, Shard, index, read_text, rejected_path,
    sources,
};
use crate::judge::cache::CACHE_SIZE;
use crate::judge::calibration::Calibration;
use crate::judge::model::MAX_NEW_TOKENS;
use crate::judge::{
    GenerationDefaults, JudgeText, RulesMode, RunEnd, RunOptions, Session, Summary,
};
use crate::model::DeviceChoice;
use crate::protocol::{PromptTemplate, Protocol, ScaffoldWants};
use crate::reward::RewardPolicy;

/// Why an option for constrained answers has no meaning.
const FREE: &str = "its answers are not constrained";

pub(super) fn run(arguments: JudgeArguments) -> Result<u8, Failure> {
    match stages::run(&arguments) {
        Some(result) => result,
        None => Ok(run_one(arguments)?.code),
    }
}

/// What a run leaves.
struct Ran {
    code: u8,
    session: Session,
}

fn code_of(summary: &Summary) -> u8 {
    if summary.all_ok() { DONE } else { INCOMPLETE }
}

/// One judge.
fn run_one(arguments: JudgeArguments) -> Result<Ran, Failure> {
    let quiet = arguments.output.quiet;
    let dry_run = arguments.dry_run;
    let summary_json = arguments.output.summary_json.clone();
    let session = resolve(arguments)?;
    if !quiet {
        describe(&session);
    }
    if dry_run {
        dry_run::print(&session).or_fail()?;
        return Ok(Ran {
            code: DONE,
            session,
        });
    }
    let code = carry_out(&session, quiet, summary_json.as_deref())?;
    Ok(Ran { code, session })
}

/// Runs a session, and says how far it is and what came of it.
pub(super) fn carry_out(
    session: &Session,
    quiet: bool,
    summary_json: Option<&Path>,
) -> Result<u8, Failure> {
    let interrupted = catch_interrupts().or_fail()?;
    let all = session
        .loaded
        .samples
        .count()
        .saturating_mul(session.options.trials as usize);
    let mut progress = Progress::new(all, quiet);
    let mut announced = quiet;
    let result = session.execute(&interrupted, &mut |summary| {
        if let (false, Some(sizes)) = (announced, &summary.sizes) {
            progress.say(&format!("engine: {sizes}"));
            announced = true;
        }
        progress.update(summary);
    });
    progress.finish();
    let (end, summary) = result.map_err(|error| {
        let usage = error.is_usage();
        Failure::new(error, usage)
    })?;
    if let Some(path) = summary_json {
        let text = format!("{:#}\n", summary.to_json());
        write_atomically(path, |writer| writer.write_all(text.as_bytes())).or_fail()?;
    }
    if end == RunEnd::Interrupted {
        if !quiet {
            let done = summary.verdicts();
            say(&format!(
                "interrupted: {done} of {all} verdicts are done{}",
                match session.out_with_journal() {
                    Some(_) => " and kept; run the same command again to go on",
                    None =>
                        "; those written to standard output are all there is: with `-o` the run could go on",
                }
            ));
        }
        return Ok(INTERRUPTED);
    }
    if !quiet {
        print_summary(&summary);
        warnings::print(session, &summary);
        if let Some(out) = &session.out {
            say(&format!("verdicts in {}", out.display()));
        }
    }
    Ok(code_of(&summary))
}

/// Raw arguments into a session; reads the input and the model's text side, not its weights.
fn resolve(arguments: JudgeArguments) -> Result<Session, Failure> {
    let rules = RulesMode::from(arguments.rules.rules);
    let trials = arguments.sampling.trials;
    let shard = arguments.rows.shard;
    let out = arguments.output.resolve(&arguments.inputs, shard, trials)?;
    let devices = devices(arguments.model.device, &arguments.gpus).or_usage()?;
    let named = arguments.judge.named_protocol().or_usage()?;
    if let (RulesMode::Only, Some(protocol)) = (rules, &named)
        && protocol.yields().score
    {
        return Err(anyhow!(
            "--rules only has no meaning under protocol {}: {ONLY_SCORE}",
            protocol.name()
        ))
        .or_usage();
    }
    let (judge, protocol, template) = if rules == RulesMode::Only {
        let (protocol, template) = arguments.judge.prompt_for(named, None).or_usage()?;
        (None, protocol, template)
    } else {
        // A dry run reads no weights.
        let want = if arguments.dry_run {
            Want::Description
        } else {
            Want::Everything
        };
        if let Some(protocol) = &named {
            // Its prompt text may be at fault.
            let own = Some(Arc::clone(protocol));
            arguments.judge.prompt_for(own, None).or_usage()?;
        }
        let source = download::resolve(&arguments.judge.model, want)?;
        let (protocol, template) = arguments
            .judge
            .prompt_for(named, Some(&source))
            .or_usage()?;
        let begun = out.as_deref().filter(|_| !arguments.output.restart);
        let mut chat = arguments.judge.chat.settings(begun).or_usage()?;
        chat.force_domain = arguments.force_domain;
        let mut text = JudgeText::load_with(&source, &protocol, &template, &chat).or_usage()?;
        arguments.judge.chat.check(&text).or_usage()?;
        if let Some(path) = &arguments.calibration {
            let read =
                read_text(path).with_context(|| format!("could not read {}", path.display()));
            let calibration = Calibration::parse(&read.or_usage()?)
                .map_err(|why| anyhow!("{}: {why}", path.display()));
            text.calibration = calibration.or_usage()?;
        }
        if want == Want::Everything {
            text.settle_head(&source).map_err(download::failure)?;
        }
        (Some((source, Arc::new(text))), protocol, template)
    };

    let recommended = if let Some((_, text)) = &judge {
        text.run_options(arguments.sampling.trials)
    } else {
        // As the manifests of earlier versions have it.
        RunOptions {
            sampling: GenerationDefaults::default().sampling_for(arguments.sampling.trials),
            max_new_tokens: MAX_NEW_TOKENS,
            ..RunOptions::default()
        }
    };
    let (sampling, max_new_tokens) = arguments.sampling.resolve(&recommended).or_usage()?;
    let reward = arguments.reward.unwrap_or(recommended.reward);
    if let Some((_, text)) = &judge {
        let protocol = text.protocol.as_ref();
        let has_scaffold = text.has_scaffold();
        let has_odds = protocol.has_odds();
        let of_odds = arguments.min_confidence.filter(|_| !has_odds);
        let yields = protocol.yields();
        let of_outcome = arguments.rules.audit.filter(|_| !yields.outcome);
        let only_score = |given: bool| (given && yields.score).then_some(ONLY_SCORE);
        let is_soft = reward == RewardPolicy::Soft;
        let why_not = [
            (
                "--require-process",
                (arguments.require_process && !yields.process)
                    .then_some("it does not judge the process"),
            ),
            (
                "--reason",
                (arguments.reason && !gives_reasons(protocol))
                    .then_some("its answers give no reason that is read"),
            ),
            ("--rules first", only_score(rules == RulesMode::First)),
            ("--decide-only", only_score(arguments.decide_only)),
            ("--calibration", only_score(arguments.calibration.is_some())),
            (
                "--calibration",
                (arguments.calibration.is_some()
                    && reward != RewardPolicy::Soft
                    && arguments.min_confidence.is_none())
                .then_some("without --reward soft or --min-confidence it changes nothing"),
            ),
            (
                "--min-confidence",
                only_score(arguments.min_confidence.is_some()),
            ),
            (
                "--reward soft with --free",
                (is_soft && arguments.free && protocol.needs_rubric())
                    .then_some("probabilities are recorded where grades are chosen"),
            ),
            (
                &*format!("--reward {reward}"),
                reward.refused_by(protocol, rules != RulesMode::Off),
            ),
            (
                "--audit",
                of_outcome.map(|_| "it does not judge the outcome"),
            ),
            (
                "--decide-only",
                arguments
                    .decide_only
                    .then_some(FREE)
                    .filter(|_| !has_scaffold),
            ),
            (
                "--decide-only",
                (arguments.decide_only && !text.has_early_reward()).then_some(
                    "what it writes follows a grammar, whose end decides nothing sooner",
                ),
            ),
            (
                "--thinking-budget",
                arguments
                    .thinking_budget
                    .map(|_| FREE)
                    .filter(|_| !has_scaffold),
            ),
            (
                "--min-confidence",
                of_odds.map(|_| "no probabilities are recorded of what it says"),
            ),
        ];
        refuse_meaningless(protocol, &why_not).or_usage()?;
    }
    let engine = arguments.engine.options(&arguments.model);
    let columns = arguments
        .judge
        .prompt
        .columns(&arguments.columns, protocol.as_ref())
        .or_usage()?;

    let begun = out.as_deref().filter(|_| !arguments.output.restart);
    let earlier_samples = begun
        .and_then(|out| earlier_input(&journal_path(out)))
        .map(|input| input.samples);
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            columns,
            keep: Keep::parse(&arguments.output.keep),
            limit: arguments.rows.limit,
            shard: arguments.rows.shard,
            max_line: LineLimit(arguments.rows.max_line_bytes),
            skip_bad: arguments.output.skip_bad,
            earlier: earlier_samples,
            output: out.clone(),
        },
    )?;
    Ok(Session {
        loaded,
        earlier_samples,
        shard: arguments.rows.shard,
        skip_bad: arguments.output.skip_bad,
        options: RunOptions {
            sampling,
            max_new_tokens,
            trials: arguments.sampling.trials,
            seed: arguments.sampling.seed,
            constrained: !arguments.free,
            decide_only: arguments.decide_only,
            thinking_budget: arguments.thinking_budget.map(|tokens| tokens as usize),
            wants_reason: arguments.reason,
            raw: arguments.raw,
            rules,
            audit: arguments.rules.audit.unwrap_or(0.0),
            outcome_rules: arguments.rules.outcome_rules(),
            reward,
            require_process: arguments.require_process,
            min_confidence: arguments.min_confidence,
            cache: None,
        },
        judge,
        answers: None,
        protocol: identity(protocol.as_ref(), &template),
        model_name: arguments.judge.model,
        devices,
        engine,
        out,
        consensus_out: arguments.output.consensus,
        hard_out: arguments.output.hard,
        advantages: arguments.output.advantages,
        restart: arguments.output.restart,
        cache: arguments
            .cache
            .map(|folder| (folder, arguments.cache_size.unwrap_or(CACHE_SIZE))),
    })
}

/// Refuses the first option that has no meaning under the protocol.
pub(super) fn refuse_meaningless(
    protocol: &dyn Protocol,
    why_not: &[(&str, Option<&str>)],
) -> anyhow::Result<()> {
    for (option, why) in why_not {
        if let Some(why) = why {
            let name = protocol.name();
            bail!("{option} has no meaning under protocol {name}: {why}");
        }
    }
    Ok(())
}

/// Why an option for truth values has no meaning.
pub(super) const ONLY_SCORE: &str = "it gives a score, and judges neither process nor outcome";

/// The protocol, and the hash of it and its prompt text.
pub(super) fn identity(protocol: &dyn Protocol, template: &PromptTemplate) -> Identity {
    Identity {
        name: protocol.name().into(),
        hash: protocol.hash().map_or_else(
            || template.hash(),
            |own| format!("{own} {}", template.hash()),
        ),
    }
}

/// Whether the verdicts of a protocol may have a reason.
fn gives_reasons(protocol: &dyn Protocol) -> bool {
    let [without, with] = [false, true].map(|reason| {
        protocol.scaffold(ScaffoldWants {
            reason,
            ..ScaffoldWants::default()
        })
    });
    without != with
}

/// Refuses a summary or consensus file that is another file of the run, or cannot be written.
pub(super) fn check_side_files(
    inputs: &[PathBuf],
    out: Option<&Path>,
    files: &[Option<&Path>],
) -> anyhow::Result<()> {
    let of_run = out.map(|out| [out.to_owned(), journal_path(out), rejected_path(out)]);
    let mut taken: Vec<PathBuf> = of_run.into_iter().flatten().collect();
    for file in files.iter().copied().flatten() {
        check_place(file)?;
        sources(inputs, Some(file))?;
        if taken.iter().any(|other| other == file) {
            bail!(
                "{} is given to two files of the run: name another",
                file.display()
            );
        }
        taken.push(file.to_owned());
    }
    Ok(())
}

/// `{shard}` in the output's name becomes the shard, as `0-of-4`.
pub(super) fn shard_in_name(out: PathBuf, shard: Option<Shard>) -> anyhow::Result<PathBuf> {
    let Some(text) = out.to_str().filter(|text| text.contains("{shard}")) else {
        return Ok(out);
    };
    let Some(shard) = shard else {
        bail!("`{{shard}}` in the output's name needs --shard");
    };
    let name = format!("{}-of-{}", shard.index(), shard.count());
    Ok(text.replace("{shard}", &name).into())
}

/// The devices asked for, one engine each.
fn devices(device: DeviceChoice, gpus: &[usize]) -> anyhow::Result<Vec<DeviceChoice>> {
    for (at, gpu) in gpus.iter().enumerate() {
        if gpus[..at].contains(gpu) {
            bail!(
                "--gpus names GPU {gpu} twice: each runs one engine, which uses all of it; name it once"
            );
        }
    }
    Ok(if gpus.is_empty() {
        vec![device]
    } else {
        gpus.iter().map(|&gpu| DeviceChoice::Cuda(gpu)).collect()
    })
}

pub(super) fn load_inputs(
    inputs: &[PathBuf],
    options: &LoadOptions,
) -> Result<Loaded<Rows>, Failure> {
    if inputs == [PathBuf::from("-")] && std::io::stdin().is_terminal() {
        return Err(anyhow!(
            "no input: name a JSONL file, a folder of them, or pipe rows in; see `juror judge --help`"
        ))
        .or_usage();
    }
    refuse_data_sets(inputs)?;
    index(inputs, options).map_err(inputs::failure)
}

/// Prints the columns used, and how many lines are no samples.
pub(super) fn describe_input(loaded: &Loaded<Rows>) {
    say(&format!("columns: {}", loaded.columns));
    if !loaded.rejected.is_empty() {
        say(&format!(
            "{} of {} lines set aside as bad",
            loaded.rejected.len(),
            loaded.lines_read
        ));
    }
}

/// Prints the input, the columns used, and notes of the judge.
pub(super) fn describe(session: &Session) {
    let loaded = &session.loaded;
    for note in session.judge.iter().flat_map(|(_, text)| &text.notes) {
        say(&format!("note: {note}"));
    }
    describe_input(loaded);
    if let Some(shard) = session.shard {
        say(&format!(
            "shard {shard}: {} of {} samples",
            loaded.samples.count(),
            loaded.accepted
        ));
    }
}

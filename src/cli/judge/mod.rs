//! `juror judge`

mod arguments;
mod dry_run;
mod resolved;
mod stages;
mod warnings;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::bail;

pub(super) use self::arguments::{JudgeArguments, JudgeChoice, VerdictArguments, parse_size};
pub(super) use self::resolved::ResolvedJudge;
use super::eval::Labels;
use super::inputs::{Inputs, has_stdin, shown};
use super::output::EndArguments;
use super::progress::{Progress, print_summary};
use super::several::CascadeChoice;
use super::work::Work;
use super::{
    DONE, Failure, INTERRUPTED, OrFail, catch_interrupts, end_at_interrupts, output, say,
    write_line,
};
use juror_base::terminal::escaped;
use juror_data::journal::{Identity, earlier_input, journal_path};
use juror_data::output::{OutputFile, has_place_beside};
use juror_data::{Keep, LineLimit, LoadOptions, Loaded, Rows, Samples, Shard, index, sources};
use juror_hub::Want;
use juror_judge::judge::cache::CACHE_SIZE;
use juror_judge::judge::session::{ModelRun, VerdictSource};
use juror_judge::judge::{RunEnd, Session};
use juror_judge::protocol::{PromptTemplate, Protocol};

pub(super) fn run(mut arguments: JudgeArguments) -> Result<u8, Failure> {
    let next = next_command(&arguments);
    fetch_inputs(&mut arguments)?;
    // What was joined is read again as long as the run lasts.
    let skip_bad = arguments.output.skip_bad;
    let _folder = arguments.join.join(&mut arguments.inputs, skip_bad)?;
    let scoring = if arguments.eval {
        Some(scoring(&arguments)?)
    } else {
        None
    };
    let code = match stages::run(&arguments) {
        Some(result) => result?,
        None => run_one(arguments)?.code,
    };
    if let Some(next) = next.filter(|_| code != INTERRUPTED) {
        write_line(&escaped(&format!("look through them: {next}")));
    }
    match scoring {
        Some((mut labels, out)) if code != INTERRUPTED => labels.score(&out)?,
        _ => {}
    }
    Ok(code)
}

/// What shows the verdicts of a run with their texts; none where they are in no file.
fn next_command(arguments: &JudgeArguments) -> Option<String> {
    let out = arguments.output.output.as_deref();
    let out = out.filter(|out| out.as_os_str() != "-" && has_place_beside(out))?;
    if arguments.output.end.quiet || arguments.dry_run || arguments.rank || !cfg!(feature = "serve")
    {
        return None;
    }
    let out = shard_in_name(out.to_owned(), arguments.rows.shard).ok()?;
    let mut command = format!("juror view {}", shown(&[out]));
    if !arguments.inputs.contains(&"-".into()) && arguments.join.join.is_empty() {
        let option = if arguments.eval { "--labels" } else { "--rows" };
        let (rows, columns) = (shown(&arguments.inputs), arguments.columns.as_given());
        command = format!("{command} {option} {rows}{columns}");
    }
    Some(command)
}

/// The labels of the rows, read before anything is judged, and where the verdicts will be.
fn scoring(arguments: &JudgeArguments) -> Result<(Labels, PathBuf), Failure> {
    let out = arguments
        .output
        .output
        .clone()
        .filter(|out| out.as_os_str() != "-");
    let Some(out) = out else {
        bail_usage!("--eval reads the verdicts again: name a file with `-o`");
    };
    if has_stdin(&arguments.inputs) {
        bail_usage!("--eval reads the rows for their labels: give files, not standard input");
    }
    let out = shard_in_name(out, arguments.rows.shard).or_usage()?;
    let options = LoadOptions {
        max_line: LineLimit(arguments.rows.max_line_bytes),
        skip_bad: arguments.output.skip_bad,
        may_skip: true,
        ..LoadOptions::default()
    };
    let (inputs, columns) = (&arguments.inputs, &arguments.columns);
    let labels = Labels::read(inputs, columns, &arguments.label_columns, options)?;
    Ok((labels, out))
}

/// Puts the files of data sets on the hub in their place among the inputs.
fn fetch_inputs(arguments: &mut JudgeArguments) -> Result<(), Failure> {
    let fetched = Inputs::fetch(&arguments.inputs)?;
    arguments.inputs = fetched.paths;
    arguments.data_origins.extend(fetched.origins);
    Ok(())
}

struct Ran {
    code: u8,
    session: Session,
}

fn run_one(mut arguments: JudgeArguments) -> Result<Ran, Failure> {
    // The command line of one judge among several is as it was given.
    fetch_inputs(&mut arguments)?;
    arguments.endpoint.answer_in_reasoning = arguments.columns.answer_in_reasoning;
    let end = arguments.output.end;
    let dry_run = arguments.dry_run;
    let session = resolve(arguments)?;
    describe(&session, end.quiet);
    if dry_run {
        dry_run::print(&session).or_fail()?;
        return Ok(Ran {
            code: DONE,
            session,
        });
    }
    let code = carry_out(&session, end)?;
    end_at_interrupts().or_fail()?;
    Ok(Ran { code, session })
}

/// Runs a session, and says how far it is and what came of it.
pub(super) fn carry_out(session: &Session, end: EndArguments) -> Result<u8, Failure> {
    let quiet = end.quiet;
    let interrupted = catch_interrupts().or_fail()?;
    let all = session
        .loaded
        .samples
        .count()
        .saturating_mul(session.options.trials as usize);
    let work = if quiet {
        None
    } else {
        Work::from_session(session)
    };
    let mut progress = Progress::new(all, quiet, work);
    let mut announced = quiet;
    let result = session.execute(&interrupted, &mut |summary| {
        if let (false, Some(sizes)) = (announced, &summary.sizes) {
            progress.say(&format!("engine: {sizes}"));
            announced = true;
        }
        progress.update(summary);
    });
    progress.finish();
    let (ended, summary) = result?;
    if let Some(file) = &session.outputs.summary {
        output::write_json(file, &summary.to_json())?;
    }
    if ended == RunEnd::Interrupted {
        let done = summary.verdicts();
        let kept = match session.out_with_journal() {
            Some(_) => " and kept; run the same command again to go on",
            None => {
                "; those written to standard output are all there is: with `-o` the run could go on"
            }
        };
        say(&format!(
            "interrupted: {done} of {all} verdicts are done{kept}"
        ));
        return Ok(INTERRUPTED);
    }
    if !quiet {
        print_summary(&summary);
    }
    warnings::print(session, &summary, quiet);
    if let (false, Some(out)) = (quiet, &session.outputs.verdicts) {
        let journal = session.out_with_journal().map(journal_path);
        let journal = journal.map_or_else(String::new, |path| {
            format!(", journal in {}", path.display())
        });
        say(&format!("verdicts in {}{journal}", out.path().display()));
    }
    Ok(end.code_of(&summary))
}

/// Raw arguments into a session; reads the input and the model's text side, not its weights.
fn resolve(arguments: JudgeArguments) -> Result<Session, Failure> {
    let trials = arguments.sampling.trials;
    let shard = arguments.rows.shard;
    let mut outputs = arguments.output.resolve(shard, trials)?;
    outputs.keep_open = arguments.no_retry_failed;
    let out = outputs.path().map(Path::to_owned);
    if out.is_some() {
        // A missing input is found before a model is fetched.
        sources(&arguments.inputs, out.as_deref()).or_usage()?;
    }
    let devices = arguments
        .gpus
        .devices(&arguments.model, &arguments.engine)
        .or_usage()?;
    // A dry run reads no weights.
    let want = if arguments.dry_run {
        Want::Description
    } else {
        Want::Everything
    };
    let begun = out.as_deref().filter(|_| !arguments.output.restart);
    let ResolvedJudge {
        judge,
        protocol,
        template,
        mut options,
    } = ResolvedJudge::new(
        &arguments.judge,
        &arguments.endpoint,
        &arguments.verdict,
        &arguments.sampling,
        want,
        begun,
    )?;
    if let Some((_, text)) = &judge
        && arguments.several.is_cascade()
    {
        let why_not = text.endpoint_without_probabilities();
        CascadeChoice::check_first(&arguments.judge.model, why_not).or_usage()?;
    }
    options.own = arguments.own_solutions;
    let engine = arguments.engine.options(&arguments.model);
    let cache = arguments
        .cache
        .map(|folder| (folder, arguments.cache_size.unwrap_or(CACHE_SIZE)));
    let source = match judge {
        Some((model, text)) => VerdictSource::Model(Box::new(ModelRun {
            model,
            text,
            devices,
            engine,
            cache,
        })),
        None => VerdictSource::Rules,
    };
    let columns = arguments
        .judge
        .prompt
        .columns(&arguments.columns, protocol.as_ref())
        .or_usage()?;

    let earlier_samples = begun
        .and_then(|out| earlier_input(&journal_path(out)))
        .map(|input| input.samples);
    let loaded = load_inputs(
        &arguments.inputs,
        &LoadOptions {
            keep: Keep::parse(&arguments.output.keep),
            earlier: earlier_samples,
            ..arguments
                .rows
                .options(columns, arguments.output.skip_bad, out.as_deref())
        },
    )?;
    let model_name = match &source {
        VerdictSource::Model(run) => run.model.server().map(|one| one.model().to_owned()),
        VerdictSource::Answers(_) | VerdictSource::Rules => None,
    };
    let session = Session {
        loaded,
        data_origins: arguments.data_origins,
        earlier_samples,
        shard: arguments.rows.shard,
        options,
        source,
        protocol: identity(protocol.as_ref(), &template),
        // Tokens that are computed here have no price.
        price: arguments.endpoint.price.filter(|_| model_name.is_some()),
        model_name: model_name.unwrap_or(arguments.judge.model),
        outputs,
    };
    Ok(session)
}

/// Refuses the first option that has no meaning under the protocol.
pub(super) fn refuse_meaningless(
    protocol: &Protocol,
    why_not: &[(&str, Option<&str>)],
) -> anyhow::Result<()> {
    for (option, why) in why_not {
        if let Some(why) = why {
            let name = &protocol.name;
            bail!("{option} has no meaning under protocol {name}: {why}");
        }
    }
    Ok(())
}

/// Why an option for truth values has no meaning.
pub(super) const ONLY_SCORE: &str = "it gives a score, and judges neither process nor outcome";

/// The protocol, and the hash of it and its prompt text.
pub(super) fn identity(protocol: &Protocol, template: &PromptTemplate) -> Identity {
    Identity {
        name: protocol.name.clone(),
        hash: protocol.hash.as_ref().map_or_else(
            || template.hash(),
            |own| format!("{own} {}", template.hash()),
        ),
    }
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

pub(super) fn load_inputs(
    inputs: &[PathBuf],
    options: &LoadOptions,
) -> Result<Loaded<Rows>, Failure> {
    if inputs == [PathBuf::from("-")] && std::io::stdin().is_terminal() {
        bail_usage!(
            "no input: name a JSONL file, a folder of them, or pipe rows in; see `juror judge --help`"
        );
    }
    Ok(index(inputs, options)?)
}

/// Prints the columns used, and how many lines are no samples, and where they are.
pub(super) fn describe_input(loaded: &Loaded<Rows>, rejected: Option<&OutputFile>) {
    say(&format!("columns: {}", loaded.columns));
    if let (bad @ 1.., Some(file)) = (loaded.rejected.len(), rejected) {
        let (all, file) = (loaded.lines_read, file.path().display());
        say(&format!("{bad} of {all} lines set aside as bad in {file}"));
    }
}

/// Prints what must be known of the judge and, unless `quiet`, the input and the columns used.
pub(super) fn describe(session: &Session, quiet: bool) {
    let loaded = &session.loaded;
    for note in session.text().iter().flat_map(|text| &text.notes) {
        say(&format!("note: {note}"));
    }
    if quiet {
        return;
    }
    describe_input(loaded, session.outputs.rejected.as_ref());
    if let Some(shard) = session.shard {
        say(&format!(
            "shard {shard}: {} of {} samples",
            loaded.samples.count(),
            loaded.accepted
        ));
    }
}

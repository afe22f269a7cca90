//! `juror serve`

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use super::endpoint::{ENDPOINT, EndpointArguments, read_key};
use super::engine::{EngineArguments, GpusArgument, ModelArguments};
use super::judge::{JudgeChoice, ResolvedJudge, VerdictArguments, identity, parse_size};
use super::rows::finite;
use super::sampling::SamplingArguments;
use super::several::{self, CascadeChoice, PanelFile, SeveralArguments};
use super::{Command, DONE, Failure, OrFail, catch_interrupts, say, write_line};
use crate::cli::columns::ColumnArguments;
use juror_data::{ColumnMap, Needs, RubricNeed};
use juror_hub::Want;
use juror_judge::judge::cache::{self, AnswerCache, CACHE_SIZE};
use juror_judge::judge::service::ServiceSetup;
use juror_judge::judge::together::Together;
use juror_judge::judge::{JudgeModel, RulesMode, RunOptions};
use juror_judge::openai::conversation::ChatModel;
use juror_judge::openai::generation::Defaults;
use juror_judge::protocol::{Protocol, Yields};
use juror_judge::reward::RewardPolicy;
use juror_judge::runtime::Phase;
use juror_judge::server::{Answerer, Event, JudgeIdentity, Limits, NamedSetup, ServerSetup, serve};

/// Judge over HTTP: for trainers, evaluation harnesses and any client of OpenAI's API
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ServeArguments {
    #[command(flatten)]
    server: ServerArguments,

    #[command(flatten)]
    judge: JudgeChoice,
    #[command(flatten)]
    several: SeveralArguments,
    #[command(flatten)]
    endpoint: EndpointArguments,
    /// Where a server put all of an answer into `reasoning_content`, read it there: a response in chat messages, and what a judge
    /// with an --endpoint answers
    #[arg(long, help_heading = ENDPOINT)]
    answer_in_reasoning: bool,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    gpus: GpusArgument,
    #[command(flatten)]
    sampling: SamplingArguments,
    #[command(flatten)]
    verdict: VerdictArguments,
    /// Keep the judge's answers in a folder, and take those that others have left there: what was judged outlives the server
    #[arg(long, value_name = "DIR", help_heading = SERVER)]
    cache: Option<PathBuf>,
    /// What --cache may hold, as `500MB` or `20GB` [default: 2GB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "cache", help_heading = SERVER)]
    cache_size: Option<u64>,
    #[command(flatten)]
    engine: EngineArguments,
}

/// The server itself, whoever judges.
#[derive(Debug, Clone, PartialEq, Args)]
struct ServerArguments {
    /// Address to listen at; any but a loopback address needs --api-key, --api-key-file or --insecure
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1", help_heading = SERVER)]
    host: String,
    /// Port to listen at; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8000, help_heading = SERVER)]
    port: u16,
    /// Key that clients must send; others see it in the list of processes, so rather --api-key-file or `JUROR_API_KEY`
    #[arg(long, value_name = "KEY", env = "JUROR_API_KEY", hide_env_values = true, help_heading = SERVER)]
    api_key: Option<String>,
    /// File that holds the key; goes before --api-key
    #[arg(long, value_name = "FILE", help_heading = SERVER)]
    api_key_file: Option<PathBuf>,
    /// Serve without a key whoever can reach the address, under every name (`Host`)
    #[arg(long, help_heading = SERVER)]
    insecure: bool,
    /// What clients of OpenAI's API may call the model, in place of --model's name; answers, `/v1/models` and metrics have it. Verdicts
    /// name the model itself
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = NonEmptyStringValueParser::new(), help_heading = SERVER)]
    served_model_name: Vec<String>,
    /// Reward of a judgement that failed, for trainers that cannot leave a sample out (`/get_reward`, `/reward`) [default: null]
    #[arg(long, value_name = "REWARD", allow_negative_numbers = true, value_parser = finite, help_heading = SERVER)]
    failure_reward: Option<f64>,
    /// Most bytes of a request
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = parse_size, help_heading = SERVER)]
    max_body: u64,
    /// Most samples of a request
    #[arg(long, value_name = "N", default_value_t = 65_536, help_heading = SERVER)]
    max_samples: usize,
    /// Most bytes of one text of a sample
    #[arg(long, value_name = "SIZE", default_value = "4MB", value_parser = parse_size, help_heading = SERVER)]
    max_text: u64,
    /// End when standard input is closed: for a program that starts the server and may be killed
    #[arg(long, help_heading = SERVER)]
    exit_with_stdin: bool,
    /// Print a line for each request: who asks for what, the status, how long it took; nothing of what is judged
    #[arg(long, conflicts_with = "quiet", help_heading = SERVER)]
    log_requests: bool,
    /// Print warnings and errors only
    #[arg(short, long, help_heading = SERVER)]
    quiet: bool,
}

const SERVER: &str = "Server";

const AFTER_HELP: &str = "\
Routes:
  POST /v1/judge      {\"samples\": [{\"question\", \"reference\", \"response\"}, …]}; a line for each
                      verdict as they come with `Accept: application/x-ndjson`
  POST /get_reward    OpenRLHF's remote reward model
  POST /reward        slime's remote reward model (--reward-key reward)
  POST /v1/chat/completions, /v1/completions; GET /v1/models
                      the model for clients of OpenAI's API
  POST /sleep, /wake_up
                      weights and cache leave the GPU and come back
  GET  /health, /ready, /metrics

With --rules only there is no model: /v1/judge, /get_reward and /reward give the rules' outcome as the reward. With --cascade \
or --panel they give the verdicts of several judges together, which are all loaded at once; none of them answers OpenAI's API.

Once it listens, a line {\"url\", \"model\"} goes to standard output, and a `curl` line to try to standard error. It refuses nothing because it is busy: requests wait. \
What is asked twice is judged once, also where a client gave up and asks again. `X-Client-Id: NAME` tells clients apart that \
take turns; without it each connection is one. SIGTERM or Ctrl-C ends it once the engines have answered what they have.";

pub(super) fn run(arguments: ServeArguments) -> Result<u8, Failure> {
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        let why = "the clock of this system is before 1970, where HTTP has no dates: set it, and start the server again";
        return Err(anyhow::anyhow!(why)).or_fail();
    }
    let quiet = arguments.server.quiet;
    let (host, port) = (arguments.server.host.clone(), arguments.server.port);
    let exit_with_stdin = arguments.server.exit_with_stdin;
    let key = key_in_shell(&arguments.server);
    let setup = resolve(arguments)?;
    let model = setup.name().to_owned();
    let example = example(setup.columns.needs());
    let interrupted = catch_interrupts().or_fail()?;
    if exit_with_stdin {
        end_with_stdin(&interrupted).or_fail()?;
    }
    let mut tell = |event| match event {
        Event::Listening(address) => {
            let line = json!({"url": format!("http://{address}"), "model": model});
            let mut out = std::io::stdout();
            // Whoever started the server may not read this.
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            if !quiet {
                let curl = curl(address, key.as_deref(), &example);
                say(&format!("listening at http://{address}; to try it:"));
                write_line(&format!("  {curl}"));
            }
        }
        Event::Told(line) if !quiet => say(&line),
        Event::Phase(Phase::Asleep(Some(why))) => say(&format!(
            "could not load the model again, and sleeps on: {why}; free the device and ask for /wake_up"
        )),
        Event::Phase(phase) if !quiet => match phase {
            Phase::Ready(sizes) => say(&format!("ready; engine: {sizes}")),
            Phase::Asleep(_) => say("asleep: weights and cache are freed"),
            Phase::Loading => say("loading the model"),
            Phase::Draining | Phase::Stopped | Phase::Failed(_) => {}
        },
        Event::Told(_) | Event::Phase(_) => {}
    };
    serve(&host, port, setup, &interrupted, &mut tell).or_fail()?;
    if !quiet {
        say("ended: what the engines had was answered");
    }
    Ok(DONE)
}

/// Raw arguments into a server; reads the model's text side, not its weights.
fn resolve(mut arguments: ServeArguments) -> Result<ServerSetup, Failure> {
    let api_key = api_key(&arguments.server).or_usage()?;
    check_access(&arguments.server, api_key.is_some()).or_usage()?;
    if arguments.verdict.rules.rules == RulesMode::Only {
        let given = &mut arguments.verdict.reward;
        let reward = *given.get_or_insert(RewardPolicy::Outcome);
        if reward.of_values(None, Some(true), None).is_none() {
            bail_usage!(
                "--reward {reward} gives no right answer a reward with --rules only, which says nothing of the process: leave it out"
            );
        }
    }
    let (served, answerer) = answerer(&arguments)?;
    let mut names = arguments.server.served_model_name;
    // A judge that is here answers OpenAI's routes too.
    let chat = match &answerer {
        Answerer::Model(ServiceSetup {
            model: JudgeModel::Here(source),
            ..
        }) => {
            if names.is_empty() {
                names.push(served.identity.model.clone());
            }
            let style = arguments.judge.chat.style();
            let mut chat = ChatModel::load(names, source, style).or_usage()?;
            chat.settle_head(source)?;
            Some(Arc::new(chat))
        }
        _ if !names.is_empty() => bail_usage!(
            "--served-model-name is for clients of OpenAI's API, which this server does not answer: leave it out"
        ),
        _ => None,
    };
    Ok(ServerSetup {
        answerer,
        chat,
        defaults: served.defaults,
        identity: served.identity,
        columns: served.columns,
        yields: served.yields,
        api_key,
        insecure: arguments.server.insecure,
        failure_reward: arguments.server.failure_reward,
        limits: Limits {
            body: arguments.server.max_body as usize,
            samples: arguments.server.max_samples,
            text: arguments.server.max_text as usize,
        },
        log_requests: arguments.server.log_requests.then_some(say),
    })
}

/// A sample that the judge can be asked about: a lucky guess, with what else the protocol reads of a row.
fn example(needs: &Needs) -> Value {
    let mut sample = json!({
        "question": "Tom has 38 stamps. He buys 25 more and gives 14 to Ana. How many stamps does Tom have now?",
        "reference": "49",
        "response": "38 + 25 = 53, 53 - 14 = 49. The answer is 49.",
    });
    if needs.rubric == RubricNeed::OfRow {
        sample["rubric"] = json!(["Every step is right", "The answer is 49"]);
    }
    if needs.other {
        sample["other_response"] = json!("38 + 25 = 63, 63 - 14 = 49. The answer is 49.");
    }
    json!({"samples": [sample]})
}

/// The header with the key that a client sends, for a shell; the key itself is not shown.
fn key_in_shell(server: &ServerArguments) -> Option<String> {
    let variable = std::env::var("JUROR_API_KEY").ok();
    let key = match (&server.api_key_file, server.api_key.as_deref()) {
        (Some(file), _) => format!("$(cat '{}')", file.display()),
        (None, None | Some("")) => return None,
        (None, key) if key == variable.as_deref() => "$JUROR_API_KEY".to_owned(),
        (None, Some(_)) => "KEY".to_owned(),
    };
    Some(format!("-H \"Authorization: Bearer {key}\" "))
}

/// A command line that asks the server about a sample.
fn curl(address: SocketAddr, key: Option<&str>, example: &Value) -> String {
    let mut address = address;
    // An address that stands for all is no address to ask.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    let key = key.unwrap_or_default();
    format!("curl -g {key}'http://{address}/v1/judge' -d '{example}'")
}

/// What a server says of its judge, and how it reads rows for it.
struct Served {
    defaults: Defaults,
    identity: JudgeIdentity,
    columns: ColumnMap,
    yields: Yields,
}

impl Served {
    /// Of several judges that give a verdict `together`, which holds `yields`.
    fn of_several(all: Vec<Self>, yields: Yields, together: String) -> anyhow::Result<Self> {
        let mut identities = Vec::new();
        let mut served: Option<Self> = None;
        for mut one in all {
            identities.push(one.identity.clone());
            if let Some(before) = served {
                one.columns = before.columns.joined(&one.columns).context(
                    "the judges of a server read the same rows, and these take different rubrics: give one server to each",
                )?;
                one.defaults = before.defaults;
            }
            served = Some(one);
        }
        let served = served.context("there is no judge")?;
        Ok(Self {
            identity: JudgeIdentity::of_several(identities, together),
            yields,
            ..served
        })
    }
}

/// The judges that the user wants.
fn answerer(arguments: &ServeArguments) -> Result<(Served, Answerer), Failure> {
    if let Some(file) = &arguments.several.panel {
        return panel(arguments, file);
    }
    if let Some(choice) = arguments.several.cascade(&arguments.verdict).or_usage()? {
        return cascade(arguments, &choice);
    }
    let (served, one) = one(arguments)?;
    let answerer = match one {
        One::Rules(options) => Answerer::Rules(options),
        One::Model(service) => Answerer::Model(*service),
    };
    Ok((served, answerer))
}

/// Two judges: the second is asked where the first is unsure.
fn cascade(
    arguments: &ServeArguments,
    choice: &CascadeChoice,
) -> Result<(Served, Answerer), Failure> {
    let lines = choice.models.each_ref().map(|model| {
        let mut line = arguments.clone();
        line.judge.model.clone_from(model);
        // It draws from what the first judge is sure of.
        line.verdict.rules.audit = None;
        line
    });
    let named = choice.names.iter().cloned().zip(lines).collect();
    let (all, setups) = several(named, CascadeChoice::check)?;
    let first = &setups[0].setup;
    let why_not = first.text.endpoint_without_probabilities();
    CascadeChoice::check_first(&choice.models[0], why_not).or_usage()?;
    let (verdict, seed) = (&arguments.verdict, arguments.sampling.seed);
    let rule = choice.cascade(&first.text, first.options.reward, verdict, seed);
    let (low, high) = rule.unsure;
    let audit = match rule.audit {
        share if share > 0.0 => format!(", audit {share}, seed {seed}"),
        _ => String::new(),
    };
    let together = format!("cascade, unsure {low}..{high}{audit}");
    let served = Served::of_several(all, rule.yields, together).or_usage()?;
    Ok((served, Answerer::Several(setups, Together::Cascade(rule))))
}

fn panel(arguments: &ServeArguments, file: &Path) -> Result<(Served, Answerer), Failure> {
    let panel = PanelFile::read(file, &arguments.verdict).or_usage()?;
    let mut named = Vec::new();
    for (command, judge) in panel.commands(file, "serve").zip(&panel.judges) {
        let Command::Serve(line) = command.or_usage()? else {
            bail_usage!("the options of a judge must be those of `juror serve`");
        };
        if line.server != arguments.server {
            bail_usage!(
                "{}: {}: options of the server are not for one of its judges",
                file.display(),
                judge.name
            );
        }
        named.push((judge.name.clone(), *line));
    }
    let (all, setups) = several(named, |_| Ok(()))?;
    let texts = setups.iter().map(|one| Some(Arc::clone(&one.setup.text)));
    let voting = panel.votes(&texts.collect::<Vec<_>>(), &arguments.verdict);
    let together = format!("panel, {}", panel.rule.name());
    let served = Served::of_several(all, voting.yields(), together).or_usage()?;
    Ok((served, Answerer::Several(setups, Together::Panel(voting))))
}

/// Several judges, each by its name and its own arguments; none is fetched before each is known, and its protocol checked.
fn several(
    lines: Vec<(String, ServeArguments)>,
    check_protocol: fn(&Protocol) -> anyhow::Result<()>,
) -> Result<(Vec<Served>, Vec<NamedSetup>), Failure> {
    let judges = lines
        .iter()
        .map(|(_, line)| (&line.endpoint, line.judge.model.as_str()));
    EndpointArguments::check_keys(judges).or_usage()?;
    let together = lines
        .iter()
        .filter(|(_, line)| line.engine.tensor_parallel.is_some_and(|count| count > 1));
    if together.count() > 1 {
        // Sums of two groups may wait for each other where each GPU runs them in its own order.
        bail_usage!("--tensor-parallel is for one judge of several: NCCL takes one group on a GPU");
    }
    for (_, line) in &lines {
        let protocol = several::check(&line.judge, &line.endpoint, &line.sampling)?;
        check_protocol(protocol.as_ref()).or_usage()?;
    }
    let mut all = Vec::new();
    let mut setups = Vec::new();
    for (name, line) in lines {
        let (mut served, One::Model(setup)) = one(&line)? else {
            let why = "a judge of several must be a model, and --rules only asks none";
            bail_usage!(why);
        };
        served.identity.name = Some(name.clone());
        all.push(served);
        setups.push(NamedSetup {
            name,
            setup: *setup,
        });
    }
    Ok((all, setups))
}

enum One {
    Model(Box<ServiceSetup>),
    Rules(RunOptions),
}

/// One judge, and what a server says of it; reads the model's text side, not its weights.
fn one(arguments: &ServeArguments) -> Result<(Served, One), Failure> {
    if arguments.sampling.trials > 1 {
        bail_usage!(
            "--trials is for files: a server gives one verdict for each sample that it is sent"
        );
    }
    let devices = arguments.gpus.devices(&arguments.model, &arguments.engine);
    let devices = devices.or_usage()?;
    let mut endpoint = arguments.endpoint.clone();
    endpoint.answer_in_reasoning = arguments.answer_in_reasoning;
    let resolved = ResolvedJudge::new(
        &arguments.judge,
        &endpoint,
        &arguments.verdict,
        &arguments.sampling,
        Want::Everything,
        None,
    )?;
    let protocol = resolved.protocol.as_ref();
    let columns = arguments
        .judge
        .prompt
        .columns(&ColumnArguments::default(), protocol)
        .or_usage()?
        .with_reasoning(arguments.answer_in_reasoning)
        .fixed();
    let mut options = resolved.options;
    let defaults = Defaults {
        max_new_tokens: options.max_new_tokens,
        seed: options.seed,
    };
    let own = identity(protocol, &resolved.template);
    let yields = protocol.yields();
    let Some((model, text)) = resolved.judge else {
        let served = Served {
            defaults,
            identity: JudgeIdentity {
                model: "rules".to_owned(),
                commit: env!("CARGO_PKG_VERSION").to_owned(),
                protocol: options.outcome_rules.describe(),
                prompt_hash: String::new(),
                ..JudgeIdentity::default()
            },
            columns,
            yields: Yields {
                outcome: true,
                ..Yields::default()
            },
        };
        return Ok((served, One::Rules(options)));
    };
    for note in &text.notes {
        say(&format!("note: {note}"));
    }
    let engine = arguments.engine.options(&arguments.model);
    if let Some(folder) = &arguments.cache {
        let here = model.files().map_or(&[][..], |_| &devices);
        let opened: Result<Vec<_>, _> = here.iter().map(|device| device.open()).collect();
        let opened = opened.or_usage()?;
        let identity = cache::identity(&model, &engine, opened.iter())?;
        let size = arguments.cache_size.unwrap_or(CACHE_SIZE);
        options.cache = Some(Arc::new(
            AnswerCache::open(folder, identity, size).or_usage()?,
        ));
    }
    let (name, commit) = match &model {
        JudgeModel::Here(source) => {
            let commit = match source.origin() {
                Some(origin) if source.adapter().is_none() => origin,
                _ => source.hash()?,
            };
            (arguments.judge.model.clone(), commit)
        }
        JudgeModel::Elsewhere(endpoint) => {
            (endpoint.model().to_owned(), endpoint.address().to_owned())
        }
    };
    let served = Served {
        defaults,
        identity: JudgeIdentity {
            model: name,
            commit,
            protocol: own.name,
            prompt_hash: own.hash,
            ..JudgeIdentity::default()
        },
        columns,
        yields,
    };
    let service = ServiceSetup {
        model,
        text,
        options,
        devices,
        engine,
    };
    Ok((served, One::Model(Box::new(service))))
}

fn api_key(server: &ServerArguments) -> anyhow::Result<Option<String>> {
    let key = match &server.api_key_file {
        // Headers come without white space around them.
        None => server.api_key.as_ref().map(|key| key.trim().to_owned()),
        Some(path) => Some(read_key(path)?),
    };
    if key.as_deref().is_some_and(str::is_empty) {
        // An empty variable is as good as none.
        if server.api_key_file.is_none() && server.api_key == std::env::var("JUROR_API_KEY").ok() {
            return Ok(None);
        }
        bail!("the API key is empty: give one, or leave the option out");
    }
    Ok(key)
}

/// Refuses an address that others can reach, unless clients need a key or the user wants it so.
fn check_access(server: &ServerArguments, has_key: bool) -> anyhow::Result<()> {
    let host = &server.host;
    let addresses: Vec<IpAddr> = (host.as_str(), server.port)
        .to_socket_addrs()
        .with_context(|| format!("--host {host} is no address of this machine"))?
        .map(|address| address.ip())
        .collect();
    if has_key || server.insecure || addresses.iter().all(IpAddr::is_loopback) {
        return Ok(());
    }
    bail!(
        "others can reach {host}: give clients a key with --api-key-file FILE, or say --insecure to serve everybody who can reach it"
    );
}

/// Has the server end once standard input is closed.
fn end_with_stdin(interrupted: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let interrupted = Arc::clone(interrupted);
    std::thread::Builder::new()
        .name("stdin".into())
        .spawn(move || {
            let mut input = std::io::stdin().lock();
            let mut bytes = [0; 64];
            while input.read(&mut bytes).is_ok_and(|read| read > 0) {}
            interrupted.store(true, Ordering::Relaxed);
        })
        .context("could not watch standard input")?;
    Ok(())
}

#[cfg(test)]
mod tests;

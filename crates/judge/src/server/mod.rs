//! `juror serve`: the judge over HTTP, for trainers and harnesses.
//!
//! | route | who calls it | file |
//! |---|---|---|
//! | `POST /v1/judge` | anyone; juror's own | `judge` |
//! | `POST /get_reward` | OpenRLHF | `openrlhf` |
//! | `POST /reward` | slime | `slime` |
//! | `POST /v1/chat/completions`, `/v1/completions`, `GET /v1/models` | clients of OpenAI's API | `openai` |
//! | `POST /sleep`, `/wake_up`, `GET /is_sleeping`, `/health`, `/ready`, `/version`, `/metrics` | whoever runs the server | `operation` |
//!
//! The server refuses nothing because it is busy: connections, bodies and samples wait. See `docs/decisions/serve.md`.

mod access;
mod body;
mod budget;
mod connection;
mod error;
mod judge;
mod local;
mod log;
mod metrics;
mod openai;
mod openrlhf;
mod operation;
mod rollout;
mod rows;
mod slime;
mod stream;
mod weight;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};
use tokio::net::TcpListener;

use crate::judge::judges::Judges;
pub use crate::judge::judges::{Answerer, NamedSetup};
use crate::openai::conversation::ChatModel;
use crate::openai::generation::Defaults;
use crate::protocol::Yields;
use crate::runtime::{Observer, Phase};
use access::ApiKey;
use budget::Budget;
use error::ApiError;
use juror_base::threads::ThreadError;
use juror_data::ColumnMap;
pub use local::{asset, serve_pages};
use log::RequestLog;
use metrics::Metrics;
pub use stream::channel_body;

/// How often it is looked whether the server is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often it is told what was done.
const MINUTE: Duration = Duration::from_mins(1);

/// How long clients have to take their answers once the server ends.
const GOODBYE: Duration = Duration::from_secs(10);

/// Threads that talk to clients: reading and writing takes little.
const THREADS: usize = 2;

const BODY_THREADS: usize = 16;

/// What is judged, in words for clients.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct JudgeIdentity {
    /// Of one of several, its name in their verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model's name, as the user gave it.
    pub model: String,
    /// The commit of a model from the hub, else the hash of the model's files.
    pub commit: String,
    pub protocol: String,
    pub prompt_hash: String,
    /// Of several, how they give a verdict together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<String>,
    /// Those that give the verdicts together; the other fields are then those of all, joined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeIdentity>,
}

impl JudgeIdentity {
    /// Several judges', that give a verdict together so.
    pub fn of_several(judges: Vec<Self>, together: String) -> Self {
        let joined = |field: fn(&Self) -> &str| {
            let mut all: Vec<&str> = Vec::new();
            for value in judges.iter().map(field) {
                if !all.contains(&value) {
                    all.push(value);
                }
            }
            all.join(",")
        };
        Self {
            name: None,
            model: joined(|judge| &judge.model),
            commit: joined(|judge| &judge.commit),
            protocol: joined(|judge| &judge.protocol),
            prompt_hash: joined(|judge| &judge.prompt_hash),
            together: Some(together),
            judges,
        }
    }
}

/// How much one request may hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub body: usize,
    pub samples: usize,
    /// Bytes of one text of a sample.
    pub text: usize,
}

pub struct ServerSetup {
    pub answerer: Answerer,
    /// The model that answers OpenAI's routes too: of one judge that is here.
    pub chat: Option<Arc<ChatModel>>,
    pub defaults: Defaults,
    pub identity: JudgeIdentity,
    pub columns: ColumnMap,
    /// What a verdict of the protocol holds.
    pub yields: Yields,
    /// The key that clients must have.
    pub api_key: Option<String>,
    /// Without a key: answer to every `Host`.
    pub insecure: bool,
    /// The reward of a judgement that failed, for trainers that cannot leave a sample out.
    pub failure_reward: Option<f64>,
    /// How much one request may hold.
    pub limits: Limits,
    /// Writes a line for each request, if that is wanted, in a thread of its own.
    pub log_requests: Option<fn(&str)>,
}

impl ServerSetup {
    /// What clients call what answers them.
    pub fn name(&self) -> &str {
        let name = self.chat.as_ref().and_then(|chat| chat.names.first());
        name.unwrap_or(&self.identity.model)
    }
}

pub enum Event {
    /// It accepts connections at this address.
    Listening(SocketAddr),
    /// What the judge does has changed.
    Phase(Phase),
    /// In a line: what a minute of work brought.
    Told(String),
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot listen at {address}: {source}; choose another with --host and --port")]
    Listen { address: String, source: io::Error },
    #[error("the server could not be started: {0}")]
    Start(#[source] io::Error),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error("the judge has ended: {0}")]
    Judge(String),
}

struct App {
    judges: Arc<Judges>,
    /// None where the rules judge alone, several judges do, or the model is behind another server.
    chat: Option<Arc<ChatModel>>,
    defaults: Defaults,
    identity: JudgeIdentity,
    columns: ColumnMap,
    yields: Yields,
    api_key: Option<ApiKey>,
    /// What it was told to listen at.
    host: String,
    /// Whether requests must be for this machine.
    checks_host: bool,
    failure_reward: Option<f64>,
    limits: Limits,
    budget: Arc<Budget>,
    metrics: Arc<Metrics>,
    /// Where every request is told, if it is.
    log: Option<RequestLog>,
}

/// What runs a server, with so many threads for what takes long.
fn start_runtime(threads: usize) -> Result<tokio::runtime::Runtime, ServerError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(threads)
        .enable_all()
        .build()
        .map_err(ServerError::Start)
}

async fn listen(host: &str, port: u16) -> Result<(TcpListener, SocketAddr), ServerError> {
    let listener = TcpListener::bind((host, port)).await;
    let listener = listener.map_err(|source| ServerError::Listen {
        address: format!("{host}:{port}"),
        source,
    })?;
    let address = listener.local_addr().map_err(ServerError::Start)?;
    Ok((listener, address))
}

/// Serves until `interrupted` is set, then answers what the engines have and ends.
/// Errors: when the server cannot be started, or the judge ends by itself.
pub fn serve(
    host: &str,
    port: u16,
    setup: ServerSetup,
    interrupted: &AtomicBool,
    tell: &mut dyn FnMut(Event),
) -> Result<(), ServerError> {
    connection::raise_open_files();
    let runtime = start_runtime(BODY_THREADS)?;
    let end = runtime.block_on(async {
        let (listener, address) = listen(host, port).await?;
        let app = Arc::new(App::start(host, setup)?);
        tell(Event::Listening(address));
        let connections = connection::Connections::accept(listener, router(&app));
        let mut phase = app.judges.phase();
        let mut minute = (Instant::now(), app.done());
        let end = loop {
            if interrupted.load(Ordering::Relaxed) {
                break Ok(());
            }
            let now = app.judges.phase();
            if now != phase {
                phase = now.clone();
                if let Phase::Failed(why) = now {
                    break Err(ServerError::Judge(why));
                }
                tell(Event::Phase(now));
            }
            if minute.0.elapsed() >= MINUTE {
                let before = std::mem::replace(&mut minute, (Instant::now(), app.done()));
                if let Some(line) = app.minute(before.1, minute.1) {
                    tell(Event::Told(line));
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        };
        // What the engines have is answered; who waits for more is told to ask again.
        let judges = Arc::clone(&app.judges);
        let ended = tokio::task::spawn_blocking(move || judges.end()).await;
        // Panics of its threads are caught inside.
        drop(ended);
        connections.close(GOODBYE).await;
        end
    });
    // Bodies that are still being read concern nobody.
    runtime.shutdown_background();
    end
}

impl App {
    fn start(host: &str, setup: ServerSetup) -> Result<Self, ServerError> {
        if let Some((judges, members)) = setup.answerer.mismatch() {
            let why = format!("{judges} judges cannot decide by a rule for {members}");
            return Err(ServerError::Start(io::Error::other(why)));
        }
        let metrics = Arc::new(Metrics::new(setup.name()));
        let observer = || -> Observer {
            let own = Arc::clone(&metrics);
            Box::new(move |completion, waited| own.completed(completion, waited))
        };
        let judges = Arc::new(Judges::start(setup.answerer, observer)?);
        let waiting = Arc::clone(&judges);
        Ok(Self {
            judges,
            chat: setup.chat,
            defaults: setup.defaults,
            identity: setup.identity,
            columns: setup.columns,
            yields: setup.yields,
            checks_host: setup.api_key.is_none() && !setup.insecure,
            api_key: setup.api_key.as_deref().map(ApiKey::new),
            host: host.to_owned(),
            failure_reward: setup.failure_reward,
            limits: setup.limits,
            budget: Budget::new(move || waiting.forget_unwanted()),
            metrics,
            log: setup.log_requests.map(RequestLog::start).transpose()?,
        })
    }

    /// Verdicts given and tokens generated since the server began.
    fn done(&self) -> [u64; 2] {
        [
            self.metrics.verdicts(),
            self.judges.stats().generated_tokens,
        ]
    }

    /// What was done between two counts, if there was work.
    fn minute(&self, before: [u64; 2], now: [u64; 2]) -> Option<String> {
        let [verdicts, tokens] = [now[0] - before[0], now[1].saturating_sub(before[1])];
        let (waiting, running) = self.judges.load();
        (verdicts + tokens > 0 || waiting + running > 0).then(|| {
            format!("in the last minute: verdicts {verdicts}, tokens generated {tokens}; {running} requests under way, {waiting} waiting")
        })
    }
}

fn router(app: &Arc<App>) -> Router {
    let guarded = Router::new()
        .route("/v1/judge", post(judge::judge))
        .route("/get_reward", post(openrlhf::get_reward))
        .route("/reward", post(slime::reward))
        .route("/v1/chat/completions", post(openai::answer))
        .route("/v1/completions", post(openai::answer))
        .route("/v1/models", get(openai::models))
        .route("/v1/models/{*model}", get(openai::model))
        .route("/sleep", post(operation::sleep))
        .route("/wake_up", post(operation::wake_up))
        .route("/is_sleeping", get(operation::is_sleeping))
        .route("/metrics", get(operation::metrics))
        .route_layer(middleware::from_fn(body::check_encoding))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            access::check,
        ));
    Router::new()
        .route("/health", get(operation::health))
        .route("/ready", get(operation::ready))
        .route("/version", get(operation::version))
        .merge(guarded)
        .fallback(async |method: axum::http::Method, uri: axum::http::Uri| {
            let why = format!(
                "there is no {method} {}; verdicts: POST /v1/judge, rewards: POST /reward and /get_reward; clients of OpenAI's API send chats to \
                 /v1/chat/completions (AI SDK: `openai.chat(…)`; LangChain: `use_responses_api=False`); see `juror serve --help`",
                uri.path()
            );
            ApiError::new(StatusCode::NOT_FOUND, why)
        })
        .method_not_allowed_fallback(async |method: axum::http::Method, uri: axum::http::Uri| {
            let why = format!("{} does not take {method}", uri.path());
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, why)
        })
        .layer(middleware::from_fn_with_state(
            Arc::clone(app),
            access::identify,
        ))
        .with_state(Arc::clone(app))
}

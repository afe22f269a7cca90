//! Requests over HTTP, and what their failures mean.
//!
//! Redirects are not followed: the key would go where the user has not sent it, and the body with it.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::TlsConfig;

use super::{EndpointError, EndpointSettings};
use crate::rows;
use crate::wire::Route;
use crate::wire::answer::{given, said_of};
use juror_hub::http::{self, retry_after};

const CONNECT: Duration = Duration::from_secs(10);

/// How long what a server says of itself may take, and how many bytes it may have.
const ABOUT: Duration = Duration::from_secs(30);
const ABOUT_BYTES: u64 = 4 << 20;

/// The longest answer that is read, in bytes; for a completion, so many, and so many more for each token and the likeliest in its place.
const MOST_BYTES: u64 = 64 << 20;
const BYTES: u64 = 1 << 20;
const BYTES_A_TOKEN: u64 = 8 << 10;

/// What servers say, in lower case, of a prompt that is too long for them (OpenAI's code, then vLLM, SGLang, llama.cpp, services), beside which
/// must stand that it goes beyond a limit, and of one that a filter takes.
const REFUSALS: &str = include_str!("refusals.tsv");
pub(super) const SHORTEN: &str = "shorten the row, lower --max-new-tokens, or give the server a longer context (vLLM's --max-model-len, \
    SGLang's --context-length, llama.cpp's --ctx-size, Ollama's num_ctx or OLLAMA_CONTEXT_LENGTH)";

/// Bytes of a server's message that are shown.
const MOST_TOLD: usize = 300;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It may pass: the request is made again, not before the time the server asks to wait.
    Passing {
        why: String,
        after: Option<Duration>,
        kind: Passing,
    },
    /// The server refuses this request: with this status, for this reason.
    Refused { status: u16, why: String },
    /// No request will be answered.
    Lasting(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// The server has too much to do.
    Busy,
    /// It cannot be reached, closes connections, or is away for a while.
    Unreachable,
    /// It was reached, and gave no answer that can be read.
    Broken,
}

impl Failure {
    pub(super) fn why(&self) -> &str {
        match self {
            Self::Passing { why, .. } | Self::Refused { why, .. } | Self::Lasting(why) => why,
        }
    }

    /// As the error of `server` that ends a run before it begins.
    pub(super) fn error(&self, server: &str) -> EndpointError {
        let message = format!("{server}: {}", self.why());
        match self {
            Self::Passing { .. } => EndpointError::failure(message),
            Self::Refused { .. } | Self::Lasting(_) => EndpointError::usage(message),
        }
    }
}

/// A connection to a server of OpenAI's API.
pub(super) struct Client {
    agent: Agent,
    /// Its address, without a slash at its end: `http://host:8000/v1`.
    base: String,
    key: Option<String>,
    patience: Duration,
}

impl Client {
    /// Connects to a server; also gives its list of models, which it need not have where the model `is_named`.
    pub(super) fn connect(
        address: &str,
        settings: &EndpointSettings,
        is_named: bool,
    ) -> Result<(Self, Value), EndpointError> {
        let address = address.trim().trim_end_matches('/');
        let shown = http::origin(address);
        if shown.contains('@') {
            return Err(EndpointError::usage(
                "the address of an endpoint holds no user and no password: give the key in the environment or in a file"
                    .to_owned(),
            ));
        }
        if address.contains(['?', '#']) || http::host(address).is_empty() {
            return Err(EndpointError::usage(format!(
                "{shown}: an endpoint's address is as `http://host:8000/v1`"
            )));
        }
        let key = settings.key.as_deref().map(str::trim);
        if key.is_some_and(|key| key.is_empty() || !key.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(EndpointError::usage(
                "the endpoint's key is empty, or has characters that no key has".to_owned(),
            ));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT))
            .max_idle_connections_per_host(settings.at_once())
            .max_idle_connections(settings.at_once());
        let certificates = http::certificates();
        if let Some(roots) =
            certificates.map_err(|error| EndpointError::usage(error.to_string()))?
        {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let mut client = Self {
            agent: config.build().new_agent(),
            base: address.to_owned(),
            key: key.map(str::to_owned),
            patience: settings.patience,
        };
        let patience = client.patience;
        let mut listed = patiently(patience, || client.get("/models"));
        // Nothing is there, or a page of the server's own.
        let is_list = matches!(&listed, Ok(listed) if listed["data"].is_array());
        let is_there = !matches!(listed, Err(Failure::Passing { .. }));
        if is_there && !is_list && !address.ends_with("/v1") {
            client.base = format!("{address}/v1");
            match client.get("/models") {
                // Nothing is there either.
                Err(Failure::Refused { .. }) if is_named => address.clone_into(&mut client.base),
                found => listed = found.or_else(|failure| listed.map_err(|_| failure)),
            }
        }
        match listed {
            Err(Failure::Refused {
                status: 400 | 404 | 405,
                ..
            }) if is_named => Ok((client, Value::Null)),
            Err(failure) => Err(failure.error(&client.base)),
            Ok(listed) => Ok((client, listed)),
        }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The version that the server reports, if it does.
    /// Errors: if it cannot be reached: without its version it would be another server.
    pub(super) fn version(&self) -> Result<Option<String>, EndpointError> {
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        match patiently(self.patience, || self.get_url(&format!("{root}/version"))) {
            Ok(told) => Ok(told["version"].as_str().map(str::to_owned)),
            Err(Failure::Passing { kind, why, .. }) if kind != Passing::Broken => {
                Err(EndpointError::failure(format!("{root}/version: {why}")))
            }
            // Nothing there, or a page.
            Err(_) => Ok(None),
        }
    }

    fn get(&self, path: &str) -> Result<Value, Failure> {
        self.get_url(&format!("{}{path}", self.base))
    }

    fn get_url(&self, url: &str) -> Result<Value, Failure> {
        let mut request = self.agent.get(url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let patience = ABOUT.min(self.patience);
        let request = request.config().timeout_global(Some(patience)).build();
        self.read(Instant::now(), patience, ABOUT_BYTES, request.call())
    }

    /// Asks for a completion. Requests of equal `name` are the same request: a server that knows it need not answer it again.
    pub(super) fn ask(
        &self,
        route: Route,
        body: &Map<String, Value>,
        most_tokens: usize,
        name: &str,
    ) -> Result<Value, Failure> {
        let path = route.path().trim_start_matches("/v1");
        let mut request = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", name);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let request = request.config().timeout_global(Some(self.patience)).build();
        let body = serde_json::to_vec(body).map_err(|error| Failure::Refused {
            status: 0,
            why: error.to_string(),
        })?;
        let most = BYTES.saturating_add(BYTES_A_TOKEN.saturating_mul(most_tokens as u64));
        let (made, sent) = (Instant::now(), request.send(&body[..]));
        self.read(made, self.patience, most.min(MOST_BYTES), sent)
    }

    /// Reads what came of a request that was made at `made`.
    fn read(
        &self,
        made: Instant,
        patience: Duration,
        most: u64,
        sent: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, Failure> {
        let response = sent.map_err(|error| Self::transport(&error, patience))?;
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let after = header("retry-after").and_then(|text| retry_after(text, header("date")));
        let exact = header("retry-after-ms").and_then(|text| text.trim().parse().ok());
        let after = exact.map(Duration::from_millis).or(after);
        let kind = header("content-type").unwrap_or("of no type").to_owned();
        let moved = header("location").map(str::to_owned);
        if (300..400).contains(&status) {
            let to = moved.as_deref().map_or("elsewhere", http::without_query);
            return Err(Failure::Lasting(format!(
                "the server sends requests on to {to}, where no key is sent: if that is right, give that address"
            )));
        }
        let mut text = Vec::new();
        let mut reader = response.into_body().into_reader().take(most + 1);
        let read = reader.read_to_end(&mut text);
        let broken = |why: String| Failure::Passing {
            why,
            after,
            kind: Passing::Broken,
        };
        if text.len() as u64 > most {
            return Err(broken(format!("an answer of more than {most} bytes")));
        }
        let json = serde_json::from_slice::<Value>(&text);
        if !(200..300).contains(&status) {
            let json = json.unwrap_or_default();
            // Google's errors are the first of a list.
            let json = json.get(0).unwrap_or(&json);
            let error = given(json, "error").unwrap_or(json);
            let delay = error["details"].as_array().into_iter().flatten();
            let mut delay =
                delay.filter_map(|detail| detail["retryDelay"].as_str()?.strip_suffix('s'));
            let after = after.or_else(|| retry_after(delay.next()?, None));
            let said = said_of(error).or_else(|| Some(given(json, "detail")?.to_string()));
            let why = self.redacted(told(status, said, &text));
            return Err(self.of_status(status, why, after, error));
        }
        read.map_err(|error| {
            broken(if made.elapsed() >= patience {
                too_late(patience)
            } else {
                format!("the answer broke off: {error}")
            })
        })?;
        json.map_err(|error| {
            let begins = String::from_utf8_lossy(&text[..text.len().min(100)]);
            broken(self.redacted(format!(
                "the answer is not JSON ({error}) but {kind}, and begins with {begins:?}"
            )))
        })
    }

    /// What an answer of this status means, and its error.
    pub(super) fn of_status(
        &self,
        status: u16,
        why: String,
        after: Option<Duration>,
        error: &Value,
    ) -> Failure {
        let passing = |why, kind| Failure::Passing { why, after, kind };
        let (refused, asked) = ("refuses the key", "asks for a key");
        match status {
            401 => Failure::Lasting(format!(
                "the server {} ({why}): give one in the environment variable JUROR_ENDPOINT_KEY or with --endpoint-key-file",
                if self.key.is_some() { refused } else { asked }
            )),
            402 => Failure::Lasting(why),
            429 if why.contains("insufficient_quota") => Failure::Lasting(why),
            // Groq's 498: it has no room.
            429 | 498 => passing(why, Passing::Busy),
            408 | 409 | 424 | 425 | 499 | 502 | 503 | 504 | 529 => {
                passing(why, Passing::Unreachable)
            }
            500.. => passing(why, Passing::Broken),
            // One status for all: without its form the prompt would be as long, or be filtered as well.
            400 | 413 | 422 if says(error, &["too_long", "limit"]) => {
                let (status, why) = (413, format!("{why}; {SHORTEN}"));
                Failure::Refused { status, why }
            }
            400 | 422 if says(error, &["filtered"]) => Failure::Refused { status: 413, why },
            _ => Failure::Refused { status, why },
        }
    }

    /// A text of the server without the key, which some repeat.
    pub(super) fn redacted(&self, text: String) -> String {
        match &self.key {
            Some(key) if text.contains(key.as_str()) => text.replace(key.as_str(), "(the key)"),
            _ => text,
        }
    }

    fn transport(error: &ureq::Error, patience: Duration) -> Failure {
        use std::io::ErrorKind::{
            BrokenPipe, ConnectionRefused, ConnectionReset, InvalidData, UnexpectedEof,
        };
        let text = error.to_string();
        let io = match error {
            ureq::Error::Io(source) => Some(source.kind()),
            _ => None,
        };
        let (why, kind) = match (error, io) {
            (ureq::Error::Http(_) | ureq::Error::BadUri(_), _) => {
                return Failure::Lasting(format!("not an address: {text}"));
            }
            (ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_), _)
            | (_, Some(InvalidData)) => {
                return Failure::Lasting(format!(
                    "{text} (if the server's certificate is of your own authority, name a file that holds it in SSL_CERT_FILE)"
                ));
            }
            (ureq::Error::Timeout(ureq::Timeout::Global), _) => {
                (too_late(patience), Passing::Broken)
            }
            (_, Some(ConnectionReset | UnexpectedEof | BrokenPipe)) => (
                format!("it closed the connection without an answer ({text})"),
                Passing::Unreachable,
            ),
            (_, Some(ConnectionRefused)) => {
                let what =
                    "is the server started, and is this its address, as http://HOST:8000/v1?";
                let why = format!("nothing listens there ({text}): {what}");
                (why, Passing::Unreachable)
            }
            _ => (text, Passing::Unreachable),
        };
        let after = None;
        Failure::Passing { why, after, kind }
    }
}

fn too_late(patience: Duration) -> String {
    format!("no answer within {} s", patience.as_secs())
}

/// Whether a server's message says all of these. Other parts of an answer may quote the request.
fn says(error: &Value, kinds: &[&str]) -> bool {
    let parts = [said_of(error), error["type"].as_str().map(str::to_owned)];
    parts.into_iter().flatten().any(|said| {
        let said = said.to_lowercase();
        let is_said = |kind| rows(REFUSALS).any(|(of, words)| of == kind && said.contains(words));
        kinds.iter().copied().all(is_said)
    })
}

/// What a server says of an error. It may hold parts of a request: only a little of it is told.
fn told(status: u16, message: Option<String>, text: &[u8]) -> String {
    let message = message.unwrap_or_else(|| String::from_utf8_lossy(text).into_owned());
    // Some repeat the status as their code.
    let again = format!("{status}: ");
    let shown: String = message
        .trim_start_matches(&again)
        .chars()
        .filter(|c| !c.is_control())
        .take(MOST_TOLD)
        .collect();
    match &*shown {
        "" => format!("status {status}"),
        _ => format!("status {status}: {shown}"),
    }
}

/// Tries again a few times what may pass, as long as there is patience: for requests before a run.
pub(super) fn patiently<T>(
    patience: Duration,
    mut ask: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    const TIMES: u32 = 4;
    const LONGEST: Duration = Duration::from_secs(20);
    let (begun, most) = (Instant::now(), patience.min(LONGEST * 3));
    let mut times = 0;
    loop {
        times += 1;
        match ask() {
            Err(Failure::Passing { after, .. }) if times < TIMES && begun.elapsed() < most => {
                let pause = Duration::from_millis(500) * 2_u32.pow(times - 1);
                std::thread::sleep(after.unwrap_or(pause).min(LONGEST));
            }
            other => return other,
        }
    }
}

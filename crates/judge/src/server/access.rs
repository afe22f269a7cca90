//! Who may ask, and whose request it is.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::App;
use super::connection::Peer;
use super::error::ApiError;
use super::local::{is_this_machine, without_port};
use super::openai::random;

/// What a request and its answer are known by in logs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest name of a client or a request.
const MOST_NAME: usize = 128;

/// The key that clients must have, as its hash.
pub(super) struct ApiKey(blake3::Hash);

impl ApiKey {
    pub(super) fn new(key: &str) -> Self {
        Self(blake3::hash(key.as_bytes()))
    }

    /// Compares in a time that says nothing of the key: hashes are compared, and by `blake3` in constant time.
    fn is(&self, given: &str) -> bool {
        self.0 == blake3::hash(given.as_bytes())
    }
}

/// Who asks: requests of one client wait for one another, those of different clients take turns.
#[derive(Debug, Clone)]
pub(super) struct Client(pub(super) String);

/// Lets a request pass that has the key, and notes whose it is.
pub(super) async fn check(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (user, given) = credentials(request.headers());
    if let Some(key) = &app.api_key
        && !given.as_deref().is_some_and(|given| key.is(given))
    {
        return ApiError::new(
            StatusCode::UNAUTHORIZED,
            "this server needs its API key: send `Authorization: Bearer KEY`, or write it into the URL as http://NAME:KEY@HOST",
        )
        .with_code("invalid_api_key")
        .into_response();
    }
    // It names this machine, or is what the server was told to listen at.
    let is_own_name = |host: &str| {
        let name = without_port(host);
        is_this_machine(host) || name.is_some_and(|name| name.eq_ignore_ascii_case(&app.host))
    };
    if app.checks_host
        && let Some(host) = request.headers().get(header::HOST)
        && !host.to_str().is_ok_and(is_own_name)
    {
        let why = format!(
            "the request is for the host {host:?}, and without an API key this server answers to localhost and its address alone, as a \
             web page could lead a name of its own here. Ask at http://127.0.0.1 or http://localhost, or start the server with \
             --api-key-file, or with --insecure to answer to every name"
        );
        return ApiError::new(StatusCode::FORBIDDEN, why).into_response();
    }
    if app.api_key.is_none() && request.headers().contains_key(header::ORIGIN) {
        return ApiError::new(
            StatusCode::FORBIDDEN,
            "a web page asks: without an API key that is refused, as any page could. Start the server with --api-key-file",
        )
        .into_response();
    }
    let named = request.headers().get("x-client-id");
    let named = named.and_then(|name| name.to_str().ok()).map(str::to_owned);
    let name = named.or(user).filter(|name| !name.is_empty());
    let client = match (name, request.extensions().get::<Peer>()) {
        (Some(mut name), _) => {
            name.truncate(name.floor_char_boundary(MOST_NAME));
            name
        }
        (None, Some(Peer(address))) => address.to_string(),
        (None, None) => String::new(),
    };
    request.extensions_mut().insert(Client(client));
    next.run(request).await
}

/// Gives every answer the id that its request has, if that is a plain name, else a new one; and has requests told, where that is wanted.
pub(super) async fn identify(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let asked = app.log.as_ref().map(|log| {
        let peer = request.extensions().get::<Peer>();
        let from = peer.map_or(String::new(), |Peer(address)| format!("{address} "));
        let (method, path) = (request.method().as_str(), request.uri().path());
        (log, format!("{from}{method:.20} {path:.200}"))
    });
    let given = request.headers().get(REQUEST_ID).cloned();
    let id = given
        .filter(|id| is_plain(id.as_bytes()))
        .or_else(|| HeaderValue::from_str(&format!("{:016x}", random())).ok());
    let mut response = next.run(request).await;
    if let (Some((log, line)), Some(id)) = (asked, &id) {
        let (status, seconds) = (response.status().as_u16(), began.elapsed().as_secs_f64());
        let id = id.to_str().unwrap_or_default();
        log.tell(format!("{line}: {status} in {seconds:.3} s, request {id}"));
    }
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn is_plain(id: &[u8]) -> bool {
    (1..=MOST_NAME).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

/// The user and the key that a request names: of a bearer token the key alone, of basic credentials both.
fn credentials(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let value = headers.get(header::AUTHORIZATION);
    let value = value.and_then(|value| value.to_str().ok());
    let Some((scheme, rest)) = value.and_then(|value| value.split_once(' ')) else {
        return (None, None);
    };
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return (None, Some(rest.to_owned()));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return (None, None);
    }
    let decoded = STANDARD.decode(rest).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let named = text.as_deref().and_then(|text| text.split_once(':'));
    named
        .map(|(user, key)| (user.to_owned(), key.to_owned()))
        .unzip()
}

//! Pages for the browser of this machine alone (`juror view`, `juror label --page`): at a loopback address, for requests that name it.
//!
//! Another site that a browser shows may lead its own name to this address (DNS rebinding) or send a form here: a request whose
//! `Host` is no name of this machine, or whose `Origin` is another page, is refused.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use super::connection::Connections;
use super::{LOOK_EVERY, ServerError, listen, start_runtime};

/// How long pages under way have once the server ends.
const GOODBYE: Duration = Duration::from_secs(2);

const PAGE_THREADS: usize = 8;

const MOST_FORM: usize = 64 << 10;

/// What every answer tells the browser: nothing but this server's own files may be loaded, run, framed or sent to.
// Not `no-referrer`: a browser would send our own forms with `Origin: null`, as those of pages that hide where they are from.
const HEADERS: &str = include_str!("headers.tsv");

/// A stylesheet or script of pages.
pub fn asset<S: Clone + Send + Sync + 'static>(
    kind: &'static str,
    text: &'static str,
) -> MethodRouter<S> {
    get(async move || ([(header::CONTENT_TYPE, kind)], text))
}

/// Serves pages at a port of 127.0.0.1 (0: any that is free) until `interrupted` is set.
pub fn serve_pages(
    port: u16,
    router: Router,
    interrupted: &AtomicBool,
    listening: &mut dyn FnMut(SocketAddr),
) -> Result<(), ServerError> {
    start_runtime(PAGE_THREADS)?.block_on(async {
        let (listener, address) = listen("127.0.0.1", port).await?;
        listening(address);
        let router = router.layer(DefaultBodyLimit::max(MOST_FORM));
        let router = router.layer(middleware::from_fn(guard));
        let connections = Connections::accept(listener, router);
        while !interrupted.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        connections.close(GOODBYE).await;
        Ok(())
    })
}

/// Refuses requests of other pages and for other names, and adds the headers.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = match refusal(request.method(), request.headers()) {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in crate::rows(HEADERS) {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    response
}

fn refusal(method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    if !is_this_machine(host) {
        return Some(
            "this server answers to 127.0.0.1 and localhost alone: open the address that it printed\n",
        );
    }
    let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
    if headers.contains_key(header::ORIGIN) && !text(header::ORIGIN).is_some_and(is_own) {
        return Some("another page asks, and is refused\n");
    }
    let fetch = |what| text(HeaderName::from_static(what));
    let site = fetch("sec-fetch-site");
    // A link that a person follows may come from anywhere; pictures and scripts of other pages may not.
    let is_link = method == Method::GET
        && fetch("sec-fetch-mode") == Some("navigate")
        && matches!(fetch("sec-fetch-dest"), None | Some("document"));
    let is_ours = matches!(site, None | Some("same-origin"))
        || (method == Method::GET && site == Some("none"))
        || is_link;
    if !is_ours {
        return Some("another page asks, and is refused\n");
    }
    None
}

/// Is a `Host` one of the names of the machine itself, at whatever port (one may be forwarded)?
pub(super) fn is_this_machine(host: &str) -> bool {
    let Some(name) = without_port(host) else {
        return false;
    };
    let address: Result<IpAddr, _> = name.parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// The name or address of a `Host`; none where what follows is no port.
pub(super) fn without_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |rest: &str| {
        rest.strip_prefix(':')
            .is_some_and(|port| port.parse::<u16>().is_ok())
    };
    (rest.is_empty() || is_port(rest)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in [
            "127.0.0.1:8123",
            "localhost",
            "LocalHost:1",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "example.com:8123",
            "127.0.0.1.example.com",
            "localhost.example.com:80",
            "127.0.0.1:80:80",
            "[::1]x",
            "[::1]:x",
            "0.0.0.0:80",
            "127.0.0.1@example.com",
            "localhost:",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn other_pages_are_refused() {
        let ask = |method: Method, more: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:80"));
            for (name, value) in more {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            refusal(&method, &headers).is_none()
        };
        assert!(ask(Method::GET, &[]));
        assert!(ask(
            Method::POST,
            &[
                ("origin", "http://127.0.0.1:80"),
                ("sec-fetch-site", "same-origin")
            ]
        ));
        for origin in [
            "null",
            "http://example.com",
            "http://127.0.0.1:81",
            "https://127.0.0.1:80",
        ] {
            assert!(!ask(Method::GET, &[("origin", origin)]), "{origin}");
        }
        let fetched = |site, mode, dest| {
            let headers = [
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", dest),
            ];
            ask(Method::GET, &headers)
        };
        assert!(
            fetched("cross-site", "navigate", "document"),
            "a link leads here"
        );
        assert!(fetched("none", "navigate", "document"), "typed");
        assert!(!fetched("cross-site", "no-cors", "image"));
        assert!(!fetched("cross-site", "navigate", "iframe"));
        assert!(!ask(Method::POST, &[("sec-fetch-site", "cross-site")]));
    }
}

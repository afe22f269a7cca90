//! The meaning of the hub's error responses, by status and error code.

use std::io::Read;
use std::time::{Duration, Instant};

use serde::Deserialize;
use ureq::http::HeaderMap;

use crate::client::{Client, HubResponse};
use crate::error::Fault;
use crate::name::{FileName, HubId};
use crate::retry::{AttemptError, retry_after};

/// The error that an answer means if it is not the expected one, a file or a revision's description.
pub(crate) fn error_of(
    client: &Client,
    asked: &HubId,
    file: Option<&FileName>,
    answer: HubResponse,
) -> AttemptError {
    let (status, from_hub) = (answer.status(), client.is_hub(answer.url()));
    let headers = answer.headers().clone();
    let code = header(&headers, "x-error-code").unwrap_or_default();
    let url = answer.url().to_owned();
    let said = header(&headers, "x-error-message")
        .map_or_else(|| message_of(answer, client.patience), str::to_owned);
    let said = printable(&said);
    let failed = |message: String| Fault::Status {
        url,
        status,
        message,
        wait: None,
    };
    if matches!(status, 408 | 425 | 429 | 500..) {
        let after = header(&headers, "retry-after");
        return AttemptError {
            after: after.and_then(|text| retry_after(text, header(&headers, "date"))),
            ..AttemptError::transient(failed(said))
        };
    }
    if !from_hub {
        // The address was made for this request and may have expired.
        return AttemptError::transient(failed(said));
    }
    let endpoint = client.endpoint.clone();
    let page = format!("{endpoint}/{}", asked.path());
    let (id, revision) = (asked.repository().into(), asked.revision().into());
    let with_token = client.has_token();
    let is_gated = match status {
        401 => code == "GatedRepo",
        403 => code == "GatedRepo" || code.is_empty() && !said.contains("disabled"),
        _ => false,
    };
    AttemptError::from(match (code, file) {
        ("RevisionNotFound", _) => Fault::Revision { id, revision, page },
        (code, Some(file))
            if code == "EntryNotFound" || status == 404 && code != "RepoNotFound" =>
        {
            let file = file.to_string();
            Fault::File { id, revision, file }
        }
        _ if is_gated => Fault::Gated {
            id,
            page,
            with_token,
            said,
        },
        _ if status == 401 && said.contains("Invalid credentials") => Fault::Token {
            endpoint,
            message: said,
        },
        (code, _) if code == "RepoNotFound" || matches!(status, 401 | 404) => Fault::Repository {
            kind: asked.kind(),
            id,
            endpoint,
            page,
        },
        _ => failed(said),
    })
}

/// A header's value, if it is text.
pub(crate) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The hub's message in a body such as `{"error": "…"}`.
fn message_of(answer: HubResponse, patience: Duration) -> String {
    #[derive(Deserialize)]
    struct Failure {
        error: String,
    }
    let (mut text, mut buffer) = (Vec::new(), [0; 1 << 12]);
    let (mut reader, begun) = (answer.into_reader().take(1 << 16), Instant::now());
    // A body that cannot be read, or comes byte by byte, is not worth a second error.
    while begun.elapsed() < patience
        && let Ok(count @ 1..) = reader.read(&mut buffer)
    {
        text.extend_from_slice(&buffer[..count]);
    }
    serde_json::from_slice::<Failure>(&text).map_or_else(|_| String::new(), |failure| failure.error)
}

/// A server's text, made safe for a terminal.
fn printable(text: &str) -> String {
    let words = text.trim().trim_end_matches('.').chars();
    words.filter(|c| !c.is_control()).take(300).collect()
}

//! What an error response of the hub means, by status and error code.

use std::io::Read;
use std::time::{Duration, Instant};

use serde::Deserialize;
use ureq::http::HeaderMap;

use super::HubError;
use super::client::HubResponse;
use super::name::{FileName, HubId};
use super::retry::{AttemptError, retry_after};

/// What was asked for, and of whom.
pub(super) struct ErrorContext<'a> {
    pub(super) id: &'a HubId,
    pub(super) file: Option<&'a FileName>,
    pub(super) endpoint: &'a str,
    /// Whether the hub itself answered, and not a server that it sends on to.
    pub(super) from_hub: bool,
    pub(super) with_token: bool,
    /// How long its words are waited for.
    pub(super) patience: Duration,
}

impl ErrorContext<'_> {
    /// What an answer means that is not the one asked for.
    pub(super) fn error_of(&self, answer: HubResponse) -> AttemptError {
        let status = answer.status();
        let headers = answer.headers().clone();
        let code = header(&headers, "x-error-code").unwrap_or_default();
        let url = answer.url().to_owned();
        let said = header(&headers, "x-error-message")
            .map_or_else(|| message_of(answer, self.patience), str::to_owned);
        let said = printable(&said);
        let failed = |message: String| HubError::Status {
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
        if !self.from_hub {
            // The address was made for this request and may have expired.
            return AttemptError::transient(failed(said));
        }
        let endpoint = self.endpoint.to_owned();
        let page = format!("{endpoint}/{}", self.id.path());
        let repository = self.id.repository().to_owned();
        let revision = self.id.revision().to_owned();
        let with_token = self.with_token;
        let error = match (status, code, self.file) {
            (_, "RevisionNotFound", _) => HubError::Revision {
                id: repository,
                revision,
                page,
            },
            (_, "EntryNotFound", Some(file)) => HubError::File {
                id: repository,
                revision,
                file: file.to_string(),
            },
            (401 | 403, "GatedRepo", _) => HubError::Gated {
                id: repository,
                page,
                with_token,
                said,
            },
            (401, _, _) if said.contains("Invalid credentials") => HubError::Token {
                endpoint,
                message: said,
            },
            (_, "RepoNotFound", _) | (401, _, _) | (404, _, None) => HubError::Repository {
                kind: self.id.kind(),
                id: repository,
                endpoint,
                page,
            },
            (404, _, Some(file)) => HubError::File {
                id: repository,
                revision,
                file: file.to_string(),
            },
            (403, "", _) if !said.contains("disabled") => HubError::Gated {
                id: repository,
                page,
                with_token,
                said,
            },
            _ => failed(said),
        };
        AttemptError::permanent(error)
    }
}

/// A header's value, where it is text.
pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The hub's word in a body such as `{"error": "…"}`.
fn message_of(answer: HubResponse, patience: Duration) -> String {
    #[derive(Deserialize)]
    struct Failure {
        error: String,
    }
    let (mut text, mut buffer) = (Vec::new(), [0; 1 << 12]);
    let (mut reader, begun) = (answer.into_reader().take(1 << 16), Instant::now());
    // What cannot be read, or comes byte by byte, is not worth a second error.
    while begun.elapsed() < patience
        && let Ok(count @ 1..) = reader.read(&mut buffer)
    {
        text.extend_from_slice(&buffer[..count]);
    }
    serde_json::from_slice::<Failure>(&text).map_or_else(|_| String::new(), |failure| failure.error)
}

/// A server's words, fit for a terminal.
fn printable(text: &str) -> String {
    let words = text.trim().trim_end_matches('.').chars();
    words.filter(|c| !c.is_control()).take(300).collect()
}

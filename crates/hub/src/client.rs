//! The hub's requests: which commit a revision is and what files it has, what a file's content is, the content itself.
//!
//! ```text
//! GET  /api/models/ORG/NAME/revision/REVISION   sha, siblings
//! HEAD /ORG/NAME/resolve/COMMIT/FILE            X-Linked-Etag or ETag, X-Linked-Size or Content-Length
//! GET  /ORG/NAME/resolve/COMMIT/FILE            the content, for large files by way of another server
//! ```
//!
//! Of data sets `/api/datasets/…` and `/datasets/ORG/NAME/…`.
//!
//! Redirects are followed here, one by one: the token goes to the hub alone, and what the hub says of a file counts, not
//! what a server says that it sends on to.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use ureq::http::{HeaderMap, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::Watch;
use crate::error::Fault;
use crate::error_response::{error_of, header};
use crate::name::{Commit, ETag, FileName, HubId, percent_encode};
use crate::retry::{AttemptError, transport, with_retries};
use crate::settings::Settings;
use crate::url::{host, join, origin, without_query};

/// How long a connection may take.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
pub(crate) const USER_AGENT: &str = concat!("juror/", env!("CARGO_PKG_VERSION"));
/// The longest time for an answer other than a file's content (a listing, a file's metadata, the head of any answer), as a
/// multiple of the time that a connection may stay silent. It bounds servers that send a byte now and then.
const ANSWER: u32 = 4;
/// The most redirects of one request.
const MAX_REDIRECTS: usize = 10;
/// The longest description of a repository that is read, in bytes; repositories with 100,000 files stay below it.
const MAX_DESCRIPTION: u64 = 64 << 20;

/// A commit of a repository and the paths of its files.
pub(crate) struct Listing {
    pub(crate) commit: Commit,
    pub(crate) files: BTreeSet<String>,
}

/// The hub's metadata of a file's content.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) tag: ETag,
    /// The size in bytes, if the hub says it.
    pub(crate) size: Option<u64>,
}

/// An answer after all redirects.
pub(crate) struct HubResponse {
    response: Response<Body>,
    /// The address that gave it.
    url: String,
    linked: Linked,
}

impl HubResponse {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The offset at which the content of a partial answer begins.
    pub(crate) fn range_start(&self) -> Option<u64> {
        let range = header(self.response.headers(), "content-range")?;
        let (start, _) = range.trim().strip_prefix("bytes ")?.split_once('-')?;
        start.trim().parse().ok()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    pub(crate) fn into_reader(self) -> impl Read {
        self.response.into_body().into_reader()
    }

    /// The address that gave it, without its query, which may hold a signature.
    pub(crate) fn url(&self) -> &str {
        without_query(&self.url)
    }
}

/// What the hub's own answers said before redirecting.
#[derive(Default)]
struct Linked {
    commit: Option<String>,
    tag: Option<String>,
    size: Option<u64>,
}

impl Linked {
    fn note(&mut self, headers: &HeaderMap) {
        let text = |name: &str| header(headers, name).map(str::to_owned);
        self.commit = self.commit.take().or_else(|| text("x-repo-commit"));
        self.tag = self.tag.take().or_else(|| text("x-linked-etag"));
        self.size = self
            .size
            .or_else(|| header(headers, "x-linked-size")?.trim().parse().ok());
    }
}

/// A client of the hub.
pub(crate) struct Client<'a> {
    agent: Agent,
    pub(crate) endpoint: String,
    authorization: Option<String>,
    /// How long a connection may stay silent.
    pub(crate) patience: Duration,
    watch: &'a Watch<'a>,
}

impl<'a> Client<'a> {
    pub(crate) fn new(settings: &Settings, watch: &'a Watch<'a>) -> Result<Self, Fault> {
        let endpoint = settings.endpoint.clone();
        if !endpoint.starts_with("https://") && !endpoint.starts_with("http://") {
            return Err(Fault::Protocol {
                url: endpoint,
                message: "HF_ENDPOINT must begin with https://".into(),
            });
        }
        let token = settings.token.as_ref();
        if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(Fault::Token {
                endpoint,
                message: "it has characters that no token has".into(),
            });
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(USER_AGENT)
            // A compressed answer would have another length than the file.
            .accept_encoding("identity")
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(settings.patience * ANSWER))
            .timeout_per_read(Some(settings.patience))
            .timeout_per_write(Some(settings.patience))
            .max_idle_connections_per_host(crate::download::WORKERS);
        if let Some(file) = &settings.certificates {
            let certificates = read_certificates(file)?;
            config = config.tls_config(TlsConfig::builder().root_certs(certificates).build());
        }
        Ok(Self {
            agent: config.build().new_agent(),
            endpoint,
            authorization: token.map(|token| format!("Bearer {token}")),
            patience: settings.patience,
            watch,
        })
    }

    pub(crate) fn has_token(&self) -> bool {
        self.authorization.is_some()
    }

    /// Repeats a request for an answer that is not a file's content.
    fn with_retries<T>(
        &self,
        attempt: impl FnMut(Instant) -> Result<T, AttemptError>,
    ) -> Result<T, Fault> {
        with_retries(self.watch, self.patience * ANSWER, attempt)
    }

    /// The commit that a repository's revision stands for, and its files.
    pub(crate) fn listing(&self, id: &HubId) -> Result<Listing, Fault> {
        #[derive(Deserialize)]
        struct Description {
            sha: String,
            siblings: Vec<Sibling>,
        }
        #[derive(Deserialize)]
        struct Sibling {
            rfilename: String,
        }
        let (kind, revision) = (id.kind(), percent_encode(id.revision()));
        let (endpoint, plural) = (&self.endpoint, kind.plural());
        let url = format!(
            "{endpoint}/api/{plural}/{}/revision/{revision}",
            id.repository()
        );
        let no_description = |message: String| {
            let url = url.clone();
            AttemptError::from(Fault::Protocol { url, message })
        };
        self.with_retries(|deadline| {
            let answer = self.send(Method::Get, &url, 0, Some(deadline))?;
            if answer.status() != 200 {
                return Err(error_of(self, id, None, answer));
            }
            let mut text = Vec::new();
            let mut reader = answer.into_reader().take(MAX_DESCRIPTION + 1);
            reader.read_to_end(&mut text).map_err(|error| {
                AttemptError::transient(Fault::Unreachable {
                    host: host(&url).into(),
                    message: format!("its description of the {} broke off: {error}", kind.noun()),
                })
            })?;
            if text.len() as u64 > MAX_DESCRIPTION {
                return Err(no_description(format!(
                    "the answer is too long for a description of a {}",
                    kind.noun()
                )));
            }
            let Description { sha, siblings } = serde_json::from_slice(&text).map_err(|error| {
                no_description(format!(
                    "the answer does not describe a {}: {error}",
                    kind.noun()
                ))
            })?;
            let commit = Commit::parse(&sha)
                .ok_or_else(|| no_description(format!("`{sha}` is not the hash of a commit")))?;
            let files = siblings.into_iter().map(|sibling| sibling.rfilename);
            Ok(Listing {
                commit,
                files: files.collect(),
            })
        })
    }

    pub(crate) fn content(
        &self,
        id: &HubId,
        commit: &Commit,
        file: &FileName,
    ) -> Result<Content, Fault> {
        let url = self.file_url(id, commit, file);
        self.with_retries(|deadline| {
            let answer = self.send(Method::Head, &url, 0, Some(deadline))?;
            if !matches!(answer.status(), 200 | 301 | 302 | 303 | 307 | 308) {
                return Err(error_of(self, id, Some(file), answer));
            }
            let fail = |message: String| {
                let url = url.clone();
                AttemptError::from(Fault::Protocol { url, message })
            };
            let Linked {
                commit: of,
                tag,
                size,
            } = &answer.linked;
            if let Some(of) = of.as_ref().filter(|of| *of != commit.as_str()) {
                let message = format!("asked for commit {commit}, the answer is of {of}");
                return Err(fail(message));
            }
            let header = |name: &str| header(answer.headers(), name);
            let tag = tag.as_deref().or_else(|| header("etag"));
            let tag = tag.ok_or_else(|| fail("the answer has no ETag".into()))?;
            // The length of a redirect is not the file's.
            let length = header("content-length").filter(|_| answer.status() == 200);
            Ok(Content {
                tag: ETag::parse(tag)
                    .ok_or_else(|| fail(format!("`{tag}` is no ETag of a hub")))?,
                size: size.or_else(|| length?.trim().parse().ok()),
            })
        })
    }

    /// Requests a commit's file from an offset on. The answer's status is 200 for the whole file, 206 for the rest, or 416.
    pub(crate) fn open(
        &self,
        id: &HubId,
        commit: &Commit,
        file: &FileName,
        from: u64,
    ) -> Result<HubResponse, AttemptError> {
        let answer = self.send(Method::Get, &self.file_url(id, commit, file), from, None)?;
        if matches!(answer.status(), 200 | 206 | 416) {
            Ok(answer)
        } else {
            Err(error_of(self, id, Some(file), answer))
        }
    }

    fn file_url(&self, id: &HubId, commit: &Commit, file: &FileName) -> String {
        let (endpoint, path, file) = (&self.endpoint, id.path(), file.in_url());
        format!("{endpoint}/{path}/resolve/{commit}/{file}")
    }

    /// Sends a request and follows redirects. For the metadata of a file, it stops at the hub's own answer. The whole answer
    /// must be read by the deadline, if there is one.
    fn send(
        &self,
        method: Method,
        url: &str,
        from: u64,
        deadline: Option<Instant>,
    ) -> Result<HubResponse, AttemptError> {
        let mut url = url.to_owned();
        let mut linked = Linked::default();
        let mut moved_to: Option<String> = None;
        let speaks_for_hub = |url: &str, moved_to: &Option<String>| {
            self.is_hub(url) || moved_to.as_deref() == Some(origin(url))
        };
        for _ in 0..=MAX_REDIRECTS {
            let mut request = match method {
                Method::Get => self.agent.get(&url),
                Method::Head => self.agent.head(&url),
            };
            if let Some(authorization) = self.authorization.as_ref().filter(|_| self.is_hub(&url)) {
                request = request.header("Authorization", authorization);
            }
            if from > 0 {
                request = request.header("Range", format!("bytes={from}-"));
            }
            if let Some(deadline) = deadline {
                // ureq takes a timeout of zero as none.
                let left = deadline.saturating_duration_since(Instant::now());
                let left = left.max(Duration::from_millis(1));
                request = request.config().timeout_global(Some(left)).build();
            }
            let response = request.call().map_err(|error| transport(&url, &error))?;
            if speaks_for_hub(&url, &moved_to) {
                linked.note(response.headers());
            }
            let protocol = |message: String| Fault::Protocol {
                url: without_query(&url).into(),
                message,
            };
            let location = header(response.headers(), "location")
                .filter(|_| response.status().is_redirection());
            let next = location.map(|location| {
                let to = without_query(location);
                join(&url, location).ok_or_else(|| {
                    protocol(format!("sends on to `{to}`, where nobody should follow"))
                })
            });
            let next = next.transpose()?;
            let known = linked.tag.is_some() && linked.size.is_some();
            // A permanent redirect of a mirror: the target speaks for the hub, but is not given the token.
            let moved = matches!(response.status().as_u16(), 301 | 308) && linked.tag.is_none();
            if let Some(next) = next.as_ref().filter(|_| moved) {
                moved_to = Some(origin(next).to_owned());
            }
            let follow = |next: &String| {
                moved || method == Method::Get || !known && speaks_for_hub(next, &moved_to)
            };
            url = match next.filter(follow) {
                Some(next) => next,
                None => {
                    return Ok(HubResponse {
                        response,
                        url,
                        linked,
                    });
                }
            };
        }
        Err(AttemptError::from(Fault::Protocol {
            url: without_query(&url).into(),
            message: format!("sends on more than {MAX_REDIRECTS} times"),
        }))
    }

    /// Whether an address is the hub's own, not that of a server it redirects to.
    pub(crate) fn is_hub(&self, url: &str) -> bool {
        origin(url).eq_ignore_ascii_case(origin(&self.endpoint))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Head,
}

/// Certificates to trust, from a PEM file.
pub(crate) fn read_certificates(file: &Path) -> Result<RootCerts, Fault> {
    let pem = fs::read(file).map_err(|source| Fault::io(file, source))?;
    let items = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let certificates: Vec<_> = items.collect();
    if certificates.is_empty() {
        let none = std::io::Error::other("SSL_CERT_FILE holds no certificate in PEM form");
        return Err(Fault::io(file, none));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_one_origin() {
        let settings = |endpoint: &str, token: &str| Settings {
            endpoint: endpoint.into(),
            cache: "/nowhere".into(),
            token: Some(token.into()),
            offline: false,
            patience: Duration::from_secs(1),
            certificates: None,
        };
        let hub = "https://hub.example/hf";
        let client = Client::new(&settings(hub, "hf_x"), &|_| {}).unwrap();
        for (url, ours) in [
            ("https://hub.example/other", true),
            ("https://HUB.example/", true),
            ("http://hub.example/hf", false),
            ("https://hub.example.evil/hf", false),
            ("https://hub.example:444/hf", false),
            ("https://hub.example@evil/hf", false),
        ] {
            assert_eq!(client.is_hub(url), ours, "{url}");
        }
        let refused = |endpoint, token| Client::new(&settings(endpoint, token), &|_| {}).err();
        assert!(matches!(
            refused(hub, "two words"),
            Some(Fault::Token { .. })
        ));
        assert!(matches!(
            refused("ftp://hub", "hf_x"),
            Some(Fault::Protocol { .. })
        ));
    }
}

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

use super::error_response::{ErrorContext, header};
use super::name::{Commit, ETag, FileName, HubId, percent_encode};
use super::retry::{AttemptError, transport, with_retries};
use super::settings::Settings;
use super::url::{host, join, origin, without_query};
use super::{HubError, Watch};

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How many times as long as a connection may stay silent an answer may take that is no content: a listing, what the hub says
/// of a file, the head of any answer. A server that sends a byte now and then is not waited for.
const ANSWER: u32 = 4;
/// Redirects of one request.
const MAX_REDIRECTS: usize = 10;
/// The longest answer that describes a repository: those with 100,000 files stay below.
const MAX_DESCRIPTION: u64 = 64 << 20;

/// A commit of a repository and the paths of its files.
pub(super) struct Listing {
    pub(super) commit: Commit,
    pub(super) files: BTreeSet<String>,
}

/// What the hub says of a file's content.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) tag: ETag,
    /// Bytes, if it says.
    pub(super) size: Option<u64>,
}

/// An answer at the end of its redirects.
pub(super) struct HubResponse {
    response: Response<Body>,
    /// Who gave it.
    url: String,
    linked: Linked,
}

impl HubResponse {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Where the content begins that a partial answer brings.
    pub(super) fn range_start(&self) -> Option<u64> {
        let range = header(self.response.headers(), "content-range")?;
        let (start, _) = range.trim().strip_prefix("bytes ")?.split_once('-')?;
        start.trim().parse().ok()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    pub(super) fn into_reader(self) -> impl Read {
        self.response.into_body().into_reader()
    }

    /// Who gave it, without what comes after a question mark: it may hold a signature.
    pub(super) fn url(&self) -> &str {
        without_query(&self.url)
    }

    pub(super) fn host(&self) -> &str {
        host(&self.url)
    }
}

/// What the hub's own answers said on the way.
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

/// Asks the hub.
pub(super) struct Client<'a> {
    agent: Agent,
    endpoint: String,
    authorization: Option<String>,
    /// How long a connection may stay silent.
    pub(super) patience: Duration,
    watch: &'a Watch<'a>,
}

impl<'a> Client<'a> {
    /// # Errors
    /// For an address, a token or certificates that cannot be used.
    pub(super) fn new(settings: &Settings, watch: &'a Watch<'a>) -> Result<Self, HubError> {
        let endpoint = settings.endpoint.clone();
        if !endpoint.starts_with("https://") && !endpoint.starts_with("http://") {
            return Err(HubError::Protocol {
                url: endpoint,
                message: "HF_ENDPOINT must begin with https://".into(),
            });
        }
        if settings
            .token
            .as_ref()
            .is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(HubError::Token {
                endpoint,
                message: "it has characters that no token has".into(),
            });
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")))
            // A compressed answer has another length than the file.
            .accept_encoding("identity")
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(settings.patience * ANSWER))
            .timeout_per_read(Some(settings.patience))
            .timeout_per_write(Some(settings.patience))
            .max_idle_connections_per_host(super::download::WORKERS);
        if let Some(file) = &settings.certificates {
            let certificates = read_certificates(file)?;
            config = config.tls_config(TlsConfig::builder().root_certs(certificates).build());
        }
        Ok(Self {
            agent: config.build().new_agent(),
            endpoint,
            authorization: settings
                .token
                .as_ref()
                .map(|token| format!("Bearer {token}")),
            patience: settings.patience,
            watch,
        })
    }

    /// Attempts at an answer that is no content.
    fn with_retries<T>(
        &self,
        attempt: impl FnMut(Instant) -> Result<T, AttemptError>,
    ) -> Result<T, HubError> {
        with_retries(self.watch, self.patience * ANSWER, attempt)
    }

    /// The commit that a repository's revision stands for, and its files.
    pub(super) fn listing(&self, id: &HubId) -> Result<Listing, HubError> {
        #[derive(Deserialize)]
        struct Description {
            sha: String,
            siblings: Vec<Sibling>,
        }
        #[derive(Deserialize)]
        struct Sibling {
            rfilename: String,
        }
        let url = format!(
            "{}/api/{}/{}/revision/{}",
            self.endpoint,
            id.kind().plural(),
            id.repository(),
            percent_encode(id.revision())
        );
        self.with_retries(|deadline| {
            let answer = self.send(Method::Get, &url, 0, Some(deadline))?;
            if answer.status() != 200 {
                return Err(self.error_of(id, None, answer));
            }
            let fail = |message: String| HubError::Protocol {
                url: url.clone(),
                message,
            };
            let mut text = Vec::new();
            answer
                .into_reader()
                .take(MAX_DESCRIPTION + 1)
                .read_to_end(&mut text)
                .map_err(|error| {
                    AttemptError::transient(HubError::Unreachable {
                        host: host(&url).into(),
                        message: format!(
                            "its description of the {} broke off: {error}",
                            id.kind().noun()
                        ),
                    })
                })?;
            if text.len() as u64 > MAX_DESCRIPTION {
                return Err(AttemptError::permanent(fail(format!(
                    "the answer is too long for a description of a {}",
                    id.kind().noun()
                ))));
            }
            let described: Description = serde_json::from_slice(&text).map_err(|error| {
                AttemptError::permanent(fail(format!(
                    "the answer does not describe a {}: {error}",
                    id.kind().noun()
                )))
            })?;
            let commit = Commit::parse(&described.sha).ok_or_else(|| {
                AttemptError::permanent(fail(format!(
                    "`{}` is not the hash of a commit",
                    described.sha
                )))
            })?;
            let files = described
                .siblings
                .into_iter()
                .map(|sibling| sibling.rfilename);
            Ok(Listing {
                commit,
                files: files.collect(),
            })
        })
    }

    /// What a commit's file holds.
    pub(super) fn content(
        &self,
        id: &HubId,
        commit: &Commit,
        file: &FileName,
    ) -> Result<Content, HubError> {
        let url = self.file_url(id, commit, file);
        self.with_retries(|deadline| {
            let answer = self.send(Method::Head, &url, 0, Some(deadline))?;
            if !matches!(answer.status(), 200 | 301 | 302 | 303 | 307 | 308) {
                return Err(self.error_of(id, Some(file), answer));
            }
            let fail = |message: String| {
                AttemptError::permanent(HubError::Protocol {
                    url: url.clone(),
                    message,
                })
            };
            if let Some(other) = answer
                .linked
                .commit
                .as_ref()
                .filter(|other| *other != commit.as_str())
            {
                return Err(fail(format!(
                    "asked for commit {commit}, the answer is of {other}"
                )));
            }
            let headers = answer.headers();
            let tag = answer
                .linked
                .tag
                .as_deref()
                .or_else(|| header(headers, "etag"));
            let tag = tag.ok_or_else(|| fail("the answer has no ETag".into()))?;
            let tag =
                ETag::parse(tag).ok_or_else(|| fail(format!("`{tag}` is no ETag of a hub")))?;
            // The length of a redirect is not the file's.
            let length = || {
                let length = header(headers, "content-length").filter(|_| answer.status() == 200);
                length?.trim().parse().ok()
            };
            Ok(Content {
                tag,
                size: answer.linked.size.or_else(length),
            })
        })
    }

    /// A commit's file from a byte on. The answer's status is 200 for the whole, 206 for the rest, or 416.
    pub(super) fn open(
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
            Err(self.error_of(id, Some(file), answer))
        }
    }

    fn file_url(&self, id: &HubId, commit: &Commit, file: &FileName) -> String {
        format!(
            "{}/{}/resolve/{commit}/{}",
            self.endpoint,
            id.path(),
            file.in_url()
        )
    }

    /// Sends a request and follows where it is sent on to. For the head of a file the hub's own word is the end. By the
    /// deadline, if there is one, the whole answer must have been read.
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
                // ureq takes a timeout of zero for none.
                let left = deadline.saturating_duration_since(Instant::now());
                let left = left.max(Duration::from_millis(1));
                request = request.config().timeout_global(Some(left)).build();
            }
            let response = request.call().map_err(|error| transport(&url, &error))?;
            if self.is_hub(&url) || moved_to.as_deref() == Some(origin(&url)) {
                linked.note(response.headers());
            }
            let location = header(response.headers(), "location")
                .filter(|_| response.status().is_redirection());
            let next = match location {
                None => None,
                Some(location) => Some(join(&url, location).ok_or_else(|| {
                    AttemptError::permanent(HubError::Protocol {
                        url: without_query(&url).into(),
                        message: format!(
                            "sends on to `{}`, where nobody should follow",
                            without_query(location)
                        ),
                    })
                })?),
            };
            let known = linked.tag.is_some() && linked.size.is_some();
            // A mirror that says for good where its files are: who is there speaks for the hub, but is not given the token.
            let moved = matches!(response.status().as_u16(), 301 | 308) && linked.tag.is_none();
            match next {
                Some(next) if moved => {
                    moved_to = Some(origin(&next).to_owned());
                    url = next;
                }
                Some(next)
                    if method == Method::Get
                        || (!known
                            && (self.is_hub(&next)
                                || moved_to.as_deref() == Some(origin(&next)))) =>
                {
                    url = next;
                }
                _ => {
                    return Ok(HubResponse {
                        response,
                        url,
                        linked,
                    });
                }
            }
        }
        Err(AttemptError::permanent(HubError::Protocol {
            url: without_query(&url).into(),
            message: format!("sends on more than {MAX_REDIRECTS} times"),
        }))
    }

    /// Whether the hub itself is asked, and not a server that it sends on to.
    fn is_hub(&self, url: &str) -> bool {
        origin(url).eq_ignore_ascii_case(origin(&self.endpoint))
    }

    /// What an answer means that is not the one asked for.
    fn error_of(&self, id: &HubId, file: Option<&FileName>, answer: HubResponse) -> AttemptError {
        let context = ErrorContext {
            id,
            file,
            endpoint: &self.endpoint,
            from_hub: self.is_hub(&answer.url),
            with_token: self.authorization.is_some(),
            patience: self.patience,
        };
        context.error_of(answer)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Head,
}

/// Certificates to trust, from a PEM file.
fn read_certificates(file: &Path) -> Result<RootCerts, HubError> {
    let pem = fs::read(file).map_err(|source| HubError::io(file, source))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let Ok(PemItem::Certificate(certificate)) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(HubError::io(
            file,
            std::io::Error::other("SSL_CERT_FILE holds no certificate in PEM form"),
        ));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_one_origin() {
        let settings = Settings {
            endpoint: "https://hub.example/hf".into(),
            cache: "/nowhere".into(),
            token: Some("hf_x".into()),
            offline: false,
            patience: Duration::from_secs(1),
            certificates: None,
        };
        let client = Client::new(&settings, &|_| {}).unwrap();
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
        let broken = Settings {
            token: Some("two words".into()),
            ..settings.clone()
        };
        assert!(matches!(
            Client::new(&broken, &|_| {}),
            Err(HubError::Token { .. })
        ));
        let broken = Settings {
            endpoint: "ftp://hub".into(),
            ..settings
        };
        assert!(matches!(
            Client::new(&broken, &|_| {}),
            Err(HubError::Protocol { .. })
        ));
    }
}

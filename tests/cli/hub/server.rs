//! A hub on this machine: the requests that a download makes of the real one, and its faults on demand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde_json::json;

/// The commit that `main` stands for.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
/// The commit of what the hub converted to Parquet.
pub(crate) const CONVERTED: &str = "fedcba9876543210fedcba9876543210fedcba98";
/// Who serves small files, and who large ones.
pub(crate) const HUB: &str = "hub";
pub(crate) const CDN: &str = "cdn";

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// [`HUB`] or [`CDN`].
    pub(crate) server: &'static str,
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The first byte asked for.
    fn from(&self) -> Option<usize> {
        let range = self.header("range")?;
        range
            .strip_prefix("bytes=")?
            .strip_suffix('-')?
            .parse()
            .ok()
    }
}

/// What is sent back.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The connection ends after so many bytes of the body.
    pub(crate) cut: Option<usize>,
    /// Nothing comes for so long after so many bytes of the body.
    pub(crate) stall: Option<(usize, Duration)>,
    /// Everything comes byte by byte, with so much time between two: the head too, or only the body.
    pub(crate) drip: Option<(Drip, Duration)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drip {
    Head,
    Body,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            cut: None,
            stall: None,
            drip: None,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &dyn ToString) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.into(), value.to_string()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::new(status)
            .with("X-Error-Code", &code)
            .with("X-Error-Message", &message)
            .body(message)
    }
}

/// What a test would have go wrong: the number of the request, from 0, and what a good hub would have answered.
type Fault = Box<dyn Fn(&Request, usize, Reply) -> Reply + Send + Sync>;

/// A repository, and how it is served.
pub(crate) struct Hub {
    pub(crate) endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    /// `models` or `datasets`.
    kind: &'static str,
    id: String,
    files: BTreeMap<String, Vec<u8>>,
    /// The files of `refs/convert/parquet`.
    converted: BTreeMap<String, Vec<u8>>,
    cdn: String,
    log: Mutex<Vec<Request>>,
    fault: Fault,
    hub: String,
}

impl Hub {
    /// Serves `id` with these files; Safetensors files lie on a second server.
    pub(crate) fn new(id: &str, files: &[(&str, &[u8])]) -> Self {
        Self::with_fault(id, files, |_, _, reply| reply)
    }

    pub(crate) fn with_fault(
        id: &str,
        files: &[(&str, &[u8])],
        fault: impl Fn(&Request, usize, Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve("models", id, [files, &[]], fault)
    }

    /// Serves the data set `id` with these files, and what the hub converted of them; Parquet files lie on a second server.
    pub(crate) fn data_set(id: &str, files: &[(&str, &[u8])], converted: &[(&str, &[u8])]) -> Self {
        Self::serve("datasets", id, [files, converted], |_, _, reply| reply)
    }

    pub(crate) fn data_set_with_fault(
        id: &str,
        converted: &[(&str, &[u8])],
        fault: impl Fn(&Request, usize, Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve("datasets", id, [&[], converted], fault)
    }

    fn serve(
        kind: &'static str,
        id: &str,
        files: [&[(&str, &[u8])]; 2],
        fault: impl Fn(&Request, usize, Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listeners = [HUB, CDN].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [hub, cdn] =
            [0, 1].map(|at: usize| format!("http://{}", listeners[at].local_addr().unwrap()));
        let [files, converted] = files.map(|files| {
            let owned = files.iter();
            let owned = owned.map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
            owned.collect::<BTreeMap<String, Vec<u8>>>()
        });
        let shared = Arc::new(Shared {
            kind,
            id: id.into(),
            files,
            converted,
            cdn,
            log: Mutex::new(Vec::new()),
            fault: Box::new(fault),
            hub: hub.clone(),
        });
        for (listener, server) in listeners.into_iter().zip([HUB, CDN]) {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else {
                        return;
                    };
                    // A client that has hung up is no fault of the test.
                    thread::spawn(move || serve(&shared, server, &stream));
                }
            });
        }
        Self {
            endpoint: hub,
            shared,
        }
    }

    /// Requests so far.
    pub(crate) fn log(&self) -> Vec<Request> {
        self.shared.log.lock().unwrap().clone()
    }

    /// `METHOD PATH` of the requests so far, without queries.
    pub(crate) fn asked(&self) -> Vec<String> {
        let line = |request: &Request| {
            let path = request.path.split('?').next().unwrap().to_owned();
            format!("{} {path}", request.method)
        };
        self.log().iter().map(line).collect()
    }

    pub(crate) fn forget(&self) {
        self.shared.log.lock().unwrap().clear();
    }
}

/// Answers the requests of one connection.
fn serve(shared: &Shared, server: &'static str, stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let request = read(&mut reader, server)?;
        let number = {
            let mut log = shared.log.lock().unwrap();
            let same = |earlier: &&Request| {
                earlier.method == request.method && earlier.path == request.path
            };
            let number = log.iter().filter(same).count();
            log.push(request.clone());
            number
        };
        let good = match server {
            HUB => shared.hub(&request),
            _ => shared.cdn(&request),
        };
        let reply = (shared.fault)(&request, number, good);
        write(stream, &request, &reply)?;
        if reply.cut.is_some() {
            return None;
        }
    }
}

pub(crate) fn read(reader: &mut BufReader<TcpStream>, server: &'static str) -> Option<Request> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then_some(())?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    Some(Request {
        server,
        method,
        path,
        headers,
    })
}

pub(crate) fn write(mut stream: &TcpStream, request: &Request, reply: &Reply) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Some\r\n", reply.status);
    let mut headers = reply.headers.clone();
    let told = ["Content-Length", "Transfer-Encoding"];
    if !headers
        .iter()
        .any(|(name, _)| told.contains(&name.as_str()))
    {
        headers.push(("Content-Length".into(), reply.body.len().to_string()));
    }
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("\r\n");
    let drip = |mut stream: &TcpStream, bytes: &[u8], pause: Duration| {
        for byte in bytes {
            stream.write_all(&[*byte]).ok()?;
            thread::sleep(pause);
        }
        Some(())
    };
    match reply.drip {
        Some((Drip::Head, pause)) => drip(stream, head.as_bytes(), pause)?,
        _ => stream.write_all(head.as_bytes()).ok()?,
    }
    if request.method == "HEAD" {
        return Some(());
    }
    let body = &reply.body[..reply.cut.unwrap_or(reply.body.len())];
    if let Some((_, pause)) = reply.drip {
        return drip(stream, body, pause);
    }
    match reply.stall {
        Some((at, time)) => {
            stream.write_all(&body[..at]).ok()?;
            stream.flush().ok()?;
            thread::sleep(time);
            stream.write_all(&body[at..]).ok()
        }
        None => stream.write_all(body).ok(),
    }
}

impl Shared {
    /// What the hub itself answers.
    fn hub(&self, request: &Request) -> Reply {
        let path = request.path.split('?').next().unwrap();
        let commit = |revision: &str| match revision {
            "main" | "v1" | "refs%2Fpr%2F1" | COMMIT => Some((COMMIT, &self.files)),
            "refs%2Fconvert%2Fparquet" | CONVERTED if !self.converted.is_empty() => {
                Some((CONVERTED, &self.converted))
            }
            _ => None,
        };
        if let Some(rest) = path.strip_prefix(&format!("/api/{}/", self.kind)) {
            let Some(revision) = rest.strip_prefix(&format!("{}/revision/", self.id)) else {
                return Reply::error(404, "RepoNotFound", "Repository not found");
            };
            let Some((sha, files)) = commit(revision) else {
                return Reply::error(
                    404,
                    "RevisionNotFound",
                    &format!("Invalid rev id: {revision}"),
                );
            };
            let files: Vec<_> = files
                .keys()
                .map(|name| json!({"rfilename": name}))
                .collect();
            let model = json!({"id": self.id, "sha": sha, "siblings": files, "gated": false});
            return Reply::new(200)
                .with("Content-Type", &"application/json")
                .body(model.to_string());
        }
        let page = match self.kind {
            "models" => format!("/{}/resolve/", self.id),
            kind => format!("/{kind}/{}/resolve/", self.id),
        };
        let file = path
            .strip_prefix(&page)
            .and_then(|rest| rest.split_once('/'))
            .and_then(|(revision, file)| Some((commit(revision)?, file)));
        let Some(((sha, files), file)) = file else {
            return Reply::error(404, "RepoNotFound", "Repository not found");
        };
        let Some(content) = files.get(file) else {
            return Reply::error(404, "EntryNotFound", "Entry not found")
                .with("X-Repo-Commit", &sha);
        };
        let tag = tag(file, content);
        let reply = Reply::new(200)
            .with("X-Repo-Commit", &sha)
            .with("ETag", &format!("\"{tag}\""));
        if is_large(file) {
            // As the real one: the redirect has a length and a tag of its own.
            return Reply {
                status: 302,
                ..reply
            }
            .with("ETag", &"\"of-the-redirect\"")
            .with("X-Linked-Etag", &format!("\"{tag}\""))
            .with("X-Linked-Size", &content.len())
            .with(
                "Location",
                &format!("{}/lfs/{file}?Signature=secret", self.cdn),
            )
            .body("Found. Redirecting");
        }
        // And small files by way of another path of its own.
        if !request.path.contains("cached=1") {
            return Reply {
                status: 307,
                ..reply
            }
            .with("Location", &format!("{path}?cached=1"));
        }
        debug_assert!(!self.hub.is_empty());
        reply.body(content.clone())
    }

    /// What the server of large files answers.
    fn cdn(&self, request: &Request) -> Reply {
        let path = request.path.split('?').next().unwrap();
        let file = path.strip_prefix("/lfs/").unwrap_or_default();
        let Some(content) = self.files.get(file).or(self.converted.get(file)) else {
            return Reply::new(404);
        };
        match request.from() {
            None => Reply::new(200).body(content.clone()),
            Some(from) if from >= content.len() => {
                Reply::new(416).with("Content-Range", &format!("bytes */{}", content.len()))
            }
            Some(from) => Reply::new(206)
                .with(
                    "Content-Range",
                    &format!("bytes {from}-{}/{}", content.len() - 1, content.len()),
                )
                .body(&content[from..]),
        }
    }
}

fn is_large(file: &str) -> bool {
    [".safetensors", ".gguf", ".parquet"]
        .iter()
        .any(|ending| file.ends_with(ending))
}

/// The name of a file's content: its SHA-256 if it is large, else its hash in git.
pub(crate) fn tag(file: &str, content: &[u8]) -> String {
    let hash = if is_large(file) {
        digest(&SHA256, content)
    } else {
        let head = format!("blob {}\0", content.len());
        digest(
            &SHA1_FOR_LEGACY_USE_ONLY,
            &[head.as_bytes(), content].concat(),
        )
    };
    let hex = |text: String, byte: &u8| text + &format!("{byte:02x}");
    hash.as_ref().iter().fold(String::new(), hex)
}

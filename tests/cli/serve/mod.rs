//! The judge over HTTP: the real binary, asked by a plain client.

mod access;
mod joining;
mod judge;
mod memory;
mod openai;
mod operation;
mod several;
mod trainers;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Deref;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Folder;

/// When a test that waits for what never comes fails: far more than anything takes, also on a machine with other work.
const PATIENCE: Duration = Duration::from_mins(15);

/// A running server; killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    client: Client,
    stderr: Option<JoinHandle<String>>,
}

/// Who asks a server.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) url: String,
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// An answer's status and body.
pub(super) struct ServerResponse {
    pub(super) status: u16,
    pub(super) text: String,
}

impl ServerResponse {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{} {}", self.status, self.text))
    }

    /// The JSON of an answer that is no error.
    #[track_caller]
    fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()
    }

    /// An error with this status and all of `parts` in its message.
    #[track_caller]
    fn expect(&self, status: u16, parts: &[&str]) -> &Self {
        assert_eq!(self.status, status, "{}", self.text);
        let error = &self.json()["error"];
        let message = error["message"].as_str().unwrap();
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
        assert!(
            error["type"].is_string() && error.get("code").is_some(),
            "{error}"
        );
        self
    }
}

impl Server {
    /// Starts a server with the embedded judge at a free port.
    pub(crate) fn start(folder: &Folder, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--port", "0"];
        arguments.extend(more);
        Self::spawn(folder, &arguments, |line| {
            let line = serde_json::from_str::<Value>(line).ok()?;
            Some(line["url"].as_str()?.to_owned())
        })
    }

    /// Starts a server of this machine's own pages; `url` finds its address in the first line of its output.
    pub(super) fn spawn(
        folder: &Folder,
        arguments: &[&str],
        url: impl FnOnce(&str) -> Option<String>,
    ) -> Self {
        let mut command = folder.juror(arguments);
        command.stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let Some(url) = url(&line) else {
            panic!("it does not listen: {}", stderr.join().unwrap());
        };
        Self {
            child,
            client: Client { url },
            stderr: Some(stderr),
        }
    }

    /// For a thread of its own.
    fn client(&self) -> Client {
        self.client.clone()
    }

    #[cfg(unix)]
    pub(super) fn terminate(&self) {
        let kill = std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(kill.unwrap().success());
    }

    /// Waits until it has ended: its exit code and what it said.
    pub(super) fn ended(mut self) -> (Option<i32>, String) {
        let started = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(started.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        let said = self.stderr.take().unwrap().join().unwrap();
        assert!(!said.contains("panicked"), "{said}");
        (code, said)
    }
}

impl Client {
    pub(super) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> ServerResponse {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut answer = agent.run(request.body(body.to_owned()).unwrap()).unwrap();
        ServerResponse {
            status: answer.status().as_u16(),
            text: answer.body_mut().read_to_string().unwrap(),
        }
    }

    pub(super) fn get(&self, path: &str) -> ServerResponse {
        self.request("GET", path, &[], "")
    }

    /// A connection on which something was sent.
    fn send(&self, text: &str) -> TcpStream {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn post(&self, path: &str, body: &Value) -> ServerResponse {
        self.request("POST", path, &[], &body.to_string())
    }

    /// The value of a counter, the sum over all its labels.
    fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").text;
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            let is_it = rest.starts_with([' ', '{']);
            is_it
                .then(|| rest.rsplit(' ').next()?.parse::<f64>().ok())
                .flatten()
        });
        values.sum::<f64>() as u64
    }

    /// Waits until it answers at once.
    fn wait_until_ready(&self) {
        wait_until("ready", || self.get("/ready").status == 200);
    }
}

pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "it never was so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A sample of everyday arithmetic, the `number`th of its kind.
fn sample(number: usize) -> Value {
    let (a, b) = (number % 97 + 2, number / 97 + 3);
    json!({
        "id": format!("s{number}"),
        "question": format!("Ann has {a} apples and buys {b} more. How many apples has she now?"),
        "reference": (a + b).to_string(),
        "response": format!("{a} + {b} = {}. The answer is {}.", a + b, a + b),
    })
}

/// The rows of the examples.
fn examples() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    std::fs::read_to_string(path).unwrap()
}

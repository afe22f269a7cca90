//! A server of OpenAI's API on this machine, which answers as a test says.

use std::io::{BufReader, Read as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::hub::server::{HUB, Reply, Request, read, write};

/// A request that came, with its body.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) body: Value,
}

impl Asked {
    /// The text of the prompt.
    pub(super) fn prompt(&self) -> String {
        let messages = self.body["messages"].as_array();
        let last = messages.and_then(|messages| messages.last());
        let text = last.map_or(&self.body["prompt"], |last| &last["content"]);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// It is one of those by which a server's abilities are found out.
    pub(super) fn is_probe(&self) -> bool {
        self.prompt().contains("single word: ready")
    }
}

/// What a test would have answered: the request, and how many of a sample's prompt came before it.
type Answer = Box<dyn Fn(&Asked, usize) -> Reply + Send + Sync>;

pub(super) struct Server {
    pub(super) url: String,
    log: Arc<Mutex<Vec<Asked>>>,
    leaves: Arc<Mutex<Leaves>>,
}

/// When a server is gone: every connection is then closed without an answer.
#[derive(Default)]
struct Leaves {
    at: Option<String>,
    is_gone: bool,
}

impl Server {
    /// One that has the model `judge` and answers judging requests as `answer` says.
    pub(super) fn new(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_probes(answer, |_| said("ready"))
    }

    pub(super) fn with_probes(
        answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static,
        probe: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::of(Box::new(answer), probe, || list(&["judge"]))
    }

    /// One that answers a request for its models with this.
    pub(super) fn with_list(models: impl Fn() -> Reply + Send + Sync + 'static) -> Self {
        Self::of(Box::new(|_, _| said("ready")), |_| said("ready"), models)
    }

    fn of(
        answer: Answer,
        probe: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
        models: impl Fn() -> Reply + Send + Sync + 'static,
    ) -> Self {
        let models = Arc::new(models);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::<Asked>::new()));
        let (answer, probe) = (Arc::new(answer), Arc::new(probe));
        let leaves = Arc::new(Mutex::new(Leaves::default()));
        let gone = Arc::clone(&leaves);
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (log, answer, probe) =
                    (Arc::clone(&shared), Arc::clone(&answer), Arc::clone(&probe));
                let (gone, models) = (Arc::clone(&gone), Arc::clone(&models));
                // A client that has hung up is no fault of the test.
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().ok()?);
                    loop {
                        let request = read(&mut reader, HUB)?;
                        let length = request.header("content-length").unwrap_or("0");
                        let mut body = vec![0; length.parse().ok()?];
                        reader.read_exact(&mut body).ok()?;
                        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                        let asked = Asked { request, body };
                        {
                            let mut gone = gone.lock().unwrap();
                            let prompt = asked.prompt();
                            gone.is_gone |= gone.at.as_ref().is_some_and(|at| prompt.contains(at));
                            if gone.is_gone {
                                return None;
                            }
                        }
                        let before = {
                            let mut log = log.lock().unwrap();
                            let prompt = asked.prompt();
                            let same = log.iter().filter(|other| other.prompt() == prompt).count();
                            log.push(asked.clone());
                            same
                        };
                        let reply = match asked.request.path.as_str() {
                            "/v1/models" => models(),
                            "/version" => Reply::new(404),
                            _ if asked.is_probe() => probe(&asked),
                            _ => answer(&asked, before),
                        };
                        write(&stream, &asked.request, &reply)?;
                        if reply.cut.is_some() {
                            return None::<()>;
                        }
                    }
                });
            }
        });
        Self { url, log, leaves }
    }

    /// It is gone once it is asked about this.
    pub(super) fn leaves_at(&self, prompt: &str) {
        self.leaves.lock().unwrap().at = Some(prompt.to_owned());
    }

    pub(super) fn comes_back(&self) {
        *self.leaves.lock().unwrap() = Leaves::default();
    }

    /// The judging requests so far.
    pub(super) fn judged(&self) -> Vec<Asked> {
        let log = self.log.lock().unwrap();
        let posts = log.iter().filter(|asked| asked.request.method == "POST");
        posts.filter(|asked| !asked.is_probe()).cloned().collect()
    }

    pub(super) fn all(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }
}

pub(super) fn list(models: &[&str]) -> Reply {
    let data: Vec<_> = models
        .iter()
        .map(|id| json!({"id": id, "object": "model", "created": 7, "owned_by": "somebody"}))
        .collect();
    reply(&json!({"object": "list", "data": data}))
}

pub(super) fn reply(body: &Value) -> Reply {
    Reply::new(200)
        .with("Content-Type", &"application/json")
        .body(body.to_string())
}

/// An answer of the model.
pub(super) fn said(text: &str) -> Reply {
    reply(&completion(text))
}

pub(super) fn completion(text: &str) -> Value {
    json!({
        "id": "x", "object": "chat.completion", "model": "judge",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    })
}

pub(super) fn error(status: u16, message: &str) -> Reply {
    Reply::new(status).body(json!({"error": {"message": message, "code": null}}).to_string())
}

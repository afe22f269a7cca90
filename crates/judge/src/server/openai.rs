//! OpenAI's chat and text completions (<https://platform.openai.com/docs/api-reference>): the model as any client knows one.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::App;
use super::access::Client;
use super::body::{check_object, read_json};
use super::budget::Reservation;
use super::error::ApiError;
use super::rows::WAITING;
use super::stream::{Watched, channel_body};
use crate::openai::conversation::ChatModel;
use crate::openai::generation::{Defaults, Generation};
use crate::openai::request::{BOOL, GenerationRequest, take};
use crate::openai::response::Responder;
use crate::openai::streaming::Streaming;
use crate::openai::{TOO_LONG, guarded, is_own_error};
use crate::runtime::{Answered, Ask, Reply, Unanswered};
use crate::wire::Route;
use juror_engine::engine::{Completion, FinishReason};
use juror_engine::grammar::GrammarSource;

/// Answers that a request may ask for: each has a prompt of its own in memory.
const MOST_ANSWERS: usize = 2048;

/// Bytes of a form: it is compiled while prompts of others wait. OpenAI takes 120,000 characters.
const MOST_OF_FORM: usize = 128 << 10;

/// What an answer's form takes in memory for each byte of it.
const PER_BYTE: usize = 300;

/// What the values of a request may take in memory beside their texts: two million token ids.
const MOST_VALUES: usize = 256 << 20;

/// A completion that is asked for.
struct Coming(oneshot::Receiver<Result<Answered, Unanswered>>);

pub(super) async fn models(State(app): State<Arc<App>>) -> Json<Value> {
    let chats = app.chat.as_deref().into_iter();
    let cards = chats.flat_map(|chat| chat.names.iter().map(|name| model_card(chat, name)));
    Json(json!({"object": "list", "data": cards.collect::<Vec<Value>>()}))
}

pub(super) async fn model(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, ApiError> {
    let Path(name) = name.map_err(|why| ApiError::bad_request(why.body_text()))?;
    let chat = app.chat()?;
    check_model(chat, &name)?;
    Ok(Json(model_card(chat, &name)))
}

/// Whether and how an answer is to come piece by piece.
struct StreamOptions {
    /// A last piece says how many tokens there were.
    include_usage: bool,
}

pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    uri: Uri,
    body: Body,
) -> Result<Response, ApiError> {
    let route = Route::from_path(uri.path()).unwrap_or(Route::Chat);
    let chat = Arc::clone(app.chat()?);
    let mut body = app.receive(&client, body, MOST_VALUES).await?;
    let own = Arc::clone(&app);
    let (streams, request) = body
        .parse(move |json| {
            check_object(json, r#"{"model", "messages"} or {"model", "prompt"}"#)?;
            own.check_texts(json).map_err(ApiError::bad_parameter)?;
            let mut fields: Map<String, Value> = read_json(json)?;
            let streams = stream_options(&mut fields).map_err(ApiError::bad_parameter)?;
            let request =
                GenerationRequest::parse(route, fields).map_err(ApiError::bad_parameter)?;
            Ok((streams, request))
        })
        .await?;
    let mut room = body.into_room();
    if let Some(name) = &request.model {
        check_model(&chat, name)?;
    }
    if streams.is_some() && request.echo {
        let why = "`echo` is not applied to a stream: leave one of them out";
        return Err(ApiError::bad_parameter(why.to_owned()));
    }
    if request.answers() > MOST_ANSWERS {
        let why = format!(
            "{} answers (prompts times `n`), and a request may ask for {MOST_ANSWERS}: send several",
            request.answers()
        );
        return Err(ApiError::bad_parameter(why));
    }
    let form = request.form.as_ref().map_or(0, GrammarSource::bytes);
    if form > MOST_OF_FORM {
        let why = format!(
            "the form that is asked for has {form} bytes, and a form may have {MOST_OF_FORM}"
        );
        return Err(ApiError::bad_parameter(why));
    }
    // Without a seed every request is drawn anew.
    let defaults = Defaults {
        seed: random(),
        ..app.defaults
    };
    let request = Arc::new(request);
    let (model, asked) = (Arc::clone(&chat), Arc::clone(&request));
    let (sender, made) = oneshot::channel();
    let waits = Arc::new(());
    let waiting = Arc::downgrade(&waits);
    app.judges.first().in_turn(
        &client.0,
        Box::new(move || {
            // Its client may have gone.
            let _ = sender.send(Generation::new(&model, &asked));
        }),
        Box::new(move || waiting.strong_count() > 0),
    );
    let generation = made
        .await
        .map_err(|_| ApiError::ending())?
        .map_err(unanswerable)?;
    let tokens = generation.prompts.iter().map(|prompt| prompt.tokens.len());
    let each = tokens.max().unwrap_or(0) * size_of::<u32>() + WAITING + form * PER_BYTE;
    room.grow_to(room.bytes() + request.answers() * each).await;
    let name = format!("{:016x}{:08x}", random(), defaults.seed as u32);
    let asked = generation.answers(&chat, &request, defaults, random());
    let asked: Vec<Ask> = asked.collect();
    let answer = PendingResponse {
        app,
        chat,
        created: now(),
        request,
        generation,
        name,
        room: Arc::new(room),
    };
    match streams {
        Some(options) => Ok(answer.stream(&client, asked, &options)),
        None => answer
            .whole(&client, asked)
            .await
            .map(IntoResponse::into_response),
    }
}

/// Takes `stream` and `stream_options` out of a body.
fn stream_options(body: &mut Map<String, Value>) -> Result<Option<StreamOptions>, String> {
    let streams = take(body, "stream", BOOL, Value::as_bool)?.unwrap_or(false);
    let mut include_usage = false;
    let object = |options: &Value| options.as_object().cloned();
    let options = take(body, "stream_options", "an object", object)?;
    for (key, value) in options.unwrap_or_default() {
        match (key.as_str(), value) {
            ("include_usage", Value::Bool(include)) => include_usage = include,
            // Padding against listeners: it says nothing.
            ("include_obfuscation", Value::Bool(_)) | (_, Value::Null) => {}
            (key, value) => {
                return Err(format!(
                    "`stream_options.{key}` is {value}, which is not applied here"
                ));
            }
        }
    }
    Ok(streams.then_some(StreamOptions { include_usage }))
}

/// Why a request cannot be answered; that a prompt is too long has the code that OpenAI gives it.
fn unanswerable(why: String) -> ApiError {
    if is_own_error(&why) {
        return ApiError::not_answered(why);
    }
    let is_too_long = why.starts_with(TOO_LONG);
    let error = ApiError::bad_request(why);
    if is_too_long {
        error.with_code("context_length_exceeded")
    } else {
        error
    }
}

/// A request that is being answered.
struct PendingResponse {
    app: Arc<App>,
    chat: Arc<ChatModel>,
    created: i64,
    request: Arc<GenerationRequest>,
    generation: Generation,
    name: String,
    /// What waits takes room, also when its client has gone.
    room: Arc<Reservation>,
}

/// Gives a completion to a request, as long as its client waits.
struct Taker {
    sender: oneshot::Sender<Result<Answered, Unanswered>>,
    _room: Arc<Reservation>,
}

impl Reply for Taker {
    fn take(self: Box<Self>, answer: Result<Answered, Unanswered>) {
        // Its client may have gone.
        let _ = self.sender.send(answer);
    }

    fn is_wanted(&self) -> bool {
        !self.sender.is_closed()
    }
}

impl PendingResponse {
    fn responder(&self) -> Responder<'_> {
        Responder {
            model: &self.chat,
            created: self.created,
            raw: false,
        }
    }

    /// Asks the engines for one answer.
    fn ask(&self, client: &Client, ask: Ask) -> Coming {
        let (sender, answer) = oneshot::channel();
        let take = Taker {
            sender,
            _room: Arc::clone(&self.room),
        };
        let service = self.app.judges.first();
        service.generate(&client.0, ask, Box::new(take));
        Coming(answer)
    }

    /// All of the answer at once.
    async fn whole(self, client: &Client, asked: Vec<Ask>) -> Result<Json<Value>, ApiError> {
        let waits = Arc::new(());
        let asked = asked.into_iter().map(|mut one| {
            let waiting = Arc::downgrade(&waits);
            Watched::steer(&mut one, move |_| waiting.strong_count() > 0);
            self.ask(client, one)
        });
        let coming: Vec<Coming> = asked.collect();
        let mut completions = Vec::with_capacity(coming.len());
        for one in coming {
            completions.push(one.finished().await?);
        }
        drop(waits);
        let responder = self.responder();
        let prompts = &self.generation.prompts;
        guarded(|| responder.body(&self.request, prompts, &completions, &self.name))
            .map(Json)
            .map_err(ApiError::not_answered)
    }

    /// Pieces as they come, as server-sent events.
    fn stream(self, client: &Client, asked: Vec<Ask>, options: &StreamOptions) -> Response {
        let (pieces, body) = channel_body();
        let (sender, mut written) = mpsc::unbounded_channel();
        let mut coming = Vec::with_capacity(asked.len());
        for (index, mut one) in asked.into_iter().enumerate() {
            let sender = sender.clone();
            Watched::steer(&mut one, move |token| match token {
                Some(token) => sender.send((index, token)).is_ok(),
                None => !sender.is_closed(),
            });
            coming.push(self.ask(client, one));
        }
        drop(sender);
        let include_usage = options.include_usage;
        tokio::spawn(async move {
            let event =
                |value: &Value| Ok::<_, Infallible>(Bytes::from(format!("data: {value}\n\n")));
            let responder = self.responder();
            let mut streaming = Streaming::new(
                responder,
                &self.request,
                &self.generation.prompts,
                &self.name,
            );
            let mut completions = Vec::with_capacity(coming.len());
            let result = async {
                for piece in streaming.begin() {
                    pieces.send(event(&piece)).await.map_err(|_| None)?;
                }
                loop {
                    let next = tokio::select! {
                        next = written.recv() => next,
                        () = pieces.closed() => return Err(None),
                    };
                    let Some((index, token)) = next else { break };
                    if let Some(piece) = streaming.push(index, token) {
                        pieces.send(event(&piece)).await.map_err(|_| None)?;
                    }
                }
                for (index, one) in coming.into_iter().enumerate() {
                    let completion = one.finished().await.map_err(Some)?;
                    let last = guarded(|| streaming.finish(index, &completion));
                    for piece in last.map_err(|why| Some(ApiError::not_answered(why)))? {
                        pieces.send(event(&piece)).await.map_err(|_| None)?;
                    }
                    completions.push(completion);
                }
                if include_usage {
                    let piece = streaming.usage(&completions);
                    pieces.send(event(&piece)).await.map_err(|_| None)?;
                }
                Ok::<(), Option<ApiError>>(())
            };
            match result.await {
                Ok(()) => {
                    let _ = pieces
                        .send(Ok(Bytes::from_static(b"data: [DONE]\n\n")))
                        .await;
                }
                Err(Some(error)) => {
                    let _ = pieces.send(event(&error.to_json())).await;
                }
                // The client has gone.
                Err(None) => {}
            }
        });
        let headers = [
            (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        (headers, body).into_response()
    }
}

impl Coming {
    async fn finished(self) -> Result<Completion, ApiError> {
        let answer = self.0.await.map_err(|_| ApiError::ending())?;
        let completion = answer
            .map_err(|why| match why {
                // The form is the request's: to ask again would change nothing.
                Unanswered::Guide(why) => ApiError::bad_request(why),
                Unanswered::Server(why) | Unanswered::Backend(why) => ApiError::not_answered(why),
            })?
            .into_completion();
        match &completion.finish {
            FinishReason::Rejected(why) => Err(ApiError::not_answered(why.clone())),
            FinishReason::TooLong(why) => {
                let why = format!("{TOO_LONG} exceeded: {why}");
                Err(ApiError::bad_request(why).with_code("context_length_exceeded"))
            }
            _ => Ok(completion),
        }
    }
}

impl App {
    fn chat(&self) -> Result<&Arc<ChatModel>, ApiError> {
        self.chat.as_ref().ok_or_else(|| {
            let why = "this server has no single model of its own (`--rules only`, several judges, or a judge behind --endpoint, which is to be asked itself), and \
                       generates nothing: ask /v1/judge, /get_reward or /reward, or start `juror serve` with a --model";
            ApiError::new(StatusCode::NOT_FOUND, why)
        })
    }
}

/// Refuses a model that is not the one that is loaded.
fn check_model(chat: &ChatModel, name: &str) -> Result<(), ApiError> {
    if chat.names.iter().any(|own| own == name) {
        return Ok(());
    }
    let own = format!("{:?}", chat.names);
    let own = own.trim_matches(['[', ']']);
    let why = format!("there is no model {name:?} here: this server has {own}");
    Err(ApiError::new(StatusCode::NOT_FOUND, why).with_code("model_not_found"))
}

fn model_card(chat: &ChatModel, name: &str) -> Value {
    json!({
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "juror",
        "max_model_len": chat.config.max_positions,
    })
}

pub(super) fn random() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    // Each has keys of its own, from the system's randomness.
    RandomState::new().hash_one(now())
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

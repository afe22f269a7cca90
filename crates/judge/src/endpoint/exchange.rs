//! A request's body, and an answer as a completion.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::ServedModel;
use super::abilities::Abilities;
use super::client::{Client, Failure, Passing, SHORTEN};
use crate::judge::JudgeText;
use crate::runtime::Given;
use crate::wire::answer::{
    EngineAnswer, completion, error_in, error_of, refused, untagged_harmony, usage,
};
use crate::wire::form::ServerForm;
use crate::wire::logprobs::{ToldToken, tokens_of};
use crate::wire::{BYTES_PER_TOKEN, Route, SEEDS, extend, set_sampling};
use juror_data::journal::ChatIdentity;
use juror_engine::engine::{Completion, FinishReason, Request, Timing, TokenLogprobs};
use juror_engine::text::tokenizer::{TextStream, Tokenizer};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Answered {
    pub(super) said: EngineAnswer,
    /// The model that it says has answered.
    pub(super) model: Option<String>,
    /// The answer's tokens as the server reports them, including those of thinking it took out.
    tokens: Vec<ToldToken>,
}

pub(super) struct Unread {
    pub(super) failure: Failure,
    pub(super) counted: (usize, usize),
}

impl Answered {
    pub(super) fn text(&self) -> &str {
        self.said.text.as_deref().unwrap_or_default()
    }

    /// Tokens of prompt and completion, as the server counts them.
    pub(super) fn counted(&self) -> (usize, usize) {
        let usage = self.said.usage;
        (usage.prompt_tokens, usage.completion_tokens)
    }

    /// Whether the answer to a question for one word looks like thinking.
    pub(super) fn thinks_aloud(&self) -> bool {
        let (said, text) = (&self.said, self.text());
        let is_tagged = text.contains("<think") || text.contains("</think");
        let is_untagged = untagged_harmony(text, said.is_cut).is_some();
        !said.thinks_apart && (said.is_cut || is_tagged || is_untagged)
    }

    /// Whether it gives other likely tokens: the written one alone gives no odds.
    pub(super) fn has_probabilities(&self) -> bool {
        self.tokens.iter().any(|token| token.candidates.len() > 1)
    }
}

pub(super) fn read(client: &Client, answer: &Value) -> Result<Answered, Unread> {
    let usage = usage(answer);
    let counted = (usage.prompt_tokens, usage.completion_tokens);
    let unread = |failure| Unread { failure, counted };
    let passing = |why, kind| {
        let after = None;
        unread(Failure::Passing { why, after, kind })
    };
    let refused = |why| unread(Failure::Refused { status: 200, why });
    // Gateways hand on errors so, with their status.
    if let Some((error, why)) = error_in(answer).zip(error_of(answer)) {
        let why = client.redacted(why);
        let is_busy = ["429", "rate limit", "overloaded", "busy"];
        let is_busy = is_busy.iter().any(|word| why.to_lowercase().contains(word));
        let code = &error["code"];
        let code = code.as_u64().or_else(|| code.as_str()?.parse().ok());
        let code = code.and_then(|code| u16::try_from(code).ok());
        return Err(match code.filter(|code| (400..600).contains(code)) {
            None if is_busy => passing(why, Passing::Busy),
            None if answer["choices"][0]["error"].is_string() => passing(why, Passing::Broken),
            // It is the gateway's word of another server, and of this row alone; money is short for all rows.
            None | Some(401 | 403..=405) => refused(why),
            Some(status) => unread(client.of_status(status, why, None, error)),
        });
    }
    let said = completion(answer).map_err(|why| passing(why, Passing::Broken))?;
    Ok(Answered {
        said: said.map_err(|(why, may_pass)| {
            let why = client.redacted(why);
            if may_pass {
                passing(why, Passing::Broken)
            } else {
                refused(why)
            }
        })?,
        model: answer["model"].as_str().map(str::to_owned),
        tokens: tokens_of(&answer["choices"][0]["logprobs"]),
    })
}

impl Abilities {
    /// Length and probabilities of a request.
    pub(super) fn settings(
        &self,
        route: Route,
        max_new_tokens: usize,
        body: &mut Map<String, Value>,
    ) {
        let length = match route {
            Route::Chat => self.length,
            Route::Completions => "max_tokens",
        };
        body.insert(length.to_owned(), json!(max_new_tokens));
        if let Some(count) = self.logprobs {
            if route == Route::Chat {
                body.insert("top_logprobs".to_owned(), json!(count));
            }
            let asked = match route {
                Route::Chat => json!(true),
                Route::Completions => json!(count),
            };
            body.insert("logprobs".to_owned(), asked);
        }
    }
}

/// Makes bodies of a judge's requests, and completions of the answers.
pub(super) struct Exchange {
    served: Arc<ServedModel>,
    text: Arc<JudgeText>,
    route: Route,
    /// Words whose odds are recorded, in small letters, and what each stands for.
    words: Vec<(String, f32)>,
}

impl Exchange {
    pub(super) fn new(served: &Arc<ServedModel>, text: &Arc<JudgeText>) -> Self {
        let words = text.protocol.form.choices();
        let words = words.unwrap_or_else(|| vec![("true", 1.0), ("false", 0.0)]);
        let words = words.into_iter();
        let words = words.map(|(word, number)| (word.to_lowercase(), number));
        Self {
            route: served.endpoint.route(text.protocol.as_ref()),
            served: Arc::clone(served),
            text: Arc::clone(text),
            words: words.collect(),
        }
    }

    pub(super) fn route(&self) -> Route {
        self.route
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.text.prompts.tokenizer()
    }

    /// The body of a request, and a name by which equal requests are the same.
    pub(super) fn body(
        &self,
        request: &Request,
        form: Option<&ServerForm>,
    ) -> (Map<String, Value>, String) {
        let (endpoint, abilities) = (&self.served.endpoint, &self.served.abilities);
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(endpoint.model));
        let prompt = || self.tokenizer().decode(&request.prompt);
        let (key, asked) = match self.route {
            Route::Chat => (
                "messages",
                messages(self.text.chat.as_ref(), &json!(prompt())),
            ),
            Route::Completions if endpoint.takes_text() => ("prompt", json!(prompt())),
            Route::Completions => ("prompt", json!(request.prompt)),
        };
        body.insert(key.to_owned(), asked);
        abilities.settings(self.route, request.max_new_tokens, &mut body);
        let sampling = request.sampling;
        if abilities.temperature {
            body.insert("temperature".to_owned(), json!(sampling.temperature));
        }
        set_sampling(sampling, &mut body);
        if abilities.seed && sampling.temperature > 0.0 {
            let key = request.random_key;
            let mut hasher = blake3::Hasher::new();
            hasher.update(&key.seed.to_le_bytes());
            hasher.update(&key.sample.to_le_bytes());
            hasher.update(&key.trial.to_le_bytes());
            let mut first = [0; 8];
            first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
            let drawn = u64::from_le_bytes(first) % u64::from(SEEDS);
            body.insert("seed".to_owned(), json!(drawn));
        }
        let stop = &self.text.protocol.stop_texts;
        if let Some((form, key)) = form.zip(abilities.form) {
            key.set(form, &mut body);
        } else if !stop.is_empty() && abilities.stop {
            body.insert("stop".to_owned(), json!(stop));
        }
        if self.route == Route::Chat
            && let Some(chat) = &self.text.chat
        {
            render_as(chat, &mut body);
        }
        extend(&mut body, &endpoint.settings.body);
        // Trials are different requests even without a seed.
        let key = request.random_key;
        let body_text = Value::Object(body.clone());
        let told = format!("{} {} {body_text}", key.seed, key.trial);
        let name = format!("juror-{}", &blake3::hash(told.as_bytes()).to_hex()[..32]);
        (body, name)
    }

    /// Tokens that were spent on an answer; where the server counts none, so many as texts of such length have.
    pub(super) fn spent(
        &self,
        request: &Request,
        counted: (usize, usize),
        text: &str,
    ) -> (usize, usize) {
        if counted != (0, 0) {
            return counted;
        }
        let prompt = if self.served.endpoint.takes_text() {
            request.prompt.len() / BYTES_PER_TOKEN
        } else {
            request.prompt.len()
        };
        (prompt, text.len().div_ceil(BYTES_PER_TOKEN))
    }

    pub(super) fn completion(
        &self,
        request: Request,
        answered: &Answered,
        timing: Timing,
    ) -> Given {
        let reads_reasoning = self.served.endpoint.settings.answer_in_reasoning;
        let said = &answered.said;
        let reasoned = said.reasoned.as_ref();
        let text = match reasoned.filter(|_| reads_reasoning) {
            Some(reasoned) => reasoned.answer(),
            None => answered.text(),
        };
        let thinks_aloud = self.served.abilities.thinks_aloud && !said.thinks_apart;
        let is_open = thinks_aloud && said.is_cut && !text.contains("</think");
        let untagged = untagged_harmony(text, said.is_cut).filter(|_| thinks_aloud);
        // Of a model whose chat template opens the thinking, and whose answer was cut before it ended, nothing counts.
        let text = match untagged {
            Some((thinking, Some(answer))) => {
                let thinking = thinking.replace("</think", "</ think");
                Cow::Owned(format!("<think>{thinking}</think>{answer}"))
            }
            _ if is_open || untagged.is_some() => Cow::Owned(format!("<think>{text}")),
            _ => Cow::Borrowed(text),
        };
        // Where the prompt opens the thinking, what is read as the answer has ended it.
        let opens = reads_reasoning
            && reasoned.is_some()
            && self.text.prompts.thinking().starts_in_thinking();
        let text = if opens {
            Cow::Owned(format!("</think>{text}"))
        } else {
            text
        };
        // What cannot be spelled in the tokens at hand is no verdict either.
        let tokens = self.tokenizer().encode_trusted(&text).unwrap_or_default();
        let expected = self.expected(&text, &tokens, answered);
        let (cut, whole) = (FinishReason::Length, FinishReason::Stop);
        let mut finish = if said.is_cut { cut } else { whole };
        let mut logprobs = Vec::new();
        if request.logprobs.is_some() && !self.served.endpoint.takes_text() {
            logprobs = logprobs_of(tokens.len(), &answered.tokens);
            if logprobs.is_empty() && self.text.wants_probabilities() {
                finish = FinishReason::Rejected(
                    "the server does not say how likely each token of its answer was, which this judge weighs".to_owned(),
                );
            }
        }
        let sent = request.prompt.len();
        let counted = said.usage.prompt_tokens + said.usage.cached_tokens;
        // One or two that stand before any text may be counted by one side alone.
        if !self.served.endpoint.takes_text() && counted > 0 && counted + 8 < sent {
            finish = FinishReason::Rejected(format!(
                "the server read {counted} tokens of a prompt of {sent}: it cut the prompt; {SHORTEN}"
            ));
        }
        let no_verdict = if said.is_refusal {
            finish = FinishReason::Rejected(refused(&text));
            Some(text.into_owned())
        } else if let Some(reasoned) = reasoned.filter(|_| !reads_reasoning) {
            finish = FinishReason::Rejected(format!("no verdict: {}", reasoned.told()));
            Some(reasoned.text.clone())
        } else {
            None
        };
        let completion = Completion {
            id: request.id,
            prompt: request.prompt,
            tokens,
            expected,
            logprobs,
            finish,
            cached_tokens: said.usage.cached_tokens,
            counted: Some(answered.counted()).filter(|counted| *counted != (0, 0)),
            timing,
        };
        (completion, no_verdict)
    }

    /// The expected number at each token of the answer's end that begins a word of the protocol.
    fn expected(&self, text: &str, tokens: &[u32], answered: &Answered) -> Vec<(usize, f32)> {
        /// Where not all of an answer is found: earlier bytes may hold what servers cannot spell.
        const END: usize = 1024;
        let bytes = answered.tokens.iter().map(|token| token.bytes.as_slice());
        let written = bytes.collect::<Vec<_>>().concat();
        let end = &text[text.ceil_char_boundary(text.len().saturating_sub(END))..];
        // Thinking that was taken out of the text, and what ends a turn, may be among the tokens.
        let find = |part: &str| {
            let near = written.len().saturating_sub(part.len() + END);
            let found = find_last(&written[near..], part.as_bytes())?;
            Some((near + found, text.len() - part.len()))
        };
        let Some((first, own)) = find(text).or_else(|| find(end)) else {
            return Vec::new();
        };
        let mut stream = TextStream::new(Arc::clone(self.text.prompts.tokenizer()));
        let lengths = tokens.iter().scan(0, |length, &token| {
            let piece = stream.push(token).len();
            *length += piece;
            // The first tokens of a character that has several are held back: it begins in them all the same.
            let is_held = piece == 0 && !self.tokenizer().decode(&[token]).is_empty();
            Some(*length + usize::from(is_held))
        });
        let ends: Vec<usize> = lengths.collect();
        let mut expected: Vec<(usize, f32)> = Vec::new();
        let mut after = 0;
        for ToldToken {
            bytes, candidates, ..
        } in &answered.tokens
        {
            let begin = after;
            after += bytes.len();
            let blank = bytes.len() - bytes.trim_ascii_start().len();
            let place = (begin + blank).checked_sub(first).map(|at| own + at);
            let Some(place) = place.filter(|at| *at < text.len()) else {
                continue;
            };
            let written = String::from_utf8_lossy(bytes);
            // A word may go on after its token: then others are known by their beginnings too.
            let rest = text.get(place..).unwrap_or_default();
            let is_whole = rest
                .strip_prefix(written.trim())
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            let odds = self
                .number(&written, is_whole)
                .and(self.expected_of(candidates, is_whole));
            let Some(number) = odds else {
                continue;
            };
            let at = ends.partition_point(|end| *end <= place);
            if expected.last().is_none_or(|(last, _)| *last < at) {
                expected.push((at, number));
            }
        }
        expected
    }

    /// What a token stands for: the word that it is, where words are whole tokens (`C` begins `Correct` too), else the words that it
    /// begins, if all of them stand for the same.
    fn number(&self, token: &str, is_whole: bool) -> Option<f32> {
        let token = token.trim().to_lowercase();
        let is_word = is_whole && self.words.iter().any(|(word, _)| *word == token);
        let mut numbers = self.words.iter().filter(|(word, _)| {
            !token.is_empty() && word.starts_with(&token) && (!is_word || *word == token)
        });
        let (_, first) = numbers.next()?;
        numbers
            .all(|(_, other)| other.to_bits() == first.to_bits())
            .then_some(*first)
    }

    fn expected_of(&self, candidates: &[(String, f32)], is_whole: bool) -> Option<f32> {
        if candidates.len() < 2 {
            return None;
        }
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (token, logprob) in candidates {
            if let Some(number) = self.number(token, is_whole) {
                let probability = logprob.exp();
                sum += probability;
                weighted += probability * number;
            }
        }
        (sum > 0.0).then(|| weighted / sum)
    }
}

/// The log-probabilities of so many tokens; none if the server has other tokens, but for one that ends the turn.
fn logprobs_of(count: usize, told: &[ToldToken]) -> Vec<Option<TokenLogprobs>> {
    if told.len() != count && told.len() != count + 1 {
        return Vec::new();
    }
    let of = |token: &ToldToken| {
        let top = Vec::new();
        token.logprob.map(|logprob| TokenLogprobs { logprob, top })
    };
    told[..count].iter().map(of).collect()
}

/// Where `part` stands in `whole` the last time.
fn find_last(whole: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return None;
    }
    whole.windows(part.len()).rposition(|window| window == part)
}

/// A prompt as a chat, after the system prompt if there is one.
pub(super) fn messages(chat: Option<&ChatIdentity>, prompt: &Value) -> Value {
    let system = chat.and_then(|chat| chat.system_prompt.as_ref());
    let system = system.map(|text| json!({"role": "system", "content": text}));
    let user = json!({"role": "user", "content": prompt});
    system.into_iter().chain([user]).collect()
}

/// Settings of the chat template, which the server applies.
pub(super) fn render_as(chat: &ChatIdentity, body: &mut Map<String, Value>) {
    let mut variables = Map::new();
    if let Some(thinking) = chat.thinking {
        variables.insert("enable_thinking".to_owned(), json!(thinking));
    }
    for (name, value) in &chat.variables {
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        variables.insert(name.clone(), value);
    }
    if !variables.is_empty() {
        body.insert("chat_template_kwargs".to_owned(), Value::Object(variables));
    }
    if let Some(effort) = &chat.reasoning_effort {
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
}

/// The times of a request that begins now.
pub(super) fn begun() -> Timing {
    let now = Instant::now();
    Timing {
        queued: now,
        admitted: Some(now),
        first_token: None,
        finished: now,
    }
}

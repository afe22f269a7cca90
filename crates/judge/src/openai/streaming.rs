//! An answer in pieces, as they come.
//!
//! Text is given out as soon as it is certain: after it may come neither the rest of a character nor the rest of a stop text. A
//! model whose thinking is taken out of its answers gives its text at the end of each answer, as it may still begin to think.

use serde_json::{Value, json};

use super::conversation::Prompt;
use super::form::may_think;
use super::request::GenerationRequest;
use super::response::{Responder, usage};
use crate::wire::Route;
use juror_engine::engine::Completion;
use juror_engine::text::tokenizer::TextStream;

/// Writes the pieces of an answer.
pub(crate) struct Streaming<'a> {
    responder: Responder<'a>,
    request: &'a GenerationRequest,
    prompts: &'a [Prompt],
    name: &'a str,
    choices: Vec<Choice>,
}

struct Choice {
    /// None where the text waits for the end.
    text: Option<TextStream>,
    /// Text that may be the beginning of a stop text.
    held: String,
    given: usize,
    /// A stop text was met: nothing more is given out.
    is_over: bool,
}

impl<'a> Streaming<'a> {
    /// Of the answer to a request with these prompts; `name` as in [`Responder::body`].
    pub(crate) fn new(
        responder: Responder<'a>,
        request: &'a GenerationRequest,
        prompts: &'a [Prompt],
        name: &'a str,
    ) -> Self {
        let n = request.n as usize;
        let choices = (0..prompts.len() * n).map(|index| {
            let thinking = prompts[index / n].thinking.as_deref();
            let is_plain = thinking.is_none_or(|thinking| match request.form {
                // A call comes whole.
                Some(_) => request.tools.is_none() && !may_think(responder.model, thinking),
                None => thinking.is_plain(),
            });
            let tokenizer = responder.model.tokenizer();
            Choice {
                text: is_plain.then(|| TextStream::new(tokenizer.clone())),
                held: String::new(),
                given: 0,
                is_over: false,
            }
        });
        Self {
            choices: choices.collect(),
            responder,
            request,
            prompts,
            name,
        }
    }

    /// The pieces before any text: of a chat, who speaks.
    pub(crate) fn begin(&self) -> Vec<Value> {
        match self.request.route() {
            Route::Completions => Vec::new(),
            Route::Chat => (0..self.choices.len())
                .map(|index| self.delta(index, &json!({"role": "assistant", "content": ""})))
                .collect(),
        }
    }

    /// Takes a token of one of the answers; the piece that became certain with it.
    pub(crate) fn push(&mut self, index: usize, token: u32) -> Option<Value> {
        // The end of sequence is no text.
        if self.responder.model.eos.contains(&token) {
            return None;
        }
        let choice = self.choices.get_mut(index)?;
        let added = choice.text.as_mut()?.push(token);
        if choice.is_over || added.is_empty() {
            return None;
        }
        choice.held.push_str(&added);
        let stops = &self.request.stop;
        if stops.iter().any(|stop| choice.held.contains(stop.as_str())) {
            // What stands before it is given out with the end.
            choice.is_over = true;
            return None;
        }
        let certain = choice.held.len() - may_begin(&choice.held, stops);
        if certain == 0 {
            return None;
        }
        let rest = choice.held.split_off(certain);
        let text = std::mem::replace(&mut choice.held, rest);
        choice.given += text.len();
        Some(self.text(index, &text))
    }

    /// The last pieces of an answer that is over.
    pub(crate) fn finish(
        &mut self,
        index: usize,
        completion: &Completion,
    ) -> Result<Vec<Value>, String> {
        let prompt = &self.prompts[index / self.request.n as usize];
        let (by, request) = (&self.responder, self.request);
        let whole = by.choice(request, prompt, completion, index)?;
        let text = match self.request.route() {
            Route::Chat => &whole["message"]["content"],
            Route::Completions => &whole["text"],
        };
        let text = text.as_str().unwrap_or_default();
        let mut pieces = Vec::new();
        if let Some(thought) = whole["message"].get("reasoning_content") {
            pieces.push(self.delta(index, &json!({"reasoning_content": thought})));
        }
        if let Some(call) = whole["message"].get("tool_calls") {
            let mut call = call[0].clone();
            call["index"] = json!(0);
            pieces.push(self.delta(index, &json!({"tool_calls": [call]})));
        }
        let given = self.choices[index].given;
        let rest = text.get(given..).unwrap_or_default();
        if !rest.is_empty() {
            pieces.push(self.text(index, rest));
        }
        let mut last = json!({"index": index, "finish_reason": whole["finish_reason"], "logprobs": whole["logprobs"]});
        match self.request.route() {
            Route::Chat => last["delta"] = json!({}),
            Route::Completions => last["text"] = json!(""),
        }
        pieces.push(self.piece(&last));
        Ok(pieces)
    }

    /// The piece that says how many tokens there were.
    pub(crate) fn usage(&self, completions: &[Completion]) -> Value {
        let mut piece = self.head();
        piece["choices"] = json!([]);
        piece["usage"] = usage(self.prompts, completions);
        piece
    }

    fn text(&self, index: usize, text: &str) -> Value {
        match self.request.route() {
            Route::Chat => self.delta(index, &json!({"content": text})),
            Route::Completions => self.piece(
                &json!({"index": index, "text": text, "finish_reason": null, "logprobs": null}),
            ),
        }
    }

    fn delta(&self, index: usize, delta: &Value) -> Value {
        self.piece(
            &json!({"index": index, "delta": delta, "finish_reason": null, "logprobs": null}),
        )
    }

    fn piece(&self, choice: &Value) -> Value {
        let mut piece = self.head();
        piece["choices"] = json!([choice]);
        piece
    }

    fn head(&self) -> Value {
        let object = match self.request.route() {
            Route::Chat => "chat.completion.chunk",
            Route::Completions => "text_completion",
        };
        self.responder.head(self.request, object, self.name)
    }
}

/// The longest end of `text`, in bytes, that one of these texts begins with.
fn may_begin(text: &str, stops: &[String]) -> usize {
    let longest = stops.iter().map(|stop| {
        let most = (stop.len() - 1).min(text.len());
        let ends = |it: &usize| stop.get(..*it).is_some_and(|end| text.ends_with(end));
        let mut found = (1..=most).rev().filter(ends);
        found.next().unwrap_or(0)
    });
    longest.max().unwrap_or(0)
}

#[cfg(test)]
mod tests;

//! An answer's body, in OpenAI's shape.

use serde_json::{Value, json};

use super::conversation::{ChatModel, Prompt};
use super::echo;
use super::form::thinking_tokens;
use super::logprobs;
use super::request::GenerationRequest;
use super::stop::first;
use crate::wire::Route;
use juror_engine::engine::{Completion, FinishReason};
use juror_engine::text::reasoning::VisibleAnswer;

/// What is the same in many answers.
#[derive(Clone, Copy)]
pub(crate) struct Responder<'m> {
    pub(crate) model: &'m ChatModel,
    /// When they were asked for, in seconds since 1970.
    pub(crate) created: i64,
    pub(crate) raw: bool,
}

impl Responder<'_> {
    /// The body of the answer to a request with these prompts: their completions, `n` for each prompt. `name` is unique to the answer.
    pub(crate) fn body(
        &self,
        request: &GenerationRequest,
        prompts: &[Prompt],
        completions: &[Completion],
        name: &str,
    ) -> Result<Value, String> {
        let n = request.n as usize;
        let choices = completions.iter().enumerate().map(|(index, completion)| {
            self.choice(request, &prompts[index / n], completion, index)
        });
        let choices = choices.collect::<Result<Vec<Value>, String>>()?;
        let mut body = self.head(request, request.route().object(), name);
        body["usage"] = usage(prompts, completions);
        if let (true, Some(first)) = (self.raw, prompts.first()) {
            body["prompt_token_ids"] = json!(first.tokens);
        }
        body["choices"] = json!(choices);
        Ok(body)
    }

    /// What every object about an answer begins with.
    pub(super) fn head(&self, request: &GenerationRequest, object: &str, name: &str) -> Value {
        let prefix = match request.route() {
            Route::Chat => "chatcmpl",
            Route::Completions => "cmpl",
        };
        json!({
            "id": format!("{prefix}-{name}"),
            "object": object,
            "created": self.created,
            "model": request.model.as_ref().or(self.model.names.first()),
        })
    }

    pub(super) fn choice(
        &self,
        request: &GenerationRequest,
        prompt: &Prompt,
        completion: &Completion,
        index: usize,
    ) -> Result<Value, String> {
        let (tokens, mut reason) = ended(completion)?;
        let mut cut = |mut text: String| {
            if let Some(end) = first(&text, &request.stop) {
                text.truncate(end);
                reason = "stop";
            }
            text
        };
        let tokenizer = self.model.tokenizer();
        let mut choice = if let Some(thinking) = prompt.thinking.as_deref() {
            let (content, thought) = if request.form.is_some() {
                let (thought, content) =
                    tokens.split_at(thinking_tokens(self.model, thinking, tokens));
                let is_whole = thought.is_empty() || !content.is_empty();
                let thought = (!thought.is_empty()).then(|| tokenizer.decode(thought));
                (is_whole.then(|| tokenizer.decode(content)), thought)
            } else {
                apart(thinking.read(tokenizer, tokens))
            };
            let content = content.map(&mut cut);
            let call = request.tools.as_ref().zip(content.as_deref());
            let id = format!("call-{:x}-{:x}-{index}", self.created, completion.id);
            let call = call.and_then(|(tools, content)| tools.call(content, &id));
            let mut message = match call {
                Some(call) => json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                None => json!({"role": "assistant", "content": content}),
            };
            if let Some(thought) = thought {
                message["reasoning_content"] = json!(thought);
            }
            json!({"message": message})
        } else if request.echo {
            let place = index / request.n as usize;
            let (given, answer) =
                echo::apart(self.model, request, (place, prompt), tokens, completion);
            json!({"text": given + &cut(tokenizer.decode(answer))})
        } else {
            json!({"text": cut(tokenizer.decode(tokens))})
        };
        choice["index"] = json!(index);
        let is_call = choice["message"].get("tool_calls").is_some();
        if let (Some(tools), "stop", true) = (&request.tools, reason, is_call) {
            reason = tools.finish_reason();
        }
        choice["finish_reason"] = json!(reason);
        let asked = request.logprobs.is_some();
        choice["logprobs"] =
            json!(asked.then(|| logprobs::written(self.model, request, completion)));
        if self.raw {
            choice["token_ids"] = json!(completion.tokens);
        }
        Ok(choice)
    }
}

impl Route {
    fn object(self) -> &'static str {
        match self {
            Self::Chat => "chat.completion",
            Self::Completions => "text_completion",
        }
    }
}

/// The tokens of an answer's text, and why it ended.
pub(super) fn ended(completion: &Completion) -> Result<(&[u32], &'static str), String> {
    let tokens = &completion.tokens;
    match &completion.finish {
        FinishReason::Rejected(why) | FinishReason::TooLong(why) => Err(why.clone()),
        FinishReason::EndOfSequence => Ok((&tokens[..tokens.len() - 1], "stop")),
        FinishReason::Stop => Ok((tokens, "stop")),
        FinishReason::Length => Ok((tokens, "length")),
    }
}

/// Tokens of the prompts, each once, and of all completions.
pub(super) fn usage(prompts: &[Prompt], completions: &[Completion]) -> Value {
    let prompt: usize = prompts.iter().map(|prompt| prompt.tokens.len()).sum();
    let each = completions.len() / prompts.len().max(1);
    let all = completions.iter().map(|c| c.prompt.len() + c.tokens.len());
    let generated = all.sum::<usize>() - prompt * each;
    // The first completion of each prompt: later ones find all of it.
    let cached = completions.iter().step_by(each.max(1));
    let cached: usize = cached.map(|completion| completion.cached_tokens).sum();
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": {"cached_tokens": cached},
    })
}

/// A completion's answer and its thinking. Thinking in tags that every reader knows (`<think> … </think>`) stays in the answer.
pub(super) fn apart(answer: VisibleAnswer) -> (Option<String>, Option<String>) {
    let VisibleAnswer { written, visible } = answer;
    match visible {
        None => (None, Some(written)),
        Some(visible) if visible == written => (Some(visible), None),
        Some(visible) => {
            // Masked thinking is spaces, byte for byte.
            let content = visible.trim_start();
            let thought = written.get(..visible.len() - content.len());
            (Some(content.to_owned()), thought.map(str::to_owned))
        }
    }
}

#[cfg(test)]
mod tests;

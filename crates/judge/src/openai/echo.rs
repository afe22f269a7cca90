//! `echo`: the prompt before the answer, with the log-probabilities of its tokens.
//!
//! A prompt is computed without the logits of its tokens, which for a long one would take gigabytes. Where they are asked for, the engine
//! has the first token as its prompt, and the others are the only ones that may be chosen, one after another: their log-probabilities are
//! those before anything was masked. So each token of the prompt takes a step, as a generated one does.

use std::sync::Arc;

use super::conversation::{ChatModel, Prompt};
use super::request::{GenerationInput, GenerationRequest, RawPrompt};
use juror_engine::engine::{Completion, Guide, Next, Request, Then, TokenSet};

/// Has the tokens of a prompt chosen, then gives way to what steers the answer.
pub(super) struct Echo {
    /// The tokens that are left, the next one last.
    rest: Vec<u32>,
    answers: bool,
    eos: Arc<[u32]>,
    guide: Option<Box<dyn Guide>>,
}

impl Echo {
    /// The request whose completion has the prompt's log-probabilities, if those of the answer are asked for.
    pub(super) fn wrap(mut request: Request) -> Request {
        let scored = request.logprobs.map_or(request.prompt.len(), |_| 1);
        let mut rest = request.prompt.split_off(scored.min(request.prompt.len()));
        rest.reverse();
        let answers = request.max_new_tokens > 0;
        request.max_new_tokens = (request.max_new_tokens + rest.len()).max(1);
        request.guide = Some(Box::new(Self {
            rest,
            answers,
            // A prompt may hold them: they end the answer alone.
            eos: std::mem::take(&mut request.eos),
            guide: request.guide.take(),
        }));
        request
    }

    /// What follows the prompt's tokens so far.
    fn next(&mut self) -> Next {
        match self.rest.last() {
            Some(&token) => Next {
                append: Vec::new(),
                then: Then::OneOf {
                    tokens: Arc::new(TokenSet::from_iter([token]).into()),
                    choices: None,
                },
            },
            None if !self.answers => Next::END,
            None => self.guide.as_mut().map_or(Next::FREE, |own| own.begin()),
        }
    }
}

impl Guide for Echo {
    fn begin(&mut self) -> Next {
        self.next()
    }

    fn push(&mut self, token: u32) -> Next {
        if self.rest.pop().is_some() {
            return self.next();
        }
        if self.eos.contains(&token) {
            // It may have an error to note.
            self.guide.as_mut().and_then(|guide| guide.end());
            return Next::END;
        }
        self.guide
            .as_mut()
            .map_or(Next::FREE, |own| own.push(token))
    }
}

/// The prompt's text, and the tokens of the answer among those of a completion.
pub(super) fn apart<'c>(
    model: &ChatModel,
    request: &GenerationRequest,
    prompt: (usize, &Prompt),
    tokens: &'c [u32],
    completion: &Completion,
) -> (String, &'c [u32]) {
    let (place, Prompt { tokens: own, .. }) = prompt;
    let text = match &request.asked {
        GenerationInput::Prompts(prompts) => match prompts.get(place) {
            Some(RawPrompt::Text(text)) => text.clone(),
            _ => model.tokenizer().decode(own),
        },
        GenerationInput::Chat(..) => String::new(),
    };
    let answer = tokens.get(own.len() - completion.prompt.len()..);
    let answer = answer.unwrap_or_default();
    // The guide has ended it with this token.
    let end = answer.last().filter(|last| model.eos.contains(last));
    (text, &answer[..answer.len() - usize::from(end.is_some())])
}

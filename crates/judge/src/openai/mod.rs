//! OpenAI's chat and text completions (<https://platform.openai.com/docs/api-reference>), answered with a model here: requests
//! into prompts, completions into answers. Batch files and the server use it.

pub mod conversation;
mod echo;
mod form;
pub mod generation;
mod logprobs;
pub mod request;
pub(crate) mod response;
mod stop;
#[cfg(feature = "serve")]
pub(crate) mod streaming;
mod tools;
mod unapplied;

use juror_base::panics;

/// Runs `work`; a panic costs its request alone.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    panics::guarded(work)
        .unwrap_or_else(|why| Err(format!("{OWN_ERROR} ({why}); please report this request")))
}

/// How a message begins that says that a prompt is too long: clients such as `LiteLLM` know it by these words, as OpenAI and vLLM write them.
pub(crate) const TOO_LONG: &str = "This model's maximum context length is";

/// How the message of a panic begins.
const OWN_ERROR: &str = "an error of juror itself";

/// Whether a message of [`guarded`] is of a panic, not of the request.
#[cfg(feature = "serve")]
pub(crate) fn is_own_error(message: &str) -> bool {
    message.starts_with(OWN_ERROR)
}

//! From a prompt to a request.

pub(crate) mod guide;
pub(crate) mod request;
mod token_scaffold;

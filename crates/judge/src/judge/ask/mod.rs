//! From a prompt to a request.
//!
//! | file | what it is for |
//! |---|---|
//! | `request` | a sample becomes a request: prompt tokens, random key, guide |
//! | `guide`, `token_scaffold` | constrained generations: thinking, then the protocol's known text, in which words are chosen |

pub(crate) mod guide;
pub(crate) mod request;
mod token_scaffold;

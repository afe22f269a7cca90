//! The role of each token of a completion, where thinking is marked by token ids.

use std::sync::Arc;

use super::Markup;
use super::harmony::Channels;
use crate::text::tokenizer::Tokenizer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Marker,
    Other,
    Answer,
}

/// Tells the role of each token of a completion.
#[derive(Debug, Clone)]
pub(super) enum RoleTracker {
    Channels(Channels),
    Tags {
        pairs: Arc<[(u32, u32)]>,
        inside: Option<usize>,
    },
}

impl RoleTracker {
    pub(super) fn new(markup: &Markup) -> Self {
        match markup {
            Markup::Channels(channels) => Self::Channels(channels.clone()),
            Markup::Tags(pairs) => Self::Tags {
                pairs: Arc::clone(&pairs.tokens),
                inside: pairs.inside_token,
            },
        }
    }

    /// The role of a token, and whether everything before it turns out to be thinking.
    pub(super) fn take(&mut self, token: u32, tokenizer: &Tokenizer) -> (Role, bool) {
        match self {
            Self::Channels(channels) => {
                let role = channels.take(token, || tokenizer.decode(&[token]));
                (role, false)
            }
            Self::Tags { pairs, inside } => {
                if let Some(open) = *inside {
                    if token == pairs[open].1 {
                        *inside = None;
                        (Role::Marker, false)
                    } else {
                        (Role::Other, false)
                    }
                } else if let Some(opened) = pairs.iter().position(|(open, _)| token == *open) {
                    *inside = Some(opened);
                    (Role::Marker, false)
                } else {
                    let closes = pairs.iter().any(|(_, close)| token == *close);
                    let role = if closes { Role::Marker } else { Role::Answer };
                    (role, closes)
                }
            }
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Self::Channels(channels) => channels.is_finished(),
            Self::Tags { inside, .. } => inside.is_none(),
        }
    }
}

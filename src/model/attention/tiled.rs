//! Not yet: stands in for the tiled attention.
pub(super) use super::reference::Reference as Tiled;

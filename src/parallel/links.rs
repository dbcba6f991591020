//! What sending does.

use std::fmt;
use std::sync::Arc;

use crate::input::{Diagnostics, Source};

/// Between which places a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Between GPUs of one node.
    InNode,
    /// Between nodes of a zone.
    BetweenNodes,
    /// Between zones.
    BetweenZones,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::InNode => "inside a node",
            Scope::BetweenNodes => "between nodes",
            Scope::BetweenZones => "between zones",
        })
    }
}

/// Bandwidths by GPU and message size.
#[derive(Debug, Clone)]
pub struct Links {}

impl Links {
    /// Reads a table of links; what is wrong goes to `diagnostics`.
    pub fn read(_source: &Arc<Source>, _diagnostics: &mut Diagnostics) -> Option<Links> {
        Some(Links {})
    }
}

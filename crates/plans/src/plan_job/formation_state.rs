use std::sync::Arc;

use crate::FastestOn;
use crate::forecast::Training;
use crate::formation::{Formation, NodeLayout};

/// What trains, and what has to be known to change that.
#[derive(Debug, Clone, Default)]
pub(super) struct FormationState {
    /// What trains; none before anything did.
    pub(super) now: Option<Formation>,
    /// Whether all is there that was asked for, and nothing went since.
    pub(super) is_settled: bool,
    /// The plan that was chosen, and its layout; that of what trains where it is another.
    pub(super) whole: Option<Formation>,
    pub(super) layout: NodeLayout,
    pub(super) other: Option<NodeLayout>,
    /// Nodes of the plan that no VM is, the first last.
    pub(super) free: Vec<u32>,
    pub(super) fastest: Option<Arc<[FastestOn]>>,
    pub(super) training: Option<Training>,
    /// Whether something of what trains went, so that all have to meet again.
    pub(super) is_broken: bool,
    /// Seconds of pauses that are still to come before anybody trains.
    pub(super) pause_s: f64,
    /// Seconds until somebody begins to restart the job.
    pub(super) response_s: f64,
}

impl FormationState {
    /// Whether what nodes of the last formation are there hold all of the state.
    pub(super) fn survives(&self, there: &[bool]) -> bool {
        let layout = self.of_now();
        self.now.is_some() && there.len() == layout.nodes && layout.survives(there)
    }

    pub(super) fn of_now(&self) -> &NodeLayout {
        self.other.as_ref().unwrap_or(&self.layout)
    }
}

//! Failures of machines that nobody takes away: how often, what each takes with it, and how the job is kept going.

use std::sync::Arc;

use scavsim_base::units::SimTime;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};
use scavsim_sim::cluster::RecoveryTerms;

const FILE: &str = "data/failures/failures.csv";
const TABLE: &str = include_str!("../../../data/failures/failures.csv");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureScope {
    /// The node of a GPU.
    Gpu,
    Node,
    /// All nodes behind a switch.
    Switch,
    /// The job alone: its nodes stay.
    Nothing,
}

scavsim_base::named! {
    FailureScope: Gpu = "gpu", Node = "node", Switch = "switch", Nothing = "nothing",
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    pub name: Arc<str>,
    pub loses: FailureScope,
    pub per_gpu_h: f64,
    pub per_node_h: f64,
}

impl Cause {
    /// Failures per hour of a node of so many GPUs.
    pub fn of_node_h(&self, gpus: u32) -> f64 {
        f64::from(gpus) * self.per_gpu_h + self.per_node_h
    }
}

/// Nodes that fail more often than others. A node that fails is repaired and comes back in the place of another that fails, so that as many
/// of those that train are lemons as of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnreliableNodes {
    pub share: f64,
    pub factor: f64,
}

impl UnreliableNodes {
    /// How often nodes fail over the mean of all: those that are none, and lemons.
    pub fn weights(&self) -> (f64, f64) {
        let mean = 1.0 - self.share + self.share * self.factor;
        (1.0 / mean, self.factor / mean)
    }
}

#[derive(Debug, Clone)]
pub struct Failures {
    pub causes: Vec<Cause>,
    pub nodes_per_switch: u32,
    pub detection: SimTime,
    /// Share of failures that wait for a person, and the mean seconds that this takes: exponential.
    pub by_hand: Option<(f64, f64)>,
    pub lemons: Option<UnreliableNodes>,
    /// Maintenance that is planned: from the end of one to the next, and how long each takes.
    pub maintenance: Option<(SimTime, SimTime)>,
    pub upkeep: RecoveryTerms,
}

impl Failures {
    /// Failures per hour of a node of so many GPUs, in the mean over all nodes.
    pub fn of_node_h(&self, gpus: u32) -> f64 {
        self.causes.iter().map(|cause| cause.of_node_h(gpus)).sum()
    }

    /// Mean seconds from a failure until somebody begins to restart the job.
    pub fn mean_response_s(&self) -> f64 {
        let by_hand = self.by_hand.map_or(0.0, |(share, mean_s)| share * mean_s);
        self.detection.seconds() + by_hand
    }
}

pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    read(|name, _| {
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    });
    names
}

/// The causes that were counted on a fleet; none of one that is not known.
pub fn counted(fleet: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    read(|name, cause| {
        if name == fleet {
            causes.push(cause);
        }
    });
    causes
}

fn read(mut on_row: impl FnMut(&str, Cause)) {
    let mut told = Diagnostics::default();
    let source = Source::new(FILE, TABLE);
    let columns = ["name", "gpus", "hours", "cause", "loses", "count"];
    let Some(table) = Table::read(&source, &columns, &[], &mut told) else {
        return;
    };
    for row in table.rows() {
        let d = &mut told;
        let figures = ["gpus", "hours", "count"].map(|key| row.number(key, 1e-9..=1e12, d));
        let words = ["name", "cause", "loses"].map(|key| row.text(key, d));
        let ([Some(gpus), Some(hours), Some(count)], [Some(name), Some(cause), Some(loses)]) =
            (figures, words)
        else {
            continue;
        };
        let Some(loses) = FailureScope::named(loses) else {
            continue;
        };
        let cause = Cause {
            name: cause.into(),
            loses,
            per_gpu_h: count / (gpus * hours),
            per_node_h: 0.0,
        };
        on_row(name, cause);
    }
    debug_assert!(told.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::near;

    #[test]
    fn the_counted_failures_are_the_published_ones() {
        let llama = counted("llama-3-405b");
        let rate: f64 = llama.iter().map(|cause| cause.per_gpu_h).sum();
        assert_eq!(llama.len(), 18);
        near(rate * 16_384.0 * 1296.0, 419.0, 1e-9);
        let all = "llama-3-405b opt-175b meta-rsc-1 meta-rsc-2";
        assert_eq!(names().join(" "), all);
        assert!(counted("nobody").is_empty());
    }

    #[test]
    fn lemons_leave_the_mean_as_it_is() {
        let (share, factor) = (0.1, 20.0);
        let (others, lemon) = UnreliableNodes { share, factor }.weights();
        near(0.9 * others + 0.1 * lemon, 1.0, 1e-12);
        near(lemon / others, 20.0, 1e-12);
    }
}

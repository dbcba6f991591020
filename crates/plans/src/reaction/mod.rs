//! Reactions: what a job on a plan does when VMs go and come. A reaction is a file and a line in [`Reaction`].

pub mod costs;
mod drop_replica;
mod re_plan;
mod redundant;
mod wait;
pub mod worth;

use crate::forecast::Forecast;
use crate::formation::{Formation, NodeLayout};
use scavsim_base::units::SimTime;

pub use costs::{Moves, ReactionCosts};
pub use worth::Prospect;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation<'a> {
    /// All of the plan that was chosen.
    pub(crate) whole: Formation,
    pub(crate) layout: &'a NodeLayout,
    pub(crate) there: &'a [bool],
    /// What a choice of another plan hangs on.
    pub(crate) prospect: Prospect<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aim {
    /// Sequences per second with all that are there.
    #[default]
    Throughput,
    /// Sequences per second of the replicas that survive the losses to come: a plan that is too large for what is left goes on with
    /// the replicas that there are GPUs for. Parcae's liveput.
    Liveput,
}

scavsim_base::named!(Aim: Throughput = "throughput", Liveput = "liveput");

scavsim_base::registry! {
    /// What a job does when VMs go and come.
    #[derive(Default)]
    pub enum Reaction {
        #[default]
        Wait = wait,
        DropReplica = drop_replica,
        RePlan = re_plan,
        Redundant = redundant,
    }

    /// What trains next; `None`: the job waits.
    pub(crate) fn next(self, situation: &Situation<'_>) -> Option<Formation>;

    /// Whether it uses VMs that come while others train, and the state that these hold.
    pub fn goes_on(self) -> bool = GOES_ON;
}

/// What is kept of the state beside checkpoints in storage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum StateSaving {
    /// Nothing: training stops while a checkpoint is written.
    #[default]
    Blocking,
    /// Training stops while the state is copied to the hosts, for so long; it is safe once it is written.
    Asynchronous(SimTime),
    /// Every step is kept in the memory of the next node, too: what does not take two neighbours leaves it. Source: Wang et al.,
    /// GEMINI, SOSP 2023.
    InMemory,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReactionTerms {
    pub reaction: Reaction,
    pub costs: ReactionCosts,
    pub forecast: Forecast,
    pub aim: Aim,
    /// VMs that idle until one is lost.
    pub spares: u32,
    /// From a loss until a spare is in its place.
    pub swap: SimTime,
    pub saves: StateSaving,
}

//! Go on without the replica.

use super::Situation;
use crate::formation::Formation;
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "drop-replica",
    what: "Replicas that are whole go on, and take over the micro-batches of those that are not, until these are whole again; without any the job waits. State of which a node has a copy is not lost.",
    formula: "k of d replicas take d/k as many micro-batches each, rounded up",
    source: "Bamboo (NSDI 2023) calls it sample dropping, where micro-batches are not taken over",
    example: "parallel.reaction.policy = \"drop-replica\"",
};

pub(super) const GOES_ON: bool = true;

pub(super) fn next(situation: &Situation<'_>) -> Option<Formation> {
    let replicas = situation.layout.whole_replicas(situation.there);
    (replicas > 0).then_some(Formation {
        replicas,
        ..situation.whole
    })
}

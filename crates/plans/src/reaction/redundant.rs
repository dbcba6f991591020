//! Redundant computation in the neighbour stage.

use super::Situation;
use crate::formation::Formation;
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "redundant",
    what: "Every node also computes forward what the stage behind it does, while it waits; when that is lost it does its work too, and nothing is lost unless two beside each other go.",
    formula: "a step takes the forward passes of one stage longer, less the bubble; with a loss the slowest stage takes twice as long",
    source: "Bamboo (Thorpe et al., NSDI 2023)",
    example: "parallel.reaction.policy = \"redundant\"",
};

pub(super) const GOES_ON: bool = true;

pub(super) fn next(situation: &Situation<'_>) -> Option<Formation> {
    let all = Formation {
        redundant: true,
        ..situation.whole
    };
    if situation.there.iter().all(|is_there| *is_there) {
        return Some(all);
    }
    let doubled = situation.layout.doubled(situation.there)?;
    Some(Formation {
        doubled: Some(doubled),
        ..all
    })
}

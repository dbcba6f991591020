//! Interleaved 1F1B: a GPU holds several non-consecutive stages of the model.

use super::passes::{Pass, operation_of};
use super::{Operation, Place, Rounds};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "interleaved-1f1b",
    what: "A GPU holds v virtual stages, each p behind the one before; micro-batches pass in groups of p through one of them after the other, forward and backward in turn once the pipeline is full.",
    formula: "the bubble is (p − 1)/(m v) of the ideal step; micro-batches are a multiple of p",
    source: "Narayanan et al., SC 2021; the order is Megatron-LM's",
    example: "parallel.schedule = \"interleaved-1f1b\"",
};

/// Messages travel while both ends compute: those of one virtual stage overtake those of another.
pub(super) const NEEDS_OVERLAP: bool = true;

#[derive(Debug, Clone, Copy)]
pub(super) struct InterleavedOrder {
    place: Place,
    passes: u32,
    /// Number of forward passes before the first backward pass.
    ahead: u32,
}

pub(super) fn order(place: Place) -> InterleavedOrder {
    InterleavedOrder {
        place,
        passes: place.micro_batches * place.virtual_stages,
        ahead: ahead(place),
    }
}

fn ahead(place: Place) -> u32 {
    let all = place.micro_batches * place.virtual_stages;
    if place.micro_batches == place.stages {
        return all;
    }
    let behind = 2 * (place.stages - 1 - place.stage) + (place.virtual_stages - 1) * place.stages;
    behind.min(all)
}

/// Micro-batch and virtual stage of the `number`-th pass forward.
#[inline]
fn forward(place: Place, number: u32) -> (u32, u32) {
    let group = place.stages * place.virtual_stages;
    let (groups, within) = (number / group, number % group);
    let micro_batch = groups * place.stages + within % place.stages;
    (micro_batch, within / place.stages)
}

impl InterleavedOrder {
    #[inline]
    pub(super) fn operations(&self) -> u32 {
        6 * self.passes
    }

    #[inline]
    pub(super) fn operation(&self, number: u32) -> Operation {
        let (pass, part) = (number / 3, number % 3);
        let turns = 2 * (self.passes - self.ahead);
        let (is_forward, which) = if pass < self.ahead {
            (true, pass)
        } else if pass < self.ahead + turns {
            let turn = pass - self.ahead;
            let is_forward = turn.is_multiple_of(2);
            (
                is_forward,
                turn / 2 + if is_forward { self.ahead } else { 0 },
            )
        } else {
            (false, pass - self.passes)
        };
        let (micro_batch, virtual_stage) = forward(self.place, which);
        let pass = if is_forward {
            Pass::Forward
        } else {
            Pass::Backward
        };
        let virtual_stage = if is_forward {
            virtual_stage
        } else {
            self.place.virtual_stages - 1 - virtual_stage
        };
        operation_of(self.place, pass, micro_batch, virtual_stage, part)
    }
}

/// Messages in flight are part of the repeated state: all rounds are walked.
pub(super) fn rounds(_: Place) -> [Rounds; 2] {
    [Rounds::NONE; 2]
}

/// Micro-batches held when the first goes backward; later as many are held, of other virtual stages.
pub(super) fn in_flight(place: Place, virtual_stage: u32) -> u32 {
    let all = place.micro_batches * place.virtual_stages;
    let there = (ahead(place) + 1).min(all);
    (0..there)
        .filter(|number| forward(place, *number).1 == virtual_stage)
        .count() as u32
}

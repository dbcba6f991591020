//! ZB-H1: the gradients of weights are computed later, when a stage would wait.

use super::passes::{Pass, operation_of};
use super::{Operation, Place, Rounds};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "zb-h1",
    what: "1F1B whose backward passes first compute the gradients that the stage before waits for; stage s computes those of its weights s micro-batches later.",
    formula: "the bubble is (p − 1) max(F + B − W, F, B) for F forward, B and W of the backward pass for inputs and for weights; min(p, m) micro-batches are in flight",
    source: "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
    example: "parallel.schedule = \"zb-h1\"",
};

/// A gradient leaves before that of the weights is computed.
pub(super) const NEEDS_OVERLAP: bool = true;

#[derive(Debug, Clone, Copy)]
pub(super) struct ZeroBubbleOrder {
    place: Place,
    /// Micro-batches that go forward before the first goes backward.
    ahead: u32,
    /// Backward passes before the first pass for weights.
    late: u32,
}

pub(super) fn order(place: Place) -> ZeroBubbleOrder {
    ZeroBubbleOrder {
        place,
        ahead: (place.stages - 1 - place.stage).min(place.micro_batches),
        late: place.stage.min(place.micro_batches),
    }
}

impl ZeroBubbleOrder {
    #[inline]
    pub(super) fn operations(&self) -> u32 {
        9 * self.place.micro_batches
    }

    /// The `number`-th pass: its kind, and its micro-batch. The first forward passes are followed by rounds of the next
    /// forward, a backward and a pass for weights, each until none is left.
    #[inline]
    fn pass(&self, number: u32) -> (Pass, u32) {
        let all = self.place.micro_batches;
        let (ahead, late) = (self.ahead, self.late);
        if number < ahead {
            return (Pass::Forward, number);
        }
        let left = number - ahead;
        // Rounds with all three passes end with the forward passes; those before the first for weights have two.
        let forward_rounds = all - ahead;
        let short = late.min(forward_rounds);
        if left < 2 * short {
            let round = left / 2;
            return match left % 2 {
                0 => (Pass::Forward, ahead + round),
                _ => (Pass::Backward, round),
            };
        }
        let left = left - 2 * short;
        let full = forward_rounds - short;
        if left < 3 * full {
            let round = short + left / 3;
            return match left % 3 {
                0 => (Pass::Forward, ahead + round),
                1 => (Pass::Backward, round),
                _ => (Pass::Weights, round - late),
            };
        }
        let left = left - 3 * full;
        // Backward passes whose weights are not yet due, then pairs, then weights only.
        let begun = forward_rounds;
        let alone = late.saturating_sub(begun).min(all - begun);
        if left < alone {
            return (Pass::Backward, begun + left);
        }
        let left = left - alone;
        let pairs = all - begun - alone;
        if left < 2 * pairs {
            let round = begun + alone + left / 2;
            return match left % 2 {
                0 => (Pass::Backward, round),
                _ => (Pass::Weights, round - late),
            };
        }
        (Pass::Weights, all - late + left - 2 * pairs)
    }

    #[inline]
    pub(super) fn operation(&self, number: u32) -> Operation {
        let (pass, micro_batch) = self.pass(number / 3);
        operation_of(self.place, pass, micro_batch, 0, number % 3)
    }
}

/// Messages in flight are part of the repeated state: all rounds are walked.
pub(super) fn rounds(_: Place) -> [Rounds; 2] {
    [Rounds::NONE; 2]
}

/// A micro-batch is held until the gradients of its weights are computed.
pub(super) fn in_flight(place: Place, _: u32) -> u32 {
    place.stages.min(place.micro_batches)
}

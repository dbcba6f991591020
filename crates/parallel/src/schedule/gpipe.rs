use super::{Exchange, Operation, Place, Rounds};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "gpipe",
    what: "A stage lets all micro-batches forward, then all backward, the last first.",
    formula: "all m micro-batches are in flight",
    source: "GPipe (Huang et al., NeurIPS 2019)",
    example: "parallel.schedule = \"gpipe\"",
};

pub(super) const NEEDS_OVERLAP: bool = false;

/// Operations per micro-batch, in either direction.
fn every(place: Place) -> u32 {
    1 + u32::from(!place.is_first()) + u32::from(!place.is_last())
}

#[derive(Debug, Clone, Copy)]
pub(super) struct GPipeOrder {
    is_first: bool,
    is_last: bool,
    micro_batches: u32,
    every: u32,
}

pub(super) fn order(place: Place) -> GPipeOrder {
    GPipeOrder {
        is_first: place.is_first(),
        is_last: place.is_last(),
        micro_batches: place.micro_batches,
        every: every(place),
    }
}

impl GPipeOrder {
    #[inline]
    pub(super) fn operations(&self) -> u32 {
        2 * self.micro_batches * self.every
    }

    #[inline]
    pub(super) fn operation(&self, number: u32) -> Operation {
        let (round, step) = (number / self.every, number % self.every);
        if round < self.micro_batches {
            match step + u32::from(self.is_first) {
                0 => Operation::Previous(Exchange::activations(round)),
                1 => Operation::Forward(round),
                _ => Operation::Next(Exchange::activations(round)),
            }
        } else {
            let micro_batch = 2 * self.micro_batches - 1 - round;
            match step + u32::from(self.is_last) {
                0 => Operation::Next(Exchange::gradients(micro_batch)),
                1 => Operation::Backward(micro_batch),
                _ => Operation::Previous(Exchange::gradients(micro_batch)),
            }
        }
    }
}

pub(super) fn rounds(place: Place) -> [Rounds; 2] {
    let (count, every) = (place.micro_batches, every(place));
    let first = count * every;
    let forward = Rounds {
        count,
        first: 0,
        every,
    };
    [forward, Rounds { first, ..forward }]
}

pub(super) fn in_flight(place: Place, _: u32) -> u32 {
    place.micro_batches
}

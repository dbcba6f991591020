//! GPipe.

use super::{Exchange, Operation, Place, Rounds};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "gpipe",
    what: "A stage lets all micro-batches forward, then all backward, the last first.",
    formula: "all m micro-batches are in flight",
    source: "GPipe (Huang et al., NeurIPS 2019)",
    example: "parallel.schedule = \"gpipe\"",
};

/// Operations per micro-batch, in either direction.
fn every(place: Place) -> u32 {
    1 + u32::from(!place.is_first()) + u32::from(!place.is_last())
}

pub(super) fn operations(place: Place) -> u32 {
    2 * place.micro_batches * every(place)
}

pub(super) fn operation(place: Place, number: u32) -> Operation {
    let every = every(place);
    let (round, step) = (number / every, number % every);
    if round < place.micro_batches {
        match step + u32::from(place.is_first()) {
            0 => Operation::Previous(Exchange::activations(round)),
            1 => Operation::Forward(round),
            _ => Operation::Next(Exchange::activations(round)),
        }
    } else {
        let micro_batch = 2 * place.micro_batches - 1 - round;
        match step + u32::from(place.is_last()) {
            0 => Operation::Next(Exchange::gradients(micro_batch)),
            1 => Operation::Backward(micro_batch),
            _ => Operation::Previous(Exchange::gradients(micro_batch)),
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

pub(super) fn in_flight(place: Place) -> u32 {
    place.micro_batches
}

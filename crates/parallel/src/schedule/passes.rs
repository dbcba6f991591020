//! Passes of schedules that send while they compute: each waits for its input, computes, and sends its output.

use super::{Exchange, Operation, Place};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Forward,
    /// A micro-batch goes backward; without weights, if these have a separate pass.
    Backward,
    Weights,
}

/// Part 0, 1 or 2 of a pass: waiting, computing, sending. If there is nothing to wait for or to send, an empty exchange.
#[inline]
pub(super) fn operation_of(
    place: Place,
    pass: Pass,
    micro_batch: u32,
    virtual_stage: u32,
    part: u32,
) -> Operation {
    let number = virtual_stage * place.micro_batches + micro_batch;
    let is_first = place.is_first() && virtual_stage == 0;
    let is_last = place.is_last() && virtual_stage + 1 == place.virtual_stages;
    match (pass, part) {
        (Pass::Forward, 1) => Operation::Forward(number),
        (Pass::Backward, 1) => Operation::Backward(number),
        (Pass::Weights, 1) => Operation::Weights(number),
        (Pass::Forward, 0) if !is_first => Operation::Previous(Exchange::activations(number)),
        (Pass::Forward, _) if part == 2 && !is_last => {
            Operation::Next(Exchange::activations(number))
        }
        (Pass::Backward, 0) if !is_last => Operation::Next(Exchange::gradients(number)),
        (Pass::Backward, _) if part == 2 && !is_first => {
            Operation::Previous(Exchange::gradients(number))
        }
        _ => Operation::Next(Exchange::NOTHING),
    }
}

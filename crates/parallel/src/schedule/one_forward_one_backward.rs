//! 1F1B, one forward and one backward.

use super::{Exchange, Operation, Place, Rounds};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "1f1b",
    what: "A stage first lets as many micro-batches forward as there are stages behind it, then one forward and one backward in turn, then the rest backward.",
    formula: "min(p − s, m) of m micro-batches are in flight on stage s of p",
    source: "PipeDream-Flush (Narayanan et al., SC 2021)",
    example: "parallel.schedule = \"1f1b\"",
};

pub(super) const NEEDS_OVERLAP: bool = false;

#[derive(Debug, Clone, Copy)]
pub(super) struct OneByOneOrder {
    is_first: bool,
    is_last: bool,
    /// Micro-batches that go forward before the first goes backward.
    ahead: u32,
    /// Operations until then, including the exchange for the next forward pass.
    filling: u32,
    /// Micro-batches that alternate forward and backward.
    turns: u32,
    /// Operations of each of these; the last one has no exchange for activations, which no other exchange lacks.
    every: u32,
    /// Operations of each micro-batch that goes backward at the end.
    emptying: u32,
}

pub(super) fn order(place: Place) -> OneByOneOrder {
    OneByOneOrder::new(place)
}

impl OneByOneOrder {
    fn new(place: Place) -> OneByOneOrder {
        let ahead = (place.stages - 1 - place.stage).min(place.micro_batches);
        let turns = place.micro_batches - ahead;
        let (previous, next) = (u32::from(!place.is_first()), u32::from(!place.is_last()));
        OneByOneOrder {
            is_first: place.is_first(),
            is_last: place.is_last(),
            ahead,
            filling: ahead * (1 + previous + next) + if turns > 0 { previous } else { 0 },
            turns,
            every: 2 + previous + next,
            emptying: 1 + previous + next,
        }
    }

    #[inline]
    pub(super) fn operations(&self) -> u32 {
        self.filling + self.turns * self.every + self.ahead * self.emptying
    }

    #[inline]
    pub(super) fn operation(&self, number: u32) -> Operation {
        if number < self.filling {
            let every = self.emptying;
            let (round, step) = (number / every, number % every);
            return match step + u32::from(self.is_first) {
                0 => Operation::Previous(Exchange::activations(round)),
                1 => Operation::Forward(round),
                _ => Operation::Next(Exchange::activations(round)),
            };
        }
        let number = number - self.filling;
        if number < self.turns * self.every {
            let (round, mut step) = (number / self.every, number % self.every);
            // The last stage has no next stage.
            step += u32::from(self.is_last && step > 0);
            return match step {
                0 => Operation::Forward(self.ahead + round),
                1 => Operation::Next(Exchange {
                    activations: Some(self.ahead + round),
                    gradients: Some(round),
                }),
                2 => Operation::Backward(round),
                _ => Operation::Previous(Exchange {
                    activations: (round + 1 < self.turns).then_some(self.ahead + round + 1),
                    gradients: Some(round),
                }),
            };
        }
        let number = number - self.turns * self.every;
        let round = self.turns + number / self.emptying;
        match number % self.emptying {
            0 => Operation::Next(Exchange::gradients(round)),
            1 => Operation::Backward(round),
            _ => Operation::Previous(Exchange::gradients(round)),
        }
    }
}

pub(super) fn rounds(place: Place) -> [Rounds; 2] {
    let parts = OneByOneOrder::new(place);
    // As many as the turns of the first stage, without the last, which receives no activations.
    let turns = place.micro_batches.saturating_sub(place.stages - 1);
    let none = Rounds {
        count: 0,
        first: 0,
        every: parts.every,
    };
    let turning = Rounds {
        count: turns.saturating_sub(1),
        first: parts.filling,
        every: parts.every,
    };
    [turning, none]
}

pub(super) fn in_flight(place: Place, _: u32) -> u32 {
    (place.stages - place.stage).min(place.micro_batches)
}

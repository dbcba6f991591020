//! Random numbers from a seed and a number: for mutated inputs, and for generated scenarios.

use scavsim::rng::mix;

/// Random numbers of one input.
pub struct Luck {
    key: u64,
    count: u64,
}

impl Luck {
    pub fn new(seed: u64, input: u64) -> Luck {
        Luck {
            key: mix(seed, input),
            count: 0,
        }
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.count += 1;
        (mix(self.key, self.count) % end as u64) as usize
    }

    /// True once in `many` times.
    pub fn once_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

use super::Welford;

/// [`Welford`] of each of several streams, to the same bits: a row has the next value of each, NaN where a stream has none.
/// What belongs together lies together, so that several streams are told by one instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes {
    width: usize,
    /// Counts of all streams, then means, sums of squares and of cubes.
    sums: Box<[f64]>,
}

impl Lanes {
    pub fn new(width: usize) -> Lanes {
        Lanes {
            width,
            sums: vec![0.0; 4 * width].into(),
        }
    }

    /// Takes in a row: one finite value of each stream that has one.
    pub fn add(&mut self, row: &[f64]) {
        let (counts, rest) = self.sums.split_at_mut(self.width);
        let (means, rest) = rest.split_at_mut(self.width);
        let (squares, cubes) = rest.split_at_mut(self.width);
        let moments = (counts.iter_mut().zip(means)).zip(squares.iter_mut().zip(cubes));
        for (((count, mean), (squares, cubes)), value) in moments.zip(row) {
            // Without a branch: as `Welford::add` has it, and then taken or not.
            let n = *count + 1.0;
            let before = value - *mean;
            let step = before / n;
            let cubed =
                before * step * step * (n - 1.0) * (n - 2.0) - 3.0 * step * *squares + *cubes;
            let moved = *mean + step;
            let squared = *squares + before * (value - moved);
            let is_there = !value.is_nan();
            let either = |new: f64, old: f64| if is_there { new } else { old };
            *count = either(n, *count);
            *mean = either(moved, *mean);
            *squares = either(squared, *squares);
            *cubes = either(cubed, *cubes);
        }
    }

    pub fn get(&self, at: usize) -> Welford {
        let [count, sums @ ..] = [0, 1, 2, 3].map(|lane| self.sums[lane * self.width + at]);
        Welford::of_sums(count as u64, sums)
    }

    pub fn set(&mut self, at: usize, moments: &Welford) {
        let (count, [mean, squares, cubes]) = moments.sums();
        for (lane, sum) in [count as f64, mean, squares, cubes].into_iter().enumerate() {
            self.sums[lane * self.width + at] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Streams};

    #[test]
    fn each_stream_has_the_bits_that_it_has_alone() {
        const WIDTH: usize = 7;
        let mut stream = Streams::new(8).stream(0, Purpose::Trial(0));
        let mut lanes = Lanes::new(WIDTH);
        let mut alone = [Welford::default(); WIDTH];
        for turn in 0..400 {
            // One that stays the same, zero or not, one that is never there, some that are at times.
            let row: [f64; WIDTH] = std::array::from_fn(|at| match at {
                0 => 0.3,
                1 => -0.0,
                2 => f64::NAN,
                _ if (turn + at) % 3 == 0 => f64::NAN,
                _ => 1e3_f64.powi(at as i32 - 4) + stream.normal(),
            });
            lanes.add(&row);
            for (alone, value) in alone.iter_mut().zip(row) {
                if !value.is_nan() {
                    alone.add(value);
                }
            }
        }
        let bits = |moments: Welford| {
            let (count, sums) = moments.sums();
            (count, sums.map(f64::to_bits))
        };
        for (at, alone) in alone.into_iter().enumerate() {
            assert_eq!(bits(lanes.get(at)), bits(alone), "{at}");
            let mut other = Lanes::new(WIDTH);
            other.set(at, &alone);
            assert_eq!(bits(other.get(at)), bits(alone));
        }
    }
}

//! How many values there are near each other, in bins that grow with the values: a DDSketch (Masson, Rim and Lee,
//! "DDSketch", VLDB 2019). What it comes to does not depend on the order of the values.

/// A quantile is within this fraction of a value of the stream.
pub(super) const RELATIVE_ERROR: f64 = 0.002;
/// Values nearer to zero than this count as zero.
const SMALLEST: f64 = 1e-6;
/// Bins of each sign: 14 orders of magnitude; beyond, those nearest to zero share a bin.
const MOST_BINS: i32 = 8_192;
/// Bins that are made at once below all others.
const SPARE: i32 = 64;
/// Logarithms this near to the border of a bin, in bins, are divided to tell which side they are on.
const NEAR: f64 = 1e-9;

#[derive(Clone)]
pub(super) struct Sketch {
    /// Logarithm of the ratio of two borders, and its inverse.
    width: f64,
    per_log: f64,
    positive: Bins,
    negative: Bins,
    zeros: u64,
    least: f64,
    largest: f64,
}

#[derive(Clone, Default)]
struct Bins {
    first: i32,
    /// Counts up to the highest bin that has a value.
    counts: Vec<u64>,
    all: u64,
}

impl Sketch {
    pub(super) fn new() -> Sketch {
        let width = ratio().ln();
        Sketch {
            width,
            per_log: 1.0 / width,
            positive: Bins::default(),
            negative: Bins::default(),
            zeros: 0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }

    /// Takes in a finite value so many times.
    pub(super) fn add(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        if value > SMALLEST {
            self.positive.add(self.bin(value), times);
        } else if value < -SMALLEST {
            self.negative.add(self.bin(-value), times);
        } else {
            self.zeros += times;
        }
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    pub(super) fn merge(&mut self, other: &Sketch) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
        self.zeros += other.zeros;
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
    }

    pub(super) fn count(&self) -> u64 {
        self.positive.all + self.zeros + self.negative.all
    }

    /// The value that a share `q` of all stays below, from 0 to 1; `None` before the first.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        if self.count() == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        if q == 0.0 {
            return Some(self.least);
        }
        if q == 1.0 {
            return Some(self.largest);
        }
        let rank = (q * (self.count() as f64 - 1.0)) as u64;
        let below = self.negative.all;
        Some(if rank < below {
            -self.value(self.negative.at_rank(below - rank - 1))
        } else if rank < below + self.zeros {
            0.0
        } else {
            self.value(self.positive.at_rank(rank - below - self.zeros))
        })
    }

    /// The bin of a positive value, ⌊ln value / width⌋.
    fn bin(&self, value: f64) -> i32 {
        let logarithm = value.ln();
        // A multiplication and a cast, where they tell as much as a division and `floor`, which cost three times as much.
        let bins = logarithm * self.per_log;
        let towards_zero = bins as i32;
        let bin = towards_zero - i32::from(bins < f64::from(towards_zero));
        let inside = bins - f64::from(bin);
        if inside > NEAR && inside < 1.0 - NEAR {
            bin
        } else {
            (logarithm / self.width).floor() as i32
        }
    }

    fn value(&self, bin: i32) -> f64 {
        (f64::from(bin) * self.width).exp() * (2.0 * ratio() / (1.0 + ratio()))
    }
}

fn ratio() -> f64 {
    (1.0 + RELATIVE_ERROR) / (1.0 - RELATIVE_ERROR)
}

impl Bins {
    #[inline]
    fn add(&mut self, bin: i32, times: u64) {
        self.all += times;
        let place = bin.wrapping_sub(self.first) as usize;
        match self.counts.get_mut(place) {
            Some(count) => *count += times,
            None => self.add_outside(bin, times),
        }
    }

    #[cold]
    fn add_outside(&mut self, bin: i32, times: u64) {
        if self.counts.is_empty() {
            self.first = bin;
        }
        let highest = self.highest().max(bin);
        let lowest = highest - MOST_BINS + 1;
        if self.first < lowest {
            // Those nearest to zero share the lowest bin.
            let beyond = ((lowest - self.first) as usize).min(self.counts.len());
            let shared: u64 = self.counts.drain(..beyond).sum();
            self.first = lowest;
            match self.counts.first_mut() {
                Some(first) => *first += shared,
                None => self.counts.push(shared),
            }
        }
        let bin = bin.max(lowest);
        if bin < self.first {
            let first = (bin - SPARE).max(lowest);
            let more = (self.first - first) as usize;
            self.counts.splice(..0, std::iter::repeat_n(0, more));
            self.first = first;
        }
        let place = (bin - self.first) as usize;
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += times;
    }

    /// The highest bin that has a value.
    fn highest(&self) -> i32 {
        self.first + (self.counts.len() as i32 - 1).max(0)
    }

    fn merge(&mut self, other: &Bins) {
        for (place, count) in other.counts.iter().enumerate() {
            if *count > 0 {
                self.add(other.first + place as i32, *count);
            }
        }
    }

    /// The bin of the value that so many others are below.
    fn at_rank(&self, rank: u64) -> i32 {
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen > rank
        });
        place.map_or(self.highest(), |place| self.first + place as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, stream};

    /// The bins are those of the division, at their borders too.
    #[test]
    fn bins_are_those_of_their_definition() {
        let sketch = Sketch::new();
        let mut stream = stream(7);
        let borders = (-3_000..3_000).flat_map(|bin| {
            let border = (f64::from(bin) * sketch.width).exp();
            [border.next_down(), border, border.next_up()]
        });
        let others = (0..100_000).map(|_| libm::exp(8.0 * stream.normal()));
        for value in borders.chain(others) {
            let bin = (value.ln() / sketch.width).floor() as i32;
            assert_eq!(sketch.bin(value), bin, "{value}");
        }
    }

    /// The quantile that counts by bin in a map give.
    fn by_hand(values: &[f64], q: f64) -> f64 {
        let sketch = Sketch::new();
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let value = sorted[(q * (sorted.len() as f64 - 1.0)) as usize];
        let bin = |value: f64| sketch.value((value.ln() / sketch.width).floor() as i32);
        if value > SMALLEST {
            bin(value)
        } else if value < -SMALLEST {
            -bin(-value)
        } else {
            0.0
        }
    }

    #[test]
    fn quantiles_are_those_of_sorted_values_in_whatever_order_and_parts() {
        let mut stream = stream(8);
        let draw = |i| match i % 5 {
            0 => 0.0,
            1 => -libm::exp(stream.normal()),
            _ => libm::exp(3.0 * stream.normal()),
        };
        let mut values: Vec<f64> = (0..5_000).map(draw).collect();
        for _ in 0..2 {
            let (mut whole, mut parts) = (Sketch::new(), Sketch::new());
            values.iter().for_each(|value| whole.add(*value, 1));
            for part in values.chunks(77) {
                let mut own = Sketch::new();
                part.iter().for_each(|value| own.add(*value, 1));
                parts.merge(&own);
            }
            // The last and the first rank of those below zero, of zeros, and of those above.
            let borders = [999.0, 1_000.0, 1_999.0, 2_000.0].map(|rank| (rank + 0.25) / 4_999.0);
            let others = [0.001, 0.1, 0.3, 0.77, 0.95, 0.9999];
            for q in others.into_iter().chain(borders) {
                let expected = Some(by_hand(&values, q));
                assert_eq!((whole.quantile(q), parts.quantile(q)), (expected, expected));
            }
            let ends = [0.0, 1.0].map(|q| whole.quantile(q));
            let least = values.iter().copied().min_by(f64::total_cmp);
            let largest = values.iter().copied().max_by(f64::total_cmp);
            assert_eq!(ends, [least, largest]);
            values.reverse();
            values.rotate_left(1_234);
        }
    }

    /// Beyond 14 orders of magnitude the smallest share a bin, in whatever order they come.
    #[test]
    fn bins_do_not_go_on_for_ever() {
        let values = [1e-5, 3e200, 1e-4, 1e250, 2e250, 1.0];
        for turn in 0..values.len() {
            let mut sketch = Sketch::new();
            for at in 0..values.len() {
                sketch.add(values[(at + turn) % values.len()], 1);
            }
            assert!(sketch.positive.counts.len() <= MOST_BINS as usize);
            assert_eq!(sketch.count(), 6);
            let lowest = sketch.value(sketch.positive.highest() - MOST_BINS + 1);
            assert_eq!(sketch.quantile(0.5), Some(lowest), "{turn}");
            let high = sketch.quantile(0.99).expect("values");
            close(high, 1e250, 2.0 * RELATIVE_ERROR);
        }
    }
}

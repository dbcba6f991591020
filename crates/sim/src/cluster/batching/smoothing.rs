use crate::training::slowest::{self, Moments};
use crate::training::sums::skewed;
use crate::training::variation::WorkerTime;
use scavsim_base::rng::Stream;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothing {
    /// Exponentially, with this weight of the newest, since batches last changed.
    Exponential(f64),
    /// Plainly, since the last look.
    Plain,
}

/// Up to this many steps are drawn singly, which needs no approximation.
const DRAWN_SINGLY: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunningAverage {
    pub value_s: f64,
    pub count: u64,
}

impl RunningAverage {
    #[inline]
    pub fn add(&mut self, smoothing: Smoothing, time_s: f64) {
        self.count += 1;
        let weight = match smoothing {
            Smoothing::Exponential(weight) if self.count > 1 => weight,
            // A first time has no past to be weighed against.
            Smoothing::Exponential(_) => 1.0,
            Smoothing::Plain => 1.0 / self.count as f64,
        };
        self.value_s += weight * (time_s - self.value_s);
    }

    /// Takes in `steps` independent times of mean `mean_s` in one draw, bent to the exact mean,
    /// variance and skewness of their average. `one` holds the moments of `time`.
    pub fn add_many(
        &mut self,
        smoothing: Smoothing,
        steps: u64,
        mean_s: f64,
        time: WorkerTime,
        one: Moments,
        stream: &mut Stream,
    ) {
        let mut left = steps;
        // The first time starts an exponential average at full weight: it is always drawn.
        while left > 0 && (self.count == 0 || steps <= DRAWN_SINGLY) {
            self.add(smoothing, mean_s * slowest::draw(1, time, stream));
            left -= 1;
        }
        if left == 0 {
            return;
        }
        let n = left as f64;
        self.count += left;
        let kept = match smoothing {
            Smoothing::Exponential(weight) => libm::pow(1.0 - weight, n),
            Smoothing::Plain => (self.count - left) as f64 / self.count as f64,
        };
        let mut new_s = mean_s;
        if one.deviation > 0.0 {
            // Sums of the squares and of the cubes of the new times' weights, which sum to 1 − kept.
            let (squares, cubes) = match smoothing {
                Smoothing::Exponential(weight) => {
                    let power = |p: i32| {
                        weight.powi(p) * (1.0 - kept.powi(p)) / (1.0 - (1.0 - weight).powi(p))
                    };
                    (power(2), power(3))
                }
                Smoothing::Plain => ((1.0 - kept).powi(2) / n, (1.0 - kept).powi(3) / (n * n)),
            };
            let spread = squares.sqrt();
            let skewness = one.skewness * cubes / (squares * spread);
            let error = one.deviation * spread * skewed(stream.normal(), skewness);
            new_s += mean_s * error / (1.0 - kept);
        }
        self.value_s = kept * self.value_s + (1.0 - kept) * new_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, near, stream, variation};
    use scavsim_base::stats::Welford;

    #[test]
    fn the_first_time_counts_whole_and_later_ones_by_their_weight() {
        for (smoothing, expected) in [
            (Smoothing::Exponential(0.1), 10.2),
            (Smoothing::Plain, 11.0),
        ] {
            let mut average = RunningAverage::default();
            average.add(smoothing, 10.0);
            average.add(smoothing, 12.0);
            near(average.value_s, expected, 1e-12);
        }
    }

    /// One draw against time after time: mean and spread within 5 standard errors (fixed seed).
    #[test]
    fn an_average_in_one_draw_is_that_of_single_times() {
        let time = variation(0.3, None).worker_time();
        let one = slowest::moments(1, time);
        for smoothing in [Smoothing::Plain, Smoothing::Exponential(0.05)] {
            let mut stream = stream(8);
            let (mut fast, mut slow) = (Welford::default(), Welford::default());
            for _ in 0..20_000 {
                // The past of two averages counts, too.
                let (mut a, mut b) = (RunningAverage::default(), RunningAverage::default());
                for (steps, mean_s) in [(12, 1.0), (20, 2.0)] {
                    a.add_many(smoothing, steps, mean_s, time, one, &mut stream);
                    for _ in 0..steps {
                        b.add(smoothing, mean_s * slowest::draw(1, time, &mut stream));
                    }
                }
                fast.add(a.value_s);
                slow.add(b.value_s);
            }
            let error = slow.standard_deviation() * (2.0f64 / 20_000.0).sqrt();
            near(fast.mean(), slow.mean(), 5.0 * error);
            close(fast.standard_deviation(), slow.standard_deviation(), 0.04);
        }
    }
}

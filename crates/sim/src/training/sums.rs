//! Sums of many steps in one draw, and points on the way to a sum that is known.
//!
//! Between changes the steps are independent and identically distributed, so the time of n steps
//! has mean nμ, variance nσ² and skewness γ₁/√n exactly, whatever the distribution of one. One
//! normal draw is bent to these three (Wilson and Hilferty's cube, the Pearson III family).
//!
//! Where stragglers are so rare that three moments do not describe the sum, it is the exact mixture: how many steps hold a
//! straggler is binomial, those are drawn singly, the calm rest in one draw. Where even that does not hold, as n is
//! small or one step very skewed, all steps are drawn singly.

use super::slowest::{self, Moments};
use super::stepping::{StepCondition, Stepping};
use scavsim_base::rng::Stream;

/// Below this many steps they are drawn singly.
const FEWEST_STEPS: u64 = 8;
/// Below this many steps with stragglers they are drawn singly: a few long steps make the sum fall into clumps.
const FEWEST_STEPS_WITH_STRAGGLERS: u64 = 64;
/// Above this skewness of the sum it is not drawn at once.
const LARGEST_SKEWNESS: f64 = 0.5;

/// The compute seconds of many steps, without communication. The total does not depend on what is asked of the way: a mark is
/// a point on a path to the same end, so a run cut short and the whole run share their luck.
#[derive(Debug)]
pub(crate) struct ComputeSum {
    steps: u64,
    /// Seconds of all steps but those in `straggled_s`.
    plain_s: f64,
    /// Steps with a straggler, in any order, where they were drawn by themselves.
    straggled_s: Vec<f64>,
    /// Standard deviation of a step that is not among those.
    deviation_s: f64,
    /// The seconds of the marked steps, where they were drawn step by step.
    before_s: Option<f64>,
}

impl ComputeSum {
    /// Draws the sum of `steps` steps with moments `one`; `draw` draws one. A mark may be asked for after `mark` of them.
    pub(crate) fn draw(
        stepping: &Stepping,
        one: Moments,
        steps: u64,
        mark: u64,
        mut draw: impl FnMut(&mut Stream, StepCondition) -> f64,
        stream: &mut Stream,
    ) -> ComputeSum {
        let n = steps as f64;
        let (mean_s, deviation_s) = (
            stepping.worker_s * one.mean,
            stepping.worker_s * one.deviation,
        );
        let at_once = |plain_s: f64, before_s: Option<f64>| ComputeSum {
            steps,
            plain_s,
            straggled_s: Vec::new(),
            deviation_s,
            before_s,
        };
        if deviation_s == 0.0 {
            return at_once(n * mean_s, Some(mark as f64 * mean_s));
        }
        let skewness = one.skewness / n.sqrt();
        let fewest = match stepping.time.straggler {
            None => FEWEST_STEPS,
            Some(_) => FEWEST_STEPS_WITH_STRAGGLERS,
        };
        if steps >= fewest && skewness.abs() <= LARGEST_SKEWNESS {
            let bent = skewed(stream.normal(), skewness);
            return at_once(n * mean_s + deviation_s * n.sqrt() * bent, None);
        }
        let calm = one.calm.filter(|calm| {
            let skewness = calm.skewness / (n * calm.odds).sqrt();
            steps >= FEWEST_STEPS && skewness.abs() <= LARGEST_SKEWNESS
        });
        if let Some(calm) = calm {
            let straggled = slowest::binomial(steps, 1.0 - calm.odds, stream);
            let straggled_s: Vec<f64> = (0..straggled)
                .map(|_| draw(stream, StepCondition::Straggler))
                .collect();
            let n = (steps - straggled) as f64;
            let (mean_s, deviation_s) = (
                stepping.worker_s * calm.mean,
                stepping.worker_s * calm.deviation,
            );
            let bent = if n > 0.0 && deviation_s > 0.0 {
                skewed(stream.normal(), calm.skewness / n.sqrt())
            } else {
                0.0
            };
            return ComputeSum {
                steps,
                plain_s: (n * mean_s + deviation_s * n.sqrt() * bent).max(0.0),
                straggled_s,
                deviation_s,
                before_s: None,
            };
        }
        let (mut before, mut total) = (0.0, 0.0);
        for done in 1..=steps {
            total += draw(stream, StepCondition::Nothing);
            if done == mark {
                before = total;
            }
        }
        at_once(total, Some(before))
    }

    pub(crate) fn total_s(&self) -> f64 {
        self.plain_s + self.straggled_s.iter().sum::<f64>()
    }

    /// Seconds of the first `mark` steps, the mark that was told before.
    pub(crate) fn before_s(&mut self, mark: u64, stream: &mut Stream) -> f64 {
        if mark == 0 {
            return 0.0;
        }
        if mark == self.steps {
            return self.total_s();
        }
        if let Some(before_s) = self.before_s {
            return before_s;
        }
        if self.straggled_s.is_empty() {
            // A point on the way to a known end: the bridge of a random walk.
            let (m, n) = (mark as f64, self.steps as f64);
            let bridge = self.deviation_s * (m * (1.0 - m / n)).sqrt() * stream.normal();
            return (m / n * self.plain_s + bridge).clamp(0.0, self.plain_s);
        }
        let whole = WalkPart {
            steps: self.steps,
            plain_s: self.plain_s,
            straggled_s: &mut self.straggled_s,
        };
        whole.split(mark, self.deviation_s, stream).0.seconds()
    }

    /// How many of the steps are in time, and the seconds of those.
    pub(crate) fn in_time(
        mut self,
        in_time: impl Fn(u64, f64) -> bool,
        stream: &mut Stream,
    ) -> (u64, f64) {
        if self.straggled_s.is_empty() {
            let whole = (self.steps, self.plain_s);
            return bridge((0, 0.0), whole, self.deviation_s, in_time, stream);
        }
        let mut done = (0, 0.0);
        let mut part = WalkPart {
            steps: self.steps,
            plain_s: self.plain_s,
            straggled_s: &mut self.straggled_s,
        };
        while part.steps > 1 {
            let middle = part.steps / 2;
            let (first, second) = part.split(middle, self.deviation_s, stream);
            let at = (done.0 + middle, done.1 + first.seconds());
            part = if in_time(at.0, at.1) {
                done = at;
                second
            } else {
                first
            };
        }
        done
    }
}

/// Steps of a walk that follow each other.
struct WalkPart<'w> {
    steps: u64,
    plain_s: f64,
    straggled_s: &'w mut [f64],
}

impl<'w> WalkPart<'w> {
    fn seconds(&self) -> f64 {
        self.plain_s + self.straggled_s.iter().sum::<f64>()
    }

    /// The first `at` steps and the others: each straggled step is as likely to be any of them, and the calm ones are a
    /// random walk to a known end.
    fn split(self, at: u64, deviation_s: f64, stream: &mut Stream) -> (WalkPart<'w>, WalkPart<'w>) {
        let (mut room, mut steps, mut first) = (at, self.steps, 0);
        for place in 0..self.straggled_s.len() {
            if stream.uniform() * (steps as f64) < room as f64 {
                self.straggled_s.swap(place, first);
                first += 1;
                room -= 1;
            }
            steps -= 1;
        }
        // Calm ones, in the first part and in all.
        let (m, n) = (room as f64, steps as f64);
        let plain_s = if n > 0.0 {
            let share = m / n;
            let spread = deviation_s * (m * (1.0 - share)).sqrt() * stream.normal();
            (share * self.plain_s + spread).clamp(0.0, self.plain_s)
        } else {
            0.0
        };
        let (before, after) = self.straggled_s.split_at_mut(first);
        let first = WalkPart {
            steps: at,
            plain_s,
            straggled_s: before,
        };
        let second = WalkPart {
            steps: self.steps - at,
            plain_s: self.plain_s - plain_s,
            straggled_s: after,
        };
        (first, second)
    }
}

/// The most that a normal is bent: at 2 the mean is off by 0.0014 deviations, and beyond by the fifth power of the skewness, which
/// a few updates with rare stragglers would otherwise have by hundreds.
const MOST_BENT: f64 = 2.0;

/// Bends a standard normal `z` to mean 0, variance 1 and the given skewness g, as far as [`MOST_BENT`]:
/// (2/g)·((1 + g z/6 − g²/36)³ − 1), which tends to z as g vanishes.
pub(crate) fn skewed(z: f64, g: f64) -> f64 {
    if g.abs() < 1e-9 {
        return z;
    }
    let g = g.clamp(-MOST_BENT, MOST_BENT);
    let e = g * z / 6.0 - g * g / 36.0;
    2.0 / g * e * (3.0 + 3.0 * e + e * e)
}

/// How many of the steps between two points (count, seconds) are in time, and the seconds of those:
/// points on a random walk to a known end, halved until one step is left.
pub(crate) fn bridge(
    mut low: (u64, f64),
    mut high: (u64, f64),
    deviation_s: f64,
    in_time: impl Fn(u64, f64) -> bool,
    stream: &mut Stream,
) -> (u64, f64) {
    while high.0 - low.0 > 1 {
        let middle = low.0 + (high.0 - low.0) / 2;
        let (first, second) = ((middle - low.0) as f64, (high.0 - middle) as f64);
        let share = first / (first + second);
        let spread = deviation_s * (share * second).sqrt() * stream.normal();
        let at = (low.1 + share * (high.1 - low.1) + spread)
            .max(low.1)
            .min(high.1);
        if in_time(middle, at) {
            low = (middle, at)
        } else {
            high = (middle, at)
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{log_normal, near, straggler, stream};
    use scavsim_base::stats::{Welford, kolmogorov_smirnov};

    #[test]
    fn the_bent_normal_has_the_asked_moments() {
        let mut stream = stream(3);
        let mut seen = Welford::default();
        let values: Vec<f64> = (0..400_000).map(|_| skewed(stream.normal(), 0.5)).collect();
        values.iter().for_each(|&v| seen.add(v));
        let third = values.iter().map(|v| v.powi(3)).sum::<f64>() / values.len() as f64;
        // 5 standard errors: 1/√n, √2/√n·½ and about √25/√n with a fixed seed.
        near(seen.mean(), 0.0, 0.008);
        near(seen.standard_deviation(), 1.0, 0.008);
        near(third, 0.5, 0.04);
        assert_eq!(skewed(1.3, 0.0), 1.3);
        // Of a sum of few heavy-tailed times the mean is kept, whatever the skewness.
        for skewness in [2.0, 5.0, 24.0, -24.0] {
            let mut bent = Welford::default();
            (0..100_000).for_each(|_| bent.add(skewed(stream.normal(), skewness)));
            near(bent.mean(), 0.0, 0.02);
            near(bent.standard_deviation(), 1.0, 0.02);
        }
    }

    /// The mixture against all steps drawn singly: total, a mark on the way, and steps in time. Two-sample
    /// Kolmogorov–Smirnov, p > 0.01: a correct program fails one of four with probability 0.04, were the seed not fixed.
    #[test]
    fn rare_stragglers_in_a_mixture_are_as_those_drawn_singly() {
        let (steps, mark, limit_s) = (400, 130, 300.0);
        let time = log_normal(0.1, straggler(0.001, 6.0));
        let stepping = crate::tests::stepping(8, [1.0, 0.0], time);
        let one = stepping.slowest;
        let mut seen: [[Vec<f64>; 4]; 2] = Default::default();
        let mut stream = stream(8);
        for _ in 0..3000 {
            let draw = |stream: &mut Stream, given| stepping.draw_slowest_given_s(given, stream);
            let mut walk = ComputeSum::draw(&stepping, one, steps, mark, draw, &mut stream);
            assert!(walk.before_s.is_none(), "it is a mixture");
            let (total, before) = (walk.total_s(), walk.before_s(mark, &mut stream));
            assert!((walk.total_s() - total).abs() < 1e-9 * total);
            let (count, seconds) = walk.in_time(|_, s| s <= limit_s, &mut stream);
            assert!(seconds <= limit_s);
            let mut single = [0.0; 4];
            for done in 1..=steps {
                single[0] += stepping.draw_slowest_s(&mut stream);
                if done == mark {
                    single[1] = single[0];
                }
                if single[0] <= limit_s {
                    (single[2], single[3]) = (done as f64, single[0]);
                }
            }
            let mixed = [total, before, count as f64, seconds];
            for (way, figures) in [mixed, single].into_iter().enumerate() {
                (0..4).for_each(|figure| seen[way][figure].push(figures[figure]));
            }
        }
        for (figure, what) in ["total", "mark", "count", "in time"].iter().enumerate() {
            let (a, b) = (&seen[0][figure], &seen[1][figure]);
            let p = kolmogorov_smirnov(a, b).p_value;
            assert!(p > 0.01, "{what}: p = {p}");
        }
    }
}

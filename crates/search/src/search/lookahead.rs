//! A look ahead over runs that follow each other: what a path of them is expected to improve, and to take.

use super::belief::Belief;
use scavsim_base::stats::normal;

/// Whether so much pays for a run with 99 %.
pub(super) fn is_paid(belief: &Belief, left: f64) -> bool {
    belief.mean + normal::AT_99 * belief.deviation <= left
}

/// A path of runs: what it is expected to improve and to take.
pub(super) type Path = (f64, f64);

pub(super) fn ratio((gain, takes): Path) -> f64 {
    gain / takes.max(f64::MIN_POSITIVE)
}

/// What is believed of candidates, by their places in a list, after imagined observations.
pub(super) trait Imagined: Sized {
    /// What an observation at a candidate adds, whatever its value.
    type Row;

    /// What is believed of the candidates that nothing was imagined of, with their places.
    fn beliefs(&self) -> impl Iterator<Item = (usize, Belief)>;

    fn belief(&self, at: usize) -> Belief;

    fn row(&self, at: usize) -> Self::Row;

    /// After `value` was seen at a candidate, whose [`row`](Self::row) is told.
    fn after(&self, at: usize, row: &Self::Row, value: f64) -> Self;
}

pub(super) struct Lookahead {
    /// The greatest value of each that keeps the limits.
    pub(super) most: Vec<f64>,
    pub(super) discount: f64,
}

impl Lookahead {
    /// The path that begins with a run of candidate `at`, against the `best` value so far, with so much `left` to be spent.
    pub(super) fn path(
        &self,
        view: &impl Imagined,
        at: usize,
        best: f64,
        left: f64,
        steps: u32,
    ) -> Path {
        let belief = view.belief(at);
        let mut gain = belief.improvement(best) * belief.at_most(self.most[at]);
        let mut takes = belief.above_zero();
        if steps == 0 {
            return (gain, takes);
        }
        let row = view.row(at);
        for (node, weight) in normal::HERMITE {
            let value = belief.mean + node * belief.deviation;
            if value <= 0.0 || value >= left {
                continue; // no such value, or nothing left to go on with
            }
            let after = view.after(at, &row, value);
            let best = if value <= self.most[at] {
                best.min(value)
            } else {
                best
            };
            if let Some(next) = self.greatest(&after, best, left - value) {
                let (more, cost) = self.path(&after, next, best, left - value, steps - 1);
                gain += self.discount * weight * more;
                takes += self.discount * weight * cost;
            }
        }
        (gain, takes)
    }

    /// The payable candidate that is expected to improve most by itself.
    fn greatest(&self, view: &impl Imagined, best: f64, left: f64) -> Option<usize> {
        let mut greatest: Option<(usize, f64)> = None;
        for (at, belief) in view.beliefs() {
            let bound = belief.improvement_at_most(best);
            if greatest.is_some_and(|(_, gain)| bound <= gain) || !is_paid(&belief, left) {
                continue;
            }
            let gain = belief.improvement(best) * belief.at_most(self.most[at]);
            if greatest.is_none_or(|(_, most)| gain > most) {
                greatest = Some((at, gain));
            }
        }
        greatest.map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::Features;
    use super::super::gaussian_process::GaussianProcess;
    use super::super::lynceus::tests::grid;
    use super::*;

    /// A path of one step, from processes that have really seen what it imagines.
    #[test]
    fn a_step_ahead_is_what_the_process_would_say() {
        let space = grid(6, 5);
        let features = Features::for_space(&space, None);
        let mut process = GaussianProcess::new(&features, 30);
        for (at, value) in [(0, 9.0), (29, 4.0), (14, 6.0), (5, 5.5)] {
            process.observe(at, value);
        }
        let candidates = [3, 8, 17, 21, 26];
        let outlook = process.outlook(&candidates).expect("enough was seen");
        let most = vec![f64::INFINITY, 5.0, f64::INFINITY, 4.5, f64::INFINITY];
        let ahead = Lookahead {
            most: most.clone(),
            discount: 0.9,
        };
        let (best, left) = (4.0, 25.0);
        let view = outlook.view();
        let beliefs = process.beliefs().expect("enough was seen");
        for (at, own) in candidates.into_iter().enumerate() {
            let alone =
                |b: &Belief, at: usize, best: f64| b.improvement(best) * b.at_most(most[at]);
            let belief = beliefs[own];
            let mut gain = alone(&belief, at, best);
            let mut takes = belief.above_zero();
            for (node, weight) in normal::HERMITE {
                let value = belief.mean + node * belief.deviation;
                assert!(value > 0.0 && value < left);
                let mut then = process.clone();
                then.observe(own, value);
                let then = then.beliefs_with(process.length());
                let best = if value <= most[at] {
                    best.min(value)
                } else {
                    best
                };
                let next = (0..5)
                    .filter(|next| *next != at)
                    .map(|next| (next, then[candidates[next]]))
                    .filter(|(_, b)| b.mean + normal::AT_99 * b.deviation <= left - value)
                    .map(|(next, b)| (alone(&b, next, best), b.above_zero()))
                    .max_by(|a, b| a.0.total_cmp(&b.0));
                if let Some((more, cost)) = next {
                    gain += 0.9 * weight * more;
                    takes += 0.9 * weight * cost;
                }
            }
            let path = ahead.path(&view, at, best, left, 1);
            assert!(
                (path.0 - gain).abs() < 1e-9 && (path.1 - takes).abs() < 1e-9,
                "{path:?}"
            );
            assert!(path.1 > belief.above_zero()); // something follows
        }
    }

    /// Three nodes integrate all powers below the sixth exactly.
    #[test]
    fn the_quadrature_has_the_moments_of_the_normal() {
        for (power, moment) in [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (5, 0.0)] {
            let sum: f64 = normal::HERMITE
                .iter()
                .map(|(node, weight)| weight * node.powi(power))
                .sum();
            assert!((sum - moment).abs() < 1e-12, "{power}");
        }
    }
}

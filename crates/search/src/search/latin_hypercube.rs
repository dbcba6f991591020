//! Latin hypercube search: runs that stand in every part of every axis once, and the best of them.

use super::features::Features;
use super::trials::Trials;
use super::{BuildResult, Depends, Past, Recipe, Task, ready};
use scavsim_base::rng::Stream;
use scavsim_base::settings;
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of Latin hypercube search.
    pub struct LatinHypercubeSettings {
        /// Configurations run to the target; at most as many as there are.
        pub budget: Count = Count::new(6).expect("6 is at least 1"),
    }

    name: "latin-hypercube",
    what: "run configurations to the target that stand in every part of every axis once; the best of them",
    formula: "probes: runs to the target, in every part of every axis once",
    source: "McKay, Beckman & Conover, Technometrics 1979",
    example: "search.strategies = [\"latin-hypercube@6\"]",
}

impl Recipe for LatinHypercubeSettings {
    fn build(&self, task: &Task<'_>, _: &mut Past<'_>) -> BuildResult {
        let budget = self.budget.get() as usize;
        let features = Features::for_space(task.space, None);
        ready(Depends::BOTH, move |task, testbed, stream, forecast| {
            let first = design(&features, task.space.len(), budget, stream);
            let trials = Trials::new(task, testbed, forecast);
            // Where none of them came to the target, others at random.
            trials.search(budget, first, |trials: &Trials<'_, '_>| {
                Some(trials.any_left(stream))
            })
        })
    }
}

/// At most `count` configurations: each coordinate is cut into `count` parts, each part gets one random point, the nearest is
/// taken.
pub(super) fn design(
    features: &Features,
    configurations: usize,
    count: usize,
    stream: &mut Stream,
) -> Vec<usize> {
    let count = count.min(configurations);
    let mut parts: Vec<Vec<usize>> = Vec::with_capacity(features.width());
    for _ in 0..features.width() {
        let mut order: Vec<usize> = (0..count).collect();
        for place in (1..count).rev() {
            order.swap(place, stream.below(place + 1));
        }
        parts.push(order);
    }
    let mut left: Vec<usize> = (0..configurations).collect();
    let mut chosen = Vec::with_capacity(count);
    for number in 0..count {
        let point: Vec<f64> = (parts.iter())
            .map(|part| (part[number] as f64 + 0.5) / count as f64)
            .collect();
        let apart = |at: usize| -> f64 {
            let pairs = features.row(at).iter().zip(&point);
            pairs.map(|(a, b)| (a - b) * (a - b)).sum()
        };
        // Of equally near ones any, not always the first.
        let least = left
            .iter()
            .map(|&at| apart(at))
            .fold(f64::INFINITY, f64::min);
        let nearest: Vec<usize> = (0..left.len())
            .filter(|&place| apart(left[place]) <= least * (1.0 + 1e-9))
            .collect();
        if let Some(&place) = nearest.get(stream.below(nearest.len().max(1))) {
            chosen.push(left.swap_remove(place));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::space::{Axis, Space};

    #[test]
    fn every_part_of_every_axis_is_run_once() {
        let rows: Vec<[f64; 2]> = (0..64)
            .map(|i| [f64::from(i % 8) - 3.5, f64::from(i / 8) - 3.5])
            .collect();
        let axes = vec![Axis::numeric("a", "1"), Axis::numeric("b", "1")];
        let space = Space::new(axes, rows).expect("a space");
        let features = Features::for_space(&space, None);
        let mut stream = Stream::seeded(7);
        let chosen = design(&features, 64, 8, &mut stream);
        for axis in 0..2 {
            let mut values: Vec<i64> = (chosen.iter())
                .map(|&at| (space.value(at, axis) * 2.0) as i64)
                .collect();
            values.sort_unstable();
            assert_eq!(values, [-7, -5, -3, -1, 1, 3, 5, 7]);
        }
        assert_eq!(design(&features, 3, 8, &mut stream).len(), 3);
    }
}

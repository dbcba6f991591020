use crate::cluster::batching::group::{Bounds, WorkerGroup};

/// Scales `batches` by one factor, each held to its bounds, so that they sum to the global batch.
pub fn scale(group: &WorkerGroup, batches: &mut [f64]) {
    let sum: f64 = batches.iter().sum();
    // At `high`, every worker has its upper bound or the whole global batch.
    let (mut low, mut high) = (f64::INFINITY, 0f64);
    for (b, bounds) in batches.iter().zip(&group.bounds) {
        low = low.min(bounds.least / b);
        high = high.max(bounds.most.min(group.batch) / b);
    }
    fill(group, batches, group.batch / sum, (low, high), |b, by| {
        b * by
    });
}

/// Adds one amount to `batches`, each held to its bounds, so that they sum to the global batch.
pub fn shift(group: &WorkerGroup, batches: &mut [f64]) {
    let sum: f64 = batches.iter().sum();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (b, bounds) in batches.iter().zip(&group.bounds) {
        low = low.min(bounds.least - b);
        high = high.max(bounds.most.min(group.batch) - b);
    }
    let evenly = (group.batch - sum) / batches.len() as f64;
    fill(group, batches, evenly, (low, high), |b, by| b + by);
}

/// Moves all by `direct` if no bound is in the way, else by what bisection between the two ends of `range` finds.
fn fill(
    group: &WorkerGroup,
    batches: &mut [f64],
    direct: f64,
    range: (f64, f64),
    moved: impl Fn(f64, f64) -> f64,
) {
    let held = |b: f64, bounds: &Bounds, by| moved(b, by).clamp(bounds.least, bounds.most);
    let all = || batches.iter().zip(&group.bounds);
    let free = all().all(|(&b, bounds)| held(b, bounds, direct) == moved(b, direct));
    let by = if free {
        direct
    } else {
        let (mut low, mut high) = range;
        // Halves until the ends are neighbours or zero apart: never more often than a double has bits.
        for _ in 0..128 {
            let middle = 0.5 * (low + high);
            let sum: f64 = all().map(|(&b, bounds)| held(b, bounds, middle)).sum();
            if sum < group.batch {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    for (b, bounds) in batches.iter_mut().zip(&group.bounds) {
        *b = held(*b, bounds, by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;
    use proptest::prelude::*;

    fn group(bounds: &[(f64, f64)], batch: f64) -> WorkerGroup {
        let bounds = bounds.iter().map(|&(least, most)| Bounds { least, most });
        WorkerGroup {
            sizes: vec![1.0; bounds.len()],
            bounds: bounds.collect(),
            batch,
        }
    }

    #[test]
    fn what_a_bound_clips_goes_to_the_others() {
        let group = group(&[(1.0, 50.0), (1.0, 100.0), (1.0, 100.0)], 120.0);
        let mut scaled = [80.0, 20.0, 20.0];
        scale(&group, &mut scaled);
        let mut shifted = [80.0, 30.0, 10.0];
        shift(&group, &mut shifted);
        for (found, expected) in [(scaled, [50.0, 35.0, 35.0]), (shifted, [50.0, 45.0, 25.0])] {
            (0..3).for_each(|worker| near(found[worker], expected[worker], 1e-9));
        }
    }

    proptest! {
        #[test]
        fn sum_and_bounds_are_kept(
            workers in prop::collection::vec((0.1..100f64, 0.1..50f64, 1.0..20f64), 1..9),
            place in 0.0..1f64,
        ) {
            let bounds: Vec<_> = workers.iter().map(|w| (w.1, w.1 * w.2)).collect();
            let (least, most): (f64, f64) = bounds.iter().fold((0.0, 0.0), |s, b| (s.0 + b.0, s.1 + b.1));
            let group = group(&bounds, least + place * (most - least));
            for rule in [scale, shift] {
                let mut batches: Vec<f64> = workers.iter().map(|w| w.0).collect();
                rule(&group, &mut batches);
                let sum: f64 = batches.iter().sum();
                prop_assert!((sum / group.batch - 1.0).abs() < 1e-9, "{batches:?} {group:?}");
                for (b, bounds) in batches.iter().zip(&group.bounds) {
                    prop_assert!(*b >= bounds.least && *b <= bounds.most);
                }
            }
        }
    }
}

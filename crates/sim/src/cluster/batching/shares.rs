use crate::cluster::batching::WorkerGroup;

/// Scales `batches` by one factor, each held to its least, so that they sum to the global batch.
pub fn scale(group: &WorkerGroup, batches: &mut [f64]) {
    let sum: f64 = batches.iter().sum();
    // At `high`, every worker has the whole global batch.
    let (mut low, mut high) = (f64::INFINITY, 0f64);
    for (b, least) in batches.iter().zip(&group.least) {
        low = low.min(least / b);
        high = high.max(group.batch / b);
    }
    fill(group, batches, group.batch / sum, (low, high), |b, by| {
        b * by
    });
}

/// Adds one amount to `batches`, each held to its least, so that they sum to the global batch.
pub fn shift(group: &WorkerGroup, batches: &mut [f64]) {
    let sum: f64 = batches.iter().sum();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (b, least) in batches.iter().zip(&group.least) {
        low = low.min(least - b);
        high = high.max(group.batch - b);
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
    let held = |b: f64, least: f64, by| moved(b, by).max(least);
    let all = || batches.iter().zip(&group.least);
    let free = all().all(|(&b, &least)| held(b, least, direct) == moved(b, direct));
    let by = if free {
        direct
    } else {
        let (mut low, mut high) = range;
        // Halves until the ends are neighbours or zero apart: never more often than a double has bits.
        for _ in 0..128 {
            let middle = 0.5 * (low + high);
            let sum: f64 = all().map(|(&b, &least)| held(b, least, middle)).sum();
            if sum < group.batch {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    for (b, &least) in batches.iter_mut().zip(&group.least) {
        *b = held(*b, least, by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;
    use proptest::prelude::*;

    fn group(least: &[f64], batch: f64) -> WorkerGroup {
        WorkerGroup {
            sizes: vec![1.0; least.len()],
            least: least.to_vec(),
            batch,
        }
    }

    #[test]
    fn what_a_bound_adds_is_taken_from_the_others() {
        let group = group(&[50.0, 1.0, 1.0], 120.0);
        let mut scaled = [20.0, 60.0, 20.0];
        scale(&group, &mut scaled);
        let mut shifted = [20.0, 60.0, 40.0];
        shift(&group, &mut shifted);
        for (found, expected) in [(scaled, [50.0, 52.5, 17.5]), (shifted, [50.0, 45.0, 25.0])] {
            (0..3).for_each(|worker| near(found[worker], expected[worker], 1e-9));
        }
    }

    proptest! {
        #[test]
        fn sum_and_bounds_are_kept(
            workers in prop::collection::vec((0.1..100f64, 0.1..50f64), 1..9),
            more in 1.0..20f64,
        ) {
            let least: Vec<f64> = workers.iter().map(|w| w.1).collect();
            let group = group(&least, more * least.iter().sum::<f64>());
            for rule in [scale, shift] {
                let mut batches: Vec<f64> = workers.iter().map(|w| w.0).collect();
                rule(&group, &mut batches);
                let sum: f64 = batches.iter().sum();
                prop_assert!((sum / group.batch - 1.0).abs() < 1e-9, "{batches:?} {group:?}");
                prop_assert!(batches.iter().zip(&least).all(|(b, least)| b >= least));
            }
        }
    }
}

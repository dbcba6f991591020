//! How measurements vary around a pooled law.

use std::collections::BTreeMap;

use crate::workload::law::pooled::Variation;
use crate::workload::residual::{Place, cholesky, forward};

/// Nothing known: no variation but that of repeats, of 1 %.
pub const UNKNOWN: Variation = Variation {
    shared: 0.0,
    placement: 0.0,
    repeat: 0.01,
    vms_reach: 0.35,
    workers_reach: 1.2,
    batch_reach: 6.0,
    placement_reach: 1.5,
};

/// Points that a likelihood is taken over: its cost grows with their cube.
const MOST: usize = 240;
/// Of one placement.
const MOST_OF_ONE: usize = 4;
/// Least standard deviation, where a law meets its points to the last digit.
const LEAST: f64 = 1e-4;
/// Values that each parameter may take: shares of σ² for π² and ρ², then reaches. A factor of two
/// apart is as much as a few hundred points can tell.
const PLACEMENT: [f64; 4] = [0.05, 0.2, 0.5, 1.5];
const REPEAT: [f64; 4] = [0.01, 0.04, 0.15, 0.5];
const VMS: [f64; 4] = [0.2, 0.35, 0.6, 1.2];
const WORKERS: [f64; 3] = [0.6, 1.2, 2.4];
const BATCH: [f64; 2] = [2.0, 6.0];
const PLACEMENT_REACH: [f64; 3] = [0.5, 1.5, 5.0];

/// The variation under which `points` (place, ln(measured/law)) are likeliest, each parameter in
/// turn among a few values, twice; σ in closed form. `None` without points.
pub fn variation(points: &[(Place, f64)]) -> Option<Variation> {
    let points = some(points);
    let mut best = Variation {
        shared: 1.0,
        placement: PLACEMENT[1].sqrt(),
        repeat: REPEAT[1].sqrt(),
        ..UNKNOWN
    };
    let (mut least, mut scale) = unlikelihood(&points, &best)?;
    let set: [(&[f64], fn(&mut Variation, f64)); 6] = [
        (&VMS, |v, x| v.vms_reach = x),
        (&WORKERS, |v, x| v.workers_reach = x),
        (&PLACEMENT, |v, x| v.placement = x.sqrt()),
        (&REPEAT, |v, x| v.repeat = x.sqrt()),
        (&BATCH, |v, x| v.batch_reach = x),
        (&PLACEMENT_REACH, |v, x| v.placement_reach = x),
    ];
    for _ in 0..2 {
        for (values, set) in &set {
            for &value in *values {
                let mut other = best;
                set(&mut other, value);
                if let Some((found, its_scale)) = unlikelihood(&points, &other)
                    && found < least
                {
                    (best, least, scale) = (other, found, its_scale);
                }
            }
        }
    }
    Some(Variation {
        shared: (best.shared * scale).max(LEAST),
        placement: (best.placement * scale).max(LEAST),
        repeat: (best.repeat * scale).max(LEAST),
        ..best
    })
}

/// At most so many points, few of each placement, from all over.
fn some(points: &[(Place, f64)]) -> Vec<(Place, f64)> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&i| (i as u32).wrapping_mul(2_654_435_761));
    // In rounds of two points of each placement, so that its own part can be told.
    let mut taken: BTreeMap<u64, usize> = BTreeMap::new();
    let mut rounds: Vec<(usize, usize)> = Vec::new();
    for i in order {
        let count = taken.entry(points[i].0.placement).or_default();
        if *count < MOST_OF_ONE {
            rounds.push((*count / 2, i));
            *count += 1;
        }
    }
    rounds.sort_by_key(|&(round, _)| round);
    rounds.truncate(MOST);
    rounds.into_iter().map(|(_, i)| points[i]).collect()
}

/// Minus the logarithm of the likelihood at the best σ, and that σ.
fn unlikelihood(points: &[(Place, f64)], v: &Variation) -> Option<(f64, f64)> {
    let n = points.len();
    if n == 0 {
        return None;
    }
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            matrix[i * n + j] = v.covariance(&points[i].0, &points[j].0);
        }
        matrix[i * n + i] *= 1.0 + 1e-9;
    }
    if !cholesky(&mut matrix, n) {
        return None;
    }
    let mut values: Vec<f64> = points.iter().map(|p| p.1).collect();
    forward(&matrix, n, &mut values);
    let square: f64 = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
    let square = square.max(LEAST * LEAST);
    let logs: f64 = (0..n).map(|i| libm::log(matrix[i * n + i])).sum();
    Some((0.5 * n as f64 * libm::log(square) + logs, square.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draw from a known variation gives back its size and its reach, roughly.
    #[test]
    fn a_drawn_variation_is_found_again() {
        let made = Variation {
            shared: 0.1,
            placement: 0.1 * 0.05_f64.sqrt(),
            repeat: 0.1 * 0.04_f64.sqrt(),
            ..UNKNOWN
        };
        let mut places = Vec::new();
        for vms in [2, 3, 4, 6, 8, 12, 16] {
            for each in [1, 2, 3, 4] {
                for batch in [8.0, 16.0, 32.0, 64.0] {
                    let placement = u64::from(vms * 10 + each);
                    places.push(Place::new(vms, vms * each, each, batch, placement));
                }
            }
        }
        let n = places.len();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                matrix[i * n + j] = made.covariance(&places[i], &places[j]);
            }
        }
        assert!(cholesky(&mut matrix, n));
        // Quantiles of the normal distribution in a scrambled order.
        let normal = |i: usize| {
            let rank = (i * 37 + 11) % n;
            let u = (rank as f64 + 0.5) / n as f64;
            crate::stats::normal::inverse_cdf(u)
        };
        let points: Vec<(Place, f64)> = (0..n)
            .map(|i| {
                let row = &matrix[i * n..=i * n + i];
                let value = row.iter().enumerate().map(|(j, l)| l * normal(j)).sum();
                (places[i], value)
            })
            .collect();
        let found = variation(&points).expect("points");
        assert!((0.06..0.17).contains(&found.shared), "{found:?}");
        assert!((0.2..0.7).contains(&found.vms_reach), "{found:?}");
        assert!(found.repeat < 0.05, "{found:?}");
        assert_eq!(variation(&[]), None);
    }
}

//! How measurements vary around a pooled law.

use std::collections::BTreeMap;

use scavsim_base::stats::field::Field;
use scavsim_base::stats::student_t;
use scavsim_data::workload::law::pooled::Variation;
use scavsim_data::workload::residual::{Place, spread_out};

/// The usual variation of applications: about the median of [`variation`] of the shipped ones.
pub const USUAL: Variation = Variation {
    shared: 0.055,
    shape: 0.03,
    growth: 0.06,
    batch: 0.02,
    placement: 0.05,
    repeat: 0.055,
    vms_reach: 0.2,
    workers_reach: 1.2,
    batch_reach: 4.0,
    placement_reach: 1.5,
};

/// Weight of the usual variation, in points.
const USUAL_WEIGHT: f64 = 4.0;
/// Minimum number of points for a variation of their own.
pub const ENOUGH: usize = 40;
/// Minimum standard deviation, if a law meets its points to the last digit.
const LEAST: f64 = 1e-4;
/// Values to try for each parameter: shares of σ² for π², ρ², φ² and β², then reaches. A few hundred points
/// cannot resolve differences below a factor of two.
const PLACEMENT: [f64; 4] = [0.05, 0.2, 0.5, 1.5];
const REPEAT: [f64; 5] = [0.01, 0.04, 0.15, 0.5, 2.0];
const SHAPE: [f64; 3] = [0.03, 0.15, 0.6];
/// ω² over σ²: measurements with few VMs cannot determine the error with more VMs; this is its value in the shipped
/// applications, with four VMs and fewer known.
const GROWTH: f64 = 4.0;
/// The share for the measured numbers of VMs, where it can hardly be separated from the part that equal placements share.
const SEEN_GROWTH: f64 = 0.1;
const OWN_BATCH: [f64; 4] = [0.01, 0.1, 0.5, 2.0];
const VMS: [f64; 5] = [0.2, 0.3, 0.45, 0.7, 1.2];
const WORKERS: [f64; 3] = [0.6, 1.2, 2.4];
const BATCH: [f64; 2] = [2.0, 6.0];
const PLACEMENT_REACH: [f64; 3] = [0.5, 1.5, 5.0];

/// The usual variation, scaled to few `points` (place, ln(measured/law)).
pub fn usual(points: &[(Place, f64)]) -> Option<Variation> {
    let values = field(points, &USUAL)?.solved(points.iter().map(|p| p.1).collect());
    let loss = values.iter().map(|v| v * v).sum();
    Some(of_size(&USUAL, size(points.len(), loss).sqrt()))
}

/// A variation from `count` points, wider if they are few, like Student's distribution.
pub fn widened(of: &Variation, count: usize) -> Variation {
    let wider = student_t::wider(0.95, count as u64 + USUAL_WEIGHT as u64);
    of_size(of, wider)
}

/// Variance of `count` points over the usual one, shrunk to it: `loss` is the sum of their squared deviations, decorrelated.
pub fn size(count: usize, loss: f64) -> f64 {
    (USUAL_WEIGHT + loss) / (USUAL_WEIGHT + count as f64)
}

/// The variation of `points` (place, ln(measured/law)). Its parts maximise the likelihood; its reaches give the best
/// prediction of the points of each number of VMs and workers from all others; each in turn among a few values, σ in closed
/// form. `None` if there are too few.
pub fn variation(points: &[(Place, f64)]) -> Option<Variation> {
    if points.len() < ENOUGH {
        return None;
    }
    let points = some(points);
    let mut best = of_size(&USUAL, 1.0 / USUAL.shared);
    best.growth = SEEN_GROWTH.sqrt();
    let parts: [Choice<'_>; 5] = [
        (&PLACEMENT, |v, x| v.placement = x.sqrt()),
        (&REPEAT, |v, x| v.repeat = x.sqrt()),
        (&SHAPE, |v, x| v.shape = x.sqrt()),
        (&OWN_BATCH, |v, x| v.batch = x.sqrt()),
        (&PLACEMENT_REACH, |v, x| v.placement_reach = x),
    ];
    // First the reaches: without them the parts of a placement would replace them.
    reaches(&points, &mut best)?;
    descend(&mut best, &parts, |v| Some(unlikelihood(&points, v)?.0))?;
    reaches(&points, &mut best)?;
    let found = scaled(&points, best)?;
    Some(Variation {
        growth: GROWTH.sqrt() * found.shared,
        ..found
    })
}

/// The variation of `points` (place, ln(measured/law)) with the parts of `like`, which was fitted to nearly equal points.
pub fn again(points: &[(Place, f64)], like: &Variation) -> Option<Variation> {
    if points.len() < ENOUGH || like.shared <= 0.0 {
        return None;
    }
    scaled(&some(points), of_size(like, 1.0 / like.shared))
}

fn of_size(of: &Variation, scale: f64) -> Variation {
    let sized = |part: f64| (part * scale).max(LEAST);
    Variation {
        shared: sized(of.shared),
        shape: sized(of.shape),
        growth: sized(of.growth),
        batch: sized(of.batch),
        placement: sized(of.placement),
        repeat: sized(of.repeat),
        ..*of
    }
}

type Choice<'v> = (&'v [f64], fn(&mut Variation, f64));

fn descend(
    best: &mut Variation,
    choices: &[Choice<'_>],
    loss: impl Fn(&Variation) -> Option<f64>,
) -> Option<()> {
    let mut least = loss(best)?;
    for (values, set) in choices {
        for &value in *values {
            let mut other = *best;
            set(&mut other, value);
            if let Some(found) = loss(&other)
                && found < least
            {
                (*best, least) = (other, found);
            }
        }
    }
    Some(())
}

fn reaches(points: &[(Place, f64)], best: &mut Variation) -> Option<()> {
    let choices: [Choice<'_>; 3] = [
        (&VMS, |v, x| v.vms_reach = x),
        (&WORKERS, |v, x| v.workers_reach = x),
        (&BATCH, |v, x| v.batch_reach = x),
    ];
    descend(best, &choices, |v| left_out(points, v))
}

fn scaled(points: &[(Place, f64)], of: Variation) -> Option<Variation> {
    let (_, scale) = unlikelihood(points, &of)?;
    Some(of_size(&of, scale))
}

/// Mean absolute error over all groups of equal N and K, each predicted from the others.
fn left_out(points: &[(Place, f64)], v: &Variation) -> Option<f64> {
    let field = field(points, v)?;
    let precision = field.precision();
    let solved = field.solved(points.iter().map(|p| p.1).collect());
    let mut groups: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (i, (place, _)) in points.iter().enumerate() {
        let key = (place.log_vms.to_bits(), place.log_workers.to_bits());
        groups.entry(key).or_default().push(i);
    }
    let mut sum = 0.0;
    for group in groups.values() {
        let errors = precision.left_out(group, &solved)?;
        sum += errors.iter().map(|e| e.abs()).sum::<f64>() / group.len() as f64;
    }
    Some(sum / groups.len() as f64)
}

fn field(points: &[(Place, f64)], v: &Variation) -> Option<Field> {
    v.field(points.len(), |i| &points[i].0, |_| 0.0)
}

fn some(points: &[(Place, f64)]) -> Vec<(Place, f64)> {
    spread_out(points, |p| p.0.placement)
}

/// Minus the log-likelihood at the best σ, and that σ.
fn unlikelihood(points: &[(Place, f64)], v: &Variation) -> Option<(f64, f64)> {
    let values = points.iter().map(|p| p.1).collect();
    Some(field(points, v)?.unlikelihood(values, LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::stats::cholesky::cholesky;
    use scavsim_base::stats::field::symmetric;
    use scavsim_data::workload::law::free_pooled::FREE;
    use scavsim_data::workload::residual::{Ratio, Residual};

    /// Only the parts of equal placements, of single placements, and of repeats.
    const NOTHING_ELSE: Variation = Variation {
        shape: 0.0,
        growth: 0.0,
        batch: 0.0,
        vms_reach: 0.35,
        batch_reach: 6.0,
        ..USUAL
    };

    #[test]
    fn a_drawn_variation_is_found_again() {
        let made = Variation {
            shared: 0.1,
            placement: 0.1 * 0.05_f64.sqrt(),
            repeat: 0.1 * 0.04_f64.sqrt(),
            ..NOTHING_ELSE
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
        let mut matrix = symmetric(n, |i, j| made.covariance(&places[i], &places[j]));
        assert!(cholesky(&mut matrix, n));
        // Quantiles of the normal distribution in a scrambled order.
        let normal = |i: usize| {
            let rank = (i * 37 + 11) % n;
            let u = (rank as f64 + 0.5) / n as f64;
            scavsim_base::stats::normal::inverse_cdf(u)
        };
        let value = |i: usize| {
            let row = matrix[i * n..=i * n + i].iter().enumerate();
            (places[i], row.map(|(j, l)| l * normal(j)).sum())
        };
        let points: Vec<(Place, f64)> = (0..n).map(value).collect();
        let found = variation(&points).expect("points");
        assert!((0.06..0.17).contains(&found.shared), "{found:?}");
        assert!((0.2..0.7).contains(&found.vms_reach), "{found:?}");
        assert!(found.repeat < 0.05, "{found:?}");
        assert_eq!(variation(&[]), None);
    }

    #[test]
    fn a_group_left_out_is_what_the_others_say_of_it() {
        let points: Vec<(Place, f64)> = [(2, 0.1), (3, 0.14), (4, 0.12), (8, -0.1)]
            .map(|(vms, y)| (Place::new(vms, vms, 1, 8.0, u64::from(vms)), y))
            .into();
        let v = Variation {
            shared: 0.1,
            placement: 0.05,
            repeat: 0.02,
            ..NOTHING_ELSE
        };
        let off = |out: usize| {
            let kept = (0..4).filter(|i| *i != out).map(|i| Ratio {
                place: points[i].0,
                log_ratio: points[i].1,
                gradient: [0.0; FREE],
            });
            let residual = Residual::new(v, kept.collect(), None);
            (points[out].1 - residual.mean_and_sd_at(&points[out].0, &[0.0; FREE]).0).abs()
        };
        let by_hand = (0..4).map(off).sum::<f64>() / 4.0;
        scavsim_base::tests::near(left_out(&points, &v).expect("four groups"), by_hand, 1e-7);
    }
}

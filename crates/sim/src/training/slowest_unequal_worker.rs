//! The slowest of workers on machines that differ, so quickly that every replica can have its own.
//!
//! In units of σ, worker k of factor m_k is in time by y with Φ(y − s_k), s_k = ln(m_k)/σ. The survival function of the
//! slowest, S = 1 − Π Φ(y − s_k), is summed up machine by machine on a grid, S ← S + Q·(1 − S) with Q = 1 − Φ, which
//! keeps all digits of its tail and takes no logarithm. Q comes from one table. Only nodes where the slowest can be are
//! visited: below, the machines before leave no chance.
//!
//! With H a log-normal of known moments in the same place, E[(x − m)ⁿ] = E_H[(x − m)ⁿ] + ∫ n·(x − m)ⁿ⁻¹·(S − S_H) dx.
//! What is integrated vanishes at both ends with all its derivatives, so the trapezoid rule converges faster than any
//! power. A straggler of factor f is a second place at s_k + ln(f)/σ. Where the two are far apart, each has a grid of its
//! own: nobody straggles, with probability (1 − p)^K, or the slowest of those who do ends the step.

use std::sync::OnceLock;

use super::moments::Moments;
use super::variation::{Family, Straggler, WorkerTime};
use scavsim_base::stats::normal;

/// Entries of the table per σ.
const PER_SIGMA: usize = 32;
/// Where the table begins: below, a worker is late for certain.
const LOWEST: f64 = -7.5;
/// Where it ends: above, a worker is in time whatever σ up to [`LARGEST_SIGMA`].
const HIGHEST: f64 = 20.0;
/// Up to this σ the table reaches.
pub(super) const LARGEST_SIGMA: f64 = 1.0;
/// Half-width of the range of one worker in σ above its mode.
const REACH: f64 = 7.0;
/// Chances below this are none.
const NO_CHANCE: f64 = 1e-13;
/// Entries of the table per node of H: 14/32 of its own width.
const REFERENCE: usize = 14;

/// Q and its first two derivatives per step of the table.
type QuantileEntry = [f64; 3];

fn table() -> &'static [QuantileEntry] {
    static TABLE: OnceLock<Vec<QuantileEntry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let count = ((HIGHEST - LOWEST) * PER_SIGMA as f64) as usize + 2;
        let step = 1.0 / PER_SIGMA as f64;
        let entry = |i: usize| {
            let z = LOWEST + i as f64 * step;
            let density = normal::density(z);
            [normal::cdf(-z), -density * step, z * density * step * step]
        };
        (0..count).map(entry).collect()
    })
}

/// Weights of the entries on both sides of a point a part `t` of the way: Hermite's polynomial of the fifth degree.
fn hermite(t: f64) -> [f64; 6] {
    let (t2, t3) = (t * t, t * t * t);
    let (t4, t5) = (t2 * t2, t2 * t3);
    let rise = 10.0 * t3 - 15.0 * t4 + 6.0 * t5;
    [
        1.0 - rise,
        t - 6.0 * t3 + 8.0 * t4 - 3.0 * t5,
        0.5 * t2 - 1.5 * t3 + 1.5 * t4 - 0.5 * t5,
        rise,
        -4.0 * t3 + 7.0 * t4 - 3.0 * t5,
        0.5 * t3 - t4 + 0.5 * t5,
    ]
}

/// Nodes y = from + j·h, h a whole number of entries of the table, and S at each.
struct Grid {
    from: f64,
    /// Entries of the table until a worker is in time.
    entries: usize,
    stride: usize,
    /// S at the nodes, and memory for Q of one worker.
    nodes: Vec<(f64, f64)>,
    /// Nodes before this one leave no chance.
    first: usize,
    /// S before the first node.
    above: f64,
    /// The chance of what S is conditional on.
    weight: f64,
}

impl Grid {
    fn new((from, to): (f64, f64), reach: f64, stride: usize) -> Grid {
        let count = (to - from) * PER_SIGMA as f64 / stride as f64;
        Grid {
            from,
            entries: (((reach - LOWEST) * PER_SIGMA as f64) as usize + 2).min(table().len()),
            stride,
            nodes: vec![(0.0, 0.0); count.ceil() as usize + 1],
            first: 0,
            above: 1.0,
            weight: 1.0,
        }
    }

    /// The chance that the slowest is here.
    fn share(&self) -> f64 {
        self.weight * self.above
    }

    fn node_value(&self, node: isize) -> f64 {
        self.from + node as f64 * (self.stride as f64 / PER_SIGMA as f64)
    }

    /// One worker more, at `at`; so much further with probability `straggles`.
    fn add(&mut self, at: f64, straggles: Option<(f64, f64)>) {
        match straggles {
            None => self.visit(at, |(s, _), q| *s += q * (1.0 - *s)),
            // Whoever does not straggle is in time here.
            Some((further, probability)) if self.above < 1.0 => {
                self.visit(at + further, |(s, _), q| *s += probability * q * (1.0 - *s));
            }
            Some((further, probability)) => {
                let plain = 1.0 - probability;
                self.nodes[self.first..].iter_mut().for_each(|n| n.1 = 0.0);
                self.visit(at, |(_, mixed), q| *mixed = plain * q);
                self.visit(at + further, |(_, mixed), q| *mixed += probability * q);
                for (s, q) in &mut self.nodes[self.first..] {
                    *s += *q * (1.0 - *s);
                }
            }
        }
        while self
            .nodes
            .get(self.first)
            .is_some_and(|n| 1.0 - n.0 < NO_CHANCE)
        {
            self.first += 1;
        }
    }

    /// Shows nodes with Q of a worker at `at`, as far as Q is not 0.
    #[inline(always)]
    fn visit(&mut self, at: f64, mut show: impl FnMut(&mut (f64, f64), f64)) {
        let begin = self.node_value(self.first as isize);
        let nodes = &mut self.nodes[self.first..];
        let table = &table()[..self.entries];
        let place = (begin - at - LOWEST) * PER_SIGMA as f64;
        let late = if place < 0.0 {
            ((-place / self.stride as f64).ceil() as usize).min(nodes.len())
        } else {
            0
        };
        let (late, nodes) = nodes.split_at_mut(late);
        let place = place + (late.len() * self.stride) as f64;
        late.iter_mut().for_each(|node| show(node, 1.0));
        if nodes.is_empty() || place < 0.0 || place >= (table.len() - 1) as f64 {
            return;
        }
        let entry = place as usize;
        let [a, b, c, d, e, f] = hermite(place - entry as f64);
        let pairs = table[entry..].windows(2).step_by(self.stride);
        for (node, pair) in nodes.iter_mut().zip(pairs) {
            let (low, high) = (&pair[0], &pair[1]);
            let values = a * low[0] + d * high[0];
            let slopes = b * low[1] + e * high[1];
            show(node, values + slopes + (c * low[2] + f * high[2]));
        }
    }

    /// The node where S has fallen half of its way.
    fn middle(&self) -> isize {
        let half = 0.5 * self.above;
        let middle = self.nodes.iter().skip(self.first).position(|n| n.0 < half);
        (self.first + middle.unwrap_or(0)) as isize
    }

    /// Adds up what this grid holds of E[(x − 1)ⁿ] for n = 1, 2, 3, x = exp(σ·(y − unit)).
    fn moments(&self, sigma: f64, unit: f64) -> [f64; 3] {
        let middle = self.middle();
        let (above, share) = (self.above, self.share());
        // The reference, exactly.
        let tau = sigma * self.stride as f64 / REFERENCE as f64;
        let square = libm::expm1(tau * tau);
        let off = libm::expm1(sigma * (self.node_value(middle) - unit) + 0.5 * tau * tau);
        let mean = 1.0 + off;
        let variance = mean * mean * square;
        let third = mean * variance * square * (square + 3.0);
        let mut sums = [
            share * off,
            share * (variance + off * off),
            share * (third + 3.0 * off * variance + off * off * off),
        ];
        // What is different.
        let table = table();
        let reach = (-LOWEST * PER_SIGMA as f64) as isize;
        let around = reach / REFERENCE as isize + 1;
        let begin = (self.first as isize).min(middle - around);
        let end = (self.nodes.len() as isize).max(middle + around);
        let dy = sigma * self.stride as f64 / PER_SIGMA as f64;
        let mut x = libm::exp(sigma * (self.node_value(begin) - unit));
        let ratio = libm::exp(dy);
        for node in begin..end {
            let s = match usize::try_from(node) {
                Ok(node) if node >= self.first => self.nodes.get(node).map_or(0.0, |n| n.0),
                _ => above,
            };
            let entry = (node - middle) * REFERENCE as isize + reach;
            let reference = match usize::try_from(entry) {
                Ok(entry) => table.get(entry).map_or(0.0, |e| e[0]),
                Err(_) => 1.0,
            };
            let different = self.weight * (s - above * reference) * x * dy;
            let from_one = x - 1.0;
            sums[0] += different;
            sums[1] += 2.0 * from_one * different;
            sums[2] += 3.0 * from_one * from_one * different;
            x *= ratio;
        }
        sums
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SlowestUnequalWorker {
    pub(super) all: Moments,
    /// Moments of a step without stragglers, where those have been integrated by themselves.
    pub(super) plain: Option<Moments>,
}

/// Moments of the slowest of log-normal workers whose mean times are `factors`, within 1e-9;
/// `None` where σ is above [`LARGEST_SIGMA`], and for other families.
pub(super) fn moments(factors: &[f64], time: WorkerTime) -> Option<SlowestUnequalWorker> {
    let sigma = time.sigma;
    if let (true, Some(straggler)) = (time.has_no_spread(), time.straggler) {
        let all = without_spread(factors, time, straggler);
        return Some(SlowestUnequalWorker { all, plain: None });
    }
    if time.has_no_spread() || time.family != Family::LogNormal || sigma > LARGEST_SIGMA {
        return None;
    }
    let at = |factor: &f64| libm::log(*factor) / sigma;
    let (least, most) = factors
        .iter()
        .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), &f| {
            (least.min(f), most.max(f))
        });
    if !(least > 0.0 && most.is_finite()) {
        return None;
    }
    let (least, most) = (at(&least), at(&most));
    let straggles = time
        .straggler
        .map(|s| (libm::log(s.factor) / sigma, s.probability));
    let k = factors.len() as f64;
    // As far as all of them are in time; the third moment weighs the upper tail with exp(3y).
    let reach = (REACH * REACH + 2.0 * libm::log(k)).sqrt() + 4.0 * sigma;
    let (far, odds) = straggles.unwrap_or((0.0, 0.0));
    let plain = (most + LOWEST, most + reach);
    let straggled = (least + far + LOWEST, most + far + reach);
    let mut grids = match straggles {
        None => vec![(Grid::new(plain, reach, stride(k)), None)],
        Some(_) if straggled.0 < plain.1 => {
            let both = Grid::new((plain.0, straggled.1), reach, stride(k));
            vec![(both, straggles)]
        }
        Some(_) => {
            let none = k * libm::log1p(-odds);
            let plain = Grid::new(plain, reach, stride(k));
            let straggled = Grid::new(straggled, reach, stride((k * odds).max(1.0)));
            let weight = libm::exp(none);
            let above = -libm::expm1(none);
            vec![
                (Grid { weight, ..plain }, None),
                (Grid { above, ..straggled }, straggles),
            ]
        }
    };
    for factor in factors {
        let at = at(factor);
        for (grid, straggles) in &mut grids {
            grid.add(at, *straggles);
        }
    }
    // Where most of it is, so that little cancels.
    let main = (grids.iter()).max_by(|(a, _), (b, _)| a.share().total_cmp(&b.share()));
    let unit = main.map_or(0.0, |(grid, _)| grid.node_value(grid.middle()));
    let (mut sums, mut plain) = ([0.0; 3], None);
    let at_unit = |time: WorkerTime| libm::exp(sigma * unit + time.log_scale());
    for (grid, straggles) in &grids {
        let parts = grid.moments(sigma, unit);
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += part;
        }
        // Seen from where most of it is, so that nothing cancels here either.
        if straggles.is_none() && grid.share() > 0.5 {
            let without = WorkerTime {
                straggler: None,
                ..time
            };
            plain = Some(of_sums(
                parts.map(|part| part / grid.share()),
                at_unit(without),
            ));
        }
    }
    let all = of_sums(sums, at_unit(time));
    Some(SlowestUnequalWorker { all, plain })
}

/// Moments of `scale`·x by E[(x − 1)ⁿ] for n = 1, 2, 3.
fn of_sums([first, second, third]: [f64; 3], scale: f64) -> Moments {
    let deviation = (second - first * first).max(0.0).sqrt();
    let third = third - 3.0 * first * second + 2.0 * first * first * first;
    Moments {
        mean: scale * (1.0 + first),
        deviation: scale * deviation,
        skewness: third / (deviation * deviation * deviation),
        calm: None,
    }
}

/// Entries of the table per node for the slowest of `k` workers, whose times crowd together as k grows.
fn stride(k: f64) -> usize {
    match k {
        k if k <= 6.0 => 12,
        k if k <= 24.0 => 8,
        k if k <= 256.0 => 6,
        _ => 4,
    }
}

/// Moments of the slowest of unequal workers where steps without a straggler take equally long: whoever straggles and
/// is then later than the slowest machine ends the step, the slowest of them first asked.
fn without_spread(factors: &[f64], time: WorkerTime, straggler: Straggler) -> Moments {
    let slowest = factors.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mut late: Vec<f64> = (factors.iter().map(|f| f * straggler.factor))
        .filter(|late| *late > slowest)
        .collect();
    late.sort_by(|a, b| b.total_cmp(a));
    let mut left = 1.0;
    let mut values: Vec<(f64, f64)> = (late.into_iter())
        .map(|late| {
            let odds = left * straggler.probability;
            left -= odds;
            (late, odds)
        })
        .collect();
    values.push((slowest, left));
    let sum = |f: &dyn Fn(f64) -> f64| values.iter().map(|(x, odds)| f(*x) * odds).sum::<f64>();
    let mean = sum(&|x| x);
    let deviation = sum(&|x| (x - mean) * (x - mean)).sqrt();
    let third = sum(&|x| (x - mean) * (x - mean) * (x - mean));
    let scale = libm::exp(time.log_scale());
    Moments {
        mean: scale * mean,
        deviation: scale * deviation,
        skewness: if deviation > 0.0 {
            third / (deviation * deviation * deviation)
        } else {
            0.0
        },
        calm: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{close, log_normal, near, straggler};
    use crate::training::slowest;
    use proptest::prelude::*;

    fn assert_near(factors: &[f64], time: WorkerTime, within: f64) {
        let quick = moments(factors, time).expect("within the table").all;
        let fine = slowest::moments_unequal_by_quadrature(factors, time);
        let errors = [
            quick.mean / fine.mean - 1.0,
            quick.deviation / fine.deviation - 1.0,
            (quick.skewness - fine.skewness) / (1.0 + fine.skewness.abs()),
        ];
        let worst = errors.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
        assert!(worst < within, "{time:?}: {quick:?} {fine:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Against 24 nodes per σ, each with K densities.
        #[test]
        fn the_table_agrees_with_a_fine_quadrature(
            sigma in (1e-3f64.ln()..0.0).prop_map(f64::exp),
            spread in 0.0..4.0f64,
            normals in prop::collection::vec(-3.0..3.0f64, 1..40),
            straggler in prop::option::of((1e-6f64.ln()..-0.7, 1.05..20.0f64)),
        ) {
            let factors: Vec<f64> = normals.iter().map(|z| (spread * sigma * z).exp()).collect();
            let straggler = straggler.map(|(log_p, factor)| Straggler { probability: log_p.exp(), factor });
            let time = log_normal(sigma, straggler);
            assert_near(&factors, time, 1e-9);
        }
    }

    /// Nothing else differs: the steps in which nobody straggles are those of workers who cannot.
    #[test]
    fn calm_steps_are_those_of_workers_that_never_straggle() {
        let factors = [0.93, 1.0, 1.02, 1.11];
        let with = |probability: f64| {
            let time = log_normal(0.05, straggler(probability, 10.0));
            moments(&factors, time).expect("within the table").plain
        };
        let time = log_normal(0.05, None);
        let alone = moments(&factors, time).expect("within the table").all;
        for probability in [1e-9, 1e-5, 0.1] {
            let plain = with(probability).expect("far away");
            close(plain.mean, alone.mean, 1e-14);
            close(plain.deviation, alone.deviation, 1e-12);
            near(plain.skewness, alone.skewness, 1e-10);
        }
        assert_eq!(with(0.4), None, "hardly any step is calm");
    }

    #[test]
    fn many_machines_do_too() {
        for (k, within) in [(100, 1e-9), (1000, 1e-9), (4096, 1e-8)] {
            for sigma in [0.001, 0.05, 1.0] {
                for spread in [0.0, 0.5] {
                    let golden = |i: u32| (f64::from(i) * 0.618_033_988_75).fract() - 0.5;
                    let factors = (0..k).map(|i| (spread * sigma * golden(i)).exp());
                    let factors: Vec<f64> = factors.collect();
                    assert_near(&factors, log_normal(sigma, None), within);
                }
            }
        }
    }

    /// Few steps have no straggler, but they are far away: what is left of them must keep its digits.
    #[test]
    fn a_step_without_any_straggler_may_be_rare() {
        let factors: Vec<f64> = (0..34).map(|i| 1.0 + 1e-4 * f64::from(i)).collect();
        let time = log_normal(0.00166, straggler(0.475, 15.7));
        assert_near(&factors, time, 1e-10);
    }

    #[test]
    fn stragglers_without_other_variation_are_the_limit_of_little_of_it() {
        let factors = [0.9, 1.0, 1.05, 1.4];
        let of = |sigma| moments(&factors, log_normal(sigma, straggler(0.03, 1.45)));
        let exact = of(0.0).expect("atoms").all;
        let limit = of(1e-4).expect("within the table").all;
        near(exact.mean, limit.mean, 1e-4);
        near(exact.deviation, limit.deviation, 1e-4);
        near(exact.skewness, limit.skewness, 1e-2);
    }
}

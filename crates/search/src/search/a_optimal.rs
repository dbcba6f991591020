//! Which few experiments tell most of the coefficients of a linear law for what they take: of n rows x of X, those with the
//! least tr((XᵀX)⁻¹)·Σ cost, the variance of all coefficients (halved by twice the experiments) times the cost. A-optimal
//! design within a budget of cost (Ernest, NSDI 2016), with whole experiments in place of shares; no exchange of one
//! experiment improves it.

use scavsim_base::stats::cholesky::{cholesky, inverse_column};
use scavsim_base::stats::field::dot;

/// Below this share of its length a column is a combination of those before it.
const INDEPENDENT: f64 = 1e-9;
/// Designs that are tried at most: a second or so.
const MOST_TRIALS: usize = 5_000_000;
/// An exchange has to improve the criterion by this share.
const BETTER: f64 = 1e-9;

/// How many columns can be told apart by these rows.
pub(super) fn rank<const N: usize>(rows: &[[f64; N]]) -> usize {
    scaled(rows).1
}

/// At most `count` different rows, in their order; at least as many as can be told apart, as far as `count` goes.
pub(super) fn a_optimal<const N: usize>(
    rows: &[[f64; N]],
    costs: &[f64],
    count: usize,
) -> Vec<usize> {
    let (scaled, rank) = scaled(rows);
    let width = rank.min(count);
    // With fewer experiments than coefficients, the first of these.
    let x: Vec<Vec<f64>> = scaled.iter().map(|row| row[..width].to_vec()).collect();
    let count = count.min(rows.len());
    let mut chosen = apart(&x, width);
    let mut design = Design::new(width);
    for &at in &chosen {
        design = design.and(&x[at], costs[at], 1.0);
    }
    let mut trials = 0;
    while chosen.len() < count {
        trials += rows.len();
        let left = (0..rows.len()).filter(|at| !chosen.contains(at));
        let next = if trials <= MOST_TRIALS {
            least(left, |&at| design.and(&x[at], costs[at], 1.0).criterion())
        } else {
            left.min()
        };
        let Some(at) = next else { break };
        design = design.and(&x[at], costs[at], 1.0);
        chosen.push(at);
    }
    loop {
        trials += chosen.len() * rows.len();
        if trials > MOST_TRIALS {
            break;
        }
        let least = design.clone().criterion() * (1.0 - BETTER);
        let mut best: Option<(usize, usize, f64)> = None;
        for (place, &own) in chosen.iter().enumerate() {
            let without = design.and(&x[own], costs[own], -1.0);
            for at in (0..rows.len()).filter(|at| !chosen.contains(at)) {
                let value = without.and(&x[at], costs[at], 1.0).criterion();
                if value < best.map_or(least, |(.., value)| value) {
                    best = Some((place, at, value));
                }
            }
        }
        let Some((place, at, _)) = best else { break };
        let own = std::mem::replace(&mut chosen[place], at);
        design = design.and(&x[own], costs[own], -1.0);
        design = design.and(&x[at], costs[at], 1.0);
    }
    chosen.sort_unstable();
    chosen
}

/// XᵀX of some experiments, and what they cost.
#[derive(Clone)]
struct Design {
    width: usize,
    /// By rows, below the diagonal and on it.
    square: Vec<f64>,
    cost: f64,
}

impl Design {
    fn new(width: usize) -> Design {
        Design {
            width,
            square: vec![0.0; width * width],
            cost: 0.0,
        }
    }

    /// With one more experiment, or with `sign` −1 without it.
    fn and(&self, x: &[f64], cost: f64, sign: f64) -> Design {
        let mut square = self.square.clone();
        for i in 0..self.width {
            for j in 0..=i {
                square[i * self.width + j] += sign * x[i] * x[j];
            }
        }
        Design {
            width: self.width,
            square,
            cost: self.cost + sign * cost,
        }
    }

    /// tr((XᵀX)⁻¹)·Σ cost; infinite where the experiments do not tell the columns apart.
    fn criterion(mut self) -> f64 {
        if !cholesky(&mut self.square, self.width) {
            return f64::INFINITY;
        }
        let mut column = vec![0.0; self.width];
        let mut trace = 0.0;
        for at in 0..self.width {
            inverse_column(&self.square, self.width, at, &mut column);
            trace += dot(&column, &column);
        }
        trace * self.cost
    }
}

fn least(all: impl Iterator<Item = usize>, of: impl Fn(&usize) -> f64) -> Option<usize> {
    let valued = all.map(|at| (at, of(&at)));
    let least = valued.reduce(|best, next| if next.1 < best.1 { next } else { best });
    least.map(|(at, _)| at)
}

/// Rows of the columns over their means, without those that are combinations of others; and how many columns are left.
fn scaled<const N: usize>(rows: &[[f64; N]]) -> (Vec<Vec<f64>>, usize) {
    let mut kept: Vec<Vec<f64>> = Vec::new();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in 0..N {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
        if mean == 0.0 || !mean.is_finite() {
            continue;
        }
        let own: Vec<f64> = rows.iter().map(|row| row[column] / mean).collect();
        let mut rest = own.clone();
        for direction in &basis {
            remove(&mut rest, direction);
        }
        let length = dot(&rest, &rest).sqrt();
        if length > INDEPENDENT * dot(&own, &own).sqrt() {
            basis.push(rest.iter().map(|x| x / length).collect());
            kept.push(own);
        }
    }
    let row = |at: usize| kept.iter().map(|column| column[at]).collect();
    ((0..rows.len()).map(row).collect(), kept.len())
}

/// `width` rows that are as far as possible from combinations of each other, one after the other.
fn apart(x: &[Vec<f64>], width: usize) -> Vec<usize> {
    let mut rest = x.to_vec();
    let mut chosen = Vec::with_capacity(width);
    for _ in 0..width {
        let left = (0..x.len()).filter(|at| !chosen.contains(at));
        let Some(at) = least(left, |&at| -dot(&rest[at], &rest[at])) else {
            break;
        };
        let length = dot(&rest[at], &rest[at]).sqrt();
        let direction: Vec<f64> = rest[at].iter().map(|x| x / length).collect();
        if length > 0.0 {
            rest.iter_mut().for_each(|row| remove(row, &direction));
        }
        chosen.push(at);
    }
    chosen
}

/// Takes the part along a direction of length 1 away.
fn remove(from: &mut [f64], direction: &[f64]) {
    let part = dot(from, direction);
    for (x, along) in from.iter_mut().zip(direction) {
        *x -= part * along;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line is told best by its ends, and by the cheaper end where one is dear.
    #[test]
    fn a_line_is_told_by_its_ends() {
        let rows: Vec<[f64; 2]> = (1..=9).map(|x| [1.0, f64::from(x)]).collect();
        assert_eq!(a_optimal(&rows, &[1.0; 9], 2), [0, 8]);
        let dear: Vec<f64> = (0..9).map(|x| if x == 8 { 100.0 } else { 1.0 }).collect();
        assert_eq!(a_optimal(&rows, &dear, 2), [0, 7]);
    }

    /// Within a hundredth of the best of all sets of five, on the terms of Ernest over four by four clusters.
    #[test]
    fn an_exchange_ends_near_the_best_of_all_sets() {
        let clusters =
            [8.0, 12.0, 16.0, 20.0].map(|k| [384.0, 512.0, 768.0, 1024.0].map(|b| (k, b)));
        let rows: Vec<[f64; 4]> = (clusters.as_flattened().iter())
            .map(|(k, b): &(f64, f64)| [1.0, b / k, libm::log(*k), *k])
            .collect();
        let costs: Vec<f64> = rows.iter().map(|row| row[1]).collect();
        let (x, rank) = scaled(&rows);
        assert_eq!(rank, 4);
        let value = |set: &[usize]| {
            let design = |design: Design, &at: &usize| design.and(&x[at], costs[at], 1.0);
            set.iter().fold(Design::new(4), design).criterion()
        };
        let chosen = a_optimal(&rows, &costs, 5);
        let own = value(&chosen);
        let mut least = f64::INFINITY;
        for bits in 0_u32..1 << 16 {
            if bits.count_ones() == 5 {
                let set: Vec<usize> = (0..16).filter(|at| bits >> at & 1 == 1).collect();
                least = least.min(value(&set));
            }
        }
        assert!(
            own.is_finite() && own <= least * 1.01,
            "{own} {least} {chosen:?}"
        );
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_asked_about() {
        // One cluster size: only the constant and the work are left.
        let rows: Vec<[f64; 4]> = (1..=3)
            .map(|b| [1.0, f64::from(b) / 4.0, libm::log(4.0), 4.0])
            .collect();
        assert_eq!(rank(&rows), 2);
        assert_eq!(a_optimal(&rows, &[1.0; 3], 3), [0, 1, 2]);
        assert_eq!(a_optimal(&rows, &[1.0; 3], 9), [0, 1, 2]);
        assert_eq!(a_optimal(&rows, &[3.0, 2.0, 1.0], 1).len(), 1);
        // Equal rows, and one alone.
        let equal = [[1.0, 2.0]; 3];
        assert_eq!(
            (rank(&equal), a_optimal(&equal, &[1.0; 3], 2).len()),
            (1, 2)
        );
        assert_eq!(a_optimal(&[[1.0, 0.0, 0.0, 1.0]], &[1.0], 5), [0]);
    }
}

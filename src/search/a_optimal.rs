//! Which few experiments tell most of the coefficients of a linear law for what they take.
//!
//! Of n rows x of a matrix X, those with the least tr((XᵀX)⁻¹)·Σ cost: the variance of all coefficients together, which is
//! halved by twice the experiments, times what these take. That is A-optimal design within a budget of cost (Ernest, NSDI 2016),
//! with whole experiments in place of shares. By exchange, so it is a design that no exchange of one experiment improves.

use crate::stats::cholesky::{cholesky, inverse_column};

/// Below this share of its length a column is a combination of those before it.
const INDEPENDENT: f64 = 1e-9;
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
    let criterion = |set: &[usize]| {
        let cost: f64 = set.iter().map(|&at| costs[at]).sum();
        trace_of_inverse(&x, set, width) * cost
    };
    while chosen.len() < count {
        let with = |&at: &usize| {
            let mut set = chosen.clone();
            set.push(at);
            criterion(&set)
        };
        let left = (0..rows.len()).filter(|at| !chosen.contains(at));
        let Some(at) = least(left, with) else { break };
        chosen.push(at);
    }
    let mut now = criterion(&chosen);
    loop {
        let mut best: Option<(usize, usize, f64)> = None;
        for place in 0..chosen.len() {
            let mut set = chosen.clone();
            for at in (0..rows.len()).filter(|at| !chosen.contains(at)) {
                set[place] = at;
                let value = criterion(&set);
                if value < now * (1.0 - BETTER) && best.is_none_or(|(.., least)| value < least) {
                    best = Some((place, at, value));
                }
            }
        }
        let Some((place, at, value)) = best else {
            break;
        };
        (chosen[place], now) = (at, value);
    }
    chosen.sort_unstable();
    chosen
}

/// The first of those for which `of` is least.
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

/// tr((XᵀX)⁻¹) over the rows of a set; infinite where it does not tell the columns apart.
fn trace_of_inverse(x: &[Vec<f64>], set: &[usize], width: usize) -> f64 {
    let mut square = vec![0.0; width * width];
    for &at in set {
        for i in 0..width {
            for j in 0..=i {
                square[i * width + j] += x[at][i] * x[at][j];
            }
        }
    }
    if !cholesky(&mut square, width) {
        return f64::INFINITY;
    }
    let mut column = vec![0.0; width];
    let mut trace = 0.0;
    for at in 0..width {
        inverse_column(&square, width, at, &mut column);
        trace += dot(&column, &column);
    }
    trace
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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

    /// No other set of five does better, on the terms of Ernest over four by four clusters.
    #[test]
    fn an_exchange_ends_at_the_best_of_all_sets() {
        let clusters =
            [8.0, 12.0, 16.0, 20.0].map(|k| [384.0, 512.0, 768.0, 1024.0].map(|b| (k, b)));
        let rows: Vec<[f64; 4]> = (clusters.as_flattened().iter())
            .map(|(k, b): &(f64, f64)| [1.0, b / k, libm::log(*k), *k])
            .collect();
        let costs: Vec<f64> = rows.iter().map(|row| row[1]).collect();
        let (x, rank) = scaled(&rows);
        assert_eq!(rank, 4);
        let value = |set: &[usize]| {
            trace_of_inverse(&x, set, 4) * set.iter().map(|&at| costs[at]).sum::<f64>()
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
            own.is_finite() && own <= least * (1.0 + 1e-9),
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

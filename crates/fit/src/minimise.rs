//! Levenberg–Marquardt for a few parameters. Crates for it bring 18 packages of linear algebra, and number traits that may
//! use the system's mathematics.

use super::linear::{Equation, least_squares};

const ITERATIONS: usize = 400;
/// Relative gain below which a search ends.
const GAIN: f64 = 1e-14;

/// Parameters with a local minimum of the sum of squared residuals, and that sum. `residuals` must always return an equal
/// number of them; places where they are not finite are avoided. `None` if they are not finite at `start`.
pub fn levenberg_marquardt<const N: usize>(
    start: [f64; N],
    residuals: impl Fn(&[f64; N]) -> Vec<f64>,
) -> Option<([f64; N], f64)> {
    search(start, GAIN, residuals)
}

/// A search like [`levenberg_marquardt`] that ends below a relative gain of `least_gain`.
pub fn search<const N: usize>(
    start: [f64; N],
    least_gain: f64,
    residuals: impl Fn(&[f64; N]) -> Vec<f64>,
) -> Option<([f64; N], f64)> {
    let loss = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>();
    let mut at = start;
    let mut here = residuals(&at);
    let mut least = loss(&here);
    if !least.is_finite() {
        return None;
    }
    let mut damping = 1e-3;
    for _ in 0..ITERATIONS {
        let slopes: [Vec<f64>; N] = std::array::from_fn(|i| {
            let width = 1e-6 * at[i].abs().max(1.0);
            let moved = |by: f64| {
                let mut to = at;
                to[i] += by;
                residuals(&to)
            };
            let (up, down) = (moved(width), moved(-width));
            let slope = |(u, d): (&f64, &f64)| (u - d) / (2.0 * width);
            up.iter().zip(&down).map(slope).collect()
        });
        let scales: [f64; N] = std::array::from_fn(|i| loss(&slopes[i]).sqrt());
        let mut gained = None;
        // Ever shorter steps, until one gains.
        while damping < 1e12 {
            let pulls = (0..here.len()).map(|row| Equation {
                x: std::array::from_fn(|i| slopes[i][row]),
                y: -here[row],
                weight: 1.0,
            });
            let brakes = (0..N).map(|i| {
                let mut x = [0.0; N];
                x[i] = f64::sqrt(damping) * scales[i].max(1e-9);
                Equation::absolute(x, 0.0)
            });
            let to = least_squares(pulls.chain(brakes))
                .map(|step| std::array::from_fn(|i| at[i] + step[i]));
            if let Some(to) = to {
                let there = residuals(&to);
                let found = loss(&there);
                if found < least {
                    gained = Some(1.0 - found / least);
                    (at, here, least) = (to, there, found);
                    damping = f64::max(damping / 5.0, 1e-12);
                    break;
                }
            }
            damping *= 4.0;
        }
        if gained.is_none_or(|gain| gain < least_gain) {
            break;
        }
    }
    Some((at, least))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley: residuals 1 − x and 10(y − x²), zero at (1, 1).
    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let valley = |p: &[f64; 2]| vec![1.0 - p[0], 10.0 * (p[1] - p[0] * p[0])];
        let (at, loss) = levenberg_marquardt([-1.2, 1.0], valley).expect("finite");
        at.iter()
            .for_each(|p| scavsim_base::tests::near(*p, 1.0, 1e-6));
        assert!(loss < 1e-12);
    }

    #[test]
    fn no_start_outside_the_range_of_the_residuals() {
        assert!(levenberg_marquardt([-1.0], |p: &[f64; 1]| vec![p[0].ln()]).is_none());
    }
}

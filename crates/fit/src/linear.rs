/// One equation: `x`·c = `y`, counted with `weight`.
#[derive(Debug, Clone, Copy)]
pub struct Equation<const N: usize> {
    pub x: [f64; N],
    pub y: f64,
    /// Weight of the error, before it is squared.
    pub weight: f64,
}

impl<const N: usize> Equation<N> {
    pub fn relative(x: [f64; N], y: f64) -> Self {
        let weight = 1.0 / y;
        Self { x, y, weight }
    }

    pub fn absolute(x: [f64; N], y: f64) -> Self {
        Self { x, y, weight: 1.0 }
    }

    fn error(&self, c: &[f64; N]) -> f64 {
        let value: f64 = self.x.iter().zip(c).map(|(x, c)| x * c).sum();
        self.weight * (value - self.y)
    }
}

/// Minimum remainder of a column after the others, for it to count as independent of them.
const INDEPENDENT: f64 = 1e-10;

/// Weighted least squares by Givens rotations; `None` if the equations do not determine the coefficients.
pub fn least_squares<const N: usize>(
    equations: impl IntoIterator<Item = Equation<N>>,
) -> Option<[f64; N]> {
    solve(equations, [true; N])
}

/// Least squares with no coefficient below zero: the best over all sets of coefficients held at zero.
pub fn non_negative<const N: usize>(equations: &[Equation<N>]) -> Option<[f64; N]> {
    let loss = |c: &[f64; N]| equations.iter().map(|e| e.error(c) * e.error(c)).sum();
    let mut best: Option<(f64, [f64; N])> = None;
    // Starts with all columns, so that among equals the fuller one stays.
    for mask in (1..1_u32 << N).rev() {
        let used = std::array::from_fn(|i| mask & (1 << i) != 0);
        let Some(c) = solve(equations.iter().copied(), used) else {
            continue;
        };
        let loss: f64 = loss(&c);
        if c.iter().all(|&c| c >= 0.0) && best.is_none_or(|(least, _)| loss < least) {
            best = Some((loss, c));
        }
    }
    best.map(|(_, c)| c)
}

fn solve<const N: usize>(
    equations: impl IntoIterator<Item = Equation<N>>,
    used: [bool; N],
) -> Option<[f64; N]> {
    // Upper triangle and right side of the equations so far.
    let mut triangle = [[0.0; N]; N];
    let mut right = [0.0; N];
    let mut squares = [0.0; N];
    for equation in equations {
        let mut x = equation.x.map(|x| x * equation.weight);
        let mut y = equation.y * equation.weight;
        for (x, used) in x.iter_mut().zip(used) {
            *x = if used { *x } else { 0.0 };
        }
        for (square, x) in squares.iter_mut().zip(x) {
            *square += x * x;
        }
        for i in 0..N {
            let length = (triangle[i][i] * triangle[i][i] + x[i] * x[i]).sqrt();
            if x[i] == 0.0 || length == 0.0 {
                continue;
            }
            let (cos, sin) = (triangle[i][i] / length, x[i] / length);
            for (upper, x) in triangle[i].iter_mut().zip(&mut x).skip(i) {
                (*upper, *x) = (cos * *upper + sin * *x, cos * *x - sin * *upper);
            }
            (right[i], y) = (cos * right[i] + sin * y, cos * y - sin * right[i]);
        }
    }
    let mut c = [0.0; N];
    for i in (0..N).rev().filter(|&i| used[i]) {
        let pivot: f64 = triangle[i][i];
        let least = INDEPENDENT * squares[i].sqrt();
        if pivot.abs().partial_cmp(&least) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        let known: f64 = (i + 1..N).map(|j| triangle[i][j] * c[j]).sum();
        c[i] = (right[i] - known) / pivot;
    }
    c.iter().all(|c| c.is_finite()).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_equations_give_back_their_coefficients() {
        let points = [(1.0, 8.0), (2.0, 32.0), (5.0, 4.0), (7.0, 16.0)];
        let equations =
            points.map(|(x, k)| Equation::relative([1.0, x, k], 3.0 + 0.5 * x + 2.0 * k));
        let c = least_squares(equations).expect("independent columns");
        (0..3).for_each(|at| scavsim_base::tests::near(c[at], [3.0, 0.5, 2.0][at], 1e-12));
    }

    #[test]
    fn weights_decide_between_contradicting_equations() {
        let equations = [(1.0, 1.0), (3.0, 2.0)].map(|(y, weight)| Equation {
            x: [1.0],
            y,
            weight,
        });
        // (1·1 + 4·3) / 5
        assert_eq!(least_squares(equations).map(|c| c[0]), Some(2.6));
    }

    #[test]
    fn columns_that_cannot_be_told_apart_give_nothing() {
        let equations = [1.0, 2.0, 3.0].map(|x| Equation::absolute([x, 2.0 * x], x));
        assert_eq!(least_squares(equations), None);
        assert_eq!(least_squares(Vec::<Equation<2>>::new()), None);
        let nan = [Equation::absolute([f64::NAN], 1.0)];
        assert_eq!(least_squares(nan), None);
    }

    #[test]
    fn a_coefficient_that_wants_below_zero_is_held_there() {
        let equations: Vec<_> = [(1.0, 5.0), (2.0, 4.0), (3.0, 3.0)]
            .map(|(x, y)| Equation::absolute([1.0, x], y))
            .into();
        let [mean, slope] = non_negative(&equations).expect("a mean");
        assert!((mean - 4.0).abs() < 1e-12 && slope == 0.0);
        assert!(least_squares(equations).is_some_and(|c| c[1] < -0.9));
    }
}

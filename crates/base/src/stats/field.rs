//! A Gaussian random field where it was observed: what observations explain of it, how likely they are, and what they say of
//! each other. [`Field`] takes all at once, [`Rows`] one after the other. Places and their covariances are the caller's.

use super::cholesky::{backward, cholesky, cholesky_held, forward, inverse_column};

/// Matérn's correlation of order 5/2, at √5 times a distance.
pub fn matern(r: f64) -> f64 {
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

/// Observations, by the triangle L of their covariance L·Lᵀ.
#[derive(Debug, Clone)]
pub struct Field {
    triangle: Vec<f64>,
    count: usize,
}

impl Field {
    /// A field of `count` observations with these covariances of any two; `None` without any, or if that is no covariance.
    pub fn new(count: usize, covariance: impl Fn(usize, usize) -> f64) -> Option<Field> {
        let mut triangle = lower(count, covariance);
        (count > 0 && cholesky(&mut triangle, count)).then_some(Field { triangle, count })
    }

    /// Observations with these covariances of any two, which rounding may have spoilt: `least` is left of the variance of
    /// each at least, when those before it are known.
    pub fn with_least_variance(
        count: usize,
        least: f64,
        covariance: impl Fn(usize, usize) -> f64,
    ) -> Field {
        let mut triangle = lower(count, covariance);
        cholesky_held(&mut triangle, count, least);
        Field { triangle, count }
    }

    /// L⁻¹·`right`. Products of two such are what the observations explain: of a value at a place, or of a covariance.
    pub fn solved(&self, mut right: Vec<f64>) -> Vec<f64> {
        forward(&self.triangle, self.count, &mut right);
        right
    }

    /// The inverse of the covariance times `right`: weights of observations in what is foretold.
    pub fn weights(&self, right: Vec<f64>) -> Vec<f64> {
        let mut weights = self.solved(right);
        backward(&self.triangle, self.count, &mut weights);
        weights
    }

    /// Minus the logarithm of how likely `values` are with all covariances scaled as suits them best, and that scale, which
    /// is a factor of standard deviations and `least` at least.
    pub fn unlikelihood(&self, values: Vec<f64>, least: f64) -> (f64, f64) {
        let n = self.count;
        let values = self.solved(values);
        let square: f64 = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
        let square = square.max(least * least);
        let logs: f64 = (0..n).map(|i| libm::log(self.triangle[i * n + i])).sum();
        (0.5 * n as f64 * libm::log(square) + logs, square.sqrt())
    }

    pub fn precision(&self) -> Precision {
        let n = self.count;
        let mut columns = vec![0.0; n * n];
        for (at, column) in columns.chunks_exact_mut(n.max(1)).enumerate() {
            inverse_column(&self.triangle, n, at, column);
        }
        Precision { columns, count: n }
    }
}

fn lower(count: usize, covariance: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut matrix = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            matrix[i * count + j] = covariance(i, j);
        }
    }
    matrix
}

/// A symmetric matrix, by rows, from its entries on the diagonal and below it.
pub fn symmetric(count: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut matrix = lower(count, entry);
    for i in 0..count {
        for j in 0..i {
            matrix[j * count + i] = matrix[i * count + j];
        }
    }
    matrix
}

/// Σ a·b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse P of the covariance of observations, by the columns of L⁻¹.
#[derive(Debug, Clone)]
pub struct Precision {
    columns: Vec<f64>,
    count: usize,
}

impl Precision {
    /// A column of L⁻¹ from a row on; it is 0 before its own.
    fn column(&self, at: usize, from: usize) -> &[f64] {
        &self.columns[at * self.count + from..(at + 1) * self.count]
    }

    /// The entry of the precision for two observations. At i = j it is one over the variance that all others leave of
    /// i. That of one and itself is one over the variance that all others leave of it.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let from = i.max(j);
        dot(self.column(i, from), self.column(j, from))
    }

    /// All entries, by rows.
    pub fn matrix(&self) -> Vec<f64> {
        symmetric(self.count, |i, j| self.entry(i, j))
    }

    /// How far each of a group is from what all that are not in it say; `solved` is L⁻¹ times all values. With a = P·y,
    /// that is P⁻¹·a over the group.
    pub fn left_out(&self, group: &[usize], solved: &[f64]) -> Option<Vec<f64>> {
        let field = Field::new(group.len(), |i, j| self.entry(group[i], group[j]))?;
        let pull = |&i: &usize| dot(self.column(i, i), &solved[i..]);
        Some(field.weights(group.iter().map(pull).collect()))
    }
}

/// What observations, one after the other, explain of the covariances of a list of places: Σ r·rᵀ, with a row r for each.
#[derive(Debug, Clone, Default)]
pub struct Rows(Vec<Vec<f64>>);

impl Rows {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, row: Vec<f64>) {
        self.0.push(row);
    }

    /// Takes what is explained from the covariances of all places with the one at `at`.
    pub fn take_from(&self, at: usize, covariances: &mut [f64]) {
        // Four rows in one pass, each value in the order of the rows.
        let (fours, rest) = self.0.as_chunks::<4>();
        for [a, b, c, d] in fours {
            let own = [a[at], b[at], c[at], d[at]];
            let rows = a.iter().zip(b).zip(c).zip(d);
            for (covariance, (((a, b), c), d)) in covariances.iter_mut().zip(rows) {
                *covariance = (((*covariance - own[0] * a) - own[1] * b) - own[2] * c) - own[3] * d;
            }
        }
        for row in rest {
            let own = row[at];
            for (covariance, other) in covariances.iter_mut().zip(row) {
                *covariance -= own * other;
            }
        }
    }

    /// Takes what is explained, `times` over, from the covariances of `places` with the one at `at`.
    pub fn take_from_some(&self, at: usize, places: &[usize], times: f64, covariances: &mut [f64]) {
        for row in &self.0 {
            let own = times * row[at];
            for (covariance, &x) in covariances.iter_mut().zip(places) {
                *covariance -= own * row[x];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 4] = [0.0, 0.7, 1.9, 2.2];

    fn covariance(i: usize, j: usize) -> f64 {
        libm::exp(-(X[i] - X[j]).abs()) + if i == j { 0.01 } else { 0.0 }
    }

    #[test]
    fn who_is_left_out_is_foretold_by_the_others() {
        let values = [1.0, 0.4, -0.3, 0.2];
        let field = Field::new(4, covariance).expect("a covariance");
        let precision = field.precision();
        let errors = precision.left_out(&[2], &field.solved(values.to_vec()));
        let others = [0, 1, 3];
        let known = Field::new(3, |i, j| covariance(others[i], others[j])).expect("one, too");
        let to = known.solved(others.map(|i| covariance(i, 2)).to_vec());
        let foretold = dot(&to, &known.solved(others.map(|i| values[i]).to_vec()));
        let error = errors.expect("a group")[0];
        assert!((error - (values[2] - foretold)).abs() < 1e-12, "{error}");
        let left = covariance(2, 2) - dot(&to, &to);
        assert!((1.0 / precision.entry(2, 2) - left).abs() < 1e-12);
    }

    #[test]
    fn one_observation_after_the_other_explains_what_all_do() {
        let mut rows = Rows::default();
        for at in 0..3 {
            let mut row: Vec<f64> = (0..4).map(|x| covariance(at, x)).collect();
            rows.take_from(at, &mut row);
            let deviation = row[at].sqrt();
            rows.push(row.iter().map(|entry| entry / deviation).collect());
        }
        let field = Field::new(3, covariance).expect("a covariance");
        let to = field.solved((0..3).map(|i| covariance(i, 3)).collect());
        let mut left = [covariance(3, 3)];
        rows.take_from_some(3, &[3], 1.0, &mut left);
        assert_eq!(rows.len(), 3);
        assert!((left[0] - (covariance(3, 3) - dot(&to, &to))).abs() < 1e-12);
    }

    /// Of independent values the likeliest variance is the mean of their squares.
    #[test]
    fn the_likeliest_scale_is_the_root_of_the_mean_square() {
        let field = Field::new(3, |i, j| if i == j { 4.0 } else { 0.0 }).expect("a covariance");
        let (_, scale) = field.unlikelihood(vec![2.0, 4.0, 4.0], 1e-4);
        assert!((scale - 3.0_f64.sqrt()).abs() < 1e-12, "{scale}");
        assert!(Field::new(2, |_, _| 1.0).is_none() && Field::new(0, |_, _| 1.0).is_none());
        let precision = Field::with_least_variance(2, 0.25, |_, _| 1.0).precision();
        assert!(precision.entry(1, 1) > 0.0);
    }
}

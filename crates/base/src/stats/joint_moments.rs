/// Running means and covariances after Welford: one pass, no cancellation, constant memory.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMoments {
    count: u64,
    means: Vec<f64>,
    products: Vec<f64>,
    before: Vec<f64>,
}

impl JointMoments {
    pub fn new(quantities: usize) -> JointMoments {
        JointMoments {
            count: 0,
            means: vec![0.0; quantities],
            products: vec![0.0; quantities * quantities],
            before: vec![0.0; quantities],
        }
    }

    pub fn add(&mut self, values: &[f64]) {
        self.count += 1;
        let width = self.means.len();
        let each = self.before.iter_mut().zip(&mut self.means).zip(values);
        for ((before, mean), value) in each {
            *before = value - *mean;
            *mean += *before / self.count as f64;
        }
        for (row, before) in self.before.iter().enumerate() {
            let products = &mut self.products[row * width..];
            for ((product, value), mean) in products.iter_mut().zip(values).zip(&self.means) {
                *product += before * (value - mean);
            }
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of one; zero before the first value.
    pub fn mean(&self, of: usize) -> f64 {
        self.means[of]
    }

    /// Sample covariance of two, or the variance of one (divisor n − 1); zero below two values.
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        match self.count {
            0 | 1 => 0.0,
            count => self.products[a * self.means.len() + b] / (count - 1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_agree_with_the_two_pass_formula() {
        let seen = [(1e9 + 1.0, 4.0), (1e9 + 2.0, 1.0), (1e9 + 6.0, -2.0)];
        let mut joint = JointMoments::new(2);
        seen.iter().for_each(|(a, b)| joint.add(&[*a, *b]));
        assert_eq!((joint.mean(0), joint.mean(1)), (1e9 + 3.0, 1.0));
        // (-2·3 + -1·0 + 3·-3)/2, (4 + 1 + 9)/2, (9 + 0 + 9)/2.
        for (a, b, expected) in [(0, 1, -7.5), (1, 0, -7.5), (0, 0, 7.0), (1, 1, 9.0)] {
            assert!((joint.covariance(a, b) - expected).abs() < 1e-6, "{a} {b}");
        }
    }
}

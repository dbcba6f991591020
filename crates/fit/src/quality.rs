/// Errors of a fit on its own points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    pub points: usize,
    pub r_squared: f64,
    pub mape: f64,
}

impl Quality {
    /// From pairs (measured, fitted). R² is not a number if the measured values do not vary.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (f64, f64)> + Clone) -> Quality {
        let (mut points, mut sum) = (0, 0.0);
        for (measured, _) in pairs.clone() {
            points += 1;
            sum += measured;
        }
        let mean = sum / points as f64;
        let (mut around, mut missed, mut share) = (0.0, 0.0, 0.0);
        for (measured, fitted) in pairs {
            around += (measured - mean) * (measured - mean);
            missed += (measured - fitted) * (measured - fitted);
            share += ((measured - fitted) / measured).abs();
        }
        Quality {
            points,
            r_squared: 1.0 - missed / around,
            mape: 100.0 * share / points as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_meets_its_definition() {
        let q = Quality::from_pairs([(1.0, 1.1), (2.0, 2.0), (3.0, 2.7)]);
        assert_eq!(q.points, 3);
        assert!((q.r_squared - 0.95).abs() < 1e-12);
        assert!((q.mape - 20.0 / 3.0).abs() < 1e-12);
    }
}

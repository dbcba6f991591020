//! Straight lines by least squares.

/// y = intercept + slope·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Value at x = 0.
    pub intercept: f64,
    /// Change of y per unit of x.
    pub slope: f64,
}

impl Line {
    /// The least-squares line through `points` (x, y).
    ///
    /// With a single distinct x the line is flat through the mean. `None` without points.
    pub fn fit(points: impl IntoIterator<Item = (f64, f64)> + Clone) -> Option<Line> {
        let (mut count, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
        for (x, y) in points.clone() {
            count += 1.0;
            sum_x += x;
            sum_y += y;
        }
        if count == 0.0 {
            return None;
        }
        let (mean_x, mean_y) = (sum_x / count, sum_y / count);
        let (mut xx, mut xy) = (0.0, 0.0);
        for (x, y) in points {
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
        }
        let slope = if xx > 0.0 { xy / xx } else { 0.0 };
        Some(Line {
            intercept: mean_y - slope * mean_x,
            slope,
        })
    }

    /// The value at `x`.
    #[inline]
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Position of `x` among ascending `knots`: the index of the left knot and the share of the way
/// to the next. `None` outside; at a knot the share is exactly 0 (or 1 at the last).
pub fn locate(knots: &[f64], x: f64) -> Option<(usize, f64)> {
    let (first, last) = (*knots.first()?, *knots.last()?);
    if !(first..=last).contains(&x) {
        return None;
    }
    if knots.len() == 1 {
        return Some((0, 0.0));
    }
    let left = knots.partition_point(|&k| k <= x).clamp(1, knots.len() - 1) - 1;
    Some((left, (x - knots[left]) / (knots[left + 1] - knots[left])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_points_give_back_their_line() {
        let line = Line::fit([(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).expect("three points");
        assert!((line.intercept - 3.0).abs() < 1e-12 && (line.slope - 2.0).abs() < 1e-12);
    }

    #[test]
    fn one_abscissa_gives_a_flat_line_and_none_gives_none() {
        let line = Line::fit([(2.0, 1.0), (2.0, 3.0)]).expect("two points");
        assert_eq!((line.intercept, line.slope), (2.0, 0.0));
        assert!(Line::fit([]).is_none());
    }

    #[test]
    fn locate_holds_knots_exactly_and_refuses_outside() {
        let knots = [8.0, 12.0, 16.0];
        assert_eq!(locate(&knots, 8.0), Some((0, 0.0)));
        assert_eq!(locate(&knots, 14.0), Some((1, 0.5)));
        assert_eq!(locate(&knots, 16.0), Some((1, 1.0)));
        assert_eq!(locate(&knots, 16.1), None);
    }
}

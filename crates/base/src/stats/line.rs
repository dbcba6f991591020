/// y = intercept + slope·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub intercept: f64,
    pub slope: f64,
}

impl Line {
    /// The least-squares line through `points` (x, y): flat through the mean with a single distinct x, `None` without points.
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

    #[inline]
    pub fn value_at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// z = constant + x_slope·x + y_slope·y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    pub constant: f64,
    pub x_slope: f64,
    pub y_slope: f64,
}

impl Plane {
    /// The least-squares plane through (x, y, z). On one line of points, x takes the whole slope if it varies. `None` without
    /// points.
    pub fn fit(points: impl IntoIterator<Item = (f64, f64, f64)> + Clone) -> Option<Plane> {
        let (mut count, mut sum) = (0.0, [0.0; 3]);
        for (x, y, z) in points.clone() {
            count += 1.0;
            sum[0] += x;
            sum[1] += y;
            sum[2] += z;
        }
        if count == 0.0 {
            return None;
        }
        let [mx, my, mz] = sum.map(|s| s / count);
        let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (x, y, z) in points {
            let (dx, dy, dz) = (x - mx, y - my, z - mz);
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
            xz += dx * dz;
            yz += dy * dz;
        }
        let determinant = xx * yy - xy * xy;
        let (x_slope, y_slope) = if determinant > 1e-9 * xx * yy {
            (
                (xz * yy - yz * xy) / determinant,
                (yz * xx - xz * xy) / determinant,
            )
        } else if xx > 0.0 {
            (xz / xx, 0.0)
        } else if yy > 0.0 {
            (0.0, yz / yy)
        } else {
            (0.0, 0.0)
        };
        Some(Plane {
            constant: mz - x_slope * mx - y_slope * my,
            x_slope,
            y_slope,
        })
    }

    #[inline]
    pub fn value_at(&self, x: f64, y: f64) -> f64 {
        self.constant + self.x_slope * x + self.y_slope * y
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

/// The value at `x`, linear between ascending `knots` with these values; beyond them that of the nearest. There is at least one.
pub fn interpolate_clamped(knots: &[f64], x: f64, value: impl Fn(usize) -> f64) -> f64 {
    let inside = x.clamp(knots[0], knots[knots.len() - 1]);
    // Clamped into the range just above, so it is always located.
    match locate(knots, inside).unwrap_or((0, 0.0)) {
        (left, 0.0) => value(left),
        (left, share) => value(left) + share * (value(left + 1) - value(left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    #[test]
    fn exact_points_give_back_their_line() {
        let line = Line::fit([(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).expect("three points");
        near(line.intercept, 3.0, 1e-12);
        near(line.slope, 2.0, 1e-12);
    }

    #[test]
    fn one_abscissa_gives_a_flat_line_and_none_gives_none() {
        let line = Line::fit([(2.0, 1.0), (2.0, 3.0)]).expect("two points");
        assert_eq!((line.intercept, line.slope), (2.0, 0.0));
        assert!(Line::fit([]).is_none());
    }

    #[test]
    fn exact_points_give_back_their_plane() {
        let z = |x: f64, y: f64| 2.0 - 3.0 * x + 0.5 * y;
        let points = [(0.0, 0.0), (1.0, 0.0), (0.0, 4.0), (7.0, 9.0)].map(|(x, y)| (x, y, z(x, y)));
        let plane = Plane::fit(points).expect("four points");
        let found = [plane.constant, plane.x_slope, plane.y_slope];
        (0..3).for_each(|at| near(found[at], [2.0, -3.0, 0.5][at], 1e-12));
    }

    #[test]
    fn points_on_one_line_leave_the_slope_to_x() {
        let plane = Plane::fit([(1.0, 2.0, 5.0), (2.0, 4.0, 7.0)]).expect("two points");
        assert_eq!((plane.x_slope, plane.y_slope), (2.0, 0.0));
        let upright = Plane::fit([(1.0, 2.0, 5.0), (1.0, 4.0, 7.0)]).expect("two points");
        assert_eq!((upright.x_slope, upright.y_slope), (0.0, 1.0));
        assert!(Plane::fit([]).is_none());
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

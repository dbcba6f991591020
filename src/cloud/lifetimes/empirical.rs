//! Losses as they were counted.

use std::collections::HashMap;
use std::sync::Arc;

use super::lifetime::Law;
use crate::input::csv::Table;
use crate::input::{Diagnostics, Source};

/// A counted F: linear between its points and from (0, 0), level behind the last one.
///
/// What is missing to 1 at the last point are the VMs that were not lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Empirical {
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    age_h: f64,
    lost: f64,
    /// E[min(T, age)] in hours.
    mean_until_h: f64,
}

const START: Point = Point {
    age_h: 0.0,
    lost: 0.0,
    mean_until_h: 0.0,
};

impl Empirical {
    /// From (age in hours, share lost by then): ages rise from above 0, shares of at most 1 never fall.
    pub fn new(counted: &[(f64, f64)]) -> Option<Self> {
        let mut points = vec![START];
        for &(age_h, lost) in counted {
            let last = points.last().copied().unwrap_or(START);
            let is_next = age_h.is_finite() && age_h > last.age_h;
            if !(is_next && (last.lost..=1.0).contains(&lost)) {
                return None;
            }
            let alive = 1.0 - 0.5 * (last.lost + lost);
            points.push(Point {
                age_h,
                lost,
                mean_until_h: last.mean_until_h + alive * (age_h - last.age_h),
            });
        }
        (points.len() > 1).then_some(Empirical { points })
    }

    /// The points around an age; the same one twice behind the last.
    fn around(&self, age_h: f64) -> (Point, Point) {
        let next = self.points.partition_point(|p| p.age_h <= age_h);
        let before = self.points[next.saturating_sub(1)];
        (before, self.points.get(next).copied().unwrap_or(before))
    }
}

impl Law for Empirical {
    fn cdf(&self, age_h: f64) -> f64 {
        let (before, _) = self.around(age_h);
        before.lost + self.rise(age_h)
    }

    fn density(&self, age_h: f64) -> f64 {
        let (before, next) = self.around(age_h);
        let width = next.age_h - before.age_h;
        if width > 0.0 {
            (next.lost - before.lost) / width
        } else {
            0.0
        }
    }

    fn inverse_cdf(&self, u: f64) -> f64 {
        // Level stretches are skipped: the point before the first that reaches u is below u.
        let next = self.points.partition_point(|p| p.lost < u);
        match (self.points.get(next.wrapping_sub(1)), self.points.get(next)) {
            (_, None) => f64::INFINITY,
            (None, Some(first)) => first.age_h,
            (Some(before), Some(next)) => {
                let part = (u - before.lost) / (next.lost - before.lost);
                before.age_h + part * (next.age_h - before.age_h)
            }
        }
    }

    fn mean_until(&self, age_h: f64) -> f64 {
        let (before, _) = self.around(age_h);
        let alive = 1.0 - before.lost - 0.5 * self.rise(age_h);
        if alive > 0.0 {
            before.mean_until_h + alive * (age_h - before.age_h)
        } else {
            before.mean_until_h
        }
    }
}

impl Empirical {
    /// F(t) less F at the point before.
    fn rise(&self, age_h: f64) -> f64 {
        let (before, next) = self.around(age_h);
        let width = next.age_h - before.age_h;
        if width > 0.0 {
            (next.lost - before.lost) * ((age_h - before.age_h) / width)
        } else {
            0.0
        }
    }
}

/// The laws of a table with columns `name`, `age_h` and `lost`; the rows of a law follow each other.
pub(super) fn read(source: &Arc<Source>, d: &mut Diagnostics) -> HashMap<String, Empirical> {
    let table = Table::read(source, &["name", "age_h", "lost"], &[], d);
    let mut counted: HashMap<&str, Vec<(f64, f64)>> = HashMap::new();
    for row in table.iter().flat_map(Table::rows) {
        let cells = (row.text("name", d), row.number("age_h", 0.0.., d));
        let ((Some(name), Some(age_h)), Some(lost)) = (cells, row.number("lost", 0.0..=1.0, d))
        else {
            continue;
        };
        let points = counted.entry(name).or_default();
        let last = points.last().copied().unwrap_or((0.0, 0.0));
        if age_h <= last.0 {
            let title = format!("`age_h` of `{name}` does not rise");
            let label = format!("expected above {}", last.0);
            d.error_at(source, row.span("age_h"), title, label);
        } else if lost < last.1 {
            let title = format!("`lost` of `{name}` falls");
            let label = format!("expected at least {}", last.1);
            d.error_at(source, row.span("lost"), title, label);
        } else {
            points.push((age_h, lost));
        }
    }
    let laws = counted
        .into_iter()
        .filter_map(|(name, points)| Some((name.to_owned(), Empirical::new(&points)?)));
    laws.collect()
}

#[cfg(test)]
mod tests {
    use super::super::Lifetime;
    use super::*;

    #[test]
    fn the_curve_is_linear_between_its_points_and_level_behind() {
        let law = Empirical::new(&[(1.0, 0.4), (2.0, 0.4), (4.0, 0.5)]).expect("it is legal");
        for (age, lost, mean) in [
            (0.0, 0.0, 0.0),
            (0.5, 0.2, 0.45),
            (1.5, 0.4, 1.1),
            (3.0, 0.45, 1.975),
            (4.0, 0.5, 2.5),
            (6.0, 0.5, 3.5),
        ] {
            assert!((law.cdf(age) - lost).abs() < 1e-12, "{age}");
            assert!((law.mean_until(age) - mean).abs() < 1e-12, "{age}");
        }
        assert!((law.inverse_cdf(0.3) - 0.75).abs() < 1e-12);
        assert!((law.inverse_cdf(0.45) - 3.0).abs() < 1e-12);
        assert_eq!(law.inverse_cdf(0.51), f64::INFINITY);
        assert_eq!(law.cdf(f64::MAX), 0.5);
        let capped = Lifetime::new(law, Some(24.0));
        assert_eq!(capped.quantile(0.51), 24.0);
        assert!((capped.lost_until(24.0) - 12.5).abs() < 1e-12);
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        for points in [
            &[][..],
            &[(0.0, 0.1)],
            &[(1.0, 0.2), (1.0, 0.3)],
            &[(1.0, 0.2), (2.0, 0.1)],
            &[(1.0, 1.2)],
            &[(f64::NAN, 0.2)],
        ] {
            assert_eq!(Empirical::new(points), None);
        }
    }
}

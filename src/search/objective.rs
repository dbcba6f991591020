//! What a choice is judged by: time, cost or the knee between them, within limits.

use serde::{Deserialize, Serialize};

pub use crate::testbed::Point;

/// What to look for.
///
/// ```
/// use scavsim::Objective;
///
/// assert_eq!(Objective::Knee.name(), "knee");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The shortest time.
    Time,
    /// The lowest cost.
    Cost,
    /// The knee of the Pareto front of time and cost.
    Knee,
}

impl Objective {
    /// Name in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Time => "time",
            Objective::Cost => "cost",
            Objective::Knee => "knee",
        }
    }
}

/// What no choice may exceed.
///
/// ```
/// use scavsim::{Axis, Space, Task};
///
/// let space = Space::new(vec![Axis::numeric("workers", "workers")], [[2.0], [4.0]])?;
/// let mut task = Task::new("mine", &space);
/// assert_eq!(task.limits.max_time_s, None);
/// task.limits.max_time_s = Some(3600.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Longest time in seconds.
    pub max_time_s: Option<f64>,
    /// Highest cost in USD.
    pub max_cost_usd: Option<f64>,
}

impl Limits {
    /// Whether `point` keeps to them.
    pub fn allow(&self, point: &Point) -> bool {
        self.max_time_s.is_none_or(|max| point.time_s <= max)
            && self.max_cost_usd.is_none_or(|max| point.cost_usd <= max)
    }
}

/// The index of the best of `points` within `limits`; unknown points are `None`. Ties go to the
/// faster, then the cheaper, then the first. `scratch` is overwritten.
pub fn choose(
    objective: Objective,
    limits: &Limits,
    points: &[Option<Point>],
    scratch: &mut Vec<(usize, Point)>,
) -> Option<usize> {
    scratch.clear();
    scratch.extend(
        points
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.filter(|p| limits.allow(p)).map(|p| (i, p))),
    );
    let by_time = |a: &(usize, Point), b: &(usize, Point)| {
        a.1.time_s
            .total_cmp(&b.1.time_s)
            .then(a.1.cost_usd.total_cmp(&b.1.cost_usd))
    };
    match objective {
        Objective::Time => scratch.iter().min_by(|a, b| by_time(a, b)).map(|c| c.0),
        Objective::Cost => scratch
            .iter()
            .min_by(|a, b| {
                a.1.cost_usd
                    .total_cmp(&b.1.cost_usd)
                    .then(a.1.time_s.total_cmp(&b.1.time_s))
            })
            .map(|c| c.0),
        Objective::Knee => {
            scratch.sort_by(by_time);
            knee_of_sorted(scratch)
        }
    }
}

/// The knee after Kneedle (Satopää et al. 2011): the Pareto front normalised to the unit square;
/// the point farthest below the line between its ends, that is with the largest 1 − x − y.
fn knee_of_sorted(points: &mut Vec<(usize, Point)>) -> Option<usize> {
    let mut cheapest = f64::INFINITY;
    points.retain(|(_, p)| {
        let better = p.cost_usd < cheapest;
        cheapest = cheapest.min(p.cost_usd);
        better
    });
    let (first, last) = (points.first()?.1, points.last()?.1);
    let (width, height) = (last.time_s - first.time_s, first.cost_usd - last.cost_usd);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let depth = |p: &Point| {
        1.0 - share(p.time_s - first.time_s, width) - share(p.cost_usd - last.cost_usd, height)
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (index, point) in points.iter() {
        // Rounding must not let an end of the front win over the other.
        if depth(point) > best.1 + 1e-12 {
            best = (*index, depth(point));
        }
    }
    Some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(time_s: f64, cost_usd: f64) -> Option<Point> {
        Some(Point { time_s, cost_usd })
    }

    fn pick(objective: Objective, limits: Limits, points: &[Option<Point>]) -> Option<usize> {
        choose(objective, &limits, points, &mut Vec::new())
    }

    #[test]
    fn each_objective_picks_its_own() {
        let points = [
            point(1.0, 9.0),
            point(2.0, 3.0),
            None,
            point(9.0, 1.0),
            point(9.5, 8.0),
        ];
        let none = Limits::default();
        assert_eq!(pick(Objective::Time, none, &points), Some(0));
        assert_eq!(pick(Objective::Cost, none, &points), Some(3));
        assert_eq!(pick(Objective::Knee, none, &points), Some(1));
    }

    #[test]
    fn limits_exclude_and_may_leave_nothing() {
        let points = [point(1.0, 9.0), point(2.0, 3.0), point(9.0, 1.0)];
        let limits = Limits {
            max_time_s: Some(5.0),
            max_cost_usd: None,
        };
        assert_eq!(pick(Objective::Cost, limits, &points), Some(1));
        let strict = Limits {
            max_time_s: Some(0.5),
            max_cost_usd: None,
        };
        assert_eq!(pick(Objective::Time, strict, &points), None);
    }

    #[test]
    fn without_a_bend_the_knee_is_the_faster_end() {
        assert_eq!(
            pick(
                Objective::Knee,
                Limits::default(),
                &[point(2.0, 1.0), point(1.0, 2.0)]
            ),
            Some(1)
        );
        assert_eq!(
            pick(Objective::Knee, Limits::default(), &[point(2.0, 2.0)]),
            Some(0)
        );
    }

    proptest! {
        /// The knee lies on the Pareto front and does not move with the units of either axis.
        #[test]
        fn the_knee_is_pareto_optimal_and_free_of_units(
            raw in prop::collection::vec((1.0f64..100.0, 1.0f64..100.0), 1..20), scale in 0.5f64..50.0,
        ) {
            let points: Vec<_> = raw.iter().map(|&(t, c)| point(t, c)).collect();
            let scaled: Vec<_> = raw.iter().map(|&(t, c)| point(t * scale, c)).collect();
            let knee = pick(Objective::Knee, Limits::default(), &points).expect("not empty");
            let (t, c) = raw[knee];
            prop_assert!(!raw.iter().any(|&(u, d)| u < t && d < c));
            let again = pick(Objective::Knee, Limits::default(), &scaled).expect("not empty");
            prop_assert_eq!(knee, again);
        }
    }
}

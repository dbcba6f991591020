//! What a choice is judged by: time, cost or the knee between them, within limits.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub use crate::testbed::Point;

/// What to look for.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Objective;
///
/// assert_eq!(Objective::Knee.name(), "knee");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(description = "What to look for.")]
pub enum Objective {
    /// The shortest time.
    Time,
    /// The lowest cost.
    Cost,
    /// The knee of the Pareto front of time and cost.
    Knee,
}

scavsim_base::named!(Objective: Time = "time", Cost = "cost", Knee = "knee");

/// What no choice may exceed.
///
/// ```
/// # use scavsim_search::face as scavsim;
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
    /// Share of runs that may be beyond a limit; `None` where limits are on what is expected.
    pub max_miss: Option<f64>,
}

/// How far beyond its mean a run may come that misses no limit: the quantile at 1 − `max_miss` over the mean; else 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Margins<'a> {
    pub time: &'a [f64],
    /// In cost under one policy; empty for those that depend on no prices.
    pub cost: &'a [f64],
}

impl Margins<'_> {
    /// What limits are asked about, of a configuration whose mean is `point`.
    pub fn beyond(&self, configuration: usize, point: &Point) -> Point {
        let of = |margins: &[f64]| margins.get(configuration).copied().unwrap_or(1.0);
        Point {
            time_s: point.time_s * of(self.time),
            cost_usd: point.cost_usd * of(self.cost),
        }
    }
}

impl Limits {
    /// Whether there is one.
    pub fn are_any(&self) -> bool {
        self.max_time_s.is_some() || self.max_cost_usd.is_some()
    }

    /// How far `point` is beyond a limit, over that limit; of two, the further. Not above 0 within both.
    pub fn excess(&self, point: &Point) -> f64 {
        let over = |value: f64, most: Option<f64>| {
            most.map_or(f64::NEG_INFINITY, |most| value / most - 1.0)
        };
        over(point.time_s, self.max_time_s).max(over(point.cost_usd, self.max_cost_usd))
    }

    /// Whether `point` keeps to them.
    pub fn allow(&self, point: &Point) -> bool {
        self.max_time_s.is_none_or(|max| point.time_s <= max)
            && self.max_cost_usd.is_none_or(|max| point.cost_usd <= max)
    }
}

/// The best of `points` that are allowed (unknown ones are `None`). Ties go to the faster, then the cheaper, then the first.
pub fn choose(
    objective: Objective,
    is_allowed: impl Fn(usize, &Point) -> bool,
    points: &[Option<Point>],
    scratch: &mut Vec<(usize, Point)>,
) -> Option<usize> {
    best_two(objective, is_allowed, points, scratch)[0]
}

/// The best of the `points` that are allowed, and what would be best without it; for the knee, on the front.
pub fn best_two(
    objective: Objective,
    is_allowed: impl Fn(usize, &Point) -> bool,
    points: &[Option<Point>],
    scratch: &mut Vec<(usize, Point)>,
) -> [Option<usize>; 2] {
    scratch.clear();
    scratch.extend(
        points
            .iter()
            .enumerate()
            .filter_map(|(i, p)| p.filter(|p| is_allowed(i, p)).map(|p| (i, p))),
    );
    match objective {
        Objective::Time => least_two(scratch, by_time),
        Objective::Cost => least_two(scratch, by_cost),
        Objective::Knee => knee(scratch).map_or([None; 2], |(two, _)| two),
    }
}

/// The indices of the least and of the one after it; of equals the first comes first.
fn least_two(
    points: &[(usize, Point)],
    order: impl Fn(&(usize, Point), &(usize, Point)) -> Ordering,
) -> [Option<usize>; 2] {
    let mut two: [Option<&(usize, Point)>; 2] = [None; 2];
    let is_less = |a, b: Option<&_>| b.is_none_or(|b| order(a, b) == Ordering::Less);
    for point in points {
        if is_less(point, two[0]) {
            two = [Some(point), two[0]];
        } else if is_less(point, two[1]) {
            two[1] = Some(point);
        }
    }
    two.map(|point| point.map(|(index, _)| *index))
}

/// The ideal point of time and cost, the least of both among all that is allowed, and how far from it the knee is:
/// √((t/t* − 1)² + (c/c* − 1)²), after the compromise of Yu and Zeleny (1973). The knee is the point that is closest.
///
/// Kneedle (Satopää et al. 2011) measures by the ends of the front instead, the longest time and the highest cost on it: those
/// move with the noise of two configurations that nobody would take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParetoFront {
    least_time_s: f64,
    least_usd: f64,
    closest: f64,
}

/// Distances that differ by less are the same: rounding must not let an end of the front win over the other.
const SAME_DISTANCE: f64 = 1e-12;

impl ParetoFront {
    /// The front of all points that are allowed; `None` where there are none. `scratch` is overwritten.
    pub fn from_points(
        is_allowed: impl Fn(usize, &Point) -> bool,
        points: &[Point],
        scratch: &mut Vec<(usize, Point)>,
    ) -> Option<ParetoFront> {
        scratch.clear();
        scratch.extend((points.iter().copied().enumerate()).filter(|(i, p)| is_allowed(*i, p)));
        knee(scratch).map(|(_, front)| front)
    }

    /// How far a point is from the ideal one, in shares of the ideal one; infinite where it takes or costs something and the
    /// ideal nothing.
    pub fn distance(&self, point: &Point) -> f64 {
        let beyond = |value: f64, least: f64| {
            if value == least {
                0.0
            } else {
                value / least - 1.0
            }
        };
        let time = beyond(point.time_s, self.least_time_s);
        libm::hypot(time, beyond(point.cost_usd, self.least_usd))
    }

    /// 1 for the knee, and less by how much farther from the ideal a point is; `None` where that is infinite.
    pub fn knee_depth(&self, point: &Point) -> Option<f64> {
        let depth = 1.0 - (self.distance(point) - self.closest);
        Some(depth).filter(|depth| depth.is_finite())
    }
}

fn by_time(a: &(usize, Point), b: &(usize, Point)) -> Ordering {
    a.1.time_s
        .total_cmp(&b.1.time_s)
        .then(a.1.cost_usd.total_cmp(&b.1.cost_usd))
}

fn by_cost(a: &(usize, Point), b: &(usize, Point)) -> Ordering {
    a.1.cost_usd
        .total_cmp(&b.1.cost_usd)
        .then(a.1.time_s.total_cmp(&b.1.time_s))
}

/// The knee of points and the closest beside it, and their front, which is left of them.
fn knee(points: &mut Vec<(usize, Point)>) -> Option<([Option<usize>; 2], ParetoFront)> {
    // What is slower than the cheapest is not on the front, and need not be sorted.
    let least = points.iter().min_by(|a, b| by_cost(a, b))?.1.time_s;
    points.retain(|(_, p)| p.time_s.total_cmp(&least).is_le());
    points.sort_by(by_time);
    let mut cheapest = f64::INFINITY;
    points.retain(|(_, p)| {
        let better = p.cost_usd < cheapest;
        cheapest = cheapest.min(p.cost_usd);
        better
    });
    let mut front = ParetoFront {
        least_time_s: points.first()?.1.time_s,
        least_usd: points.last()?.1.cost_usd,
        closest: f64::INFINITY,
    };
    let mut two = [None; 2];
    let mut second = f64::INFINITY;
    for (index, point) in points.iter() {
        let distance = front.distance(point);
        if two[0].is_none() || distance < front.closest - SAME_DISTANCE {
            (two, second) = ([Some(*index), two[0]], front.closest);
            front.closest = distance;
        } else if two[1].is_none() || distance < second - SAME_DISTANCE {
            (two[1], second) = (Some(*index), distance);
        }
    }
    Some((two, front))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(time_s: f64, cost_usd: f64) -> Option<Point> {
        Some(Point { time_s, cost_usd })
    }

    fn pick(objective: Objective, limits: Limits, points: &[Option<Point>]) -> Option<usize> {
        choose(objective, |_, p| limits.allow(p), points, &mut Vec::new())
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
            ..Limits::default()
        };
        assert_eq!(pick(Objective::Cost, limits, &points), Some(1));
        let strict = Limits {
            max_time_s: Some(0.5),
            ..Limits::default()
        };
        assert_eq!(pick(Objective::Time, strict, &points), None);
    }

    #[test]
    fn second_comes_what_is_best_without_the_first() {
        let points = [
            point(4.0, 1.0),
            point(1.0, 9.0),
            None,
            point(1.0, 9.0),
            point(2.0, 3.0),
            point(3.0, 2.0),
        ];
        let two = |objective| best_two(objective, |_, _| true, &points, &mut Vec::new());
        assert_eq!(two(Objective::Time), [Some(1), Some(3)]);
        assert_eq!(two(Objective::Cost), [Some(0), Some(5)]);
        assert_eq!(two(Objective::Knee), [Some(4), Some(5)]);
        let one = [None, point(1.0, 1.0)];
        for objective in [Objective::Time, Objective::Cost, Objective::Knee] {
            let two = best_two(objective, |_, _| true, &one, &mut Vec::new());
            assert_eq!(two, [Some(1), None]);
        }
    }

    #[test]
    fn a_point_is_less_deep_by_how_much_farther_it_is_from_the_ideal() {
        let all = |points: &[(f64, f64)]| -> Vec<Point> {
            let point = |&(time_s, cost_usd): &(f64, f64)| Point { time_s, cost_usd };
            points.iter().map(point).collect()
        };
        let of = |points: &[(f64, f64)], limits: &Limits| {
            let points = all(points);
            let front = ParetoFront::from_points(|_, p| limits.allow(p), &points, &mut Vec::new());
            let front = front.expect("not empty");
            let depth = |point| {
                front
                    .knee_depth(point)
                    .map(|depth| (depth * 1e9).round() / 1e9)
            };
            points.iter().map(depth).collect::<Vec<_>>()
        };
        // The ideal is (2, 10): 1, 0.5, √0.17 and 2 away from it, and √2 off the front.
        let bent = [
            (2.0, 20.0),
            (2.6, 14.0),
            (2.8, 11.0),
            (6.0, 10.0),
            (4.0, 20.0),
        ];
        let closest = libm::hypot(0.4, 0.1);
        let expected = [
            1.0,
            libm::hypot(0.3, 0.4),
            closest,
            2.0,
            libm::hypot(1.0, 1.0),
        ]
        .map(|far| Some(((1.0 - far + closest) * 1e9).round() / 1e9));
        assert_eq!(of(&bent, &Limits::default()), expected);
        // Slower and cheaper ends that nobody would take leave the depths of the others as they are.
        let longer = [&bent[..], &[(60.0, 10.0)]].concat();
        assert_eq!(of(&longer, &Limits::default())[..5], expected);
        // What a limit forbids is no part of the front: here the ideal is (2, 14).
        let limits = Limits {
            max_time_s: Some(2.7),
            ..Limits::default()
        };
        assert_eq!(of(&bent, &limits)[1], Some(1.0));
        // More than nothing is infinitely more.
        let free = of(&[(1.0, 0.0), (1.0, 3.0)], &Limits::default());
        assert_eq!(free, [Some(1.0), None]);
    }

    /// The front of ResNet18 in four sizes of cluster, with 3 % of noise on each: the knee is where it was in 93 %; by the depth below
    /// the line between the ends of the front it would be in 81 %.
    #[test]
    fn the_knee_of_a_noisy_front_is_where_it_was() {
        let front = [(4.25, 11.39), (4.61, 9.89), (5.92, 9.52), (8.68, 9.31)];
        let mut stream = scavsim_base::rng::Stream::seeded(1);
        let mut right = 0;
        for _ in 0..1000 {
            let mut noisy = |value: f64| value * (1.0 + 0.03 * stream.normal());
            let points: Vec<Option<Point>> = (front.iter())
                .map(|&(time_s, cost_usd)| {
                    let step = noisy(1.0);
                    point(time_s * step, cost_usd * step)
                })
                .collect();
            let at = pick(Objective::Knee, Limits::default(), &points);
            right += u32::from(at == Some(1));
        }
        assert!(right >= 900, "{right}");
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

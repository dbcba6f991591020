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

/// A Pareto front of time and cost by its ends, and how far its knee lies below the line between them, after Kneedle
/// (Satopää et al. 2011): normalised to the unit square, the point with the largest 1 − x − y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParetoFront {
    fastest: Point,
    cheapest: Point,
    deepest: f64,
}

/// Depths that differ by less are the same: rounding must not let an end of the front win over the other.
const SAME_DEPTH: f64 = 1e-12;

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

    /// Depth of a point: 0 at both ends, below 0 beyond the line between them. A front of one point has no scale of its own:
    /// there it is 1 less what the point takes and costs more, relative to that one.
    fn depth(&self, point: &Point) -> f64 {
        let share = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
        let (first, last) = (&self.fastest, &self.cheapest);
        let scale = if first == last {
            *first
        } else {
            Point {
                time_s: last.time_s - first.time_s,
                cost_usd: first.cost_usd - last.cost_usd,
            }
        };
        1.0 - share(point.time_s - first.time_s, scale.time_s)
            - share(point.cost_usd - last.cost_usd, scale.cost_usd)
    }

    /// Depth of a point over that of the knee. Of a front without a bend 1 for its points, nothing for others; nothing for what
    /// costs something where the only point of the front costs nothing.
    pub fn depth_over_knee(&self, point: &Point) -> Option<f64> {
        let depth = self.depth(point);
        if self.deepest > SAME_DEPTH {
            Some(depth / self.deepest).filter(|depth| depth.is_finite())
        } else {
            ((depth - self.deepest).abs() <= SAME_DEPTH).then_some(1.0)
        }
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

/// The knee of points and the deepest beside it, and their front, which is left of them.
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
        fastest: points.first()?.1,
        cheapest: points.last()?.1,
        deepest: f64::NEG_INFINITY,
    };
    let mut two = [None; 2];
    let mut second = f64::NEG_INFINITY;
    for (index, point) in points.iter() {
        let depth = front.depth(point);
        if depth > front.deepest + SAME_DEPTH {
            (two, second) = ([Some(*index), two[0]], front.deepest);
            front.deepest = depth;
        } else if depth > second + SAME_DEPTH {
            (two[1], second) = (Some(*index), depth);
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
    fn a_point_has_its_share_of_the_depth_of_the_knee() {
        let all = |points: &[(f64, f64)]| -> Vec<Point> {
            let point = |&(time_s, cost_usd): &(f64, f64)| Point { time_s, cost_usd };
            points.iter().map(point).collect()
        };
        let of = |points: &[(f64, f64)], limits: &Limits| {
            let points = all(points);
            let front = ParetoFront::from_points(|_, p| limits.allow(p), &points, &mut Vec::new());
            let front = front.expect("not empty");
            let depth = |point| front.depth_over_knee(point);
            points.iter().map(depth).collect::<Vec<_>>()
        };
        // Depths 0, 0.6, 0.3 and 0 in the unit square, and −0.5 outside it.
        let bent = [(0.0, 1.0), (0.2, 0.2), (0.6, 0.1), (1.0, 0.0), (1.0, 0.5)];
        let scaled = bent.map(|(t, c)| (3.0 + 7.0 * t, 40.0 + 2.0 * c));
        let shares = of(&scaled, &Limits::default());
        for (share, expected) in shares.iter().zip([0.0, 1.0, 0.5, 0.0, -0.5 / 0.6]) {
            let share = share.expect("there is a bend");
            assert!((share - expected).abs() < 1e-9, "{share} {expected}");
        }
        let straight = of(&[(1.0, 2.0), (2.0, 1.0), (2.0, 2.0)], &Limits::default());
        assert_eq!(straight, [Some(1.0), Some(1.0), None]);
        // What a limit forbids is no part of the front.
        let limits = Limits {
            max_time_s: Some(4.5),
            ..Limits::default()
        };
        assert_eq!(of(&scaled, &limits)[..3], [Some(1.0), Some(1.0), None]);
    }

    /// One that is beaten in both is no knee, however short the front: here +61 % in both, +10 and +121 %, and +1 % in one.
    #[test]
    fn where_one_beats_all_others_only_its_twins_have_the_depth_of_the_knee() {
        let (time_s, cost_usd) = (4.0, 2.0);
        let best = Point { time_s, cost_usd };
        let worse = |by: f64, dearer: f64| Point {
            time_s: time_s * (1.0 + by),
            cost_usd: cost_usd * (1.0 + dearer),
        };
        let points = [
            best,
            worse(0.61, 0.61),
            worse(0.1, 1.21),
            worse(0.0, 0.01),
            best,
        ];
        let front =
            ParetoFront::from_points(|_, _| true, &points, &mut Vec::new()).expect("not empty");
        let depths = points.map(|point| front.depth_over_knee(&point).expect("a depth"));
        for (depth, expected) in depths.into_iter().zip([1.0, -0.22, -0.31, 0.99, 1.0]) {
            assert!((depth - expected).abs() < 1e-9, "{depth} {expected}");
        }
        // More than nothing is no share of it.
        let free = [(1.0, 0.0), (1.0, 3.0)].map(|(time_s, cost_usd)| Point { time_s, cost_usd });
        let front =
            ParetoFront::from_points(|_, _| true, &free, &mut Vec::new()).expect("not empty");
        let depths = free.map(|point| front.depth_over_knee(&point));
        assert_eq!(depths, [Some(1.0), None]);
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

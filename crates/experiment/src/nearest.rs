//! Explains an empty choice: the configuration closest to the limits and how far it exceeds them.

use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::space::Space;
use scavsim_search::search::objective::Margins;
use scavsim_search::search::{Limits, Point};
use scavsim_sim::training::progress::hours_text;

pub(super) const NO_CHOICE: &str = "no configuration keeps within the limits";

const NOT_REACHED: &str = "no configuration reaches the target";

/// The sentence, for expected `points` and their `margins` where a share of runs may miss; `needs_s` is the mean time where
/// losses leave no time to train.
pub(super) fn sentence(
    space: &Space,
    limits: &Limits,
    points: &[Point],
    margins: Margins<'_>,
    needs_s: impl Fn(usize) -> Option<f64>,
) -> String {
    // How many times a limit the worse of time and cost is.
    let excess = |point: &Point| {
        let over = |value: f64, limit: Option<f64>| limit.map_or(0.0, |limit| value / limit);
        over(point.time_s, limits.max_time_s).max(over(point.cost_usd, limits.max_cost_usd))
    };
    let beyond = points
        .iter()
        .enumerate()
        .map(|(at, point)| (at, margins.beyond(at, point)));
    let finite = beyond.filter(|(_, point)| excess(point).is_finite());
    let nearest = finite.min_by(|a, b| excess(&a.1).total_cmp(&excess(&b.1)));
    let Some((at, point)) = nearest.filter(|_| limits.are_any()) else {
        let hopeless = (0..points.len()).filter_map(|at| Some((at, needs_s(at)?)));
        let why = hopeless
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(at, needs_s)| {
                let (name, hours) = (space.name(at), hours_text(needs_s / SECONDS_PER_HOUR));
                format!("; losses leave no time to train: {name} needs about {hours} in the mean")
            });
        let what = if limits.are_any() {
            format!("{NO_CHOICE}: none reaches the target")
        } else {
            NOT_REACHED.to_owned()
        };
        return what + &why.unwrap_or_default();
    };
    let time = limits.max_time_s.map(|most| (point.time_s, most));
    let time = time.filter(|(own, most)| own > most).map(|(own, most)| {
        format!(
            "takes {:.2} h against {} h",
            own / SECONDS_PER_HOUR,
            trimmed(most / SECONDS_PER_HOUR)
        )
    });
    let cost = limits.max_cost_usd.map(|most| (point.cost_usd, most));
    let cost = cost
        .filter(|(own, most)| own > most)
        .map(|(own, most)| format!("costs ${own:.2} against ${}", trimmed(most)));
    let both: Vec<String> = time.into_iter().chain(cost).collect();
    let how = match (both.is_empty(), limits.max_miss) {
        (true, _) => "misses them too often".to_owned(),
        (false, None) => both.join(" and "),
        // The margin is that of all but the share that may miss.
        (false, Some(miss)) => format!(
            "{} in {} % of its runs",
            both.join(" and "),
            trimmed(100.0 * (1.0 - miss))
        ),
    };
    format!("{NO_CHOICE}; the nearest, {}, {how}", space.name(at))
}

/// At most four decimals, without trailing zeros.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::space::Axis;

    #[test]
    fn the_nearest_is_the_one_whose_worse_figure_is_least_beyond() {
        let axes = vec![Axis::numeric("workers", "workers")];
        let space = Space::new(axes, [[2.0], [4.0], [8.0]]).expect("a space");
        let point = |hours: f64, cost_usd| Point {
            time_s: hours * SECONDS_PER_HOUR,
            cost_usd,
        };
        let points = [point(20.0, 1.0), point(10.7, 3.0), point(4.0, 90.0)];
        let limits = Limits {
            max_time_s: Some(5.0 * SECONDS_PER_HOUR),
            max_cost_usd: Some(2.0),
            max_miss: None,
        };
        assert_eq!(
            sentence(&space, &limits, &points, Margins::default(), |_| None),
            "no configuration keeps within the limits; the nearest, 4 workers, takes 10.70 h against 5 h and costs $3.00 \
             against $2"
        );
        let never = [point(f64::INFINITY, f64::INFINITY); 3];
        assert!(
            sentence(&space, &limits, &never, Margins::default(), |_| None)
                .ends_with("none reaches the target")
        );
        // Without limits none is spoken of, whatever there is to choose from.
        let none = Limits::default();
        for points in [points, never] {
            assert_eq!(
                sentence(&space, &none, &points, Margins::default(), |_| None),
                "no configuration reaches the target"
            );
        }
        let needs = |at: usize| (at > 0).then_some(3.4e3 * SECONDS_PER_HOUR * at as f64);
        assert_eq!(
            sentence(&space, &none, &never, Margins::default(), needs),
            "no configuration reaches the target; losses leave no time to train: 4 workers needs about 3,400 h in the mean"
        );
    }
}

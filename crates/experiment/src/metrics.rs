//! Figures that a summary averages, and shares that it tells.

use std::sync::LazyLock;

use super::columns::Role;
use super::record::{COLUMNS, Column};

/// All averaged figures in the order of a summary: columns in their order, some declared to stand before another.
pub static METRICS: LazyLock<Vec<&'static Column>> = LazyLock::new(|| {
    let mut metrics: Vec<&'static Column> = Vec::new();
    for column in COLUMNS {
        let place = match column.role {
            Role::Mean => Some(metrics.len()),
            Role::MeanBefore(other) => {
                let before = metrics.iter().position(|m| m.name == other);
                before.or(Some(metrics.len()))
            }
            Role::None | Role::Key | Role::Share => None,
        };
        if let Some(place) = place {
            metrics.insert(place, column);
        }
    }
    metrics
});

/// All columns of which a summary tells the share of ones.
pub static SHARES: LazyLock<Vec<&'static Column>> = LazyLock::new(|| {
    let share = |column: &&Column| column.role == Role::Share;
    COLUMNS.iter().filter(share).collect()
});

pub(super) static PLACES_OF_SHARES: LazyLock<Vec<usize>> = LazyLock::new(|| places(&SHARES));

fn places(columns: &[&Column]) -> Vec<usize> {
    let place = |column: &&Column| COLUMNS.iter().position(|own| own.name == column.name);
    columns.iter().filter_map(place).collect()
}

/// The [`METRICS`] that a summary keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptMetrics {
    means: Vec<usize>,
    pub(super) columns: Vec<usize>,
    /// Places among the means of those that have a median.
    pub(super) medians: Vec<usize>,
}

static ALL: LazyLock<KeptMetrics> = LazyLock::new(|| KeptMetrics::from_filters(|_| true, |_| true));

impl KeptMetrics {
    pub fn all() -> &'static KeptMetrics {
        &ALL
    }

    /// Keeps these means and medians, and what intervals need.
    pub fn only(means: &[&str], medians: &[&str]) -> KeptMetrics {
        KeptMetrics::from_filters(
            |name| means.contains(&name) || medians.contains(&name) || ORACLE.contains(&name),
            |name| medians.contains(&name),
        )
    }

    fn from_filters(
        has_mean: impl Fn(&str) -> bool,
        has_median: impl Fn(&str) -> bool,
    ) -> KeptMetrics {
        let means = (0..METRICS.len()).filter(|at| has_mean(METRICS[*at].name));
        let means: Vec<usize> = means.collect();
        let columns: Vec<&Column> = means.iter().map(|at| METRICS[*at]).collect();
        let medians = (0..means.len()).filter(|at| has_median(columns[*at].name));
        KeptMetrics {
            columns: places(&columns),
            medians: medians.collect(),
            means,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.means.len()
    }

    pub(super) fn mean(&self, metric: usize) -> Option<usize> {
        self.means.binary_search(&metric).ok()
    }

    pub(super) fn median(&self, metric: usize) -> Option<usize> {
        let mean = self.mean(metric)?;
        self.medians.binary_search(&mean).ok()
    }
}

/// What the oracle takes; intervals of ratios to it reach as far as further choices may move them.
pub(super) const ORACLE: [&str; 2] = ["oracle_time_h", "oracle_cost_usd"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Kind;

    #[test]
    fn every_figure_that_is_averaged_is_averaged_once_and_where_it_is_declared_to_be() {
        let place = |name: &str| METRICS.iter().position(|metric| metric.name == name);
        let mut averaged = 0;
        for column in COLUMNS {
            match column.role {
                Role::None | Role::Key | Role::Share => continue,
                Role::Mean => {}
                Role::MeanBefore(other) => {
                    assert!(place(other).is_some(), "{}", column.name);
                    assert!(place(column.name) < place(other), "{}", column.name);
                }
            }
            assert_eq!(column.kind, Kind::Figure, "{}", column.name);
            averaged += 1;
        }
        assert_eq!(METRICS.len(), averaged);
        let plain = |column: &&&Column| column.role == Role::Mean;
        let columns: Vec<&Column> = COLUMNS.iter().collect();
        let declared = columns.iter().filter(plain).map(|column| column.name);
        let seen = METRICS.iter().filter(plain).map(|column| column.name);
        assert!(seen.eq(declared));
    }

    #[test]
    fn what_is_kept_is_found_and_nothing_else() {
        let place = |name: &str| METRICS.iter().position(|metric| metric.name == name);
        let of = |name: &str| place(name).expect("a metric");
        let kept = KeptMetrics::only(&["regret_time"], &["overhead_net_time"]);
        let names: Vec<&str> = (kept.columns.iter()).map(|at| COLUMNS[*at].name).collect();
        for name in ["regret_time", "overhead_net_time", "oracle_cost_usd"] {
            let at = kept.mean(of(name)).expect("kept");
            assert_eq!(names[at], name);
        }
        assert_eq!((kept.len(), kept.medians.len()), (4, 1));
        assert_eq!(kept.median(of("overhead_net_time")), Some(0));
        assert_eq!(kept.median(of("regret_time")), None);
        assert_eq!(kept.mean(of("cost_usd")), None);
        let all = KeptMetrics::all();
        assert_eq!(
            (all.len(), all.medians.len()),
            (METRICS.len(), METRICS.len())
        );
    }
}

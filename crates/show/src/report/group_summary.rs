//! The summary of a group of records, in the formats that all summaries share.

use serde_json::{Map, Value, json};

use scavsim_base::stats::Interval;
use scavsim_base::text::words::with_commas;
use scavsim_base::text::{Column, Tone};
use scavsim_experiment::GroupSummary;
use scavsim_experiment::interval_coverage::IntervalCoverage;
use scavsim_experiment::metrics::{METRICS, SHARES};

pub fn with_failed(name: &str, tallied: &GroupSummary) -> String {
    match tallied.failed {
        0 => name.to_owned(),
        failed => format!("{name} ({} failed)", with_commas(failed)),
    }
}

pub fn failed_tone(tallied: &GroupSummary) -> Tone {
    if tallied.failed > 0 {
        Tone::Failed
    } else {
        Tone::Plain
    }
}

/// The columns of `summary.csv` that all summaries have; the function returns the summary of a row.
pub struct Columns<R>(pub fn(&R) -> &GroupSummary);

impl<'r, R: 'r> Columns<R> {
    /// A figure of each row; empty if it does not exist.
    fn figure<T: ToString>(
        &self,
        head: String,
        figure: impl Fn(&GroupSummary) -> Option<T> + 'r,
    ) -> Column<'r, R> {
        let of = self.0;
        let text =
            move |row: &R| figure(of(row)).map_or(String::new(), |figure| figure.to_string());
        Column::number(head, text)
    }

    fn ends(
        &self,
        name: &str,
        interval: impl Fn(&GroupSummary) -> Option<Interval> + Copy + 'r,
    ) -> [Column<'r, R>; 2] {
        [
            self.figure(format!("{name}_low95"), move |tallied| {
                Some(interval(tallied)?.low)
            }),
            self.figure(format!("{name}_high95"), move |tallied| {
                Some(interval(tallied)?.high)
            }),
        ]
    }

    /// The number of records, under this head, and the number of failed ones.
    pub fn counts(&self, head: &str) -> [Column<'r, R>; 2] {
        [
            self.figure(head.to_owned(), |tallied| Some(tallied.cases)),
            self.figure("failed".to_owned(), |tallied| Some(tallied.failed)),
        ]
    }

    /// Shares, and the number of jobs after which the search breaks even, each with its interval.
    pub fn shares(&self) -> Vec<Column<'r, R>> {
        let mut columns = Vec::new();
        for (at, share) in SHARES.iter().enumerate() {
            let name = share.name;
            columns.push(self.figure(name.to_owned(), move |tallied| tallied.shares[at].share()));
            columns.extend(self.ends(name, move |tallied| tallied.share_intervals[at]));
        }
        columns.extend([
            self.figure("repaid".to_owned(), |tallied| Some(tallied.repaid?.ratio)),
            self.figure("repaid_low95".to_owned(), |tallied| tallied.repaid?.low),
            self.figure("repaid_high95".to_owned(), |tallied| tallied.repaid?.high),
        ]);
        columns
    }

    /// The mean of each metric with its interval and another statistic.
    pub fn metrics(&self, head: &str, last: fn(&R, usize) -> String) -> Vec<Column<'r, R>> {
        let of = self.0;
        let mut columns = Vec::new();
        for (at, metric) in METRICS.iter().enumerate() {
            let name = metric.name;
            columns.push(self.figure(format!("{name}_mean"), move |tallied| {
                Some(tallied.means[at]?.mean)
            }));
            columns.extend(self.ends(name, move |tallied| tallied.means[at]?.interval));
            let last = move |row: &R| {
                let is_there = of(row).means[at].is_some();
                if is_there {
                    last(row, at)
                } else {
                    String::new()
                }
            };
            columns.push(Column::number(format!("{name}_{head}"), last));
        }
        columns
    }

    /// Names of figures whose intervals hold in more than 95 % of series, and of those that hold in roughly 95 %, separated
    /// by `;`.
    pub fn coverage_columns(&self) -> [Column<'r, R>; 2] {
        [
            ("oftener95", IntervalCoverage::Oftener),
            ("roughly95", IntervalCoverage::Roughly),
        ]
        .map(|(head, wanted)| {
            self.figure(head.to_owned(), move |tallied| {
                Some(holding(tallied, wanted))
            })
        })
    }
}

/// The names of figures whose intervals have this coverage, separated by `;`.
fn holding(tallied: &GroupSummary, wanted: IntervalCoverage) -> String {
    let shares = (SHARES.iter().zip(&tallied.share_intervals)).zip(&tallied.share_holds);
    let shares =
        shares.map(|((column, interval), holds)| (column.name, interval.is_some(), *holds));
    let repaid = tallied.repaid.is_some_and(|repaid| repaid.low.is_some());
    let metrics = METRICS.iter().zip(&tallied.means);
    let metrics = metrics.filter_map(|(column, mean)| {
        let mean = mean.as_ref()?;
        Some((
            column.name,
            mean.interval.is_some_and(|i| i.high > i.low),
            mean.holds,
        ))
    });
    let all = shares
        .chain([("repaid", repaid, tallied.repaid_holds)])
        .chain(metrics);
    let named = all.filter(|(_, is_there, holds)| *is_there && *holds == wanted);
    named.map(|(name, ..)| name).collect::<Vec<_>>().join(";")
}

/// JSON for programs: `right`, `shares`, `repaid` and `metrics`, with `medians` if there are any.
pub fn json(tallied: &GroupSummary, medians: Option<&[Option<f64>]>) -> Map<String, Value> {
    let shares = tallied.shares.iter().zip(&tallied.share_intervals);
    let shares: Map<String, Value> = (SHARES.iter().zip(shares))
        .enumerate()
        .filter_map(|(at, (column, (share, interval)))| {
            let interval = interval.map(|i| [i.low, i.high]);
            let value = json!({
                "share": share.share()?,
                "interval95": interval,
                "holds": tallied.share_holds[at].name(),
                "count": share.count,
            });
            Some((column.name.to_owned(), value))
        })
        .collect();
    let metrics: Map<String, Value> = (METRICS.iter().zip(&tallied.means).enumerate())
        .filter_map(|(at, (metric, mean))| {
            let m = mean.as_ref()?;
            let mut value = json!({
                "mean": m.mean,
                "interval95": m.interval.map(|i| [i.low, i.high]),
                "holds": m.holds.name(),
                "skewness": m.skewness,
                "count": m.count,
            });
            if let Some(medians) = medians {
                value["median"] = json!(medians[at]);
            }
            Some((metric.name.to_owned(), value))
        })
        .collect();
    let repaid = tallied
        .repaid
        .map(|repaid| json!({ "jobs": repaid.ratio, "low95": repaid.low, "high95": repaid.high, "holds": tallied.repaid_holds.name() }));
    let mut map = Map::new();
    map.insert("failed".to_owned(), json!(tallied.failed));
    map.insert("right".to_owned(), json!(tallied.right()));
    map.insert("shares".to_owned(), json!(shares));
    map.insert("repaid".to_owned(), json!(repaid));
    map.insert("metrics".to_owned(), json!(metrics));
    map
}

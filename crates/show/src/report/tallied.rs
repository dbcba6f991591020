//! What a group of records comes to, in the forms that all summaries share.

use serde_json::{Map, Value, json};

use scavsim_lab::experiment::Tallied;
use scavsim_lab::experiment::holds::Holds;
use scavsim_lab::experiment::tally::{METRICS, SHARES};

/// Ends of an interval, in a header.
const ENDS: [&str; 2] = ["low95", "high95"];

/// The header of [`cells`].
pub fn header() -> Vec<String> {
    let shares = SHARES.iter().map(|column| column.name);
    let with_ends = |name: &'static str| {
        let ends = ENDS.map(|end| format!("{name}_{end}"));
        std::iter::once(name.to_owned()).chain(ends)
    };
    shares.chain(["repaid"]).flat_map(with_ends).collect()
}

/// Shares, and after how many jobs the search is repaid, each with its interval; empty where a figure does not exist.
pub fn cells(tallied: &Tallied) -> Vec<String> {
    let text = |figure: Option<f64>| figure.map_or(String::new(), |figure| figure.to_string());
    let mut cells = Vec::new();
    for (share, interval) in tallied.shares.iter().zip(&tallied.share_intervals) {
        let ends = [interval.map(|i| i.low), interval.map(|i| i.high)];
        cells.push(text(share.share()));
        cells.extend(ends.map(text));
    }
    let repaid = tallied.repaid;
    let parts = [
        repaid.map(|r| r.ratio),
        repaid.and_then(|r| r.low),
        repaid.and_then(|r| r.high),
    ];
    cells.extend(parts.map(text));
    cells
}

/// Header of figures whose intervals hold oftener than in 95 % of series, and of those that hold roughly so.
pub const HOLDS: [&str; 2] = ["oftener95", "roughly95"];

/// The names of these, apart from each other by `;`.
pub fn holds(tallied: &Tallied) -> [String; 2] {
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
    let all: Vec<(&str, bool, Holds)> = shares
        .chain([("repaid", repaid, tallied.repaid_holds)])
        .chain(metrics)
        .collect();
    [Holds::Oftener, Holds::Roughly].map(|wanted| {
        let named = all
            .iter()
            .filter(|(_, is_there, holds)| *is_there && *holds == wanted);
        named.map(|(name, ..)| *name).collect::<Vec<_>>().join(";")
    })
}

/// The header of a metric: its mean with the ends of its interval, and `last`.
pub fn metric_header(name: &str, last: &str) -> [String; 4] {
    ["mean", ENDS[0], ENDS[1], last].map(|part| format!("{name}_{part}"))
}

/// The cells of all metrics, each with the last that `last` gives for its place.
pub fn metric_cells(tallied: &Tallied, last: impl Fn(usize) -> String) -> Vec<String> {
    let mut cells = Vec::new();
    for (at, mean) in tallied.means.iter().enumerate() {
        cells.extend(match mean {
            None => Default::default(),
            Some(m) => {
                let end = |end: Option<f64>| end.map_or(String::new(), |end: f64| end.to_string());
                [
                    m.mean.to_string(),
                    end(m.interval.map(|i| i.low)),
                    end(m.interval.map(|i| i.high)),
                    last(at),
                ]
            }
        });
    }
    cells
}

/// For programs: `right`, `shares`, `repaid` and `metrics`, with `medians` where there are.
pub fn json(tallied: &Tallied, medians: Option<&[Option<f64>]>) -> Map<String, Value> {
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

//! `summary.csv`: one row per (workload, pricing, objective, strategy).

use std::io;

use super::tallied;
use scavsim_lab::experiment::tally::METRICS;
use scavsim_lab::experiment::{Chosen, Group};

/// The header.
pub fn header() -> Vec<String> {
    let owned = |name: &&str| (*name).to_owned();
    let first = [
        "workload",
        "pricing",
        "objective",
        "strategy",
        "setting",
        "replicas",
        "failed",
    ];
    let mut header: Vec<String> = first.iter().map(owned).collect();
    header.extend(tallied::header());
    let choices = [
        "choice_vm",
        "choice_workers",
        "choice_batch",
        "choice_other",
        "choice_share",
        "oracle_vm",
        "oracle_workers",
        "oracle_batch",
        "oracle_other",
    ];
    header.extend(choices.iter().map(owned));
    for metric in METRICS.iter() {
        header.extend(tallied::metric_header(metric.name, "median"));
    }
    header.extend(tallied::HOLDS.map(str::to_owned));
    header
}

/// The table as text. Per metric: mean, lower and upper end of the 95 % confidence interval of the
/// mean, median; empty where a figure does not exist.
///
/// # Errors
/// None in memory; the signature is that of the writer.
pub fn render(groups: &[Group]) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header())?;
    for group in groups {
        let mut row = vec![
            group.workload.clone(),
            group.pricing.clone(),
            group.objective.clone(),
            group.strategy.clone(),
            group.setting.clone(),
            group.tallied.cases.to_string(),
            group.tallied.failed.to_string(),
        ];
        row.extend(tallied::cells(&group.tallied));
        let place = |chosen: &Option<Chosen>| -> [String; 4] {
            let Some(chosen) = chosen else {
                return Default::default();
            };
            let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
            [
                chosen.vm.clone().unwrap_or_default(),
                number(chosen.workers),
                number(chosen.batch),
                chosen.other.clone().unwrap_or_default(),
            ]
        };
        row.extend(place(&group.choice));
        row.push(group.choice_share.to_string());
        row.extend(place(&group.oracle));
        row.extend(tallied::metric_cells(&group.tallied, |at| {
            group.medians[at].map_or(String::new(), |median| median.to_string())
        }));
        row.extend(tallied::holds(&group.tallied));
        writer.write_record(&row)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| io::Error::other(e.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

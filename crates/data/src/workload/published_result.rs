//! Times and costs as published, for validation only.

use std::sync::Arc;

use super::rows;
use crate::configuration::Configuration;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone)]
pub struct PublishedResult {
    pub configuration: Configuration,
    pub time_h: f64,
    pub cost_usd: f64,
}

pub(super) fn read(
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<PublishedResult>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let vm = row.text("vm", d);
        let (workers, batch) = (
            rows::read_count(row, "workers", d),
            rows::read_count(row, "batch", d),
        );
        let (time_h, cost_usd) = (
            rows::above_zero(row, "time_h", d),
            rows::above_zero(row, "cost_usd", d),
        );
        rows::origin(row, d)?;
        Some(PublishedResult {
            configuration: Configuration {
                vm: vm?.into(),
                workers: workers?,
                batch: batch?,
            },
            time_h: time_h?,
            cost_usd: cost_usd?,
        })
    };
    let required = [
        "vm", "workers", "batch", "time_h", "cost_usd", "origin", "source",
    ];
    let optional = ["full_search_predicted_cost_usd"];
    rows::read(source, &required, &optional, diagnostics, parse, |p| {
        p.configuration.clone()
    })
}

//! Times and costs as published, for validation only.

use std::sync::Arc;

use super::rows;
use crate::configuration::Configuration;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostics, Source};

/// One measured cell as its authors printed it.
#[derive(Debug, Clone)]
pub struct Published {
    pub configuration: Configuration,
    /// Hours to the target.
    pub time_h: f64,
    /// USD to the target.
    pub cost_usd: f64,
}

/// The rows of `published.csv`.
pub(super) fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<Published>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let vm = row.text("vm", d);
        let (workers, batch) = (rows::whole(row, "workers", d), rows::whole(row, "batch", d));
        let (time_h, cost_usd) = (
            rows::above_zero(row, "time_h", d),
            rows::above_zero(row, "cost_usd", d),
        );
        rows::origin(row, source, d)?;
        Some(Published {
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

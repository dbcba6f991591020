//! `scavsim list grids`.

use serde_json::json;

use super::Failure;
use super::listing::{List, sound};
use scavsim_read::input::Diagnostics;
use scavsim_search::grid::report::Counts;
use scavsim_search::grid::{Grid, library};

/// The embedded grids; counts are those of all jobs together.
pub(super) fn list() -> Result<List, Failure> {
    let mut diagnostics = Diagnostics::default();
    let all: Vec<Grid> = (library::names().into_iter())
        .filter_map(|name| library::load(name, &mut diagnostics))
        .collect();
    let rows = sound(all, diagnostics)?.into_iter().map(|grid| {
        let counts = Counts::of_all(&grid.jobs);
        let axes = grid
            .jobs
            .first()
            .map(|job| job.space.axes())
            .unwrap_or_default();
        let names: Vec<&str> = axes.iter().map(|axis| &*axis.name).collect();
        vec![
            json!(grid.name),
            json!(grid.jobs.len()),
            json!(counts.configurations),
            json!(counts.holes),
            json!(counts.failed),
            json!(counts.unreached),
            json!(names.join(", ")),
            json!(grid.about.source),
        ]
    });
    Ok(List {
        header: vec![
            "grid",
            "jobs",
            "configurations",
            "holes",
            "failed",
            "unreached",
            "axes",
            "source",
        ],
        text_columns: &[0, 6, 7],
        rows: rows.collect(),
        long: &[7],
        wrapped: Some(6),
        ..List::default()
    })
}

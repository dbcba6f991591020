//! `scavsim list grids`.

use serde_json::json;

use super::exit::Failure;
use super::listing::sound;
use scavsim_base::text::{Column, Sheet};
use scavsim_grids::report::Counts;
use scavsim_grids::{Grid, library};
use scavsim_read::input::Diagnostics;

/// The embedded grids; counts are those of all jobs together.
pub(super) fn list() -> Result<Sheet<'static, Grid>, Failure> {
    let mut diagnostics = Diagnostics::default();
    let all: Vec<Grid> = (library::names().into_iter())
        .filter_map(|name| library::load(name, &mut diagnostics))
        .collect();
    let count = |head, of: fn(Counts) -> u64| {
        Column::number(head, move |grid: &Grid| {
            json!(of(Counts::of_all(&grid.jobs)))
        })
    };
    let axes = |grid: &Grid| {
        let axes = grid.jobs.first().map(|job| job.space.axes());
        let names = axes.unwrap_or_default().iter().map(|axis| &*axis.name);
        names.collect::<Vec<&str>>().join(", ")
    };
    let columns = [
        Column::text("grid", |grid: &Grid| json!(grid.name)),
        Column::number("jobs", |grid: &Grid| json!(grid.jobs.len())),
        count("configurations", |counts| counts.configurations as u64),
        count("holes", |counts| counts.holes),
        count("failed", |counts| counts.failed as u64),
        count("unreached", |counts| counts.unreached as u64),
        Column::text("axes", axes).wrapped(),
        Column::text("source", |grid: &Grid| json!(grid.about.source)).long(),
    ];
    Ok(Sheet::new(sound((all, diagnostics))?, columns))
}

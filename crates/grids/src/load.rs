//! A specification and a table → a checked [`Grid`], or all that is wrong with them.

use std::ops::Range;
use std::sync::Arc;

use super::cheap;
use super::follows::Follows;
use super::jobs::Jobs;
use super::rows::Reader;
use super::scope::listed;
use super::spec::Spec;
use super::types;
use super::written_grid::{Text, WrittenGrid};
use super::{Grid, Job, ROWS, SPEC};
use scavsim_read::input::csv::Table;
use scavsim_read::input::{self, Diagnostic, Diagnostics, Folder, Source, did_you_mean};

/// Reads a folder with [`SPEC`] and [`ROWS`]; every mistake goes to `diagnostics`.
pub fn load(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<Grid> {
    let spec = folder.read(SPEC, diagnostics);
    let rows = folder.read(ROWS, diagnostics);
    read(&spec?, &rows?, diagnostics).map(|read| read.grid)
}

#[derive(Debug, Clone)]
pub struct LoadedGrid {
    pub grid: Grid,
    pub table: Table,
    /// Columns that the specification uses, in order, and whether their cells are measurements; of others, every character
    /// counts.
    pub used: Vec<(String, bool)>,
    pub warnings: Diagnostics,
}

fn late_prices(spec: &Spec, source: &Arc<Source>, follows: &Follows) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    let Some(cost) = &spec.cost else {
        return warnings;
    };
    let mut warn = |span: Range<usize>, title: String, label: &str, help: &str| {
        warnings.push(Diagnostic::at_span(source, span, title, label).with_help(help));
    };
    if !cost.is_timed() {
        let title = "what a run costs is known only after it: `cost_usd` has no time in it";
        let help = "strategies that choose by predicted costs have no figure; `time_s / 3600 * price` is known before a run";
        warn(
            cost.span.clone(),
            title.to_owned(),
            "the bill of a whole run",
            help,
        );
        return warnings;
    }
    for place in follows.unknown() {
        let (name, span) = &cost.bound.expression.names()[place];
        let title = format!("what a run costs is known only after it, by `{name}`");
        let label = "differs between rows that are alike on every axis by itself";
        let help = "strategies that choose by predicted costs have no figure; what is the same in all rows, or follows from one axis, is known before a run";
        warn(span.clone(), title, label, help);
    }
    warnings
}

fn place_of(
    jobs: &[Job],
    asked: &Text,
    spec: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    let names = || jobs.iter().map(|job| job.name.as_str());
    let place = names().position(|name| name == asked.get_ref());
    if place.is_none() {
        let label = did_you_mean(asked.get_ref(), names(), "not a job of this grid");
        let title = format!("unknown job `{}`", asked.get_ref());
        let told = Diagnostic::at_span(spec, asked.span(), title, label);
        diagnostics.push(told.with_help(format!("its jobs: {}", listed(names()))));
    }
    place
}

/// Tells jobs which program they are.
fn name_programs(
    checked: &Spec,
    spec: &Arc<Source>,
    jobs: &mut [Job],
    diagnostics: &mut Diagnostics,
) {
    for (program, names) in &checked.programs {
        for name in names {
            let Some(place) = place_of(jobs, name, spec, diagnostics) else {
                continue;
            };
            if let Some(other) = jobs[place].program.replace(program.clone()) {
                let title = format!("the job `{}` has two programs", name.get_ref());
                let label = format!("it is one of `{other}`, too");
                diagnostics.error_at(spec, name.span(), title, label);
            }
        }
    }
}

pub fn read(
    spec: &Arc<Source>,
    rows: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<LoadedGrid> {
    let before = diagnostics.len();
    let written: Option<WrittenGrid> = input::toml::read(spec, diagnostics);
    let table = Table::read_any(rows, diagnostics);
    let (written, table) = (written?, table?);
    let columns: Vec<String> = table.columns().map(str::to_owned).collect();
    let checked = Spec::new(&written, spec, &rows.name, &columns, diagnostics)?;
    let mut reader = Reader::new(&checked, rows);
    let mut jobs = Jobs::new(&checked, rows);
    for row in table.rows() {
        if let Some(read) = reader.read(&row, diagnostics) {
            jobs.add(read, diagnostics);
        }
    }
    let levels = std::mem::take(&mut reader.levels);
    let late = late_prices(&checked, spec, &jobs.follows);
    let mut stray = Vec::new();
    let mut jobs = jobs.done(&levels, &mut stray, diagnostics);
    if let (Some(fidelity), true) = (&checked.fidelity, diagnostics.len() == before) {
        cheap::of_jobs(fidelity, spec, &mut jobs, diagnostics);
    }
    let mut warnings = cheap::stray(rows, &stray);
    late.iter().for_each(|late| warnings.push(late.clone()));
    if diagnostics.len() > before || jobs.is_empty() {
        return None;
    }
    let mut default_jobs = Vec::new();
    for asked in &checked.default_jobs {
        default_jobs.extend(place_of(&jobs, asked, spec, diagnostics));
    }
    name_programs(&checked, spec, &mut jobs, diagnostics);
    let types = types::known(&checked.types, spec, &jobs, diagnostics);
    if checked.default_jobs.is_empty() {
        default_jobs = (0..jobs.len()).collect();
    }
    let is_used = |name: &String| checked.columns().any(|used| used == name);
    let is_exact = |name: &String| checked.exact_columns().any(|exact| exact == name);
    let used = (columns.into_iter().filter(is_used))
        .map(|name| {
            let is_measured = !is_exact(&name);
            (name, is_measured)
        })
        .collect();
    (diagnostics.len() == before).then_some(LoadedGrid {
        grid: Grid {
            name: checked.name,
            about: checked.about,
            probe: checked.probe,
            jobs,
            default_jobs,
            types,
        },
        table,
        used,
        warnings,
    })
}

//! Cheap versions of the runs of a job: on part of the data, or for part of its epochs. A column tells how much of the whole
//! a run had; rows with less are cheap versions of the run with the same values on all axes. Where that column tells jobs
//! apart, those with less are jobs of their own, too.

use std::ops::{Bound as End, Range};
use std::sync::Arc;

use super::Job;
use super::check::Check;
use super::meaning::{AxisSpec, FidelitySpec, From};
use super::written_grid::WrittenGrid;
use scavsim_read::input::csv::Row;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Runs with the same share of what whole runs have.
#[derive(Debug, Clone)]
pub struct CheapRuns {
    /// The share, above 0 and below 1.
    pub share: f64,
    pub job: Job,
    /// Configuration of `job` that stands for each of the whole job; `None` for those that had no such run.
    places: Vec<Option<usize>>,
}

impl CheapRuns {
    /// The runs among those of a job that has these configurations; `None` where none is.
    pub(super) fn among(share: f64, job: Job, whole: &Job) -> Option<CheapRuns> {
        let space = &whole.space;
        let places: Vec<Option<usize>> =
            (0..space.len()).map(|at| job.find(space.row(at))).collect();
        let kept: Vec<usize> = places.iter().copied().flatten().collect();
        let mut next = 0..;
        let places = places.iter().map(|place| place.and_then(|_| next.next()));
        let places = places.collect();
        (!kept.is_empty()).then(|| CheapRuns {
            share,
            job: job.only(&kept),
            places,
        })
    }

    /// The row of a point that comes later than the end of the whole run, of which it is a point on the way.
    pub(super) fn late<'r>(
        whole: &Job,
        cheap: &Job,
        row_of: impl Fn(usize) -> &'r Range<usize>,
    ) -> Option<&'r Range<usize>> {
        let mut all = cheap.all_runs();
        let late = all.find(|(at, repeat, run)| {
            let end = whole.find(cheap.space.row(*at));
            let end = end.and_then(|end| whole.runs(end).get(*repeat));
            end.is_some_and(|end| run.time_s > end.time_s)
        });
        late.map(|(at, ..)| row_of(at))
    }

    #[inline]
    pub fn place(&self, configuration: usize) -> Option<usize> {
        self.places.get(configuration).copied().flatten()
    }
}

pub(super) fn specified(
    check: &mut Check<'_>,
    written: &WrittenGrid,
    axes: &[AxisSpec],
) -> Option<FidelitySpec> {
    let spanned = written.fidelity.as_ref()?;
    let of = spanned.get_ref();
    let Some(name) = &of.column else {
        let help = "`column = \"epochs\"`: how much each run had";
        let title = "`fidelity` does not say what cheap runs had less of".to_owned();
        check.wrong(spanned.span(), title, "`column` is missing", help);
        return None;
    };
    let column = check.column(name);
    let is_axis = |axis: &AxisSpec| matches!(&axis.from, From::Column(c) if c == name.get_ref());
    if axes.iter().any(is_axis) {
        let title = format!(
            "`{}` is an axis, and cannot mark cheap runs, too",
            name.get_ref()
        );
        let help = "cheap runs have the values of the whole one on all axes";
        check.wrong(name.span(), title, "one of both", help);
    }
    let Some(full) = &of.full else {
        let help = "`full = 60000`: what the whole run has in that column";
        let title = "`fidelity` does not say how much a whole run has".to_owned();
        check.wrong(spanned.span(), title, "`full` is missing", help);
        return None;
    };
    if !(*full.get_ref() > 0.0 && full.get_ref().is_finite()) {
        let title = format!("no run has {} of it", full.get_ref());
        check.wrong(
            full.span(),
            title,
            "not possible",
            "expected a number above 0",
        );
    }
    Some(FidelitySpec {
        column: column?,
        full: *full.get_ref(),
        is_of_jobs: (written.job.as_ref()).is_some_and(|job| job.get_ref() == name.get_ref()),
        is_curve: of.curve,
        span: spanned.span(),
    })
}

/// The share that a row had of the whole run; `None` for a whole run, and where it is wrong.
pub(super) fn share(
    spec: &FidelitySpec,
    source: &Arc<Source>,
    row: &Row<'_>,
    d: &mut Diagnostics,
) -> Option<f64> {
    let had = row.number(&spec.column, (End::Excluded(0.0), End::Unbounded), d)?;
    if had > spec.full {
        let title = format!(
            "this run had {had} of `{}`, more than a whole run",
            spec.column
        );
        let told = Diagnostic::at_span(source, row.span(&spec.column), title, "too much");
        d.push(told.with_help(format!("`full` in `[fidelity]` is {}", spec.full)));
    }
    (had < spec.full && !spec.is_of_jobs).then_some(had / spec.full)
}

/// Makes jobs with less cheap versions of the whole one, where a job is how much of it a run had.
pub(super) fn of_jobs(
    spec: &FidelitySpec,
    source: &Arc<Source>,
    jobs: &mut [Job],
    d: &mut Diagnostics,
) {
    if !spec.is_of_jobs {
        return;
    }
    let had: Vec<f64> = (jobs.iter())
        .map(|job| job.name.parse().unwrap_or(f64::NAN))
        .collect();
    let Some(whole) = had.iter().position(|had| *had == spec.full) else {
        let title = format!("no run has {} of `{}`", spec.full, spec.column);
        let told = Diagnostic::at_span(source, spec.span.clone(), title, "no run is a whole one");
        d.push(told.with_help("`full` in `[fidelity]` is what whole runs have"));
        return;
    };
    let mut less: Vec<(f64, usize)> = (had.iter().enumerate())
        .filter(|(_, had)| **had < spec.full)
        .map(|(place, had)| (had / spec.full, place))
        .collect();
    less.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = less.into_iter();
    let cheap =
        all.filter_map(|(share, place)| CheapRuns::among(share, jobs[place].clone(), &jobs[whole]));
    jobs[whole].cheap = cheap.collect();
}

pub(super) fn stray(source: &Arc<Source>, rows: &[Range<usize>]) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    if let Some(first) = rows.first() {
        let title = "a cheap version of a run that is not there is left out";
        let label = match rows.len() {
            1 => "nothing of `full` has these values on all axes".to_owned(),
            count => {
                format!("the first of {count}: nothing of `full` has these values on all axes")
            }
        };
        warnings.error_at(source, first.clone(), title, label);
    }
    warnings
}

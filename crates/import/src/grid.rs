//! The user's own grid: a CSV of runs and its specification, checked. Used columns of the table are kept, with nine digits.

use std::fmt;
use std::path::PathBuf;

use super::figure::{MEASURED, rounded};
use scavsim_base::text::{Column, Sheet};
use scavsim_grids::report::{Counts, best, figures};
use scavsim_grids::{Charge, Grid, Job, ROWS, SPEC, load};
use scavsim_read::input::{Diagnostics, Source};

#[derive(Debug, Clone)]
pub struct GridOptions {
    pub file: PathBuf,
    pub spec: PathBuf,
}

#[derive(Debug, Clone)]
pub struct ImportedGrid {
    pub files: Vec<(String, String)>,
    pub report: GridReport,
    /// Valid but unusual input.
    pub warnings: Diagnostics,
}

#[derive(Debug, Clone)]
pub struct GridReport {
    rows: usize,
    grid: Grid,
}

pub fn read(
    options: &GridOptions,
    diagnostics: &mut Diagnostics,
) -> Result<Option<ImportedGrid>, csv::Error> {
    let rows = Source::read(&options.file, diagnostics);
    let spec = Source::read(&options.spec, diagnostics);
    let (Some(rows), Some(spec)) = (rows, spec) else {
        return Ok(None);
    };
    let Some(read) = load::read(&spec, &rows, diagnostics) else {
        return Ok(None);
    };
    let files = vec![
        (SPEC.to_owned(), spec.text.clone()),
        (ROWS.to_owned(), compact(&read)?),
    ];
    let report = GridReport {
        rows: read.table.rows().count(),
        grid: read.grid,
    };
    Ok(Some(ImportedGrid {
        files,
        report,
        warnings: read.warnings,
    }))
}

fn compact(read: &load::LoadedGrid) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new()
        .comment(Some(b'#'))
        .from_writer(Vec::new());
    writer.write_record(read.used.iter().map(|(name, _)| name))?;
    for row in read.table.rows() {
        let cells = read.used.iter().map(|(name, is_measured)| {
            let text = row.optional_text(name).unwrap_or("");
            match text.parse::<f64>() {
                Ok(number) if *is_measured && text.contains('.') && number.is_finite() => {
                    rounded(number, MEASURED)
                }
                _ => text.to_owned(),
            }
        });
        writer.write_record(cells)?;
    }
    let bytes = writer.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl fmt::Display for GridReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grid = &self.grid;
        let all = Counts::of_all(&grid.jobs);
        writeln!(f, "{}: {}", grid.name, grid.about.title)?;
        writeln!(
            f,
            "rows {}, jobs {}, configurations {}, holes {}, failed {}, unreached {}",
            self.rows,
            grid.jobs.len(),
            all.configurations,
            all.holes,
            all.failed,
            all.unreached
        )?;
        let axes = grid
            .jobs
            .first()
            .map(|job| job.space.axes())
            .unwrap_or_default();
        let names: Vec<&str> = axes.iter().map(|axis| &*axis.name).collect();
        writeln!(f, "axes: {}", names.join(", "))?;
        writeln!(f, "cost: {}", cost(grid))?;
        for job in grid.jobs.iter().filter(|job| !job.cheap.is_empty()) {
            let each = job.cheap.iter().map(|cheap| {
                let runs = cheap.job.all_runs().count();
                format!("{:.4} ({runs} runs)", cheap.share)
            });
            let shares: Vec<String> = each.collect();
            writeln!(
                f,
                "shares of a run of `{}`: {}",
                job.name,
                shares.join(", ")
            )?;
        }
        let cut_off = if grid.probe.cut_off {
            ", unless a budget ends it"
        } else {
            ""
        };
        match grid.probe.charge {
            Charge::Whole => writeln!(f, "a probe is charged its whole run{cut_off}")?,
            Charge::Steps => writeln!(f, "a probe is charged its steps{cut_off}")?,
            Charge::Share(share) => {
                let share = share.get() * 100.0;
                writeln!(f, "a probe is charged {share} % of its run{cut_off}")?;
            }
        }
        writeln!(f)?;
        f.write_str(&table(&grid.jobs).lines())
    }
}

fn cost(grid: &Grid) -> &'static str {
    match grid.jobs.first() {
        Some(job) if job.is_price_known_beforehand() => {
            "by the rule of the grid, known before a run"
        }
        Some(job) if job.has_cost() => "by the rule of the grid, known after a run",
        _ => {
            "by no rule of the grid: a scenario with it needs `[pricing]`, with a policy that has a price for its VMs"
        }
    }
}

fn table(jobs: &[Job]) -> Sheet<'static, &Job> {
    let count = |head, of: fn(Counts) -> u64| {
        Column::number(head, move |job: &&Job| {
            of(Counts::from_job(job)).to_string()
        })
    };
    let figure = |head, of: fn(&Job) -> Option<f64>| {
        Column::number(head, move |job: &&Job| {
            of(job).map_or(String::new(), |v| rounded(v, 5))
        })
    };
    fn usd(job: &Job) -> impl Iterator<Item = f64> {
        figures(job).filter_map(|(best, _)| best.usd)
    }
    let columns = [
        Column::word("job", |job: &&Job| &job.name),
        count("runs", |counts| counts.runs as u64),
        count("configurations", |counts| counts.configurations as u64),
        count("holes", |counts| counts.holes),
        count("failed", |counts| counts.failed as u64),
        count("unreached", |counts| counts.unreached as u64),
        figure("usd_min", |job| usd(job).reduce(f64::min)),
        figure("usd_max", |job| usd(job).reduce(f64::max)),
        Column::text("best", |job: &&Job| {
            best(job).map_or(String::new(), |b| job.space.name(b.configuration))
        }),
        figure("time_s", |job| Some(best(job)?.time_s)),
        figure("usd", |job| best(job)?.usd),
    ];
    Sheet::new(jobs, columns)
}

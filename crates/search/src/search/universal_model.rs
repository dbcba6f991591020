//! One model for all jobs on all machines: T = T₀ · (K/K₀)^a · (B/B₀)^b · p₀/p, from one run of the job in T₀ with K₀ workers and
//! batch B₀. a and b are of `data/fits/universal.csv`, apart for machines with and without GPUs. p is the price of a worker and hour:
//! a machine of another type is taken to be as fast as it is dear, which is an assumption.

use std::sync::LazyLock;

use super::Task;
use scavsim_data::space::Space;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

const FILE: &str = "data/fits/universal.csv";
const TABLE: &str = include_str!("../../../../data/fits/universal.csv");
/// Exponents in the table.
const EXPONENTS: std::ops::RangeInclusive<f64> = -2.0..=2.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UniversalModel {
    with_gpus: bool,
    workers_exponent: f64,
    batch_exponent: f64,
}

impl UniversalModel {
    /// The model for the machines of a task; those that nobody describes count as machines with GPUs.
    pub(super) fn for_task(task: &Task<'_>) -> Option<UniversalModel> {
        static READ: LazyLock<Vec<UniversalModel>> =
            LazyLock::new(|| read(&mut Diagnostics::default()));
        let machines = (0..task.space.len()).filter_map(|at| task.machine(at));
        let has_gpus = machines.map(|machine| machine.gpus > 0);
        let with_gpus = has_gpus.reduce(|a, b| a || b).unwrap_or(true);
        READ.iter().copied().find(|own| own.with_gpus == with_gpus)
    }

    /// Time of each configuration over that of `anchor`, where both have workers and a batch.
    pub(super) fn time_over(&self, task: &Task<'_>, at: usize, anchor: usize) -> Option<f64> {
        let ratio = |of: fn(&Space, usize) -> Option<u32>| {
            Some(f64::from(of(task.space, at)?) / f64::from(of(task.space, anchor)?))
        };
        let workers = ratio(Space::workers)?;
        let batch = ratio(Space::batch)?;
        let is_same_type = task.space.vm(at) == task.space.vm(anchor);
        let usd = |at: usize| task.prices?.usd_per_hour(at).filter(|usd| *usd > 0.0);
        let dearer = match (usd(at), usd(anchor)) {
            (Some(own), Some(other)) if !is_same_type => own / other / workers,
            _ => 1.0,
        };
        let by_size = libm::pow(workers, self.workers_exponent);
        Some(by_size * libm::pow(batch, self.batch_exponent) / dearer)
    }
}

fn read(d: &mut Diagnostics) -> Vec<UniversalModel> {
    let source = Source::new(FILE, TABLE);
    let columns = [
        "gpus",
        "workers_exponent",
        "batch_exponent",
        "jobs",
        "error_pct",
    ];
    let table = Table::read(&source, &columns, &[], d);
    let rows = table.iter().flat_map(Table::rows);
    let model = |row: scavsim_read::input::csv::Row<'_>| {
        Some(UniversalModel {
            with_gpus: row.text("gpus", d)? == "with",
            workers_exponent: row.number("workers_exponent", EXPONENTS, d)?,
            batch_exponent: row.number("batch_exponent", EXPONENTS, d)?,
        })
    };
    rows.filter_map(model).collect()
}

//! All cases: in parallel, out in order, in bounded memory.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::evaluate::Evaluator;
use super::plan::Plan;
use super::record::Record;
use crate::training::Fidelity;

/// Takes records in case order.
pub trait Sink {
    /// Takes the next record.
    ///
    /// # Errors
    /// Whatever keeps it from being stored.
    fn take(&mut self, record: &Record<'_>) -> io::Result<()>;
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Records handed out: all cases unless interrupted.
    pub cases: u64,
    /// Of these, cases without a result.
    pub failed: u64,
    /// Whether the run was stopped from outside.
    pub interrupted: bool,
}

/// Cases that one task evaluates: enough to make its start free, few enough to share out well, and
/// so few of the slow ones that an interrupt is heeded, and rows appear, within seconds.
fn cases_per_task(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Fast => 64,
        Fidelity::Step | Fidelity::Event => 1,
    }
}

/// Tasks per thread whose records are held in memory before they are handed out.
const TASKS_PER_THREAD: u64 = 64;

/// Evaluates all cases of `plan` on `jobs` threads and hands the records to `sinks` in case order.
///
/// `interrupt` stops the run after the tasks in hand; `progress` counts finished cases.
///
/// # Errors
/// The first failure of a sink, or of starting the threads.
pub fn run(
    plan: &Plan,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &AtomicU64,
    sinks: &mut [&mut dyn Sink],
) -> io::Result<Finished> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(io::Error::other)?;
    let cases_per_task = cases_per_task(plan.fidelity);
    let block = cases_per_task * TASKS_PER_THREAD * jobs.max(1) as u64;
    let mut finished = Finished {
        cases: 0,
        failed: 0,
        interrupted: false,
    };
    let mut start = 0;
    while start < plan.cases() {
        let end = (start + block).min(plan.cases());
        let tasks: Vec<u64> = (start..end).step_by(cases_per_task as usize).collect();
        let blocks: Vec<Option<Vec<Record<'_>>>> = pool.install(|| {
            tasks
                .par_iter()
                .map_init(
                    || Evaluator::new(plan),
                    |evaluator, &first| {
                        if interrupt.load(Ordering::Relaxed) {
                            return None;
                        }
                        let last = (first + cases_per_task).min(end);
                        let records = (first..last)
                            .map(|number| evaluator.evaluate(plan.case(number)))
                            .collect();
                        progress.fetch_add(last - first, Ordering::Relaxed);
                        Some(records)
                    },
                )
                .collect()
        });
        for task in blocks {
            // After a gap nothing more is handed out: what is stored is a prefix of the whole.
            let Some(records) = task else {
                finished.interrupted = true;
                return Ok(finished);
            };
            for record in &records {
                for sink in sinks.iter_mut() {
                    sink.take(record)?;
                }
                finished.cases += 1;
                finished.failed += u64::from(record.status == super::Status::Failed);
            }
        }
        start = end;
    }
    Ok(finished)
}

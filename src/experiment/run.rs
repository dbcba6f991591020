//! Cases: in parallel, out in order, in bounded memory.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::evaluate::Evaluator;
use super::plan::Plan;
use super::record::{Record, Status};

/// Takes records in case order.
pub trait Sink {
    /// Takes the next record.
    ///
    /// # Errors
    /// Whatever keeps it from being stored.
    fn take(&mut self, record: &Record<'_>) -> io::Result<()>;
}

/// How cases are to be run.
#[derive(Debug, Clone, Copy)]
pub struct Conduct<'a> {
    /// Threads.
    pub jobs: usize,
    /// Whether the first case without a result ends the run.
    pub fail_fast: bool,
    /// Counts finished cases.
    pub progress: &'a AtomicU64,
}

/// Why a run ended.
///
/// ```
/// assert_eq!(scavsim::Ending::default(), scavsim::Ending::Complete);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// No case was left.
    #[default]
    Complete,
    /// It was stopped from outside.
    Interrupted,
    /// A case failed, and that was to end it.
    Failed,
}

/// How a run ended.
///
/// ```
/// use scavsim::{Ending, Finished, Scenario};
///
/// let scenario = Scenario::parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["oracle"], objectives = ["time"] }
///     "#,
/// )?;
/// let finished: Finished = scenario.run(|_| ())?;
/// assert_eq!((finished.cases, finished.failed, finished.ending), (1, 0, Ending::Complete));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Finished {
    /// Records handed out: all cases unless the run ended early.
    pub cases: u64,
    /// Of these, cases without a result.
    pub failed: u64,
    /// Why it ended.
    pub ending: Ending,
}

impl Finished {
    /// Counts one record.
    pub fn count(&mut self, record: &Record<'_>) {
        self.cases += 1;
        self.failed += u64::from(record.status == Status::Failed);
    }
}

/// Tasks per thread whose records are held in memory before they are handed out, and the cases
/// beyond which they are fewer.
const TASKS_PER_THREAD: u64 = 64;
const CASES_PER_THREAD: u64 = 4096;

/// Evaluates `tasks`, which are runs of cases of `plan`, and hands the records to `sinks` in the
/// order of the tasks.
///
/// Tasks come in the order of their cases: arenas that lie behind are forgotten.
///
/// Once the interrupt of `plan` is raised it ends within a few events.
///
/// A run that ends at a failure hands out nothing behind the first failed case, whatever other
/// threads have finished: where it ends does not depend on their number.
///
/// # Errors
/// The first failure of a sink, or of starting the threads.
pub fn run(
    plan: &mut Plan,
    tasks: impl IntoIterator<Item = Range<u64>>,
    conduct: Conduct<'_>,
    sinks: &mut [&mut (dyn Sink + Send)],
) -> io::Result<Finished> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(conduct.jobs)
        .build()
        .map_err(io::Error::other)?;
    let at_once = (CASES_PER_THREAD / plan.cases_per_task()).clamp(1, TASKS_PER_THREAD) as usize;
    let mut tasks = tasks.into_iter();
    let mut out = HandOut {
        sinks,
        fail_fast: conduct.fail_fast,
        finished: Finished::default(),
    };
    loop {
        let mut done = Vec::new();
        let mut first = None;
        for _ in 0..BLOCKS_PER_STAGE {
            let block: Vec<Range<u64>> =
                tasks.by_ref().take(at_once * conduct.jobs.max(1)).collect();
            if block.is_empty() {
                out.take(done)?;
                return Ok(out.finished);
            }
            first = block.iter().map(|cases| cases.start).min();
            // One thread hands out what is done while all others go on.
            let (handed, next) =
                pool.install(|| rayon::join(|| out.take(done), || evaluate(plan, block, conduct)));
            if handed?.is_some() {
                return Ok(out.finished);
            }
            done = next;
        }
        if out.take(done)?.is_some() {
            return Ok(out.finished);
        }
        if let Some(first) = first {
            plan.forget_before(plan.case(first).arena);
        }
    }
}

/// Blocks after which the arenas behind are forgotten.
const BLOCKS_PER_STAGE: usize = 16;

/// The records of tasks; `None` for one that was not finished because of an interrupt.
type Done<'p> = Vec<Option<Vec<Record<'p>>>>;

fn evaluate<'p>(plan: &'p Plan, block: Vec<Range<u64>>, conduct: Conduct<'_>) -> Done<'p> {
    let interrupt = &plan.terms.interrupt;
    plan.prepare(&block);
    block
        .into_par_iter()
        .map_init(
            || Evaluator::new(plan),
            |evaluator, cases| {
                let count = cases.end - cases.start;
                let records: Option<Vec<Record<'_>>> = cases
                    .map(|number| {
                        if interrupt.is_raised() {
                            return None;
                        }
                        let record = evaluator.evaluate(plan.case(number));
                        // It may have been cut off, or what it is scored by.
                        (!interrupt.is_raised()).then_some(record)
                    })
                    .collect();
                let records = records?;
                conduct.progress.fetch_add(count, Ordering::Relaxed);
                Some(records)
            },
        )
        .collect()
}

/// Records on their way out, in order.
struct HandOut<'s, 'd> {
    sinks: &'s mut [&'d mut (dyn Sink + Send)],
    fail_fast: bool,
    finished: Finished,
}

impl HandOut<'_, '_> {
    /// Hands out what is done; says why that was the last.
    fn take(&mut self, done: Done<'_>) -> io::Result<Option<Ending>> {
        for task in done {
            // After a gap nothing more is handed out: what is stored is a prefix of the whole.
            let Some(records) = task else {
                self.finished.ending = Ending::Interrupted;
                return Ok(Some(self.finished.ending));
            };
            for record in &records {
                for sink in self.sinks.iter_mut() {
                    sink.take(record)?;
                }
                self.finished.count(record);
                if self.fail_fast && record.status == Status::Failed {
                    self.finished.ending = Ending::Failed;
                    return Ok(Some(self.finished.ending));
                }
            }
        }
        Ok(None)
    }
}

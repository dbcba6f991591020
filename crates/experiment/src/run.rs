//! Cases: in parallel, out in order, in bounded memory.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::evaluate::Evaluator;
use super::gather::{Gather, Maker, OrderedSinks, Part, Sink};
use super::memo::Memo;
use super::plan::Plan;
use super::record::{Record, Status};
use super::shard::{Tasks, pace};
use super::task_pool::TaskPool;
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Copy)]
pub struct Conduct<'a> {
    pub jobs: usize,
    /// Whether the first case without a result ends the run.
    pub fail_fast: bool,
    /// Cases known from before, by number: their failures end nothing.
    pub known: u64,
    pub progress: &'a AtomicU64,
}

impl<'a> Conduct<'a> {
    /// Evaluates all cases, whether or not some fail.
    pub fn new(jobs: usize, progress: &'a AtomicU64) -> Conduct<'a> {
        Conduct {
            jobs,
            fail_fast: false,
            known: 0,
            progress,
        }
    }
}

/// Why a run ended.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// assert_eq!(scavsim::RunEnding::default(), scavsim::RunEnding::Complete);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RunEnding {
    /// No case was left.
    #[default]
    Complete,
    /// The run was stopped from outside.
    Interrupted,
    /// A case failed, and that was to end it.
    Failed,
}

/// How a run ended.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// use scavsim::{RunEnding, Finished, Scenario};
///
/// let scenario = Scenario::parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["oracle"], objectives = ["time"] }
///     "#,
/// )?;
/// let finished: Finished = scenario.run(|_| ())?;
/// assert_eq!((finished.cases, finished.failed, finished.ending), (1, 0, RunEnding::Complete));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Finished {
    /// Records handed out: all cases unless the run ended early.
    pub cases: u64,
    /// Cases without a result.
    pub failed: u64,
    /// Why it ended.
    pub ending: RunEnding,
}

impl Finished {
    /// A run that was stopped before its first case.
    #[doc(hidden)]
    pub fn interrupted() -> Finished {
        Finished {
            ending: RunEnding::Interrupted,
            ..Finished::default()
        }
    }
}

impl Finished {
    pub fn count(&mut self, record: &Record<'_>) {
        self.cases += 1;
        self.failed += u64::from(record.status == Status::Failed);
    }
}

/// Most tasks per thread whose parts wait in memory; fewer of the slow ones; and the cases beyond which they are fewer.
const TASKS_PER_THREAD: u64 = 64;
const SLOW_TASKS_PER_THREAD: u64 = 32;
const CASES_PER_THREAD: u64 = 4096;
const FEWEST_TASKS_PER_THREAD: u64 = 4;

/// Evaluates `tasks` of `plan` and hands their records to `sinks`; otherwise as [`gather`].
///
/// # Errors
/// The first failure of a sink, or of starting the threads.
pub fn run(
    plan: &mut Plan,
    tasks: impl IntoIterator<Item = Range<u64>>,
    conduct: Conduct<'_>,
    sinks: &mut [&mut (dyn Sink + Send)],
) -> io::Result<Finished> {
    gather(plan, tasks, conduct, &mut OrderedSinks(sinks))
}

/// Evaluates `tasks` of `plan`, in case order, and puts their parts together in that order. It forgets search problems that lie
/// behind. It ends within a few events once the interrupt of `plan` is raised. A run that ends at a failure hands out nothing
/// behind the first failed case, whatever the number of threads.
///
/// # Errors
/// The first failure of a part or of what puts them together, or of starting the threads.
pub fn gather<G: Gather>(
    plan: &mut Plan,
    tasks: impl IntoIterator<Item = Range<u64>>,
    conduct: Conduct<'_>,
    gather: &mut G,
) -> io::Result<Finished> {
    let pool = plan.terms.interrupt.pool(conduct.jobs)?;
    let most = match pace(plan.lives().is_some(), plan.terms.fidelity) {
        Fidelity::Fast => TASKS_PER_THREAD,
        Fidelity::Event => SLOW_TASKS_PER_THREAD,
    };
    let jobs = conduct.jobs.max(1);
    let at_once =
        (CASES_PER_THREAD / Tasks::from_plan(plan).size()).clamp(FEWEST_TASKS_PER_THREAD, most);
    let block = at_once as usize * jobs;
    // Few threads have one of them add up meanwhile; of many all do it between blocks.
    let (blocks, rests_after) = if jobs <= FEW_THREADS {
        (BLOCKS_PER_STAGE, block)
    } else {
        (1, usize::MAX)
    };
    let mut tasks = tasks.into_iter();
    let maker = gather.maker();
    let memo = Memo::default();
    let mut out = HandOut {
        gather,
        finished: Finished::default(),
        last: Ok(None),
        rests_after,
        unrested: 0,
    };
    loop {
        let stage: Vec<Range<u64>> = tasks.by_ref().take(block * blocks).collect();
        let Some(last) = stage.last() else {
            return Ok(out.finished);
        };
        let arena = plan.case(last.start).arena;
        pool.install(|| plan.prepare(&stage));
        {
            let crew = TaskPool::new(stage.len(), jobs, block);
            let hands = Mutex::new(&mut out);
            let plan = &*plan;
            pool.broadcast(|_| {
                let mut evaluator = Evaluator::with(plan, Some(&memo));
                crew.join(
                    |at| task(plan, stage[at].clone(), conduct, &maker, &mut evaluator),
                    |ready| {
                        hands
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .hand_out(ready)
                    },
                );
            });
        }
        if pool.install(|| out.flush_waiting())?.is_some() {
            return Ok(out.finished);
        }
        pool.install(|| plan.forget_before(arena));
    }
}

/// Blocks after which search problems are forgotten, where threads are few.
const BLOCKS_PER_STAGE: usize = 4;
/// Threads that are kept busy while one of them adds up.
const FEW_THREADS: usize = 4;

/// A task that ended, or reached the failure that ends the run.
struct Done<P> {
    part: P,
    finished: Finished,
}

/// `None` of a task that was interrupted.
type TaskDone<P> = Option<io::Result<Done<P>>>;

fn task<'p, M: Maker>(
    plan: &'p Plan,
    cases: Range<u64>,
    conduct: Conduct<'_>,
    maker: &M,
    evaluator: &mut Evaluator<'p>,
) -> TaskDone<M::Part<'p>> {
    let interrupt = &plan.terms.interrupt;
    let count = cases.end - cases.start;
    let mut done = Done {
        part: maker.part(),
        finished: Finished::default(),
    };
    for number in cases {
        if interrupt.is_raised() {
            return None;
        }
        let mut record = evaluator.evaluate(plan.case(number));
        // It may have been cut off, or what it is scored by.
        if interrupt.is_raised() {
            return None;
        }
        done.finished.count(&record);
        let is_new = number >= conduct.known;
        let is_last = conduct.fail_fast && is_new && record.status == Status::Failed;
        if let Err(error) = done.part.push_record(&mut record) {
            return Some(Err(error));
        }
        if is_last {
            done.finished.ending = RunEnding::Failed;
            break;
        }
    }
    done.part.end();
    conduct.progress.fetch_add(count, Ordering::Relaxed);
    Some(Ok(done))
}

struct HandOut<'g, G> {
    gather: &'g mut G,
    finished: Finished,
    /// Why the run ended, once it did.
    last: io::Result<Option<RunEnding>>,
    /// Tasks after which what waits is written and added up, and how many wait.
    rests_after: usize,
    unrested: usize,
}

impl<G: Gather> HandOut<'_, G> {
    /// Hands out what is done; whether that was the last.
    fn hand_out(&mut self, all: Vec<TaskDone<<G::Maker as Maker>::Part<'_>>>) -> bool {
        self.unrested += all.len();
        self.last = self.merge(all);
        if self.unrested >= self.rests_after && matches!(self.last, Ok(None)) {
            self.unrested = 0;
            self.last = self.gather.flush_waiting().map(|()| None);
        }
        !matches!(self.last, Ok(None))
    }

    /// Has all that waits written and added up, on the current thread pool; says why it was the last.
    fn flush_waiting(&mut self) -> io::Result<Option<RunEnding>> {
        self.unrested = 0;
        // What came before a failure is kept.
        let rested = self.gather.flush_waiting();
        let last = std::mem::replace(&mut self.last, Ok(None))?;
        self.finished.ending = last.unwrap_or(self.finished.ending);
        rested.map(|()| last)
    }

    fn merge(
        &mut self,
        all: Vec<TaskDone<<G::Maker as Maker>::Part<'_>>>,
    ) -> io::Result<Option<RunEnding>> {
        for task in all {
            // After a gap nothing more is handed out: what is stored is a prefix of the whole.
            let Some(done) = task else {
                return Ok(Some(RunEnding::Interrupted));
            };
            let Done { part, finished } = done?;
            self.gather.merge(part)?;
            self.finished.cases += finished.cases;
            self.finished.failed += finished.failed;
            if finished.ending == RunEnding::Failed {
                return Ok(Some(RunEnding::Failed));
            }
        }
        Ok(None)
    }
}

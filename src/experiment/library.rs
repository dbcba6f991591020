//! A scenario run from Rust, on all cores.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::plan::{Plan, PlanError};
use super::record::Record;
use super::run::{Conduct, Finished, Sink, run};
use super::shard::Tasks;
use crate::scenario::Scenario;

/// Why a scenario that was read without complaint could not be run.
///
/// ```
/// use scavsim::{RunError, Scenario};
///
/// fn hours(scenario: &Scenario) -> Result<f64, RunError> {
///     let mut sum = 0.0;
///     scenario.run(|record| sum += record.time_h.unwrap_or(0.0))?;
///     Ok(sum)
/// }
/// # let _ = hours;
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] io::Error),
}

impl Scenario {
    /// Runs all cases on all cores and hands each record to `take`, in the order of the cases
    /// whatever the number of cores. Memory stays bounded: what is not kept is gone, and
    /// [`Record::into_owned`] keeps.
    ///
    /// A case without a result is a record too, with its reason; the run goes on.
    ///
    /// # Errors
    /// [`RunError`]; a checked scenario has none but those of the machine.
    pub fn run(&self, take: impl FnMut(&Record<'_>) + Send) -> Result<Finished, RunError> {
        let mut plan = Plan::new(self)?;
        let tasks = Tasks::of(&plan);
        let conduct = Conduct {
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            fail_fast: false,
            interrupt: &AtomicBool::new(false),
            progress: &AtomicU64::new(0),
        };
        let mut each = Each(take);
        Ok(run(&mut plan, tasks.behind(0), conduct, &mut [&mut each])?)
    }
}

/// Hands records to a closure, which cannot fail.
struct Each<F>(F);

impl<F: FnMut(&Record<'_>)> Sink for Each<F> {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        (self.0)(record);
        Ok(())
    }
}

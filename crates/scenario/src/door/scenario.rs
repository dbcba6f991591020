//! A scenario from Rust: read, checked, and run on all cores.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::AtomicU64;

use scavsim_engine::Interrupt;
use scavsim_experiment::PlanError;
use scavsim_experiment::precision::{self, NotReached};
use scavsim_experiment::scenario as checked;
use scavsim_experiment::{Conduct, Finished, Plan, Record, Sink, SweptAxes, Tasks, run};

/// A checked scenario: everything in it exists and is legal.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
/// use scavsim::Scenario;
///
/// let scenario = Scenario::parse(
///     r#"
///     name = "two counts"
///     replicas = 5
///     workloads = ["scavenger-resnet18"]
///     cluster = { workers = [8, 16] }
///     search = { strategies = ["oracle", "random"], objectives = ["cost"] }
///     "#,
/// )?;
/// assert_eq!(scenario.cases(), 2 * 5); // strategies × replicas
/// let finished = scenario.run(|record| println!("{} {:?} USD", record.strategy, record.cost_usd))?;
/// assert_eq!((finished.cases, finished.failed), (10, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    checked: checked::Scenario,
    interrupt: Interrupt,
    jobs: Option<usize>,
}

/// Why a checked scenario could not be run.
///
/// ```
/// # use scavsim_scenario::face as scavsim;
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
    /// The scenario cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] io::Error),
}

impl Scenario {
    pub(super) fn new(
        checked: checked::Scenario,
        interrupt: Interrupt,
        jobs: Option<usize>,
    ) -> Scenario {
        Scenario {
            checked,
            interrupt,
            jobs,
        }
    }

    /// Name of the scenario: its own, or the name of its file.
    pub fn name(&self) -> &str {
        &self.checked.name
    }

    /// Number of cases: one per workload, pricing policy, objective, strategy and replica. With a target `precision`, for the
    /// initial number of `replicas`.
    pub fn cases(&self) -> u64 {
        self.checked.cases()
    }

    /// Remarks on its prices, in sentences: that none is named, that one holds for several VM types, that spot prices are
    /// without losses; and which measured values replace missing ones about losses.
    ///
    /// ```
    /// # use scavsim_scenario::face as scavsim;
    /// # fn main() -> Result<(), scavsim::Mistakes> {
    /// let flat = "workloads = [\"scavenger-resnet18\"]\nvm.fast = { like = \"e2-standard-4\", compute_scale = 0.5 }\n\
    ///             pricing.policies = [\"paper-fixed\"]";
    /// let told = scavsim::Scenario::parse(flat)?.remarks_on_prices();
    /// assert!(told[0].contains("`paper-fixed` charges one price for 2 VM types"), "{told:?}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn remarks_on_prices(&self) -> Vec<String> {
        self.checked.remarks.on_stderr()
    }

    /// Names of the axes that it sweeps, in the order of [`Record::axes`]: keys with several numbers of settings, pricing policies and
    /// VM types.
    pub fn axes(&self) -> Vec<String> {
        SweptAxes::of_scenario(&self.checked).names().to_vec()
    }

    /// The checked scenario, for crates above.
    #[doc(hidden)]
    pub fn checked(&self) -> &checked::Scenario {
        &self.checked
    }

    /// Runs all cases on all cores and passes each record to `take`, in the order of the cases for any number of cores.
    /// Memory stays bounded: records are dropped, unless [`Record::into_owned`] copies them.
    ///
    /// A case without a result is also a record, with its reason; the run continues.
    ///
    /// # Errors
    /// [`RunError`]; for a checked scenario only those of the machine.
    pub fn run(&self, take: impl FnMut(&Record<'_>) + Send) -> Result<Finished, RunError> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.unwrap_or_else(cores);
        let mut checked = Cow::Borrowed(&self.checked);
        if let Some(wanted) = checked.precision {
            let by = (jobs, &self.interrupt);
            match precision::replicas(&checked, wanted, by, &AtomicU64::new(0)) {
                Ok(reached) => checked.to_mut().replicas = reached.replicas,
                Err(NotReached::Plan(why)) => return Err(why.into()),
                Err(NotReached::Run(why)) => return Err(why.into()),
                Err(NotReached::Interrupted) => {
                    return Ok(Finished::interrupted());
                }
            }
        }
        let mut plan = match Plan::on_threads(jobs, &checked, &self.interrupt) {
            // Output that was cut off may be wrong in any way.
            Err(_) if self.interrupt.is_raised() => {
                return Ok(Finished::interrupted());
            }
            plan => plan?,
        };
        let tasks = Tasks::from_plan(&plan);
        let progress = AtomicU64::new(0);
        let conduct = Conduct::new(jobs, &progress);
        let mut each = ClosureSink(take);
        Ok(run(&mut plan, tasks.behind(0), conduct, &mut [&mut each])?)
    }
}

/// Passes records to a closure, which cannot fail.
struct ClosureSink<F>(F);

impl<F: FnMut(&Record<'_>)> Sink for ClosureSink<F> {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        (self.0)(record);
        Ok(())
    }
}

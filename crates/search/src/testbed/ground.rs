//! What is true of the configurations of a task, and a job among them as an experiment sees it.

use super::{Observation, Stop};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::{NoPrice, Policy, Tariff};
use scavsim_data::usage::{RentedVm, Usage};
use scavsim_sim::cluster::World;
use scavsim_sim::engine::Interrupt;
use scavsim_sim::job::{Sketched, Totals};
use scavsim_sim::plans::Choices;
use scavsim_sim::training::log::Entry;
use scavsim_sim::training::{Fidelity, Unfinished};

/// Time and cost of one configuration to the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Seconds.
    pub time_s: f64,
    /// USD.
    pub cost_usd: f64,
}

impl Point {
    /// A configuration that never comes to its end.
    pub const NEVER: Point = Point {
        time_s: f64::INFINITY,
        cost_usd: f64::INFINITY,
    };
}

/// How jobs on a ground are run, whatever the configuration.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Random streams.
    pub streams: Streams,
    /// How finely runs are simulated.
    pub fidelity: Fidelity,
    /// Delay between a request of VMs and their readiness.
    pub start_up: SimTime,
    /// What stops them from outside.
    pub interrupt: Interrupt,
}

/// What is true of the configurations of a task: what an oracle knows.
pub trait Ground: Send + Sync {
    /// Expected seconds of training to the target, without search and start-up; `None` where it is never reached.
    fn expected_time_s(&self, configuration: usize) -> Option<f64>;

    /// Whether expectations have no closed form and are means over runs.
    fn expects_by_runs(&self) -> bool {
        false
    }

    /// Whether these runs tell the training itself, so that what strategies predict is held against their mean, too: no VM is
    /// lost, and no formula tells what machines make of a step.
    fn runs_are_training(&self) -> bool {
        false
    }

    /// Most runs that tell what is expected of a configuration, where it has no closed form, or how far runs scatter.
    fn most_expectation_runs(&self, _configuration: usize) -> u64 {
        1
    }

    /// Seconds that a configuration takes in the mean, where a formula tells that losses leave it no time to train.
    fn hopeless_s(&self, _configuration: usize) -> Option<f64> {
        None
    }

    /// Expected time and cost of a configuration on `terms`, from the request of its VMs and without search, where that has
    /// a closed form; `usage` is overwritten.
    fn expectation(
        &self,
        configuration: usize,
        terms: &Terms,
        tariff: &Tariff,
        usage: &mut Usage,
    ) -> Point {
        let Some(training_s) = self.expected_time_s(configuration) else {
            return Point::NEVER;
        };
        let time_s = terms.start_up.seconds() + training_s;
        self.plan_usage(configuration, time_s, usage);
        Point {
            time_s,
            cost_usd: tariff.bill_usd(usage),
        }
    }

    /// `usage` becomes that of a run of so many seconds, as everybody knows it beforehand.
    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage);

    /// What its jobs are billed by under a policy.
    ///
    /// # Errors
    /// [`NoPrice`] for the first VM type without a price.
    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice>;

    /// Whether what a configuration costs per time is known before it was run.
    fn price_is_known(&self, _configuration: usize) -> bool {
        true
    }

    /// Whether a look at a few steps is charged as a whole run.
    fn looks_cost_a_run(&self) -> bool {
        false
    }

    /// Whether a configuration was measured, interpolated, or extrapolated.
    fn provenance(&self, configuration: usize) -> &'static str;

    /// VM type and number of VMs of a configuration, where the ground itself says so.
    fn held(&self, _configuration: usize) -> Option<(String, u32)> {
        None
    }

    /// VM types by number among those that are rented, and VMs of each of a configuration, where types and markets may be
    /// mixed.
    fn held_of_each(&self, _configuration: usize) -> &[(u16, u32)] {
        &[]
    }

    /// The plans by which a model is cut over GPUs, where these are its configurations.
    fn plans(&self) -> Option<&Choices> {
        None
    }

    /// VM types that its jobs rent, by the numbers that usage names them by; `None` where runs are named.
    fn rented(&self) -> Option<&[RentedVm]> {
        self.world().map(|world| &world.vms[..])
    }

    /// USD that one of many equal jobs is expected to cost by formula, where they are such.
    fn job_cost_usd(&self, _configuration: usize, _tariff: &Tariff) -> Option<f64> {
        None
    }

    /// How a configuration is simulated when `fidelity` is asked for, and why, where that is another.
    fn simulated_in(
        &self,
        configuration: usize,
        fidelity: Fidelity,
    ) -> (&'static str, Option<&str>);

    /// A job among them.
    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn Site + 'g>;

    /// The simulated world, where that is what it is.
    fn world(&self) -> Option<&World> {
        None
    }
}

/// How long a job trains in a configuration before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// So many steps.
    Steps(u64),
    /// This share of a run to the target.
    Share(f64),
    /// A run of its own, from scratch to the target.
    Whole,
    /// The same, given up at this moment.
    WholeUntil(SimTime),
    /// Until this moment.
    Until(SimTime),
    /// So many passes over every layer by itself on one VM.
    Profile(u64),
}

/// Why a ground without layers shows no profile of them.
pub(super) fn no_layers() -> Stop {
    Stop::Failed("there are no layers to profile here".to_owned())
}

/// A job on a ground, in one replica: what an experiment asks of a testbed.
pub trait Site: Send {
    /// Back to time zero, in `replica`.
    fn restart(&mut self, replica: u64);

    /// Remembers this state of the job under a number, for [`back_to`](Self::back_to).
    fn mark(&mut self, number: usize);

    /// Back to the state that was marked last under this number, in the same replica.
    fn back_to(&mut self, number: usize);

    /// The clock.
    fn now(&self) -> SimTime;

    /// The configuration that the job is in; `None` before the first.
    fn current(&self) -> Option<usize>;

    /// Holds the VMs of a configuration, ready to train.
    ///
    /// # Errors
    /// [`Stop`] when the job does not come to its end.
    fn move_to(&mut self, configuration: usize) -> Result<(), Stop>;

    /// Trains until the noise has settled, at most as many steps as a run to the target takes.
    ///
    /// # Errors
    /// [`Stop`] when the search is over.
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop>;

    /// Trains for a while and looks, at most as long as a run to the target takes. That the target is reached
    /// meanwhile ends no search: it is what net accounting ends at.
    ///
    /// # Errors
    /// [`Stop`] when the search is over.
    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop>;

    /// Runs `choice` to the target after whatever was searched before.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, Unfinished>;

    /// The run of `choice` that was just made from a restart on, in outline: on the same lives of VMs, as far as they were
    /// asked for before that restart. `None` where runs have no outline.
    fn sketch_again(&mut self, _choice: usize) -> Option<Sketched> {
        None
    }

    /// A run of `choice` in outline, in a replica and with lives of its own.
    fn sketch(&mut self, _choice: usize, _replica: u64) -> Option<Sketched> {
        None
    }

    /// What was used when everything is released at `end`, which must not lie before the end of the search.
    fn usage_until(&self, end: SimTime, usage: &mut Usage);

    /// What was used until the target was reached, which may be before the end of the search: that of the last run.
    fn usage_until_target(&self, line: &Timeline, usage: &mut Usage) {
        self.usage_until(line.net_end, usage);
    }

    /// Notes what happens from the next restart on: everything of the job, and of single worker-steps
    /// the first `most` entries. Its runs then end at the target.
    fn watch(&mut self, _most: u64) {}

    /// What was noted of a job that ended at `end`; nothing is noted any more.
    fn noted_until(&mut self, _end: SimTime) -> Vec<Entry> {
        Vec::new()
    }
}

/// When a job did what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeline {
    /// The configuration that ran to the target.
    pub choice: usize,
    /// When the chosen configuration began to train towards the target; zero without search.
    pub search_end: SimTime,
    /// When the target was reached, search steps counting as progress: perhaps before the search was over.
    pub net_end: SimTime,
    /// When it would have been reached if search steps earned nothing.
    pub gross_end: SimTime,
    /// The configuration in which the target was reached during the search, where it was.
    pub reached: Option<usize>,
    /// Configuration and seconds of the cold start, if there was one.
    pub cold_start: Option<(usize, f64)>,
    /// VMs that the provider took away until the target.
    pub lost_vms: u32,
    /// What came of its stretches, where workers do more than step together on VMs that stay.
    pub totals: Option<Totals>,
}

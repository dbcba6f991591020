//! What is true of the configurations of a task.

use super::Site;
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::{NoPrice, Policy, Tariff};
use scavsim_data::usage::{RentedVm, Usage};
use scavsim_sim::cluster::World;
use scavsim_sim::engine::Interrupt;
use scavsim_sim::plans::Choices;
use scavsim_sim::training::Fidelity;

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

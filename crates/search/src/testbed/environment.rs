use std::any::Any;

use super::job_trial::JobTrial;
use super::plan_metrics::PlanMetrics;
use crate::search::{Goal, LayerModel};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::{NoPrice, Policy, Tariff};
use scavsim_data::usage::{RentedVm, RentedVmType, Usage};
use scavsim_data::workload::{Pace, Spread};
use scavsim_engine::Interrupt;
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub time_s: f64,
    pub cost_usd: f64,
}

impl Point {
    pub const NEVER: Point = Point {
        time_s: f64::INFINITY,
        cost_usd: f64::INFINITY,
    };
}

/// How jobs on an environment are run, whatever the configuration.
#[derive(Debug, Clone)]
pub struct Terms {
    pub streams: Streams,
    pub fidelity: Fidelity,
    /// Delay between a request of VMs and their readiness.
    pub start_up: SimTime,
    pub interrupt: Interrupt,
}

/// What is special to one environment, and known before anything is run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'g> {
    /// VM types that its jobs rent, by the numbers that usage names them by; `None` where runs are named.
    pub rented: Option<&'g [RentedVm]>,
    /// Whether what a configuration costs per time is known before it was run.
    pub price_is_known: bool,
    /// Whether a look at a few steps is charged as a whole run.
    pub looks_cost_a_run: bool,
    /// Whether two replicas of a configuration may differ.
    pub has_luck: bool,
    /// What the quality of a run has to come to, where that is its target.
    pub goal: Option<Goal>,
    /// Shares of a run that cheap versions have, from the least.
    pub fidelities: &'g [f64],
}

impl<'g> Facts<'g> {
    pub fn rents(rented: &'g [RentedVm]) -> Facts<'g> {
        Facts {
            rented: Some(rented),
            price_is_known: true,
            looks_cost_a_run: false,
            has_luck: true,
            goal: None,
            fidelities: &[],
        }
    }
}

/// What is true of the configurations of a task: what an oracle knows.
pub trait Environment: Any + Send + Sync {
    fn facts(&self) -> Facts<'_>;

    /// Expected seconds of training to the target, without search and start-up; `None` where it is never reached.
    fn expected_time_s(&self, configuration: usize) -> Option<f64>;

    /// Whether expectations have no closed form and are means over runs.
    fn expects_by_runs(&self) -> bool {
        false
    }

    /// How steps of a configuration turn into progress; `None` where each is worth the same.
    fn pace(&self, _configuration: usize) -> Option<&Pace> {
        None
    }

    /// Whether means over runs tell the training itself, so that what strategies predict is held against their mean, too.
    fn runs_are_training(&self) -> bool {
        false
    }

    /// Most runs that tell what is expected of a configuration, where it has no closed form, or how far runs scatter.
    fn most_expectation_runs(&self, _configuration: usize) -> u64 {
        1
    }

    /// Whether VMs of a configuration may be lost or fail.
    fn may_lose(&self, _configuration: usize) -> bool {
        false
    }

    /// Whether a choice may turn out never to reach the target.
    fn may_fail(&self) -> bool {
        true
    }

    /// Whether all runs of a configuration are the same.
    fn is_constant(&self, _configuration: usize) -> bool {
        false
    }

    /// Whether a run of a configuration takes no longer than to look up what came of another.
    fn is_quick(&self, _configuration: usize, _fidelity: Fidelity) -> bool {
        true
    }

    /// Seconds that a configuration takes in the mean, where a formula tells that losses leave it no time to train.
    fn hopeless_s(&self, _configuration: usize) -> Option<f64> {
        None
    }

    /// Expected time and cost on `terms`, from the request of VMs and without search, in closed form; `usage` is overwritten.
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
        Point {
            time_s,
            cost_usd: self.plan_usd(configuration, time_s, tariff, usage),
        }
    }

    /// `usage` becomes that of a run of so many seconds, as everybody knows it beforehand.
    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage);

    /// USD for such a run under a tariff; `usage` is overwritten.
    fn plan_usd(
        &self,
        configuration: usize,
        seconds: f64,
        tariff: &Tariff,
        usage: &mut Usage,
    ) -> f64 {
        self.plan_usage(configuration, seconds, usage);
        tariff.bill_usd(usage)
    }

    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let rented = self.facts().rented.unwrap_or_default().iter();
        let vms = rented.map(|vm| RentedVmType {
            vm: &vm.name,
            on_spot: vm.on_spot,
        });
        policy.tariff(&vms.collect::<Vec<_>>(), fleet)
    }

    /// USD that one of many equal jobs of a configuration is expected to cost by formula, where it is made of such.
    fn job_cost_usd(&self, _configuration: usize, _tariff: &Tariff) -> Option<f64> {
        None
    }

    /// The model of the configurations that profiles of layers make, where there is one.
    fn layer_model(&self) -> Option<&dyn LayerModel> {
        None
    }

    /// Figures of a configuration, where it is a parallel plan.
    fn plan_metrics(&self, _configuration: usize) -> Option<PlanMetrics> {
        None
    }

    /// Whether a configuration was measured, interpolated, or extrapolated.
    fn provenance(&self, configuration: usize) -> &'static str;

    /// How far off what is said of a configuration may be, as far as its measurements tell.
    fn prediction_spread(&self, _configuration: usize) -> Spread {
        Spread::default()
    }

    /// Relative standard error of the mean time of an update, where that was measured so far.
    fn pace_error(&self, _configuration: usize) -> Option<f64> {
        None
    }

    /// The VMs of a configuration as lists show them, in the order of its plan; none where its cluster tells them.
    fn held_vms(&self, _configuration: usize) -> Vec<(RentedVm, u32)> {
        Vec::new()
    }

    /// How a configuration is simulated when `fidelity` is asked for, and why, where that is another.
    fn simulated_in(
        &self,
        configuration: usize,
        fidelity: Fidelity,
    ) -> (&'static str, Option<&str>);

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn JobTrial + 'g>;
}

//! Plans: a configuration under a policy, over drawn lives of its spot market.

use rayon::prelude::*;

use super::course::Course;
use super::spot::SpotMarket;
use scavsim_base::rng::Streams;
use scavsim_base::stats::normal;
use scavsim_base::units::SimTime;
use scavsim_engine::Interrupt;
use scavsim_measure::advise::rental::RentalChoice;
use scavsim_provision::forms::Form;
use scavsim_provision::job::{Job, LastTick};
use scavsim_provision::policy::Recipe;
use scavsim_provision::policy_run::watch;
use scavsim_provision::world::process::Process;
use scavsim_provision::world::transfer_costs::TransferCosts;
use scavsim_provision::world::{World, Zone};

/// Number of strata of equal probability for the hours of a job.
const STRATA: usize = 40;
/// Lengths of ticks in seconds; the longest with at least [`TICKS`] until the deadline is used.
const TICKS_S: [f64; 6] = [600.0, 300.0, 120.0, 60.0, 30.0, 10.0];
const TICKS: f64 = 200.0;
pub(super) const ON_DEMAND: &str = "on-demand";

/// The promise that all plans share.
#[derive(Debug)]
pub(super) struct Promise {
    /// Hours from now until the deadline.
    pub(super) deadline_h: f64,
    pub(super) miss: f64,
    /// Hours until machines begin to train.
    pub(super) setup_h: f64,
}

/// A configuration and its spot market.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// The configuration, on demand.
    pub(super) choice: &'a RentalChoice,
    /// The spot market, if a price is known.
    pub(super) spot: Option<SpotMarket>,
    /// Median hours of work, and the standard deviation of the logarithm.
    work_h: (f64, f64),
}

#[derive(Debug, Clone, Default)]
pub struct PlanResult {
    /// USD: the mean, and the ends of the 90 % interval.
    pub cost_usd: [f64; 3],
    /// Hours until the job is done: the mean, and the ends of the 90 % interval.
    pub done_h: [f64; 3],
    pub(super) kept: f64,
    /// Mean hours on spot machines and on demand, if the job needs exactly the planned hours.
    pub(super) planned_h: [f64; 2],
}

#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) candidate: &'a Candidate<'a>,
    pub(super) policy: &'a str,
    pub(super) recipe: &'a dyn Recipe,
    pub(super) came: PlanResult,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(
        choice: &'a RentalChoice,
        spot: Option<SpotMarket>,
        promise: &Promise,
    ) -> Self {
        let [_, low, high] = choice.time_h.map(|h| (h - promise.setup_h).max(1e-3));
        let sd = libm::log(high / low) / (2.0 * normal::AT_95);
        Candidate {
            choice,
            spot,
            work_h: ((low * high).sqrt(), sd),
        }
    }

    /// Hours of work that a share of runs does not exceed.
    pub(super) fn quantile_h(&self, share: f64) -> f64 {
        let (median, sd) = self.work_h;
        median * libm::exp(sd * normal::inverse_cdf(share))
    }

    /// Mean hours of work in each of [`STRATA`] parts of equal chance: n e^(μ + σ²/2) (Φ(b − σ) − Φ(a − σ)) between the normal
    /// quantiles a and b, so that their mean is that of the log-normal law.
    fn strata_h(&self) -> [f64; STRATA] {
        let (median, sd) = self.work_h;
        let mean = median * libm::exp(0.5 * sd * sd);
        let below = |part: usize| match part {
            0 => 0.0,
            STRATA => 1.0,
            part => normal::cdf(normal::inverse_cdf(part as f64 / STRATA as f64) - sd),
        };
        std::array::from_fn(|part| STRATA as f64 * mean * (below(part + 1) - below(part)))
    }

    pub(super) fn on_demand_usd_per_h(&self) -> f64 {
        self.choice.offer.cluster_usd_per_hour(self.choice.vms)
    }

    /// USD per hour of all machines in the cheapest market.
    pub(super) fn least_usd_per_h(&self) -> f64 {
        let on_demand = self.on_demand_usd_per_h();
        let spot =
            (self.spot.as_ref()).map(|spot| spot.offer.usd_per_hour * f64::from(self.choice.vms));
        spot.map_or(on_demand, |spot| spot.min(on_demand))
    }

    /// Seconds of work between checkpoints, by Young and Daly, and the factor by which they lengthen the work; `None` if machines are never
    /// lost.
    pub(super) fn checkpoints(&self, policy: &str) -> Option<(f64, f64)> {
        let spot = self.spot.as_ref().filter(|_| policy != ON_DEMAND)?;
        let checkpoint_s = self.choice.checkpoint_s;
        let every_s = (2.0 * checkpoint_s * spot.run_h.0 * 3600.0).sqrt();
        let every_s = every_s.max(60.0);
        Some((every_s, 1.0 + checkpoint_s / every_s))
    }

    pub(super) fn job(&self, policy: &str, promise: &Promise) -> Job {
        let checkpoints = self.checkpoints(policy);
        let stretch = checkpoints.map_or(1.0, |(_, stretch)| stretch);
        let restores_s = checkpoints.map_or(0.0, |_| self.choice.checkpoint_s);
        Job {
            work_s: 3600.0 * stretch * self.quantile_h(1.0 - promise.miss),
            deadline_s: 3600.0 * promise.deadline_h,
            changeover_s: 3600.0 * promise.setup_h + restores_s,
            reconfigure_s: None,
            checkpoint_gb: 0.0,
            checkpoint_every_s: checkpoints.map(|(every_s, _)| every_s),
            forms: vec![Form::of_machines(1)],
            searched: Vec::new(),
            lateness_usd_per_h: None,
            last_tick: LastTick::Used,
            probe_s: 60.0,
        }
    }

    /// The zone of the candidate, in which the market offers machines in these ticks. All machines of the job count as one: they are rented
    /// and lost together.
    pub(super) fn world(&self, tick_s: f64, offered: Vec<u16>) -> World {
        let on_demand = self.on_demand_usd_per_h();
        let spot = self.spot.as_ref().map(|spot| spot.offer.usd_per_hour);
        let spot = spot.map_or(on_demand, |usd| usd * f64::from(self.choice.vms));
        World {
            tick_s,
            zones: vec![Zone {
                name: "zone".to_owned(),
                region: "region".to_owned(),
                vm: None,
                on_demand_usd_per_h: on_demand,
                spot_usd_per_h: vec![spot; offered.len()],
                offered,
            }],
            moving: TransferCosts::free(1),
        }
    }
}

impl Promise {
    pub(super) fn tick_s(&self) -> f64 {
        let most = 3600.0 * self.deadline_h / TICKS;
        let fits = |tick_s: &f64| *tick_s <= most;
        TICKS_S.into_iter().find(fits).unwrap_or(10.0)
    }
}

impl<'a> Plan<'a> {
    /// Runs a policy on a configuration over `lives` lives; `None` if it cannot meet its deadline, or if the run is interrupted. All
    /// policies meet equal lives.
    pub(super) fn run(
        candidate: &'a Candidate<'a>,
        (policy, recipe): (&'a str, &'a dyn Recipe),
        promise: &Promise,
        lives: u64,
        interrupt: &Interrupt,
    ) -> Option<Plan<'a>> {
        let tick_s = promise.tick_s();
        let job = candidate.job(policy, promise);
        let ticks = job.ticks(tick_s);
        let may_use_spot = candidate.spot.is_some() && policy != ON_DEMAND;
        if !job.can_be_kept() || (policy != ON_DEMAND && candidate.spot.is_none()) {
            return None;
        }
        let means = candidate.spot.as_ref().filter(|_| may_use_spot);
        let process = means.map(|spot| {
            let (run_h, pause_h) = (spot.run_h.0, spot.pause_h.0);
            Process::of_means(tick_s, run_h, pause_h, 1)
        });
        let streams = Streams::new(0);
        let stretch = candidate
            .checkpoints(policy)
            .map_or(1.0, |(_, stretch)| stretch);
        let works_s = candidate.strata_h().map(|work_h| 3600.0 * stretch * work_h);
        let life = |replica: u64| {
            if interrupt.is_raised() {
                return None;
            }
            let offered = match &process {
                Some(process) => process.draw(&streams, "zone", replica, ticks),
                None => vec![0; ticks],
            };
            let world = candidate.world(tick_s, offered);
            let window = world.window(0, ticks)?;
            let (outcome, timeline) = watch(window, &job, &mut *recipe.policy());
            let course = Course::from_timeline(&timeline, candidate.on_demand_usd_per_h());
            let ends: Vec<(f64, f64)> = works_s
                .iter()
                .map(|&work_s| course.time_and_cost_at(work_s))
                .collect();
            Some((ends, [outcome.spot.hours(), outcome.on_demand.hours()]))
        };
        // Without a market there is nothing random.
        let count = if process.is_some() { lives } else { 1 };
        let all: Option<Vec<_>> = (0..count).into_par_iter().map(life).collect();
        Some(Plan {
            candidate,
            policy,
            recipe,
            came: PlanResult::from_ends(&all?, job.deadline()),
        })
    }
}

/// Ends of a life by the hours of the job, in seconds and USD; and hours on spot machines and on demand.
type Ends = (Vec<(f64, f64)>, [f64; 2]);

impl PlanResult {
    fn from_ends(lives: &[Ends], deadline: SimTime) -> PlanResult {
        let ends = || lives.iter().flat_map(|(ends, _)| ends);
        let count = ends().count().max(1) as f64;
        let in_time = ends().filter(|(at_s, _)| SimTime::from_seconds(*at_s) <= deadline);
        let mean_h = |of: usize| lives.iter().map(|(_, h)| h[of]).sum::<f64>() / lives.len() as f64;
        PlanResult {
            cost_usd: mean_with_interval(ends().map(|(_, usd)| *usd).collect()),
            done_h: mean_with_interval(ends().map(|(at_s, _)| at_s / 3600.0).collect()),
            kept: in_time.count() as f64 / count,
            planned_h: [mean_h(0), mean_h(1)],
        }
    }
}

/// The mean, and the 5 % and 95 % quantiles.
fn mean_with_interval(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * values.len() as f64).ceil() as usize;
        values.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    [mean, at(0.05), at(0.95)]
}

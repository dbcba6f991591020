//! The measured grid as a testbed: real runs, replayed.
//!
//! A configuration of which several runs were measured deals one of them to each replica. A probe is a run
//! of its own, charged as the grid says; one that goes on to the target is a run of the job.

use std::sync::Arc;

use super::job_site::{JobSite, Reached, Stand, Work};
use super::site::no_layers;
use super::{
    Facts, Ground, HeldVms, History, Length, Observation, PastRun, Point, Site, Stop, Target,
    Terms, Timeline,
};
use crate::grid::{Charge, Job, Outcome, ProbeCharge, Run};
use crate::testbed::history::RunPrice;
use scavsim_base::rng::{ConfigurationKey, Purpose, Streams, WorkloadKey, identity};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::{NoPrice, Policy, StatedPrices, Tariff};
use scavsim_data::usage::{Phase, Rented, Usage, VmInterval};
use scavsim_data::workload::StepCost;
use scavsim_sim::training::{Fidelity, Unfinished};

/// Most runs of a job: usage names them by a short number.
pub const MOST_RUNS: usize = u16::MAX as usize;

/// Most deals by which a configuration with several runs is judged.
const MOST_DEALS: u64 = 20_000;

/// A job of a grid as the ground of an arena.
#[derive(Debug)]
pub struct MeasuredGrid {
    job: Arc<Job>,
    probe: ProbeCharge,
    /// Number of each configuration's first run among all of the job.
    first: Vec<u16>,
    /// Keys of the random streams of configurations.
    keys: Vec<ConfigurationKey>,
}

impl MeasuredGrid {
    /// A job with at most [`MOST_RUNS`] runs.
    pub fn new(job: Arc<Job>, probe: ProbeCharge) -> MeasuredGrid {
        let of_job = WorkloadKey::of(&job.name);
        let (mut first, mut keys) = (Vec::new(), Vec::new());
        let mut runs = 0;
        for at in 0..job.space.len() {
            first.push(runs as u16);
            runs += job.runs(at).len();
            keys.push(of_job.configuration(identity(&job.space.name(at))));
        }
        MeasuredGrid {
            job,
            probe,
            first,
            keys,
        }
    }

    /// What the runs of a job left behind. Figures that were derived from other runs are left out.
    pub fn history(job: &Job) -> History {
        let past = |(number, (at, repeat, run)): (usize, (usize, usize, &Run))| {
            let space = &job.space;
            let step = run.compute_s.zip(run.communication_s);
            let known = |figure: Option<f64>, derived: bool| figure.filter(|_| !derived);
            PastRun {
                vm: space.vm(at).cloned(),
                workers: space.workers(at),
                batch: space.batch(at),
                other: space.other(at).map(Arc::from),
                step: step.map(|(compute_s, communication_s)| StepCost {
                    compute_s,
                    communication_s,
                }),
                noise_normalised: known(run.noise_normalised, run.derived.noise_normalised),
                epochs: known(run.epochs, run.derived.epochs),
                time_s: run.time_to_target_s(),
                has_failed: run.outcome != Outcome::Reached,
                price: RunPrice {
                    number,
                    ran_on: job.held(at).map(|(vm, _)| Arc::clone(vm)),
                    is_whole: run.outcome == Outcome::Reached,
                    seconds: run.time_s,
                    usd: job.cost_usd(at, repeat, run.time_s),
                },
            }
        };
        History {
            workload: job.name.clone(),
            program: job.program.clone(),
            parameters: None,
            runs: job.all_runs().enumerate().map(past).collect(),
        }
    }

    fn number(&self, configuration: usize, repeat: usize) -> u16 {
        self.first[configuration] + repeat as u16
    }

    /// The use of one run for so many seconds.
    fn interval(
        &self,
        configuration: usize,
        repeat: usize,
        from: SimTime,
        to: SimTime,
    ) -> VmInterval {
        let vms = self.job.held(configuration).map_or(1, |(_, vms)| vms);
        VmInterval::given_back((self.number(configuration, repeat), vms), from, to)
    }
}

/// What the runs of a job cost by the grid's own rule.
#[derive(Debug)]
struct Stated {
    job: Arc<Job>,
    /// Configuration and repeat of each run.
    runs: Vec<(usize, usize)>,
}

impl StatedPrices for Stated {
    fn usd(&self, run: u16, seconds: f64) -> f64 {
        let Some(&(configuration, repeat)) = self.runs.get(usize::from(run)) else {
            return 0.0;
        };
        (self.job.cost_usd(configuration, repeat, seconds)).unwrap_or(0.0)
    }
}

impl Ground for MeasuredGrid {
    fn facts(&self) -> Facts<'_> {
        Facts {
            rented: None,
            price_is_known: self.job.is_price_known_beforehand(),
            looks_cost_a_run: self.probe.charge == Charge::Whole,
            // A configuration with several runs deals one of them to each replica.
            has_luck: self.job.all_runs().any(|(_, repeat, _)| repeat > 0),
            ..Facts::rents(&[])
        }
    }

    /// All that its runs took, over those that reached the target: one that does not is begun again.
    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let runs = self.job.runs(configuration);
        let reached = runs
            .iter()
            .filter(|run| run.time_to_target_s().is_some())
            .count();
        let all: f64 = runs.iter().map(|run| run.time_s).sum();
        (reached > 0).then(|| all / reached as f64)
    }

    fn most_expectation_runs(&self, configuration: usize) -> u64 {
        match self.job.runs(configuration).len() {
            1 => 1,
            _ => MOST_DEALS,
        }
    }

    /// Real runs hold their start-up.
    fn expectation(
        &self,
        configuration: usize,
        _: &Terms,
        tariff: &Tariff,
        usage: &mut Usage,
    ) -> Point {
        let Some(time_s) = self.expected_time_s(configuration) else {
            return Point::NEVER;
        };
        let runs = self.job.runs(configuration);
        let mut cost_usd = 0.0;
        for (repeat, run) in runs.iter().enumerate() {
            let end = SimTime::from_seconds(run.time_s);
            let interval = self.interval(configuration, repeat, SimTime::ZERO, end);
            whole(usage, interval, self.job.space.batch(configuration));
            cost_usd += tariff.bill_usd(usage);
        }
        let reached = runs.iter().filter(|run| run.time_to_target_s().is_some());
        Point {
            time_s,
            cost_usd: cost_usd / reached.count() as f64,
        }
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        let end = SimTime::from_seconds(seconds);
        let interval = self.interval(configuration, 0, SimTime::ZERO, end);
        whole(usage, interval, self.job.space.batch(configuration));
    }

    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let all = || self.job.all_runs();
        if policy.is_as_measured() && self.job.has_cost() {
            return Ok(Tariff::as_stated(Arc::new(Stated {
                job: Arc::clone(&self.job),
                runs: all().map(|(at, repeat, _)| (at, repeat)).collect(),
            })));
        }
        let types: Option<Vec<Rented<'_>>> = all()
            .map(|(at, _, _)| {
                let vm = self.job.held(at)?.0;
                Some(Rented::as_priced(Shape::parse(vm).ok()?.vm_type))
            })
            .collect();
        policy.tariff(
            &types.ok_or_else(|| NoPrice {
                what: format!("`{}` does not say which VMs its runs held", self.job.name),
                help: "say `vms` in the grid's specification, or let it state its costs".to_owned(),
            })?,
            fleet,
        )
    }

    fn held(&self, configuration: usize) -> Vec<HeldVms> {
        let held = self.job.held(configuration).map(|(vm, vms)| HeldVms {
            vm: Arc::clone(vm),
            vms,
            on_spot: None,
        });
        held.into_iter().collect()
    }

    fn provenance(&self, _: usize) -> &'static str {
        "measured"
    }

    fn simulated_in(&self, _: usize, _: Fidelity) -> (&'static str, Option<&str>) {
        ("measured", None)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn Site + 'g> {
        let work = OnGrid {
            grid: self,
            streams: terms.streams,
            replica: 0,
        };
        Box::new(JobSite::at_zero(work, Runs::default()))
    }
}

/// Becomes the usage of one interval.
fn whole(usage: &mut Usage, interval: VmInterval, batch: Option<u32>) {
    usage.clear();
    usage.sample_seconds = f64::from(batch.unwrap_or(0)) * interval.seconds();
    usage.intervals.push(interval);
}

/// What runs on a grid, in one replica.
struct OnGrid<'g> {
    grid: &'g MeasuredGrid,
    streams: Streams,
    replica: u64,
}

/// What a job has run.
#[derive(Debug, Clone, Default)]
struct Runs {
    now: SimTime,
    /// The run, with its configuration, that is about to begin.
    next: Option<(usize, usize)>,
    /// What was run, with its global batch.
    used: Vec<(VmInterval, Phase, u32)>,
}

impl OnGrid<'_> {
    /// The run that this replica deals to a configuration.
    fn dealt(&self, configuration: usize) -> (usize, Run) {
        let runs = self.grid.job.runs(configuration);
        let repeat = match runs.len() {
            1 => 0,
            count => {
                let purpose = Purpose::Luck(self.grid.keys[configuration]);
                let mut stream = self.streams.stream(self.replica, purpose);
                stream.below(count)
            }
        };
        (repeat, runs[repeat])
    }

    /// Runs a configuration for so many seconds.
    fn spend(
        &self,
        at: &mut Stand<Runs>,
        (configuration, repeat): (usize, usize),
        seconds: f64,
        phase: Phase,
    ) {
        let from = at.job.now;
        let to = from + SimTime::from_seconds(seconds);
        let interval = self.grid.interval(configuration, repeat, from, to);
        let batch = self.grid.job.space.batch(configuration).unwrap_or(0);
        at.job.used.push((interval, phase, batch));
        (at.job.now, at.job.next) = (to, None);
        at.current = Some(configuration);
    }

    /// Seconds that a probe of this length is charged.
    fn charged_s(&self, now: SimTime, run: &Run, length: Length) -> Result<f64, Stop> {
        let probe = self.grid.probe;
        Ok(match (probe.charge, length) {
            (_, Length::Profile(_)) => return Err(no_layers()),
            (_, Length::Until(end) | Length::WholeUntil(end)) if probe.cut_off => {
                let most = (end.max(now) - now).seconds();
                run.time_s.min(most)
            }
            (_, Length::Whole | Length::Until(_) | Length::WholeUntil(_)) | (Charge::Whole, _) => {
                run.time_s
            }
            (Charge::Share(share), _) => run.time_s * share.get(),
            (Charge::Steps, Length::Share(share)) => run.time_s * share,
            (Charge::Steps, Length::Steps(steps)) => {
                let step_s = run.step_s.ok_or_else(|| {
                    let why = "a probe of steps on a run whose step time was not measured";
                    Stop::Failed(why.to_owned())
                })?;
                run.time_s.min(steps as f64 * step_s)
            }
        })
    }
}

/// What `seconds` of a run show.
fn seen(run: &Run, seconds: f64) -> Observation {
    let is_over = seconds >= run.time_s;
    // Nothing of a step is seen before one is complete.
    let steps = run
        .step_s
        .map(|step_s| (seconds / step_s * (1.0 + 1e-12)).floor());
    let some = is_over || steps.is_none_or(|steps| steps >= 1.0);
    let shown = |figure: Option<f64>| figure.filter(|_| some);
    Observation {
        steps: steps.map(|steps| steps as u64),
        step_s: shown(run.step_s),
        compute_s: shown(run.compute_s),
        communication_s: shown(run.communication_s),
        noise_normalised: shown(run.noise_normalised),
        target: match run.outcome {
            Outcome::Reached if is_over => Target::Reached(run.time_s),
            Outcome::Failed if is_over => Target::Failed(run.time_s),
            _ => Target::MoreThan(seconds),
        },
    }
}

impl Work for OnGrid<'_> {
    type Job = Runs;

    fn restart(&mut self, job: &mut Runs, replica: u64) {
        self.replica = replica;
        job.used.clear();
        (job.now, job.next) = (SimTime::ZERO, None);
    }

    fn now(job: &Runs) -> SimTime {
        job.now
    }

    /// A run takes its VMs when it begins: nothing is held between two.
    fn hold(&mut self, job: &mut Runs, at: usize, _: Option<f64>) -> Result<bool, Unfinished> {
        let (repeat, _) = self.dealt(at);
        job.next = Some((at, repeat));
        Ok(false)
    }

    fn settles(&self, steps: u64) -> bool {
        steps > 0
    }

    fn probe(
        &mut self,
        at: &mut Stand<Runs>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop> {
        let (repeat, run) = self.dealt(configuration);
        let seconds = self.charged_s(at.job.now, &run, length)?;
        self.spend(at, (configuration, repeat), seconds, Phase::Searching);
        let seen = seen(&run, seconds);
        if let Target::Reached(_) = seen.target {
            // A run to the target during the search has done the job.
            let reached = Reached {
                configuration,
                at: at.job.now,
                lost_vms: 0,
                totals: None,
            };
            at.reach(self, reached);
        }
        Ok(seen)
    }

    fn run(&mut self, at: &mut Stand<Runs>, choice: usize) -> Result<Timeline, Unfinished> {
        let search_end = at.job.now;
        let (repeat, run) = self.dealt(choice);
        let reaches = run.time_to_target_s().is_some();
        // What fails was one more trial.
        let phase = if reaches {
            Phase::Training
        } else {
            Phase::Searching
        };
        self.spend(at, (choice, repeat), run.time_s, phase);
        let end = at.job.now;
        if !reaches {
            return Err(Unfinished::Unreached { at: end });
        }
        Ok(Timeline::of(choice, search_end, end, 0))
    }

    fn usage_until(&self, job: &Runs, end: SimTime, usage: &mut Usage) {
        usage.clear();
        let next = job.next.map(|(configuration, repeat)| {
            let interval = (self.grid).interval(configuration, repeat, job.now, end);
            let batch = self.grid.job.space.batch(configuration).unwrap_or(0);
            (interval, Phase::Searching, batch)
        });
        for (interval, phase, batch) in job.used.iter().chain(&next) {
            let held = interval.until(end);
            if held.from >= held.to {
                continue;
            }
            let seconds = held.seconds();
            usage.intervals.push(held);
            usage.sample_seconds += f64::from(*batch) * seconds;
            usage.phases.add_samples(*phase, *batch, seconds);
            (usage.phases).add_vms(*phase, interval.vm, interval.vms, seconds);
        }
    }
}

//! The measured grid as a testbed: real runs, replayed. Each replica is dealt one of the runs of a configuration. A probe is
//! a run of its own, charged as the grid says; one to the target is a run of the job.

use std::sync::Arc;

use super::{Charge, CheapRuns, Job, Outcome, ProbeCharge, Run, StepFrom};
use scavsim_base::rng::{ConfigurationKey, Purpose, Streams, WorkloadKey, identity};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::configuration::Shape;
use scavsim_data::pricing::{NoPrice, Policy, StatedPrices, Tariff};
use scavsim_data::usage::{Phase, RentedVm, RentedVmType, Usage, UsageJournal, VmInterval};
use scavsim_data::workload::StepCost;
use scavsim_search::testbed::history::RunPrice;
use scavsim_search::testbed::job_trial::{no_fidelities, no_layers};
use scavsim_search::testbed::work_trial::{ProbedWork, ReachedTarget, Stand, Work, WorkTrial};
use scavsim_search::testbed::{
    Environment, Facts, History, JobTrial, Length, Observation, PastRun, Point, Stop, Target,
    Terms, Timeline,
};
use scavsim_sim::training::{Fidelity, UnfinishedJob};

/// Most runs of a job: usage names them by a short number.
pub const MOST_RUNS: usize = u16::MAX as usize;

/// Most deals by which a configuration with several runs is judged.
const MOST_DEALS: u64 = 20_000;

#[derive(Debug)]
pub struct MeasuredGrid {
    job: Arc<Job>,
    probe: ProbeCharge,
    /// Number of each configuration's first run among all of the job.
    first: Vec<u16>,
    /// Shares that its cheap versions have, and the number of each configuration's first run among these, by shares.
    fidelities: Vec<f64>,
    cheap: Vec<Vec<u16>>,
    keys: Vec<ConfigurationKey>,
    has_luck: bool,
}

impl MeasuredGrid {
    pub fn new(job: Arc<Job>, probe: ProbeCharge) -> MeasuredGrid {
        let of_job = WorkloadKey::from_name(&job.name);
        let mut keys = Vec::new();
        let mut runs = 0;
        let mut numbers = |job: &Job| {
            let each = (0..job.space.len()).map(|at| {
                let first = runs as u16;
                runs += job.runs(at).len();
                first
            });
            each.collect::<Vec<u16>>()
        };
        let first = numbers(&job);
        let cheap = job.cheap.iter().map(|cheap| numbers(&cheap.job)).collect();
        for at in 0..job.space.len() {
            keys.push(of_job.configuration(identity(&job.space.name(at))));
        }
        MeasuredGrid {
            fidelities: job.cheap.iter().map(|cheap| cheap.share).collect(),
            has_luck: has_repeats(&job) || job.cheap.iter().any(|cheap| has_repeats(&cheap.job)),
            job,
            probe,
            first,
            cheap,
            keys,
        }
    }

    /// What the runs of a job left behind. Figures that were derived from other runs are left out.
    pub fn history(job: &Job) -> History {
        let past = |(number, (at, repeat, run)): (usize, (usize, usize, &Run))| {
            let space = &job.space;
            let step = run.compute_s.zip(run.communication_s);
            let known = |figure: Option<f64>, derived: bool| figure.filter(|_| !derived);
            let mut past = PastRun::default();
            past.vm = space.vm(at).cloned();
            past.workers = space.workers(at);
            past.batch = space.batch(at);
            past.other = space.other(at).map(Arc::from);
            past.step = step.map(|(compute_s, communication_s)| StepCost {
                compute_s,
                communication_s,
            });
            past.noise_normalised = known(run.noise_normalised, run.derived.noise_normalised);
            past.epochs = known(run.epochs, run.derived.epochs);
            past.time_s = run.time_to_target_s();
            past.has_failed = run.outcome != Outcome::Reached;
            past.price = RunPrice {
                number,
                ran_on: job.vms_of(at).map(|(vm, _)| Arc::clone(vm)),
                is_whole: run.outcome == Outcome::Reached,
                seconds: run.time_s,
                usd: job.cost_usd(at, repeat, run.time_s),
            };
            past
        };
        History {
            workload: job.name.clone(),
            program: job.program.clone(),
            parameters: None,
            runs: job.all_runs().enumerate().map(past).collect(),
        }
    }

    fn number(&self, run: DrawnRun) -> u16 {
        let first = match run.cheap {
            Some((level, place)) => self.cheap[level][place],
            None => self.first[run.configuration],
        };
        first + run.repeat as u16
    }

    /// What a run holds, and its global batch.
    fn held_interval(&self, run: DrawnRun, from: SimTime, to: SimTime) -> (VmInterval, u32) {
        let vms = self.job.vms_of(run.configuration).map_or(1, |(_, vms)| vms);
        let batch = self.job.space.batch(run.configuration).unwrap_or(0);
        let vms = (self.number(run), vms);
        (VmInterval::given_back(vms, from, to), batch)
    }

    /// So many seconds of a run of a configuration, and nothing else.
    fn set_usage(&self, (configuration, repeat): (usize, usize), seconds: f64, usage: &mut Usage) {
        let run = DrawnRun::full_run(configuration, repeat);
        let (held, batch) = self.held_interval(run, SimTime::ZERO, SimTime::from_seconds(seconds));
        usage.clear();
        usage.hold(held, Phase::Training, batch);
    }
}

#[derive(Debug, Clone, Copy)]
struct DrawnRun {
    configuration: usize,
    /// Which cheap version it is, if it is one, and the configuration that stands for this one there.
    cheap: Option<(usize, usize)>,
    repeat: usize,
}

impl DrawnRun {
    fn full_run(configuration: usize, repeat: usize) -> DrawnRun {
        DrawnRun {
            configuration,
            cheap: None,
            repeat,
        }
    }
}

/// Whether a configuration of a job was run several times.
fn has_repeats(job: &Job) -> bool {
    job.all_runs().any(|(_, repeat, _)| repeat > 0)
}

/// What the runs of a job cost by the grid's own rule.
#[derive(Debug)]
struct GridStatedPrices {
    job: Arc<Job>,
    /// Each run: of which cheap version, if it is one, its configuration there and repeat.
    runs: Vec<(Option<usize>, usize, usize)>,
}

impl StatedPrices for GridStatedPrices {
    fn usd(&self, run: u16, seconds: f64) -> f64 {
        let Some(&(level, at, repeat)) = self.runs.get(usize::from(run)) else {
            return 0.0;
        };
        let job = level.map_or(&*self.job, |level| &self.job.cheap[level].job);
        job.cost_usd(at, repeat, seconds).unwrap_or(0.0)
    }
}

impl Environment for MeasuredGrid {
    fn facts(&self) -> Facts<'_> {
        Facts {
            rented: None,
            price_is_known: self.job.is_price_known_beforehand(),
            looks_cost_a_run: self.probe.charge == Charge::Whole,
            has_luck: self.has_luck,
            goal: self.job.goal,
            fidelities: &self.fidelities,
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
            self.set_usage((configuration, repeat), run.time_s, usage);
            cost_usd += tariff.bill_usd(usage);
        }
        let reached = runs.iter().filter(|run| run.time_to_target_s().is_some());
        Point {
            time_s,
            cost_usd: cost_usd / reached.count() as f64,
        }
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        self.set_usage((configuration, 0), seconds, usage);
    }

    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let whole = std::iter::once((None, &*self.job));
        let cheap = self.job.cheap.iter().enumerate();
        let cheap = cheap.map(|(level, cheap)| (Some(level), &cheap.job));
        // In the order of their numbers.
        let all = || {
            let jobs = whole.clone().chain(cheap.clone());
            jobs.flat_map(|(level, job)| job.all_runs().map(move |run| (level, job, run)))
        };
        if policy.is_as_measured() && self.job.has_cost() {
            return Ok(Tariff::as_stated(Arc::new(GridStatedPrices {
                job: Arc::clone(&self.job),
                runs: all()
                    .map(|(level, _, (at, repeat, _))| (level, at, repeat))
                    .collect(),
            })));
        }
        let types: Option<Vec<RentedVmType<'_>>> = all()
            .map(|(_, job, (at, _, _))| {
                let vm = job.vms_of(at)?.0;
                Some(RentedVmType::as_priced(Shape::parse(vm).ok()?.vm_type))
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

    fn held_vms(&self, configuration: usize) -> Vec<(RentedVm, u32)> {
        let held = self.job.vms_of(configuration).map(|(vm, vms)| {
            let (name, on_spot) = (Arc::clone(vm), None);
            (RentedVm { name, on_spot }, vms)
        });
        held.into_iter().collect()
    }

    fn provenance(&self, _: usize) -> &'static str {
        "measured"
    }

    fn simulated_in(&self, _: usize, _: Fidelity) -> (&'static str, Option<&str>) {
        ("measured", None)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn JobTrial + 'g> {
        let work = OnGrid {
            grid: self,
            streams: terms.streams,
            replica: 0,
        };
        Box::new(WorkTrial::at_zero(work, Runs::default()))
    }
}

struct OnGrid<'g> {
    grid: &'g MeasuredGrid,
    streams: Streams,
    replica: u64,
}

#[derive(Debug, Clone, Default)]
struct Runs {
    now: SimTime,
    /// The run that is about to begin.
    next: Option<DrawnRun>,
    used: UsageJournal,
}

impl OnGrid<'_> {
    fn drawn_run(&self, configuration: usize) -> (DrawnRun, Run) {
        let runs = self.grid.job.runs(configuration);
        let repeat = self.repeat(configuration, runs.len());
        (DrawnRun::full_run(configuration, repeat), runs[repeat])
    }

    /// Which of so many runs this replica deals to a configuration.
    fn repeat(&self, configuration: usize, count: usize) -> usize {
        match count {
            1 => 0,
            count => {
                let purpose = Purpose::Luck(self.grid.keys[configuration]);
                let mut stream = self.streams.stream(self.replica, purpose);
                stream.below(count)
            }
        }
    }

    /// The cheap version of a configuration with a share of its run, that this replica deals; `None` where it was not run so.
    fn dealt_cheap(
        &self,
        configuration: usize,
        share: f64,
    ) -> Result<Option<(DrawnRun, Run)>, Stop> {
        let all = &self.grid.job.cheap;
        let same = |cheap: &CheapRuns| (cheap.share - share).abs() <= SAME_SHARE;
        let Some(level) = all.iter().position(same) else {
            return Err(if all.is_empty() {
                no_fidelities()
            } else {
                let shares: Vec<String> = all.iter().map(|cheap| cheap.share.to_string()).collect();
                Stop::Failed(format!(
                    "no cheap version of a run has a share of {share}: there are {}",
                    shares.join(", ")
                ))
            });
        };
        let Some(place) = all[level].place(configuration) else {
            return Ok(None);
        };
        let runs = all[level].job.runs(place);
        let repeat = self.repeat(configuration, runs.len());
        let dealt = DrawnRun {
            configuration,
            cheap: Some((level, place)),
            repeat,
        };
        Ok(Some((dealt, runs[repeat])))
    }

    fn spend(&self, at: &mut Stand<Runs>, run: DrawnRun, seconds: f64, phase: Phase) {
        let from = at.job.now;
        let to = from + SimTime::from_seconds(seconds);
        if to > from {
            let (held, batch) = self.grid.held_interval(run, from, to);
            at.job.used.hold(held, phase, batch);
        }
        (at.job.now, at.job.next) = (to, None);
        at.current = Some(run.configuration);
    }

    /// Seconds that a probe of this length is charged.
    fn charged_s(&self, now: SimTime, run: &Run, length: Length) -> Result<f64, Stop> {
        let probe = self.grid.probe;
        Ok(match (probe.charge, length) {
            (_, Length::Profile(_)) => return Err(no_layers()),
            (_, Length::Fidelity(_)) => run.time_s,
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

/// Shares that differ by no more are the same.
const SAME_SHARE: f64 = 1e-9;

fn whole_share() -> Stop {
    Stop::Failed("a share of 1 is no cheap version: ask for a run to the target".to_owned())
}

fn observation_of(run: &Run, seconds: f64) -> Observation {
    let is_over = seconds >= run.time_s;
    // Nothing of a step is seen before one is complete.
    let steps = run
        .step_s
        .map(|step_s| (seconds / step_s * (1.0 + 1e-12)).floor());
    let some = is_over || steps.is_none_or(|steps| steps >= 1.0);
    let shown = |figure: Option<f64>| figure.filter(|_| some);
    let target = match run.outcome {
        Outcome::Reached if is_over => Target::Reached(run.time_s),
        Outcome::Failed if is_over => Target::Failed(run.time_s),
        _ => Target::MoreThan(seconds),
    };
    let steps = steps.map(|steps| steps as u64);
    let mut seen = Observation::of_steps(steps, shown(run.step_s), target);
    seen.step_is_of_run = run.step_from == StepFrom::WholeRun;
    seen.compute_s = shown(run.compute_s);
    seen.communication_s = shown(run.communication_s);
    seen.noise_normalised = shown(run.noise_normalised);
    seen.quality = run.quality.filter(|_| is_over);
    seen
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
    fn hold(&mut self, job: &mut Runs, at: usize, _: Option<f64>) -> Result<bool, UnfinishedJob> {
        let (run, _) = self.drawn_run(at);
        job.next = Some(run);
        Ok(false)
    }

    fn usage_until(&self, job: &Runs, end: SimTime, usage: &mut Usage) {
        job.used.usage_until(end, usage);
        if let Some(run) = job.next.filter(|_| job.now < end) {
            let (held, batch) = self.grid.held_interval(run, job.now, end);
            usage.hold(held, Phase::Searching, batch);
        }
    }
}

impl ProbedWork for OnGrid<'_> {
    fn settles(&self, steps: u64) -> bool {
        steps > 0
    }

    fn probe(
        &mut self,
        at: &mut Stand<Runs>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop> {
        let is_cheap = matches!(length, Length::Fidelity(_));
        let (dealt, run) = match length {
            Length::Fidelity(share) if share < 1.0 => {
                match self.dealt_cheap(configuration, share)? {
                    Some(dealt) => dealt,
                    // Nobody knows what it would have shown or cost.
                    None => return Ok(Observation::default()),
                }
            }
            Length::Fidelity(_) => return Err(whole_share()),
            _ => self.drawn_run(configuration),
        };
        let seconds = self.charged_s(at.job.now, &run, length)?;
        self.spend(at, dealt, seconds, Phase::Searching);
        let mut seen = observation_of(&run, seconds);
        if seen.quality.is_none() && !is_cheap {
            let repeat = dealt.repeat;
            seen.quality = (self.grid.job).quality_after(configuration, repeat, seconds);
        }
        if is_cheap {
            // Part of the data or of the epochs says nothing for sure of the whole run.
            seen.target = Target::Unknown;
        }
        if let Target::Reached(_) = seen.target {
            // A run to the target during the search has done the job.
            let reached = ReachedTarget {
                configuration,
                at: at.job.now,
                lost_vms: 0,
                totals: None,
            };
            at.reach(self, reached);
        }
        Ok(seen)
    }

    fn run(&mut self, at: &mut Stand<Runs>, choice: usize) -> Result<Timeline, UnfinishedJob> {
        let search_end = at.job.now;
        let (dealt, run) = self.drawn_run(choice);
        let reaches = run.time_to_target_s().is_some();
        // What fails was one more trial.
        let phase = if reaches {
            Phase::Training
        } else {
            Phase::Searching
        };
        self.spend(at, dealt, run.time_s, phase);
        let end = at.job.now;
        if !reaches {
            return Err(UnfinishedJob::Unreached { at: end });
        }
        Ok(Timeline::new(choice, search_end, end, 0))
    }
}

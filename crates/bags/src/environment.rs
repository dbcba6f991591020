//! A bag of jobs as a testbed: every run and probe requests VMs of its own. Results of a probe are lost, but to the target.

use std::sync::Arc;

use crate::{Bag, BagChoices, BagJob, BagRunSpec, formula};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::{Phase, RentedVm, Usage};
use scavsim_engine::Interrupt;
use scavsim_search::search::WorkloadFacts;
use scavsim_search::testbed::job_trial::{no_fidelities, no_layers};
use scavsim_search::testbed::work_trial::{
    ProbedWork, ReachedTarget, Stand, Work, WorkTrial, in_order,
};
use scavsim_search::testbed::{
    Environment, Facts, JobTrial, Length, Observation, Stop, Target, Terms, Timeline,
};
use scavsim_sim::cluster::Pause;
use scavsim_sim::training::log::Entry;
use scavsim_sim::training::{Fidelity, UnfinishedJob};

/// Most runs that tell what is expected.
const MOST_EXPECTATION_RUNS: u64 = 20_000;

/// Jobs of a probe, where the strategy's settings do not say.
const PROBE_JOBS: u64 = 8;

/// What is known of a bag of jobs before a search: its steps are its jobs.
pub fn workload_facts() -> WorkloadFacts {
    WorkloadFacts {
        probe_steps: PROBE_JOBS,
        ..WorkloadFacts::default()
    }
}

#[derive(Debug)]
pub struct BagEnvironment {
    bag: Arc<Bag>,
    choices: Arc<BagChoices>,
    /// Seconds of each configuration without luck.
    calm_s: Vec<f64>,
}

impl BagEnvironment {
    pub fn new(bag: Arc<Bag>, choices: Arc<BagChoices>) -> BagEnvironment {
        let calm = Arc::new(bag.without_luck());
        let mut ground = BagEnvironment {
            bag: calm,
            choices,
            calm_s: Vec::new(),
        };
        let streams = Streams::new(0);
        let times = (0..ground.choices.sizes.len()).map(|at| {
            let mut job = BagJob::new(&ground.bag, "", &streams, 0, &Interrupt::NEVER);
            let whole = (ground.bag.needed, SimTime::LAST);
            let of = ground.run_spec(at, Phase::Training);
            let ended = job.run(of, whole);
            ended.map_or(f64::INFINITY, |_| job.now.seconds())
        });
        let calm_s: Vec<f64> = times.collect();
        (ground.calm_s, ground.bag) = (calm_s, bag);
        ground
    }

    fn run_spec(&self, configuration: usize, phase: Phase) -> BagRunSpec<'_> {
        let size = &self.choices.sizes[configuration];
        BagRunSpec {
            bag: &self.bag,
            size,
            on_spot: self.choices.types[usize::from(size.vm)].on_spot == Some(true),
            head: self.choices.head,
            phase,
        }
    }
}

impl Environment for BagEnvironment {
    fn facts(&self) -> Facts<'_> {
        Facts::rents(&self.choices.types)
    }

    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let calm_s = self.calm_s[configuration];
        calm_s.is_finite().then_some(calm_s)
    }

    fn expects_by_runs(&self) -> bool {
        true
    }

    fn may_lose(&self, configuration: usize) -> bool {
        !self.bag.loss.is_never() || self.choices.sizes[configuration].life.is_some()
    }

    fn most_expectation_runs(&self, configuration: usize) -> u64 {
        let is_calm = !self.may_lose(configuration);
        let boots = [&self.bag.first_boot, &self.bag.boot];
        let boot_alike = boots.iter().all(|boot| matches!(boot, Pause::Fixed(_)));
        if is_calm && boot_alike && self.bag.job_time.sigma() == 0.0 {
            1
        } else {
            MOST_EXPECTATION_RUNS
        }
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        let size = &self.choices.sizes[configuration];
        let workers = (size.vm, size.vms());
        let head = self.choices.head.map(|vm| (vm, 1));
        usage.set_whole([workers].into_iter().chain(head), 0, seconds);
    }

    fn provenance(&self, _: usize) -> &'static str {
        match self.bag.surrogate {
            Some(_) => "formula",
            None => "stated",
        }
    }

    fn held_vms(&self, configuration: usize) -> Vec<(RentedVm, u32)> {
        let size = &self.choices.sizes[configuration];
        let rented = self.choices.types[usize::from(size.vm)].clone();
        vec![(rented, size.vms())]
    }

    fn job_cost_usd(&self, configuration: usize, tariff: &Tariff) -> Option<f64> {
        let size = &self.choices.sizes[configuration];
        let usd = tariff.usd_per_vm_hour(usize::from(size.vm))?;
        let expected_s = formula::expected_job_s(&self.bag, size)?;
        Some(formula::expected_usd(usd, size.vms_per_job, expected_s))
    }

    fn simulated_in(&self, _: usize, _: Fidelity) -> (&'static str, Option<&str>) {
        (Fidelity::Event.name(), None)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn JobTrial + 'g> {
        let work = OnBag {
            ground: self,
            terms: terms.clone(),
        };
        let start = work.start(0);
        Box::new(WorkTrial::at_zero(work, start))
    }
}

struct OnBag<'g> {
    ground: &'g BagEnvironment,
    terms: Terms,
}

impl OnBag<'_> {
    fn start(&self, replica: u64) -> BagJob {
        let BagEnvironment { bag, choices, .. } = self.ground;
        let (streams, interrupt) = (&self.terms.streams, &self.terms.interrupt);
        BagJob::new(bag, &choices.name, streams, replica, interrupt)
    }
}

impl Work for OnBag<'_> {
    type Job = BagJob;

    fn restart(&mut self, job: &mut BagJob, replica: u64) {
        job.held.clear();
        let own = std::mem::replace(job, self.start(replica));
        (job.held, job.queue) = (own.held, own.queue);
        (job.slots, job.vms) = (own.slots, own.vms);
        job.log = own.log.map(|_| Vec::new());
    }

    fn now(job: &BagJob) -> SimTime {
        job.now
    }

    /// A bag requests its VMs when it begins: nothing is held between two.
    fn hold(&mut self, _: &mut BagJob, _: usize, _: Option<f64>) -> Result<bool, UnfinishedJob> {
        Ok(false)
    }

    fn usage_until(&self, job: &BagJob, end: SimTime, usage: &mut Usage) {
        job.held.usage_until(end, usage);
    }

    fn watch(&mut self, job: &mut BagJob, _: u64) {
        job.log = Some(Vec::new());
    }

    fn noted_until(&mut self, job: &mut BagJob, end: SimTime) -> Vec<Entry> {
        let mut all = job.log.take().unwrap_or_default();
        let is_span = |entry: &Entry| entry.until > entry.at;
        all.retain(|entry| entry.at < end || entry.at == end && !is_span(entry));
        in_order(self, job, all, end)
    }
}

impl ProbedWork for OnBag<'_> {
    fn settles(&self, _: u64) -> bool {
        false
    }

    fn probe(
        &mut self,
        at: &mut Stand<BagJob>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop> {
        let before = at.job.now;
        let all = self.ground.bag.needed;
        let some = |jobs: f64| (jobs.ceil() as u32).clamp(1, all);
        let goal = match length {
            Length::Steps(jobs) => (some(jobs as f64), SimTime::LAST),
            Length::Share(share) => (some(share * f64::from(all)), SimTime::LAST),
            Length::Whole => (all, SimTime::LAST),
            Length::WholeUntil(end) | Length::Until(end) => (all, end.max(before)),
            Length::Profile(_) => return Err(no_layers()),
            Length::Fidelity(_) => return Err(no_fidelities()),
        };
        at.current = Some(configuration);
        let of = self.ground.run_spec(configuration, Phase::Searching);
        let results = at.job.run(of, goal)?;
        let seconds = (at.job.now - before).seconds();
        let is_whole = results >= all;
        if is_whole {
            let reached = ReachedTarget {
                configuration,
                at: at.job.now,
                lost_vms: at.job.held.lost_vms(),
                totals: None,
            };
            at.reach(self, reached);
        }
        let target = if is_whole {
            Target::Reached(seconds)
        } else {
            Target::MoreThan(seconds)
        };
        let step_s = (results > 0).then(|| seconds / f64::from(results));
        let steps = Some(u64::from(results));
        Ok(Observation::of_steps(steps, step_s, target))
    }

    fn run(&mut self, at: &mut Stand<BagJob>, choice: usize) -> Result<Timeline, UnfinishedJob> {
        let search_end = at.job.now;
        let whole = (self.ground.bag.needed, SimTime::LAST);
        at.current = Some(choice);
        let of = self.ground.run_spec(choice, Phase::Training);
        at.job.run(of, whole)?;
        let lost_vms = at.job.held.lost_vms();
        Ok(Timeline::new(choice, search_end, at.job.now, lost_vms))
    }
}

#[cfg(test)]
mod tests;

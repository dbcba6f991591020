//! A bag of jobs as a testbed: every run and probe requests VMs of its own. Results of a probe are lost, but to the target.

use std::sync::Arc;

use crate::bag_environment::BagEnvironment;
use crate::{BagEnd, BagJob, Run, formula};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::pricing::Tariff;
use scavsim_data::usage::{Phase, Usage};
use scavsim_search::testbed::job_trial::{no_fidelities, no_layers};
use scavsim_search::testbed::work_trial::{
    ProbedWork, ReachedTarget, Stand, Work, WorkTrial, in_order,
};
use scavsim_search::testbed::{
    Environment, Facts, HeldVms, JobTrial, Length, Observation, Stop, Target, Terms, Timeline,
};
use scavsim_sim::cluster::Pause;
use scavsim_sim::training::log::{Entry, LogEvent, Track};
use scavsim_sim::training::{Fidelity, UnfinishedJob};

/// Most runs that tell what is expected.
const MOST_EXPECTATION_RUNS: u64 = 20_000;

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

    fn held_vms(&self, configuration: usize) -> Vec<HeldVms> {
        let size = &self.choices.sizes[configuration];
        let types = &self.choices.types;
        let vm = types.get(usize::from(size.vm)).map(|vm| &vm.name);
        let held = vm.map(|vm| HeldVms {
            vm: Arc::clone(vm),
            vms: size.vms(),
            on_spot: (types.iter())
                .any(|other| other.name == *vm && other.on_spot == Some(true))
                .then_some(true),
        });
        held.into_iter().collect()
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
            streams: terms.streams,
            run: Run::new(&terms.interrupt),
        };
        let start = work.start(0);
        Box::new(WorkTrial::at_zero(work, start))
    }
}

struct OnBag<'g> {
    ground: &'g BagEnvironment,
    streams: Streams,
    run: Run,
}

#[derive(Debug, Clone)]
struct TimedBagJob {
    now: SimTime,
    job: BagJob,
}

impl OnBag<'_> {
    fn start(&self, replica: u64) -> TimedBagJob {
        let ground = self.ground;
        TimedBagJob {
            now: SimTime::ZERO,
            job: BagJob::new(&ground.bag, &ground.choices.name, &self.streams, replica),
        }
    }

    fn spend(
        &mut self,
        at: &mut Stand<TimedBagJob>,
        configuration: usize,
        phase: Phase,
        goal: (u32, SimTime),
    ) -> Result<BagEnd, UnfinishedJob> {
        let TimedBagJob { now, job } = &mut at.job;
        let from = *now;
        let of = self.ground.run_spec(configuration, phase);
        let ended = self.run.run(of, job, from, goal);
        let end = match &ended {
            Ok(ended) => ended.at,
            Err(why) => why.ended_at().max(from),
        };
        if let Some(head) = self.ground.choices.head {
            job.held.hold(phase, (head, 1), from, end);
        }
        self.note(from, end, phase);
        (*now, at.current) = (end, Some(configuration));
        ended
    }

    /// What a run did as a whole, and the head node for it.
    fn note(&mut self, from: SimTime, end: SimTime, phase: Phase) {
        let Some(log) = &mut self.run.log else {
            return;
        };
        if let Some(head) = self.ground.choices.head {
            if !log.iter().any(|entry| entry.track == Track::Head) {
                log.push(Entry::instant(from, Track::Head, LogEvent::Requested(head)));
            }
            if end > from {
                log.push(Entry::span(
                    (from, end),
                    Track::Head,
                    LogEvent::Running(head),
                ));
            }
        }
        log.push(Entry::span((from, end), Track::Job, LogEvent::Phase(phase)));
    }
}

impl Work for OnBag<'_> {
    type Job = TimedBagJob;

    fn restart(&mut self, job: &mut TimedBagJob, replica: u64) {
        let mut held = std::mem::take(&mut job.job.held);
        held.clear();
        *job = self.start(replica);
        job.job.held = held;
        if let Some(log) = &mut self.run.log {
            log.clear();
        }
    }

    fn now(job: &TimedBagJob) -> SimTime {
        job.now
    }

    /// A bag requests its VMs when it begins: nothing is held between two.
    fn hold(
        &mut self,
        _: &mut TimedBagJob,
        _: usize,
        _: Option<f64>,
    ) -> Result<bool, UnfinishedJob> {
        Ok(false)
    }

    fn usage_until(&self, job: &TimedBagJob, end: SimTime, usage: &mut Usage) {
        job.job.held.usage_until(end, usage);
    }

    fn watch(&mut self, _: &mut TimedBagJob, _: u64) {
        self.run.log = Some(Vec::new());
    }

    fn noted_until(&mut self, job: &mut TimedBagJob, end: SimTime) -> Vec<Entry> {
        let mut all = self.run.log.take().unwrap_or_default();
        let is_span = |entry: &Entry| entry.until > entry.at;
        all.retain(|entry| entry.at < end || entry.at == end && !is_span(entry));
        in_order(all, &job.job.held.intervals, end)
    }
}

impl ProbedWork for OnBag<'_> {
    fn settles(&self, _: u64) -> bool {
        false
    }

    fn probe(
        &mut self,
        at: &mut Stand<TimedBagJob>,
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
        let ended = self.spend(at, configuration, Phase::Searching, goal)?;
        let seconds = (ended.at - before).seconds();
        let is_whole = ended.results >= all;
        if is_whole {
            let reached = ReachedTarget {
                configuration,
                at: ended.at,
                lost_vms: at.job.job.held.lost_until(ended.at),
                totals: None,
            };
            at.reach(self, reached);
        }
        let target = if is_whole {
            Target::Reached(seconds)
        } else {
            Target::MoreThan(seconds)
        };
        let step_s = (ended.results > 0).then(|| seconds / f64::from(ended.results));
        let steps = Some(u64::from(ended.results));
        Ok(Observation::of_steps(steps, step_s, target))
    }

    fn run(
        &mut self,
        at: &mut Stand<TimedBagJob>,
        choice: usize,
    ) -> Result<Timeline, UnfinishedJob> {
        let search_end = at.job.now;
        let whole = (self.ground.bag.needed, SimTime::LAST);
        let end = self.spend(at, choice, Phase::Training, whole)?.at;
        let lost_vms = at.job.job.held.lost_until(end);
        Ok(Timeline::new(choice, search_end, end, lost_vms))
    }
}

#[cfg(test)]
mod tests;

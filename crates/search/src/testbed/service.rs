//! An inference service as a testbed: requests come in at random, and replicas of a model answer them one by one, each
//! first come, first served.
//!
//! Times between requests and times of answers are exponential: the queue M/M/c.

use super::ground::tariff;
use super::job_site::{JobSite, Reached, Stand, Work};
use super::site::no_layers;
use super::{Facts, Ground, Length, Observation, Site, Stop, Target, Terms, Timeline};
use scavsim_base::rng::{ConfigurationKey, Purpose, Streams, WorkloadKey};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::{NoPrice, Policy, Tariff};
use scavsim_data::usage::{Phase, RentedVm, Usage};
use scavsim_sim::bag::vms::Held;
use scavsim_sim::training::{Fidelity, Unfinished};

/// Most runs that tell what is expected.
const MOST_EXPECTATION_RUNS: u64 = 1_000;

/// Replicas on VMs of one type.
#[derive(Debug, Clone, Copy)]
pub struct Deployment {
    /// The type, by its place.
    pub vm: u16,
    /// VMs, each with a replica.
    pub replicas: u32,
    /// Requests per second that a replica answers.
    pub requests_per_s: f64,
}

/// The requests of a service.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// How many come in per second, in the mean.
    pub requests_per_s: f64,
    /// How many are to be answered.
    pub requests: u64,
}

/// A service as the ground of an arena.
#[derive(Debug)]
pub struct ServiceGround {
    types: Vec<RentedVm>,
    deployments: Vec<Deployment>,
    load: Load,
}

impl ServiceGround {
    /// A service that may be deployed in any of these ways.
    pub fn new(types: Vec<RentedVm>, deployments: Vec<Deployment>, load: Load) -> ServiceGround {
        ServiceGround {
            types,
            deployments,
            load,
        }
    }
}

impl Ground for ServiceGround {
    fn facts(&self) -> Facts<'_> {
        Facts::rents(&self.types)
    }

    /// By the slower of coming in and being answered.
    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let Deployment {
            replicas,
            requests_per_s,
            ..
        } = self.deployments[configuration];
        let answered_per_s = f64::from(replicas) * requests_per_s;
        Some(self.load.requests as f64 / answered_per_s.min(self.load.requests_per_s))
    }

    fn expects_by_runs(&self) -> bool {
        true
    }

    fn most_expectation_runs(&self, _: usize) -> u64 {
        MOST_EXPECTATION_RUNS
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        let Deployment { vm, replicas, .. } = self.deployments[configuration];
        usage.set_whole([(vm, replicas)].into_iter(), 0, seconds);
    }

    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        tariff(&self.types, policy, fleet)
    }

    fn provenance(&self, _: usize) -> &'static str {
        "stated"
    }

    fn simulated_in(&self, _: usize, _: Fidelity) -> (&'static str, Option<&str>) {
        (Fidelity::Event.name(), None)
    }

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn Site + 'g> {
        let work = OnService {
            ground: self,
            streams: terms.streams,
            start_up: terms.start_up,
            free_s: Vec::new(),
        };
        Box::new(JobSite::at_zero(work, Answering::default()))
    }
}

/// What runs services.
struct OnService<'g> {
    ground: &'g ServiceGround,
    streams: Streams,
    start_up: SimTime,
    /// When each replica is free, in seconds.
    free_s: Vec<f64>,
}

/// A service in one replica, and its clock.
#[derive(Debug, Clone, Default)]
struct Answering {
    now: SimTime,
    held: Held,
    replica: u64,
    probes: u64,
}

impl OnService<'_> {
    /// Deploys from now on and answers so many requests, or until a moment; returns how many.
    fn answer(
        &mut self,
        at: &mut Stand<Answering>,
        configuration: usize,
        phase: Phase,
        (requests, until): (u64, SimTime),
    ) -> u64 {
        let Deployment {
            vm,
            replicas,
            requests_per_s,
        } = self.ground.deployments[configuration];
        let job = &mut at.job;
        let key: ConfigurationKey = WorkloadKey::of("service").configuration(configuration as u64);
        let purpose = match phase {
            Phase::Training => Purpose::Run(key),
            _ => Purpose::Probe(key, job.probes),
        };
        let mut stream = self.streams.stream(job.replica, purpose);
        let mut exponential = |per_s: f64| -libm::log1p(-stream.uniform()) / per_s;
        let ready = job.now + self.start_up;
        let limit_s = (until.max(ready) - ready).seconds();
        self.free_s.clear();
        self.free_s.resize(replicas as usize, 0.0);
        let (mut arrival_s, mut last_s, mut answered) = (0.0, 0.0_f64, 0);
        while answered < requests {
            arrival_s += exponential(self.ground.load.requests_per_s);
            let first = self.free_s.iter_mut().min_by(|a, b| a.total_cmp(b));
            let Some(free_s) = first else { break };
            let done_s = free_s.max(arrival_s) + exponential(requests_per_s);
            if done_s > limit_s {
                last_s = limit_s;
                break;
            }
            *free_s = done_s;
            last_s = last_s.max(done_s);
            answered += 1;
        }
        let end = ready + SimTime::from_seconds(last_s);
        job.held.hold(vm, replicas, job.now, end);
        job.held.did(phase, vm, replicas, (ready, end));
        job.probes += 1;
        (job.now, at.current) = (end, Some(configuration));
        answered
    }
}

impl Work for OnService<'_> {
    type Job = Answering;

    fn restart(&mut self, job: &mut Answering, replica: u64) {
        job.held.clear();
        (job.now, job.replica, job.probes) = (SimTime::ZERO, replica, 0);
    }

    fn now(job: &Answering) -> SimTime {
        job.now
    }

    /// VMs are rented where a deployment begins: nothing is held between two.
    fn hold(&mut self, _: &mut Answering, _: usize, _: Option<f64>) -> Result<bool, Unfinished> {
        Ok(false)
    }

    fn settles(&self, _: u64) -> bool {
        false
    }

    fn probe(
        &mut self,
        at: &mut Stand<Answering>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop> {
        let before = at.job.now;
        let all = self.ground.load.requests;
        let goal = match length {
            Length::Steps(requests) => (requests.clamp(1, all), SimTime::LAST),
            Length::Share(share) => (((share * all as f64) as u64).clamp(1, all), SimTime::LAST),
            Length::Whole => (all, SimTime::LAST),
            Length::WholeUntil(end) | Length::Until(end) => (all, end.max(before)),
            Length::Profile(_) => return Err(no_layers()),
        };
        let answered = self.answer(at, configuration, Phase::Searching, goal);
        let seconds = (at.job.now - before).seconds();
        let is_whole = answered >= all;
        if is_whole {
            let reached = Reached {
                configuration,
                at: at.job.now,
                lost_vms: 0,
                totals: None,
            };
            at.reach(self, reached);
        }
        Ok(Observation {
            steps: Some(answered),
            step_s: (answered > 0).then(|| seconds / answered as f64),
            target: if is_whole {
                Target::Reached(seconds)
            } else {
                Target::MoreThan(seconds)
            },
            ..Observation::default()
        })
    }

    fn run(&mut self, at: &mut Stand<Answering>, choice: usize) -> Result<Timeline, Unfinished> {
        let search_end = at.job.now;
        let all = (self.ground.load.requests, SimTime::LAST);
        self.answer(at, choice, Phase::Training, all);
        Ok(Timeline::of(choice, search_end, at.job.now, 0))
    }

    fn usage_until(&self, job: &Answering, end: SimTime, usage: &mut Usage) {
        job.held.usage_until(end, usage);
    }
}

//! A bag of jobs as a testbed: every run and every probe requests VMs of its own and gives them back.
//!
//! A probe runs some of the jobs; what it did is thrown away, but a probe to the target is a run of the bag.

use std::sync::Arc;

use super::ground::no_layers;
use super::{Ground, Length, Observation, Site, Stop, Target, Terms, Timeline};
use scavsim_base::rng::Streams;
use scavsim_base::units::SimTime;
use scavsim_data::cloud::Fleet;
use scavsim_data::pricing::{NoPrice, Policy, Tariff};
use scavsim_data::usage::{Phase, Rented, RentedVm, Usage};
use scavsim_sim::bag::formula;
use scavsim_sim::bag::run::{Ended, Luck, Of, Onto, Run};
use scavsim_sim::bag::vms::Held;
use scavsim_sim::bag::{Bag, Choices};
use scavsim_sim::cluster::Pause;
use scavsim_sim::training::log::{Entry, Track, What, release_rest};
use scavsim_sim::training::{Fidelity, Unfinished};

/// Most runs that tell what is expected.
const MOST_EXPECTATION_RUNS: u64 = 20_000;

/// A bag as the ground of an arena.
#[derive(Debug)]
pub struct BagGround {
    bag: Arc<Bag>,
    choices: Arc<Choices>,
    /// Seconds of each configuration without luck.
    calm_s: Vec<f64>,
}

impl BagGround {
    /// A bag that may be run in any of these ways.
    pub fn new(bag: Arc<Bag>, choices: Arc<Choices>) -> BagGround {
        let calm = Arc::new(bag.without_luck());
        let mut ground = BagGround {
            bag: calm,
            choices,
            calm_s: Vec::new(),
        };
        let streams = Streams::new(0);
        let mut run = Run::new(&Default::default());
        let mut held = Held::default();
        let times = (0..ground.choices.sizes.len()).map(|at| {
            held.clear();
            let mut luck = Luck::new(&ground.bag, "", &streams, 0);
            let onto = Onto {
                luck: &mut luck,
                held: &mut held,
                phase: Phase::Training,
            };
            let whole = (ground.bag.needed, SimTime::LAST);
            let ended = run.run(ground.of(at, &streams, 0), onto, SimTime::ZERO, whole);
            ended.map_or(f64::INFINITY, |ended| ended.at.seconds())
        });
        let calm_s: Vec<f64> = times.collect();
        (ground.calm_s, ground.bag) = (calm_s, bag);
        ground
    }

    fn of<'a>(&'a self, configuration: usize, streams: &'a Streams, replica: u64) -> Of<'a> {
        let size = &self.choices.sizes[configuration];
        Of {
            bag: &self.bag,
            size,
            on_spot: self.choices.types[usize::from(size.vm)].on_spot == Some(true),
            streams,
            replica,
        }
    }
}

impl Ground for BagGround {
    fn expected_time_s(&self, configuration: usize) -> Option<f64> {
        let calm_s = self.calm_s[configuration];
        calm_s.is_finite().then_some(calm_s)
    }

    fn expects_by_runs(&self) -> bool {
        true
    }

    fn most_expectation_runs(&self, configuration: usize) -> u64 {
        let size = &self.choices.sizes[configuration];
        let is_calm = self.bag.loss.is_never() && size.life.is_none();
        let boots = [&self.bag.first_boot, &self.bag.boot];
        let boot_alike = boots.iter().all(|boot| matches!(boot, Pause::Fixed(_)));
        match is_calm && boot_alike && self.bag.job_time.sigma() == 0.0 {
            true => 1,
            false => MOST_EXPECTATION_RUNS,
        }
    }

    fn plan_usage(&self, configuration: usize, seconds: f64, usage: &mut Usage) {
        let size = &self.choices.sizes[configuration];
        let workers = (size.vm, size.vms());
        let head = self.choices.head.map(|vm| (vm, 1));
        usage.set_whole([workers].into_iter().chain(head), 0, seconds);
    }

    fn tariff(&self, policy: &Policy, fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let types: Vec<Rented<'_>> = (self.choices.types.iter())
            .map(|vm| Rented {
                vm: &vm.name,
                on_spot: vm.on_spot,
            })
            .collect();
        policy.tariff(&types, fleet)
    }

    fn provenance(&self, _: usize) -> &'static str {
        match self.bag.surrogate {
            Some(_) => "formula",
            None => "stated",
        }
    }

    fn held(&self, configuration: usize) -> Option<(String, u32)> {
        let size = &self.choices.sizes[configuration];
        let vm = self.choices.types.get(usize::from(size.vm))?;
        Some((vm.name.to_string(), size.vms()))
    }

    fn rented(&self) -> Option<&[RentedVm]> {
        Some(&self.choices.types)
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

    fn open<'g>(&'g self, terms: &Terms) -> Box<dyn Site + 'g> {
        let luck = Luck::new(&self.bag, &self.choices.name, &terms.streams, 0);
        Box::new(BagSite {
            ground: self,
            streams: terms.streams,
            replica: 0,
            run: Run::new(&terms.interrupt),
            now: State {
                now: SimTime::ZERO,
                current: None,
                luck,
                held: Held::default(),
                reached: None,
            },
            marked: Vec::new(),
        })
    }
}

/// A bag that is run, in one replica.
struct BagSite<'g> {
    ground: &'g BagGround,
    streams: Streams,
    replica: u64,
    run: Run,
    now: State,
    marked: Vec<Option<State>>,
}

/// Where it stands.
#[derive(Debug, Clone)]
struct State {
    now: SimTime,
    current: Option<usize>,
    luck: Luck,
    held: Held,
    /// Where and when the first run to the target ended.
    reached: Option<(usize, SimTime)>,
}

impl BagSite<'_> {
    fn needed(&self) -> u32 {
        self.ground.bag.needed
    }

    /// Runs a configuration from now on until there are so many results.
    fn spend(
        &mut self,
        configuration: usize,
        phase: Phase,
        goal: (u32, SimTime),
    ) -> Result<Ended, Unfinished> {
        let from = self.now.now;
        let of = self.ground.of(configuration, &self.streams, self.replica);
        let State { luck, held, .. } = &mut self.now;
        let ended = self.run.run(of, Onto { luck, held, phase }, from, goal);
        let at = match &ended {
            Ok(ended) => ended.at,
            Err(why) => why.at().max(from),
        };
        if let Some(head) = self.ground.choices.head {
            held.hold(head, 1, from, at);
            held.did(phase, head, 1, (from, at));
            if let Some(log) = &mut self.run.log {
                let is_first = !log.iter().any(|entry| entry.track == Track::Head);
                let requested = is_first.then_some((from, What::Requested(head)));
                let running = (at > from).then_some((at, What::Running(head)));
                let entries = [requested, running].into_iter().flatten();
                log.extend(entries.map(|(until, what)| Entry {
                    at: from,
                    until,
                    track: Track::Head,
                    what,
                }));
            }
        }
        if let Some(log) = &mut self.run.log {
            log.push(Entry {
                at: from,
                until: at,
                track: Track::Job,
                what: What::Phase(phase),
            });
        }
        (self.now.now, self.now.current) = (at, Some(configuration));
        ended
    }
}

impl Site for BagSite<'_> {
    fn restart(&mut self, replica: u64) {
        let ground = self.ground;
        self.replica = replica;
        let now = &mut self.now;
        now.luck = Luck::new(&ground.bag, &ground.choices.name, &self.streams, replica);
        now.held.clear();
        (now.now, now.current, now.reached) = (SimTime::ZERO, None, None);
        if let Some(log) = &mut self.run.log {
            log.clear();
        }
    }

    fn mark(&mut self, number: usize) {
        if self.marked.len() <= number {
            self.marked.resize(number + 1, None);
        }
        self.marked[number] = Some(self.now.clone());
    }

    fn back_to(&mut self, number: usize) {
        if let Some(Some(marked)) = self.marked.get(number) {
            self.now.clone_from(marked);
        }
    }

    fn now(&self) -> SimTime {
        self.now.now
    }

    fn current(&self) -> Option<usize> {
        self.now.current
    }

    /// A bag requests its VMs when it begins: nothing is held between two.
    fn move_to(&mut self, _: usize) -> Result<(), Stop> {
        Ok(())
    }

    /// Nothing has to settle.
    fn cold_start(&mut self, _: usize, _: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop> {
        let all = self.needed();
        let some = |jobs: f64| (jobs.ceil() as u32).clamp(1, all);
        let goal = match length {
            Length::Steps(jobs) => (some(jobs as f64), SimTime::LAST),
            Length::Share(share) => (some(share * f64::from(all)), SimTime::LAST),
            Length::Whole => (all, SimTime::LAST),
            Length::WholeUntil(end) | Length::Until(end) => (all, end.max(self.now.now)),
            Length::Profile(_) => return Err(no_layers()),
        };
        let before = self.now.now;
        let ended = self.spend(configuration, Phase::Searching, goal)?;
        let seconds = (ended.at - before).seconds();
        let is_whole = ended.results >= all;
        if is_whole {
            (self.now.reached).get_or_insert((configuration, ended.at));
        }
        Ok(Observation {
            steps: Some(u64::from(ended.results)),
            step_s: (ended.results > 0).then(|| seconds / f64::from(ended.results)),
            target: match is_whole {
                true => Target::Reached(seconds),
                false => Target::MoreThan(seconds),
            },
            ..Observation::default()
        })
    }

    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, Unfinished> {
        let search_end = self.now.now;
        let whole = (self.needed(), SimTime::LAST);
        let end = self.spend(choice, Phase::Training, whole)?.at;
        let net_end = self.now.reached.map_or(end, |(_, at)| at);
        Ok(Timeline {
            choice,
            search_end,
            net_end,
            gross_end: end,
            reached: self.now.reached.map(|(configuration, _)| configuration),
            cold_start: None,
            lost_vms: self.now.held.lost_until(net_end),
            totals: None,
        })
    }

    fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.now.held.usage_until(end, usage);
    }

    fn watch(&mut self, _: u64) {
        self.run.log = Some(Vec::new());
    }

    fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        let mut all = self.run.log.take().unwrap_or_default();
        let is_span = |entry: &Entry| entry.until > entry.at;
        all.retain(|entry| entry.at < end || entry.at == end && !is_span(entry));
        for entry in &mut all {
            entry.until = entry.until.min(end);
        }
        release_rest(&mut all, end);
        let target = Entry {
            at: end,
            until: end,
            track: Track::Job,
            what: What::Target,
        };
        all.push(target);
        let mut counts: Vec<(SimTime, i64)> = (self.now.held.intervals.iter())
            .filter(|i| i.from <= end)
            .flat_map(|i| {
                [
                    (i.from, i64::from(i.vms)),
                    (i.to.min(end), -i64::from(i.vms)),
                ]
            })
            .collect();
        counts.sort_unstable();
        let mut vms = 0;
        for change in counts.chunk_by(|a, b| a.0 == b.0) {
            vms += change.iter().map(|(_, by)| by).sum::<i64>();
            all.push(Entry {
                at: change[0].0,
                until: change[0].0,
                track: Track::Job,
                what: What::Vms(u32::try_from(vms).unwrap_or(0)),
            });
        }
        // Of equal moments by track; on a track as they were noted.
        all.sort_by_key(|entry| (entry.at, entry.what == What::Target, entry.track));
        all
    }
}

#[cfg(test)]
mod tests;

//! A job on parallel plans, in one replica.

use std::collections::HashMap;

use super::super::{Length, Observation, Site, Stop, Target, Terms, Timeline};
use super::PlanGround;
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{Phase, Usage};
use scavsim_sim::engine::Interrupt;
use scavsim_sim::plans::pace;
use scavsim_sim::plans::terms::On;
use scavsim_sim::plans::{Goal, Job, Luck, Pace, Terms as JobTerms, Trained, timeline};
use scavsim_sim::training::log::{Entry, Track, What, release_rest};
use scavsim_sim::training::{Fidelity, Unfinished};

/// A job on a plan, in one replica.
pub(super) struct PlanSite<'g> {
    ground: &'g PlanGround,
    streams: Streams,
    fidelity: Fidelity,
    interrupt: Interrupt,
    replica: u64,
    /// What the replica deals to the configuration that was met last.
    dealt: Option<Dealt>,
    now: State,
    marked: Vec<Option<State>>,
    /// Entries of a step that are noted, where somebody looks on.
    most_fine: u64,
}

struct Dealt {
    at: usize,
    luck: Luck,
    pace: Pace,
}

/// Where the job stands.
#[derive(Debug, Clone)]
struct State {
    job: Job,
    /// The configuration that was met last, and whether its VMs are held.
    current: Option<usize>,
    holds: bool,
    /// Share of the way to the target that is done.
    progress: f64,
    reached: Option<Reached>,
    /// What was used when the target was reached.
    used: Usage,
    /// How often configurations were probed.
    visits: HashMap<usize, u64>,
    cold_start: Option<(usize, f64)>,
}

/// How the target was reached during the search.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    configuration: usize,
    at: SimTime,
    lost_vms: u32,
}

impl State {
    fn new(ground: &PlanGround, streams: Streams, replica: u64) -> State {
        State {
            job: Job::new(ground.on(), streams, replica),
            current: None,
            holds: false,
            progress: 0.0,
            reached: None,
            used: Usage::default(),
            visits: HashMap::new(),
            cold_start: None,
        }
    }
}

/// Steps that are left of `all` when `progress` of the way is done.
fn remaining(all: u64, progress: f64) -> u64 {
    // The relief keeps rounding errors of the sum of shares from adding a step.
    ((1.0 - progress - 1e-12).max(0.0) * all as f64).ceil() as u64
}

impl<'g> PlanSite<'g> {
    pub(super) fn new(ground: &'g PlanGround, terms: &Terms) -> Self {
        PlanSite {
            ground,
            streams: terms.streams,
            fidelity: terms.fidelity,
            interrupt: terms.interrupt.clone(),
            replica: 0,
            dealt: None,
            now: State::new(ground, terms.streams, 0),
            marked: Vec::new(),
            most_fine: 0,
        }
    }
}

impl PlanSite<'_> {
    fn meet(&mut self, at: usize) -> &mut Dealt {
        let is_met = self.dealt.as_ref().is_some_and(|dealt| dealt.at == at);
        if !is_met {
            let ground = self.ground;
            let (choices, variation) = (&*ground.choices, &ground.terms.variation);
            let luck = Luck::draw(choices, at, variation, (&self.streams, self.replica));
            let pace = Pace::new(
                &choices.ways[at],
                &luck,
                variation,
                self.fidelity,
                || ground.spread(at),
                || choices.prepared(at).ok(),
            );
            self.dealt = Some(Dealt { at, luck, pace });
        }
        // It was set just above.
        self.dealt.as_mut().expect("a configuration was met")
    }

    fn hold(&mut self, at: usize) -> Result<(), Unfinished> {
        if self.now.current == Some(at) && self.now.holds {
            return Ok(());
        }
        let on = self.ground.on();
        let way = &self.ground.choices.ways[at];
        self.now.job.hold(on, way, &self.interrupt)?;
        if self.now.progress > 0.0 {
            // Another plan cuts the state otherwise.
            self.now.job.restart_before_training();
        }
        (self.now.current, self.now.holds) = (Some(at), true);
        Ok(())
    }

    fn train(
        &mut self,
        at: usize,
        goal: Goal,
        purpose: Purpose,
    ) -> Result<(Trained, u64), Unfinished> {
        let on = self.ground.on();
        let way = &self.ground.choices.ways[at];
        let mut stream = self.streams.stream(self.replica, purpose);
        self.meet(at);
        let Some(dealt) = &mut self.dealt else {
            return Err(Unfinished::defect(self.now.job.now()));
        };
        let goal = Goal {
            steps: goal.steps.min(dealt.luck.steps),
            ..goal
        };
        let job = &mut self.now.job;
        let trained = job.train(
            (on, way),
            &mut dealt.pace,
            goal,
            &mut stream,
            &self.interrupt,
        )?;
        Ok((trained, dealt.luck.steps))
    }

    /// Trains up to so many steps during the search.
    fn search(&mut self, at: usize, steps: u64, until: SimTime) -> Result<Observation, Stop> {
        let before = self.now.job.now();
        self.hold(at)?;
        let visits = self.now.visits.entry(at).or_default();
        let purpose = pace::steps_of(self.ground.choices.ways[at].key, Some(*visits));
        *visits += 1;
        let all = self.meet(at).luck.steps;
        let left = match self.now.reached {
            None => remaining(all, self.now.progress).max(1),
            Some(_) => u64::MAX,
        };
        let goal = Goal {
            steps: steps.min(left).min(all),
            until,
            phase: Phase::Searching,
        };
        let (mut trained, _) = self.train(at, goal, purpose)?;
        if trained.steps >= left {
            self.now.progress = 1.0;
            self.reach(at);
            let more = Goal {
                steps: steps.min(all) - trained.steps,
                ..goal
            };
            if more.steps > 0 {
                let (rest, _) = self.train(at, more, purpose)?;
                trained.steps += rest.steps;
                trained.advance.steps += rest.advance.steps;
                trained.advance.compute_s += rest.advance.compute_s;
                trained.advance.communication_s += rest.advance.communication_s;
            }
        } else if self.now.reached.is_none() {
            self.now.progress += trained.steps as f64 / all as f64;
        }
        let seconds = (self.now.job.now() - before).seconds();
        Ok(seen(&trained, seconds))
    }

    /// The model stands at its target now.
    fn reach(&mut self, configuration: usize) {
        let at = self.now.job.now();
        self.now.reached = Some(Reached {
            configuration,
            at,
            lost_vms: self.now.job.lost(),
        });
        self.now.job.usage_until(at, &mut self.now.used);
    }

    /// A run of its own from scratch to the target, given up at `until`.
    fn train_from_scratch(&mut self, at: usize, until: SimTime) -> Result<Observation, Stop> {
        let before = self.now.job.now();
        self.hold(at)?;
        let start = self.now.job.now();
        if start >= until {
            return Ok(nothing((start - before).seconds()));
        }
        let progress = std::mem::replace(&mut self.now.progress, 0.0);
        let all = self.meet(at).luck.steps;
        let looked = self.search(at, u64::MAX, until);
        self.now.progress = progress;
        let looked = looked?;
        let seconds = (self.now.job.now() - start).seconds();
        Ok(Observation {
            target: match looked.steps == Some(all) {
                true => Target::Reached(seconds),
                false => Target::MoreThan(seconds),
            },
            ..looked
        })
    }

    /// Passes over every layer alone, on one VM of the first type of a plan.
    fn profile(&mut self, at: usize, passes: u64) -> Result<Observation, Stop> {
        let choices = &self.ground.choices;
        let alone = choices.one_vm(at);
        let terms = JobTerms {
            start_up: self.ground.terms.start_up,
            ..JobTerms::default()
        };
        let on = On {
            choices,
            terms: &terms,
        };
        self.now.job.hold(on, &alone, &self.interrupt)?;
        (self.now.current, self.now.holds) = (Some(at), false);
        let variation = &self.ground.terms.variation;
        let machine = match variation.vm_sigma > 0.0 {
            true => {
                let key = choices.vm_types[usize::from(alone.nodes[0].0)].1;
                let mut stream = self.streams.stream(self.replica, Purpose::Machines(key));
                UnitLogNormal::from_sigma(variation.vm_sigma).sample(&mut stream)
            }
            false => 1.0,
        };
        let pass_s = choices.pass_s(at) * machine;
        self.now.job.look(passes as f64 * pass_s, Phase::Searching);
        // What is trained on later has a life of its own.
        self.now.job.release_all();
        Ok(Observation {
            steps: Some(0),
            step_s: Some(pass_s),
            compute_s: Some(pass_s),
            ..Observation::default()
        })
    }
}

/// What is seen when all time went into getting ready.
fn nothing(seconds: f64) -> Observation {
    Observation {
        steps: Some(0),
        target: Target::MoreThan(seconds),
        ..Observation::default()
    }
}

fn seen(trained: &Trained, seconds: f64) -> Observation {
    let advance = &trained.advance;
    if advance.steps == 0 {
        return nothing(seconds);
    }
    let each = 1.0 / advance.steps as f64;
    Observation {
        steps: Some(trained.steps),
        step_s: Some((advance.compute_s + advance.communication_s) * each),
        compute_s: Some(advance.compute_s * each),
        communication_s: Some(advance.communication_s * each),
        ..Observation::default()
    }
}

/// No moment.
fn never() -> SimTime {
    SimTime::from_seconds(f64::INFINITY)
}

impl Site for PlanSite<'_> {
    fn restart(&mut self, replica: u64) {
        self.replica = replica;
        let log = self.now.job.log.take().map(|_| Vec::new());
        self.now = State::new(self.ground, self.streams, replica);
        self.now.job.log = log;
        self.dealt = None;
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
        self.now.job.now()
    }

    fn current(&self) -> Option<usize> {
        self.now.current
    }

    fn move_to(&mut self, configuration: usize) -> Result<(), Stop> {
        Ok(self.hold(configuration)?)
    }

    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop> {
        self.hold(configuration)?;
        let start = self.now.job.now();
        if steps > 0 {
            self.search(configuration, steps, never())?;
        }
        self.now.cold_start = Some((configuration, (self.now.job.now() - start).seconds()));
        Ok(())
    }

    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop> {
        match length {
            Length::Whole => self.train_from_scratch(configuration, never()),
            Length::WholeUntil(end) => self.train_from_scratch(configuration, end),
            Length::Steps(steps) => self.search(configuration, steps, never()),
            Length::Share(share) => {
                let all = self.meet(configuration).luck.steps;
                let steps = (share * all as f64).ceil().max(1.0) as u64;
                self.search(configuration, steps, never())
            }
            Length::Until(end) => {
                let before = self.now.job.now();
                self.hold(configuration)?;
                match self.now.job.now() >= end {
                    true => Ok(nothing((self.now.job.now() - before).seconds())),
                    false => self.search(configuration, u64::MAX, end),
                }
            }
            Length::Profile(passes) => self.profile(configuration, passes),
        }
    }

    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, Unfinished> {
        let searched = self.now.job.now() > SimTime::ZERO;
        self.hold(choice)?;
        let start = self.now.job.now();
        let search_end = if searched { start } else { SimTime::ZERO };
        let all = self.meet(choice).luck.steps;
        let left = match self.now.reached {
            None => remaining(all, self.now.progress),
            Some(_) => 0,
        };
        let purpose = pace::steps_of(self.ground.choices.ways[choice].key, None);
        let goal = |steps| Goal {
            steps,
            until: never(),
            phase: Phase::Training,
        };
        let is_watched = self.now.job.log.is_some();
        if is_watched {
            self.note_step(choice);
        }
        self.train(choice, goal(left), purpose)?;
        let net_end = self.now.job.now();
        let lost_vms = self.now.job.lost();
        if self.now.reached.is_none() {
            (self.now.job).usage_until(net_end, &mut self.now.used);
        }
        // Who looks on sees no more than the run to the target.
        if !is_watched && left < all {
            self.train(choice, goal(all - left), purpose)?;
        }
        let line = Timeline {
            choice,
            search_end,
            net_end,
            gross_end: self.now.job.now(),
            reached: None,
            cold_start: self.now.cold_start,
            lost_vms,
            totals: None,
        };
        Ok(match self.now.reached {
            None => line,
            Some(reached) => Timeline {
                net_end: reached.at,
                reached: Some(reached.configuration),
                lost_vms: reached.lost_vms,
                ..line
            },
        })
    }

    fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.now.job.usage_until(end, usage);
    }

    fn usage_until_target(&self, _: &Timeline, usage: &mut Usage) {
        usage.copy_from(&self.now.used);
    }

    fn watch(&mut self, most: u64) {
        self.now.job.log = Some(Vec::new());
        self.most_fine = most;
    }

    fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        self.now.job.note_still_running(end);
        let mut all = self.now.job.log.take().unwrap_or_default();
        all.retain(|entry| entry.at <= end);
        for entry in &mut all {
            entry.until = entry.until.min(end);
        }
        release_rest(&mut all, end);
        let mut usage = Usage::default();
        self.now.job.usage_until(end, &mut usage);
        let mut counts: Vec<(SimTime, i64)> = (usage.intervals.iter())
            .flat_map(|i| [(i.from, i64::from(i.vms)), (i.to, -i64::from(i.vms))])
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
        all.push(Entry {
            at: end,
            until: end,
            track: Track::Job,
            what: What::Target,
        });
        all.sort_by_key(|entry| (entry.at, entry.what == What::Target, entry.track));
        all
    }
}

impl PlanSite<'_> {
    /// The first step of the run, as if it had no luck.
    fn note_step(&mut self, choice: usize) {
        let from = self.now.job.now();
        let Ok(plan) = self.ground.choices.prepared(choice) else {
            return;
        };
        let (entries, is_all) = timeline::entries(&plan, from, self.most_fine);
        let Some(log) = &mut self.now.job.log else {
            return;
        };
        let last = entries.last().map_or(from, |entry| entry.at);
        log.extend(entries);
        if !is_all {
            log.push(Entry {
                at: last,
                until: last,
                track: Track::Job,
                what: What::Full,
            });
        }
    }
}

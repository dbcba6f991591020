//! The simulated cluster as a testbed.

use super::ground::no_layers;
use super::{Length, Observation, Site, Stop, Target, Terms, Timeline};
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::configuration::Configuration;
use scavsim_data::usage::{Phase, Usage};
use scavsim_sim::cluster::World;
use scavsim_sim::cluster::luck::Luck;
use scavsim_sim::job::{Job, Outlook, Sketch, Sketched, Totals, Trained};
use scavsim_sim::training::Unfinished;
use scavsim_sim::training::drift::DriftPath;
use scavsim_sim::training::log::{Entry, Log};
use scavsim_sim::training::progress::Advance;
use scavsim_sim::training::sync::Goal;

/// The place of what was not dealt.
const NOT_MET: u32 = u32::MAX;

/// A job of one workload on a simulated cluster, in one replica.
#[derive(Debug)]
pub struct SimulatedCluster<'w> {
    world: &'w World,
    streams: Streams,
    start_up: SimTime,
    replica: u64,
    /// Places of the luck of configurations that was dealt in this replica: [`NOT_MET`] where none was.
    places: Vec<u32>,
    luck: Vec<Luck>,
    /// Those configurations, in the order of their luck.
    met: Vec<usize>,
    sketch: Sketch,
    now: State,
    /// States of the job, by number.
    marked: Vec<State>,
}

/// Where a job stands in its replica.
#[derive(Debug, Clone)]
struct State {
    job: Job,
    visits: Vec<u32>,
    current: Option<usize>,
    progress: f64,
    steps: u64,
    cold_start: Option<(usize, f64)>,
    /// Where and when the model stood at its target before the search was over, and what was used until then.
    reached: Option<Reached>,
    used: Usage,
}

/// The target, reached during the search.
#[derive(Debug, Clone, Copy)]
struct Reached {
    configuration: usize,
    at: SimTime,
    lost_vms: u32,
    totals: Option<Totals>,
}

impl State {
    /// Becomes the `other`, keeping the memory.
    fn copy_from(&mut self, other: &State) {
        self.job.copy_from(&other.job);
        self.visits.clone_from(&other.visits);
        self.current = other.current;
        self.progress = other.progress;
        self.steps = other.steps;
        self.cold_start = other.cold_start;
        self.reached = other.reached;
        if self.reached.is_some() {
            self.used.copy_from(&other.used);
        }
    }
}

impl<'w> SimulatedCluster<'w> {
    /// A cluster for jobs in `world`.
    pub fn new(world: &'w World, terms: &Terms) -> Self {
        let Terms {
            streams,
            fidelity,
            start_up,
            interrupt,
        } = terms.clone();
        let drift = DriftPath::still();
        let now = State {
            job: Job::new(fidelity, start_up, drift, streams).heeding(interrupt),
            visits: vec![0; world.truths.len()],
            current: None,
            progress: 0.0,
            steps: 0,
            cold_start: None,
            reached: None,
            used: Usage::default(),
        };
        SimulatedCluster {
            world,
            streams,
            start_up,
            replica: 0,
            places: vec![NOT_MET; world.truths.len()],
            luck: Vec::new(),
            met: Vec::new(),
            sketch: Sketch::default(),
            now,
            marked: Vec::new(),
        }
    }

    /// Back to time zero, in `replica`.
    pub fn restart(&mut self, replica: u64) {
        if replica != self.replica {
            for at in self.met.drain(..) {
                self.places[at] = NOT_MET;
            }
            self.luck.clear();
        }
        self.replica = replica;
        let drift = DriftPath::new(
            self.world.variation.drift,
            self.streams,
            replica,
            self.world.key,
        );
        let spot = self.world.spot.as_deref();
        self.now.job.restart(drift, replica, spot);
        self.now.visits.fill(0);
        self.now.current = None;
        self.now.progress = 0.0;
        self.now.steps = 0;
        self.now.cold_start = None;
        self.now.reached = None;
    }

    /// Notes what happens from the next restart on: everything of the job, and of single
    /// worker-steps the first `most` entries. Its runs then end at the target.
    pub fn watch(&mut self, most: u64) {
        *self.now.job.log() = Log::on(most);
    }

    /// What was noted of a job that ended at `end`; nothing is noted any more.
    pub fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        self.now.job.log().take(end)
    }

    /// Remembers this state of the job under a number, for [`back_to`](Self::back_to).
    pub fn mark(&mut self, number: usize) {
        while self.marked.len() <= number {
            self.marked.push(self.now.clone());
        }
        self.marked[number].copy_from(&self.now);
    }

    /// Back to the state that was marked last under this number, in the same replica.
    pub fn back_to(&mut self, number: usize) {
        if let Some(marked) = self.marked.get(number) {
            self.now.copy_from(marked);
        }
    }

    /// Holds the VMs of `choice`, of which the provider takes away the newest worker but the chief `after` it began,
    /// and no other.
    ///
    /// # Errors
    /// [`Unfinished`] when the clock has nothing to wait for.
    pub fn lose_one(&mut self, choice: usize, after: SimTime) -> Result<(), Unfinished> {
        self.move_to(choice)?;
        let at = self.now.job.now() + after;
        self.now.job.lose_one(at);
        Ok(())
    }

    /// Runs `choice` to the target after whatever was searched before.
    ///
    /// # Errors
    /// [`Unfinished`] when the job does not come to its end.
    pub fn run_to_target(&mut self, choice: usize) -> Result<Timeline, Unfinished> {
        let searched = self.now.current.is_some();
        self.move_to(choice)?;
        let search_end = if searched {
            self.now.job.now()
        } else {
            SimTime::ZERO
        };
        self.now.job.enter(Phase::Training);
        let start = self.now.job.now();
        let truth = &self.world.truths[choice];
        let all = self.luck_of(choice).steps_to_target;
        let left = match self.now.reached {
            None => remaining(all, truth.steps_at(self.now.progress)),
            Some(_) => 0,
        };
        // Who looks on sees no more than the run to the target.
        let all = match self.now.job.log().is_on() {
            true => left,
            false => all,
        };
        let mut stream = (self.streams).stream(self.replica, Purpose::Run(truth.key));
        let Some(luck) = self.luck.get(self.places[choice] as usize) else {
            return Err(Unfinished::defect(start));
        };
        let job = (&truth.cluster, luck);
        if let Some(needs_s) = Outlook::hopeless(job, left, self.start_up) {
            let needs_h = (needs_s / SECONDS_PER_HOUR) as u64;
            return Err(Unfinished::Hopeless { at: start, needs_h });
        }
        let goal = Goal {
            mark: left,
            ..Goal::updates(all)
        };
        let run = (self.now.job).train(&truth.cluster, luck, goal, &mut stream)?;
        let line = Timeline {
            choice,
            search_end,
            net_end: run.advance.at_mark,
            gross_end: self.now.job.now(),
            cold_start: self.now.cold_start,
            reached: None,
            lost_vms: run.lost_vms,
            totals: run.totals,
        };
        Ok(match self.now.reached {
            None => line,
            Some(reached) => Timeline {
                net_end: reached.at,
                reached: Some(reached.configuration),
                lost_vms: reached.lost_vms,
                totals: reached.totals,
                ..line
            },
        })
    }

    /// What was used when all VMs are released at `end`, which must not lie before the end of the
    /// search.
    pub fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.now.job.usage_until(end, usage);
    }

    /// The model stands at its target at `at`, after `run`.
    fn reach(&mut self, configuration: usize, at: SimTime, run: &Trained) {
        self.now.reached = Some(Reached {
            configuration,
            at,
            lost_vms: run.lost_vms,
            totals: run.totals,
        });
        self.now.job.usage_until(at, &mut self.now.used);
    }

    /// The run of `choice` just made, in outline, on the same lives.
    fn sketch_again(&mut self, choice: usize) -> Option<Sketched> {
        let mut lives_h = self.now.job.lives_h().iter();
        let luck = self.luck.get(*self.places.get(choice)? as usize)?;
        let start_up = self.start_up;
        let truth = &self.world.truths[choice];
        let (cluster, key) = (&truth.cluster, truth.key);
        let mut more = None;
        let (streams, replica) = (&self.streams, self.replica);
        // Where the outline goes another way than the run, lives nobody has seen follow those of the run.
        self.sketch.run((cluster, luck), start_up, |life| {
            lives_h.next().copied().unwrap_or_else(|| {
                let stream =
                    more.get_or_insert_with(|| streams.stream(replica, Purpose::OutlineLives(key)));
                life.sample(stream)
            })
        })
    }

    /// A run of `choice` in outline, in a replica of its own.
    fn sketch(&mut self, choice: usize, replica: u64) -> Option<Sketched> {
        let world = self.world;
        let truth = &world.truths[choice];
        let luck = Luck::draw(truth, &world.variation, &self.streams, replica);
        let mut stream = (self.streams).stream(replica, Purpose::OutlineLives(truth.key));
        let (start_up, job) = (self.start_up, (&truth.cluster, &luck));
        if let Some(outlook) = Outlook::of(job, luck.steps_to_target, start_up) {
            // The mean of all outlines of this luck.
            return Some(Sketched {
                seconds: outlook.seconds,
                surprise: [0.0; 2],
            });
        }
        (self.sketch).run(job, start_up, |life| life.sample(&mut stream))
    }

    fn luck_of(&mut self, configuration: usize) -> &Luck {
        let world = self.world;
        let (streams, replica) = (&self.streams, self.replica);
        if self.places[configuration] == NOT_MET {
            self.places[configuration] = self.luck.len() as u32;
            self.met.push(configuration);
            let truth = &world.truths[configuration];
            (self.luck).push(Luck::draw(truth, &world.variation, streams, replica));
        }
        &self.luck[self.places[configuration] as usize]
    }

    fn move_to(&mut self, configuration: usize) -> Result<(), Unfinished> {
        if self.now.current == Some(configuration) {
            return Ok(());
        }
        let truth = &self.world.truths[configuration];
        (self.now.job).hold(&truth.cluster, truth.configuration.batch)?;
        if self.now.current.is_some() {
            self.now.job.restore(self.world.constants.restore_s.value)?;
        }
        self.now.current = Some(configuration);
        Ok(())
    }

    /// Trains up to `steps` steps in a configuration, fewer if a whole run takes fewer or `until` comes first. On
    /// the way the job may come to its target, which ends nothing: what is trained then earns nothing more.
    fn train(
        &mut self,
        configuration: usize,
        steps: u64,
        until: SimTime,
    ) -> Result<(u64, Advance), Unfinished> {
        self.move_to(configuration)?;
        let (world, progress) = (self.world, self.now.progress);
        let all = self.luck_of(configuration).steps_to_target;
        let truth = &world.truths[configuration];
        let steps = steps.min(all);
        let left = match self.now.reached {
            None => remaining(all, truth.steps_at(progress)).max(1),
            Some(_) => u64::MAX,
        };
        // A second visit must not see the first one's draws again.
        let visit = u64::from(self.now.visits[configuration]);
        self.now.visits[configuration] += 1;
        let purpose = Purpose::Probe(truth.key, visit);
        let mut stream = self.streams.stream(self.replica, purpose);
        self.now.job.enter(Phase::Searching);
        let job = &mut self.now.job;
        let Some(luck) = self.luck.get(self.places[configuration] as usize) else {
            return Err(Unfinished::defect(job.now()));
        };
        let goal = Goal {
            updates: steps,
            mark: left.min(steps),
            until,
        };
        let run = job.train(&truth.cluster, luck, goal, &mut stream)?;
        self.now.steps += run.steps;
        if run.steps >= left {
            self.now.progress = 1.0;
            self.reach(configuration, run.advance.at_mark, &run);
        } else if self.now.reached.is_none() {
            self.now.progress = truth.progress_after(progress, run.steps as f64 / all as f64);
        }
        Ok((run.steps, run.advance))
    }

    /// γ/K as read over the last `steps` steps; `None` where the workload does not know it.
    fn read_noise(&self, configuration: usize, steps: u64) -> Option<f64> {
        let truth = &self.world.truths[configuration];
        let Configuration { workers, batch, .. } = truth.configuration;
        let middle = self.now.steps as f64 - 0.5 * steps as f64;
        let at_target = truth.noise_normalised?;
        let mut noise = (self.world.noise).at(at_target, workers, batch, middle, self.now.progress);
        let cv = self.world.variation.noise_cv;
        if cv > 0.0 {
            let visit = u64::from(self.now.visits[configuration]);
            let purpose = Purpose::NoiseReading(truth.key, visit);
            let mut stream = self.streams.stream(self.replica, purpose);
            noise *= UnitLogNormal::from_cv(cv / (steps as f64).sqrt()).sample(&mut stream);
        }
        Some(noise.clamp(1.0 / f64::from(workers), 1.0))
    }
}

/// Steps that are left of `all` when `progress` of the way is done.
fn remaining(all: u64, progress: f64) -> u64 {
    // The relief keeps rounding errors of the sum of shares from adding a step.
    ((1.0 - progress - 1e-12).max(0.0) * all as f64).ceil() as u64
}

/// No moment.
fn never() -> SimTime {
    SimTime::from_seconds(f64::INFINITY)
}

impl SimulatedCluster<'_> {
    /// A run of its own from scratch to the target, given up at `until`. What it trained is no part of the job's own
    /// progress; but a model at its target is what the job is for.
    fn train_from_scratch(
        &mut self,
        configuration: usize,
        until: SimTime,
    ) -> Result<Observation, Stop> {
        let before = self.now.job.now();
        self.move_to(configuration)?;
        if self.now.job.now() >= until {
            return Ok(self.nothing_since(before));
        }
        let all = self.luck_of(configuration).steps_to_target;
        let (progress, steps) = (self.now.progress, self.now.steps);
        (self.now.progress, self.now.steps) = (0.0, 0);
        let start = self.now.job.now();
        let seen = self.train_and_look(configuration, u64::MAX, until);
        let seconds = (self.now.job.now() - start).seconds();
        (self.now.progress, self.now.steps) = (progress, steps);
        let seen = seen?;
        Ok(Observation {
            target: match seen.steps == Some(all) {
                true => Target::Reached(seconds),
                false => Target::MoreThan(seconds),
            },
            ..seen
        })
    }

    /// What is seen when all time since `before` went into getting ready.
    fn nothing_since(&self, before: SimTime) -> Observation {
        Observation {
            steps: Some(0),
            target: Target::MoreThan((self.now.job.now() - before).seconds()),
            ..Observation::default()
        }
    }

    fn train_and_look(
        &mut self,
        configuration: usize,
        steps: u64,
        until: SimTime,
    ) -> Result<Observation, Stop> {
        let before = self.now.job.now();
        let (steps, advance) = self.train(configuration, steps, until)?;
        if steps == 0 {
            return Ok(self.nothing_since(before));
        }
        let each = 1.0 / steps as f64;
        Ok(Observation {
            steps: Some(steps),
            step_s: Some((advance.compute_s + advance.communication_s) * each),
            compute_s: Some(advance.compute_s * each),
            communication_s: Some(advance.communication_s * each),
            noise_normalised: self.read_noise(configuration, steps),
            target: Target::Unknown,
        })
    }
}

impl Site for SimulatedCluster<'_> {
    fn restart(&mut self, replica: u64) {
        self.restart(replica);
    }

    fn mark(&mut self, number: usize) {
        self.mark(number);
    }

    fn back_to(&mut self, number: usize) {
        self.back_to(number);
    }

    fn now(&self) -> SimTime {
        self.now.job.now()
    }

    fn current(&self) -> Option<usize> {
        self.now.current
    }

    fn move_to(&mut self, configuration: usize) -> Result<(), Stop> {
        Ok(self.move_to(configuration)?)
    }

    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop> {
        self.move_to(configuration)?;
        let start = self.now.job.now();
        self.train(configuration, steps, never())?;
        self.now.cold_start = Some((configuration, (self.now.job.now() - start).seconds()));
        Ok(())
    }

    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop> {
        match length {
            Length::Profile(_) => Err(no_layers()),
            Length::Whole => self.train_from_scratch(configuration, never()),
            Length::WholeUntil(end) => self.train_from_scratch(configuration, end),
            Length::Steps(steps) => self.train_and_look(configuration, steps, never()),
            Length::Share(share) => {
                self.move_to(configuration)?;
                let all = self.luck_of(configuration).steps_to_target;
                let steps = (share * all as f64).ceil().max(1.0) as u64;
                self.train_and_look(configuration, steps, never())
            }
            Length::Until(end) => {
                let before = self.now.job.now();
                self.move_to(configuration)?;
                if self.now.job.now() >= end {
                    return Ok(self.nothing_since(before));
                }
                self.train_and_look(configuration, u64::MAX, end)
            }
        }
    }

    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, Unfinished> {
        self.run_to_target(choice)
    }

    fn sketch_again(&mut self, choice: usize) -> Option<Sketched> {
        self.sketch_again(choice)
    }

    fn sketch(&mut self, choice: usize, replica: u64) -> Option<Sketched> {
        self.sketch(choice, replica)
    }

    fn usage_until(&self, end: SimTime, usage: &mut Usage) {
        self.usage_until(end, usage);
    }

    fn usage_until_target(&self, line: &Timeline, usage: &mut Usage) {
        match line.reached {
            None => self.usage_until(line.net_end, usage),
            Some(_) => usage.copy_from(&self.now.used),
        }
    }

    fn watch(&mut self, most: u64) {
        self.watch(most);
    }

    fn noted_until(&mut self, end: SimTime) -> Vec<Entry> {
        self.noted_until(end)
    }
}

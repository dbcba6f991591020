//! The simulated cluster as a testbed.

use super::Terms;
use super::by_replica::ByReplica;
use super::stepwise::Trainer;
use super::work_trial::{Stand, Work, WorkTrial};
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};
use scavsim_data::configuration::Configuration;
use scavsim_data::usage::{Phase, Usage};
use scavsim_sim::cluster::World;
use scavsim_sim::cluster::random_effects::{RandomEffectLaws, RandomEffects};
use scavsim_sim::job::{Job, Outlook, Sketch, SketchResult, TrainingResult};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::drift::DriftPath;
use scavsim_sim::training::log::{Entry, Log};
use scavsim_sim::training::progress::Advance;
use scavsim_sim::training::sync::Goal;

/// The place of what was not dealt.
const NOT_MET: u32 = u32::MAX;

pub type SimulatedCluster<'w> = WorkTrial<OnCluster<'w>>;

#[derive(Debug)]
pub struct OnCluster<'w> {
    world: &'w World,
    streams: Streams,
    start_up: SimTime,
    replica: u64,
    laws: RandomEffectLaws,
    dealt: ByReplica<ReplicaEffects>,
    /// Steps of the last look at the noise, and how far off it is.
    reading: (u64, UnitLogNormal),
    sketch: Sketch,
}

/// Lucks that are kept for later strategies at most, 350 bytes each with their probes.
const MOST_KEPT: usize = 4_096;

const MANY: usize = 32;

/// What a replica dealt to the configurations that met it.
#[derive(Debug, Default)]
struct ReplicaEffects {
    /// Places of their luck: [`NOT_MET`] where none was dealt. None at all before the first.
    places: Vec<u32>,
    luck: Vec<RandomEffects>,
    /// First visits, in the order of luck: whoever probes alike meets the same.
    probes: Vec<[Option<KnownProbe>; KNOWN_VISITS]>,
    /// Configurations that were met, in the order of their luck.
    met: Vec<usize>,
}

/// A probe that was made, from whatever moment.
#[derive(Debug, Clone, Copy)]
struct KnownProbe {
    steps: u64,
    took: SimTime,
    times: Advance,
    /// How far off its look at the noise is, once there was one.
    noise_factor: Option<f64>,
}

/// Visits of a configuration that are kept: a cold start and a probe.
const KNOWN_VISITS: usize = 2;

impl ReplicaEffects {
    fn clear(&mut self) {
        for at in self.met.drain(..) {
            self.places[at] = NOT_MET;
        }
        self.luck.clear();
        self.probes.clear();
    }

    /// The place of a visit's probe, if it is kept; its luck was dealt.
    fn probe_mut(&mut self, configuration: usize, visit: u64) -> Option<&mut Option<KnownProbe>> {
        let place = self.places[configuration] as usize;
        self.probes[place].get_mut(usize::try_from(visit).ok()?)
    }

    fn get(&self, configuration: usize) -> Option<&RandomEffects> {
        let place = *self.places.get(configuration)?;
        self.luck.get(place as usize)
    }
}

/// A job, and how often it trained in each configuration for a search.
#[derive(Debug, Clone)]
pub struct ClusterVisits {
    job: Job,
    visits: Visits,
}

/// How often each configuration was visited. There may be a million of them, of which a run meets one.
#[derive(Debug, Clone)]
struct Visits {
    counts: Vec<u32>,
    met: Vec<usize>,
}

impl Visits {
    fn none(configurations: usize) -> Visits {
        Visits {
            counts: vec![0; configurations],
            met: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for at in self.met.drain(..) {
            self.counts[at] = 0;
        }
    }

    /// The number of the next visit, from 0.
    fn next(&mut self, configuration: usize) -> u64 {
        let count = &mut self.counts[configuration];
        if *count == 0 {
            self.met.push(configuration);
        }
        *count += 1;
        u64::from(*count - 1)
    }

    fn count(&self, configuration: usize) -> u64 {
        u64::from(self.counts[configuration])
    }

    fn copy_from(&mut self, other: &Visits) {
        if self.counts.len() != other.counts.len() {
            self.clone_from(other);
            return;
        }
        self.clear();
        for &at in &other.met {
            self.counts[at] = other.counts[at];
            self.met.push(at);
        }
    }
}

impl<'w> SimulatedCluster<'w> {
    pub fn new(world: &'w World, terms: &Terms) -> Self {
        let Terms {
            streams,
            fidelity,
            start_up,
            interrupt,
        } = terms.clone();
        let drift = DriftPath::still();
        let job = ClusterVisits {
            job: Job::new(fidelity, start_up, drift, streams).heeding(interrupt),
            visits: Visits::none(world.truths.len()),
        };
        let trainer = OnCluster {
            world,
            streams,
            start_up,
            replica: 0,
            laws: RandomEffectLaws::from_variation(&world.variation),
            dealt: ByReplica::new(MOST_KEPT / world.truths.len().max(1)),
            reading: (0, UnitLogNormal::from_sigma(0.0)),
            sketch: Sketch::default(),
        };
        WorkTrial::at_zero(trainer, job)
    }

    /// Holds the VMs of `choice`, of which only the newest worker but the chief is taken away `after` it began;
    /// [`UnfinishedJob`] when the clock has nothing to wait for.
    pub fn lose_one(&mut self, choice: usize, after: SimTime) -> Result<(), UnfinishedJob> {
        self.now.hold(&mut self.work, choice)?;
        let job = &mut self.now.job.job;
        let at = job.now() + after;
        job.lose_one(at);
        Ok(())
    }
}

impl OnCluster<'_> {
    #[inline]
    fn luck_of(&mut self, configuration: usize) -> &RandomEffects {
        if self.dealt.current().get(configuration).is_none() {
            self.deal(configuration);
        }
        let dealt = self.dealt.current();
        &dealt.luck[dealt.places[configuration] as usize]
    }

    #[inline(never)]
    fn deal(&mut self, configuration: usize) {
        let world = self.world;
        let dealt = self.dealt.here_mut();
        if dealt.places.is_empty() {
            let count = world.truths.len();
            dealt.places.resize(count, NOT_MET);
            // Most meet all of few.
            dealt.luck.reserve(count.min(MANY));
            dealt.probes.reserve(count.min(MANY));
            dealt.met.reserve(count.min(MANY));
        }
        dealt.places[configuration] = dealt.luck.len() as u32;
        dealt.met.push(configuration);
        let truth = &world.truths[configuration];
        let luck = RandomEffects::draw(truth, &self.laws, &self.streams, self.replica);
        dealt.luck.push(luck);
        dealt.probes.push([None; KNOWN_VISITS]);
    }
}

impl Work for OnCluster<'_> {
    type Job = ClusterVisits;

    fn restart(&mut self, job: &mut ClusterVisits, replica: u64) {
        self.dealt.turn_to(replica, ReplicaEffects::clear);
        self.replica = replica;
        let drift = DriftPath::new(
            self.world.variation.drift,
            self.streams,
            replica,
            self.world.key,
        );
        let spot = self.world.spot.as_deref();
        job.job.restart(drift, replica, spot);
        job.visits.clear();
    }

    fn copy(from: &ClusterVisits, to: &mut ClusterVisits) {
        to.job.copy_from(&from.job);
        to.visits.copy_from(&from.visits);
    }

    fn now(job: &ClusterVisits) -> SimTime {
        job.job.now()
    }

    fn hold(
        &mut self,
        job: &mut ClusterVisits,
        configuration: usize,
        progress: Option<f64>,
    ) -> Result<bool, UnfinishedJob> {
        let truth = &self.world.truths[configuration];
        (job.job).hold(&truth.cluster, truth.configuration.batch)?;
        if progress.is_some() {
            job.job.restore(self.world.constants.restore_s.value)?;
        }
        Ok(true)
    }

    fn usage_until(&self, job: &ClusterVisits, end: SimTime, usage: &mut Usage) {
        job.job.usage_until(end, usage);
    }

    /// On the same lives of VMs.
    fn sketch_again(&mut self, job: &mut ClusterVisits, choice: usize) -> Option<SketchResult> {
        let mut lives_h = job.job.lives_h().iter();
        let luck = self.dealt.current().get(choice)?;
        let truth = &self.world.truths[choice];
        let (cluster, key) = (&truth.cluster, truth.key);
        let mut more = None;
        let (streams, replica) = (&self.streams, self.replica);
        // Where the outline goes another way than the run, lives nobody has seen follow those of the run.
        (self.sketch).run(cluster, luck, self.start_up, |life| {
            lives_h.next().copied().unwrap_or_else(|| {
                let stream =
                    more.get_or_insert_with(|| streams.stream(replica, Purpose::OutlineLives(key)));
                life.sample(stream)
            })
        })
    }

    fn sketch(&mut self, choice: usize, replica: u64) -> Option<SketchResult> {
        let world = self.world;
        let truth = &world.truths[choice];
        let luck = RandomEffects::draw(truth, &self.laws, &self.streams, replica);
        let mut stream = (self.streams).stream(replica, Purpose::OutlineLives(truth.key));
        let (start_up, cluster) = (self.start_up, &truth.cluster);
        if let Some(outlook) = Outlook::new(cluster, &luck, luck.steps_to_target, start_up) {
            // The mean of all outlines of this luck.
            return Some(SketchResult {
                seconds: outlook.seconds,
                surprise: [0.0; 2],
            });
        }
        (self.sketch).run(cluster, &luck, start_up, |life| life.sample(&mut stream))
    }

    fn watch(&mut self, job: &mut ClusterVisits, most: u64) {
        *job.job.log() = Log::on(most);
    }

    fn noted_until(&mut self, job: &mut ClusterVisits, end: SimTime) -> Vec<Entry> {
        job.job.log().take_entries(end)
    }
}

impl Trainer for OnCluster<'_> {
    fn steps_to_target(&mut self, configuration: usize) -> u64 {
        self.luck_of(configuration).steps_to_target
    }

    fn steps_at(&self, configuration: usize, progress: f64) -> f64 {
        self.world.truths[configuration].steps_at(progress)
    }

    fn progress_after(&self, configuration: usize, progress: f64, steps: f64) -> f64 {
        self.world.truths[configuration].progress_after(progress, steps)
    }

    fn train(
        &mut self,
        job: &mut ClusterVisits,
        configuration: usize,
        goal: Goal,
        phase: Phase,
    ) -> Result<TrainingResult, UnfinishedJob> {
        let ClusterVisits { job, visits } = job;
        self.luck_of(configuration);
        let truth = &self.world.truths[configuration];
        let dealt = self.dealt.here_mut();
        let place = dealt.places[configuration] as usize;
        let luck = &dealt.luck[place];
        job.enter(phase);
        let mut kept = None;
        let purpose = if phase == Phase::Training {
            let needs_s = Outlook::hopeless(&truth.cluster, luck, goal.mark, self.start_up);
            if let Some(needs_s) = needs_s {
                return Err(UnfinishedJob::Hopeless {
                    at: job.now(),
                    needs_h: (needs_s / SECONDS_PER_HOUR) as u64,
                });
            }
            Purpose::Run(truth.key)
        } else {
            // A second visit must not see the first one's draws again.
            let visit = visits.next(configuration);
            kept = dealt.probes[place].get_mut(visit as usize);
            Purpose::Probe(truth.key, visit)
        };
        kept = kept.filter(|_| job.is_timeless(&truth.cluster, goal));
        if let Some(Some(known)) = &kept
            && known.steps == goal.updates
        {
            return job.repeat(known.steps, known.took, known.times);
        }
        let (mut stream, start) = (self.streams.stream(self.replica, purpose), job.now());
        let result = job.train(&truth.cluster, luck, goal, &mut stream)?;
        let is_whole = result.steps == goal.updates && job.is_timeless(&truth.cluster, goal);
        if let Some(kept) = kept.filter(|_| is_whole) {
            *kept = Some(KnownProbe {
                steps: result.steps,
                took: job.now() - start,
                times: result.advance,
                noise_factor: None,
            });
        }
        Ok(result)
    }

    /// γ/K; `None` where the workload does not know it.
    fn noise(
        &mut self,
        at: &Stand<ClusterVisits>,
        configuration: usize,
        steps: u64,
    ) -> Option<f64> {
        let truth = &self.world.truths[configuration];
        let Configuration { workers, batch, .. } = truth.configuration;
        let middle = at.steps as f64 - 0.5 * steps as f64;
        let at_target = truth.noise_normalised?;
        let mut noise = (self.world.noise).noise_at(at_target, workers, batch, middle, at.progress);
        let cv = self.world.variation.noise_cv;
        if cv > 0.0 {
            let visit = at.job.visits.count(configuration);
            let (streams, replica, reading) = (&self.streams, self.replica, &mut self.reading);
            let mut read = || {
                let purpose = Purpose::NoiseReading(truth.key, visit);
                let mut stream = streams.stream(replica, purpose);
                if reading.0 != steps {
                    let law = UnitLogNormal::from_cv(cv / (steps as f64).sqrt());
                    *reading = (steps, law);
                }
                reading.1.sample(&mut stream)
            };
            let known = self
                .dealt
                .here_mut()
                .probe_mut(configuration, visit.wrapping_sub(1));
            noise *= match known {
                Some(Some(known)) if known.steps == steps => {
                    *known.noise_factor.get_or_insert_with(read)
                }
                _ => read(),
            };
        }
        Some(noise.clamp(1.0 / f64::from(workers), 1.0))
    }

    fn is_watched(job: &mut ClusterVisits) -> bool {
        job.job.log().is_on()
    }
}

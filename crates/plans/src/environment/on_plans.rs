//! A job on parallel plans, in one replica.

use std::collections::HashMap;

use super::cut::PlanEnvironment;
use crate::plan_job::Paces;
use crate::terms::PlanWithTerms;
use crate::{Formation, PlanEffects, PlanJob, PlanPace, Terms as JobTerms, pace, timeline};
use scavsim_base::rng::{Purpose, Streams, UnitLogNormal};
use scavsim_base::units::SimTime;
use scavsim_data::usage::{Phase, Usage};
use scavsim_engine::Interrupt;
use scavsim_search::testbed::stepwise::Trainer;
use scavsim_search::testbed::work_trial::{Work, WorkTrial, in_order};
use scavsim_search::testbed::{Observation, Stop, Target, Terms};
use scavsim_sim::job::TrainingResult;
use scavsim_sim::training::log::{Entry, LogEvent, Track};
use scavsim_sim::training::sync::Goal;
use scavsim_sim::training::{Fidelity, UnfinishedJob};

pub(super) struct OnPlans<'g> {
    ground: &'g PlanEnvironment,
    streams: Streams,
    fidelity: Fidelity,
    interrupt: Interrupt,
    replica: u64,
    /// What the replica deals to the configuration that was met last.
    dealt: Option<PlanDraw>,
    /// The paces of formations that are not the whole plan which was chosen.
    formations: HashMap<Formation, PlanPace>,
    /// Entries of a step that are noted, where somebody looks on.
    most_fine: u64,
}

/// The paces of a replica: of the plan that was chosen, and of what takes its place.
struct PlanPaces<'t, 'g> {
    whole: Formation,
    of: &'t mut OnPlans<'g>,
}

impl Paces for PlanPaces<'_, '_> {
    fn pace_of(&mut self, formation: Formation) -> &mut PlanPace {
        if formation == self.whole {
            return &mut self.of.meet(formation.at).pace;
        }
        if !self.of.formations.contains_key(&formation) {
            let pace = self.of.pace_in(formation);
            self.of.formations.insert(formation, pace);
        }
        // It was put there just above.
        (self.of.formations.get_mut(&formation)).expect("it is known")
    }
}

struct PlanDraw {
    at: usize,
    luck: PlanEffects,
    pace: PlanPace,
}

/// A job, and how often it trained on each plan for a search.
#[derive(Debug, Clone)]
pub(super) struct PlanVisits {
    job: PlanJob,
    visits: HashMap<usize, u64>,
}

pub(super) fn open<'g>(ground: &'g PlanEnvironment, terms: &Terms) -> WorkTrial<OnPlans<'g>> {
    let trainer = OnPlans {
        ground,
        streams: terms.streams,
        fidelity: terms.fidelity,
        interrupt: terms.interrupt.clone(),
        replica: 0,
        dealt: None,
        formations: HashMap::new(),
        most_fine: 0,
    };
    let job = trainer.start(0);
    WorkTrial::at_zero(trainer, job)
}

impl OnPlans<'_> {
    fn start(&self, replica: u64) -> PlanVisits {
        let (choices, terms) = (&*self.ground.choices, &*self.ground.terms);
        let interrupt = self.interrupt.clone();
        PlanVisits {
            job: PlanJob::new(choices, terms, self.streams, replica, interrupt),
            visits: HashMap::new(),
        }
    }

    /// The pace of fewer replicas or of another plan; that of the whole plan where they make none.
    fn pace_in(&self, formation: Formation) -> PlanPace {
        let ground = self.ground;
        let (choices, variation) = (&*ground.choices, &ground.terms.variation);
        let at = formation.at;
        let luck = self.luck(at);
        let spread = || ground.step_spread(at);
        let own = choices.pace_in(formation, &luck, variation, self.fidelity, spread);
        own.unwrap_or_else(|| self.whole_pace(at, &luck))
    }

    fn luck(&self, at: usize) -> PlanEffects {
        let (choices, variation) = (&self.ground.choices, &self.ground.terms.variation);
        PlanEffects::draw(choices, at, variation, &self.streams, self.replica)
    }

    fn whole_pace(&self, at: usize, luck: &PlanEffects) -> PlanPace {
        let ground = self.ground;
        PlanPace::new(
            &ground.choices.ways[at],
            luck,
            &ground.terms.variation,
            self.fidelity,
            || ground.step_spread(at),
            || ground.choices.prepared(at).ok(),
        )
    }

    fn meet(&mut self, at: usize) -> &mut PlanDraw {
        let is_met = self.dealt.as_ref().is_some_and(|dealt| dealt.at == at);
        if !is_met {
            let luck = self.luck(at);
            let pace = self.whole_pace(at, &luck);
            self.dealt = Some(PlanDraw { at, luck, pace });
        }
        // It was set just above.
        self.dealt.as_mut().expect("a configuration was met")
    }

    /// The first step of the run, as if it had no luck.
    fn note_step(&self, job: &mut PlanJob, choice: usize) {
        let from = job.now();
        let Ok(plan) = self.ground.choices.prepared(choice) else {
            return;
        };
        let (entries, is_all) = timeline::entries(&plan, from, self.most_fine);
        let Some(log) = &mut job.log else {
            return;
        };
        let last = entries.last().map_or(from, |entry| entry.at);
        log.extend(entries);
        if !is_all {
            log.push(Entry::instant(last, Track::Job, LogEvent::Full));
        }
    }
}

impl Work for OnPlans<'_> {
    type Job = PlanVisits;

    fn restart(&mut self, job: &mut PlanVisits, replica: u64) {
        self.replica = replica;
        let log = job.job.log.take().map(|_| Vec::new());
        *job = self.start(replica);
        job.job.log = log;
        self.dealt = None;
        self.formations.clear();
    }

    fn now(job: &PlanVisits) -> SimTime {
        job.job.now()
    }

    fn hold(
        &mut self,
        job: &mut PlanVisits,
        configuration: usize,
        progress: Option<f64>,
    ) -> Result<bool, UnfinishedJob> {
        job.job.hold(self.ground.on(configuration))?;
        if progress.is_some_and(|progress| progress > 0.0) {
            // Another plan cuts the state otherwise.
            job.job.restart_before_training();
        }
        Ok(true)
    }

    fn usage_until(&self, job: &PlanVisits, end: SimTime, usage: &mut Usage) {
        job.job.usage_until(end, usage);
    }

    fn watch(&mut self, job: &mut PlanVisits, most: u64) {
        job.job.log = Some(Vec::new());
        self.most_fine = most;
    }

    fn noted_until(&mut self, job: &mut PlanVisits, end: SimTime) -> Vec<Entry> {
        job.job.note_still_running(end);
        let mut all = job.job.log.take().unwrap_or_default();
        all.retain(|entry| entry.at <= end);
        in_order(self, job, all, end)
    }
}

impl Trainer for OnPlans<'_> {
    fn steps_to_target(&mut self, configuration: usize) -> u64 {
        self.meet(configuration).luck.steps
    }

    fn train(
        &mut self,
        job: &mut PlanVisits,
        configuration: usize,
        goal: Goal,
        phase: Phase,
    ) -> Result<TrainingResult, UnfinishedJob> {
        let PlanVisits { job, visits } = job;
        let on = self.ground.on(configuration);
        let visit = if phase == Phase::Training {
            if job.log.is_some() {
                self.note_step(job, configuration);
            }
            None
        } else if goal.updates == 0 {
            // Nobody looks at nothing.
            return Ok(TrainingResult::nothing(job.now()));
        } else {
            let visit = visits.entry(configuration).or_default();
            *visit += 1;
            Some(*visit - 1)
        };
        let purpose = pace::steps_of(on.way.key, visit);
        let stream = self.streams.stream(self.replica, purpose);
        let whole = Formation::full_plan(on.choices, on.at);
        let mut paces = PlanPaces { whole, of: self };
        job.train(on, &mut paces, goal, phase, &stream)
    }

    fn profile(
        &mut self,
        job: &mut PlanVisits,
        configuration: usize,
        passes: u64,
    ) -> Result<Observation, Stop> {
        let job = &mut job.job;
        let choices = &self.ground.choices;
        let alone = choices.one_vm(configuration);
        let terms = JobTerms {
            start_up: (self.ground.terms).start_up_of(&choices.ways[configuration]),
            ..JobTerms::default()
        };
        job.hold(PlanWithTerms {
            choices,
            way: &alone,
            at: configuration,
            terms: &terms,
        })?;
        let variation = &self.ground.terms.variation;
        let machine = if variation.vm_sigma > 0.0 {
            let key = choices.vm_types[usize::from(alone.nodes[0].0)].1;
            let mut stream = self.streams.stream(self.replica, Purpose::Machines(key));
            UnitLogNormal::from_sigma(variation.vm_sigma).sample(&mut stream)
        } else {
            1.0
        };
        let pass_s = choices.pass_s(configuration) * machine;
        job.look(passes as f64 * pass_s, Phase::Searching);
        // What is trained on later has a life of its own.
        job.release_all();
        let mut seen = Observation::of_steps(Some(0), Some(pass_s), Target::Unknown);
        seen.compute_s = Some(pass_s);
        Ok(seen)
    }

    fn is_watched(job: &mut PlanVisits) -> bool {
        job.job.log.is_some()
    }
}

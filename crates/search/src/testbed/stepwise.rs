//! Work that trains in steps towards a target: each step of a search brings it nearer.

use super::job_trial::{no_fidelities, no_layers};
use super::work_trial::{ProbedWork, ReachedTarget, Stand, Work};
use super::{Length, Observation, Stop, Target, Timeline};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Phase;
use scavsim_sim::job::TrainingResult;
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::sync::Goal;

/// What trains, in one replica.
pub trait Trainer: Work {
    fn steps_to_target(&mut self, configuration: usize) -> u64;

    /// Share of the steps of a configuration that are done with so much progress.
    fn steps_at(&self, _configuration: usize, progress: f64) -> f64 {
        progress
    }

    /// Progress after so large a share of the steps of a configuration more.
    fn progress_after(&self, _configuration: usize, progress: f64, steps: f64) -> f64 {
        progress + steps
    }

    /// Trains on what is held, for a search or for good. What comes after the mark earns nothing.
    fn train(
        &mut self,
        job: &mut Self::Job,
        configuration: usize,
        goal: Goal,
        phase: Phase,
    ) -> Result<TrainingResult, UnfinishedJob>;

    /// What is read of the noise over the last so many steps.
    fn noise(&mut self, _at: &Stand<Self::Job>, _configuration: usize, _steps: u64) -> Option<f64> {
        None
    }

    /// Passes over every layer alone, and what that shows; [`Stop`] where there are no layers, or the job does not end.
    fn profile(
        &mut self,
        _job: &mut Self::Job,
        _configuration: usize,
        _passes: u64,
    ) -> Result<Observation, Stop> {
        Err(no_layers())
    }

    /// Whether somebody looks on: then a run ends at the target.
    fn is_watched(job: &mut Self::Job) -> bool;
}

/// What is seen when all time went into getting ready.
fn nothing(seconds: f64) -> Observation {
    Observation::of_steps(Some(0), None, Target::MoreThan(seconds))
}

/// Steps that are left to the target, of which a run takes `all`.
fn left<T: Trainer>(work: &T, at: &Stand<T::Job>, configuration: usize, all: u64) -> u64 {
    let done = work.steps_at(configuration, at.progress);
    // The relief keeps rounding errors of the sum of shares from adding a step.
    let left = (1.0 - done - 1e-12).max(0.0) * all as f64;
    let whole = left as u64;
    whole + u64::from((whole as f64) < left)
}

/// Trains up to `steps` steps in a configuration and looks, fewer if a whole run takes fewer or `until` comes first. On
/// the way the job may come to its target, which ends nothing: what is trained then earns nothing more.
fn search<T: Trainer>(
    work: &mut T,
    at: &mut Stand<T::Job>,
    configuration: usize,
    steps: u64,
    until: SimTime,
) -> Result<Observation, Stop> {
    let before = T::now(&at.job);
    at.hold(work, configuration)?;
    let all = work.steps_to_target(configuration);
    let steps = steps.min(all);
    let left = if at.is_reached() {
        u64::MAX
    } else {
        left(work, at, configuration, all).max(1)
    };
    let goal = Goal {
        updates: steps,
        mark: left.min(steps),
        until,
    };
    let run = work.train(&mut at.job, configuration, goal, Phase::Searching)?;
    at.steps += run.steps;
    if run.steps >= left {
        at.progress = 1.0;
        let reached = ReachedTarget {
            configuration,
            at: run.advance.at_mark,
            lost_vms: run.lost_vms,
            totals: run.totals,
        };
        at.reach(work, reached);
    } else if !at.is_reached() {
        let share = run.steps as f64 / all as f64;
        at.progress = work.progress_after(configuration, at.progress, share);
    }
    if run.passed == 0 {
        return Ok(nothing((T::now(&at.job) - before).seconds()));
    }
    let each = 1.0 / run.passed as f64;
    let (compute_s, communication_s) = (run.advance.compute_s, run.advance.communication_s);
    Ok(Observation {
        steps: Some(run.steps),
        step_s: Some((compute_s + communication_s) * each),
        step_is_of_run: false,
        compute_s: Some(compute_s * each),
        communication_s: Some(communication_s * each),
        noise_normalised: work.noise(at, configuration, run.steps),
        quality: None,
        target: Target::Unknown,
    })
}

/// A run of its own from scratch to the target, given up at `until`. What it trained is no part of the job's own
/// progress; but a model at its target is what the job is for.
fn from_scratch<T: Trainer>(
    work: &mut T,
    at: &mut Stand<T::Job>,
    configuration: usize,
    until: SimTime,
) -> Result<Observation, Stop> {
    let all = work.steps_to_target(configuration);
    let (progress, steps) = (at.progress, at.steps);
    (at.progress, at.steps) = (0.0, 0);
    let start = T::now(&at.job);
    let seen = search(work, at, configuration, u64::MAX, until);
    let seconds = (T::now(&at.job) - start).seconds();
    (at.progress, at.steps) = (progress, steps);
    let seen = seen?;
    let target = if seen.steps == Some(all) {
        Target::Reached(seconds)
    } else {
        Target::MoreThan(seconds)
    };
    Ok(Observation { target, ..seen })
}

impl<T: Trainer> ProbedWork for T {
    fn settles(&self, _: u64) -> bool {
        true
    }

    fn probe(
        &mut self,
        at: &mut Stand<T::Job>,
        configuration: usize,
        length: Length,
    ) -> Result<Observation, Stop> {
        let until = match length {
            Length::Whole => SimTime::LAST,
            Length::WholeUntil(end) | Length::Until(end) => end,
            Length::Steps(steps) => return search(self, at, configuration, steps, SimTime::LAST),
            Length::Share(share) => {
                let all = self.steps_to_target(configuration);
                let steps = (share * all as f64).ceil().max(1.0) as u64;
                return search(self, at, configuration, steps, SimTime::LAST);
            }
            Length::Fidelity(_) => return Err(no_fidelities()),
            Length::Profile(passes) => {
                let seen = self.profile(&mut at.job, configuration, passes)?;
                (at.current, at.holds) = (Some(configuration), None);
                return Ok(seen);
            }
        };
        let before = T::now(&at.job);
        at.hold(self, configuration)?;
        let start = T::now(&at.job);
        if start >= until {
            Ok(nothing((start - before).seconds()))
        } else if let Length::Until(_) = length {
            search(self, at, configuration, u64::MAX, until)
        } else {
            from_scratch(self, at, configuration, until)
        }
    }

    /// Runs `choice` to the target, as if that had not been reached before.
    fn run(&mut self, at: &mut Stand<T::Job>, choice: usize) -> Result<Timeline, UnfinishedJob> {
        let has_searched = at.current.is_some();
        at.hold(self, choice)?;
        let search_end = if has_searched {
            T::now(&at.job)
        } else {
            SimTime::ZERO
        };
        let all = self.steps_to_target(choice);
        let left = if at.is_reached() {
            0
        } else {
            left(self, at, choice, all)
        };
        // Who looks on sees no more than the run to the target.
        let is_watched = T::is_watched(&mut at.job);
        let goal = Goal {
            mark: left,
            ..Goal::updates(if is_watched { left } else { all })
        };
        let run = self.train(&mut at.job, choice, goal, Phase::Training)?;
        let end = T::now(&at.job);
        Ok(Timeline {
            net_end: run.advance.at_mark,
            totals: run.totals,
            ..Timeline::new(choice, search_end, end, run.lost_vms)
        })
    }
}

//! Ernest (NSDI 2016): the time of a cluster from a few experiments, as a law in its size: per VM type,
//! time = θ₀ + θ₁·work/K + θ₂·ln K + θ₃·K by non-negative least squares. An experiment is a probe of steps: the time is that of a step, and the
//! work its batch. Where nothing tells epochs, experiments are whole runs, all with the same work.

use super::a_optimal::{a_optimal, rank};
use super::prober::{Prober, UNREAD};
use super::settings::Probes;
use super::trials::{none_reached, point, value};
use super::{BuildResult, Depends, Forecast, Past, Recipe, Task, UnusableStrategy, ready, space};
use crate::testbed::{Stop, Target, Testbed};
use scavsim_base::settings;
use scavsim_data::space::Space;
use scavsim_fit::linear::{Equation, non_negative};
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of Ernest.
    pub struct ErnestSettings {
        /// Experiments on each VM type; without it one more than there are distinct coefficients.
        pub budget: Option<Count>,
        /// Steps per probe; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
    }

    name: "ernest",
    what: "a law in work and machines per VM type, by non-negative least squares through experiments of optimal design",
    formula: "probes: steps of a few clusters of each VM type by optimal design; epochs: model of all earlier runs; noise: not used; step: θ₀ + θ₁·work/K + θ₂·ln K + θ₃·K",
    source: "Venkataraman et al., Ernest, NSDI 2016",
    example: "search.strategies = [\"ernest\"]",
}

impl Recipe for ErnestSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probing = Prober::with_known_epochs(task, past, Probes::of_steps(self.probe_steps));
        let terms = (0..task.space.len())
            .map(|at| terms(task.space, at, probing.is_to_target()))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| {
                UnusableStrategy("the space does not say how many workers there are".to_owned())
            })?;
        let kinds = kinds(task.space, probing.is_to_target());
        let experiments = |members: Vec<usize>| {
            let rows: Vec<ErnestTerms> = members.iter().map(|&at| terms[at]).collect();
            // As they have it, an experiment takes as long as its work over its machines.
            let takes: Vec<f64> = rows.iter().map(|row| row[1]).collect();
            let count = (self.budget).map_or(rank(&rows) + 1, |budget| budget.get() as usize);
            let chosen = a_optimal(&rows, &takes, count);
            Kind {
                probed: chosen.into_iter().map(|place| members[place]).collect(),
                members,
            }
        };
        let kinds = kinds.into_iter().map(experiments).collect();
        // Where runs go to the target it chooses itself, as its choice may fail.
        let depends = if probing.is_to_target() {
            Depends::BOTH
        } else {
            Depends::NOTHING
        };
        let ernest = Ernest {
            kinds,
            terms,
            probing,
        };
        ready(depends, move |task, testbed, _, forecast| {
            ernest.search(task, testbed, forecast)
        })
    }
}

/// 1, work/K, ln K, K.
type ErnestTerms = [f64; 4];

fn terms(space: &Space, at: usize, to_target: bool) -> Option<ErnestTerms> {
    let workers = f64::from(space.workers(at)?);
    let work = if to_target {
        1.0
    } else {
        f64::from(space.batch(at)?)
    };
    Some([1.0, work / workers, libm::log(workers), workers])
}

/// Configurations that one law is about, by workers: those that differ in nothing else, but where the work is told in batch.
fn kinds(space: &Space, to_target: bool) -> Vec<Vec<usize>> {
    let mut kinds = Vec::new();
    for group in space::groups(space) {
        let mut members = group.members;
        if !to_target {
            kinds.push(members);
            continue;
        }
        members.sort_by_key(|&at| space.batch(at)); // stable: by workers still
        let same = members.chunk_by(|&a, &b| space.batch(a) == space.batch(b));
        kinds.extend(same.map(<[usize]>::to_vec));
    }
    kinds
}

struct Ernest {
    kinds: Vec<Kind>,
    terms: Vec<ErnestTerms>,
    probing: Prober,
}

/// Configurations that one law is about.
struct Kind {
    members: Vec<usize>,
    probed: Vec<usize>,
}

impl Ernest {
    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let mut runs = TargetRuns::default();
        for kind in &self.kinds {
            let mut equations = Vec::with_capacity(kind.probed.len());
            for &at in &kind.probed {
                let seen = self.probing.probe(testbed, at)?;
                runs.note(at, seen.target);
                let time_s = match seen.target {
                    Target::Reached(time_s) if self.probing.is_to_target() => Some(time_s),
                    _ if self.probing.is_to_target() => None,
                    _ => seen.step_s,
                };
                equations.extend(time_s.map(|time_s| Equation::absolute(self.terms[at], time_s)));
            }
            let Some(law) = non_negative(&equations) else {
                continue; // every experiment failed
            };
            for &at in &kind.members {
                let time_s = (self.terms[at].iter().zip(&law)).map(|(x, c)| x * c).sum();
                if self.probing.is_to_target() {
                    forecast.predict(at, time_s)
                } else {
                    self.probing.predict(at, UNREAD, time_s, forecast)
                }
            }
        }
        for &(at, time_s) in &runs.reached {
            forecast.predict(at, time_s);
        }
        if self.probing.is_to_target() {
            self.confirm(task, testbed, forecast, runs)
        } else {
            Ok(())
        }
    }
}

#[derive(Default)]
struct TargetRuns {
    reached: Vec<(usize, f64)>,
    failed: Vec<usize>,
}

impl TargetRuns {
    fn note(&mut self, at: usize, target: Target) {
        match target {
            Target::Reached(time_s) => self.reached.push((at, time_s)),
            Target::Failed(_) | Target::MoreThan(_) => self.failed.push(at),
            Target::Unknown => {}
        }
    }
}

impl Ernest {
    /// Runs what is foretold to be best, then the next best where it fails, and decides for the best that was run.
    fn confirm(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
        mut runs: TargetRuns,
    ) -> Result<(), Stop> {
        let worth = |at: usize, time_s: f64| {
            let point = point(task, at, time_s);
            (!task.is_within(at, &point), value(task.objective, &point))
        };
        let by_worth = |a: &(usize, (bool, f64)), b: &(usize, (bool, f64))| {
            (a.1.0.cmp(&b.1.0))
                .then(a.1.1.total_cmp(&b.1.1))
                .then(a.0.cmp(&b.0))
        };
        let best = |runs: &TargetRuns| {
            let reached = runs.reached.iter();
            reached
                .map(|&(at, time_s)| (at, worth(at, time_s)))
                .min_by(by_worth)
        };
        // From the best that is foretold down; without a law in their order.
        let value = |at: usize| {
            let foretold = forecast.time_s[at].unwrap_or(f64::INFINITY);
            (at, worth(at, foretold))
        };
        let mut list: Vec<(usize, (bool, f64))> = (0..self.terms.len()).map(value).collect();
        list.sort_by(by_worth);
        for (at, _) in list {
            if runs.failed.contains(&at) {
                continue;
            }
            if !runs.reached.iter().any(|(reached, _)| *reached == at) {
                runs.note(at, self.probing.probe(testbed, at)?.target);
            }
            if !runs.failed.contains(&at) {
                break;
            }
        }
        for &at in &runs.failed {
            forecast.time_s[at] = None;
        }
        for &(at, time_s) in &runs.reached {
            forecast.predict(at, time_s);
        }
        let best = best(&runs).ok_or_else(|| none_reached(runs.failed.len()))?;
        // Where nothing that was run keeps the limits, what is foretold decides.
        forecast.decided = Some(best)
            .filter(|(_, (beyond, _))| !beyond)
            .map(|(at, _)| at);
        Ok(())
    }
}

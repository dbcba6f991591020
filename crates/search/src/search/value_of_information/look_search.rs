//! Looks at a few steps, where earlier runs or the workload tell how many steps it takes to the target.

use std::sync::OnceLock;

use super::constants::Constants;
use super::decision::{LookCosts, next_look};
use super::description;
use super::experts::{Experts, LogObjective, ObjectivePrediction, objective};
use super::field::Prior;
use crate::search::prober::{Prober, UNREAD};
use crate::search::{BuildResult, Depends, Forecast, Task, ready};
use crate::testbed::{Observation, Stop, Target, Testbed};

pub(super) struct LookSearch {
    probing: Prober,
    budget: usize,
    constants: Constants,
    /// Priors of the seconds of a step, and of steps times batch.
    priors: OnceLock<[Prior; 2]>,
}

/// Steps to the target besides beliefs: their logarithms where batches tell them, else those of one over the batch.
struct Steps {
    logs: Vec<f64>,
    are_known: bool,
}

struct NextLook<'a> {
    experts: &'a Experts<'a>,
    told: &'a ObjectivePrediction,
    steps: &'a Steps,
    /// Power of a time in the objective.
    power: f64,
    looks: u32,
    /// Seconds that they took beside their steps.
    overhead_s: f64,
}

impl LookSearch {
    pub(super) fn ready(probing: Prober, budget: usize) -> BuildResult {
        let own = LookSearch {
            probing,
            budget,
            constants: Constants::default(),
            priors: OnceLock::new(),
        };
        ready(Depends::BOTH, move |task, testbed, _, forecast| {
            own.search(task, testbed, forecast)
        })
    }

    fn priors(&self, task: &Task<'_>) -> &[Prior; 2] {
        self.priors.get_or_init(|| {
            let configurations = description::configurations(task);
            let epochs = configurations.prior(&self.constants.epochs, &self.constants);
            let local = configurations.with_local_batch();
            [local.prior(&self.constants.look, &self.constants), epochs]
        })
    }

    fn steps(&self, task: &Task<'_>) -> Steps {
        let all = 0..task.space.len();
        if self.probing.reads_noise() {
            Steps {
                logs: all
                    .map(|at| -libm::log(task.space.batch(at).map_or(1.0, f64::from)))
                    .collect(),
                are_known: false,
            }
        } else {
            Steps {
                logs: all
                    .map(|at| {
                        let steps = self.probing.steps_to_target(at, UNREAD);
                        steps.map_or(f64::INFINITY, libm::log)
                    })
                    .collect(),
                are_known: true,
            }
        }
    }

    /// What a look at each open configuration is expected to cost; 0 for others.
    fn charges(&self, task: &Task<'_>, open: &[usize], look: &NextLook<'_>) -> Vec<f64> {
        let mut charge = vec![0.0; task.space.len()];
        let expected = |at: usize| look.told.expected(at);
        let least = (open.iter().map(|at| expected(*at))).fold(f64::INFINITY, f64::min);
        for &at in open {
            let log_steps = match look.steps.are_known {
                true => look.steps.logs[at],
                // Of some noise, as nothing was read yet.
                false if look.looks == 0 => {
                    let some = self.probing.steps_to_target(at, UNREAD);
                    some.map_or(f64::INFINITY, libm::log)
                }
                false => look.experts.part(&look.told.weights, 1, at) + look.steps.logs[at],
            };
            let one_step = look.power * libm::exp(-log_steps);
            charge[at] = expected(at) * self.probing.steps() as f64 * one_step;
            match look.looks {
                // The steps of a cold start are steps of the job: it costs what they cost more than elsewhere.
                0 => {
                    let before = self.probing.steps_before() as f64;
                    charge[at] += (expected(at) - least) * before * one_step;
                }
                looks => {
                    let step_s = libm::exp(look.experts.part(&look.told.weights, 0, at));
                    let as_steps = look.overhead_s / f64::from(looks) / step_s;
                    charge[at] += expected(at) * as_steps * one_step;
                }
            }
        }
        charge
    }

    fn logs(&self, at: usize, seen: &Observation, steps: &Steps) -> Option<Vec<f64>> {
        let mut logs = vec![libm::log(seen.step_s.filter(|s| *s > 0.0)?)];
        if !steps.are_known {
            let all = self.probing.steps_to_target(at, seen.noise_normalised?)?;
            logs.push(libm::log(all) - steps.logs[at]);
        }
        Some(logs)
    }
}

impl LookSearch {
    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let constants = &self.constants;
        let [step, epochs] = self.priors(task);
        let steps = self.steps(task);
        let parts: &[&Prior] = if steps.are_known {
            &[step]
        } else {
            &[step, epochs]
        };
        let mut experts = Experts::new(parts, &constants.look_scales, constants.look_caution);
        let mut to = objective(task);
        (to.offset.iter_mut().zip(&steps.logs)).for_each(|(offset, log)| *offset += to.power * log);
        let all: Vec<usize> = (0..task.space.len())
            .filter(|&at| to.offset[at].is_finite())
            .collect();
        let mut open = all.clone();
        let (mut looks, mut overhead_s) = (0_u32, 0.0);
        while (looks as usize) < self.budget {
            let told = experts.predict_objective(&to);
            let look = NextLook {
                experts: &experts,
                told: &told,
                steps: &steps,
                power: to.power,
                looks,
                overhead_s,
            };
            let charge = self.charges(task, &open, &look);
            let asked = LookCosts {
                power: to.power,
                charge: &charge,
                runs: task.repeats.max(1) as f64,
                open: &open,
                all: &all,
            };
            let Some(at) = next_look(&experts, &told, &asked, looks == 0, constants) else {
                break;
            };
            open.retain(|&other| other != at);
            if looks == 0 {
                self.probing.cold_start_at(testbed, at)?;
            }
            let before_s = testbed.spent().seconds;
            let seen = self.probing.probe(testbed, at)?;
            looks += 1;
            let stepping_s = seen
                .step_s
                .zip(seen.steps)
                .map_or(0.0, |(s, n)| s * n as f64);
            overhead_s += (testbed.spent().seconds - before_s - stepping_s).max(0.0);
            if let Some(logs) = self.logs(at, &seen, &steps) {
                experts.look(at, &logs);
            }
            if let Target::Failed(_) = seen.target {
                to.offset[at] = f64::INFINITY;
            }
        }
        let time = LogObjective {
            power: 1.0,
            offset: steps.logs,
        };
        let told = experts.predict_objective(&time);
        for at in all.into_iter().filter(|&at| to.offset[at].is_finite()) {
            forecast.predict(at, told.expected(at));
        }
        Ok(())
    }
}

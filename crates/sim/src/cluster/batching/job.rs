use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cluster::batching::group::{Bounds, WorkerGroup};
use crate::cluster::batching::smoothing::{RunningAverage, Smoothing};
use crate::cluster::batching::{Batching, Controller, ObservationSchedule, Schedule};
use crate::training::drift::DriftPath;
use crate::training::progress::Advance;
use crate::training::slowest::{self, Moments};
use crate::training::stepping::Stepping;
use crate::training::sync::fast::Pace;
use crate::training::sync::{Goal, Protocol, Scratch, Stretch};
use crate::training::variation::{Variation, WorkerTime};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_data::workload::law::WorkerLaw;
use scavsim_data::workload::law::worker::zero;
use scavsim_read::input::checked::{Count, NonNegative, Positive, Spread};

/// A job on unequal workers, as written.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnequalJob {
    /// The workers.
    pub workers: Vec<Worker>,
    /// b0: samples per worker and step on average. The global batch is b0 times the workers.
    pub batch: Positive,
    /// Steps of the job.
    pub steps: Count,
    /// Seconds per step of one worker.
    pub law: WorkerLaw,
    /// How batches are set.
    pub batching: Batching,
    /// Seconds per step after the slowest worker.
    #[serde(default = "zero")]
    pub sync_s: NonNegative,
    /// Seconds that a change of batches costs.
    #[serde(default = "zero")]
    pub restart_s: NonNegative,
    /// Coefficient of variation of one worker's time in one step.
    #[serde(default = "no_spread")]
    pub step_cv: Spread,
    /// Sizes that change during the job; those of the workers hold until the first change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

fn no_spread() -> Spread {
    Spread::new(0.0).expect("0 is a spread")
}

/// One worker.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Cores or FLOPS.
    pub size: Positive,
    /// b_min.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Positive>,
    /// b_max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<Positive>,
    /// κ: samples beyond which its throughput falls, as its memory is full, where the law says by how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Positive>,
}

/// b_min where none is given, as a share of b0. A controller divides by batches: never zero.
const LEAST_SHARE: f64 = 1e-3;

const SECONDS_PER_YEAR: f64 = 365.25 * 24.0 * 3600.0;
/// Years that a job may take with all samples on its slowest worker; the clock holds 584.
const LONGEST_YEARS: u32 = 500;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImpossibleJob {
    #[error("the job has no workers")]
    NoWorkers,
    #[error("worker {worker}: the least batch {least} is above the most, {most}")]
    Bounds {
        /// From 1.
        worker: usize,
        /// b_min.
        least: f64,
        /// b_max.
        most: f64,
    },
    #[error("the global batch is {batch}; the bounds of all workers allow {least} to {most}")]
    Batch {
        /// K·b0.
        batch: f64,
        /// Σ b_min.
        least: f64,
        /// Σ b_max.
        most: f64,
    },
    #[error("sizes, batches and law give step times that are no numbers above 0")]
    Range,
    #[error("the job may take more than {LONGEST_YEARS} years")]
    Long,
    #[error("level {level} has {found} sizes for {workers} workers")]
    Sizes {
        /// From 1.
        level: usize,
        found: usize,
        workers: usize,
    },
    #[error("level {level} begins at step {step}, not after the level before")]
    Order {
        /// From 1.
        level: usize,
        step: u64,
    },
}

#[derive(Debug, Clone)]
pub struct Plan {
    group: WorkerGroup,
    /// First step and sizes of every level, the first at step 0.
    levels: Vec<(u64, Vec<f64>)>,
    steps: u64,
    law: WorkerLaw,
    /// Samples beyond which each worker's throughput falls.
    knees: Vec<Option<f64>>,
    batching: Batching,
    sync_s: f64,
    restart_s: f64,
    time: WorkerTime,
    /// One worker's time, relative to its mean.
    one: Moments,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub time_s: f64,
    /// Seconds of restarts after changes of batches.
    pub restart_s: f64,
    pub changes: u64,
    /// Steps done when batches changed last.
    pub last_change: Option<u64>,
    pub batches: Vec<f64>,
}

impl UnequalJob {
    pub fn plan(&self) -> Result<Plan, ImpossibleJob> {
        if self.workers.is_empty() {
            return Err(ImpossibleJob::NoWorkers);
        }
        let batch = self.batch.get() * self.workers.len() as f64;
        let bounds: Vec<Bounds> = (self.workers.iter())
            .map(|w| {
                let most = w.most.map_or(f64::INFINITY, Positive::get);
                let default = (LEAST_SHARE * self.batch.get()).min(most);
                Bounds {
                    least: w.least.map_or(default, Positive::get),
                    most,
                }
            })
            .collect();
        for (at, b) in bounds.iter().enumerate() {
            if b.least > b.most {
                return Err(ImpossibleJob::Bounds {
                    worker: at + 1,
                    least: b.least,
                    most: b.most,
                });
            }
        }
        let (least, most) = (bounds.iter()).fold((0.0, 0.0), |s, b| (s.0 + b.least, s.1 + b.most));
        // Bounds that sum to the global batch but for rounding leave one way to share it.
        if least > batch * (1.0 + 1e-12) || most < batch * (1.0 - 1e-12) {
            return Err(ImpossibleJob::Batch { batch, least, most });
        }
        let variation = Variation {
            step_cv: self.step_cv.get(),
            ..Variation::default()
        };
        let time = variation.worker_time();
        let levels = self.levels()?;
        // With the whole global batch on the smallest worker, or next to nothing on the largest.
        let usable = |sizes: &[f64]| {
            sizes.iter().sum::<f64>().is_finite()
                && (sizes.iter()).all(|&size| {
                    // Nothing is slower than a worker whose memory is full from the first sample on.
                    let slowest_s = self.law.step_s(batch, size, Some(0.0));
                    let quickest_s = self.law.step_s(LEAST_SHARE * self.batch.get(), size, None);
                    slowest_s.is_finite() && quickest_s.is_normal()
                })
        };
        if !batch.is_finite() || !levels.iter().all(|level| usable(&level.1)) {
            return Err(ImpossibleJob::Range);
        }
        let slowest_s = (levels.iter().flat_map(|level| &level.1))
            .map(|&size| self.law.step_s(batch, size, Some(0.0)))
            .fold(0.0, f64::max);
        let step_s = slowest_s + self.law.waiting_s.get() + self.sync_s.get();
        if f64::from(self.steps.get()) * step_s > f64::from(LONGEST_YEARS) * SECONDS_PER_YEAR {
            return Err(ImpossibleJob::Long);
        }
        Ok(Plan {
            group: WorkerGroup {
                sizes: levels[0].1.clone(),
                bounds,
                batch,
            },
            levels,
            steps: u64::from(self.steps.get()),
            law: self.law,
            knees: self
                .workers
                .iter()
                .map(|w| w.knee.map(Positive::get))
                .collect(),
            batching: self.batching,
            sync_s: self.sync_s.get(),
            restart_s: self.restart_s.get(),
            time,
            one: slowest::moments(1, time),
        })
    }

    fn levels(&self) -> Result<Vec<(u64, Vec<f64>)>, ImpossibleJob> {
        let mut levels = match &self.schedule {
            None => Vec::new(),
            Some(schedule) => schedule.levels(),
        };
        let workers = self.workers.len();
        let mut before = None;
        for (at, (step, sizes)) in levels.iter().enumerate() {
            let level = at + 1;
            if sizes.len() != workers {
                return Err(ImpossibleJob::Sizes {
                    level,
                    found: sizes.len(),
                    workers,
                });
            }
            if before.is_some_and(|before| *step <= before) {
                return Err(ImpossibleJob::Order { level, step: *step });
            }
            before = Some(*step);
        }
        if levels.first().is_none_or(|level| level.0 > 0) {
            let sizes = self.workers.iter().map(|w| w.size.get()).collect();
            levels.insert(0, (0, sizes));
        }
        Ok(levels)
    }
}

impl Plan {
    /// Runs the job. Between two looks of the policy, all steps are one draw; without variation, looks that
    /// can change nothing are left out, so that the cost is that of the changes.
    pub fn run(&self, stream: &mut Stream) -> Outcome {
        JobRun::new(self).finish(Mode::Stretches, stream)
    }

    /// Runs the job with every step and every worker drawn: for tests, the reference for [`run`](Plan::run).
    #[doc(hidden)]
    pub fn run_step_by_step(&self, stream: &mut Stream) -> Outcome {
        JobRun::new(self).finish(Mode::Steps, stream)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Stretches,
    Steps,
}

/// The state of a run: the clusters that it is between two changes, one after the other. All room is taken here; a step takes none.
struct JobRun<'a> {
    plan: &'a Plan,
    controller: Controller<'a>,
    looks: Option<ObservationSchedule>,
    level: usize,
    now: u64,
    drift: DriftPath,
    scratch: Scratch,
    averages: Vec<RunningAverage>,
    seen_s: Vec<f64>,
    /// The barrier with the present batches and sizes; its machines are the workers' means in seconds.
    stepping: Stepping,
    outcome: Outcome,
}

impl<'a> JobRun<'a> {
    fn new(plan: &'a Plan) -> Self {
        let workers = plan.group.sizes.len();
        JobRun {
            plan,
            controller: Controller::new(&plan.batching, &plan.group),
            looks: plan.batching.policy().looks(),
            level: 0,
            now: 0,
            drift: DriftPath::still(),
            scratch: Scratch::default(),
            averages: vec![RunningAverage::default(); workers],
            seen_s: vec![0.0; workers],
            stepping: Stepping {
                workers: workers as u32,
                worker_s: 1.0,
                communication_s: plan.sync_s,
                time: plan.time,
                slowest: Moments::constant(0.0),
                machines: Some(vec![0.0; workers].into()),
            },
            outcome: Outcome {
                time_s: 0.0,
                restart_s: 0.0,
                changes: 0,
                last_change: None,
                batches: Vec::new(),
            },
        }
    }

    fn finish(mut self, mode: Mode, stream: &mut Stream) -> Outcome {
        self.renew(mode);
        while self.now < self.plan.steps {
            let end = self.level_end();
            let until = match self.looks {
                Some(looks) => end.min((self.now / looks.every + 1) * looks.every),
                None => end,
            };
            match mode {
                Mode::Stretches => self.stretch(until - self.now, stream),
                Mode::Steps => self.step_by_step(until - self.now, stream),
            }
            self.now = until;
            if let Some(looks) = self.looks
                && self.now < self.plan.steps
                && self.now.is_multiple_of(looks.every)
            {
                self.look(looks, mode, stream);
            }
            if self.now == end && self.level + 1 < self.plan.levels.len() {
                self.level += 1;
                self.renew(mode);
            }
        }
        self.outcome.changes = self.controller.changes;
        self.outcome.batches = self.controller.batches;
        self.outcome
    }

    /// The step at which sizes change next, or the job ends.
    fn level_end(&self) -> u64 {
        let next = self.plan.levels.get(self.level + 1);
        next.map_or(self.plan.steps, |level| level.0.min(self.plan.steps))
    }

    fn renew(&mut self, mode: Mode) {
        let sizes = &self.plan.levels[self.level].1;
        let Some(means_s) = &mut self.stepping.machines else {
            return;
        };
        let workers = self
            .controller
            .batches
            .iter()
            .zip(sizes)
            .zip(&self.plan.knees);
        for (mean_s, ((&batch, &size), &knee)) in means_s.iter_mut().zip(workers) {
            *mean_s = self.plan.law.step_s(batch, size, knee);
        }
        let waiting_s = self.plan.law.waiting_step_s(means_s.iter().copied());
        self.stepping.communication_s = self.plan.sync_s + waiting_s;
        if mode == Mode::Stretches {
            self.stepping.slowest = slowest::moments_unequal(means_s, self.plan.time);
        }
    }

    fn means_s(&self) -> &[f64] {
        self.stepping.machines.as_deref().unwrap_or_default()
    }

    fn train(&mut self, steps: u64, stream: &mut Stream) {
        let stepping = &self.stepping;
        let pace = Pace::new(Protocol::Bsp, stepping);
        let (start, goal) = (SimTime::ZERO, Goal::updates(steps));
        let (drift, scratch) = (&mut self.drift, &mut self.scratch);
        // `bsp` can always be simulated in `fast`.
        if let Ok((stretch, _)) = pace.advance(start, drift, stepping, goal, stream, scratch) {
            self.count(stretch);
        }
    }

    fn count(&mut self, stretch: Stretch) {
        let Advance {
            compute_s,
            communication_s,
            ..
        } = stretch.advance;
        self.outcome.time_s += compute_s + communication_s;
    }

    fn stretch(&mut self, steps: u64, stream: &mut Stream) {
        self.train(steps, stream);
        let Some(looks) = self.looks else { return };
        let (time, one) = (self.plan.time, self.plan.one);
        let means_s = self.stepping.machines.as_deref().unwrap_or_default();
        for (average, &mean_s) in self.averages.iter_mut().zip(means_s) {
            average.add_many(looks.smoothing, steps, mean_s, time, one, stream);
        }
    }

    fn step_by_step(&mut self, steps: u64, stream: &mut Stream) {
        let (stepping, looks) = (&self.stepping, self.looks);
        let (mut compute_s, mut communication_s) = (0.0, 0.0);
        for _ in 0..steps {
            let mut slowest_s = 0f64;
            for (worker, average) in (0..stepping.workers).zip(&mut self.averages) {
                let time_s = stepping.draw_worker_s(worker, stream);
                slowest_s = slowest_s.max(time_s);
                if let Some(looks) = looks {
                    average.add(looks.smoothing, time_s);
                }
            }
            compute_s += slowest_s;
            communication_s += stepping.communication_s;
        }
        self.outcome.time_s += compute_s + communication_s;
    }

    fn look(&mut self, looks: ObservationSchedule, mode: Mode, stream: &mut Stream) {
        for (seen_s, average) in self.seen_s.iter_mut().zip(&self.averages) {
            *seen_s = average.value_s;
        }
        let changes = self.controller.look(&self.seen_s);
        if changes {
            self.outcome.last_change = Some(self.now);
            self.outcome.restart_s += self.plan.restart_s;
            self.outcome.time_s += self.plan.restart_s;
            self.renew(mode);
        }
        if changes || looks.smoothing == Smoothing::Plain {
            self.averages.fill(RunningAverage::default());
        }
        if !changes && mode == Mode::Stretches && self.is_still() {
            // Every further look at these sizes sees the same and does the same: nothing.
            let end = self.level_end();
            let quiet = (end - self.now) / looks.every * looks.every;
            self.train(quiet, stream);
            self.now += quiet;
        }
    }

    /// Whether times do not vary and the average has arrived at them.
    fn is_still(&self) -> bool {
        self.plan.time.is_constant()
            && (self.seen_s.iter().zip(self.means_s()))
                .all(|(seen, mean)| (seen / mean - 1.0).abs() < 1e-12)
    }
}

#[cfg(test)]
mod tests;

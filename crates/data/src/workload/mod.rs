//! WHAT is trained: measured step costs, epochs and SGD noise, replayed.
//!
//! A [`Workload`] is read from a folder of data, embedded or on disk. It answers for every configuration inside the measured
//! hull and refuses all others. It knows no cloud, no price and no strategy.

mod compute_by_batch;
pub mod epochs;
pub mod grid;
pub mod head;
pub mod law;
pub mod library;
pub mod load;
pub mod noise;
pub mod noise_curve;
pub mod noise_scale;
pub mod origin;
pub mod out_of_core;
pub mod published_result;
pub mod residual;
mod rows;
pub mod spread;
pub mod staleness;
pub mod step;
pub mod step_cost;
mod step_errors;
pub mod step_pool;
mod step_rows;
mod step_surface;
pub mod substitute_vm;

pub use epochs::Epochs;
pub use law::Laws;
pub use noise::Noise;
pub use noise_curve::{NoiseCurve, NoiseOverTraining};
pub use noise_scale::{NoiseScale, Pace};
pub use origin::{Origin, Provenance, SourcedValue};
pub use out_of_core::OutOfCore;
pub use published_result::PublishedResult;
pub use spread::{Interval, Spread};
pub use staleness::Staleness;
pub use step::StepCost;
pub use step_cost::{Communication, KnownStep, StepCosts, StepMeasured};
pub use substitute_vm::{Reach, SubstituteVm};

use crate::configuration::{Configuration, Shape};
use law::{EpochLaw, SizedWorker, WorkerLaw};

#[derive(Debug, Clone)]
pub struct Workload {
    pub name: String,
    pub description: Description,
    pub constants: Constants,
    pub steps: StepCosts,
    pub epochs: Epochs,
    /// Normalised SGD noise at the target.
    pub noise: Noise,
    /// γ over training relative to its end; flat where it was not measured.
    pub noise_curve: NoiseCurve,
    pub laws: Laws,
    /// What stale gradients cost; unknown when `None`.
    pub staleness: Option<Staleness>,
    /// Name of the pricing policy that it was published with, for scenarios that name none.
    pub pricing: Option<String>,
    pub out_of_core: Option<OutOfCore>,
    /// Times and costs as published, for validation only: nothing in the simulation reads them.
    pub published: Vec<PublishedResult>,
    /// BLAKE3 hash of the folder's files, for the manifest.
    pub hash: String,
}

#[derive(Debug, Clone, Default)]
pub struct Description {
    pub model: String,
    pub data_set: String,
    /// When training is finished.
    pub target: String,
    pub citation: String,
    pub accuracy: String,
    pub licence: String,
}

/// Figures of a workload that hold for every configuration.
#[derive(Debug, Clone)]
pub struct Constants {
    /// Samples in one epoch, D.
    pub samples_per_epoch: SourcedValue,
    /// Steps until the noise reading settles.
    pub cold_start_steps: SourcedValue,
    pub probe_steps: SourcedValue,
    /// Seconds to restore a checkpoint in a new configuration.
    pub restore_s: SourcedValue,
    /// Memory of one worker where it was measured, in GiB; what it held fits in it.
    pub worker_memory_gib: Option<SourcedValue>,
    pub sample_memory_gib: Option<SourcedValue>,
    pub fixed_memory_gib: Option<SourcedValue>,
    /// Parameters of the model that workers exchange gradients of.
    pub parameters: Option<SourcedValue>,
}

/// The truth about one configuration, before any random variation.
#[derive(Debug, Clone)]
pub struct Replay {
    pub step: StepCost,
    pub epochs: f64,
    /// How steps turn into progress; `None` for evenly.
    pub pace: Option<Pace>,
    /// Normalised SGD noise γ/K at the target, where it is known.
    pub noise_normalised: Option<f64>,
    pub provenance: Provenance,
    pub spread: Spread,
}

#[derive(Debug, Clone)]
pub struct EpochsToTarget {
    pub epochs: f64,
    pub pace: Option<Pace>,
    pub provenance: Provenance,
    /// Standard deviation of their logarithm, where any is known.
    pub deviation: Option<f64>,
}

impl Workload {
    /// Measurements of `configuration`, and within `reach` laws. Its noise may be unknown: only a search reads it.
    pub fn replay(
        &self,
        configuration: &Configuration,
        reach: &Reach,
    ) -> Result<Replay, OutsideHull> {
        let (asked, stand_in) = reach.measured(configuration);
        // Measured steps may reach further than measured epochs.
        let refuse = |what| OutsideHull {
            workload: self.name.clone(),
            what: self.steps.cost_at(&asked).and(what),
            configuration: configuration.clone(),
            nearest: self.steps.nearest(&asked),
        };
        let (workers, batch) = (asked.workers, asked.batch);
        let (mut compute, network) = stand_in.map_or((1.0, 1.0), |s| {
            let link = s.link_scale.filter(|_| is_on_one_vm(&asked));
            (s.compute_scale, link.unwrap_or(s.network_scale))
        });
        let sized = stand_in.filter(|s| s.size.is_some() || s.knee.is_some());
        if let Some((like, own)) = sized.and_then(|s| self.sized(&asked.vm, s)) {
            let samples = asked.local_batch();
            compute *= own.seconds(samples) / like.seconds(samples);
        }
        // Where a whole step was measured, its law tells how much of it is communication, which another processor leaves as it is.
        let apart = stand_in.filter(|s| !s.is_same && compute != network);
        let by_law = apart.and_then(|_| self.steps.parted(&asked, compute, network));
        let step = match self.steps.known(&asked) {
            Some(_) if by_law.is_some() && reach.extrapolate => {
                by_law.ok_or_else(|| refuse(None))?
            }
            Some(known) => match stand_in {
                None => known,
                // As exposed communication was measured: a faster processor would hide less of it.
                Some(stand_in) => KnownStep {
                    cost: StepCost {
                        compute_s: known.cost.compute_s * compute,
                        communication_s: known.cost.communication_s * network,
                    },
                    provenance: if stand_in.is_same {
                        known.provenance
                    } else {
                        Provenance::Extrapolated
                    },
                    ..known
                },
            },
            None if reach.extrapolate => {
                let beyond = self.steps.beyond(&asked, compute, network);
                beyond.ok_or_else(|| refuse(None))?
            }
            None => return Err(refuse(None)),
        };
        let cost = self.with_disk(step.cost, batch);
        let step = if cost == step.cost {
            step
        } else {
            KnownStep {
                cost,
                provenance: Provenance::Extrapolated,
                ..step
            }
        };
        let noise_normalised = self.noise_at(workers, batch, reach);
        let Some(epochs) = self.epochs_at(workers, batch, noise_normalised, reach) else {
            return Err(refuse(Some("epochs")));
        };
        Ok(Replay {
            step: step.cost,
            epochs: epochs.epochs,
            pace: epochs.pace,
            noise_normalised,
            provenance: step.provenance.max(epochs.provenance),
            spread: Spread {
                step: step.deviation,
                epochs: epochs.deviation,
            },
        })
    }

    pub fn answers(&self, configuration: &Configuration, reach: &Reach) -> bool {
        if reach.extrapolate {
            return self.replay(configuration, reach).is_ok();
        }
        let (asked, _) = reach.measured(configuration);
        let (workers, batch) = (asked.workers, asked.batch);
        self.steps.knows(&asked) && {
            let noise = self.noise_at(workers, batch, reach);
            self.epochs_at(workers, batch, noise, reach).is_some()
        }
    }

    /// The worker that a VM type stands in for, and its own; `None` where no law says how speed goes with size.
    pub fn sized(&self, like: &str, stand_in: &SubstituteVm) -> Option<(SizedWorker, SizedWorker)> {
        let like = self.laws.steps.get(like)?.compute.sized()?;
        let own = SizedWorker {
            size: stand_in.size.unwrap_or(like.size),
            knee: stand_in.knee.or(like.knee),
            law: like.law,
        };
        Some((like, own))
    }

    /// Compute time on a `share` of a worker's cores over that on all: by its law, or in proportion to the cores.
    pub fn slowed(&self, configuration: &Configuration, reach: &Reach, share: f64) -> f64 {
        let (asked, stand_in) = reach.measured(configuration);
        let of_law = || self.laws.steps.get(&*asked.vm)?.compute.sized();
        let worker = match stand_in {
            Some(stand_in) => self.sized(&asked.vm, stand_in).map(|(_, own)| own),
            None => of_law(),
        };
        let Some(whole) = worker else {
            return 1.0 / share;
        };
        let part = SizedWorker {
            size: share * whole.size,
            ..whole
        };
        let samples = asked.local_batch();
        part.seconds(samples) / whole.seconds(samples)
    }

    /// Cores or FLOPS of a worker on a VM shape, where a law goes by them.
    pub fn size(&self, shape: &str, reach: &Reach) -> Option<f64> {
        let shape = Shape::parse(shape).ok()?;
        let stand_in = reach.stand_in(shape.vm_type);
        let own = stand_in.and_then(|s| s.size);
        let measured = stand_in.map_or(shape.vm_type, |s| &*s.like);
        own.or(Some((self.laws.steps.get(measured)?.compute.sized()?).size))
    }

    pub fn worker_law(&self, shape: &str, reach: &Reach) -> Option<WorkerLaw> {
        let shape = Shape::parse(shape).ok()?;
        let stand_in = reach.stand_in(shape.vm_type);
        let measured = stand_in.map_or(shape.vm_type, |s| &*s.like);
        Some((self.laws.steps.get(measured)?.compute.sized()?).law)
    }

    /// A step of global batch `batch` that takes no less than its share of the disk's work in an epoch.
    pub fn with_disk(&self, cost: StepCost, batch: u32) -> StepCost {
        let Some(state) = &self.out_of_core else {
            return cost;
        };
        let share = f64::from(batch) / self.constants.samples_per_epoch.value;
        let disk_s = share * state.epoch_s();
        if cost.total_s() < disk_s {
            StepCost {
                communication_s: disk_s - cost.compute_s,
                ..cost
            }
        } else {
            cost
        }
    }

    /// Epochs where updates sum up only `samples` of the batch: those of that batch, or extrapolated from the nearest known
    /// one, at most the configuration's own.
    pub fn epochs_of_part(
        &self,
        configuration: &Configuration,
        samples: u32,
        reach: &Reach,
    ) -> Option<EpochsToTarget> {
        let workers = configuration.workers;
        let at = |batch: u32| {
            let noise = self.noise_at(workers, batch, reach);
            self.epochs_at(workers, batch, noise, reach)
        };
        let asked = samples.clamp(1, configuration.batch);
        if let Some(found) = at(asked) {
            return Some(found);
        }
        // What is known of one worker count lies without a gap.
        let (mut unknown, mut known) = (asked, configuration.batch);
        while unknown + 1 < known {
            let middle = unknown + (known - unknown) / 2;
            match at(middle) {
                Some(_) => known = middle,
                None => unknown = middle,
            }
        }
        Some(EpochsToTarget {
            provenance: Provenance::Extrapolated,
            ..at(known)?
        })
    }

    pub fn knows_noise(&self, configuration: &Configuration, reach: &Reach) -> bool {
        let at = (configuration.workers, configuration.batch);
        self.noise_at(at.0, at.1, reach).is_some()
    }

    /// γ/K at the target; `None` where nothing that may speak knows it.
    fn noise_at(&self, workers: u32, batch: u32, reach: &Reach) -> Option<f64> {
        let may_ask = self.noise.is_unmeasured() || reach.extrapolate;
        let by_law = || self.noise.by_law(workers, batch).filter(|_| may_ask);
        self.noise.noise_at(workers, batch).or_else(by_law)
    }

    fn epochs_at(
        &self,
        workers: u32,
        batch: u32,
        noise: Option<f64>,
        reach: &Reach,
    ) -> Option<EpochsToTarget> {
        let (epochs, provenance) = match self.epochs.epochs_at(workers, batch) {
            Some(found) => found,
            None if reach.extrapolate => {
                let by_law = match self.laws.epochs {
                    Some(law @ EpochLaw::AffineNoise { .. }) => law.epochs(f64::from(batch), noise),
                    Some(law) => (self.epochs).joined(workers, batch, |b| {
                        epochs_by_law(law, self.noise.scale(), &self.constants, b)
                    }),
                    None => None,
                };
                let by_law = by_law.filter(|e| e.is_finite() && *e > 0.0)?;
                (by_law, Provenance::Extrapolated)
            }
            None => return None,
        };
        Some(EpochsToTarget {
            epochs,
            pace: self.pace(batch),
            provenance,
            deviation: self.epochs.deviation(provenance),
        })
    }

    fn pace(&self, batch: u32) -> Option<Pace> {
        let Some(EpochLaw::Goodput {
            initial_batch,
            target_progress,
        }) = self.laws.epochs
        else {
            return None;
        };
        let scale = self.noise.scale();
        Some(
            scale
                .replay(f64::from(initial_batch), f64::from(batch), target_progress)?
                .1,
        )
    }

    pub fn noise_over_training(&self) -> NoiseOverTraining {
        if !self.noise_curve.is_empty() {
            NoiseOverTraining::Steps(self.noise_curve.clone())
        } else if !self.noise.scale().is_empty() {
            NoiseOverTraining::Progress(self.noise.scale().clone())
        } else {
            (self.noise.law()).map_or(NoiseOverTraining::Flat, NoiseOverTraining::Law)
        }
    }

    /// Epochs to the target with every batch, where no run told them but somebody states them.
    pub fn stated_epochs(&self) -> Option<f64> {
        let is_stated = |row: &epochs::EpochRow| row.origin == Origin::Stated;
        match self.laws.epochs {
            Some(EpochLaw::Constant { epochs }) if self.epochs.rows().iter().all(is_stated) => {
                Some(epochs)
            }
            _ => None,
        }
    }

    /// Steps to the target without luck, n = e·D/B.
    pub fn steps_to_target(&self, epochs: f64, batch: u32) -> f64 {
        epochs * self.constants.samples_per_epoch.value / f64::from(batch)
    }
}

fn is_on_one_vm(at: &Configuration) -> bool {
    Shape::parse(&at.vm).is_ok_and(|shape| shape.vms(at.workers) == Some(1))
}

/// Epochs of global batch `batch` by law, from φ over training where it replays that.
pub fn epochs_by_law(
    law: EpochLaw,
    scale: &NoiseScale,
    constants: &Constants,
    batch: f64,
) -> Option<f64> {
    match law {
        EpochLaw::Goodput {
            initial_batch,
            target_progress,
        } => {
            let (steps, _) = scale.replay(f64::from(initial_batch), batch, target_progress)?;
            Some(steps * batch / constants.samples_per_epoch.value)
        }
        _ => law.epochs(batch, None),
    }
}

/// A configuration that no measurements surround.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}`{workload}` was not measured around {configuration}{}", subject_prefix(.what), nearest_hint(.what, .nearest))]
pub struct OutsideHull {
    pub workload: String,
    /// What of it: `None` for its steps, which speak for all; else epochs.
    pub what: Option<&'static str>,
    pub configuration: Configuration,
    /// The measured configuration closest to it, in relative distance; `None` when the VM type was never measured.
    pub nearest: Option<Configuration>,
}

fn nearest_hint(what: &Option<&'static str>, nearest: &Option<Configuration>) -> String {
    match nearest {
        _ if what.is_some() => String::new(),
        Some(at) => format!("; the nearest measured point is {at}"),
        None => "; this VM type was never measured".to_owned(),
    }
}

fn subject_prefix(what: &Option<&'static str>) -> String {
    what.map_or(String::new(), |what| format!("the {what} of "))
}

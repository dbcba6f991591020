//! What strategies fit: lines for epochs against noise and noise against batch, a plane for the step against local batch and
//! workers. Every "proportional" law of the paper has an intercept here: without one the noise line is off by 20–26 % on the
//! paper's own figures.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::settings::{EpochsFrom, NoiseBy, StepFit};
use super::{Offer, Past, Task};
use crate::testbed::{History, Observation, PastRun};
use scavsim_base::stats::{Line, Plane, line::interpolate_clamped};
use scavsim_data::space::Space;

/// Takes the workload's own runs that tell what is wanted, of the worker counts that are.
fn take_telling(
    past: &mut Past<'_>,
    from: EpochsFrom,
    tells: impl Fn(&Offer<'_>) -> bool,
) -> History {
    let only = from.only(past.offers().filter(|o| tells(o)).filter_map(|o| o.workers));
    past.take_own(|offer| tells(offer) && (only.is_none() || offer.workers == only))
}

/// What stored runs were, and their epochs, of the worker counts that are wanted.
fn epochs_by<X>(
    history: &History,
    from: EpochsFrom,
    x: impl Fn(&PastRun) -> Option<X>,
) -> Vec<(X, f64)> {
    let known = || (history.runs.iter()).filter_map(|r| Some((r.workers, x(r)?, r.epochs?)));
    let only = from.only(known().filter_map(|r| r.0));
    let wanted = known().filter(|r| only.is_none() || r.0 == only);
    wanted.map(|(_, x, epochs)| (x, epochs)).collect()
}

/// Epochs to the target as a line in the normalised noise: e = e* + θ·(γ/K).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochLine {
    /// The line; the intercept is e*, the slope θ.
    pub line: Line,
    pub range: (f64, f64),
}

impl EpochLine {
    pub fn known(past: &mut Past<'_>, from: EpochsFrom) -> Option<EpochLine> {
        let tells = |offer: &Offer<'_>| offer.has_noise && offer.has_epochs;
        EpochLine::fit(&take_telling(past, from, tells), from)
    }

    /// Takes one of the workload's own runs to the target, the first that is `wanted` if any: its epochs for every noise.
    pub fn of_one_run(
        past: &mut Past<'_>,
        wanted: impl Fn(&Offer<'_>) -> bool,
    ) -> Option<EpochLine> {
        let whole = |offer: &Offer<'_>| offer.is_whole && offer.has_epochs;
        let exists = past.offers().any(|offer| whole(&offer) && wanted(&offer));
        let is_taken = Cell::new(false);
        let history = past.take_own(|offer| {
            whole(offer) && (!exists || wanted(offer)) && !is_taken.replace(true)
        });
        let intercept = history.runs.first()?.epochs?;
        Some(EpochLine {
            line: Line {
                intercept,
                slope: 0.0,
            },
            range: (0.0, 1.0),
        })
    }

    /// A line on which epochs grow in proportion to the noise.
    pub fn proportional() -> EpochLine {
        EpochLine {
            line: Line {
                intercept: 0.0,
                slope: 1.0,
            },
            range: (0.0, 1.0),
        }
    }

    pub fn fit(history: &History, from: EpochsFrom) -> Option<EpochLine> {
        let points = epochs_by(history, from, |run| run.noise_normalised);
        let noises = || points.iter().map(|p| p.0);
        Some(EpochLine {
            line: Line::fit(points.iter().copied())?,
            range: (
                noises().fold(f64::INFINITY, f64::min),
                noises().fold(f64::NEG_INFINITY, f64::max),
            ),
        })
    }

    /// Epochs at a noise, held at the ends of the fitted range: e* comes out negative on measured data.
    pub fn epochs(&self, noise_normalised: f64) -> f64 {
        let (low, high) = self.range;
        self.line.value_at(noise_normalised.max(low).min(high))
    }
}

/// Epochs to the target by the global batch, where no noise was read with them.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochTable {
    /// Ascending.
    batches: Vec<f64>,
    epochs: Vec<f64>,
}

impl EpochTable {
    /// A table of epochs that are stated: the same with every batch, or by the noise scale.
    pub fn stated(epochs: f64, task: &Task<'_>) -> EpochTable {
        let Some(scale) = task.noise_scale else {
            return EpochTable::constant(epochs);
        };
        let space = task.space;
        let mut batches: Vec<u32> = (0..space.len()).filter_map(|at| space.batch(at)).collect();
        batches.sort_unstable();
        batches.dedup();
        if batches.is_empty() {
            return EpochTable::constant(epochs);
        }
        let batches: Vec<f64> = batches.into_iter().map(f64::from).collect();
        let each = batches.iter().map(|batch| epochs * (1.0 + batch / scale));
        EpochTable {
            epochs: each.collect(),
            batches,
        }
    }

    pub fn constant(epochs: f64) -> EpochTable {
        EpochTable {
            batches: vec![1.0],
            epochs: vec![epochs],
        }
    }

    pub fn known(past: &mut Past<'_>, from: EpochsFrom) -> Option<EpochTable> {
        let tells = |offer: &Offer<'_>| offer.has_epochs && offer.batch.is_some();
        EpochTable::from_history(&take_telling(past, from, tells), from)
    }

    /// The table of the stored runs that know epochs, those of one batch averaged; `None` if there are none.
    pub fn from_history(history: &History, from: EpochsFrom) -> Option<EpochTable> {
        let mut points = epochs_by(history, from, |run| run.batch);
        points.sort_by_key(|p| p.0);
        let (batches, epochs): (Vec<f64>, Vec<f64>) = points
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                let sum: f64 = same.iter().map(|p| p.1).sum();
                (f64::from(same[0].0), sum / same.len() as f64)
            })
            .unzip();
        (!batches.is_empty()).then_some(EpochTable { batches, epochs })
    }

    /// Linear between batches; outside, the nearest one's.
    pub fn epochs(&self, batch: f64) -> f64 {
        interpolate_clamped(&self.batches, batch, |at| self.epochs[at])
    }
}

/// Normalised noise as a line in 1/√B: γ/K = a + s/√B, one for all K or one per K.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseLine {
    workers: Vec<f64>,
    lines: Vec<Line>,
}

impl NoiseLine {
    /// Fits readings (workers, batch, noise); `None` if there are none.
    pub fn fit(readings: &[(u32, u32, f64)], by: NoiseBy) -> Option<NoiseLine> {
        match by {
            NoiseBy::Average => Some(NoiseLine {
                workers: vec![0.0],
                lines: vec![averaged_line(readings)?],
            }),
            NoiseBy::Workers => {
                let mut counts: Vec<u32> = readings.iter().map(|r| r.0).collect();
                counts.sort_unstable();
                counts.dedup();
                let line = |&k: &u32| {
                    let own: Vec<_> = readings.iter().copied().filter(|r| r.0 == k).collect();
                    averaged_line(&own)
                };
                let lines: Vec<Line> = counts.iter().filter_map(line).collect();
                (!lines.is_empty()).then(|| NoiseLine {
                    workers: counts.iter().map(|&k| f64::from(k)).collect(),
                    lines,
                })
            }
        }
    }

    pub fn from_history(history: &History, by: NoiseBy) -> Option<NoiseLine> {
        let readings: Vec<(u32, u32, f64)> = (history.runs.iter())
            .filter_map(|r| Some((r.workers?, r.batch?, r.noise_normalised?)))
            .collect();
        NoiseLine::fit(&readings, by)
    }

    /// Noise at (`workers`, `batch`); beyond the fitted worker counts the nearest line holds.
    pub fn noise(&self, workers: u32, batch: u32) -> f64 {
        let x = 1.0 / f64::from(batch).sqrt();
        // There is at least one line, one per worker count.
        let line = |at: usize| self.lines[at].value_at(x);
        interpolate_clamped(&self.workers, f64::from(workers), line)
    }

    /// The line when one holds for all worker counts; its slope is per 1/√B.
    pub fn single(&self) -> Option<Line> {
        match self.lines[..] {
            [line] => Some(line),
            _ => None,
        }
    }
}

/// The least-squares line in 1/√B through the averages over K at each batch.
fn averaged_line(readings: &[(u32, u32, f64)]) -> Option<Line> {
    let mut by_batch = readings.to_vec();
    by_batch.sort_by_key(|r| r.1);
    let averages: Vec<(f64, f64)> = by_batch
        .chunk_by(|a, b| a.1 == b.1)
        .map(|same| {
            let sum: f64 = same.iter().map(|r| r.2).sum();
            (1.0 / f64::from(same[0].1).sqrt(), sum / same.len() as f64)
        })
        .collect();
    Line::fit(averages)
}

/// Seconds of a step, linear in local batch and workers: τ = c + c_b·(B/K) + c_K·K.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepPlane(Plane);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReading {
    pub workers: u32,
    pub batch: u32,
    pub compute_s: f64,
    pub communication_s: f64,
}

impl StepReading {
    /// What was seen of the steps of a configuration; `None` where that tells not all of it.
    pub fn from_observation(space: &Space, at: usize, seen: &Observation) -> Option<StepReading> {
        Some(StepReading {
            workers: space.workers(at)?,
            batch: space.batch(at)?,
            compute_s: seen.compute_s?,
            communication_s: seen.communication_s?,
        })
    }
}

impl StepPlane {
    pub fn fit(readings: &[StepReading], fit: StepFit) -> Option<StepPlane> {
        let local_batch = |r: &StepReading| f64::from(r.batch) / f64::from(r.workers);
        let workers = |r: &StepReading| f64::from(r.workers);
        let plane = match fit {
            StepFit::Whole => Plane::fit(
                (readings.iter())
                    .map(|r| (local_batch(r), workers(r), r.compute_s + r.communication_s)),
            )?,
            StepFit::Split => {
                let compute = Line::fit(readings.iter().map(|r| (local_batch(r), r.compute_s)))?;
                let communication =
                    Line::fit(readings.iter().map(|r| (workers(r), r.communication_s)))?;
                Plane {
                    constant: compute.intercept + communication.intercept,
                    x_slope: compute.slope,
                    y_slope: communication.slope,
                }
            }
        };
        Some(StepPlane(plane))
    }

    pub fn step_s(&self, workers: u32, batch: u32) -> f64 {
        let k = f64::from(workers);
        self.0.value_at(f64::from(batch) / k, k)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fits {
    pub epochs_from: EpochsFrom,
    pub noise_by: NoiseBy,
    pub step_fit: StepFit,
}

/// Epochs to the target of configurations that nothing is read at.
#[derive(Debug, Clone, PartialEq)]
pub enum EpochModel {
    /// Epochs against noise, and noise against batch.
    ByNoise(EpochLine, NoiseLine),
    /// Epochs against batch, where runs with epochs know no noise.
    ByBatch(EpochTable),
}

impl EpochModel {
    /// Fits the stored runs; `None` where they know no epochs.
    pub fn fit(history: &History, fits: Fits) -> Option<EpochModel> {
        let line = EpochLine::fit(history, fits.epochs_from);
        match line.zip(NoiseLine::from_history(history, fits.noise_by)) {
            Some((epochs, noise)) => Some(EpochModel::ByNoise(epochs, noise)),
            None => EpochTable::from_history(history, fits.epochs_from).map(EpochModel::ByBatch),
        }
    }

    /// Epochs at (`workers`, `batch`), where `read` is its noise, if it was read.
    pub fn epochs(&self, workers: u32, batch: u32, read: Option<f64>) -> f64 {
        match self {
            EpochModel::ByNoise(epochs, noise) => {
                epochs.epochs(read.unwrap_or_else(|| noise.noise(workers, batch)))
            }
            EpochModel::ByBatch(table) => table.epochs(f64::from(batch)),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredModel {
    pub epochs: EpochModel,
    /// Step against local batch and workers, per VM type, by its name.
    pub steps: Vec<(Arc<str>, StepPlane)>,
}

impl StoredModel {
    pub fn fit(history: &History, fits: Fits) -> Option<StoredModel> {
        let mut readings: BTreeMap<&Arc<str>, Vec<StepReading>> = BTreeMap::new();
        for run in &history.runs {
            let Some((vm, workers, batch)) = run.cluster() else {
                continue;
            };
            let of_type = readings.entry(vm).or_default();
            of_type.extend(run.step.map(|step| StepReading {
                workers,
                batch,
                compute_s: step.compute_s,
                communication_s: step.communication_s,
            }));
        }
        let steps = (readings.into_iter())
            .filter_map(|(vm, own)| Some((Arc::clone(vm), StepPlane::fit(&own, fits.step_fit)?)));
        Some(StoredModel {
            epochs: EpochModel::fit(history, fits)?,
            steps: steps.collect(),
        })
    }

    /// Predicted seconds to the target over samples per epoch; `None` for a VM type without stored steps.
    pub fn seconds_per_sample(&self, vm: &str, workers: u32, batch: u32) -> Option<f64> {
        let place = (self.steps.binary_search_by(|(name, _)| (**name).cmp(vm))).ok()?;
        let plane = &self.steps[place].1;
        let epochs = self.epochs.epochs(workers, batch, None);
        Some(epochs / f64::from(batch) * plane.step_s(workers, batch))
    }

    /// Like [`Self::seconds_per_sample`], of a configuration; `None` also where its space lacks VM type, workers or batch.
    pub fn predict(&self, space: &Space, configuration: usize) -> Option<f64> {
        let (workers, batch) = (space.workers(configuration)?, space.batch(configuration)?);
        self.seconds_per_sample(space.vm(configuration)?, workers, batch)
    }
}

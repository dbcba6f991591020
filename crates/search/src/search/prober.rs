//! What strategies that probe have in common: a start, a cold start, probes of a given length, and predictions.

use super::models::{EpochLine, EpochModel, EpochTable, Fits};
use super::settings::Probes;
use super::{Forecast, Past, Task, UnusableStrategy, space};
use crate::testbed::{Extent, Observation, Stop, Target, Testbed};

/// The complaint of every strategy that needs the epochs of an earlier run.
pub(super) fn no_epoch_line(task: &Task<'_>) -> UnusableStrategy {
    UnusableStrategy(format!(
        "`{}` has no earlier run that knows its epochs",
        task.workload
    ))
}

/// Stands for a noise where it tells nothing.
pub(super) const UNREAD: f64 = 1.0;

#[derive(Debug, Clone)]
pub(super) struct Prober {
    start: usize,
    /// `None` where noise tells nothing.
    cold_start_steps: Option<u64>,
    probe_steps: u64,
    predictor: Predictor,
}

/// What tells the time to the target.
#[derive(Debug, Clone)]
enum Predictor {
    /// Noise and step of a probe, T = e(γ/K)·D/B·τ, or its step alone, T = e(B)·D/B·τ.
    Epochs {
        epochs: Epochs,
        samples_per_epoch: f64,
        batches: Vec<f64>,
    },
    /// A run to the target, itself.
    Target,
}

#[derive(Debug, Clone)]
enum Epochs {
    ByNoise(EpochLine),
    ByBatch(EpochTable),
    Each(Vec<f64>),
}

impl Prober {
    /// From settings; absent step counts are the workload's own. Where no earlier run tells epochs by noise, they are taken
    /// by batch, as stated or by earlier runs; without any, probes run to the target.
    pub(super) fn new(task: &Task<'_>, past: &mut Past<'_>, settings: Probes) -> Self {
        let steps = (settings.cold_start_steps).map_or(task.cold_start_steps, u64::from);
        let from = settings.epochs_from;
        let by_batch = |past: &mut Past<'_>| match task.stated_epochs {
            Some(epochs) => Some(EpochTable::stated(epochs, task)),
            None => EpochTable::known(past, from),
        };
        match EpochLine::known(past, from) {
            Some(line) => {
                let epochs = Epochs::ByNoise(line);
                Prober::by(task, settings, Some(steps), Some(epochs))
            }
            // There is no noise that could settle.
            None => {
                let epochs = by_batch(past).map(Epochs::ByBatch);
                Prober::by(task, settings, None, epochs)
            }
        }
    }

    /// Epochs as in one earlier run, whatever the noise; without one, probes run to the target.
    pub(super) fn by_one_run(task: &Task<'_>, past: &mut Past<'_>, settings: Probes) -> Self {
        let groups = space::groups(task.space);
        let smallest = space::start(&groups, settings.start);
        let line = EpochLine::of_one_run(past, |offer| {
            smallest.is_some_and(|at| {
                offer.vm == task.space.vm(at).map(|vm| &**vm)
                    && (offer.workers, offer.batch)
                        == (task.space.workers(at), task.space.batch(at))
            })
        });
        Prober::by(task, settings, None, line.map(Epochs::ByNoise))
    }

    /// Epochs known beforehand, whatever the noise: as stated, else by all earlier runs; without any, probes run to the
    /// target.
    pub(super) fn with_known_epochs(
        task: &Task<'_>,
        past: &mut Past<'_>,
        settings: Probes,
    ) -> Self {
        let known = match task.stated_epochs {
            Some(epochs) => Some(EpochModel::ByBatch(EpochTable::stated(epochs, task))),
            None => {
                let history = past.take_own(|offer| offer.has_epochs);
                EpochModel::fit(&history, Fits::default())
            }
        };
        let each = known.and_then(|known| {
            let epochs = |at: usize| {
                let (workers, batch) = (task.space.workers(at)?, task.space.batch(at)?);
                Some(known.epochs(workers, batch, None))
            };
            (0..task.space.len()).map(epochs).collect()
        });
        Prober::by(task, settings, None, each.map(Epochs::Each))
    }

    /// Without any earlier run: epochs as stated, else proportional to the normalised noise, by one unknown factor.
    pub(super) fn by_noise_alone(
        task: &Task<'_>,
        settings: Probes,
    ) -> Result<Self, UnusableStrategy> {
        let steps = (settings.cold_start_steps).map_or(task.cold_start_steps, u64::from);
        let probing = match task.stated_epochs {
            Some(epochs) => {
                let epochs = Epochs::ByBatch(EpochTable::stated(epochs, task));
                Prober::by(task, settings, None, Some(epochs))
            }
            None if !task.shows_noise => {
                return Err(UnusableStrategy(format!(
                    "a look at `{}` shows no noise, and no epochs are stated; `earlier_runs = true` of `partial` takes them from earlier runs",
                    task.workload
                )));
            }
            None => {
                let epochs = Epochs::ByNoise(EpochLine::proportional());
                Prober::by(task, settings, Some(steps), Some(epochs))
            }
        };
        if probing.is_to_target() {
            Err(UnusableStrategy(format!(
                "`{}` has no epochs of samples, or no batches, that noise could be about",
                task.workload
            )))
        } else {
            Ok(probing)
        }
    }

    /// Without any earlier run: probes run to the target.
    pub(super) fn to_target(task: &Task<'_>, settings: Probes) -> Self {
        Prober::by(task, settings, None, None)
    }

    fn by(
        task: &Task<'_>,
        settings: Probes,
        cold_start_steps: Option<u64>,
        epochs: Option<Epochs>,
    ) -> Self {
        let groups = space::groups(task.space);
        Prober {
            start: space::start(&groups, settings.start).unwrap_or(0),
            cold_start_steps,
            probe_steps: (settings.probe_steps)
                .map_or(task.probe_steps, |steps| u64::from(steps.get())),
            predictor: Predictor::new(task, epochs).unwrap_or(Predictor::Target),
        }
    }

    /// Probes for a strategy that cannot do without the epoch line.
    pub(super) fn by_epochs(
        task: &Task<'_>,
        past: &mut Past<'_>,
        settings: Probes,
    ) -> Result<Self, UnusableStrategy> {
        let probing = Prober::new(task, past, settings);
        match probing.predictor {
            Predictor::Epochs { .. } => Ok(probing),
            Predictor::Target => Err(no_epoch_line(task)),
        }
    }

    /// Whether probes run to the target, as nothing tells its epochs.
    pub(super) fn is_to_target(&self) -> bool {
        matches!(self.predictor, Predictor::Target)
    }

    pub(super) fn reads_noise(&self) -> bool {
        let unread = matches!(
            self.predictor,
            Predictor::Epochs {
                epochs: Epochs::ByBatch(_) | Epochs::Each(_),
                ..
            }
        );
        !unread
    }

    /// Runs the starting configuration until its noise has settled, where noise tells anything.
    pub(super) fn cold_start(&self, testbed: &mut dyn Testbed) -> Result<(), Stop> {
        self.cold_start_at(testbed, self.start)
    }

    pub(super) fn cold_start_at(&self, testbed: &mut dyn Testbed, at: usize) -> Result<(), Stop> {
        match (&self.predictor, self.cold_start_steps) {
            (Predictor::Epochs { .. }, Some(steps)) => testbed.cold_start(at, steps),
            _ => Ok(()),
        }
    }

    /// Steps before the first look, where noise tells anything.
    pub(super) fn steps_before(&self) -> u64 {
        self.cold_start_steps.unwrap_or(0)
    }

    pub(super) fn steps(&self) -> u64 {
        self.probe_steps
    }

    pub(super) fn probe(
        &self,
        testbed: &mut dyn Testbed,
        configuration: usize,
    ) -> Result<Observation, Stop> {
        let extent = match self.predictor {
            Predictor::Epochs { .. } => Extent::Steps(self.probe_steps),
            Predictor::Target => Extent::ToTarget,
        };
        testbed.probe(configuration, extent)
    }

    pub(super) fn probe_and_predict(
        &self,
        testbed: &mut dyn Testbed,
        configuration: usize,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let seen = self.probe(testbed, configuration)?;
        if let Target::Reached(time_s) = seen.target {
            forecast.predict(configuration, time_s);
        } else if let Some(step_s) = seen.step_s {
            let noise = if self.reads_noise() {
                seen.noise_normalised
            } else {
                Some(UNREAD)
            };
            if let Some(noise) = noise {
                self.predict(configuration, noise, step_s, forecast);
            }
        }
        Ok(())
    }

    /// Trains a share of the way to the target where the search is, and scales the predictions of `modelled` by the steps that it
    /// takes: epochs are θ·(γ/K), and θ is steps/share over those of θ = 1. Stated epochs have no scale to learn.
    pub(super) fn scale_by_own_run(
        &self,
        testbed: &mut dyn Testbed,
        here: usize,
        share: f64,
        modelled: &mut dyn Iterator<Item = usize>,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        if !self.reads_noise() {
            return Ok(());
        }
        let seen = testbed.probe(here, Extent::Share(share))?;
        let unscaled = (seen.noise_normalised).and_then(|noise| self.steps_to_target(here, noise));
        let Some((steps, unscaled)) = seen.steps.filter(|steps| *steps > 0).zip(unscaled) else {
            return Err(Stop::Failed(
                "part of a run does not show how long the whole takes".to_owned(),
            ));
        };
        let theta = steps as f64 / share / unscaled;
        for at in modelled {
            if let Some(time_s) = forecast.time_s[at] {
                forecast.predict(at, theta * time_s);
            }
        }
        Ok(())
    }

    /// Predicts a configuration by its step and, where that tells anything, its noise.
    pub(super) fn predict(
        &self,
        configuration: usize,
        noise_normalised: f64,
        step_s: f64,
        forecast: &mut Forecast,
    ) {
        if let Some(steps) = self.steps_to_target(configuration, noise_normalised) {
            forecast.predict(configuration, steps * step_s);
        }
    }

    /// Steps to the target by its noise, where that tells anything; `None` where only a run does.
    pub(super) fn steps_to_target(
        &self,
        configuration: usize,
        noise_normalised: f64,
    ) -> Option<f64> {
        let Predictor::Epochs {
            epochs,
            samples_per_epoch,
            batches,
        } = &self.predictor
        else {
            return None;
        };
        let batch = batches[configuration];
        let epochs = match epochs {
            Epochs::ByNoise(line) => line.epochs(noise_normalised),
            Epochs::ByBatch(table) => table.epochs(batch),
            Epochs::Each(all) => all[configuration],
        };
        Some(epochs * samples_per_epoch / batch)
    }
}

impl Predictor {
    fn new(task: &Task<'_>, epochs: Option<Epochs>) -> Option<Predictor> {
        let samples_per_epoch = task.samples_per_epoch?;
        let batches: Option<Vec<f64>> = (0..task.space.len())
            .map(|at| Some(f64::from(task.space.batch(at)?)))
            .collect();
        Some(Predictor::Epochs {
            epochs: epochs?,
            samples_per_epoch,
            batches: batches?,
        })
    }
}

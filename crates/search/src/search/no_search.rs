//! No search, as in the paper: one model for all jobs, the average over all stored workloads; nothing is probed. The paper
//! averages the job's own model in; `no-search-leave-out` leaves it out.
//!
//! How the paper averages models of very different size is not published. Here every stored workload's models give a *shape*:
//! predicted time over that at the smallest configuration. Shapes are averaged geometrically; the scale comes from one
//! complete run of the own workload there, which counts among the runs taken. Without limits, no choice depends on the scale
//! (as long as cost is proportional to time). Where no stored workload knows the machines, the shape is that of the universal model.

use super::models::{Fits, StoredModel};
use super::same_job::predetermined;
use super::settings::{EpochsFrom, NoiseBy, Start, StepFit};
use super::universal_model::UniversalModel;
use super::{BuildResult, Depends, Offer, Past, Recipe, Task, UnusableStrategy, ready, space};
use scavsim_base::settings;
use scavsim_data::space::Space;

/// Settings of a model of stored workloads, and its strategy, which leaves the own one out or not.
macro_rules! no_search {
    ($(#[$about:meta])* $settings:ident, $leave_out:literal, $($declared:tt)*) => {
        settings! {
            $(#[$about])*
            pub struct $settings {
                /// Which runs give each workload's epoch line.
                pub epochs_from: EpochsFrom,
                /// One noise line for all worker counts, or one per worker count.
                pub noise_by: NoiseBy,
                /// How the step plane is put through each workload's stored steps.
                pub step_fit: StepFit,
            }
            $($declared)*
        }

        impl Recipe for $settings {
            fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
                let fits = Fits {
                    epochs_from: self.epochs_from,
                    noise_by: self.noise_by,
                    step_fit: self.step_fit,
                };
                build(task, past, $leave_out, fits)
            }
        }
    };
}

no_search! {
    /// Settings of the model of all stored workloads, the own one included.
    NoSearchSettings, false,
    name: "no-search",
    what: "one model for all jobs, averaged over all stored workloads, the own one included, at the scale of one own run",
    formula: "probes: none; shapes T(c)/T(smallest) of all stored workloads, averaged geometrically, × one own run",
    source: "Tyagi & Sharma, Scavenger, CCGrid 2023; how shapes are averaged is ours",
    example: "search.strategies = [\"no-search\"]",
}

no_search! {
    /// Settings of the model of all stored workloads but the own one.
    LeaveOutSettings, true,
    name: "no-search-leave-out",
    what: "one model for all jobs, averaged over all stored workloads but the own one, at the scale of one own run",
    formula: "probes: none; shapes T(c)/T(smallest) of all stored workloads but the own one, averaged geometrically, × one own run",
    source: "this project, after `no-search`",
    example: "search.strategies = [\"no-search-leave-out\"]",
}

fn build(task: &Task<'_>, past: &mut Past<'_>, leave_out: bool, fits: Fits) -> BuildResult {
    let own = past.own_name();
    let groups = space::groups(task.space);
    let smallest = space::start(&groups, Start::Smallest).unwrap_or(0);
    // Where the smallest configuration is no stored run itself, the first that is.
    let known = std::iter::once(smallest)
        .chain(0..task.space.len())
        .find_map(|at| Some((at, anchor_seconds_per_sample(past, task.space, at)?)));
    let (Some((anchor, known)), Some(samples_per_epoch)) = (known, task.samples_per_epoch) else {
        return Err(UnusableStrategy(format!(
            "`{own}` has no stored run in the space, such as {}, which gives the model its scale",
            task.space.name(smallest)
        )));
    };
    let used: Vec<&str> = (past.stored_names())
        .filter(|name| !leave_out || *name != own)
        .collect();
    let is_own_alone = used.iter().all(|name| *name == own);
    if leave_out && is_own_alone {
        return Err(UnusableStrategy(format!(
            "no workload other than `{own}` is stored, so nothing is left to average; name others in `search.stored`"
        )));
    }
    let fitted = |name: &&str| StoredModel::fit(&past.take_stored(name, |_| true)?, fits);
    let others = used.iter().filter(|_| !is_own_alone);
    let models: Option<Vec<StoredModel>> = others.map(fitted).collect();
    let models = models.filter(|models| !models.is_empty());
    let log_shape = models.and_then(|models| mean_log_shape(&models, task.space, anchor));
    let Some(log_shape) = log_shape else {
        return universal(task, anchor, known * samples_per_epoch);
    };
    let seconds_per_sample = log_shape.iter().map(|log| Some(known * libm::exp(*log)));
    predetermined(seconds_per_sample.collect(), samples_per_epoch)
}

/// Mean logarithm of the stored models' times over those at `anchor`; `None` where one does not know a VM type.
fn mean_log_shape(models: &[StoredModel], space: &Space, anchor: usize) -> Option<Vec<f64>> {
    let mut mean = vec![0.0; space.len()];
    for model in models {
        let predict = |at: usize| model.predict(space, at).filter(|s| *s > 0.0);
        let at_anchor = predict(anchor)?;
        for (at, log) in mean.iter_mut().enumerate() {
            *log += libm::log(predict(at)? / at_anchor);
        }
    }
    let count = models.len() as f64;
    Some(mean.iter().map(|sum| sum / count).collect())
}

/// The strategy that scales one run, in `time_s` at `anchor`, by the model that comes along.
fn universal(task: &Task<'_>, anchor: usize, time_s: f64) -> BuildResult {
    let model = UniversalModel::for_task(task)
        .filter(|model| model.time_over(task, anchor, anchor).is_some())
        .ok_or_else(|| {
            UnusableStrategy("its configurations have no workers and batch".to_owned())
        })?;
    ready(Depends::PRICES, move |task, _, _, forecast| {
        for at in 0..task.space.len() {
            if let Some(over) = model.time_over(task, at, anchor) {
                forecast.predict(at, time_s * over);
            }
        }
        Ok(())
    })
}

/// What the own workload takes at the configuration that gives the model its scale: one earlier run.
fn anchor_seconds_per_sample(past: &mut Past<'_>, space: &Space, anchor: usize) -> Option<f64> {
    let is_it = |offer: &Offer<'_>| {
        offer.vm == space.vm(anchor).map(|vm| &**vm)
            && (offer.workers, offer.batch) == (space.workers(anchor), space.batch(anchor))
    };
    let known = past.take_own(is_it);
    let run = known.runs.first()?;
    Some(run.epochs? / f64::from(run.batch?) * run.step_s()?)
}

//! No search, as in the paper: one model for all jobs, the average over all stored workloads; nothing is probed. The paper
//! averages the job's own model in; `no-search-leave-out` leaves it out.
//!
//! How the paper averages models of very different size is not published. Here every stored workload's models give a *shape*:
//! predicted time over that at the smallest configuration. Shapes are averaged geometrically; the scale comes from one
//! complete run of the own workload there, which counts among the runs taken. Without limits, no choice depends on the scale
//! (as long as cost is proportional to time).

use super::models::{Fits, StoredModel};
use super::same_job::predetermined;
use super::settings::{EpochsFrom, NoiseBy, Start, StepFit};
use super::{BuildResult, Offer, Past, Recipe, Task, UnusableStrategy, space};
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
    let used: Vec<&str> = (past.stored_names())
        .filter(|name| !leave_out || *name != own)
        .collect();
    if used.iter().all(|name| *name == own) {
        let left = if leave_out {
            "nothing is left to average"
        } else {
            "the average would be its own model"
        };
        return Err(UnusableStrategy(format!(
            "no workload other than `{own}` is stored, so {left}; name others in `search.stored`"
        )));
    }
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

    let mut log_shape = vec![0.0; task.space.len()];
    for name in &used {
        let model =
            (past.take_stored(name, |_| true)).and_then(|history| StoredModel::fit(&history, fits));
        let predict = |at: usize| {
            (model.as_ref())
                .and_then(|m| m.predict(task.space, at))
                .filter(|s| *s > 0.0)
                .ok_or_else(|| {
                    UnusableStrategy(format!(
                        "the stored model of `{name}` predicts nothing for {}",
                        task.space.name(at)
                    ))
                })
        };
        let at_anchor = predict(anchor)?;
        for (at, sum) in log_shape.iter_mut().enumerate() {
            *sum += libm::log(predict(at)? / at_anchor);
        }
    }
    let seconds_per_sample = log_shape
        .iter()
        .map(|sum| Some(known * libm::exp(sum / used.len() as f64)))
        .collect();
    predetermined(seconds_per_sample, samples_per_epoch)
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

//! Which keys may hold several values: a list like `[60, 600]`, or a range with a step or a factor.
//!
//! Those of `[spot]`, `[bag]`, `[parallel]`, `[variation]` and `search.repeats` make settings, in each of which the scenario is run; those of a policy, policies.
//! VM types have such keys too, [`scale_axis`](super::scale_axis).

use std::sync::LazyLock;

use scavsim_data::pricing::charges::CHARGES;
use scavsim_read::input::toml::{ANY, Lists, Path, Tables};

/// Keys that make settings, the slowest to change first.
const SETTINGS: &[&[&str]] = &[
    &["spot", "exponential_mean_h"],
    &["spot", "fewest_workers"],
    &["spot", "replacement_s"],
    &["spot", "cold_join_s"],
    &["spot", "warm_restart_s"],
    &["spot", "checkpoint", "periodic-s"],
    &["spot", "checkpoint_write_s"],
    &["spot", "checkpoint_mb"],
    &["spot", "notice_s"],
    &["bag", "jobs"],
    &["bag", "sufficient_share"],
    &["bag", "job_cv"],
    &["bag", "dispatch_lag_s"],
    &["bag", "start_stagger_s"],
    &["bag", "keep_spares_s"],
    &["bag", "notice", "after-loss-s"],
    &["bag", "losses", "attempts"],
    &["bag", "surrogate", "after_jobs"],
    &["bag", "surrogate", "train_s"],
    &["bag", "surrogate", "result_s"],
    &["parallel", "checkpoint_gb_per_s"],
    &["variation", "step_cv"],
    &["variation", "placement_sigma"],
    &["variation", "vm_sigma"],
    &["variation", "noise_cv"],
    &["variation", "epoch_cv"],
    &["variation", "drift", "sigma"],
    &["variation", "drift", "period_s"],
    &["variation", "straggler", "probability"],
    &["variation", "straggler", "factor"],
    &["search", "repeats"],
];

/// Keys of a policy that make policies, besides those of charges.
const OF_POLICIES: &[&[&str]] = &[
    &["usd_per_vm_hour"],
    &["usd_per_hour_of", ANY],
    &["spot_usd_per_hour_of", ANY],
    &["usd_per_sample_hour"],
    &["usd_per_vcpu_hour"],
    &["usd_per_gib_hour"],
    &["usd_per_gpu_hour"],
    &["spot_ratio"],
    &["commitment_discount"],
    &["granularity_s"],
    &["minimum_s"],
    &["billed_parameter_servers"],
];

/// All of them.
pub static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let owned = |keys: &[&[&'static str]]| keys.iter().map(|key| key.to_vec()).collect();
    let mut keys: Vec<Path> = owned(OF_POLICIES);
    keys.extend((CHARGES.iter().flat_map(|charge| charge.keys)).map(|(key, _)| vec![*key]));
    Lists {
        what: "settings",
        readings: owned(SETTINGS),
        tables: Tables {
            what: "policy",
            place: vec!["pricing", "define"],
            keys,
            named_in: vec!["pricing", "policies"],
        },
    }
});

//! `grid.toml` as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Charge;
use scavsim_read::input::Spanned;

pub(super) type Text = Spanned<String>;

/// The whole file. All keys may be missing here, so that what is there is checked all the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenGrid {
    pub name: Option<Text>,
    pub title: Option<Text>,
    pub source: Option<Text>,
    pub url: Option<Text>,
    pub licence: Option<Text>,
    pub note: Option<Text>,
    pub job: Option<Text>,
    pub default_jobs: Option<Spanned<Vec<Text>>>,
    pub programs: BTreeMap<Text, Vec<Text>>,
    pub repeats: bool,
    pub repeat: Option<Text>,
    pub completed: Option<Text>,
    pub derived: Option<Text>,
    pub cost_usd: Option<Text>,
    pub vms: Option<Text>,
    pub keep: Vec<Text>,
    pub axis: BTreeMap<Text, Spanned<WrittenAxis>>,
    pub figures: WrittenMetrics,
    pub target: Option<Spanned<WrittenTarget>>,
    pub probe: WrittenProbe,
    pub lookup: BTreeMap<Text, Spanned<WrittenLookup>>,
    pub vm: BTreeMap<Text, WrittenType>,
    pub fidelity: Option<Spanned<WrittenFidelity>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenFidelity {
    pub column: Option<Text>,
    pub full: Option<Spanned<f64>>,
    pub curve: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenType {
    pub vcpu: Option<Spanned<f64>>,
    pub memory_gib: Option<Spanned<f64>>,
    pub gpus: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenAxis {
    pub kind: Option<Spanned<AxisKind>>,
    pub column: Option<Text>,
    pub formula: Option<Text>,
    pub unit: Option<Text>,
    pub levels: Option<Spanned<Vec<Text>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AxisKind {
    Categorical,
    Ordinal,
    Numeric,
}

/// Expressions of the figures of a run, each in the unit of its name.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenMetrics {
    pub time_s: Option<Text>,
    pub quality: Option<Text>,
    pub steps: Option<Text>,
    pub epochs: Option<Text>,
    pub samples_per_epoch: Option<Text>,
    pub step_s: Option<Text>,
    pub compute_s: Option<Text>,
    pub communication_s: Option<Text>,
    pub noise_normalised: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenTarget {
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    pub column: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenProbe {
    pub charge: Option<Spanned<Charge>>,
    pub cut_off: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenLookup {
    pub by: Option<Text>,
    pub values: BTreeMap<Text, f64>,
}

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::constants::ConstantForm;
use crate::functions::{LifetimeSpec, UnequalJobInputs};

/// What a paper is, and what its figures are computed from.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaperFile {
    pub citation: String,
    /// Where the tolerances come from.
    pub tolerances: String,
    /// The one scenario of the paper, `main`.
    pub scenario: Option<Spanned<String>>,
    /// Scenarios of the paper, by the names of the tables of their records.
    pub scenarios: BTreeMap<String, ScenarioForm>,
    /// CSV files of the paper, by the names of tables.
    pub tables: BTreeMap<String, Spanned<String>>,
    /// Functions of its own: `"name(a, b)" = "expression"`.
    pub define: BTreeMap<Spanned<String>, Spanned<String>>,
    /// What was chosen, and on which rows.
    pub constants: Vec<ConstantForm>,
    /// Lives of VMs, beside those of the library.
    pub lives: BTreeMap<String, Spanned<LifetimeSpec>>,
    /// Jobs on workers that are unlike.
    pub unequal: UnequalJobInputs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioForm {
    pub file: Spanned<String>,
    /// Keys that are set beside it, as lines of TOML.
    #[serde(default)]
    pub set: Vec<Spanned<String>>,
    /// The scenario is run once with each of these lines.
    #[serde(default)]
    pub each: Vec<Spanned<String>>,
}

//! The kinds of figures. A new one is a file and a line.

mod bill;
mod cost_over_time;
mod errors;
mod lifetimes;
mod noise;
mod overhead;
mod policies;
mod regret;
mod steps;
mod throughput;
mod validation;

use super::description::Figure;
use super::material::{Cloud, Material};
use scavsim_data::workload::Workload;
use scavsim_lab::experiment::Group;

/// A kind of figure.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name of the kind.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Whether it is drawn where no kind is asked for, and on pages.
    pub is_usual: bool,
    /// Makes it.
    ///
    /// # Errors
    /// A sentence: why this result has no such figure.
    pub make: fn(&Material, &Asked) -> Result<Figure, String>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    cost_over_time::KIND,
    overhead::KIND,
    bill::KIND,
    regret::KIND,
    errors::KIND,
    noise::KIND,
    steps::KIND,
    throughput::KIND,
    policies::KIND,
    validation::KIND,
    lifetimes::KIND,
];

/// Panels of one figure; what is beyond has to be asked for.
const MOST_PANELS: usize = 12;
/// Panels side by side.
const COLUMNS: usize = 3;
/// Pixels of a panel.
const SIZE: [f64; 2] = [330.0, 290.0];

/// What a figure is to be of.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// In this setting; the first when absent.
    pub setting: Option<String>,
    /// The workload that is drawn alone.
    pub workload: Option<String>,
    /// Under this policy; the first when absent.
    pub pricing: Option<String>,
    /// For this objective; the first when absent.
    pub objective: Option<String>,
    /// Joins configurations of equal workers, not of equal batch.
    pub by_workers: bool,
}

impl Asked {
    /// The policy and the objective that are shown, of those that there are.
    fn shown<'m>(&'m self, material: &'m Material) -> Result<[&'m str; 2], String> {
        let policies = material.distinct(|group| &group.pricing);
        let objectives = material.distinct(|group| &group.objective);
        Ok([
            one("pricing policy", self.pricing.as_deref(), &policies)?,
            one("objective", self.objective.as_deref(), &objectives)?,
        ])
    }

    /// The setting that is shown; empty where there is only one.
    fn setting<'m>(&'m self, material: &'m Material) -> Result<&'m str, String> {
        let all = material.distinct(|group| &group.setting);
        one("setting", self.setting.as_deref(), &all)
    }

    /// What stands behind the name of a figure of a setting, and behind its title.
    fn setting_words(&self, material: &Material) -> Result<[String; 2], String> {
        let setting = self.setting(material)?;
        Ok(if setting.is_empty() {
            Default::default()
        } else {
            [format!("-{setting}"), format!(", {setting}")]
        })
    }

    /// Groups of the setting, policy and objective that are shown, by workload.
    fn groups<'m>(
        &'m self,
        material: &'m Material,
    ) -> Result<Vec<(&'m str, Vec<Row<'m>>)>, String> {
        let [pricing, objective] = self.shown(material)?;
        let workloads = material.distinct(|group| &group.workload);
        let setting = self.setting(material)?;
        let workloads = match self.workload.as_deref() {
            None => workloads,
            asked => vec![one("workload", asked, &workloads)?],
        };
        let of = |workload: &'m str| {
            let rows = material.groups.iter().zip(&material.outcomes);
            let rows = rows.filter(|(group, _)| {
                group.setting == setting
                    && group.workload == workload
                    && group.pricing == pricing
                    && group.objective == objective
            });
            let rows = rows.map(|(group, outcome)| Row { group, outcome });
            (workload, rows.collect())
        };
        Ok(workloads.into_iter().map(of).collect())
    }

    /// The workloads that are shown, of those whose data are at hand.
    fn workloads<'m>(&'m self, material: &'m Material) -> Result<Vec<&'m Workload>, String> {
        let all = &material.workloads;
        if all.is_empty() {
            return Err("the data of its workloads are not at hand: name the scenario with `--scenario FILE`".to_owned());
        }
        let names: Vec<&str> = all.iter().map(|workload| &*workload.name).collect();
        Ok(match self.workload.as_deref() {
            None => all.iter().collect(),
            asked => {
                let name = one("workload", asked, &names)?;
                all.iter()
                    .filter(|workload| workload.name == name)
                    .collect()
            }
        })
    }
}

/// A group with where its cases lie.
struct Row<'m> {
    group: &'m Group,
    outcome: &'m super::material::Outcome,
}

fn one<'a>(what: &str, asked: Option<&'a str>, all: &[&'a str]) -> Result<&'a str, String> {
    match asked {
        None => all
            .first()
            .copied()
            .ok_or_else(|| "it has no cases".to_owned()),
        Some(asked) if all.contains(&asked) => Ok(asked),
        Some(asked) => {
            let names: Vec<String> = all.iter().take(20).map(|n| format!("`{n}`")).collect();
            Err(format!(
                "it has no {what} `{asked}`, but {}",
                names.join(", ")
            ))
        }
    }
}

/// Panels that one figure has room for, and a sentence on the others.
fn room<T>(panels: Vec<T>) -> (Vec<T>, String) {
    let count = panels.len();
    let kept: Vec<T> = panels.into_iter().take(MOST_PANELS).collect();
    let sentence = if count > MOST_PANELS {
        format!(" The first {MOST_PANELS} of {count} workloads; `--workload` shows another.")
    } else {
        String::new()
    };
    (kept, sentence)
}

/// Configurations of one kind, with whether their VM types differ.
fn differs_by_vm(cloud: &Cloud) -> bool {
    let first = cloud.places.first().map(|place| &place.vm);
    cloud.places.iter().any(|place| Some(&place.vm) != first)
}

/// The n-th of several numbers, linear between ranks; of at least one.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

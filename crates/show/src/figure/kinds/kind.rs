//! A kind of figure, and a request for one.

use super::super::description::Figure;
use super::super::material::Material;
use super::super::place::Outcome;
use super::no_figure::NoFigure;
use scavsim_data::workload::Workload;
use scavsim_experiment::Group;

#[derive(Debug, Clone, Copy)]
pub struct FigureKind {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether it is drawn by default, and on pages.
    pub is_usual: bool,
    pub make: fn(&Material, &FigureRequest) -> Result<Figure, NoFigure>,
}

#[derive(Debug, Clone, Default)]
pub struct FigureRequest {
    /// The requested setting; the first by default.
    pub setting: Option<String>,
    /// The only workload to draw.
    pub workload: Option<String>,
    /// The requested pricing policy; the first by default.
    pub pricing: Option<String>,
    /// The requested objective; the first by default.
    pub objective: Option<String>,
    /// Joins configurations of equal workers instead of equal batch.
    pub by_workers: bool,
}

impl FigureRequest {
    /// The policy and the objective that are shown, from the available ones.
    pub(super) fn shown<'m>(&'m self, material: &'m Material) -> Result<[&'m str; 2], NoFigure> {
        let policies = material.distinct(|group| &group.pricing);
        let objectives = material.distinct(|group| &group.objective);
        Ok([
            select_one("pricing policy", self.pricing.as_deref(), &policies)?,
            select_one("objective", self.objective.as_deref(), &objectives)?,
        ])
    }

    /// The setting that is shown; empty if there is only one.
    pub(super) fn setting<'m>(&'m self, material: &'m Material) -> Result<&'m str, NoFigure> {
        let all = material.distinct(|group| &group.setting);
        select_one("setting", self.setting.as_deref(), &all)
    }

    /// Suffixes with the setting, for the name of a figure and for its title.
    pub(super) fn setting_words(&self, material: &Material) -> Result<[String; 2], NoFigure> {
        let setting = self.setting(material)?;
        Ok(if setting.is_empty() {
            Default::default()
        } else {
            [format!("-{setting}"), format!(", {setting}")]
        })
    }

    /// The requested workload, if there is one.
    pub(super) fn one_workload<'m>(
        &'m self,
        material: &'m Material,
    ) -> Result<Option<&'m str>, NoFigure> {
        let all = material.distinct(|group| &group.workload);
        let asked = self.workload.as_deref();
        asked
            .map(|asked| select_one("workload", Some(asked), &all))
            .transpose()
    }

    /// Groups of the setting, policy and objective that are shown, by workload.
    pub(super) fn groups<'m>(
        &'m self,
        material: &'m Material,
    ) -> Result<Vec<(&'m str, Vec<Row<'m>>)>, NoFigure> {
        let [pricing, objective] = self.shown(material)?;
        let setting = self.setting(material)?;
        let workloads = match self.one_workload(material)? {
            None => material.distinct(|group| &group.workload),
            Some(one) => vec![one],
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

    /// The workloads that are shown, from those with data.
    pub(super) fn workloads<'m>(
        &'m self,
        material: &'m Material,
    ) -> Result<Vec<&'m Workload>, NoFigure> {
        let all = &material.workloads;
        if all.is_empty() {
            let why = "the data of its workloads are not at hand";
            return Err(NoFigure::NeedsScenario(why));
        }
        let names: Vec<&str> = all.iter().map(|workload| &*workload.name).collect();
        Ok(match self.workload.as_deref() {
            None => all.iter().collect(),
            asked => {
                let name = select_one("workload", asked, &names)?;
                all.iter()
                    .filter(|workload| workload.name == name)
                    .collect()
            }
        })
    }
}

pub(super) struct Row<'m> {
    pub(super) group: &'m Group,
    pub(super) outcome: &'m Outcome,
}

fn select_one<'a>(
    what: &'static str,
    asked: Option<&'a str>,
    all: &[&'a str],
) -> Result<&'a str, NoFigure> {
    match asked {
        None => all.first().copied().ok_or(NoFigure::NoCases),
        Some(asked) if all.contains(&asked) => Ok(asked),
        Some(asked) => {
            let names: Vec<String> = all.iter().take(20).map(|n| format!("`{n}`")).collect();
            Err(NoFigure::Unknown {
                what,
                asked: asked.to_owned(),
                known: names.join(", "),
            })
        }
    }
}

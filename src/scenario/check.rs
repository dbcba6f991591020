//! The file → a checked scenario: names resolved, configurations inside the hull, all mistakes
//! reported at once.

use std::path::Path;
use std::sync::Arc;

use toml::Spanned;

use super::Scenario;
use super::file::{Outside, ScenarioFile};
use super::include::{self, Files};
use super::machines;
use super::setup;
use super::space::Wanted;
use crate::checked::{Count, NonNegative, Positive, Spread};
use crate::configuration::Configuration;
use crate::input::{Diagnostic, Diagnostics, Source};
use crate::search::Limits;
use crate::training::variation::{Drift, Straggler};
use crate::training::{Fidelity, Variation};
use crate::units::{SECONDS_PER_HOUR, SimTime};
use crate::workload::{Workload, library};

/// Values from the command line that replace those of the file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Overrides {
    /// Seed.
    pub seed: Option<u64>,
    /// Replicas.
    pub replicas: Option<Count>,
    /// Fidelity.
    pub fidelity: Option<Fidelity>,
}

/// Reads and checks the scenario in `source`; `folder` is where its relative paths start.
/// `None` exactly when something was added to `diagnostics`.
pub fn load(
    source: &Arc<Source>,
    folder: &Path,
    overrides: Overrides,
    diagnostics: &mut Diagnostics,
) -> Option<Scenario> {
    let before = diagnostics.len();
    let (files, file) = include::read(source, folder, diagnostics);
    let file = file?;
    let mut check = Check {
        source: &files.source,
        files: &files,
        reads_well: diagnostics.len() == before,
        diagnostics,
    };
    let scenario = check.scenario(&file, overrides);
    scenario.filter(|_| diagnostics.len() == before)
}

/// A check under way: where the text is, and what was found so far.
pub(super) struct Check<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) files: &'a Files,
    /// Whether the file could be read without complaint.
    reads_well: bool,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    fn scenario(&mut self, file: &ScenarioFile, overrides: Overrides) -> Option<Scenario> {
        let name = self.name(file);
        let asked: &[Spanned<String>] = match &file.workloads {
            Some(asked) => {
                self.not_empty("workloads", asked, &library::names());
                asked.get_ref()
            }
            None => {
                // After a syntax error the key may only seem to be missing.
                if self.reads_well {
                    self.diagnostics.push(
                        Diagnostic::general(format!(
                            "{}: the key `workloads` is missing",
                            self.source.name
                        ))
                        .with_help("name at least one workload; see `scavsim list workloads`"),
                    );
                }
                &[]
            }
        };
        self.no_duplicates("workloads", asked);
        self.axes(&file.cluster);
        let workloads: Vec<Option<Workload>> =
            (asked.iter()).map(|name| self.workload(name)).collect();
        self.no_namesakes(asked, &workloads);
        let machines = self.machines(file, &workloads);
        let setup = self.setup(file, &workloads, &machines);
        let mut reach = machines::reach(&machines, file.cluster.outside == Outside::Extrapolate);
        setup::extend(&mut reach, &setup, &machines);
        let max_workers = file.limits.max_workers.as_ref();
        let spaces: Vec<Option<Vec<Configuration>>> = workloads
            .iter()
            .zip(asked)
            .map(|(w, name)| {
                let wanted = Wanted {
                    machines: &machines,
                    setup: &setup,
                    reach: &reach,
                    max_workers,
                };
                self.configurations(file, w.as_ref()?, name, wanted)
            })
            .collect();
        let stored = match &file.search.stored {
            None => workloads.clone(),
            Some(names) => {
                self.not_empty("stored", names, &library::names());
                self.no_duplicates("stored", names.get_ref());
                let stored: Vec<Option<Workload>> = (names.get_ref().iter())
                    .map(|name| self.workload(name))
                    .collect();
                self.no_namesakes(names.get_ref(), &stored);
                stored
            }
        };
        let policies = self.policies(file);
        let strategies = self.strategies(file);
        let objectives = self.objectives(file);

        let workloads: Vec<Workload> = workloads.into_iter().collect::<Option<_>>()?;
        let spaces: Vec<Vec<Configuration>> = spaces.into_iter().collect::<Option<_>>()?;
        let stored: Vec<Workload> = stored.into_iter().collect::<Option<_>>()?;
        let workloads: Vec<_> = workloads.into_iter().zip(spaces).collect();
        if let Some(policies) = &policies {
            self.all_priced(file, policies, &machines, &setup, &workloads);
            self.sizes_known(file, &workloads, &reach, &setup, &variation(file));
        }
        let strategies = self.usable(file, &workloads, &stored, &reach, strategies?);

        Some(Scenario {
            name,
            seed: overrides.seed.unwrap_or(file.seed),
            replicas: u64::from(overrides.replicas.or(file.replicas).map_or(1, Count::get)),
            fidelity: overrides.fidelity.unwrap_or(file.fidelity),
            workloads,
            stored,
            machines,
            reach,
            search: file.cluster.search,
            variation: variation(file),
            setup,
            start_up: SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, NonNegative::get)),
            policies: policies?,
            objectives: objectives?,
            strategies,
            settings: file.strategy.clone(),
            limits: Limits {
                max_time_s: file.limits.max_time_h.map(|h| h.get() * SECONDS_PER_HOUR),
                max_cost_usd: file.limits.max_cost_usd.map(Positive::get),
            },
            hash: self.files.hash(),
        })
    }

    /// The scenario's name, which may become that of a folder.
    fn name(&mut self, file: &ScenarioFile) -> String {
        let Some(name) = &file.name else {
            let stem = Path::new(&self.source.name).file_stem();
            let stem = stem.and_then(|stem| stem.to_str());
            return stem.unwrap_or("scenario").to_owned();
        };
        let word = name.get_ref();
        let illegal = |c: char| matches!(c, '/' | '\\') || c.is_control();
        if word.is_empty() || word.starts_with('.') || word.contains(illegal) {
            self.diagnostics.push(
                Diagnostic::at(
                    self.source,
                    name.span(),
                    "`name` cannot be that of a folder",
                    "results may go to a folder of this name",
                )
                .with_help("a name is not empty, has no `/` or `\\`, and does not start with `.`"),
            );
        }
        word.clone()
    }
}

fn variation(file: &ScenarioFile) -> Variation {
    let v = &file.variation;
    let spread = |s: Option<Spread>| s.map_or(0.0, Spread::get);
    Variation {
        step_cv: spread(v.step_cv),
        placement_sigma: spread(v.placement_sigma),
        vm_sigma: spread(v.vm_sigma),
        noise_cv: spread(v.noise_cv),
        noise_curve: v.noise_curve,
        epoch_cv: spread(v.epoch_cv),
        drift: v.drift.as_ref().map(|d| Drift {
            sigma: d.sigma.get(),
            period_s: d.period_s.get(),
        }),
        straggler: v.straggler.as_ref().map(|s| Straggler {
            probability: s.probability.get(),
            factor: s.factor.get(),
        }),
    }
}

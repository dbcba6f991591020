//! The file → a checked scenario: names resolved, configurations inside the hull, all mistakes
//! reported at once.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;

use super::Scenario;
use super::axis::Axis;
use super::file::ScenarioFile;
use crate::checked::{Count, NonNegative, Positive, Spread};
use crate::configuration::Configuration;
use crate::input::{self, Diagnostic, Diagnostics, Source, closest};
use crate::pricing::{Policy, builtin};
use crate::search::{Knowledge, Limits, ORACLE, Objective, Settings};
use crate::testbed::History;
use crate::training::variation::{Drift, Straggler};
use crate::training::{Fidelity, Variation};
use crate::units::{SECONDS_PER_HOUR, SimTime};
use crate::workload::library::Folder;
use crate::workload::{Workload, library, load as workload_load};

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
    let file: ScenarioFile = input::toml::read(source, diagnostics)?;
    let mut check = Check {
        source,
        folder,
        diagnostics,
    };
    let scenario = check.scenario(&file, overrides);
    scenario.filter(|_| diagnostics.len() == before)
}

struct Check<'a> {
    source: &'a Arc<Source>,
    folder: &'a Path,
    diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    fn scenario(&mut self, file: &ScenarioFile, overrides: Overrides) -> Option<Scenario> {
        if file.workloads.is_empty() {
            self.complain_empty(0..0, "workloads", &library::names());
        }
        self.no_duplicates("workloads", &file.workloads);
        self.no_duplicates("cluster.vm", &file.cluster.vm);
        for (name, axis) in [
            ("workers", &file.cluster.workers),
            ("batch", &file.cluster.batch),
        ] {
            if let Some(Axis::List(values)) = axis.as_ref().map(Spanned::get_ref) {
                let numbers: Vec<Spanned<u32>> = (values.iter())
                    .map(|v| Spanned::new(v.span(), v.get_ref().get()))
                    .collect();
                self.no_duplicates(name, &numbers);
            }
        }
        let workloads: Vec<Option<Workload>> = (file.workloads.iter())
            .map(|name| self.workload(name))
            .collect();
        let max_workers = file.limits.max_workers.as_ref();
        let spaces: Vec<Option<Vec<Configuration>>> = workloads
            .iter()
            .zip(&file.workloads)
            .map(|(w, name)| self.configurations(file, w.as_ref()?, name, max_workers))
            .collect();
        let stored = match &file.search.stored {
            None => workloads.clone(),
            Some(names) => {
                self.not_empty("stored", names, &library::names());
                self.no_duplicates("stored", names.get_ref());
                (names.get_ref().iter())
                    .map(|name| self.workload(name))
                    .collect()
            }
        };
        let policies = self.policies(file);
        let strategies = self.strategies(file);
        let objectives = self.objectives(file);

        let workloads: Vec<Workload> = workloads.into_iter().collect::<Option<_>>()?;
        let spaces: Vec<Vec<Configuration>> = spaces.into_iter().collect::<Option<_>>()?;
        let stored: Vec<Workload> = stored.into_iter().collect::<Option<_>>()?;
        let workloads: Vec<_> = workloads.into_iter().zip(spaces).collect();
        let mut strategies = strategies?;
        self.usable(file, &workloads, &stored, &mut strategies);

        Some(Scenario {
            name: self.name(file),
            seed: overrides.seed.unwrap_or(file.seed),
            replicas: u64::from(overrides.replicas.or(file.replicas).map_or(1, Count::get)),
            fidelity: overrides.fidelity.unwrap_or(file.fidelity),
            workloads,
            stored,
            variation: variation(file),
            start_up: SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, NonNegative::get)),
            policies: policies?,
            objectives: objectives?,
            strategies: strategies.into_iter().map(Spanned::into_inner).collect(),
            settings: file.strategy.clone(),
            limits: Limits {
                max_time_s: file.limits.max_time_h.map(|h| h.get() * SECONDS_PER_HOUR),
                max_cost_usd: file.limits.max_cost_usd.map(Positive::get),
            },
            hash: blake3::hash(self.source.text.as_bytes())
                .to_hex()
                .to_string(),
        })
    }

    fn name(&self, file: &ScenarioFile) -> String {
        let stem = || Path::new(&self.source.name).file_stem()?.to_str();
        file.name
            .clone()
            .or_else(|| stem().map(str::to_owned))
            .unwrap_or_else(|| "scenario".to_owned())
    }

    /// A name is an embedded workload; something with a `/` in it, or `.`, is a folder.
    fn workload(&mut self, name: &Spanned<String>) -> Option<Workload> {
        let word = name.get_ref();
        let folder = if word.contains('/') || word.starts_with('.') {
            Folder::Disk(self.folder.join(PathBuf::from(word)))
        } else if let Some(folder) = Folder::embedded(word) {
            folder
        } else {
            let names = library::names();
            self.unknown("workload", name.span(), word, &names, "list workloads");
            return None;
        };
        workload_load::load(&folder, self.diagnostics)
    }

    /// The configurations of one workload, each inside its measured hull.
    fn configurations(
        &mut self,
        file: &ScenarioFile,
        workload: &Workload,
        name: &Spanned<String>,
        max_workers: Option<&Spanned<Count>>,
    ) -> Option<Vec<Configuration>> {
        let cluster = &file.cluster;
        let axis = |a: &Option<Spanned<Axis>>| a.as_ref().and_then(|a| a.get_ref().values());
        let (workers, batches) = (axis(&cluster.workers), axis(&cluster.batch));
        let measured: Vec<&Configuration> = workload.steps.points().map(|p| &p.0).collect();

        let mut vms: Vec<Arc<str>> = Vec::new();
        let known: BTreeSet<&str> = measured.iter().map(|c| &*c.vm).collect();
        if cluster.vm.is_empty() {
            vms.extend(known.iter().map(|vm| Arc::from(*vm)));
        }
        for vm in &cluster.vm {
            if known.contains(vm.get_ref().as_str()) {
                vms.push(Arc::from(vm.get_ref().as_str()));
            } else {
                let legal: Vec<&str> = known.iter().copied().collect();
                self.unknown(
                    &format!("VM type for `{}`", workload.name),
                    vm.span(),
                    vm.get_ref(),
                    &legal,
                    "list vms",
                );
            }
        }
        let mut configurations: Vec<Configuration> = Vec::new();
        for vm in &vms {
            let own = || measured.iter().filter(|c| c.vm == *vm);
            if workers.is_none() && batches.is_none() {
                configurations.extend(own().map(|c| (*c).clone()));
                continue;
            }
            let all =
                |of: fn(&Configuration) -> u32| -> BTreeSet<u32> { own().map(|c| of(c)).collect() };
            let ks = match &workers {
                Some(list) => list.iter().copied().collect(),
                None => all(|c| c.workers),
            };
            let bs: BTreeSet<u32> = match &batches {
                Some(list) => list.iter().copied().collect(),
                None => all(|c| c.batch),
            };
            for &workers in &ks {
                for &batch in &bs {
                    configurations.push(Configuration {
                        vm: Arc::clone(vm),
                        workers,
                        batch,
                    });
                }
            }
        }
        if let Some(most) = max_workers {
            configurations.retain(|c| c.workers <= most.get_ref().get());
            if configurations.is_empty() && !vms.is_empty() {
                self.diagnostics.error_at(
                    self.source,
                    most.span(),
                    format!(
                        "`max_workers` leaves no configuration of `{}`",
                        workload.name
                    ),
                    "below every worker count",
                );
                return None;
            }
        }
        self.inside_hull(file, workload, name, &configurations)
            .then_some(configurations)
    }

    /// Reports configurations that no measurements surround: one message per wrong axis value, or
    /// one for all where no single value is to blame.
    fn inside_hull(
        &mut self,
        file: &ScenarioFile,
        workload: &Workload,
        name: &Spanned<String>,
        configurations: &[Configuration],
    ) -> bool {
        let refused: Vec<_> = configurations
            .iter()
            .filter_map(|c| workload.replay(c).err())
            .collect();
        let Some(first) = refused.first() else {
            return true;
        };
        let fails_everywhere = |of: fn(&Configuration) -> u32, value: u32| {
            let same = |c: &&Configuration| of(c) == value;
            configurations.iter().filter(same).count()
                == refused
                    .iter()
                    .filter(|r| of(&r.configuration) == value)
                    .count()
        };
        let mut blamed = false;
        type Part = fn(&Configuration) -> u32;
        let axes: [(&str, &Option<Spanned<Axis>>, Part); 2] = [
            ("worker count", &file.cluster.workers, |c| c.workers),
            ("batch", &file.cluster.batch, |c| c.batch),
        ];
        for (what, axis, of) in axes {
            let (Some(axis), Some(values)) =
                (axis, axis.as_ref().and_then(|a| a.get_ref().values()))
            else {
                continue;
            };
            for value in values {
                if blamed && refused.len() == configurations.len() {
                    break; // the other axis already explains everything
                }
                if !fails_everywhere(of, value) {
                    continue;
                }
                blamed = true;
                let measured: BTreeSet<u32> = workload.steps.points().map(|p| of(&p.0)).collect();
                let span = match axis.get_ref() {
                    Axis::List(list) => (list.iter())
                        .find(|v| v.get_ref().get() == value)
                        .map_or(axis.span(), Spanned::span),
                    _ => axis.span(),
                };
                let range = match (measured.first(), measured.last()) {
                    (Some(low), Some(high)) => format!("measured from {low} to {high}"),
                    _ => "nothing was measured".to_owned(),
                };
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        span,
                        format!(
                            "{what} {value} is outside what was measured for `{}`",
                            workload.name
                        ),
                        range,
                    )
                    .with_help(first.to_string()),
                );
            }
        }
        if !blamed {
            self.diagnostics.push(
                Diagnostic::at(
                    self.source,
                    name.span(),
                    format!(
                        "{} of {} configurations of `{}` are outside what was measured",
                        refused.len(),
                        configurations.len(),
                        workload.name
                    ),
                    "",
                )
                .with_help(first.to_string()),
            );
        }
        false
    }

    fn policies(&mut self, file: &ScenarioFile) -> Option<Vec<Policy>> {
        let mut known: Vec<Policy> = builtin::policies().0;
        let mut sound = true;
        for (name, policy) in &file.pricing.define {
            match policy.policy(name.get_ref()) {
                Ok(policy) => {
                    known.retain(|p| p.name != policy.name);
                    known.push(policy);
                }
                Err(wrong) => {
                    sound = false;
                    self.diagnostics.error_at(
                        self.source,
                        name.span(),
                        format!("pricing policy `{}` cannot be used", name.get_ref()),
                        wrong,
                    );
                }
            }
        }
        let names: Vec<&str> = (known.iter().map(|p| p.name.as_str()))
            .chain(file.pricing.define.keys().map(|n| n.get_ref().as_str()))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let Some(asked) = &file.pricing.policies else {
            return sound.then(|| {
                known
                    .into_iter()
                    .filter(|p| p.name == "paper-fixed")
                    .collect()
            });
        };
        self.not_empty("policies", asked, &names);
        self.no_duplicates("policies", asked.get_ref());
        let mut policies = Vec::new();
        for name in asked.get_ref() {
            match known.iter().find(|p| p.name == *name.get_ref()) {
                Some(policy) => policies.push(policy.clone()),
                None if names.contains(&name.get_ref().as_str()) => sound = false,
                None => {
                    sound = false;
                    self.unknown(
                        "pricing policy",
                        name.span(),
                        name.get_ref(),
                        &names,
                        "list pricing",
                    );
                }
            }
        }
        sound.then_some(policies)
    }

    fn strategies(&mut self, file: &ScenarioFile) -> Option<Vec<Spanned<String>>> {
        let legal: Vec<&str> = std::iter::once(ORACLE)
            .chain(Settings::NAMES.iter().copied())
            .collect();
        let Some(asked) = &file.search.strategies else {
            let all = legal.iter().map(|n| Spanned::new(0..0, (*n).to_owned()));
            return Some(all.collect());
        };
        self.not_empty("strategies", asked, &legal);
        self.no_duplicates("strategies", asked.get_ref());
        let mut sound = true;
        for name in asked.get_ref() {
            if !legal.contains(&name.get_ref().as_str()) {
                sound = false;
                self.unknown(
                    "strategy",
                    name.span(),
                    name.get_ref(),
                    &legal,
                    "list strategies",
                );
            }
        }
        sound.then(|| asked.get_ref().clone())
    }

    fn objectives(&mut self, file: &ScenarioFile) -> Option<Vec<Objective>> {
        let Some(asked) = &file.search.objectives else {
            return Some(vec![Objective::Time, Objective::Cost, Objective::Knee]);
        };
        self.not_empty("objectives", asked, &["time", "cost", "knee"]);
        self.no_duplicates("objectives", asked.get_ref());
        Some(asked.get_ref().iter().map(|o| *o.get_ref()).collect())
    }

    /// Every strategy can be built for every workload. Where the file names none, those that
    /// cannot are left out; where it names them, that is a mistake.
    fn usable(
        &mut self,
        file: &ScenarioFile,
        workloads: &[(Workload, Vec<Configuration>)],
        stored: &[Workload],
        strategies: &mut Vec<Spanned<String>>,
    ) {
        let stored: Vec<History> = stored.iter().map(History::of).collect();
        for (workload, configurations) in workloads {
            let own = History::of(workload);
            let knowledge = Knowledge::of(workload, configurations, &own, &stored);
            let why_not = |name: &str| file.strategy.build(name, &knowledge)?.err();
            if file.search.strategies.is_none() {
                strategies.retain(|s| why_not(s.get_ref()).is_none());
            }
            for strategy in strategies.iter() {
                let name = strategy.get_ref();
                if let Some(why) = why_not(name) {
                    let title = format!("strategy `{name}` cannot be used: {why}");
                    self.diagnostics
                        .error_at(self.source, strategy.span(), title, "");
                }
            }
            // The break-even of every strategy is counted against the default configuration.
            if let Err(why) = file.strategy.fixed.index(&knowledge) {
                self.diagnostics.push(Diagnostic::general(format!(
                    "{}: strategy `default` cannot be used: {why}",
                    self.source.name
                )));
            }
        }
    }

    fn unknown(&mut self, what: &str, span: Range<usize>, word: &str, legal: &[&str], list: &str) {
        let label = match closest(word, legal.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not known".to_owned(),
        };
        let names: Vec<String> = legal.iter().map(|n| format!("`{n}`")).collect();
        self.diagnostics.push(
            Diagnostic::at(self.source, span, format!("unknown {what} `{word}`"), label).with_help(
                format!("legal here: {}; see `scavsim {list}`", names.join(", ")),
            ),
        );
    }

    fn not_empty<T>(&mut self, key: &str, list: &Spanned<Vec<T>>, legal: &[&str]) {
        if list.get_ref().is_empty() {
            self.complain_empty(list.span(), key, legal);
        }
    }

    fn complain_empty(&mut self, span: Range<usize>, key: &str, legal: &[&str]) {
        let names: Vec<String> = legal.iter().map(|n| format!("`{n}`")).collect();
        let help = format!("legal here: {}", names.join(", "));
        let diagnostic = if span.is_empty() {
            Diagnostic::general(format!(
                "{}: `{key}` must name at least one workload",
                self.source.name
            ))
        } else {
            Diagnostic::at(
                self.source,
                span,
                format!("`{key}` is an empty list"),
                "expected at least one entry",
            )
        };
        self.diagnostics.push(diagnostic.with_help(help));
    }

    fn no_duplicates<T: PartialEq + std::fmt::Debug>(&mut self, key: &str, list: &[Spanned<T>]) {
        for (index, item) in list.iter().enumerate() {
            if list[..index].iter().any(|i| i.get_ref() == item.get_ref()) {
                self.diagnostics.error_at(
                    self.source,
                    item.span(),
                    format!("`{key}` holds {:?} twice", item.get_ref()),
                    "remove one of the two",
                );
            }
        }
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

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
        let name = self.name(file);
        if file.workloads.is_empty() {
            self.complain_empty(0..0, "workloads", &library::names());
        }
        self.no_duplicates("workloads", &file.workloads);
        self.no_duplicates("vm", &file.cluster.vm);
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
        self.no_namesakes(&file.workloads, &workloads);
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
        let strategies = self.usable(file, &workloads, &stored, strategies?);

        Some(Scenario {
            name,
            seed: overrides.seed.unwrap_or(file.seed),
            replicas: u64::from(overrides.replicas.or(file.replicas).map_or(1, Count::get)),
            fidelity: overrides.fidelity.unwrap_or(file.fidelity),
            workloads,
            stored,
            variation: variation(file),
            start_up: SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, NonNegative::get)),
            policies: policies?,
            objectives: objectives?,
            strategies,
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

    /// A name is an embedded workload; something with a `/` in it, or `.`, is a folder.
    fn workload(&mut self, name: &Spanned<String>) -> Option<Workload> {
        let word = name.get_ref();
        let folder = if word.contains('/') || word.starts_with('.') {
            let path = self.folder.join(PathBuf::from(word));
            if !path.is_dir() {
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        name.span(),
                        format!("there is no workload folder `{word}`"),
                        "not a folder",
                    )
                    .with_help("a path starts at the folder of the scenario file"),
                );
                return None;
            }
            Folder::Disk(path)
        } else if let Some(folder) = Folder::embedded(word) {
            folder
        } else {
            let names = library::names();
            self.unknown(
                format!("unknown workload `{word}`"),
                name.span(),
                word,
                &names,
                "list workloads",
            );
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
        let before = self.diagnostics.len();
        for vm in &cluster.vm {
            if known.contains(vm.get_ref().as_str()) {
                vms.push(Arc::from(vm.get_ref().as_str()));
            } else {
                let legal: Vec<&str> = known.iter().copied().collect();
                self.unknown(
                    format!("`{}` was not measured on `{}`", workload.name, vm.get_ref()),
                    vm.span(),
                    vm.get_ref(),
                    &legal,
                    "list vms",
                );
            }
        }
        let all_known = self.diagnostics.len() == before;
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
        let inside = self.inside_hull(file, workload, name, &configurations);
        (inside && all_known).then_some(configurations)
    }

    /// Reports configurations that no measurements surround: axis values beyond all that was
    /// measured, and one message for all other configurations.
    fn inside_hull(
        &mut self,
        file: &ScenarioFile,
        workload: &Workload,
        name: &Spanned<String>,
        configurations: &[Configuration],
    ) -> bool {
        let mut refused: Vec<_> = configurations
            .iter()
            .filter_map(|c| workload.replay(c).err())
            .collect();
        let sound = refused.is_empty();
        type Part = fn(&Configuration) -> u32;
        let axes: [(&str, &Option<Spanned<Axis>>, Part); 2] = [
            ("worker count", &file.cluster.workers, |c| c.workers),
            ("batch", &file.cluster.batch, |c| c.batch),
        ];
        let all = refused.clone();
        for (what, axis, of) in axes {
            let measured: BTreeSet<u32> = workload.steps.points().map(|p| of(&p.0)).collect();
            let (Some(axis), Some(&low), Some(&high)) = (axis, measured.first(), measured.last())
            else {
                continue;
            };
            let beyond = |value: u32| !(low..=high).contains(&value);
            let wrong: BTreeSet<u32> = (all.iter())
                .map(|r| of(&r.configuration))
                .filter(|v| beyond(*v))
                .collect();
            let places: Vec<(Range<usize>, String)> = match axis.get_ref() {
                Axis::List(list) => (list.iter())
                    .filter(|v| wrong.contains(&v.get_ref().get()))
                    .map(|v| (v.span(), v.get_ref().get().to_string()))
                    .collect(),
                _ if wrong.is_empty() => Vec::new(),
                _ => vec![(axis.span(), shortened(&wrong))],
            };
            for (span, values) in places {
                self.diagnostics.error_at(
                    self.source,
                    span,
                    format!(
                        "{what} {values} is outside what was measured for `{}`",
                        workload.name
                    ),
                    format!("measured from {low} to {high}"),
                );
            }
            refused.retain(|r| !beyond(of(&r.configuration)));
        }
        if let Some(first) = refused.first() {
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
        sound
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
                // Without a price that was refused there seems to be none.
                Err(_) if self.is_reported(&self.table_of(name)) => sound = false,
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
                        format!("unknown pricing policy `{}`", name.get_ref()),
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

    /// From the key `name` to the next table header.
    fn table_of(&self, name: &Spanned<String>) -> Range<usize> {
        let start = name.span().start;
        let text = &self.source.text[start..];
        start..start + text.find("\n[").unwrap_or(text.len())
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
                    format!("unknown strategy `{}`", name.get_ref()),
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

    /// The strategies to run. Every one that was asked for can be built for every workload; where
    /// none was asked for, those that can.
    fn usable(
        &mut self,
        file: &ScenarioFile,
        workloads: &[(Workload, Vec<Configuration>)],
        stored: &[Workload],
        mut strategies: Vec<Spanned<String>>,
    ) -> Vec<String> {
        let stored: Vec<History> = stored.iter().map(History::of).collect();
        for (workload, configurations) in workloads {
            let own = History::of(workload);
            let knowledge = Knowledge::of(workload, configurations, &own, &stored);
            // The break-even of every strategy is counted against the default configuration.
            if let Err(why) = file.strategy.fixed.index(&knowledge) {
                self.diagnostics.push(Diagnostic::general(format!(
                    "{}: `strategy.default` cannot be used: {why}",
                    self.source.name
                )));
                continue;
            }
            let mut unusable: Vec<Diagnostic> = Vec::new();
            strategies.retain(|strategy| {
                let name = strategy.get_ref();
                let Some(Err(why)) = file.strategy.build(name, &knowledge) else {
                    return true;
                };
                let title = format!("strategy `{name}` cannot be used: {why}");
                unusable.push(Diagnostic::at(self.source, strategy.span(), title, ""));
                file.search.strategies.is_some()
            });
            if file.search.strategies.is_some() {
                self.diagnostics.extend(unusable);
            }
        }
        strategies.into_iter().map(Spanned::into_inner).collect()
    }

    fn unknown(
        &mut self,
        title: String,
        span: Range<usize>,
        word: &str,
        legal: &[&str],
        list: &str,
    ) {
        let label = match closest(word, legal.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "not known".to_owned(),
        };
        let names: Vec<String> = legal.iter().map(|n| format!("`{n}`")).collect();
        self.diagnostics.push(
            Diagnostic::at(self.source, span, title, label).with_help(format!(
                "legal here: {}; see `scavsim {list}`",
                names.join(", ")
            )),
        );
    }

    fn not_empty<T>(&mut self, key: &str, list: &Spanned<Vec<T>>, legal: &[&str]) {
        // A list whose entries were all refused only looks empty.
        if list.get_ref().is_empty() && !self.is_reported(&list.span()) {
            self.complain_empty(list.span(), key, legal);
        }
    }

    /// Whether something inside `span` was reported already.
    fn is_reported(&self, span: &Range<usize>) -> bool {
        (self.diagnostics.iter())
            .filter_map(|d| d.place.as_ref())
            .any(|(source, at)| {
                Arc::ptr_eq(source, self.source) && span.start <= at.start && at.end <= span.end
            })
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

    /// Results tell workloads apart by the name in `workload.toml`: two folders may not share one.
    fn no_namesakes(&mut self, asked: &[Spanned<String>], loaded: &[Option<Workload>]) {
        let all: Vec<(&Spanned<String>, &str)> = (asked.iter().zip(loaded))
            .filter_map(|(asked, w)| Some((asked, w.as_ref()?.name.as_str())))
            .collect();
        for (index, (asked, name)) in all.iter().enumerate() {
            // The same entry twice is reported as such.
            let namesake = |(other, same): &&(&Spanned<String>, &str)| {
                same == name && other.get_ref() != asked.get_ref()
            };
            if let Some((other, _)) = all[..index].iter().find(namesake) {
                let other = other.get_ref();
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        asked.span(),
                        format!("two workloads are called `{name}`"),
                        format!("has the same `name` as `{other}`"),
                    )
                    .with_help("give one of them another `name` in its workload.toml"),
                );
            }
        }
    }

    fn no_duplicates<T: PartialEq>(&mut self, key: &str, list: &[Spanned<T>]) {
        for (index, item) in list.iter().enumerate() {
            if list[..index].iter().any(|i| i.get_ref() == item.get_ref()) {
                self.diagnostics.error_at(
                    self.source,
                    item.span(),
                    format!("`{key}` holds {} twice", &self.source.text[item.span()]),
                    "remove one of the two",
                );
            }
        }
    }
}

/// Numbers in a row; of many, the first few.
fn shortened(values: &BTreeSet<u32>) -> String {
    const SHOWN: usize = 4;
    let words: Vec<String> = values.iter().take(SHOWN).map(u32::to_string).collect();
    match values.len().saturating_sub(SHOWN) {
        0 => words.join(", "),
        more => format!("{} and {more} more", words.join(", ")),
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

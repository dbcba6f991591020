//! Names in a scenario and what they stand for: workloads, policies, strategies, objectives.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::by_vm;
use super::check::Check;
use super::file::{ScenarioFile, Together};
use super::machines::{self, Machine};
use crate::configuration::Configuration;
use crate::input::{Diagnostic, Folder};
use crate::pricing::{NoPrice, Policy, Rented, builtin};
use crate::search::{Knowledge, ORACLE, Objective, Settings};
use crate::shape::Shape;
use crate::testbed::History;
use crate::training::live::Setup;
use crate::workload::{Reach, Workload, library, load as workload_load};

impl Check<'_> {
    /// A name is an embedded workload; something with a `/` in it, or `.`, is a folder.
    pub(super) fn workload(&mut self, name: &Spanned<String>) -> Option<Workload> {
        let word = name.get_ref();
        let folder = if word.contains('/') || word.starts_with('.') {
            let path = self.files.folder(name.span().start).join(word);
            if !path.is_dir() {
                self.diagnostics.push(
                    Diagnostic::at(
                        self.source,
                        name.span(),
                        format!("there is no workload folder `{word}`"),
                        "not a folder",
                    )
                    .with_help("a path starts at the folder of the file that it stands in"),
                );
                return None;
            }
            Folder::Disk(path)
        } else if let Some(folder) = library::embedded(word) {
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

    /// Results tell workloads apart by the name in `workload.toml`: two folders may not share one.
    pub(super) fn no_namesakes(&mut self, asked: &[Spanned<String>], loaded: &[Option<Workload>]) {
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

    pub(super) fn policies(&mut self, file: &ScenarioFile) -> Option<Vec<Policy>> {
        let mut known: Vec<Policy> = builtin::policies().0;
        let mut sound = true;
        for (name, policy) in &file.pricing.define {
            match policy.policy(name.get_ref()) {
                Ok(policy) => {
                    known.retain(|p| p.name != policy.name);
                    known.push(policy);
                }
                // Without a price that was refused there seems to be none.
                Err(_) if self.is_reported(&self.table_from(name.span().start)) => sound = false,
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

    /// Every policy that was asked for must have a price for every VM type to choose from.
    pub(super) fn all_priced(
        &mut self,
        file: &ScenarioFile,
        policies: &[Policy],
        machines: &[Machine],
        setup: &Setup,
        workloads: &[(Workload, Vec<Configuration>)],
    ) {
        let fleet = machines::fleet(machines);
        let mut vms: Vec<Rented<'_>> = (workloads.iter())
            .flat_map(|w| w.1.chunk_by(|a, b| a.vm == b.vm))
            .filter_map(|alike| alike.first())
            .flat_map(|c| match setup.kinds.get(&c.vm) {
                Some(kind) => kind.rented().collect(),
                None => vec![Rented::as_priced(
                    Shape::parse(&c.vm).map_or(&*c.vm, |s| s.vm_type),
                )],
            })
            .collect();
        vms.sort_unstable();
        vms.dedup();
        // The types of one table have a price or lack it together: they differ in its amount.
        let mut of_table: BTreeMap<(&str, Option<bool>), Vec<Rented<'_>>> = BTreeMap::new();
        for vm in &vms {
            let table = (fleet.listed_as(vm.vm), vm.on_spot);
            of_table.entry(table).or_default().push(*vm);
        }
        for policy in policies {
            let asked = (file.pricing.policies.iter().flat_map(Spanned::get_ref))
                .find(|name| *name.get_ref() == policy.name);
            // One table at a time, for a message about each; then what only all together lack.
            let mut missing: Vec<NoPrice> = (of_table.values())
                .filter_map(|types| {
                    let mut why = policy.tariff(&types[..1], &fleet).err()?;
                    if let more @ 1.. = types.len() - 1 {
                        why.what
                            .push_str(&format!(", nor of {more} more of its table"));
                    }
                    Some(why)
                })
                .collect();
            if missing.is_empty() {
                missing.extend(policy.tariff(&vms, &fleet).err());
            }
            missing.dedup();
            for NoPrice { what, help } in missing {
                let title = format!("pricing policy `{}`: {what}", policy.name);
                let complaint = match asked {
                    Some(asked) => {
                        Diagnostic::at(self.source, asked.span(), title, "cannot be charged")
                    }
                    None => Diagnostic::general(format!("{}: {title}", self.source.name)),
                };
                self.diagnostics.push(complaint.with_help(help));
            }
        }
    }

    /// From `start`, inside a table or its header, to the next table header.
    pub(super) fn table_from(&self, start: usize) -> Range<usize> {
        let text = &self.source.text[start..];
        start..start + text.find("\n[").unwrap_or(text.len())
    }

    pub(super) fn strategies(&mut self, file: &ScenarioFile) -> Option<Vec<Spanned<String>>> {
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

    pub(super) fn objectives(&mut self, file: &ScenarioFile) -> Option<Vec<Objective>> {
        let Some(asked) = &file.search.objectives else {
            return Some(vec![Objective::Time, Objective::Cost, Objective::Knee]);
        };
        self.not_empty("objectives", asked, &["time", "cost", "knee"]);
        self.no_duplicates("objectives", asked.get_ref());
        Some(asked.get_ref().iter().map(|o| *o.get_ref()).collect())
    }

    /// The strategies to run. Every one that was asked for can be built for every workload; where
    /// none was asked for, those that can.
    pub(super) fn usable(
        &mut self,
        file: &ScenarioFile,
        workloads: &[(Workload, Vec<Configuration>)],
        stored: &[Workload],
        reach: &Reach,
        mut strategies: Vec<Spanned<String>>,
    ) -> Vec<String> {
        let searches = (workloads.iter())
            .flat_map(|(w, all)| searches(file, reach, all).into_iter().map(move |c| (w, c)));
        for (workload, configurations) in searches {
            let reach = &reach.only(configurations);
            let stored: Vec<History> = stored.iter().map(|w| History::of(w, reach)).collect();
            let own = History::of(workload, reach);
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
}

/// The configurations that are searched together. Of VM types that stand in for the same one with the
/// same configurations the first speaks for all: what a strategy needs to know is the same.
fn searches<'c>(
    file: &ScenarioFile,
    reach: &Reach,
    all: &'c [Configuration],
) -> Vec<&'c [Configuration]> {
    if file.cluster.search == Together::All {
        return vec![all];
    }
    let mut seen = HashSet::new();
    let kind = |search: &[Configuration]| -> Vec<(Arc<str>, u32, u32)> {
        let measured = search.iter().map(|c| reach.measured(c).0);
        measured
            .map(|c| (Arc::clone(&c.vm), c.workers, c.batch))
            .collect()
    };
    let runs = by_vm(all).into_iter().map(|range| &all[range]);
    runs.filter(|search| seen.insert(kind(search))).collect()
}

//! The configurations to choose from: all combinations of the axes, each inside the measured hull.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::axis::Axis;
use super::check::Check;
use super::file::{ClusterTable, Outside, ScenarioFile};
use super::machines::{Machine, table_of};
use crate::checked::Count;
use crate::cluster::Setup;
use crate::configuration::Configuration;
use crate::input::Diagnostic;
use crate::shape::Shape;
use crate::workload::{Reach, Workload};

/// What configurations are made of besides the axes.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) machines: &'a [Machine],
    pub(super) setup: &'a Setup,
    pub(super) reach: &'a Reach,
    pub(super) max_workers: Option<&'a Spanned<Count>>,
}

impl Check<'_> {
    /// The configurations of one workload, each inside its measured hull.
    pub(super) fn configurations(
        &mut self,
        file: &ScenarioFile,
        workload: &Workload,
        name: &Spanned<String>,
        wanted: Wanted<'_>,
    ) -> Option<Vec<Configuration>> {
        let Wanted {
            machines,
            setup,
            reach,
            max_workers,
        } = wanted;
        let before = self.diagnostics.len();
        let vms = self.shapes(&file.cluster, workload, machines, setup);
        let all_known = self.diagnostics.len() == before;
        let mut configurations: Vec<Configuration> = (vms.iter())
            .flat_map(|vm| {
                let fixed = setup.kinds.get(vm).and_then(|k| k.fixed_workers());
                combinations(&file.cluster, workload, reach, vm, fixed)
            })
            .collect();
        let by_name: HashMap<&str, &Machine> =
            machines.iter().map(|m| (&*m.stand_in.vm, m)).collect();
        let excluded = |c: &Configuration| {
            let mut exclusions = file.cluster.exclude.iter();
            exclusions.any(|e| !e.get_ref().is_empty() && e.get_ref().matches(c))
        };
        let limits = [
            ("exclude", file.cluster.exclude.last().map(Spanned::span)),
            ("max_workers", max_workers.map(Spanned::span)),
        ];
        for (key, span) in limits {
            let Some(span) = span else { continue };
            let before = configurations.len();
            configurations.retain(|c| match key {
                "exclude" => !excluded(c),
                _ => max_workers.is_none_or(|most| c.workers <= most.get_ref().get()),
            });
            if configurations.is_empty() && before > 0 {
                self.diagnostics.error_at(
                    self.source,
                    span,
                    format!("`{key}` leaves no configuration of `{}`", workload.name),
                    "rules out all of them",
                );
                return None;
            }
        }
        if !machines.is_empty() {
            let before = configurations.len();
            configurations.retain(|c| {
                let machine = Shape::parse(&c.vm)
                    .ok()
                    .and_then(|shape| by_name.get(shape.vm_type));
                machine.is_none_or(|m| {
                    table_of(file, m).is_none_or(|table| self.fits(workload, m, table, c))
                })
            });
            if configurations.is_empty() && before > 0 {
                self.diagnostics.error_at(
                    self.source,
                    name.span(),
                    format!(
                        "the memory of the VMs leaves no configuration of `{}`",
                        workload.name
                    ),
                    "does not fit anywhere",
                );
                return None;
            }
        }
        if file.cluster.measured_only() {
            // Steps may be measured where noise or epochs are not.
            let answers = |c: &Configuration| workload.replay(c, reach).is_ok();
            if configurations.iter().any(answers) {
                configurations.retain(answers);
            }
        }
        if file.cluster.outside == Outside::LeaveOut {
            let before = configurations.len();
            configurations.retain(|c| workload.replay(c, reach).is_ok());
            if configurations.is_empty() && before > 0 {
                self.diagnostics.error_at(
                    self.source,
                    name.span(),
                    format!(
                        "all configurations of `{}` are outside what was measured",
                        workload.name
                    ),
                    "nothing is left",
                );
                return None;
            }
            return all_known.then_some(configurations);
        }
        let inside = self.inside_hull(file, workload, name, reach, &configurations);
        (inside && all_known).then_some(configurations)
    }

    /// The VM shapes to use, each measured or standing in for one that was.
    fn shapes(
        &mut self,
        cluster: &ClusterTable,
        workload: &Workload,
        machines: &[Machine],
        setup: &Setup,
    ) -> Vec<Arc<str>> {
        let measured: BTreeSet<&str> = workload.steps.shapes().map(|s| &**s).collect();
        let even = |shape: &&&str| Shape::parse(shape).is_ok_and(|s| s.is_even());
        if cluster.vm.is_empty() && !setup.kinds.is_empty() {
            return setup.kinds.keys().cloned().collect();
        }
        if cluster.vm.is_empty() {
            // Placements that cannot be rented again by number are there when they are asked for.
            let usual: Vec<&str> = match measured.iter().any(|s| even(&s)) {
                true => measured.iter().filter(even).copied().collect(),
                false => measured.iter().copied().collect(),
            };
            let own = usual.iter().map(|vm| Arc::from(*vm));
            let alike = machines.iter().flat_map(|machine| {
                let like = &*machine.stand_in.like;
                (usual.iter())
                    .filter_map(|s| Shape::parse(s).ok())
                    .filter(move |s| s.vm_type == like)
                    .map(|s| Arc::from(s.on(&machine.stand_in.vm)))
            });
            return own.chain(alike).collect();
        }
        let mut vms = Vec::new();
        for vm in &cluster.vm {
            let word = vm.get_ref().as_str();
            if measured.contains(word) || setup.kinds.contains_key(word) {
                vms.push(Arc::from(word));
                continue;
            }
            // The name of a table stands for all types that it makes.
            let shape = Shape::parse(word).ok();
            let named: Vec<&Machine> = (machines.iter())
                .filter(|m| {
                    shape.is_some_and(|s| m.table == s.vm_type || &*m.stand_in.vm == s.vm_type)
                })
                .filter(|m| shape.is_some_and(|s| measured.contains(&*s.on(&m.stand_in.like))))
                .collect();
            if let (Some(shape), false) = (shape, named.is_empty()) {
                vms.extend(named.iter().map(|m| Arc::from(shape.on(&m.stand_in.vm))));
                continue;
            }
            let tables: BTreeSet<&str> = machines.iter().map(|m| &*m.table).collect();
            let legal: Vec<&str> = (measured.iter().copied())
                .filter(|s| even(&s))
                .chain(tables)
                .chain(setup.kinds.keys().map(|name| &**name))
                .collect();
            self.unknown(
                format!("`{}` was not measured on `{word}`", workload.name),
                vm.span(),
                word,
                &legal,
                "list vms",
            );
        }
        vms
    }

    /// What is wrong with the axes by themselves, whatever the workload.
    pub(super) fn axes(&mut self, cluster: &ClusterTable) {
        self.no_duplicates("vm", &cluster.vm);
        let axes = [
            ("workers", &cluster.workers),
            ("batch", &cluster.batch),
            ("local_batch", &cluster.local_batch),
        ];
        if let (Some(local), Some(_)) = (&cluster.local_batch, &cluster.batch) {
            self.diagnostics.error_at(
                self.source,
                local.span(),
                "`batch` and `local_batch` exclude each other",
                "the global batch follows from the workers",
            );
        }
        for (name, axis) in axes {
            let Some(axis) = axis else { continue };
            if let Axis::List(values) = axis.get_ref() {
                let numbers: Vec<Spanned<u32>> = (values.iter())
                    .map(|v| Spanned::new(v.span(), v.get_ref().get()))
                    .collect();
                self.no_duplicates(name, &numbers);
            }
            if cluster.pairs.is_some() {
                self.diagnostics.error_at(
                    self.source,
                    axis.span(),
                    format!("`{name}` and `pairs` exclude each other"),
                    "`pairs` gives workers and batch already",
                );
            }
        }
        if let Some(pairs) = &cluster.pairs {
            self.not_empty("pairs", pairs, &["[8, 384]"]);
            self.no_duplicates("pairs", pairs.get_ref());
        }
        for exclusion in cluster.exclude.iter().filter(|e| e.get_ref().is_empty()) {
            self.diagnostics.push(
                Diagnostic::at(
                    self.source,
                    exclusion.span(),
                    "an entry of `exclude` has no condition",
                    "would leave out everything",
                )
                .with_help("legal here: `vm`, `workers`, `batch`, `local_batch`"),
            );
        }
    }

    /// Reports configurations that no measurements surround: axis values beyond all that was
    /// measured, and one message for all other configurations.
    fn inside_hull(
        &mut self,
        file: &ScenarioFile,
        workload: &Workload,
        name: &Spanned<String>,
        reach: &Reach,
        configurations: &[Configuration],
    ) -> bool {
        let mut refused: Vec<_> = configurations
            .iter()
            .filter_map(|c| workload.replay(c, reach).err())
            .collect();
        let sound = refused.is_empty();
        if let Some(pairs) = &file.cluster.pairs {
            for outside in refused {
                let at = &outside.configuration;
                let is_it = |p: &&Spanned<[Count; 2]>| {
                    p.get_ref().map(Count::get) == [at.workers, at.batch]
                };
                let span = pairs.get_ref().iter().find(is_it).map(Spanned::span);
                self.diagnostics.error_at(
                    self.source,
                    span.unwrap_or(pairs.span()),
                    outside.to_string(),
                    "outside what was measured",
                );
            }
            return sound;
        }
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
                .with_help(format!(
                    "{first}; `cluster.outside = \"leave-out\"` leaves such configurations out"
                )),
            );
        }
        sound
    }
}

/// The configurations of one VM shape that the file asks for, in the order of workers and batch.
fn combinations(
    cluster: &ClusterTable,
    workload: &Workload,
    reach: &Reach,
    vm: &Arc<str>,
    fixed_workers: Option<u32>,
) -> Vec<Configuration> {
    let shape = Shape::parse(vm).ok();
    let like = shape.and_then(|s| Some(s.on(&reach.stand_in(s.vm_type)?.like)));
    let points = workload.steps.points_of(like.as_deref().unwrap_or(vm));
    let measured = || points.iter().map(|p| &p.0);
    let at = |workers: u32, batch: u32| Configuration {
        vm: Arc::clone(vm),
        workers,
        batch,
    };
    if let Some(pairs) = &cluster.pairs {
        let pair = |p: &Spanned<[Count; 2]>| at(p.get_ref()[0].get(), p.get_ref()[1].get());
        return pairs.get_ref().iter().map(pair).collect();
    }
    let axis = |a: &Option<Spanned<Axis>>| a.as_ref().and_then(|a| a.get_ref().values());
    let (mut workers, batches) = (axis(&cluster.workers), axis(&cluster.batch));
    if let Some(fixed) = fixed_workers {
        workers = Some(vec![fixed]);
    }
    if workers.is_none() && batches.is_none() && cluster.local_batch.is_none() {
        // Just what was measured, which need not be all combinations.
        return measured().map(|c| at(c.workers, c.batch)).collect();
    }
    let values = |asked: Option<Vec<u32>>, of: fn(&Configuration) -> u32| -> BTreeSet<u32> {
        match asked {
            Some(list) => list.into_iter().collect(),
            None => measured().map(of).collect(),
        }
    };
    let workers: BTreeSet<u32> = (values(workers, |c| c.workers).into_iter())
        .filter(|&k| shape.is_none_or(|s| s.vms(k).is_some()))
        .collect();
    if cluster.local_batch.is_some() {
        let locals = values(axis(&cluster.local_batch), |c| c.batch / c.workers);
        return (workers.iter())
            .flat_map(|&k| locals.iter().map(move |&b| (k, k.saturating_mul(b))))
            .map(|(k, b)| at(k, b))
            .collect();
    }
    let batches = values(batches, |c| c.batch);
    (workers.iter())
        .flat_map(|&k| batches.iter().map(move |&b| (k, b)))
        .map(|(k, b)| at(k, b))
        .collect()
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

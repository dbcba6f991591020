//! The configurations to choose from: all combinations of the axes inside the measured hull.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::axes;
use super::complaints::Complaints;
use super::extent;
use super::file::{OutsideHullRule, ScenarioFile};
use super::hull;
use super::machines::{self, MachinesByName};
use scavsim_clusters::LeftOut;
use scavsim_clusters::machine::Machine;
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{Reach, Workload};
use scavsim_read::input::Spanned;
use scavsim_sim::cluster::Setup;

#[derive(Clone, Copy)]
pub(super) struct Configurations<'a> {
    pub(super) file: &'a ScenarioFile,
    pub(super) machines: &'a [Machine],
    pub(super) setup: &'a Setup,
    pub(super) reach: &'a Reach,
}

impl Configurations<'_> {
    pub(super) fn for_workload(
        &self,
        workload: &Workload,
        name: &Spanned<String>,
        complaints: &mut Complaints<'_>,
    ) -> Option<(Vec<Configuration>, LeftOut)> {
        let cluster = &self.file.cluster;
        let before = complaints.count();
        let mut left_out = LeftOut::new(workload, cluster.measured_only());
        let shapes = self.shapes(workload, complaints);
        let all_known = complaints.count() == before;
        if cluster.vm.is_empty() && self.setup.kinds.is_empty() {
            let used: Vec<&str> = shapes.iter().map(|s| &**s).collect();
            left_out.uneven(workload, &used);
        }
        self.few_enough(workload, name, &shapes, complaints)?;
        let mut configurations: Vec<Configuration> = (shapes.iter())
            .flat_map(|vm| {
                let fixed = self.setup.kinds.get(vm).and_then(|k| k.fixed_workers());
                axes::combinations(cluster, workload, self.reach, vm, fixed)
            })
            .collect();
        self.pairs_fit(&configurations, complaints);
        if configurations.is_empty() {
            if all_known {
                self.report_none(workload, name, complaints);
            }
            return None;
        }
        self.keep_allowed(workload, &mut configurations, complaints)?;
        let all = configurations.len();
        self.keep_fitting(workload, name, &mut configurations, complaints)?;
        left_out.too_large(all - configurations.len());
        extent::workers(cluster.search, workload, name, &configurations, complaints)?;
        // Steps may be measured where epochs are not.
        let mut all_answer = false;
        if cluster.measured_only() {
            let answers = self.answers(workload, &configurations);
            if answers.contains(&true) {
                let out = left_by(&mut configurations, &answers);
                left_out.unknown(workload, self.reach, &out);
                all_answer = true;
            }
        }
        if cluster.outside == OutsideHullRule::LeaveOut {
            let before = configurations.len();
            if !all_answer {
                let answers = self.answers(workload, &configurations);
                let out = left_by(&mut configurations, &answers);
                left_out.unknown(workload, self.reach, &out);
            }
            if configurations.is_empty() && before > 0 {
                let title = format!(
                    "all configurations of `{}` are outside what was measured",
                    workload.name
                );
                complaints.error_at(name.span(), title, "nothing is left");
                return None;
            }
            let left_out = left_out.searched(workload, self.reach, &configurations);
            return all_known.then_some((configurations, left_out));
        }
        let inside = all_answer
            || hull::check(
                cluster,
                workload,
                name,
                self.reach,
                &configurations,
                complaints,
            );
        let left_out = left_out.searched(workload, self.reach, &configurations);
        (inside && all_known).then_some((configurations, left_out))
    }

    fn answers(&self, workload: &Workload, configurations: &[Configuration]) -> Vec<bool> {
        let ask = |c: &Configuration| workload.answers(c, self.reach);
        if self.reach.extrapolate {
            // A law may give no time with the scales of one type, and one with the scales of another.
            return configurations.iter().map(ask).collect();
        }
        // The law answers for all substitutes of a type, if it does for one.
        let mut known: HashMap<(String, Vec<[u32; 2]>), Vec<bool>> = HashMap::new();
        let mut answers = Vec::with_capacity(configurations.len());
        for same in configurations.chunk_by(|a, b| a.vm == b.vm) {
            let like = self.reach.measured(&same[0]).0.vm.to_string();
            let pairs = same.iter().map(|c| [c.workers, c.batch]).collect();
            let own = known.entry((like, pairs));
            answers.extend_from_slice(own.or_insert_with(|| same.iter().map(ask).collect()));
        }
        answers
    }

    /// Reports too many configurations before any is made.
    fn few_enough(
        &self,
        workload: &Workload,
        name: &Spanned<String>,
        shapes: &[Arc<str>],
        complaints: &mut Complaints<'_>,
    ) -> Option<()> {
        let cluster = &self.file.cluster;
        let count = shapes.iter().fold(0usize, |count, vm| {
            let fixed = self.setup.kinds.get(vm).and_then(|k| k.fixed_workers());
            count.saturating_add(axes::at_most(cluster, workload, self.reach, vm, fixed))
        });
        extent::configurations(cluster.search, count, workload, name, complaints)
    }

    fn pairs_fit(&self, configurations: &[Configuration], complaints: &mut Complaints<'_>) {
        let Some(pairs) = &self.file.cluster.pairs else {
            return;
        };
        let made: HashSet<u32> = configurations.iter().map(|c| c.workers).collect();
        for pair in pairs.get_ref() {
            let workers = pair.get_ref()[0].get();
            if !made.contains(&workers) && !complaints.is_reported(&pair.span()) {
                let title = format!("no cluster here has {workers} workers");
                complaints.error_at(pair.span(), title, "that of a `mix` is fixed");
            }
        }
    }

    /// Reports that the axes make no configuration, unless the reason was reported.
    fn report_none(
        &self,
        workload: &Workload,
        name: &Spanned<String>,
        complaints: &mut Complaints<'_>,
    ) {
        let cluster = &self.file.cluster;
        let axes = [&cluster.workers, &cluster.batch, &cluster.local_batch];
        let places = (axes.into_iter().flatten().map(Spanned::span))
            .chain(cluster.pairs.as_ref().map(Spanned::span));
        for place in places {
            if complaints.is_reported(&place) {
                return;
            }
        }
        let title = format!("there is no configuration of `{}`", workload.name);
        let complaint = (complaints.mistake_at(name.span(), title, "nothing to choose from"))
            .with_help(
                "every worker count must fill whole VMs of a type that is named in `cluster.vm`",
            );
        complaints.push(complaint);
    }

    /// Leaves out configurations that `exclude` and `max_workers` forbid; `None` if none is left.
    fn keep_allowed(
        &self,
        workload: &Workload,
        configurations: &mut Vec<Configuration>,
        complaints: &mut Complaints<'_>,
    ) -> Option<()> {
        let exclude = &self.file.cluster.exclude;
        let max_workers = self.file.limits.max_workers.as_ref();
        let excluded = |c: &Configuration| {
            let mut exclusions = exclude.iter().take(axes::MOST_EXCLUSIONS);
            exclusions.any(|e| !e.get_ref().is_empty() && e.get_ref().matches(c))
        };
        let limits = [
            ("exclude", exclude.last().map(Spanned::span)),
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
                let title = format!("`{key}` leaves no configuration of `{}`", workload.name);
                complaints.error_at(span, title, "rules out all of them");
                return None;
            }
        }
        Some(())
    }

    /// Leaves out configurations that do not fit into memory; `None` if none is left.
    fn keep_fitting(
        &self,
        workload: &Workload,
        name: &Spanned<String>,
        configurations: &mut Vec<Configuration>,
        complaints: &mut Complaints<'_>,
    ) -> Option<()> {
        if self.machines.is_empty() {
            return Some(());
        }
        let by_name: HashMap<&str, &Machine> =
            (self.machines.iter().map(|m| (&*m.stand_in.vm, m))).collect();
        let tables = machines::tables(self.file);
        let before = configurations.len();
        let found = |vm: &str| {
            let machine = *by_name.get(Shape::parse(vm).ok()?.vm_type)?;
            Some((machine, *tables.get(&*machine.table)?))
        };
        // Neighbours mostly share a shape.
        let mut last = None;
        configurations.retain(|c| {
            let own = match &last {
                Some((vm, own)) if *vm == c.vm => *own,
                _ => last.insert((Arc::clone(&c.vm), found(&c.vm))).1,
            };
            own.is_none_or(|(machine, table)| {
                machines::fits(machine, workload, table, c, complaints)
            })
        });
        if configurations.is_empty() && before > 0 {
            let title = format!(
                "the memory of the VMs leaves no configuration of `{}`",
                workload.name
            );
            complaints.error_at(name.span(), title, "does not fit anywhere");
            return None;
        }
        Some(())
    }

    /// The VM shapes to use, each measured or a scaled substitute.
    fn shapes(&self, workload: &Workload, complaints: &mut Complaints<'_>) -> Vec<Arc<str>> {
        let (cluster, machines, setup) = (&self.file.cluster, self.machines, self.setup);
        let measured: BTreeSet<&str> = workload.steps.shapes().map(|s| &**s).collect();
        let even = |shape: &&&str| Shape::parse(shape).is_ok_and(|s| s.is_even());
        if cluster.vm.is_empty() && !setup.kinds.is_empty() {
            // In the order of the file: tables compare the others with the first.
            let mut names: Vec<_> = self.file.kind.keys().collect();
            names.sort_by_key(|name| name.span().start);
            let kinds = names.into_iter().map(|name| name.get_ref().as_str());
            let known = kinds.filter_map(|name| setup.kinds.get_key_value(name));
            return known.map(|(name, _)| Arc::clone(name)).collect();
        }
        if cluster.vm.is_empty() {
            return self.usual_shapes(&measured);
        }
        let named = MachinesByName::new(machines);
        let mut vms = Vec::new();
        for vm in &cluster.vm {
            let word = vm.get_ref().as_str();
            if measured.contains(word) || setup.kinds.contains_key(word) {
                vms.push(Arc::from(word));
                continue;
            }
            // The name of a table means all types that it makes.
            let shape = Shape::parse(word).ok();
            let named: Vec<&Machine> =
                (named.machines_named(shape.map_or("", |s| s.vm_type)).iter())
                    .filter(|m| shape.is_some_and(|s| measured.contains(&*s.on(&m.stand_in.like))))
                    .copied()
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
            let title = format!("`{}` was not measured on `{word}`", workload.name);
            complaints.unknown(title, vm, &legal, "list vms");
        }
        vms
    }

    fn usual_shapes(&self, measured: &BTreeSet<&str>) -> Vec<Arc<str>> {
        let even = |shape: &&&str| Shape::parse(shape).is_ok_and(|s| s.is_even());
        // Uneven placements cannot be rented by number, so they are included only on request.
        let usual: Vec<&str> = if measured.iter().any(|s| even(&s)) {
            measured.iter().filter(even).copied().collect()
        } else {
            measured.iter().copied().collect()
        };
        let own = usual.iter().map(|vm| Arc::from(*vm));
        let alike = self.machines.iter().flat_map(|machine| {
            let like = &*machine.stand_in.like;
            (usual.iter())
                .filter_map(|s| Shape::parse(s).ok())
                .filter(move |s| s.vm_type == like)
                .map(|s| Arc::from(s.on(&machine.stand_in.vm)))
        });
        own.chain(alike).collect()
    }
}

fn left_by(configurations: &mut Vec<Configuration>, answers: &[bool]) -> Vec<Configuration> {
    let mut answers = answers.iter();
    let out = configurations.extract_if(.., |_| answers.next() == Some(&false));
    out.collect()
}

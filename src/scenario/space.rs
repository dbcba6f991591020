//! The configurations to choose from: all combinations of the axes, each inside the measured hull.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::axis::Axis;
use super::check::Check;
use super::file::ScenarioFile;
use crate::checked::Count;
use crate::configuration::Configuration;
use crate::input::Diagnostic;
use crate::workload::Workload;

impl Check<'_> {
    /// The configurations of one workload, each inside its measured hull.
    pub(super) fn configurations(
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

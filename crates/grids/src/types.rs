use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::check::Check;
use super::scope::listed;
use super::written_grid::WrittenGrid;
use super::{Job, StatedType};
use scavsim_data::cloud::Fleet;
use scavsim_data::configuration::vm_type;
use scavsim_data::space;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, Spanned, did_you_mean};

/// Most that a VM has of anything.
const MOST: f64 = 1e6;

pub(super) fn stated(
    check: &mut Check<'_>,
    written: &WrittenGrid,
) -> Vec<(StatedType, Range<usize>)> {
    let mut all = Vec::new();
    let has_vms = (written.axis.keys()).any(|name| name.get_ref() == space::VM);
    for (name, of) in &written.vm {
        let word = name.get_ref();
        if !has_vms {
            let title = format!("`vm.{word}` without an axis `vm`");
            let help = "`[axis.vm]` says of which type the VMs are";
            check.wrong(name.span(), title, "of which runs?", help);
        }
        for (key, value) in [("vcpu", &of.vcpu), ("memory_gib", &of.memory_gib)] {
            let Some(value) = value else { continue };
            let is_possible = *value.get_ref() > 0.0 && *value.get_ref() <= MOST;
            if !is_possible {
                let title = format!("no VM has a `{key}` of {}", value.get_ref());
                let help = format!("a number above 0 and at most {MOST}");
                check.wrong(value.span(), title, "not possible", &help);
            }
        }
        let number = |value: &Option<Spanned<f64>>| value.as_ref().map(|v| *v.get_ref());
        let stated = StatedType {
            vm: word.as_str().into(),
            vcpu: number(&of.vcpu),
            memory_gib: number(&of.memory_gib),
            gpus: of.gpus,
        };
        if let Some(help) = not_whole(&stated) {
            let title = format!("what a VM of the type `{word}` has is not known");
            check.wrong(name.span(), title, "not in the catalogue", help);
        }
        all.push((stated, name.span()));
    }
    all
}

/// What is missing of a type, in words, where neither what is said nor the catalogue says it all.
pub fn not_whole(stated: &StatedType) -> Option<&'static str> {
    let fleet = Fleet::new([(&*stated.vm, stated.own())]);
    let is_whole = fleet.machine(&stated.vm).is_some();
    (!is_whole).then_some("both `vcpu` and `memory_gib` are needed; `gpus` where it has some")
}

/// The VM types that jobs were run on.
pub fn run_on<'j>(jobs: impl IntoIterator<Item = &'j Job>) -> BTreeSet<&'j str> {
    let spaces = jobs.into_iter().map(|job| &job.space);
    let vms = spaces.flat_map(|space| (0..space.len()).filter_map(|at| space.vm(at)));
    vms.map(|vm| vm_type(vm)).collect()
}

/// What is said of types that runs were on; others are mistakes.
pub(super) fn known(
    types: &[(StatedType, Range<usize>)],
    source: &Arc<Source>,
    jobs: &[Job],
    diagnostics: &mut Diagnostics,
) -> Vec<StatedType> {
    if types.is_empty() {
        return Vec::new();
    }
    let all = run_on(jobs);
    for (stated, span) in types {
        if all.contains(&*stated.vm) {
            continue;
        }
        let label = did_you_mean(&stated.vm, all.iter().copied(), "no run was on it");
        let title = format!("no VM type `{}` in these rows", stated.vm);
        let told = Diagnostic::at_span(source, span.clone(), title, label);
        let help = format!("their types: {}", listed(all.iter().copied()));
        diagnostics.push(told.with_help(help));
    }
    types.iter().map(|(stated, _)| stated.clone()).collect()
}

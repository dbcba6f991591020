//! A model that is partitioned over GPUs: resolves `[parallel]` to plans, and the terms of their job.

mod degrees;
mod forms;
mod layers;
mod living;
mod named;
mod nodes;
mod training;

use std::sync::Arc;

use layers::PlanSubject;

use super::ReadSubject;
use super::form::{Form, Reading};
use crate::axis::Axis;
use crate::complaints::Complaints;
use crate::file::ScenarioFile;
use crate::files::Files;
use crate::parallel_table::ParallelTable;
use crate::prices::Rentals;
use crate::{measured_defaults, setup};
use scavsim_base::units::SimTime;
use scavsim_engine::Parallelism;
use scavsim_experiment::subject::Setting;
use scavsim_parallel::library;
use scavsim_parallel::runtime::PredictionUncertainty;
use scavsim_plans::Parts;
use scavsim_plans::subject::ModelPlans;
use scavsim_plans::{Axes, Choices, Draft, PreparedForm, Target, Terms};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Delay, MOST_SAMPLES, Machines, Positive};
use scavsim_sim::cluster::{Checkpoints, Losses, Pause, Setup};
use scavsim_sim::training::Variation;

pub(super) const FORM: Form = Form {
    key: "parallel",
    implied_by: &[],
    is_searched: true,
    reads: &[
        "parallel",
        "failures",
        "fidelity",
        "cluster.vm",
        "cluster.start_up_s",
        "spot.lifetime",
        "spot.exponential_mean_h",
        "spot.replacement_s",
        "spot.start_up",
        "spot.start_up_s",
        "spot.warm_restart_s",
        "spot.restart",
        "spot.keeps",
        "spot.checkpoint",
        "spot.checkpoint_write_s",
        "spot.checkpoint_mb",
        "variation.step_cv",
        "variation.placement_sigma",
        "variation.vm_sigma",
        "variation.epoch_cv",
        "variation.drift",
        "variation.straggler",
    ],
    why: "plans have their own degrees",
    why_spot: "a plan waits for another VM, and goes back to its checkpoint",
    several: &[
        "parallel.checkpoint_gb_per_s",
        "parallel.reaction.policy",
        "parallel.reaction.forecast",
        "parallel.reaction.aim",
        "parallel.reaction.spares",
        "parallel.reaction.saves",
        "failures.fleet",
        "failures.scale",
        "failures.detection_s",
        "failures.by_hand_share",
        "failures.by_hand_mean_s",
        "failures.replacement_s",
        "failures.restart_s",
        "failures.checkpoint.periodic-s",
    ],
    policies: Vec::new,
};

/// Reads the plans, and how VMs are rented and lost in the first setting.
pub(super) fn read(
    reading: &Reading<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<(ModelPlans, Setup)> {
    let Reading { file, files, .. } = reading;
    let setup = setup::read(file, &[], &[], complaints);
    let plans = ModelPlans {
        choices: Arc::new(choices(file, files, &setup, complaints)?),
        terms: Vec::new(),
    };
    Some((plans, setup))
}

impl ReadSubject for ModelPlans {
    fn rentals<'s>(&'s self, setup: &'s Setup) -> Rentals<'s> {
        Rentals::of_types(&self.choices.types, setup.spot.is_some())
    }

    fn add_setting(
        &mut self,
        file: &ScenarioFile,
        setting: &Setting,
        complaints: &mut Complaints<'_>,
    ) {
        let Setting {
            setup, variation, ..
        } = setting;
        self.terms.extend(terms(file, setup, variation, complaints));
    }
}

const MOST_PLANS: usize = 200_000;
const MOST_GPUS: u32 = 64;
const MOST_GPUS_OF_ALL: u32 = 131_072;

/// The terms; `None` without a parallel job.
fn terms(
    file: &ScenarioFile,
    setup: &Setup,
    variation: &Variation,
    complaints: &mut Complaints<'_>,
) -> Option<Arc<Terms>> {
    let table = file.parallel.as_ref()?.get_ref();
    let is_capacity = (table.capacity.as_ref()).is_some_and(|given| *given.get_ref());
    if let (true, Some(given)) = (is_capacity, &table.capacity) {
        let losses = setup.spot.as_ref().map(|spot| &spot.losses);
        // Mistakes of `[spot]` were reported.
        let is_wrong = losses.is_none() && file.spot.is_some();
        if !is_wrong && !matches!(losses, Some(Losses::Trace(_))) {
            let title = "`parallel.capacity` needs a trace of how many GPUs there are";
            let complaint = complaints.mistake_at(given.span(), title, "there is none");
            complaints.push(complaint.with_help(
                "name a model of the kind `trace` as `spot.lifetime`; see `scavsim list lifetimes`",
            ));
        }
    }
    if let Some(spot) = &setup.spot
        && spot.recovery.checkpoints == Checkpoints::Dynamic
    {
        let title = "`spot.checkpoint = \"dynamic\"` and `parallel` exclude each other";
        complaints.push(complaints.of_file(title));
    }
    let start_up = SimTime::from_seconds(file.cluster.start_up_s.map_or(0.0, Delay::get));
    Some(Arc::new(Terms {
        start_up: Pause::Fixed(start_up),
        spot: setup.spot.clone(),
        is_capacity,
        variation: variation.clone(),
        checkpoint_gb_per_s: table.checkpoint_gb_per_s.map(Positive::get),
        write_by_part: measured_defaults::line_by_part(file),
        reacting: living::reacting(file, table, setup, complaints),
        failures: living::failures(file, complaints),
    }))
}

/// All plans that fit; `None` without `[parallel]` or with mistakes.
fn choices(
    file: &ScenarioFile,
    files: &Files,
    setup: &Setup,
    complaints: &mut Complaints<'_>,
) -> Option<Choices> {
    let place = file.parallel.as_ref()?;
    let before = complaints.count();
    let table = place.get_ref();
    missing(place, complaints);
    let runtime = named::runtime(table, files, complaints);
    let subject = layers::subject(table, files, runtime.as_ref(), complaints)?;
    let name = complaints.own_name(&table.name, &subject.name());
    let (schedules, virtual_stages) = forms::schedules(table, runtime.as_ref(), complaints);
    let batches = batches(table, complaints);
    let target = target(table, subject.sequence(), &batches, complaints);
    let found = nodes::read(file, table, &subject, complaints);
    let cuts = cuts(table, &subject, complaints);
    let mut runtime = runtime?;
    subject.train(&mut runtime);
    let forms = forms::read(table, &subject, &runtime, complaints);
    let doubt = PredictionUncertainty {
        errors: runtime.errors.clone(),
        precision: subject.precision(&runtime).to_owned(),
        gpus: found.sheets.clone(),
        has_experts: subject.has_experts(),
    };
    let flops = subject.flops(&found);
    let layers = subject.layers_on(table, files, (&runtime, &forms), &found, complaints);
    let axes = Axes {
        kinds: found.kinds,
        offers: found.offers,
        data: complaints.numbers("parallel.data", &table.data),
        pipeline: complaints.numbers("parallel.pipeline", &table.pipeline),
        tensor: profiled("parallel.tensor", &table.tensor, complaints),
        micro_batch: profiled("parallel.micro_batch", &table.micro_batch, complaints),
        batches,
        schedules,
        virtual_stages,
        nodes: complaints.numbers("parallel.vms", &table.vms),
        most_gpus: table.most_gpus.map_or(MOST_GPUS, Machines::get),
        cuts,
    };
    check_most_gpus(place, axes.most_gpus, complaints);
    let layers = layers?;
    let mut forms = layers.forms;
    if let Some(asked) = &axes.micro_batch {
        for formed in &mut forms {
            Arc::make_mut(&mut formed.profile).interpolate(asked);
        }
    }
    if let Some(first) = forms.first() {
        degrees::profiled(table, &axes, &first.profile, complaints);
    }
    if complaints.count() > before {
        return None;
    }
    let drafts = drafts(place, &axes, &forms, gpus_of(table, setup), complaints)?;
    let parts = Parts {
        name,
        target: target?,
        axes,
        zones: found.zones,
        hashes: layers.hashes,
        forms,
        links: Arc::new(layers.links),
        doubt,
        flops,
    };
    match Choices::from_drafts(parts, &drafts, Parallelism::of_current_thread()) {
        Ok(choices) => Some(choices),
        Err(holes) => {
            let title = format!("none of {} legal plans fits", holes.count());
            let label = holes.commonest().unwrap_or("not one fits").to_owned();
            let complaint = complaints.mistake_at(place.span(), title, label);
            complaints.push(
                complaint
                    .with_help("give more GPUs, GPUs with more memory, or smaller micro-batches"),
            );
            None
        }
    }
}

fn check_most_gpus(
    place: &Spanned<ParallelTable>,
    most_gpus: u32,
    complaints: &mut Complaints<'_>,
) {
    if most_gpus > MOST_GPUS_OF_ALL {
        let title = format!("`parallel.most_gpus` is above {MOST_GPUS_OF_ALL}");
        let label = format!("expected at most {MOST_GPUS_OF_ALL}, found {most_gpus}");
        complaints.error_at(place.span(), title, label);
    }
}

/// Valid plans of these axes, with a limit of GPUs on spot terms; `None` if there are too many, or none.
fn drafts(
    place: &Spanned<ParallelTable>,
    axes: &Axes,
    forms: &[PreparedForm],
    most_on_spot: u32,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Draft>> {
    let is_there = |draft: &Draft| {
        let offer = &axes.offers[draft.offer as usize];
        offer.on_spot != Some(true) || draft.gpus() <= most_on_spot
    };
    let drafts = axes.drafts(forms).filter(is_there);
    let drafts: Vec<Draft> = drafts.take(MOST_PLANS + 1).collect();
    let (title, label, help) = match drafts.len() {
        0 => (
            "`parallel` makes no legal plan".to_owned(),
            "no combination of these degrees",
            "tensor degrees are those profiled that divide the GPUs of a VM; data × pipeline × tensor GPUs fill whole VMs, \
             `most_gpus` of them at most, or as many as the trace of `capacity` ever has; data × micro_batch divides the global batch; \
             with virtual stages there are two stages or more, a layer for each, and a multiple of them in micro-batches",
        ),
        1..=MOST_PLANS => return Some(drafts),
        _ => (
            format!("`parallel` makes more than {MOST_PLANS} plans"),
            "too many",
            "give fewer degrees, VM types or GPUs: `most_gpus`, `tensor`, `micro_batch`",
        ),
    };
    complaints.refuse(place.span(), title, label, help);
    None
}

/// Numbers of a key; `None` for profiled ones.
fn profiled(
    key: &str,
    axis: &Option<Spanned<Axis>>,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<u32>> {
    axis.as_ref()?.get_ref().values()?;
    complaints.numbers(key, axis)
}

/// Maximum number of GPUs at any time on spot terms.
fn gpus_of(table: &ParallelTable, setup: &Setup) -> u32 {
    let is_capacity = (table.capacity.as_ref()).is_some_and(|given| *given.get_ref());
    match setup.spot.as_ref().map(|spot| &spot.losses) {
        Some(Losses::Trace(trace)) if is_capacity => {
            let changes = trace.changes().iter();
            let held =
                changes.map(|change| (change.held + change.added).saturating_sub(change.removed));
            held.max().unwrap_or(0)
        }
        _ => u32::MAX,
    }
}

fn missing(place: &Spanned<ParallelTable>, complaints: &mut Complaints<'_>) {
    let own = place.get_ref();
    let no_target = own.target_tokens.is_none() && own.target_steps.is_none();
    let keys = [
        (
            "profile",
            own.profile.is_none() && own.model.is_none(),
            &*format!(
                "name a layer profile: {}; or a `model`: see `scavsim list models`",
                library::names().join(", ")
            ),
        ),
        (
            "global_batch",
            own.global_batch.is_none(),
            "say how many sequences a step has: [1024]",
        ),
        (
            "target_tokens",
            no_target,
            "say how far it trains: target_tokens = 1e10, or target_steps = 10000",
        ),
        (
            "nodes",
            own.nodes.is_none(),
            "say which VMs there are: [{ vm = \"a2-highgpu-4g\", gpu = \"A100-40\", gpu_memory_gib = 40 }]",
        ),
    ];
    complaints.missing(place, "parallel", "no plans without it", &keys);
}

fn batches(table: &ParallelTable, complaints: &mut Complaints<'_>) -> Vec<u32> {
    let all = complaints
        .numbers("parallel.global_batch", &table.global_batch)
        .unwrap_or_default();
    if let (Some(place), Some(most)) = (&table.global_batch, all.iter().max())
        && *most > MOST_SAMPLES
    {
        let title = format!("`parallel.global_batch` is above {MOST_SAMPLES}");
        complaints.error_at(place.span(), title, "too many sequences");
    }
    all
}

fn target(
    table: &ParallelTable,
    sequence: u32,
    batches: &[u32],
    complaints: &mut Complaints<'_>,
) -> Option<Target> {
    let noise_scale = table.noise_scale.map(Positive::get);
    match (&table.target_tokens, &table.target_steps) {
        (Some(_), Some(steps)) => {
            let why = "both say how far it trains";
            complaints.exclude_each_other("target_tokens", "target_steps", steps, why);
            None
        }
        (Some(tokens), None) => {
            let given = *tokens.get_ref();
            if !(1.0..=1e18).contains(&given) {
                let title = format!(
                    "`parallel.target_tokens`: expected tokens from 1 to 10^18, found {given}"
                );
                complaints.error_at(tokens.span(), title, "out of range");
                return None;
            }
            Some(Target {
                sequences: given / f64::from(sequence.max(1)),
                noise_scale,
            })
        }
        (None, Some(steps)) => {
            let least = batches.iter().min()?;
            let mut target = Target {
                sequences: f64::from(steps.get_ref().get()) * f64::from(*least),
                noise_scale,
            };
            target.sequences /= target.epochs(*least);
            Some(target)
        }
        (None, None) => None,
    }
}

/// Given numbers of layers; each list must cover all layers.
fn cuts(
    table: &ParallelTable,
    subject: &PlanSubject,
    complaints: &mut Complaints<'_>,
) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    for given in &table.layers_per_stage {
        let own: Vec<u32> = given.get_ref().iter().map(|count| count.get()).collect();
        let sum: u64 = own.iter().copied().map(u64::from).sum();
        if sum != u64::from(subject.layers()) {
            let title = format!(
                "the stages of `parallel.layers_per_stage` have {sum} layers; `{}` has {}",
                subject.name(),
                subject.layers()
            );
            let complaint = complaints.mistake_at(given.span(), title, "must cover all layers");
            complaints.push(complaint.with_help(
                "embedding and head are layers, too; say how many layers each stage has",
            ));
        } else if all.iter().any(|known| known.len() == own.len()) {
            let title = format!(
                "`parallel.layers_per_stage` cuts {} stages twice",
                own.len()
            );
            complaints.error_at(given.span(), title, "remove one of the two");
        }
        all.push(own);
    }
    all
}

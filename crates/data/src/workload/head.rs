//! `workload.toml`: what a workload is, its constants and its laws.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::law::{EpochLaw, NoiseLaw, OutOfBounds, PooledLaw, StepLaw};
use super::{
    Communication, Constants, Laws, Origin, OutOfCore, SourcedValue, Staleness, StepMeasured,
};
use crate::configuration::Shape;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostics, Source, Spanned};

/// Most samples in one pass: a thousand times the largest set of images.
const MOST_SAMPLES_PER_EPOCH: f64 = 1e12;
/// Most steps of a probe, and until the noise settles: few trainings take more.
pub const MOST_STEPS: f64 = 1e6;
/// Most seconds that a restore takes; see [`Delay`](scavsim_read::input::checked::Delay).
const MOST_RESTORE_S: f64 = 1e6;
/// Most parameters of a model: a thousand times the largest.
pub const MOST_PARAMETERS: f64 = 1e15;
const MOST_MEMORY_GIB: f64 = 1e6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) name: Spanned<String>,
    pub(super) model: String,
    pub(super) data_set: String,
    pub(super) target: String,
    pub(super) citation: String,
    pub(super) accuracy: String,
    pub(super) licence: String,
    pub(super) pricing: Option<String>,
    pub(super) step_measured: StepMeasured,
    #[serde(default)]
    pub(super) communication: Communication,
    pub(super) constants: ConstantsHead,
    #[serde(default)]
    pub(super) laws: LawsHead,
    pub(super) staleness: Option<Staleness>,
    pub(super) out_of_core: Option<Spanned<OutOfCore>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LawsHead {
    steps: BTreeMap<Spanned<String>, Spanned<StepLaw>>,
    pooled: BTreeMap<Spanned<String>, Spanned<PooledLaw>>,
    epochs: Option<Spanned<EpochLaw>>,
    noise: Option<Spanned<NoiseLaw>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantsHead {
    samples_per_epoch: Figure,
    cold_start_steps: Figure,
    probe_steps: Figure,
    restore_s: Figure,
    worker_memory_gib: Option<Figure>,
    sample_memory_gib: Option<Figure>,
    fixed_memory_gib: Option<Figure>,
    parameters: Option<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    value: Spanned<f64>,
    origin: Origin,
    source: String,
}

pub(super) fn constants(
    head: &Head,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<Constants> {
    if let Some(why) = not_a_name(head.name.get_ref()) {
        diagnostics.error_at(source, head.name.span(), "`name` is no name", why);
    }
    let mut sourced = |name: &str, figure: &Figure, (least, most): (f64, f64), whole: bool| {
        let value = *figure.value.get_ref();
        let legal = (least..=most).contains(&value) && (!whole || value.fract() == 0.0);
        if !legal {
            let kind = if whole { "a whole number" } else { "a number" };
            diagnostics.error_at(
                source,
                figure.value.span(),
                format!("`{name}`: {value} is out of range"),
                format!("expected {kind} from {least} to {most}"),
            );
        }
        legal.then(|| SourcedValue {
            value,
            origin: figure.origin,
            source: figure.source.clone(),
        })
    };
    let c = &head.constants;
    let samples_per_epoch = sourced(
        "samples_per_epoch",
        &c.samples_per_epoch,
        (1.0, MOST_SAMPLES_PER_EPOCH),
        true,
    );
    let cold_start_steps = sourced(
        "cold_start_steps",
        &c.cold_start_steps,
        (0.0, MOST_STEPS),
        true,
    );
    let probe_steps = sourced("probe_steps", &c.probe_steps, (1.0, MOST_STEPS), true);
    let restore_s = sourced("restore_s", &c.restore_s, (0.0, MOST_RESTORE_S), false);
    let mut memory = |name: &str, figure: &Option<Figure>| match figure {
        None => Some(None),
        Some(figure) => sourced(name, figure, (0.0, MOST_MEMORY_GIB), false).map(Some),
    };
    let worker_memory_gib = memory("worker_memory_gib", &c.worker_memory_gib);
    let sample_memory_gib = memory("sample_memory_gib", &c.sample_memory_gib);
    let fixed_memory_gib = memory("fixed_memory_gib", &c.fixed_memory_gib);
    let parameters = match &c.parameters {
        None => Some(None),
        Some(figure) => sourced("parameters", figure, (1.0, MOST_PARAMETERS), true).map(Some),
    };
    if let Some(table) = &head.out_of_core
        && let Err(wrong) = table.get_ref().check()
    {
        let title = "`out_of_core` is invalid";
        diagnostics.error_at(source, table.span(), title, wrong.to_string());
    }
    Some(Constants {
        samples_per_epoch: samples_per_epoch?,
        cold_start_steps: cold_start_steps?,
        probe_steps: probe_steps?,
        restore_s: restore_s?,
        worker_memory_gib: worker_memory_gib?,
        sample_memory_gib: sample_memory_gib?,
        fixed_memory_gib: fixed_memory_gib?,
        parameters: parameters?,
    })
}

pub(super) fn laws(
    head: &LawsHead,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<(Laws, Option<NoiseLaw>)> {
    let before = diagnostics.len();
    let mut check = |what: &str, span: std::ops::Range<usize>, wrong: Option<String>| {
        if let Some(wrong) = wrong {
            diagnostics.error_at(source, span, format!("the law of {what} is invalid"), wrong);
        }
    };
    let in_words = |sound: Result<(), OutOfBounds>| sound.err().map(|why| why.to_string());
    for (shape, law) in &head.steps {
        let wrong = Shape::parse(shape.get_ref()).err();
        check("this VM", shape.span(), wrong.map(|why| why.to_string()));
        check("a step", law.span(), in_words(law.get_ref().check()));
    }
    for (vm_type, law) in &head.pooled {
        let has_workers = vm_type.get_ref().contains('/');
        let wrong = has_workers.then(|| "expected a VM type without workers per VM".to_owned());
        check("this VM", vm_type.span(), wrong);
        check("a step", law.span(), in_words(law.get_ref().check()));
    }
    if let Some(law) = &head.epochs {
        check("epochs", law.span(), in_words(law.get_ref().check()));
    }
    if let Some(law) = &head.noise {
        check("the noise", law.span(), in_words(law.get_ref().check()));
    }
    (diagnostics.len() == before).then(|| {
        let steps = (head.steps.iter())
            .map(|(shape, law)| (shape.get_ref().clone(), *law.get_ref()))
            .collect();
        let pooled = (head.pooled.iter())
            .map(|(vm_type, law)| (vm_type.get_ref().clone(), *law.get_ref()))
            .collect();
        let laws = Laws {
            steps,
            pooled,
            epochs: head.epochs.as_ref().map(|l| *l.get_ref()),
        };
        (laws, head.noise.as_ref().map(|l| *l.get_ref()))
    })
}

//! A folder of tables → a checked [`Workload`], or all that is wrong with it.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::epochs::EpochRow;
use super::law::{EpochLaw, NoiseLaw, StepLaw};
use super::noise::NoiseRow;
use super::noise_curve::CurveRow;
use super::noise_scale::ScaleRow;
use super::step_cost::{SplitError, StepRow};
use super::{
    Communication, Constants, Description, Epochs, Laws, Noise, NoiseCurve, NoiseScale, Origin,
    Published, Sourced, Staleness, StepCosts, StepMeasured, Workload,
};
use crate::configuration::Configuration;
use crate::input::csv::{Row, Table};
use crate::input::{self, Diagnostic, Diagnostics, Folder, Source};
use crate::shape::Shape;

/// `workload.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    model: String,
    data_set: String,
    target: String,
    citation: String,
    accuracy: String,
    licence: String,
    step_measured: StepMeasured,
    #[serde(default)]
    communication: Communication,
    constants: ConstantsHead,
    #[serde(default)]
    laws: LawsHead,
    staleness: Option<Staleness>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LawsHead {
    steps: BTreeMap<Spanned<String>, Spanned<StepLaw>>,
    epochs: Option<Spanned<EpochLaw>>,
    noise: Option<Spanned<NoiseLaw>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstantsHead {
    samples_per_epoch: Figure,
    cold_start_steps: Figure,
    probe_steps: Figure,
    restore_s: Figure,
    worker_memory_gib: Option<Figure>,
    sample_memory_gib: Option<Figure>,
    fixed_memory_gib: Option<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    value: Spanned<f64>,
    origin: Origin,
    source: String,
}

/// Most workers and largest batch that a table may name; beyond, it is a slip of the pen.
const LARGEST: u64 = 1_000_000_000;

/// Loads the workload in `folder`. Whatever is wrong goes to `diagnostics`; a workload comes back
/// only if nothing was.
pub fn load(folder: &Folder, diagnostics: &mut Diagnostics) -> Option<Workload> {
    let before = diagnostics.len();
    let mut hasher = blake3::Hasher::new();
    let mut read = |file: &str, diagnostics: &mut Diagnostics| {
        let source = folder.read(file, diagnostics)?;
        hasher.update(file.as_bytes());
        hasher.update(source.text.as_bytes());
        Some(source)
    };
    let head = read("workload.toml", diagnostics);
    let steps = read("steps.csv", diagnostics);
    let epochs = read("epochs.csv", diagnostics);
    let mut optional = |file: &str, diagnostics: &mut Diagnostics| {
        if folder.has(file) {
            read(file, diagnostics)
        } else {
            None
        }
    };
    let noise = optional("noise.csv", diagnostics);
    let scale = optional("phi.csv", diagnostics);
    let curve = optional("noise_curve.csv", diagnostics);
    let published = optional("published.csv", diagnostics);

    let head = head.and_then(|source| {
        let head: Head = input::toml::read(&source, diagnostics)?;
        let constants = constants(&head, &source, diagnostics);
        let laws = laws(&head.laws, &source, diagnostics);
        Some((head, constants?, laws?))
    });
    let (measured, communication) = (head.as_ref())
        .map_or((StepMeasured::Barrier, Communication::Known), |h| {
            (h.0.step_measured, h.0.communication)
        });
    let steps = steps.and_then(|source| step_costs(&source, measured, communication, diagnostics));
    let epochs = epochs.and_then(|source| epoch_rows(&source, diagnostics));
    let noise = noise.map_or(Some(Vec::new()), |source| noise_rows(&source, diagnostics));
    let scale = scale.map_or(Some(Vec::new()), |source| scale_rows(&source, diagnostics));
    let curve = curve.map_or(Some(Vec::new()), |source| curve_rows(&source, diagnostics));
    let published = published.map_or(Some(Vec::new()), |s| published_rows(&s, diagnostics));
    if diagnostics.len() > before {
        return None;
    }
    let (head, constants, (laws, noise_law)) = head?;
    let scale = NoiseScale::new(scale?);
    if matches!(laws.epochs, Some(EpochLaw::Goodput { .. })) && scale.is_empty() {
        let file = "`[laws.epochs]` names `goodput`, which needs `phi.csv`";
        diagnostics.push(Diagnostic::general(format!("{}: {file}", head.name)));
        return None;
    }
    Some(Workload {
        name: head.name,
        description: Description {
            model: head.model,
            data_set: head.data_set,
            target: head.target,
            citation: head.citation,
            accuracy: head.accuracy,
            licence: head.licence,
        },
        constants,
        steps: steps?,
        epochs: Epochs::new(epochs?),
        noise: Noise::new(noise?, scale, noise_law),
        noise_curve: NoiseCurve::new(curve?),
        laws,
        staleness: head.staleness,
        published: published?,
        hash: hasher.finalize().to_hex().to_string(),
    })
}

fn constants(
    head: &Head,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<Constants> {
    let mut sourced = |name: &str, figure: &Figure, least: f64, whole: bool| {
        let value = *figure.value.get_ref();
        let legal = value.is_finite() && value >= least && (!whole || value.fract() == 0.0);
        if !legal {
            let kind = if whole { "a whole number" } else { "a number" };
            diagnostics.error_at(
                source,
                figure.value.span(),
                format!("`{name}`: {value} is not possible"),
                format!("expected {kind} of at least {least}"),
            );
        }
        legal.then(|| Sourced {
            value,
            origin: figure.origin,
            source: figure.source.clone(),
        })
    };
    let c = &head.constants;
    let samples_per_epoch = sourced("samples_per_epoch", &c.samples_per_epoch, 1.0, true);
    let cold_start_steps = sourced("cold_start_steps", &c.cold_start_steps, 0.0, true);
    let probe_steps = sourced("probe_steps", &c.probe_steps, 1.0, true);
    let restore_s = sourced("restore_s", &c.restore_s, 0.0, false);
    let mut memory = |name: &str, figure: &Option<Figure>| match figure {
        None => Some(None),
        Some(figure) => sourced(name, figure, 0.0, false).map(Some),
    };
    let worker_memory_gib = memory("worker_memory_gib", &c.worker_memory_gib);
    let sample_memory_gib = memory("sample_memory_gib", &c.sample_memory_gib);
    let fixed_memory_gib = memory("fixed_memory_gib", &c.fixed_memory_gib);
    Some(Constants {
        samples_per_epoch: samples_per_epoch?,
        cold_start_steps: cold_start_steps?,
        probe_steps: probe_steps?,
        restore_s: restore_s?,
        worker_memory_gib: worker_memory_gib?,
        sample_memory_gib: sample_memory_gib?,
        fixed_memory_gib: fixed_memory_gib?,
    })
}

/// The laws, each with parameters that make sense.
fn laws(
    head: &LawsHead,
    source: &Arc<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<(Laws, Option<NoiseLaw>)> {
    let before = diagnostics.len();
    let mut check = |what: &str, span: std::ops::Range<usize>, sound: Result<(), String>| {
        if let Err(wrong) = sound {
            diagnostics.error_at(
                source,
                span,
                format!("the law of {what} is not possible"),
                wrong,
            );
        }
    };
    for (shape, law) in &head.steps {
        let sound = Shape::parse(shape.get_ref()).map_err(|e| e.to_string());
        check("this VM", shape.span(), sound.map(drop));
        check("a step", law.span(), law.get_ref().check());
    }
    if let Some(law) = &head.epochs {
        check("epochs", law.span(), law.get_ref().check());
    }
    if let Some(law) = &head.noise {
        check("the noise", law.span(), law.get_ref().check());
    }
    (diagnostics.len() == before).then(|| {
        let steps = (head.steps.iter())
            .map(|(shape, law)| (shape.get_ref().clone(), *law.get_ref()))
            .collect();
        let laws = Laws {
            steps,
            epochs: head.epochs.as_ref().map(|l| *l.get_ref()),
        };
        (laws, head.noise.as_ref().map(|l| *l.get_ref()))
    })
}

/// Reads every row with `parse`, and refuses two rows with the same `key`. `None` if any row is
/// wrong.
fn rows<T, K: Eq + Hash>(
    source: &Arc<Source>,
    required: &[&str],
    optional: &[&str],
    diagnostics: &mut Diagnostics,
    parse: impl Fn(&Row<'_>, &mut Diagnostics) -> Option<T>,
    key: impl Fn(&T) -> K,
) -> Option<Vec<T>> {
    let table = Table::read(source, required, optional, diagnostics)?;
    let (mut parsed, mut seen) = (Vec::new(), HashSet::new());
    let mut complete = true;
    for row in table.rows() {
        match parse(&row, diagnostics) {
            Some(value) if !seen.insert(key(&value)) => {
                complete = false;
                diagnostics.error_at(
                    source,
                    row.line_span(),
                    "this point stands twice in the table",
                    "keep one of the two rows",
                );
            }
            Some(value) => parsed.push(value),
            None => complete = false,
        }
    }
    complete.then_some(parsed)
}

fn whole(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<u32> {
    let value = row.whole(column, 1..=LARGEST, diagnostics)?;
    u32::try_from(value).ok()
}

fn above_zero(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
    use std::ops::Bound::{Excluded, Unbounded};
    row.number(column, (Excluded(0.0), Unbounded), diagnostics)
}

/// Every row says where it comes from.
fn origin(row: &Row<'_>, source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Origin> {
    let where_from = row.text("source", diagnostics);
    let name = row.text("origin", diagnostics)?;
    let origin = Origin::from_name(name);
    if origin.is_none() {
        let legal: Vec<String> = Origin::ALL.iter().map(|(n, _)| format!("`{n}`")).collect();
        diagnostics.push(
            Diagnostic::at(
                source,
                row.span("origin"),
                format!("unknown origin `{name}`"),
                "",
            )
            .with_help(format!("legal here: {}", legal.join(", "))),
        );
    }
    where_from.and(origin)
}

fn step_costs(
    source: &Arc<Source>,
    measured: StepMeasured,
    communication: Communication,
    diagnostics: &mut Diagnostics,
) -> Option<StepCosts> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let before = d.len();
        let vm = row.text("vm", d);
        let workers = whole(row, "workers", d);
        if let (Some(vm), Some(workers)) = (vm, workers) {
            let wrong = match Shape::parse(vm) {
                Err(wrong) => Some(wrong.to_string()),
                Ok(shape) if shape.vms(workers).is_none() => {
                    Some(format!("`{vm}` is not a placement of {workers} workers"))
                }
                Ok(_) => None,
            };
            if let Some(wrong) = wrong {
                let form = "expected a VM type, or one with its workers per VM: `TYPE/4`, `TYPE/1-2-4`, `TYPE/7@6`";
                d.error_at(source, row.span("vm"), wrong, form);
            }
        }
        let batch = whole(row, "batch", d);
        let step_s = above_zero(row, "step_s", d);
        let communication_s = row.optional_number("communication_s", 0.0.., d);
        origin(row, source, d);
        if let (Some(step_s), Some(part)) = (step_s, communication_s)
            && part >= step_s
        {
            d.error_at(
                source,
                row.span("communication_s"),
                format!("the communication of {part} s is not part of a step of {step_s} s"),
                "must be less than `step_s`",
            );
        }
        (d.len() == before).then_some(())?;
        Some(StepRow {
            vm: vm?.into(),
            workers: workers?,
            batch: batch?,
            step_s: step_s?,
            communication_s,
        })
    };
    let required = ["vm", "workers", "batch", "step_s", "origin", "source"];
    let key = |r: &StepRow| (Arc::clone(&r.vm), r.workers, r.batch);
    let rows = rows(
        source,
        &required,
        &["communication_s"],
        diagnostics,
        parse,
        key,
    )?;
    match StepCosts::new(rows, measured, communication) {
        Ok(costs) => Some(costs),
        Err(error) => {
            let help = match error {
                SplitError::NoSplit(_) => {
                    "give `communication_s` in at least one row per VM type, or say `communication = \"unknown\"` in workload.toml"
                }
                SplitError::ComputeExceedsStep(..) => {
                    "give `communication_s` for this row, or measure the step again"
                }
            };
            diagnostics
                .push(Diagnostic::general(format!("{}: {error}", source.name)).with_help(help));
            None
        }
    }
}

fn epoch_rows(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<EpochRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let workers = if row.has("workers") {
            whole(row, "workers", d).map(Some)
        } else {
            Some(None)
        };
        let batch = whole(row, "batch", d);
        let epochs = above_zero(row, "epochs", d);
        let origin = origin(row, source, d);
        Some(EpochRow {
            workers: workers?,
            batch: batch?,
            epochs: epochs?,
            origin: origin?,
        })
    };
    let required = ["batch", "epochs", "origin", "source"];
    rows(source, &required, &["workers"], diagnostics, parse, |r| {
        (r.workers, r.batch)
    })
}

fn scale_rows(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<ScaleRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let batch = whole(row, "batch", d);
        let progress = above_zero(row, "progress", d);
        let scale = above_zero(row, "noise_scale_samples", d);
        origin(row, source, d)?;
        Some(ScaleRow {
            batch: batch?,
            progress: progress?,
            noise_scale_samples: scale?,
        })
    };
    let required = [
        "batch",
        "progress",
        "noise_scale_samples",
        "origin",
        "source",
    ];
    rows(source, &required, &[], diagnostics, parse, |r| {
        (r.batch, r.progress.to_bits())
    })
}

fn noise_rows(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<NoiseRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let (workers, batch) = (whole(row, "workers", d), whole(row, "batch", d));
        let noise = above_zero(row, "noise_normalised", d);
        let origin = origin(row, source, d);
        let (workers, noise) = (workers?, noise?);
        let least = 1.0 / f64::from(workers);
        if noise <= least || noise >= 1.0 {
            d.error_at(
                source,
                row.span("noise_normalised"),
                format!("a normalised noise of {noise} is not possible"),
                format!("γ/K lies between 1/K = {least:.4} and 1"),
            );
            return None;
        }
        Some(NoiseRow {
            workers,
            batch: batch?,
            noise_normalised: noise,
            origin: origin?,
        })
    };
    let required = ["workers", "batch", "noise_normalised", "origin", "source"];
    rows(source, &required, &[], diagnostics, parse, |r| {
        (r.workers, r.batch)
    })
}

fn curve_rows(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<CurveRow>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let workers = whole(row, "workers", d);
        let step = row.number("step", 0.0.., d);
        let noise = above_zero(row, "noise", d);
        origin(row, source, d)?;
        Some(CurveRow {
            workers: workers?,
            step: step?,
            noise: noise?,
        })
    };
    let required = ["workers", "step", "noise", "origin", "source"];
    rows(source, &required, &[], diagnostics, parse, |r| {
        (r.workers, r.step.to_bits())
    })
}

fn published_rows(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Vec<Published>> {
    let parse = |row: &Row<'_>, d: &mut Diagnostics| {
        let vm = row.text("vm", d);
        let (workers, batch) = (whole(row, "workers", d), whole(row, "batch", d));
        let (time_h, cost_usd) = (above_zero(row, "time_h", d), above_zero(row, "cost_usd", d));
        origin(row, source, d)?;
        Some(Published {
            configuration: Configuration {
                vm: vm?.into(),
                workers: workers?,
                batch: batch?,
            },
            time_h: time_h?,
            cost_usd: cost_usd?,
        })
    };
    let required = [
        "vm", "workers", "batch", "time_h", "cost_usd", "origin", "source",
    ];
    let optional = ["full_search_predicted_cost_usd"];
    rows(source, &required, &optional, diagnostics, parse, |p| {
        p.configuration.clone()
    })
}

//! Runs that are slower than published ones: their most likely runtime, their pace, and impossible figures.

use super::PlanRow;
use scavsim_base::stats::median_of;
use scavsim_parallel::gpu::{self, Precision};
use scavsim_parallel::law::constants::Constant;
use scavsim_parallel::law::fit::SCATTER;
use scavsim_parallel::runtime::RuntimePreset;

/// Standard deviation of the logarithm of the pace of users below published speeds: half of ten public reports are 2 to 5
/// times slower (findings of 2026-11: Megatron-LM 449 and 1000, llm-foundry 1706, NeMo Speech 8059).
const SPREAD: f64 = 0.8;
/// Minimum median of runs, in standard deviations of the runtime's errors, for a pace of their own.
const UNLIKE: f64 = 3.0;
/// Minimum advantage of another runtime over the first, in squared deviations.
const LIKELIER: f64 = 1.0;
/// Penalty of a run that does not fit its GPUs under a runtime, in squared deviations.
const CROWDED: f64 = 4.0;
/// Minimum ratio at which slower or faster runs are reported.
const TOLD: f64 = 1.15;
/// Steps that exceed the prediction by this factor are probably given in other units.
const MILLI: f64 = 1000.0;
/// Factor within which a step in other units matches the prediction.
const LIKE: f64 = 6.0;
/// Maximum tokens of a step in known trainings, some 64 million (DeepSeek-V3), times two.
const MOST_STEP_TOKENS: f64 = 1.28e8;

/// ln(measured / predicted) of each run; `None` if a run's numbers make no plan.
fn slowness(preset: &RuntimePreset, rows: &[PlanRow]) -> Option<Vec<f64>> {
    let constants = &preset.prior.medians;
    let all = rows
        .iter()
        .map(|row| -row.measured.residual(&preset.settings, constants));
    let all: Vec<f64> = all.collect();
    all.iter().all(|one| one.is_finite()).then_some(all)
}

fn middle(all: &[f64]) -> f64 {
    median_of(all.iter().copied()).unwrap_or(0.0)
}

/// The runtime with a pace to be fitted, if runs are slower or faster than its errors allow.
pub fn with_pace(preset: RuntimePreset, rows: &[PlanRow]) -> RuntimePreset {
    let Some(all) = slowness(&preset, rows) else {
        return preset;
    };
    let errors = &preset.errors;
    let variance = errors.step * errors.step + errors.cluster * errors.cluster;
    let is_unlike = middle(&all).abs() > UNLIKE * variance.sqrt().max(SCATTER);
    let mut own = preset;
    if is_unlike {
        own.prior.spreads[Constant::Pace as usize] = SPREAD;
    }
    own
}

/// Twice the negative log-likelihood of runs under a runtime at the best pace; infinite if they are impossible.
fn unlikeliness(preset: &RuntimePreset, rows: &[PlanRow]) -> f64 {
    let Some(all) = slowness(preset, rows) else {
        return f64::INFINITY;
    };
    let pace = middle(&all);
    let softened = |one: &f64| {
        let r = (one - pace) / SCATTER;
        2.0 * ((1.0 + r * r).sqrt() - 1.0)
    };
    let crowded = super::crowded(preset, rows).len() as f64 * CROWDED;
    all.iter().map(softened).sum::<f64>() + (pace / SPREAD).powi(2) + crowded
}

/// The most likely runtime of the runs; the first unless another is clearly more likely.
pub fn likeliest(presets: Vec<RuntimePreset>, rows: &[PlanRow]) -> Option<RuntimePreset> {
    let scored = presets.into_iter().enumerate().map(|(number, preset)| {
        let handicap = if number == 0 { 0.0 } else { LIKELIER };
        (unlikeliness(&preset, rows) + handicap, preset)
    });
    let best = scored.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, preset)| preset)
}

/// The speed of runs relative to published ones of their kind, in a sentence; `None` if they are alike.
pub fn pace_in_words(pace: f64) -> Option<String> {
    if pace > TOLD {
        Some(format!(
            "Your runs are {pace:.1} times slower than published ones of this kind. Usual causes: attention that is not fused, \
             kernels that are not compiled, a network without RDMA between nodes, loaders that GPUs wait for, GPUs below their \
             power limit or shared."
        ))
    } else if pace < 1.0 / TOLD {
        Some(format!(
            "Your runs are {:.1} times faster than published ones of this kind.",
            1.0 / pace
        ))
    } else {
        None
    }
}

/// Runs with impossible figures, by their lines, with hints.
pub fn impossible(preset: &RuntimePreset, rows: &[PlanRow]) -> Vec<(usize, String)> {
    rows.iter()
        .filter_map(|row| Some((row.line, doubt(preset, row)?)))
        .collect()
}

fn doubt(preset: &RuntimePreset, row: &PlanRow) -> Option<String> {
    let run = &row.measured.run;
    let gpu = gpu::named(&run.node.gpu)?;
    let peak = gpu.tflops(Precision::named(&row.precision)?)? * 1e12 * f64::from(run.gpus);
    let flops = run.model.token_flops(f64::from(run.sequence)) * run.tokens();
    let of_peak = flops / row.measured.step_s / peak;
    let tokens = run.tokens();
    if tokens > MOST_STEP_TOKENS && f64::from(run.global_batch) >= f64::from(run.sequence) {
        let sequences = (f64::from(run.global_batch) / f64::from(run.sequence)).round();
        return Some(format!(
            "{tokens:.3e} tokens a step: `global_batch` counts sequences, perhaps {sequences} of {}: divide tokens by `sequence`",
            run.sequence
        ));
    }
    if of_peak > 1.0 {
        let each = of_peak / f64::from(run.gpus);
        let meant = if each <= 1.0 && run.gpus > 1 {
            "; `tokens_per_s_per_gpu` is of one GPU: divide that of all by `gpus`"
        } else {
            "; is the model, the batch or the unit another?"
        };
        return Some(format!(
            "{of_peak:.1} times as fast as the peak of {} {} allows{meant}",
            run.gpus, gpu.name
        ));
    }
    let foretold = row
        .measured
        .foretold_s(&preset.settings, &preset.prior.medians)?;
    let in_milli = row.measured.step_s / MILLI / foretold;
    (row.measured.step_s / foretold > MILLI / LIKE && (1.0 / LIKE..=LIKE).contains(&in_milli)).then(
        || {
            format!(
                "{:.0} times slower than predicted; `step_s` is seconds: divide milliseconds by 1000",
                row.measured.step_s / foretold
            )
        },
    )
}

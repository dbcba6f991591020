//! Whether a fine-tuning fits into the memory of GPUs, and which changes would make it fit.

use std::sync::Arc;

use super::scenario::ResolvedQuestion;
use super::tuning::Tuning;
use scavsim_base::text::words::figure;
use scavsim_parallel::ReplicaSharing;
use scavsim_parallel::gpu::{self, GpuSheet};
use scavsim_parallel::law::GpuNode;
use scavsim_parallel::law::run::PlanRun;
use scavsim_parallel::memory::GIB;
use scavsim_parallel::runtime::{Recompute, Shard};
use scavsim_parallel::tuning::{AdapterTargets, Adapters, Optimizer, TrainingMethod, USUAL_RANK};
use scavsim_read::input::Diagnostic;

/// Rank of adapters that are proposed if nothing fits.
const PROPOSED: Adapters = Adapters {
    rank: USUAL_RANK,
    targets: AdapterTargets::Linear,
};

/// Minimum GiB on each of `gpus` GPUs: everything recomputed, everything sharded, one sequence at a time.
fn least_gib(
    asked: &ResolvedQuestion,
    method: TrainingMethod,
    sheet: &GpuSheet,
    gpus: u32,
) -> Option<f64> {
    let setup = asked.setup_on(sheet)?;
    let run = PlanRun {
        model: Arc::clone(&asked.model),
        node: GpuNode {
            gpu: Arc::clone(&sheet.name),
            device: sheet.device(setup.precision)?,
            gpus,
            link_bytes_per_s: sheet.link_bytes_per_s(),
            network_bytes_per_s: Some(1e9),
        },
        gpus,
        sequence: asked.sequence,
        tensor: 1,
        pipeline: 1,
        micro_batch: 1,
        global_batch: gpus,
        attention: None,
        recompute: Some(Recompute::Full),
        shard: Some(if gpus > 1 && setup.runtime.shards.contains(&Shard::Full) {
            Shard::Full
        } else {
            Shard::None
        }),
        sequence_parallel: None,
        training: method,
        virtual_stages: 1,
        sharing: ReplicaSharing::NONE,
    };
    let mut settings = setup.runtime.settings.clone();
    settings.optimizer = asked.tuning.map_or(Optimizer::AdamW, |of| of.optimizer);
    let prepared = run.prepared(&settings, &setup.runtime.prior.medians).ok()?;
    Some(prepared.peak_memory_bytes(0) as f64 / GIB)
}

/// Whether some plan of a fine-tuning fits on VMs of this type, up to this number of GPUs.
pub(super) fn fits_vm(asked: &ResolvedQuestion, tuning: &Tuning, vm: &str, most_gpus: u32) -> bool {
    let Some((sheet, count)) = gpu::of_vm(vm).and_then(|of| Some((of.gpu?, of.count))) else {
        return false;
    };
    let counts = (count..=most_gpus).step_by(count as usize);
    let even = counts.filter(|gpus| asked.batch.is_multiple_of(*gpus));
    let mut least = even.filter_map(|gpus| least_gib(asked, tuning.method, sheet, gpus));
    least.any(|gib| gib <= sheet.memory_gib)
}

/// Why nothing fits, and what would: more or larger GPUs, or another method on the requested ones.
pub(super) fn misfit(asked: &ResolvedQuestion, tuning: &Tuning, most_gpus: u32) -> Diagnostic {
    let sheets = || asked.gpus.iter().filter_map(|name| gpu::named(name));
    let Some(largest) = sheets().max_by(|a, b| a.memory_gib.total_cmp(&b.memory_gib)) else {
        return Diagnostic::general("no GPU was asked for");
    };
    let counts = || std::iter::successors(Some(1_u32), |n| n.checked_mul(2));
    let needs = |method, gpus| least_gib(asked, method, largest, gpus);
    let most = counts().take_while(|n| *n <= most_gpus).last().unwrap_or(1);
    let gib = needs(tuning.method, most).unwrap_or(f64::INFINITY);
    let title = format!(
        "`{}` of {} needs {} GiB on {}, and a {} has {}",
        tuning.method,
        asked.model.model,
        figure(gib),
        match most {
            1 => "one GPU".to_owned(),
            more => format!("each of {more} GPUs"),
        },
        largest.name,
        figure(largest.memory_gib),
    );
    let fits = |method, sheet: &GpuSheet, gpus| {
        least_gib(asked, method, sheet, gpus).is_some_and(|gib| gib <= sheet.memory_gib)
    };
    let others = [
        TrainingMethod::Lora(PROPOSED),
        TrainingMethod::Qlora(PROPOSED),
    ];
    let mut would: Vec<String> = Vec::new();
    let other = others
        .into_iter()
        .find(|method| fits(*method, largest, most));
    would.extend(other.map(|method| format!("--train {method} on these")));
    let more = counts()
        .take_while(|n| *n <= 64)
        .find(|n| fits(tuning.method, largest, *n));
    would.extend(more.map(|n| format!("{n} × {} (--most-gpus {n})", largest.name)));
    let rented = gpu::all().iter().filter(|sheet| asked.is_rented(sheet));
    let larger = rented
        .filter(|sheet| sheet.memory_gib > largest.memory_gib && fits(tuning.method, sheet, 1))
        .min_by(|a, b| a.memory_gib.total_cmp(&b.memory_gib));
    would.extend(larger.map(|sheet| format!("one {}", sheet.name)));
    let help = if would.is_empty() {
        "a shorter --sequence, more GPUs (--most-gpus), or a smaller model".to_owned()
    } else {
        format!("what would fit: {}", would.join("; or "))
    };
    Diagnostic::general(title).with_help(help)
}

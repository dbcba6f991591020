//! Published plans with their measurements, embedded for comparison.

mod measured_plan_set;

use std::sync::Arc;

use crate::{NodeKind, ParallelPlan, Replica, ReplicaSharing, Schedule, StageOfPlan, library};
use scavsim_read::input::Diagnostics;
use scavsim_read::input::csv::{Row, Table};

pub use measured_plan_set::{LeftOut, MeasuredPlanSet, peak_memory_bytes, reduction_s};

#[derive(Debug, Clone)]
pub struct MeasuredParallelPlan {
    pub name: String,
    pub model: String,
    pub plan: ParallelPlan,
    pub iteration_s: f64,
    /// Seconds in which gradients were reduced, waiting included.
    pub gradient_sync_s: f64,
    /// Maximum bytes on a GPU.
    pub peak_memory_bytes: f64,
}

pub const FIGURES: [&str; 3] = ["iteration_s", "gradient_sync_s", "peak_memory_bytes"];

impl MeasuredParallelPlan {
    pub fn figure(&self, name: &str) -> Option<f64> {
        match name {
            "iteration_s" => Some(self.iteration_s),
            "gradient_sync_s" => Some(self.gradient_sync_s),
            "peak_memory_bytes" => Some(self.peak_memory_bytes),
            _ => None,
        }
    }
}

/// GPU, GPUs per node and GiB of the measured nodes.
const NODES: [(&str, u32, f64); 4] = [
    ("GH-96", 4, 96.0),
    ("RTX-2080", 8, 11.0),
    ("RTX-3090", 8, 24.0),
    ("Titan-RTX", 8, 24.0),
];

pub fn nodes() -> Vec<NodeKind> {
    let kind = |(gpu, gpus_per_node, memory_gib): (&str, u32, f64)| NodeKind {
        name: gpu.into(),
        gpu: gpu.into(),
        gpus_per_node,
        memory_gib: Some(memory_gib),
        zone: Arc::from(""),
    };
    NODES.into_iter().map(kind).collect()
}

pub fn plans(diagnostics: &mut Diagnostics) -> Vec<MeasuredParallelPlan> {
    let Some(source) = library::file("sailor-measured.csv", diagnostics) else {
        return Vec::new();
    };
    let columns = [
        "plan",
        "model",
        "micro_batch",
        "global_batch",
        "stages",
        "gpus",
        "iteration_s",
        "gradient_sync_s",
        "peak_memory_bytes",
    ];
    let Some(table) = Table::read(&source, &columns, &[], diagnostics) else {
        return Vec::new();
    };
    let mut plans = Vec::new();
    for row in table.rows() {
        let plan = plan(&row, diagnostics);
        let figures = FIGURES.map(|column| row.number(column, 0.0.., diagnostics));
        let names = [
            row.name("plan", diagnostics),
            row.name("model", diagnostics),
        ];
        let (Some(plan), [Some(name), Some(model)]) = (plan, names) else {
            continue;
        };
        if let [
            Some(iteration_s),
            Some(gradient_sync_s),
            Some(peak_memory_bytes),
        ] = figures
        {
            plans.push(MeasuredParallelPlan {
                name: name.to_owned(),
                model: model.to_owned(),
                plan,
                iteration_s,
                gradient_sync_s,
                peak_memory_bytes,
            });
        }
    }
    plans
}

/// Every replica has a node of its own.
fn plan(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<ParallelPlan> {
    let micro_batch = row.whole_number("micro_batch", 1..=1_000_000, diagnostics)?;
    let global_batch = row.whole_number("global_batch", 1..=1_000_000, diagnostics)?;
    let cuts = row.text("stages", diagnostics)?;
    let gpus = row.text("gpus", diagnostics)?;
    let mut stages: Vec<StageOfPlan> = Vec::new();
    let (mut first_layer, mut node) = (0, 0);
    for (cut, gpus) in cuts.split(' ').zip(gpus.split(' ')) {
        let last_layer: u32 = cut.parse().ok()?;
        let mut replicas = Vec::new();
        for group in gpus.split('+') {
            let (count, group) = group.split_once('x').unwrap_or(("1", group));
            let (gpu, tensor) = group.split_once(':')?;
            let kind = NODES.iter().position(|(name, ..)| *name == gpu)? as u32;
            let tensor: u32 = tensor.parse().ok()?;
            for _ in 0..count.parse().ok()? {
                replicas.push(Replica { kind, tensor, node });
                node += 1;
            }
        }
        stages.push(StageOfPlan {
            first_layer,
            last_layer,
            further: Vec::new(),
            replicas,
        });
        first_layer = last_layer + 1;
    }
    Some(ParallelPlan {
        data: stages.first()?.replicas.len() as u32,
        sharing: ReplicaSharing::NONE,
        micro_batch: micro_batch as u32,
        global_batch: global_batch as u32,
        schedule: Schedule::OneForwardOneBackward,
        stages,
    })
}

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{MeasuredParallelPlan, nodes, plans};
use crate::{LayerProfile, Links, Misfit, NodeKind, PreparedPlan, Runtime, Work, library};
use scavsim_read::input::Diagnostics;

/// Grid of seconds per message, in addition to its bytes, for the fit: 0 to 6 ms.
const MESSAGE_STEP_S: f64 = 5e-5;
const MESSAGE_STEPS: u32 = 120;
/// GPUs of the site with the most plans; its nodes are counted.
const MAIN_GPU: &str = "GH-96";

#[derive(Debug)]
pub struct MeasuredPlanSet {
    profiles: BTreeMap<String, LayerProfile>,
    links: Links,
    nodes: Vec<NodeKind>,
    pub plans: Vec<MeasuredParallelPlan>,
}

/// Pipelines that were held out, judged by the fit to all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// Seconds per message in addition to its bytes, fitted to the others.
    pub message_s: f64,
    /// Mean absolute relative error of a step of the held-out ones.
    pub error: f64,
    pub plans: usize,
}

impl MeasuredPlanSet {
    pub fn embedded(diagnostics: &mut Diagnostics) -> Option<MeasuredPlanSet> {
        let plans = plans(diagnostics);
        let mut profiles = BTreeMap::new();
        for plan in &plans {
            if !profiles.contains_key(&plan.model) {
                let profile = library::profile(&plan.model, diagnostics)?;
                profiles.insert(plan.model.clone(), profile);
            }
        }
        Some(MeasuredPlanSet {
            plans,
            profiles,
            links: library::links(diagnostics)?,
            nodes: nodes(),
        })
    }

    #[cfg(test)]
    pub(super) fn profile(&self, plan: &MeasuredParallelPlan) -> &LayerProfile {
        &self.profiles[&plan.model]
    }

    pub fn plan(&self, name: &str) -> Option<&MeasuredParallelPlan> {
        self.plans.iter().find(|plan| plan.name == name)
    }

    pub fn ours(
        &self,
        plan: &MeasuredParallelPlan,
        runtime: &Runtime,
    ) -> Result<PreparedPlan, Misfit> {
        let profile = &self.profiles[&plan.model];
        PreparedPlan::new(profile, &self.links, &self.nodes, runtime, &plan.plan)
    }

    /// Mean absolute relative error of a step.
    fn mean_error(
        &self,
        plans: &[&MeasuredParallelPlan],
        runtime: &Runtime,
    ) -> Result<f64, Misfit> {
        let mut sum = 0.0;
        for plan in plans {
            let step_s = self.ours(plan, runtime)?.step_s();
            sum += (step_s / plan.iteration_s - 1.0).abs();
        }
        Ok(sum / plans.len() as f64)
    }

    /// Seconds per message, in addition to its bytes, that minimise the mean error of `plans`.
    pub(super) fn fitted(&self, plans: &[&MeasuredParallelPlan]) -> Result<Runtime, Misfit> {
        let mut best = (f64::INFINITY, Runtime::default());
        for step in 0..=MESSAGE_STEPS {
            let runtime = Runtime {
                message_s: f64::from(step) * MESSAGE_STEP_S,
                ..Runtime::default()
            };
            let error = self.mean_error(plans, &runtime)?;
            if error < best.0 {
                best = (error, runtime);
            }
        }
        Ok(best.1)
    }

    /// Predictions from all other pipelines for those on `on_nodes` nodes of the main site, or, with 0, of those on other
    /// sites; `None` if there are none. Plans of one stage send no messages, and neither fit nor are judged.
    pub fn left_out(&self, on_nodes: u32) -> Result<Option<LeftOut>, Misfit> {
        let site = |plan: &MeasuredParallelPlan| {
            let kinds = plan.plan.stages.iter().flat_map(|stage| &stage.replicas);
            let is_main = |kind: u32| &*self.nodes[kind as usize].gpu == MAIN_GPU;
            let all_main = kinds.map(|replica| replica.kind).all(is_main);
            if all_main { plan.plan.nodes() } else { 0 }
        };
        let pipelines = self.plans.iter().filter(|plan| plan.plan.stages.len() > 1);
        let (out, kept): (Vec<_>, Vec<_>) = pipelines.partition(|plan| site(plan) == on_nodes);
        if out.is_empty() {
            return Ok(None);
        }
        let runtime = self.fitted(&kept)?;
        Ok(Some(LeftOut {
            message_s: runtime.message_s,
            error: self.mean_error(&out, &runtime)?,
            plans: out.len(),
        }))
    }
}

pub fn peak_memory_bytes(plan: &PreparedPlan) -> u64 {
    let stages = (0..plan.stages()).map(|stage| plan.peak_memory_bytes(stage));
    stages.max().unwrap_or(0)
}

/// Seconds from the first replica's gradients until they are reduced, in the stage where that is longest.
pub fn reduction_s(plan: &PreparedPlan) -> f64 {
    let timeline = plan.timeline();
    let reductions = timeline.iter().filter(|span| span.work == Work::Reduce);
    let seconds = reductions.map(|span| span.end_s - span.start_s);
    seconds.fold(0.0, f64::max)
}

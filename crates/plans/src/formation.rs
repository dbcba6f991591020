//! What of a plan trains now: all of it, fewer replicas, another plan; and what of its state is left when nodes go.

use std::collections::HashMap;
use std::sync::Arc;

use crate::feasible_plan::FastestOn;
use crate::pace::{PlanEffects, PlanPace, Spread, slot_nodes};
use crate::{Choices, FeasiblePlan};
use scavsim_parallel::{Misfit, PathScratch};
use scavsim_sim::training::{Fidelity, Variation};

/// What trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Formation {
    /// The plan, among all.
    pub at: usize,
    /// Data-parallel replicas of it that train.
    pub replicas: u32,
    /// The stage of which one node does the work of two, where one does.
    pub doubled: Option<u32>,
    /// Whether every node also computes forward what the stage behind it does.
    pub redundant: bool,
}

impl Formation {
    pub fn full_plan(choices: &Choices, at: usize) -> Formation {
        Formation {
            at,
            replicas: choices.ways[at].draft.data,
            doubled: None,
            redundant: false,
        }
    }
}

impl Choices {
    /// The fastest plans of a plan's offer and batch, on ever more GPUs.
    pub fn fastest_like(&self, at: usize) -> Arc<[FastestOn]> {
        let all = self.fastest.get_or_init(|| {
            let mut by: HashMap<(u32, u32), Vec<FastestOn>> = HashMap::new();
            for (at, way) in self.ways.iter().enumerate() {
                let key = (way.draft.offer, way.draft.batch);
                by.entry(key).or_default().push(FastestOn {
                    gpus: way.draft.gpus(),
                    step_s: way.step_s,
                    data: way.draft.data,
                    at,
                });
            }
            let front = |mut all: Vec<FastestOn>| -> Arc<[FastestOn]> {
                all.sort_by(|a, b| {
                    (a.gpus.cmp(&b.gpus))
                        .then(a.step_s.total_cmp(&b.step_s))
                        .then(a.at.cmp(&b.at))
                });
                let mut least = f64::INFINITY;
                all.retain(|one| {
                    let is_faster = one.step_s < least;
                    least = least.min(one.step_s);
                    is_faster
                });
                all.into()
            };
            by.into_iter().map(|(key, all)| (key, front(all))).collect()
        });
        let draft = &self.ways[at].draft;
        all.get(&(draft.offer, draft.batch))
            .cloned()
            .unwrap_or_else(|| Arc::new([]))
    }

    /// A plan in a formation: as many sequences of a step, dealt to the remaining replicas in whole micro-batches.
    pub fn in_formation(&self, formation: Formation) -> Result<FeasiblePlan, Misfit> {
        let way = &self.ways[formation.at];
        let mut draft = way.draft;
        draft.data = formation.replicas;
        let at_once = draft.data * draft.micro_batch;
        let mut rounds = way.draft.batch.div_ceil(at_once);
        if draft.schedule.has_virtual_stages() {
            rounds = rounds.next_multiple_of(draft.pipeline);
        }
        draft.batch = rounds * at_once;
        let mut own = way.clone();
        own.draft = draft;
        let prepared = self.prepare(&own)?;
        let mut scratch = PathScratch::default();
        let (step_s, breakdown) = prepared.step_with_breakdown(&mut scratch);
        own.step_s = match formation.doubled {
            None => step_s,
            Some(stage) => {
                let mut factors = vec![1.0; prepared.slots()];
                if let Some(factor) = factors.get_mut(stage as usize) {
                    *factor = 2.0;
                }
                prepared.step_with(&factors, &mut scratch)
            }
        };
        if formation.redundant {
            // What the stage behind computes forward is computed while a stage waits, as far as it does.
            let more = prepared.forward_s() - breakdown.bubble_s;
            own.step_s += more.max(0.0);
        }
        own.communication_s = breakdown.activations_s + breakdown.gradients_s;
        Ok(own)
    }

    /// The steps of a formation with the luck of its plan; `None` where it makes none.
    pub fn pace_in(
        &self,
        formation: Formation,
        luck: &PlanEffects,
        variation: &Variation,
        fidelity: Fidelity,
        spread: impl FnOnce() -> Spread,
    ) -> Option<PlanPace> {
        let mut way = self.in_formation(formation).ok()?;
        let prepared = self.prepare(&way).ok()?;
        let calm_s = prepared.step_s();
        let slots = prepared.slots();
        let mut own = luck.clone();
        if formation.doubled.is_some() && own.machines.is_empty() {
            own.machines = vec![1.0; slots];
        }
        own.machines.truncate(slots);
        if let Some(factor) = formation
            .doubled
            .and_then(|stage| own.machines.get_mut(stage as usize))
        {
            *factor *= 2.0;
        }
        // What is computed twice takes its time whatever the fidelity.
        if formation.redundant && formation.doubled.is_none() {
            own.placement *= way.step_s / calm_s;
        }
        if formation.redundant || !own.machines.is_empty() {
            way.step_s = calm_s;
        }
        let pace = PlanPace::new(&way, &own, variation, fidelity, spread, || Some(prepared));
        Some(pace)
    }
}

#[derive(Debug, Clone, Default)]
pub struct NodeLayout {
    stages: usize,
    /// Replicas of each stage that make one data-parallel one.
    shared: usize,
    /// At `replica × stages + stage`.
    node_of: Vec<usize>,
    pub nodes: usize,
}

impl NodeLayout {
    pub fn from_plan(choices: &Choices, at: usize) -> NodeLayout {
        let node_of = slot_nodes(choices, at);
        let draft = &choices.ways[at].draft;
        NodeLayout {
            stages: draft.pipeline as usize,
            shared: draft.sharing.context as usize,
            nodes: node_of.iter().max().map_or(0, |last| last + 1),
            node_of,
        }
    }

    /// All nodes, those of the first replica first.
    pub fn by_replica(&self) -> Vec<u32> {
        let mut seen = vec![false; self.nodes];
        let nodes = self.node_of.iter().copied();
        nodes
            .filter(|node| !std::mem::replace(&mut seen[*node], true))
            .map(|node| node as u32)
            .collect()
    }

    /// Data-parallel replicas of which every node is `there`.
    pub fn whole_replicas(&self, there: &[bool]) -> u32 {
        let of_replica = self.stages * self.shared;
        let replicas = self.node_of.chunks(of_replica.max(1));
        replicas
            .filter(|nodes| nodes.iter().all(|node| there[*node]))
            .count() as u32
    }

    /// Whether every stage is held by some node that is `there`.
    pub fn survives(&self, there: &[bool]) -> bool {
        (0..self.stages).all(|stage| {
            let held = self.node_of.iter().skip(stage).step_by(self.stages.max(1));
            let mut held = held.map(|node| there[*node]);
            held.any(|is_there| is_there)
        })
    }

    /// Whether of no two nodes beside each other, in a ring, both are gone: each keeps what the one before it holds.
    pub fn neighbours_survive(there: &[bool]) -> bool {
        let count = there.len();
        (0..count).all(|node| there[node] || (count > 1 && there[(node + 1) % count]))
    }

    /// The first stage that is done twice, where the node before each lost one does its work; `None` where some is not done.
    pub fn doubled(&self, there: &[bool]) -> Option<u32> {
        let mut first = None;
        for pipeline in self.node_of.chunks(self.stages.max(1)) {
            for (stage, node) in pipeline.iter().enumerate() {
                if there[*node] {
                    continue;
                }
                let before = (stage + self.stages - 1) % self.stages;
                if self.stages < 2 || !there[pipeline[before]] {
                    return None;
                }
                first.get_or_insert(before as u32);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(gone: &[usize]) -> Vec<bool> {
        (0..6).map(|node| !gone.contains(&node)).collect()
    }

    #[test]
    fn what_is_left_of_a_plan() {
        // Two replicas of three stages, a node each: nodes 0, 1 hold stage 0.
        let layout = NodeLayout {
            stages: 3,
            shared: 1,
            node_of: vec![0, 2, 4, 1, 3, 5],
            nodes: 6,
        };
        let left = |gone: &[usize]| {
            let there = without(gone);
            let replicas = layout.whole_replicas(&there);
            (replicas, layout.survives(&there), layout.doubled(&there))
        };
        assert_eq!(left(&[]), (2, true, None));
        // Stage 1 of the first replica: the node of its stage 0 does its work.
        assert_eq!(left(&[2]), (1, true, Some(0)));
        // One node of each replica, of unlike stages: nobody is whole, all is held somewhere.
        assert_eq!(left(&[0, 3]), (0, true, Some(2)));
        // Two stages beside each other in one replica: nobody does the work of both.
        assert_eq!(left(&[2, 4]), (1, true, None));
        // A stage in both replicas: its state is gone.
        assert_eq!(left(&[2, 3]), (0, false, Some(0)));
        assert!(NodeLayout::neighbours_survive(&without(&[1, 3])));
        assert!(!NodeLayout::neighbours_survive(&without(&[0, 5])));
    }
}

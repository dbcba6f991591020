//! Models partitioned over GPUs.

use std::hint::black_box;

use scavsim::input::Diagnostics;
use scavsim::parallel::{
    Activations, LayerProfile, Links, NodeKind, ParallelPlan, PathScratch, PreparedPlan, Room,
    Runtime, Schedule, library,
};

use crate::table::{Goal, Path};

/// A model, its links, and plans of it.
pub struct Plans {
    profile: LayerProfile,
    links: Links,
    nodes: [NodeKind; 1],
    legal: Vec<ParallelPlan>,
    large: ParallelPlan,
    interleaved: ParallelPlan,
}

impl Plans {
    /// All plans of OPT-350M on 4 to 64 GPUs with a global batch of 1,024, one on 256 with 64 micro-batches each, and one on 1,024 with
    /// 128 and four virtual stages.
    pub fn new() -> Plans {
        let mut diagnostics = Diagnostics::default();
        let profile = library::profile("opt-350m", &mut diagnostics).expect("it is embedded");
        let links = library::links(&mut diagnostics).expect("they are embedded");
        let nodes = [NodeKind {
            name: "node".into(),
            gpu: "GH-96".into(),
            gpus_per_node: 4,
            memory_gib: Some(96.0),
            zone: "zone".into(),
        }];
        let of = |data, (pipeline, virtual_stages): (u32, u32), tensor, micro_batch, batch| {
            let stages = vec![("GH-96", tensor); (pipeline * virtual_stages) as usize];
            let cuts = profile.even_cuts(&stages, micro_batch)?;
            let kinds = vec![0; pipeline as usize];
            let schedule = if virtual_stages > 1 {
                Schedule::Interleaved
            } else {
                Schedule::OneForwardOneBackward
            };
            let plan = ParallelPlan::even(
                &nodes,
                &kinds,
                &cuts,
                data,
                tensor,
                micro_batch,
                batch,
                schedule,
            );
            plan.ok()
        };
        let plan = |data, pipeline, tensor, micro_batch, batch| {
            of(data, (pipeline, 1), tensor, micro_batch, batch)
        };
        let mut legal = Vec::new();
        for gpus in [4, 8, 16, 32, 64] {
            for (tensor, pipeline) in [1, 2, 4]
                .into_iter()
                .flat_map(|t| [1, 2, 4, 8, 16].map(|p| (t, p)))
            {
                let data = gpus / (tensor * pipeline);
                let micro_batches = [1, 2, 4, 8].into_iter().filter(|_| data > 0);
                legal.extend(micro_batches.filter_map(|m| plan(data, pipeline, tensor, m, 1024)));
            }
        }
        let large = plan(32, 8, 1, 1, 32 * 64).expect("it is legal");
        let interleaved = of(256, (4, 4), 1, 1, 256 * 128).expect("it is legal");
        Plans {
            profile,
            links,
            nodes,
            legal,
            large,
            interleaved,
        }
    }

    fn prepared(&self, plan: &ParallelPlan) -> Option<PreparedPlan> {
        let mut runtime = Runtime::default();
        if plan.schedule.needs_overlap() {
            runtime.activations = Activations::Overlapped;
        }
        PreparedPlan::new(&self.profile, &self.links, &self.nodes, &runtime, plan).ok()
    }

    /// Seconds of a step of each legal plan, and a step event by event.
    pub fn paths(&self, share: u64) -> Vec<Path<'_>> {
        let rounds = (20 / share).max(1);
        let mut scratch = PathScratch::default();
        let units = (rounds * self.legal.len() as u64, "plan");
        let steps = Path::new(
            "step of a plan",
            units,
            Goal::Microseconds(100.0),
            move || {
                for _ in 0..rounds {
                    for plan in &self.legal {
                        black_box(self.prepared(plan).map(|p| p.step_in(&mut scratch)));
                    }
                }
            },
        );
        let prepared = self.prepared(&self.large).expect("it fits");
        let mut room = Room::default();
        let events = Path::new(
            "256 GPUs x 64 micro-batches, events",
            (rounds, "step"),
            Goal::Microseconds(20_000.0),
            move || {
                for round in 0..rounds as usize {
                    let mut luck = |slot: usize| 1.0 + 0.001 * ((slot * 7 + round) % 13) as f64;
                    black_box(prepared.step_events(&mut luck, &mut room, |_| ()));
                }
            },
        );
        let prepared = self.prepared(&self.interleaved).expect("it fits");
        let mut room = Room::default();
        let few = (rounds / 4).max(1);
        let interleaved = Path::new(
            "1,024 GPUs x 128 micro-batches x 4 virtual stages, events",
            (few, "step"),
            Goal::Microseconds(200_000.0),
            move || {
                for round in 0..few as usize {
                    let mut luck = |slot: usize| 1.0 + 0.001 * ((slot * 7 + round) % 13) as f64;
                    black_box(prepared.step_events(&mut luck, &mut room, |_| ()));
                }
            },
        );
        vec![steps, events, interleaved]
    }
}

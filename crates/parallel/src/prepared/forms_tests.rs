//! Closed forms of memory, compute and messages of plans in their forms.

use std::sync::Arc;

use super::*;
use crate::architecture::library as models;
use crate::law::kernels::Device;
use crate::law::tests::ideal;
use crate::law::{GpuNode, LayerLaw};
use crate::profile::{Seconds, Weights};
use crate::runtime::{Attention, Recompute, Shard, StateBytes};
use crate::{Activations, Architecture, LayerProfile, NodeKind, ParallelPlan};
use crate::{ReplicaSharing, Runtime, Schedule};
use scavsim_base::tests::close;

const NETWORK: f64 = 1e9;

fn runtime() -> Runtime {
    Runtime {
        activations: Activations::Overlapped,
        message_s: 0.0,
        host_runs_ahead: false,
        reserved_bytes: 0.0,
        working_layers: 0.0,
        attention: Attention::Flash,
        state_bytes: Some(StateBytes {
            weights: 2.0,
            gradients: 2.0,
            optimizer: 12.0,
        }),
        ..Runtime::default()
    }
}

/// A plan and its profile.
struct Prepared {
    plan: PreparedPlan,
    profile: LayerProfile,
}

impl Prepared {
    fn seconds(&self, first: u32, last: u32) -> Seconds {
        let times = self.profile.times(0, 1, 1).expect("known");
        times.seconds_between(first, last)
    }

    fn weights(&self) -> &Weights {
        self.profile.weights(1).expect("known")
    }

    /// Seconds in which each replica sends for a micro-batch of four.
    fn sent_s(&self) -> f64 {
        let own = self.seconds(0, self.profile.layers - 1);
        self.plan.breakdown().compute_s / 4.0 - own.forward - own.backward
    }
}

fn replicas(
    model: &Architecture,
    runtime: &Runtime,
    data: u32,
    sharing: ReplicaSharing,
) -> Prepared {
    let schedule = Schedule::OneForwardOneBackward;
    prepare_plan(model, runtime, (data, 1, 1), sharing, schedule)
}

fn alone(model: &Architecture, runtime: &Runtime) -> Prepared {
    replicas(model, runtime, 1, ReplicaSharing::NONE)
}

fn prepare_plan(
    model: &Architecture,
    runtime: &Runtime,
    (data, pipeline, virtual_stages): (u32, u32, u32),
    sharing: ReplicaSharing,
    schedule: Schedule,
) -> Prepared {
    let node = GpuNode {
        gpu: "A".into(),
        device: Device {
            wide_flops: 1e14,
            peak_flops: 1e14,
            memory_bytes_per_s: 1e15,
            multiprocessors: 1.0,
            generation: 1,
            value_bytes: 2.0,
        },
        gpus: 1,
        link_bytes_per_s: 1e30,
        network_bytes_per_s: Some(NETWORK),
    };
    let constants = ideal();
    let law = LayerLaw {
        model,
        sequence: 1024,
        sharing,
        runtime,
        constants: &constants,
    };
    let nodes = std::slice::from_ref(&node);
    let (profile, links) = (law.profile(nodes, &[1], &[1]), law.links(nodes));
    let kinds = [NodeKind {
        name: "vm".into(),
        gpu: Arc::clone(&node.gpu),
        gpus_per_node: 1,
        memory_gib: Some(1e9),
        zone: "".into(),
    }];
    let stages = pipeline * virtual_stages;
    let each = profile.layers / stages;
    let mut cuts: Vec<u32> = (1..=stages).map(|n| n * each - 1).collect();
    cuts[stages as usize - 1] = profile.layers - 1;
    let pipelines = vec![0; pipeline as usize];
    let batch = data / sharing.context * 4 * pipeline;
    let even = ParallelPlan::even(&kinds, &pipelines, &cuts, data, 1, 1, batch, schedule);
    let plan = ParallelPlan {
        sharing,
        ..even.expect("even")
    };
    let plan = PreparedPlan::new(&profile, &links, &kinds, runtime, &plan).expect("it fits");
    Prepared { plan, profile }
}

fn model(name: &str) -> Arc<Architecture> {
    models::embedded(name).expect("it is embedded")
}

/// 16 bytes per parameter, of which N replicas hold 12/N, 14/N or all in parts: Rajbhandari et al., SC 2020, figure 1.
#[test]
fn shards_hold_the_published_bytes() {
    let gpt = model("gpt3-1.3b");
    let held = |shard, data: u32| {
        let runtime = Runtime { shard, ..runtime() };
        let of = replicas(&gpt, &runtime, data, ReplicaSharing::NONE);
        let (weights, last) = (of.weights(), of.profile.layers - 1);
        let held = of.plan.peak_memory_bytes(0) - weights.stored_bytes(0, last);
        held as f64 / weights.parameters(0, last) as f64
    };
    for n in [2, 8, 64] {
        let of = f64::from(n);
        close(held(Shard::None, n), 16.0, 1e-6);
        close(held(Shard::Optimizer, n), 4.0 + 12.0 / of, 1e-6);
        close(held(Shard::Gradients, n), 2.0 + 14.0 / of, 1e-6);
        close(held(Shard::Full, n), 16.0 / of, 1e-6);
    }
}

/// Recomputation adds a forward pass to each backward one, and leaves 2 s b h per block.
#[test]
fn recomputed_layers_go_forward_twice() {
    let gpt = model("gpt3-1.3b");
    let of = |recompute| {
        let own = runtime();
        alone(&gpt, &Runtime { recompute, ..own })
    };
    let (measured, full) = (of(Recompute::None), of(Recompute::Full));
    let stored = |of: &Prepared| of.weights().stored_bytes(1, gpt.layers) as f64;
    let (none, kept) = (measured.seconds(1, gpt.layers), stored(&full));
    let full = full.seconds(1, gpt.layers);
    close(full.backward - none.backward, none.forward, 1e-9);
    close(full.forward, none.forward, 1e-9);
    let values = 2.0 * 1024.0 * f64::from(gpt.hidden);
    close(kept, f64::from(gpt.layers) * values, 1e-9);
    // A measured profile is changed to recompute in an equal way.
    let again = Prepared {
        profile: measured.profile.recomputed(),
        ..measured
    };
    close(again.seconds(1, gpt.layers).backward, full.backward, 1e-9);
    close(stored(&again), kept, 1e-9);
}

/// Each of c replicas that share a sequence receives (c − 1)/c of its keys and values before attention, as many again in the backward pass,
/// and sends as many gradients: 3 (c − 1)/c · 2 · 2 s h bytes per layer, micro-batch and step. They compute 1/c of it.
#[test]
fn shared_sequences_send_keys_and_values() {
    let gpt = model("gpt3-1.3b");
    let none = Runtime {
        recompute: Recompute::None,
        ..runtime()
    };
    for context in [2, 4, 8] {
        let mut sharing = ReplicaSharing::NONE;
        sharing.context = context;
        let shared = replicas(&gpt, &none, context, sharing);
        let of = f64::from(context);
        let bytes = 2.0 * 2.0 * 1024.0 * f64::from(gpt.hidden) * f64::from(gpt.layers);
        close(
            shared.sent_s(),
            3.0 * (of - 1.0) / of * bytes / NETWORK,
            1e-6,
        );
        let whole_s = alone(&gpt, &none).seconds(1, gpt.layers).forward;
        let shared_s = shared.seconds(1, gpt.layers).forward;
        // Five kernels of a block follow each other after 2 microseconds.
        let kernels_s = 5.0 * 2e-6 * f64::from(gpt.layers);
        close((shared_s - kernels_s) * of, whole_s - kernels_s, 1e-6);
    }
}

/// Each of e replicas that share experts sends (e − 1)/e of the k h values of its tokens there, receives them back, and does both with
/// their gradients: 4 (e − 1)/e · 2 s k h bytes per layer, micro-batch and step. It holds 1/e of the experts, and computes as much.
#[test]
fn shared_experts_are_sent_tokens() {
    let moe = model("mixtral-8x7b");
    let single = alone(&moe, &runtime());
    let experts = |of: &Prepared| of.weights().expert_parameters(0, 33) as f64;
    for expert in [2, 4, 8] {
        let mut sharing = ReplicaSharing::NONE;
        sharing.expert = expert;
        let shared = replicas(&moe, &runtime(), expert, sharing);
        let of = f64::from(expert);
        let bytes = 2.0 * 1024.0 * 2.0 * f64::from(moe.hidden) * f64::from(moe.layers);
        close(
            shared.sent_s(),
            4.0 * (of - 1.0) / of * bytes / NETWORK,
            1e-6,
        );
        let [blocks, whole] = [&shared, &single].map(|one| one.seconds(1, moe.layers).forward);
        close(blocks, whole, 0.02);
        close(experts(&shared), experts(&single) / of, 1e-6);
        // Experts on a single replica need no reduction.
        let dense = shared.weights().parameters(0, 33) as f64 - experts(&shared);
        let reduced = 2.0 * (of - 1.0) / of * dense * 2.0 / NETWORK;
        close(shared.plan.breakdown().gradients_s, reduced, 1e-6);
    }
    // Buffers of 1.25 times the mean are full.
    let routed = |capacity_factor: Option<f64>| {
        let mut runtime = runtime();
        runtime.capacity_factor = capacity_factor.unwrap_or(runtime.capacity_factor);
        alone(&moe, &runtime).weights().routed_bytes(0, 33) as f64
    };
    close(routed(Some(1.25)), 1.25 * routed(None), 1e-6);
}

/// Offloaded activations pass over the link in both directions, unless computing hides it; two micro-batches of them remain.
#[test]
fn hosts_keep_activations() {
    let gpt = model("gpt3-1.3b");
    let slow = Runtime {
        offload: true,
        offload_bytes_per_s: 1e9,
        ..runtime()
    };
    let one_by_one = |runtime: &Runtime| {
        let none = ReplicaSharing::NONE;
        prepare_plan(&gpt, runtime, (1, 4, 1), none, Schedule::GPipe)
    };
    let (with, without) = (one_by_one(&slow), one_by_one(&runtime()).plan);
    // Stage 2 of four has layers 6 to 11 and 16 micro-batches.
    let kept = with.weights().stored_bytes(6, 11) as f64;
    let off = without.peak_memory_bytes(1) - with.plan.peak_memory_bytes(1);
    close(off as f64, 14.0 * kept, 1e-6);
    let second = &with.plan.lanes[0][1];
    close(second.forward, kept / 1e9, 1e-6);
    close(second.backward, kept / 1e9, 1e-6);
    let offload_bytes_per_s = 1e15;
    let fast = Runtime {
        offload_bytes_per_s,
        ..slow
    };
    close(one_by_one(&fast).plan.step_s(), without.step_s(), 1e-9);
}

/// A message between stages has a tenth of its bytes in transit, and is encoded and decoded.
#[test]
fn compressed_messages_are_shorter_and_coded() {
    let gpt = model("gpt3-1.3b");
    let message_s = |compress: u32| {
        let own = Runtime {
            compress,
            coding_bytes_per_s: 1e10,
            ..runtime()
        };
        let schedule = Schedule::OneForwardOneBackward;
        let of = prepare_plan(&gpt, &own, (1, 2, 1), ReplicaSharing::NONE, schedule);
        of.plan.lanes[0][0].message
    };
    let bytes = 2.0 * 1024.0 * f64::from(gpt.hidden);
    close(message_s(1), bytes / NETWORK, 1e-6);
    close(
        message_s(10),
        bytes / 10.0 / NETWORK + 2.0 * bytes / 1e10,
        1e-6,
    );
}

/// v virtual stages hold (1 + (p − 1)/(p v)) of the memory of 1F1B on the first stage: Korthikanti et al., section 4.2.3.
#[test]
fn virtual_stages_hold_more_by_the_published_factor() {
    // 24 blocks, embedding and head: on the first stage, all blocks alike.
    let gpt = model("gpt3-1.3b");
    let (p, v) = (4, 3);
    let (runtime, none) = (runtime(), ReplicaSharing::NONE);
    let of = prepare_plan(&gpt, &runtime, (1, p, v), none, Schedule::Interleaved);
    let block = of.weights().stored_bytes(1, 1) as f64;
    // Two of 24 blocks on each of 12 virtual stages; the first has the embedding instead of one.
    let place = |virtual_stages| Place {
        stage: 0,
        stages: p,
        micro_batches: 16,
        virtual_stages,
    };
    let kept = (0..v).map(|own| Schedule::Interleaved.in_flight(place(v), own));
    let kept: f64 = kept.map(|n| f64::from(n) * 2.0 * block).sum();
    let flat = f64::from(Schedule::OneForwardOneBackward.in_flight(place(1), 0)) * 6.0 * block;
    let factor = 1.0 + f64::from(p - 1) / f64::from(p * v);
    close(kept / flat, factor, 1e-9);
}

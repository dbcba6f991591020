//! Closed forms of what plans hold, compute and send in their forms.

use std::sync::Arc;

use super::super::architecture::library as models;
use super::super::law::constants::{COUNT, Constant, Constants};
use super::super::law::kernels::Device;
use super::super::law::{GpuNode, LayerLaw};
use super::super::runtime::{Attention, Recompute, Shard, StateBytes};
use super::super::{
    Activations, Architecture, LayerProfile, Misfit, NodeKind, ParallelPlan, ReplicaSharing,
    Runtime, Schedule,
};
use super::*;

const NETWORK: f64 = 1e9;

/// Constants under which everything reaches its peak and nothing takes time beside it.
fn ideal() -> Constants {
    let mut all = [1.0; COUNT];
    for none in [
        Constant::Inner,
        Constant::Few,
        Constant::Tile,
        Constant::Passes,
        Constant::LaunchS,
        Constant::TensorLaunchS,
        Constant::LinkS,
        Constant::NetworkS,
        Constant::Optimizer,
        Constant::StepS,
        Constant::MessageS,
    ] {
        all[none as usize] = 0.0;
    }
    Constants(all)
}

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

fn replicas(
    model: &Architecture,
    runtime: &Runtime,
    data: u32,
    sharing: ReplicaSharing,
) -> Result<(PreparedPlan, LayerProfile), Misfit> {
    of(
        model,
        runtime,
        (data, 1, 1),
        sharing,
        Schedule::OneForwardOneBackward,
    )
}

fn of(
    model: &Architecture,
    runtime: &Runtime,
    (data, pipeline, virtual_stages): (u32, u32, u32),
    sharing: ReplicaSharing,
    schedule: Schedule,
) -> Result<(PreparedPlan, LayerProfile), Misfit> {
    let node = GpuNode {
        gpu: "A".into(),
        device: Device {
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
    let cuts: Vec<u32> = (1..=stages)
        .map(|n| {
            if n == stages {
                profile.layers - 1
            } else {
                n * each - 1
            }
        })
        .collect();
    let even = ParallelPlan::even(
        &kinds,
        &vec![0; pipeline as usize],
        &cuts,
        data,
        1,
        1,
        data / sharing.context * 4 * pipeline,
        schedule,
    )?;
    let plan = ParallelPlan { sharing, ..even };
    let prepared = PreparedPlan::new(&profile, &links, &kinds, runtime, &plan)?;
    Ok((prepared, profile))
}

fn close(found: f64, expected: f64, tolerance: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off < tolerance, "{found}, expected {expected}: {off}");
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
        let (plan, profile) =
            replicas(&gpt, &runtime, data, ReplicaSharing::NONE).expect("it fits");
        let weights = profile.weights(1).expect("known");
        let stored = weights.stored_bytes(0, profile.layers - 1) as f64;
        let held = plan.peak_memory_bytes(0) as f64 - stored;
        held / weights.parameters(0, profile.layers - 1) as f64
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
    let seconds = |recompute| {
        let runtime = Runtime {
            recompute,
            ..runtime()
        };
        let (_, profile) = replicas(&gpt, &runtime, 1, ReplicaSharing::NONE).expect("it fits");
        let times = profile.times(0, 1, 1).expect("known");
        (
            times.seconds_between(1, gpt.layers),
            profile
                .weights(1)
                .expect("known")
                .stored_bytes(1, gpt.layers),
        )
    };
    let (none, _) = seconds(Recompute::None);
    let (full, kept) = seconds(Recompute::Full);
    close(full.backward - none.backward, none.forward, 1e-9);
    close(full.forward, none.forward, 1e-9);
    let blocks = f64::from(gpt.layers);
    close(
        kept as f64,
        blocks * 2.0 * 1024.0 * f64::from(gpt.hidden),
        1e-9,
    );
    // A profile that was measured is made to compute again in the same way.
    let (_, measured) = replicas(&gpt, &runtime(), 1, ReplicaSharing::NONE).expect("it fits");
    let again = measured.recomputed();
    let times = again
        .times(0, 1, 1)
        .expect("known")
        .seconds_between(1, gpt.layers);
    close(times.backward, full.backward, 1e-9);
    let weights = again.weights(1).expect("known");
    close(
        weights.stored_bytes(1, gpt.layers) as f64,
        kept as f64,
        1e-9,
    );
}

/// Each of c replicas that share a sequence receives (c − 1)/c of its keys and values before attention, as many once more on the way
/// back, and sends as many gradients: 3 (c − 1)/c · 2 · 2 s h bytes per layer, micro-batch and step. They compute 1/c of it.
#[test]
fn shared_sequences_send_keys_and_values() {
    let gpt = model("gpt3-1.3b");
    let none = Runtime {
        recompute: Recompute::None,
        ..runtime()
    };
    for context in [2, 4, 8] {
        let sharing = ReplicaSharing {
            context,
            ..ReplicaSharing::NONE
        };
        let (plan, profile) = replicas(&gpt, &none, context, sharing).expect("it fits");
        let own = profile
            .times(0, 1, 1)
            .expect("known")
            .seconds_between(0, profile.layers - 1);
        let of = f64::from(context);
        let bytes = 2.0 * 2.0 * 1024.0 * f64::from(gpt.hidden) * f64::from(gpt.layers);
        let sent = plan.breakdown().compute_s / 4.0 - own.forward - own.backward;
        close(sent, 3.0 * (of - 1.0) / of * bytes / NETWORK, 1e-6);
        let (_, whole) = replicas(&gpt, &none, 1, ReplicaSharing::NONE).expect("it fits");
        let alone = whole
            .times(0, 1, 1)
            .expect("known")
            .seconds_between(1, gpt.layers);
        let shared = profile
            .times(0, 1, 1)
            .expect("known")
            .seconds_between(1, gpt.layers);
        // Five kernels of a block follow each other after 2 microseconds.
        let kernels = 5.0 * 2e-6 * f64::from(gpt.layers);
        close(
            (shared.forward - kernels) * of,
            alone.forward - kernels,
            1e-6,
        );
    }
}

/// Each of e replicas that share experts sends (e − 1)/e of the k h values of its tokens there, takes them back, and does both with their
/// gradients: 4 (e − 1)/e · 2 s k h bytes per layer, micro-batch and step. It holds 1/e of the experts, and computes as much.
#[test]
fn shared_experts_are_sent_tokens() {
    let moe = model("mixtral-8x7b");
    let (_, alone) = replicas(&moe, &runtime(), 1, ReplicaSharing::NONE).expect("it fits");
    let whole = alone
        .times(0, 1, 1)
        .expect("known")
        .seconds_between(1, moe.layers);
    for expert in [2, 4, 8] {
        let sharing = ReplicaSharing {
            expert,
            ..ReplicaSharing::NONE
        };
        let (plan, profile) = replicas(&moe, &runtime(), expert, sharing).expect("it fits");
        let of = f64::from(expert);
        let own = profile
            .times(0, 1, 1)
            .expect("known")
            .seconds_between(0, profile.layers - 1);
        let bytes = 2.0 * 1024.0 * 2.0 * f64::from(moe.hidden) * f64::from(moe.layers);
        let sent = plan.breakdown().compute_s / 4.0 - own.forward - own.backward;
        close(sent, 4.0 * (of - 1.0) / of * bytes / NETWORK, 1e-6);
        let blocks = profile
            .times(0, 1, 1)
            .expect("known")
            .seconds_between(1, moe.layers);
        close(blocks.forward, whole.forward, 0.02);
        let weights = profile.weights(1).expect("known");
        let of_experts = alone.weights(1).expect("known").expert_parameters(0, 33) as f64;
        close(
            weights.expert_parameters(0, 33) as f64,
            of_experts / of,
            1e-6,
        );
        // Experts that nobody else holds are reduced by nobody.
        let dense = weights.parameters(0, 33) as f64 - weights.expert_parameters(0, 33) as f64;
        let reduced = 2.0 * (of - 1.0) / of * dense * 2.0 / NETWORK;
        close(plan.breakdown().gradients_s, reduced, 1e-6);
    }
    // Room for 1.25 times the mean is filled.
    let roomy = Runtime {
        capacity_factor: 1.25,
        ..runtime()
    };
    let routed = |runtime: &Runtime| {
        let (_, profile) = replicas(&moe, runtime, 1, ReplicaSharing::NONE).expect("it fits");
        profile.weights(1).expect("known").routed_bytes(0, 33) as f64
    };
    close(routed(&roomy), 1.25 * routed(&runtime()), 1e-6);
}

/// Activations that the host keeps take their bytes over the link there and back, as far as computing does not hide it; two micro-batches
/// of them remain.
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
        of(&gpt, runtime, (1, 4, 1), none, Schedule::GPipe).expect("it fits")
    };
    let ((with, profile), (without, _)) = (one_by_one(&slow), one_by_one(&runtime()));
    let weights = profile.weights(1).expect("known");
    let kept = |layers: (u32, u32)| weights.stored_bytes(layers.0, layers.1) as f64;
    // Stage 2 of four has layers 6 to 11 and 16 micro-batches.
    let (off, on) = (
        without.peak_memory_bytes(1) as f64,
        with.peak_memory_bytes(1) as f64,
    );
    close(off - on, 14.0 * kept((6, 11)), 1e-6);
    let second = &with.lanes[0][1];
    close(second.forward, kept((6, 11)) / 1e9, 1e-6);
    close(second.backward, kept((6, 11)) / 1e9, 1e-6);
    let fast = Runtime {
        offload_bytes_per_s: 1e15,
        ..slow
    };
    close(one_by_one(&fast).0.step_s(), without.step_s(), 1e-9);
}

/// v virtual stages hold (1 + (p − 1)/(p v)) of what 1F1B does on the first stage: Korthikanti et al., section 4.2.3.
#[test]
fn virtual_stages_hold_more_by_the_published_factor() {
    // 24 blocks, embedding and head: on the first stage, all blocks alike.
    let gpt = model("gpt3-1.3b");
    let (p, v) = (4, 3);
    let runtime = runtime();
    let none = ReplicaSharing::NONE;
    let (_, profile) = of(&gpt, &runtime, (1, p, v), none, Schedule::Interleaved).expect("fits");
    let block = profile.weights(1).expect("known").stored_bytes(1, 1) as f64;
    // Two of 24 blocks on each of 12 virtual stages; the first has the embedding in place of one.
    let place = |virtual_stages| Place {
        stage: 0,
        stages: p,
        micro_batches: 16,
        virtual_stages,
    };
    let kept: f64 = (0..v)
        .map(|own| f64::from(Schedule::Interleaved.in_flight(place(v), own)) * 2.0 * block)
        .sum();
    let flat = f64::from(Schedule::OneForwardOneBackward.in_flight(place(1), 0)) * 6.0 * block;
    let factor = 1.0 + f64::from(p - 1) / f64::from(p * v);
    close(kept / flat, factor, 1e-9);
}

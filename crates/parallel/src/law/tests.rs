//! Compares terms of the law with independent counts, and with published forms.

use super::bytes::BytesOf;
use super::constants::{COUNT, Constant, Constants, GENERATIONS};
use super::kernels::{Device, Kernels};
use super::layer::{self, LayerSeconds};
use super::shape::Shape;
use super::{GpuNode, LayerLaw, bytes};
use crate::ReplicaSharing;
use crate::architecture::{Architecture, ModelTable, library};
use crate::runtime::Attention::{self, Flash, Plain};
use crate::runtime::{Recompute, Runtime};
use crate::tuning::TrainingMethod;
use scavsim_base::tests::close;

pub(crate) const PEAK: f64 = 1e14;
pub(crate) const MICRO_BATCH: f64 = 4.0;
pub(crate) const SEQUENCE: f64 = 1024.0;

/// Constants under which everything reaches its peak and nothing else needs time.
pub(crate) fn ideal() -> Constants {
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
        Constant::AdapterLaunchS,
        Constant::ShardLaunchS,
    ] {
        all[none as usize] = 0.0;
    }
    Constants(all)
}

pub(crate) fn device() -> Device {
    let ampere = GENERATIONS.iter().position(|name| *name == "ampere");
    Device {
        peak_flops: PEAK,
        wide_flops: PEAK,
        memory_bytes_per_s: 1e18,
        multiprocessors: 100.0,
        generation: ampere.expect("known"),
        value_bytes: 2.0,
    }
}

pub(crate) fn bytes_of(sequence: f64, tensor: u32) -> BytesOf {
    BytesOf {
        sequence,
        tensor,
        sharing: ReplicaSharing::NONE,
        value_bytes: 2.0,
        input_bytes: 2.0,
    }
}

fn shape(tensor: u32) -> Shape {
    Shape {
        sharing: ReplicaSharing::NONE,
        micro_batch: MICRO_BATCH,
        sequence: SEQUENCE,
        tensor,
        all_reduce_s: 0.0,
    }
}

fn model(table: ModelTable) -> Architecture {
    table.architecture("test").expect("legal")
}

fn gpt() -> Architecture {
    model(ModelTable {
        layers: 2,
        hidden: 2048,
        heads: 16,
        vocabulary: 51_200,
        tied: true,
        ..ModelTable::default()
    })
}

pub(crate) fn runtime(attention: Attention, recompute: Recompute) -> Runtime {
    Runtime {
        attention,
        recompute,
        ..Runtime::default()
    }
}

pub(crate) fn block(model: &Architecture, runtime: &Runtime, gpus: u32) -> LayerSeconds {
    let constants = ideal();
    let kernels = Kernels::new(device(), &constants);
    layer::block(model, 0, runtime, &kernels, shape(gpus))
}

/// Bytes that a block keeps of a sequence shared by `gpus` GPUs.
fn stored(model: &Architecture, runtime: &Runtime, gpus: u32) -> f64 {
    bytes::block(model, 0, runtime, bytes_of(SEQUENCE, gpus)).stored as f64
}

/// 24 b s h² + 4 b s² h operations of a block forward (Narayanan et al., SC 2021, appendix), at the peak; twice as many
/// backward, three times with full recomputation. Kernels add 2 µs each.
#[test]
fn a_block_takes_its_operations() {
    let gpt = gpt();
    let (h, n) = (2048.0, MICRO_BATCH * SEQUENCE);
    let forward = (24.0 * n * h * h + 4.0 * n * SEQUENCE * h) / PEAK + 6.0 * 2e-6;
    let times = |recompute| block(&gpt, &runtime(Plain, recompute), 1);
    let kept = times(Recompute::None);
    close(kept.forward, forward, 2e-3);
    close(kept.backward, 2.0 * forward, 2e-3);
    close(times(Recompute::Full).backward, 3.0 * forward, 2e-3);
    let scores = 4.0 * n * SEQUENCE * h / PEAK;
    let again = times(Recompute::Selective).backward;
    close(again, 2.0 * forward + scores, 2e-3);
    // Two GPUs that share it halve it.
    let shared = block(&gpt, &runtime(Plain, Recompute::None), 2);
    close(shared.forward, forward / 2.0, 4e-3);
    // The head has 2 b s h V.
    let constants = ideal();
    let full = TrainingMethod::Full;
    let head = layer::head(&gpt, full, &Kernels::new(device(), &constants), shape(1));
    close(head.forward, 2.0 * n * h * 51_200.0 / PEAK, 2e-3);
}

/// Fused attention of a causal model has half the scores, and five products on the way back for two.
#[test]
fn fused_attention_has_half_the_scores_of_a_causal_model() {
    let of = |causal| {
        let model = Architecture { causal, ..gpt() };
        block(&model, &runtime(Flash, Recompute::None), 1)
    };
    let scores = 4.0 * MICRO_BATCH * SEQUENCE * SEQUENCE * 2048.0 / PEAK;
    let (half, whole) = (of(true), of(false));
    close(whole.forward - half.forward, scores / 2.0, 1e-6);
    close(whole.backward - half.backward, 2.5 * scores / 2.0, 1e-6);
}

/// Products with narrow matrices need the time of their memory traffic.
#[test]
fn narrow_products_wait_for_the_memory() {
    let constants = ideal();
    let slow = Device {
        memory_bytes_per_s: 1e9,
        ..device()
    };
    let kernels = Kernels::new(slow, &constants);
    let (m, k, n) = (4.0, 8192.0, 8192.0);
    let bytes = 2.0 * (m * k + k * n + m * n);
    close(kernels.product_s(m, k, n), bytes / 1e9, 1e-4);
    // 101 tiles on 100 multiprocessors need the time of 200.
    let mut tiled = ideal();
    tiled.0[Constant::Tile as usize] = 1.0;
    let kernels = Kernels::new(device(), &tiled);
    let [full, one_more] = [12_800.0, 12_928.0].map(|rows| kernels.product_s(rows, 4096.0, 128.0));
    close((one_more - 2e-6) / (full - 2e-6), 2.0, 1e-9);
}

/// A token uses some of the experts: as many operations as its active ones, for any number of experts.
#[test]
fn experts_cost_what_a_token_goes_through() {
    let with = |experts, active| {
        let table = ModelTable {
            layers: 1,
            hidden: 1024,
            heads: 16,
            ffn: Some(2048),
            vocabulary: 1000,
            experts: Some(experts),
            active_experts: Some(active),
            ..ModelTable::default()
        };
        block(&model(table), &runtime(Flash, Recompute::None), 1).forward
    };
    let one = 4.0 * MICRO_BATCH * SEQUENCE * 1024.0 * 2048.0 / PEAK;
    close(with(8, 4) - with(8, 2), 2.0 * one, 1e-3);
    // More of them add their launches.
    assert!(with(16, 2) - with(8, 2) < 40e-6);
}

/// s b h (34 + 5 a s/h) bytes of a block without a gate, 34 s b h without scores, 2 s b h with its input alone; shared by t GPUs
/// s b h (10 + 24/t). Source: Korthikanti et al., MLSys 2023, equations 1, 2 and table 2.
#[test]
fn activations_take_the_published_bytes() {
    let with = |dropout| Architecture { dropout, ..gpt() };
    let (gpt, calm) = (with(true), with(false));
    let (s, h, a) = (SEQUENCE, 2048.0, 16.0);
    let scores = 5.0 * a * s / h;
    for (attention, recompute, tensor, expected) in [
        (Plain, Recompute::None, 1, 34.0 + scores),
        (Plain, Recompute::Selective, 1, 34.0),
        (Flash, Recompute::None, 1, 34.0),
        (Plain, Recompute::Full, 1, 2.0),
        (Plain, Recompute::Selective, 8, 10.0 + 24.0 / 8.0),
    ] {
        let kept = stored(&gpt, &runtime(attention, recompute), tensor);
        close(kept, s * h * expected, 1e-9);
    }
    // If the sequence is shared, too, everything is: s b h (34 + 5 a s/h)/t, and with its input alone 2 s b h/t (ibid., equation 4).
    for (recompute, expected) in [
        (Recompute::None, 34.0 + scores),
        (Recompute::Selective, 34.0),
        (Recompute::Full, 2.0),
    ] {
        let mut runtime = runtime(Plain, recompute);
        runtime.sequence_parallel = true;
        close(stored(&gpt, &runtime, 8), s * h * expected / 8.0, 1e-9);
    }
    // A sequence shared by two replicas has half its length on each, but its scores are with all of it.
    let mut halved = bytes_of(s, 1);
    halved.sharing.context = 2;
    let (plain, flash) = (
        runtime(Plain, Recompute::None),
        runtime(Flash, Recompute::None),
    );
    let half = bytes::block(&gpt, 0, &plain, halved).stored as f64;
    close(half, s * h * (34.0 + scores) / 2.0, 1e-9);
    // Without dropout no masks are kept, and scores only once.
    let kept = s * h * (32.0 + 2.0 * a * s / h);
    close(stored(&calm, &plain, 1), kept, 1e-9);
    close(stored(&calm, &flash, 1), 32.0 * s * h, 1e-9);
}

/// Two all-reduces each way where GPUs share a layer: 4 (t − 1)/t times its output over the link forward.
#[test]
fn shared_layers_reduce_their_outputs() {
    let mut constants = ideal();
    constants.0[Constant::Link as usize] = 0.5;
    let gpt = gpt();
    let plain = runtime(Plain, Recompute::None);
    let forward = |runtime: &Runtime, link_bytes_per_s: f64| {
        let law = LayerLaw {
            sharing: ReplicaSharing::NONE,
            model: &gpt,
            sequence: 1024,
            runtime,
            constants: &constants,
        };
        let node = GpuNode {
            gpu: "A".into(),
            device: device(),
            gpus: 8,
            link_bytes_per_s,
            network_bytes_per_s: None,
        };
        law.seconds(&node, 4, 4)[1].forward
    };
    let output = MICRO_BATCH * SEQUENCE * 2048.0 * 2.0;
    let each = 2.0 * 0.75 * output / (0.5 * 1e9);
    let alone = forward(&plain, 1e18);
    close(forward(&plain, 1e9) - alone, 2.0 * each, 1e-6);
    let compressed = Runtime {
        compress: 10,
        coding_bytes_per_s: 1e11,
        ..plain
    };
    let coded = each / 10.0 + 2.0 * output / 1e11;
    close(forward(&compressed, 1e9) - alone, 2.0 * coded, 1e-6);
}

/// 6 N + 12 L h s per token of a model without grouped heads, N without the embedding, a lookup (PaLM, appendix B).
#[test]
fn a_token_has_the_published_operations() {
    let llama = library::embedded("llama-2-7b").expect("embedded");
    let products = llama.parameters() as f64 - 32_000.0 * 4096.0;
    let expected = 6.0 * products + 12.0 * 32.0 * 4096.0 * 4096.0;
    close(llama.token_flops(4096.0), expected, 1e-12);
}

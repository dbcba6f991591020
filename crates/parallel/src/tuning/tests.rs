//! Compares fine-tuning with published counts of adapters and with manual counts of operations.

use std::sync::Arc;

use super::*;
use crate::ReplicaSharing;
use crate::architecture::library::embedded;
use crate::gpu::{self, Precision};
use crate::law::kernels::Kernels;
use crate::law::layer;
use crate::law::run::PlanRun;
use crate::law::shape::Shape;
use crate::law::tests::{MICRO_BATCH, PEAK, SEQUENCE, bytes_of, device, ideal, runtime};
use crate::law::{GpuNode, bytes};
use crate::memory::{GIB, trained_bytes};
use crate::runtime::{Attention, Recompute, Shard, StateBytes, preset};
use scavsim_base::tests::close;
use scavsim_read::input::Diagnostics;

fn model(name: &str) -> Arc<Architecture> {
    embedded(name).expect("embedded")
}

fn method(word: &str, name: &str) -> TrainingMethod {
    TrainingMethod::read(word, &model(name)).expect("legal")
}

/// PEFT prints as many trainable parameters: 39,976,960 and 8,388,608 of Llama 2 7B, 41,943,040 of Llama 3 8B.
#[test]
fn adapters_have_the_published_parameters() {
    for (name, word, published) in [
        ("llama-2-7b", "lora:16", 39_976_960),
        ("llama-2-7b", "lora:8:attention", 8_388_608),
        ("llama-3-8b", "qlora:16", 41_943_040),
    ] {
        let trained = method(word, name).trained_parameters(&model(name));
        assert_eq!(trained, published, "{name} {word}");
    }
    // In a mixture, each of eight experts has its own.
    let mixture = model("mixtral-8x7b");
    let dense = model("mistral-7b");
    let linear = |model: &Architecture| method("lora:4", "mistral-7b").trained_parameters(model);
    let attention =
        |model: &Architecture| method("lora:4:attention", "mistral-7b").trained_parameters(model);
    assert_eq!(attention(&mixture), attention(&dense));
    let ffn = linear(&dense) - attention(&dense);
    assert_eq!(linear(&mixture) - attention(&mixture), 8 * ffn);
}

/// Llama 2 7B has 6,476,005,376 parameters in matrices of blocks and 2 × 131,072,000 others: 2 bytes each, or 4.127 bits in blocks.
#[test]
fn frozen_parameters_take_their_bytes() {
    close(8.0 * FOUR_BIT_BYTES, 4.127, 1e-4);
    let llama = model("llama-2-7b");
    let weighed = |word: &str| {
        let mut own = runtime(Attention::Flash, Recompute::Full);
        own.training = method(word, "llama-2-7b");
        let of = bytes_of(SEQUENCE, 1);
        let mut all = vec![
            bytes::embedding(&llama, own.training, of),
            bytes::head(&llama, own.training, of),
        ];
        all.extend((0..llama.layers).map(|block| bytes::block(&llama, block, &own, of)));
        let sum = |part: fn(&bytes::LayerBytes) -> u64| all.iter().map(part).sum::<u64>() as f64;
        [
            sum(|layer| layer.frozen),
            sum(|layer| layer.parameters),
            sum(|layer| layer.stored),
        ]
    };
    let (matrices, beside) = (6_476_005_376.0, 262_144_000.0);
    let [lora, trained, _] = weighed("lora:16");
    close(lora, 2.0 * (matrices + beside), 1e-9);
    assert_eq!(trained, 39_976_960.0);
    let [packed, trained, _] = weighed("qlora:16");
    close(packed, FOUR_BIT_BYTES * matrices + 2.0 * beside, 1e-8);
    assert_eq!(trained, 39_976_960.0);
    let [none, all, kept] = weighed("full");
    assert_eq!((none, all), (0.0, matrices + beside));
    // A quarter of the blocks and the embedding are frozen, and keep nothing.
    let [frozen, rest, stored] = weighed("frozen:8");
    close(frozen, 2.0 * (matrices / 4.0 + beside / 2.0), 1e-9);
    close(rest, 0.75 * matrices + beside / 2.0, 1e-9);
    let inputs = 8.0 * SEQUENCE * 4096.0 * 2.0;
    close(kept - stored, inputs, 1e-9);
    // Four bytes each of weights and gradients of adapters, two moments, a copy.
    let usual = StateBytes {
        weights: 2.0,
        gradients: 2.0,
        optimizer: 12.0,
    };
    let of = |word: &str, optimizer| {
        let own = trained_bytes(method(word, "llama-2-7b"), optimizer, usual);
        own.weights + own.gradients + own.optimizer
    };
    close(of("full", Optimizer::AdamW), 16.0, 1e-12);
    close(of("lora:16", Optimizer::AdamW), 20.0, 1e-12);
    close(
        of("full", Optimizer::AdamW8Bit),
        4.0 + 2.0 * 1.015625,
        1e-12,
    );
}

/// 6 N + 12 L h s operations of a token of Llama 2 7B at 4,096 tokens; 4 N + 6 A + 12 L h s with adapters of A parameters.
#[test]
fn frozen_parameters_have_no_gradients_to_compute() {
    let llama = model("llama-2-7b");
    let (products, scores) = (
        6_476_005_376.0 + 131_072_000.0,
        12.0 * 32.0 * 4096.0 * 4096.0,
    );
    let flops = |word: &str| method(word, "llama-2-7b").token_flops(&llama, 4096.0);
    close(flops("full"), 6.0 * products + scores, 1e-12);
    close(
        flops("lora:16"),
        4.0 * products + 6.0 * 39_976_960.0 + scores,
        1e-12,
    );
    // All blocks frozen: they go forward only, the head is trained.
    let head = 131_072_000.0;
    close(
        flops("frozen:32"),
        2.0 * (products - head) + scores / 3.0 + 6.0 * head,
        1e-12,
    );
}

/// Seconds of a block at the peak: without gradients of weights one product of two remains backward; adapters add four of
/// their own forward and backward twice that; a block before all trained ones does not go backward.
#[test]
fn a_block_with_adapters_takes_its_operations() {
    let llama = model("llama-2-7b");
    let constants = ideal();
    let kernels = Kernels::new(device(), &constants);
    let shape = Shape {
        sharing: ReplicaSharing::NONE,
        micro_batch: MICRO_BATCH,
        sequence: SEQUENCE,
        tensor: 1,
        all_reduce_s: 0.0,
    };
    let block = |word: &str| {
        let mut own = runtime(Attention::Flash, Recompute::None);
        own.training = method(word, "llama-2-7b");
        layer::block(&llama, 0, &own, &kernels, shape)
    };
    let tokens = MICRO_BATCH * SEQUENCE;
    let products = 2.0 * tokens * 202_375_168.0 / PEAK;
    // 7 matrices with two products of 2 µs each.
    let adapters = 2.0 * tokens * 39_976_960.0 / 32.0 / PEAK + 14.0 * 2e-6;
    let (full, lora) = (block("full"), block("lora:16"));
    close(lora.forward - full.forward, adapters, 2e-2);
    close(
        full.backward - lora.backward,
        products - 2.0 * adapters,
        2e-2,
    );
    close(lora.weights, adapters, 2e-2);
    let frozen = block("frozen:1");
    assert_eq!((frozen.backward, frozen.update), (0.0, 0.0));
    close(frozen.forward, full.forward, 1e-12);
    // Unpacking is bound by memory: 2.516 bytes per parameter.
    let mut slow = device();
    slow.memory_bytes_per_s = 1e12;
    let kernels = Kernels::new(slow, &constants);
    let seconds = |word: &str| {
        let mut own = runtime(Attention::Flash, Recompute::None);
        own.training = method(word, "llama-2-7b");
        layer::block(&llama, 0, &own, &kernels, shape).forward
    };
    let unpacked = 202_375_168.0 * (FOUR_BIT_BYTES + 2.0) / 1e12;
    close(seconds("qlora:16") - seconds("lora:16"), unpacked, 1e-9);
}

/// Seconds of a step and GiB of a GPU under the shipped runtime.
fn figures(name: &str, word: &str, gpu: &str, gpus: u32) -> [f64; 2] {
    let sheet = gpu::named(gpu).expect("listed");
    let preset = preset::embedded("transformers", &mut Diagnostics::default()).expect("shipped");
    let run = PlanRun {
        model: model(name),
        node: GpuNode {
            gpu: Arc::clone(&sheet.name),
            device: sheet.device(Precision::Bf16).expect("it has"),
            gpus: 8,
            link_bytes_per_s: sheet.link_bytes_per_s(),
            network_bytes_per_s: None,
        },
        gpus,
        sequence: 512,
        tensor: 1,
        pipeline: 1,
        micro_batch: 1,
        global_batch: gpus,
        attention: None,
        recompute: None,
        shard: Some(if gpus > 1 { Shard::Full } else { Shard::None }),
        sequence_parallel: None,
        training: method(word, name),
        virtual_stages: 1,
        sharing: ReplicaSharing::NONE,
    };
    let prepared = run
        .prepared(&preset.settings, &preset.prior.medians)
        .expect("a plan");
    [
        prepared.step_s(),
        prepared.peak_memory_bytes(0) as f64 / GIB,
    ]
}

/// A larger rank is never faster or smaller; packed weights never need more memory than those in 16 bits, adapters never more
/// than training everything.
#[test]
fn figures_grow_with_what_is_trained() {
    for (name, gpu, gpus) in [
        ("llama-3.2-1b", "RTX-4090", 1),
        ("llama-3-8b", "A100-80", 1),
        ("qwen2.5-14b", "H100", 4),
        ("llama-3-70b", "H100", 8),
        ("mixtral-8x7b", "B200", 2),
    ] {
        let of = |word: &str| figures(name, word, gpu, gpus);
        for kind in ["lora", "qlora"] {
            let mut before = [0.0; 2];
            for rank in [1, 2, 8, 16, 64, 127, 128, 129, 200, 256, 257, 512] {
                let own = of(&format!("{kind}:{rank}"));
                assert!(
                    own[0] >= before[0] && own[1] >= before[1],
                    "{name} {kind} {rank}"
                );
                before = own;
            }
        }
        let [full, lora, qlora] = ["full", "lora:16", "qlora:16"].map(|word| of(word)[1]);
        assert!(
            qlora <= lora && lora <= full,
            "{name}: {qlora} {lora} {full}"
        );
        let blocks = model(name).layers;
        let mut before = of("full");
        for frozen in 0..=blocks {
            let own = of(&format!("frozen:{frozen}"));
            assert!(
                own[0] <= before[0] && own[1] <= before[1],
                "{name} frozen {frozen}"
            );
            before = own;
        }
    }
}

#[test]
fn methods_that_cannot_be_say_what_can() {
    let told = |word: &str| TrainingMethod::read(word, &model("llama-2-7b")).expect_err(word);
    for word in [
        "lora:",
        "lora:x",
        "lora:8:all",
        "lora:8:linear:1",
        "Full",
        "frozen",
        "",
    ] {
        let wrong = told(word);
        assert!(
            wrong
                .title
                .contains(&format!("unknown method of training `{word}`")),
            "{wrong:?}"
        );
        assert!(wrong.help.contains("qlora:RANK") && wrong.help.contains("frozen:BLOCKS"));
    }
    assert!(told("lora:0").help.contains("from 1 to the 4096"));
    assert!(told("qlora:4097").title.contains("a rank of 4097"));
    assert!(told("frozen:33").title.contains("32 blocks"));
    for word in [
        "full",
        "frozen:0",
        "frozen:32",
        "lora:4096",
        "qlora:16:attention",
    ] {
        assert_eq!(method(word, "llama-2-7b").to_string(), word);
    }
    assert_eq!(method("lora:8:linear", "llama-2-7b").to_string(), "lora:8");
}

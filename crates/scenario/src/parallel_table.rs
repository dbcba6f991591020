//! The form of `[parallel]`: a model that is partitioned over GPUs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::axis::Axis;
use super::failures_table::ReactionTable;
use super::file::RentedOn;
use super::forms::{NameOrTable, OneOrMore};
use scavsim_parallel::ModelTable;
use scavsim_parallel::runtime::RuntimeTable;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{Count, Machines, Positive};

/// A model that is trained on GPUs over which it is cut by data, pipeline and tensor parallelism.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParallelTable {
    /// What it is called in results, in place of a workload; the profile's name when absent.
    pub name: Option<Spanned<String>>,
    /// Name of an embedded layer profile, or path of a profile's folder relative to this file.
    pub profile: Option<Spanned<String>>,
    /// A model in place of a profile: its name, the path of an architecture relative to this file (with a `/`), or its numbers.
    /// What its layers cost is predicted by the law of layers.
    pub model: Option<Spanned<NameOrTable<ModelTable>>>,
    /// Tokens of a sequence of `model`; what it was made for when absent.
    pub sequence: Option<Spanned<Count>>,
    /// Precision of `model`: fp32, tf32, fp16, bf16, fp8; that of the runtime when absent.
    pub precision: Option<Spanned<String>>,
    /// The runtime: its name, the path of one relative to this file (with a `/`), or what is other than in its `base`.
    pub runtime: Option<Spanned<NameOrTable<RuntimeTable>>>,
    /// GPUs of one's own, by name, for `model`.
    pub gpus: BTreeMap<String, GpuTable>,
    /// Path of a table of links relative to this file; those that are embedded when absent.
    pub links: Option<Spanned<String>>,
    /// Sequences of a step, over all replicas.
    pub global_batch: Option<Spanned<Axis>>,
    /// Tokens to the target; or `target_steps`.
    #[schemars(range(min = 1, max = 1e18))]
    pub target_tokens: Option<Spanned<f64>>,
    /// Steps to the target, with the smallest of the global batches.
    pub target_steps: Option<Spanned<Count>>,
    /// Noise scale in sequences: with a batch B the target takes 1 + B / it times the tokens; the same tokens with every
    /// batch when absent.
    pub noise_scale: Option<Positive>,
    /// Schedules of the pipeline; `1f1b` when absent.
    pub schedule: Option<Spanned<OneOrMore<String>>>,
    /// Virtual stages of a GPU, with the schedule `interleaved-1f1b`; 2 when absent.
    pub virtual_stages: Option<Spanned<Axis>>,
    /// What the backward pass computes again: `none`, `selective` (scores of attention), `full` (all but the input of each
    /// block); one or several, as an axis. What the runtime does when absent.
    pub recompute: Option<Spanned<OneOrMore<String>>>,
    /// What replicas hold in parts: `none`, `optimizer` (ZeRO-1), `gradients` (ZeRO-2), `full` (ZeRO-3, FSDP); one or several, as
    /// an axis. What the runtime does when absent.
    pub shard: Option<Spanned<OneOrMore<String>>>,
    /// Whether GPUs that share a layer of `model` also share what lies between its products; true, false or both, as an axis.
    pub sequence_parallel: Option<Spanned<OneOrMore<bool>>>,
    /// Whether hosts keep activations, at the runtime's `offload_gb_per_s`; true, false or both, as an axis.
    pub offload: Option<Spanned<OneOrMore<bool>>>,
    /// How many times smaller messages between GPUs that share a layer of `model`, and between stages, are on their way, coded at
    /// the runtime's `coding_gb_per_s`; 1 when absent.
    pub compress: Option<Spanned<Axis>>,
    /// Replicas that share each sequence of `model`: context parallelism; 1 when absent.
    pub context: Option<Spanned<Axis>>,
    /// Replicas that share the experts of `model`: expert parallelism; 1 when absent.
    pub expert: Option<Spanned<Axis>>,
    /// What is trained of `model`: `full`; `lora:16` or `qlora:16`, adapters of rank 16 beside all matrices of blocks (with
    /// `:attention`, of attention); `frozen:24`, all but the embedding and the first 24 blocks. All when absent.
    pub train: Option<Spanned<String>>,
    /// Optimiser of `model`: `adamw`, or `adamw-8bit` with moments of 8 bits and no copy of the weights; `adamw` when absent.
    pub optimizer: Option<Spanned<String>>,
    /// Nodes: VM types with their GPUs.
    #[schemars(length(min = 1))]
    pub nodes: Option<Spanned<Vec<Spanned<NodeTable>>>>,
    /// VM types of equal parts of the pipeline, from its first stages to its last, for pipelines over unlike VMs; besides
    /// pipelines over VMs that are alike.
    pub mixes: Vec<Spanned<Vec<Spanned<String>>>>,
    /// VM types of unlike replicas: equal parts of the replicas follow each pipeline, which has the VM types of its equal parts;
    /// besides replicas that are alike.
    pub replicas: Vec<Spanned<Vec<Spanned<String>>>>,
    /// On which terms VMs are rented; as the price says when absent, or on spot terms where there is `[spot]`.
    pub markets: Option<Spanned<Vec<Spanned<RentedOn>>>>,
    /// Most GPUs of a plan; 64 when absent.
    pub most_gpus: Option<Machines>,
    /// VMs in all; any number when absent.
    pub vms: Option<Spanned<Axis>>,
    /// Data-parallel replicas; any number when absent.
    pub data: Option<Spanned<Axis>>,
    /// Stages of the pipeline; any number up to that of layers when absent.
    pub pipeline: Option<Spanned<Axis>>,
    /// GPUs of a VM that share each layer; what was profiled when absent.
    pub tensor: Option<Spanned<Axis>>,
    /// Sequences of a micro-batch; what was profiled when absent. Between two that were, layers are interpolated.
    pub micro_batch: Option<Spanned<Axis>>,
    /// Numbers of layers of each stage, for pipelines of as many stages; others are cut evenly by time.
    pub layers_per_stage: Vec<Spanned<Vec<Count>>>,
    /// GB per second at which a checkpoint goes to its storage and comes back; when absent, it takes what `[spot]` says.
    pub checkpoint_gb_per_s: Option<Positive>,
    /// What the job does when VMs go and come; it waits for others when absent.
    pub reaction: ReactionTable,
    /// Whether the trace that `spot.lifetime` names is also how many GPUs there are on spot terms: plans wait until there
    /// are enough.
    pub capacity: Option<Spanned<bool>>,
}

/// A VM type with its GPUs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTable {
    /// The VM type, for prices.
    pub vm: Spanned<String>,
    /// GPU of the node, as the profile calls it; with `model`, what the VM type has when absent.
    pub gpu: Option<Spanned<String>>,
    /// How many; what the catalogue says when absent.
    pub gpus: Option<Machines>,
    /// Memory of one GPU.
    pub gpu_memory_gib: Option<Positive>,
    /// Network of the node to others, with `model`; what the VM type has when absent.
    pub network_gbit_per_s: Option<Positive>,
    /// Where it is; zones are an axis where there are several.
    pub zone: Option<String>,
    /// On which terms it is rented; as `markets` says when absent.
    pub markets: Option<Spanned<Vec<Spanned<RentedOn>>>>,
}

/// A GPU of one's own, by its data sheet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuTable {
    /// Dense TFLOP/s at the precision that is computed with.
    pub tflops: Positive,
    /// Memory in GiB.
    pub memory_gib: Positive,
    /// 10⁹ bytes per second of its memory.
    pub memory_gb_per_s: Positive,
    /// 10⁹ bytes per second to other GPUs of the node, both ways together.
    pub link_gb_per_s: Positive,
    /// Streaming multiprocessors.
    pub multiprocessors: Count,
    /// Whose constants it has: volta, ampere, hopper, blackwell, cdna; hopper when absent.
    pub generation: Option<Spanned<String>>,
}

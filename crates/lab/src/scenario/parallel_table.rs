//! The form of `[parallel]`: a model that is cut over GPUs.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::axis::Axis;
use super::file::RentedOn;
use scavsim_read::input::checked::{Count, Machines, Positive};

/// A model that is trained on GPUs over which it is cut by data, pipeline and tensor parallelism.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParallelTable {
    /// What it is called in results, in place of a workload; the profile's name when absent.
    #[schemars(with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// Name of an embedded layer profile, or path of a profile's folder relative to this file.
    #[schemars(with = "Option<String>")]
    pub profile: Option<Spanned<String>>,
    /// Path of a table of links relative to this file; those that are embedded when absent.
    #[schemars(with = "Option<String>")]
    pub links: Option<Spanned<String>>,
    /// Sequences of a step, over all replicas.
    #[schemars(with = "Option<Axis>")]
    pub global_batch: Option<Spanned<Axis>>,
    /// Tokens to the target; or `target_steps`.
    #[schemars(with = "Option<f64>", range(min = 1, max = 1e18))]
    pub target_tokens: Option<Spanned<f64>>,
    /// Steps to the target, with the smallest of the global batches.
    #[schemars(with = "Option<Count>")]
    pub target_steps: Option<Spanned<Count>>,
    /// Noise scale in sequences: with a batch B the target takes 1 + B / it times the tokens; the same tokens with every
    /// batch when absent.
    pub noise_scale: Option<Positive>,
    /// Schedules of the pipeline; `1f1b` when absent.
    #[schemars(with = "Vec<String>")]
    pub schedule: Option<Spanned<OneOrMore>>,
    /// Nodes: VM types with their GPUs.
    #[schemars(with = "Vec<NodeTable>", length(min = 1))]
    pub nodes: Option<Spanned<Vec<Spanned<NodeTable>>>>,
    /// VM types of equal parts of the pipeline, from its first stages to its last, for pipelines over unlike VMs; besides
    /// pipelines over VMs that are alike.
    #[schemars(with = "Vec<Vec<String>>")]
    pub mixes: Vec<Spanned<Vec<Spanned<String>>>>,
    /// On which terms VMs are rented; as the price says when absent, or on spot terms where there is `[spot]`.
    #[schemars(with = "Option<Vec<RentedOn>>")]
    pub markets: Option<Spanned<Vec<Spanned<RentedOn>>>>,
    /// Most GPUs of a plan; 64 when absent.
    pub most_gpus: Option<Machines>,
    /// VMs in all; any number when absent.
    #[schemars(with = "Option<Axis>")]
    pub vms: Option<Spanned<Axis>>,
    /// Data-parallel replicas; any number when absent.
    #[schemars(with = "Option<Axis>")]
    pub data: Option<Spanned<Axis>>,
    /// Stages of the pipeline; any number up to that of layers when absent.
    #[schemars(with = "Option<Axis>")]
    pub pipeline: Option<Spanned<Axis>>,
    /// GPUs of a VM that share each layer; what was profiled when absent.
    #[schemars(with = "Option<Axis>")]
    pub tensor: Option<Spanned<Axis>>,
    /// Sequences of a micro-batch; what was profiled when absent.
    #[schemars(with = "Option<Axis>")]
    pub micro_batch: Option<Spanned<Axis>>,
    /// Numbers of layers of each stage, for pipelines of as many stages; others are cut evenly by time.
    #[schemars(with = "Vec<Vec<Count>>")]
    pub layers_per_stage: Vec<Spanned<Vec<Count>>>,
    /// GB per second at which a checkpoint goes to its storage and comes back; when absent, it takes what `[spot]` says.
    pub checkpoint_gb_per_s: Option<Positive>,
    /// Whether the trace that `spot.lifetime` names is also how many GPUs there are on spot terms: plans wait until there
    /// are enough.
    #[schemars(with = "bool")]
    pub capacity: Option<Spanned<bool>>,
}

/// A VM type with its GPUs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTable {
    /// The VM type, for prices.
    #[schemars(with = "String")]
    pub vm: Spanned<String>,
    /// GPU of the node, as the profile calls it.
    #[schemars(with = "String")]
    pub gpu: Spanned<String>,
    /// How many; what the catalogue says when absent.
    pub gpus: Option<Machines>,
    /// Memory of one GPU.
    pub gpu_memory_gib: Option<Positive>,
    /// Where it is; zones are an axis where there are several.
    pub zone: Option<String>,
}

/// A name or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a name or a list of names")]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl OneOrMore {
    /// All of them.
    pub fn all(&self) -> &[String] {
        match self {
            OneOrMore::One(name) => std::slice::from_ref(name),
            OneOrMore::Several(names) => names,
        }
    }
}

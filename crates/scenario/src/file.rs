//! The form of a scenario file. Everything has a default except the workloads, the grid, the bag or the parallel plans.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::axis::{Axis, Exclusion};
pub use super::bag_table::BagTable;
use super::failures_table::CheckpointChoice;
use super::failures_table::FailuresTable;
use super::include::Include;
pub use super::parallel_table::ParallelTable;
use super::scale_axis::ScaleAxis;
pub use super::schema::{SCHEMA_ID, schema};
use scavsim_clusters::SearchGrouping;
use scavsim_data::pricing::PolicyFile;
use scavsim_data::pricing::spot_series_key::Step;
use scavsim_data::workload::Staleness;
use scavsim_provision::policy::registry::Settings as PolicySettings;
use scavsim_provision::policy::search_strategy::Reconsideration;
use scavsim_provision::study::form::{JobTable, MarketTable, StartsTable};
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::{
    Count, Delay, Fraction, HalfWidth, Interval, Machines, MeanLife, MissShare, NonNegative,
    Positive, Probability, Slowdown, Spread,
};
use scavsim_search::search::{Objective, Settings};
use scavsim_sim::cluster::Keeps;
use scavsim_sim::cluster::batching::Batching;
use scavsim_sim::cluster::{Chief, OnLoss};
use scavsim_sim::training::Fidelity;
use scavsim_sim::training::sync::Protocol;

/// A scenario of scavsim.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "scavsim scenario", extend("anyOf" = []))]
pub struct ScenarioFile {
    /// Scenario files whose keys hold where this one sets none, relative to this file; of several,
    /// a later one wins.
    pub include: Option<Spanned<Include>>,
    /// Keys of included files that do not hold, with dots: `spot.lifetime`. Where one way of saying something is to be
    /// replaced by another.
    pub unset: Vec<Spanned<String>>,
    /// Name in results; the file's name when absent.
    pub name: Option<Spanned<String>>,
    /// Seed of all random streams. Same scenario, same seed, same bytes.
    pub seed: u64,
    /// Replicas per combination; 1 when absent.
    pub replicas: Option<Count>,
    /// Half the 95 % interval of mean net overheads at most, as a fraction: there are as many replicas as that takes, `replicas` at
    /// least. When absent, there are `replicas`.
    pub precision: Option<HalfWidth>,
    /// With `precision`: replicas at most; 100,000 when absent.
    pub most_replicas: Option<Spanned<Count>>,
    /// Whether replicas come in pairs of mirrored luck (antithetic variates): narrower intervals of what grows or falls with luck.
    pub antithetic: bool,
    /// How finely runs are simulated.
    pub fidelity: Fidelity,
    /// Names of embedded workloads, or paths of workload folders relative to this file.
    #[schemars(length(min = 1))]
    pub workloads: Option<Spanned<Vec<Spanned<String>>>>,
    /// Name of an embedded measured grid, or path of a grid's folder relative to this file, instead of
    /// workloads.
    pub grid: Option<Spanned<String>>,
    /// Jobs of the grid; those that it takes by default when absent.
    #[schemars(length(min = 1))]
    pub jobs: Option<Spanned<Vec<Spanned<String>>>>,
    /// A bag of independent jobs, instead of both.
    pub bag: Option<Spanned<BagTable>>,
    /// A model that is cut over GPUs, instead of all of these.
    pub parallel: Option<Spanned<ParallelTable>>,
    /// Policies that decide during a run, instead of all of these, with their settings.
    pub policy: Option<Spanned<PolicySettings>>,
    /// The job that policies run.
    pub job: Option<Spanned<JobTable>>,
    /// The market that policies run it on.
    pub market: Option<Spanned<MarketTable>>,
    /// Where lives of the job begin in the market's traces; 20 evenly over them when absent.
    pub starts: Option<Spanned<StartsTable>>,
    /// VM types that were not measured, by name.
    pub vm: BTreeMap<Spanned<String>, VmTable>,
    /// The configurations to choose from.
    pub cluster: ClusterTable,
    /// Kinds of clusters, by name: unlike workers, markets, parameter servers of their own.
    pub kind: BTreeMap<Spanned<String>, Spanned<KindTable>>,
    /// How workers come together, where their kind does not say.
    pub sync: Option<Spanned<Protocol>>,
    /// How workers come together on single workloads, by name.
    pub sync_of: BTreeMap<Spanned<String>, Spanned<Protocol>>,
    /// What stale gradients cost, where the workload does not say.
    pub staleness: Option<Staleness>,
    /// Growing and shrinking with the price of spot VMs.
    pub elastic: Option<Spanned<ElasticTable>>,
    /// VMs that the provider may take away; none when absent.
    pub spot: Option<Spanned<SpotTable>>,
    /// Machines that fail though nobody takes them away; none do when absent. For `parallel`.
    pub failures: Option<Spanned<FailuresTable>>,
    /// What varies at random; all off when absent.
    pub variation: VariationTable,
    /// Pricing policies.
    pub pricing: PricingTable,
    /// Strategies and objectives.
    pub search: SearchTable,
    /// Settings of single strategies, only to change a default.
    pub strategy: Settings,
    /// What no choice may exceed.
    pub limits: LimitsTable,
}

/// The configurations to choose from.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterTable {
    /// VM types, with the workers on every VM behind a slash where that is not one; all that were
    /// measured or defined when absent.
    pub vm: Vec<Spanned<String>>,
    /// Worker counts K.
    pub workers: Option<Spanned<Axis>>,
    /// Global batches B in samples.
    pub batch: Option<Spanned<Axis>>,
    /// Local batches b = B/K in samples, instead of global ones.
    pub local_batch: Option<Spanned<Axis>>,
    /// Pairs of workers and batch, instead of all combinations of the two axes.
    pub pairs: Option<Spanned<Vec<Spanned<[Count; 2]>>>>,
    /// Configurations to leave out.
    pub exclude: Vec<Spanned<Exclusion>>,
    /// What happens to configurations outside what was measured.
    pub outside: OutsideHullRule,
    /// Which configurations a search chooses between.
    pub search: SearchGrouping,
    /// Which batch a cluster keeps when its size changes while it trains; the global one with a barrier, else the
    /// local one, when absent.
    pub resize: Option<Resize>,
    /// Seconds from a request of VMs until they are ready; 0 when absent, but as measured for VMs on demand with `[spot]` or `[failures]`.
    pub start_up_s: Option<Delay>,
}

impl ClusterTable {
    pub(super) fn may_be_on(&self, vm: &str) -> bool {
        self.vm.is_empty() || self.vm.iter().any(|asked| asked.get_ref() == vm)
    }

    pub fn measured_only(&self) -> bool {
        let axes = [&self.workers, &self.batch, &self.local_batch];
        let measured =
            |a: &Option<Spanned<Axis>>| (a.as_ref()).is_none_or(|a| a.get_ref().values().is_none());
        self.pairs.is_none() && axes.into_iter().all(measured)
    }
}

/// What happens to configurations outside what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutsideHullRule {
    /// Configurations outside are an error.
    #[default]
    Refuse,
    /// Configurations outside are left out.
    LeaveOut,
    /// The workload's laws speak for them; where it has none, they are an error.
    Extrapolate,
}

/// Which batch a cluster keeps when its size changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resize {
    /// The global one: every worker has more or fewer samples.
    KeepBatch,
    /// The local one: an update has more or fewer samples.
    KeepLocalBatch,
}

/// A VM type that was not measured and stands in for one that was; with several values, all their
/// combinations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VmTable {
    /// The measured VM type; none for VMs of a measured grid.
    pub like: Option<Spanned<String>>,
    /// Compute time of the VM type over that of the measured type; 1 when absent.
    pub compute_scale: Option<ScaleAxis>,
    /// Communication time of the VM type over that of the measured type; 1 when absent.
    pub network_scale: Option<ScaleAxis>,
    /// Cores, or FLOPS, of a worker, where the workload has a law of its time by them; those of the measured type when absent.
    pub size: Option<Spanned<Positive>>,
    /// Samples of a worker beyond which its throughput falls, likewise.
    pub knee: Option<Spanned<Positive>>,
    /// Memory in GiB, shared by the workers on the VM: it limits the local batch.
    pub memory_gib: Option<Spanned<ScaleAxis>>,
    /// Virtual CPUs, for prices by resource.
    pub vcpu: Option<Positive>,
    /// GPUs, for prices by resource.
    pub gpus: Option<u32>,
    /// USD per hour on demand, for prices by the catalogue.
    pub usd_per_hour: Option<ScaleAxis>,
}

/// VMs that the provider may take away.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpotTable {
    /// Name of a model of `scavsim list lifetimes`; or `exponential_mean_h`.
    pub lifetime: Option<Spanned<String>>,
    /// Mean hours of lives that are exponential.
    pub exponential_mean_h: Option<Spanned<MeanLife>>,
    /// Seconds from a loss until another VM runs in its place; `start_up_s` when absent.
    pub replacement_s: Option<Spanned<Delay>>,
    /// Seconds until another VM runs, at the start of the job too, as measured for spot VMs such as `gcp-k80-us-east1`.
    pub start_up: Option<Spanned<String>>,
    /// Seconds until a spot VM runs; when absent `cluster.start_up_s`, or as measured where that is absent too.
    pub start_up_s: Option<Spanned<Delay>>,
    /// What happens to the place of a lost VM.
    pub on_loss: OnLoss,
    /// Seconds that a new VM takes, once it runs, to join the others; as measured when absent.
    pub cold_join_s: Option<Spanned<Delay>>,
    /// Seconds that all take to go on from a checkpoint; what the workload says when absent, of a plan as measured.
    pub warm_restart_s: Option<Spanned<Delay>>,
    /// Seconds to join and to go on, as measured for a model such as `resnet-32`.
    pub restart: Option<Spanned<String>>,
    /// Fewest workers that train; 1 when absent.
    pub fewest_workers: Option<Machines>,
    /// What the loss of the chief, the first worker, means.
    pub chief: Chief,
    /// What a loss leaves of the work.
    pub keeps: Keeps,
    /// When checkpoints are written; by Young and Daly when absent, where a loss goes back to the last.
    pub checkpoint: Option<CheckpointChoice>,
    /// Seconds that one takes to write; as measured when absent.
    pub checkpoint_write_s: Option<Spanned<Delay>>,
    /// MB of one, which then takes as long as was measured for it.
    pub checkpoint_mb: Option<Spanned<Positive>>,
    /// Whether a last checkpoint is written when the provider warns of a loss.
    pub checkpoint_on_notice: bool,
    /// Seconds from the warning to the loss; what the lifetimes say when absent.
    pub notice_s: Option<Delay>,
}

/// Keys of `[spot]` that may hold several values and make settings, the slowest to change first.
pub(super) const SEVERAL_OF_SPOT: &[&str] = &[
    "spot.exponential_mean_h",
    "spot.fewest_workers",
    "spot.start_up_s",
    "spot.replacement_s",
    "spot.cold_join_s",
    "spot.warm_restart_s",
    "spot.checkpoint.periodic-s",
    "spot.checkpoint_write_s",
    "spot.checkpoint_mb",
    "spot.notice_s",
];

/// A kind of cluster.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindTable {
    /// VM type of all workers, with the workers on every VM behind a slash where that is not one.
    pub vm: Option<Spanned<String>>,
    /// VM types of unlike workers, and how many workers run on each type.
    pub mix: BTreeMap<Spanned<String>, Machines>,
    /// On which terms workers are rented.
    pub market: RentedOn,
    /// Name of a model of `scavsim list lifetimes` for its spot VMs; that of `[spot]` when absent.
    pub lifetime: Option<Spanned<String>>,
    /// On which terms the VM of the first worker is, where that differs.
    pub chief_market: Option<RentedOn>,
    /// How the batches of unlike workers are set, where all wait for the slowest; equal when absent.
    pub batching: Option<Batching>,
    /// Share of each worker's cores that is available, by VM type: hours since the job began, and the share from then on;
    /// all when absent.
    pub availability: BTreeMap<Spanned<String>, Spanned<Vec<AvailabilityStep>>>,
    /// VMs of parameter servers, beside those of the workers.
    pub servers: Option<ServersTable>,
    /// How workers come together.
    pub sync: Option<Spanned<Protocol>>,
    /// How workers of this kind come together on single workloads, by name.
    pub sync_of: BTreeMap<Spanned<String>, Spanned<Protocol>>,
}

/// What is available of a worker: hours since the job began, and the share of its cores from then on.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
pub struct AvailabilityStep(pub NonNegative, pub Fraction);

impl KindTable {
    /// Whether some of its VMs are rented on these terms.
    pub fn is_rented_on(&self, market: RentedOn) -> bool {
        let servers = self.servers.as_ref().map(|servers| servers.market);
        [Some(self.market), self.chief_market, servers].contains(&Some(market))
    }
}

/// On which terms VMs are rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RentedOn {
    /// VMs stay until they are given back.
    #[default]
    OnDemand,
    /// The provider may take them away, on the terms of `[spot]`.
    Spot,
}

/// VMs of parameter servers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServersTable {
    /// VM type of the servers.
    pub vm: String,
    /// How many.
    #[serde(default = "one_machine")]
    pub vms: Machines,
    /// On which terms they are rented.
    #[serde(default)]
    pub market: RentedOn,
}

fn one_machine() -> Machines {
    Machines::ONE
}

/// Growing and shrinking with the price of spot VMs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticTable {
    /// Hours since the job began, and the price from then on over the usual one.
    pub prices: Spanned<Vec<Step>>,
    /// Price at or below which the cluster grows to `most_vms`.
    pub grow_at: Positive,
    /// Price above which it shrinks to `fewest_vms`.
    pub shrink_above: Positive,
    /// VMs of the cluster, or of the first type of a mix, when it has grown.
    pub most_vms: Machines,
    /// VMs of the cluster, or of the first type of a mix, when it has shrunk.
    pub fewest_vms: Machines,
}

/// What varies at random. Every factor is log-normal with mean 1.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VariationTable {
    /// Coefficient of variation of one worker's compute time in one step.
    pub step_cv: Option<Spread>,
    /// σ of one factor on the step time per replica and configuration.
    pub placement_sigma: Option<Spread>,
    /// σ of one factor on the compute time per VM and replica.
    pub vm_sigma: Option<Spread>,
    /// Coefficient of variation of the SGD noise read in one step.
    pub noise_cv: Option<Spread>,
    /// Whether probes read the noise at that point of training, instead of its value
    /// at the target.
    pub noise_curve: bool,
    /// Coefficient of variation of the steps to the target per replica and configuration.
    pub epoch_cv: Option<Spread>,
    /// Slow change of the network.
    pub drift: Option<DriftTable>,
    /// Workers that now and then take much longer.
    pub straggler: Option<StragglerTable>,
}

/// Keys of `[variation]` that may hold several values, which make settings.
pub(super) const SEVERAL_OF_VARIATION: &[&str] = &[
    "variation.step_cv",
    "variation.placement_sigma",
    "variation.vm_sigma",
    "variation.noise_cv",
    "variation.epoch_cv",
    "variation.drift.sigma",
    "variation.drift.period_s",
    "variation.straggler.probability",
    "variation.straggler.factor",
];

impl VariationTable {
    pub fn is_off(&self) -> bool {
        *self == VariationTable::default()
    }
}

/// Slow change of the network: one factor on the communication time per period.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriftTable {
    /// σ of the factor.
    pub sigma: Spread,
    /// Seconds that a factor lasts.
    pub period_s: Interval,
}

/// Workers that now and then take much longer.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StragglerTable {
    /// Probability per worker and step.
    pub probability: Probability,
    /// How many times as long.
    pub factor: Slowdown,
}

/// Pricing policies.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PricingTable {
    /// Names of policies, built in or defined here; when absent, the listed price of each VM type, or what all workloads were published with.
    pub policies: Option<Spanned<Vec<Spanned<String>>>>,
    /// Policies of this scenario, by name.
    pub define: BTreeMap<Spanned<String>, PolicyFile>,
}

/// Keys of a defined policy that may hold several values, in addition to those of charges; they make policies.
pub(super) const SEVERAL_OF_POLICIES: &[&str] = &[
    "region",
    "catalogue",
    "usd_per_vm_hour",
    "usd_per_hour_of.*",
    "spot_usd_per_hour_of.*",
    "usd_per_sample_hour",
    "usd_per_vcpu_hour",
    "usd_per_gib_hour",
    "usd_per_gpu_hour",
    "spot_ratio",
    "commitment_discount",
    "granularity_s",
    "minimum_s",
    "billed_parameter_servers",
];

/// Strategies and objectives.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchTable {
    /// Names of strategies; all that can be used on the workloads when absent.
    pub strategies: Option<Spanned<Vec<Spanned<String>>>>,
    /// Objectives; all when absent.
    pub objectives: Option<Spanned<Vec<Spanned<Objective>>>>,
    /// How often the job will be run: strategies know it, and results say what all runs come to with their search;
    /// once when absent.
    pub repeats: Option<Count>,
    /// Workloads whose earlier runs the model of all jobs averages; those of this scenario, and those of the library on the same VM
    /// types, when absent.
    pub stored: Option<Spanned<Vec<Spanned<String>>>>,
    /// How many runs of other jobs of the grid strategies know, drawn at random; all when absent.
    pub known_runs: Option<u32>,
    /// Whether the jobs of the grid arrive one after the other, in an order drawn per replica, and a strategy knows what its own searches
    /// of those before saw; all runs of other jobs are known when absent.
    pub fleet: Option<Spanned<bool>>,
    /// When strategies choose again while the job runs; only under `[policy]`, with `job.work`.
    pub reconsider: Option<Spanned<Reconsideration>>,
}

/// What no choice may exceed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsTable {
    /// Longest time to the target in hours.
    pub max_time_h: Option<Positive>,
    /// Highest cost of the job in USD.
    pub max_cost_usd: Option<Positive>,
    /// Share of runs that may take longer or cost more; when absent, the limits are on what is expected.
    pub max_miss: Option<Spanned<MissShare>>,
    /// Most workers.
    pub max_workers: Option<Spanned<Count>>,
}

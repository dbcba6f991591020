//! Keys of random streams: things by what they are, each of a type of its own, so that a key of another does not compile.

use super::{identity, mix};
use crate::units::SimTime;

/// A workload, or a job of a measured grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkloadKey(u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConfigurationKey(u64);

/// A VM type, whatever shapes and kinds of clusters are made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VmTypeKey(u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StrategyKey(u64);

/// A published model of lives or delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelKey(u64);

macro_rules! by_name {
    ($($key:ident)*) => {
        $(impl $key {
            pub fn from_name(name: &str) -> Self {
                $key(identity(name))
            }
        })*
    };
}

by_name!(WorkloadKey VmTypeKey StrategyKey ModelKey);

impl WorkloadKey {
    /// One of its configurations, by what that is and not by its place: adding one to a scenario changes no other's draws.
    pub fn configuration(self, identity: u64) -> ConfigurationKey {
        ConfigurationKey(mix(self.0, identity))
    }
}

impl StrategyKey {
    /// No strategy: whoever draws by itself.
    pub const NOBODY: StrategyKey = StrategyKey(0);
}

/// A request of a VM: how many of its type and market a job requested before in its replica, whatever else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey {
    pub vm_type: VmTypeKey,
    pub on_spot: bool,
    pub number: u64,
}

impl RequestKey {
    fn word(self) -> u64 {
        mix(self.vm_type.0, self.number << 1 | u64::from(self.on_spot))
    }
}

/// What a stream of random numbers is used for, and for which thing. A new purpose never shifts the draws of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Placement and length of the run of a configuration.
    Luck(ConfigurationKey),
    /// Step times while a configuration is probed, by how often it was before.
    Probe(ConfigurationKey, u64),
    /// The reading of the SGD noise in a probe, by how often the configuration was probed before.
    NoiseReading(ConfigurationKey, u64),
    /// Step times of the run to the target.
    Run(ConfigurationKey),
    /// The network factor of one period.
    Drift(WorkloadKey, u64),
    Strategy(StrategyKey),
    /// How fast the machines of one VM type are, one after the other.
    Machines(VmTypeKey),
    /// How long a spot VM lives, by how many of its type and market were requested before it. The rank within the
    /// law, that is: where markets have laws of their own, the same rank in each.
    Life(VmTypeKey, u64),
    /// When the market loses VMs, and how many.
    MarketLosses,
    /// Which of a job's VMs those are.
    MarketHits,
    /// From a request until the VM runs.
    StartUp(RequestKey),
    /// From then until it takes part in a job that goes on meanwhile.
    ColdJoin(RequestKey),
    /// How long all take to go on from a checkpoint, by when they begin.
    Restart(SimTime),
    /// How long a checkpoint takes to write, by when that begins.
    CheckpointWrite(SimTime),
    /// When machines of a fleet fail, and which.
    Failures,
    /// Whether a machine fails more often than others, by its number among all requests.
    Lemon(u64),
    /// Lives drawn from a published model by itself.
    ModelLives(ModelKey),
    ModelDelays(ModelKey),
    /// Lives of VMs in outlines of runs of a configuration.
    OutlineLives(ConfigurationKey),
    /// Step times of a trial that belongs to no job, by its number.
    Trial(u64),
    /// Which configurations of a workload stay, in part of a comparison.
    SubGrid(WorkloadKey),
    /// Which workloads a comparison draws again to tell how sure its figures are.
    Resampling,
    /// Which runs of other jobs strategies know in a search of a workload.
    KnownRuns(WorkloadKey),
    /// In which order the jobs of a fleet arrive.
    Arrivals,
    /// How long the jobs of a bag take, one after the other.
    BagJobs(WorkloadKey),
    /// When losses in a bag are noticed.
    BagNotice(WorkloadKey),
    /// Which attempts or VMs of a bag are lost, where that is no VM's own life.
    BagLosses(WorkloadKey),
}

impl Purpose {
    /// Whether it is luck of a replica, and no choice of who asks.
    pub(super) fn is_luck(self) -> bool {
        match self {
            Purpose::Luck(_)
            | Purpose::Probe(..)
            | Purpose::NoiseReading(..)
            | Purpose::Run(_)
            | Purpose::Drift(..)
            | Purpose::Machines(_)
            | Purpose::Life(..)
            | Purpose::MarketLosses
            | Purpose::MarketHits
            | Purpose::StartUp(_)
            | Purpose::ColdJoin(_)
            | Purpose::Restart(_)
            | Purpose::CheckpointWrite(_)
            | Purpose::Failures
            | Purpose::Lemon(_)
            | Purpose::BagJobs(_)
            | Purpose::BagNotice(_)
            | Purpose::BagLosses(_) => true,
            Purpose::Strategy(_)
            | Purpose::ModelLives(_)
            | Purpose::ModelDelays(_)
            | Purpose::OutlineLives(_)
            | Purpose::Trial(_)
            | Purpose::SubGrid(_)
            | Purpose::KnownRuns(_)
            | Purpose::Arrivals
            | Purpose::Resampling => false,
        }
    }

    /// The purpose and the thing as two words. They are part of the result format.
    pub(super) fn key_words(self) -> (u64, u64) {
        /// Tells the market's losses apart from the lives of VMs.
        const MARKET: u64 = 0x6d61_726b_6574;
        /// Tells pauses, which are numbered by the clock, apart from models.
        const PAUSE: u64 = 1 << 63;
        match self {
            Purpose::Luck(of) => (1, of.0),
            Purpose::Probe(of, visit) => (2, mix(of.0, visit)),
            Purpose::NoiseReading(of, visit) => (3, mix(of.0, visit)),
            Purpose::Run(of) => (4, of.0),
            Purpose::Trial(number) => (4, number),
            Purpose::Drift(of, period) => (5, mix(of.0, period)),
            Purpose::Strategy(of) => (6, of.0),
            Purpose::Machines(of) => (7, of.0),
            Purpose::Life(of, number) => (8, mix(of.0, number)),
            Purpose::MarketLosses => (8, MARKET),
            Purpose::MarketHits => (8, !MARKET),
            Purpose::ModelLives(of) => (8, of.0),
            Purpose::ModelDelays(of) => (9, of.0),
            Purpose::Restart(at) => (9, at.nanoseconds() | PAUSE),
            Purpose::CheckpointWrite(at) => (10, at.nanoseconds()),
            Purpose::StartUp(request) => (11, request.word()),
            Purpose::ColdJoin(request) => (12, request.word()),
            Purpose::OutlineLives(of) => (13, of.0),
            Purpose::SubGrid(of) => (14, of.0),
            Purpose::Resampling => (15, 0),
            Purpose::Failures => (16, 0),
            Purpose::Lemon(number) => (17, number),
            Purpose::KnownRuns(of) => (18, of.0),
            Purpose::Arrivals => (19, 0),
            Purpose::BagJobs(of) => (20, of.0),
            Purpose::BagNotice(of) => (21, of.0),
            Purpose::BagLosses(of) => (22, of.0),
        }
    }
}

use schemars::JsonSchema;
use serde::Deserialize;

use super::checkpoint::{Policy, YoungDaly};
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;
use scavsim_data::cloud::delays::{CheckpointWrite, Delay};
use scavsim_data::cloud::lifetimes::{Batch, Lifetime, Trace};

#[derive(Debug, Clone)]
pub struct Spot {
    pub losses: Losses,
    /// From the first request of a spot VM until it runs; as on demand when `None`.
    pub start_up: Option<Pause>,
    pub recovery: RecoveryTerms,
    /// From when a VM runs in the place of a lost one until it takes part in a job that goes on meanwhile.
    pub cold_join: Pause,
    pub on_loss: OnLoss,
    /// What the loss of the chief, the first worker, means.
    pub chief: Chief,
    pub fewest_workers: u32,
    /// From the provider's warning to the loss, if the job writes a last checkpoint then.
    pub notice: Option<SimTime>,
}

/// How a job is kept going: what takes the place of a lost VM, what is saved, and when.
#[derive(Debug, Clone)]
pub struct RecoveryTerms {
    /// From the request of a VM in the place of a lost one until it runs.
    pub replacement: Pause,
    /// What all need to go on from a checkpoint, beside reading it; what the workload says when `None`.
    pub restart: Option<Pause>,
    pub keeps: Keeps,
    pub checkpoints: Checkpoints,
    /// How long one takes to write, where its size does not tell.
    pub write: Write,
}

#[derive(Debug, Clone)]
pub enum Losses {
    /// Each by itself, by its age, from when it runs.
    Alone(Lifetime),
    /// Several at once, at random times.
    Batch(Batch),
    /// Several at once, as they were seen, from a random moment of the trace on.
    Trace(Trace),
}

impl Losses {
    /// By which law each VM is lost, where each is lost by itself.
    pub fn lifetime(&self) -> Option<&Lifetime> {
        match self {
            Losses::Alone(lifetime) => Some(lifetime),
            Losses::Batch(_) | Losses::Trace(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pause {
    Fixed(SimTime),
    Measured(Delay),
}

impl Default for Pause {
    fn default() -> Pause {
        Pause::NONE
    }
}

impl Pause {
    pub const NONE: Pause = Pause::Fixed(SimTime::ZERO);

    pub fn mean_s(&self) -> f64 {
        match self {
            Pause::Fixed(time) => time.seconds(),
            Pause::Measured(delay) => delay.mean_s(),
        }
    }

    /// One such time; `stream` is asked for only where it varies.
    pub fn draw(&self, stream: impl FnOnce() -> Stream) -> SimTime {
        match self {
            Pause::Fixed(time) => *time,
            Pause::Measured(delay) => SimTime::from_seconds(delay.sample(&mut stream())),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Write {
    Fixed(SimTime),
    /// A measured write of so many MB.
    Measured(CheckpointWrite, f64),
}

impl Write {
    pub fn mean_s(&self) -> f64 {
        match self {
            Write::Fixed(time) => time.seconds(),
            Write::Measured(write, mb) => write.mean_s(*mb),
        }
    }

    pub fn draw(&self, stream: impl FnOnce() -> Stream) -> SimTime {
        match self {
            Write::Fixed(time) => *time,
            Write::Measured(write, mb) => SimTime::from_seconds(write.sample(*mb, &mut stream())),
        }
    }
}

/// What happens to the place of a lost VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoss {
    /// The job waits until another VM is in it.
    #[default]
    Wait,
    /// Workers that are left go on, and a new VM joins them.
    GoOn,
    /// The place stays empty: the cluster shrinks.
    Shrink,
}

/// What the loss of a VM leaves of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// What the last checkpoint holds.
    #[default]
    Checkpoint,
    /// All complete steps: the other workers, or parameter servers, have them.
    Steps,
}

/// What the loss of the chief, the worker that writes the checkpoints, means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Chief {
    /// No more than that of any worker: another takes over.
    #[default]
    HandsOver,
    /// Back to the last checkpoint, whatever the others have.
    GoesBack,
    /// The end of the run, without a result.
    EndsTheRun,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Checkpoints {
    /// By a policy that is the same for every cluster.
    By(Policy),
    /// After Young's interval for the losses of the cluster's size: every VM's mean life over their number.
    Young,
    /// After Daly's interval for them.
    YoungDaly,
    /// After the interval that takes least by Daly's run time.
    Searched,
    /// When it suits the age of the VMs best, by dynamic programming on the first loss of the cluster.
    Dynamic,
}

impl Checkpoints {
    /// The interval for losses `mtbf_h` hours apart and a write of `write_h` hours; `None` without losses, or where more
    /// decides.
    pub fn at_rate(&self, write_h: f64, mtbf_h: impl FnOnce() -> f64) -> Option<Policy> {
        let interval = match self {
            Checkpoints::By(policy) => return Some(policy.clone()),
            Checkpoints::Dynamic => return None,
            Checkpoints::Young => YoungDaly::first_order(write_h, mtbf_h()),
            Checkpoints::YoungDaly => YoungDaly::higher_order(write_h, mtbf_h()),
            Checkpoints::Searched => YoungDaly::searched(write_h, mtbf_h()),
        };
        Some(interval.map_or(Policy::None, Policy::YoungDaly))
    }
}

/// A cluster that changes its size when the price of VMs does.
#[derive(Debug, Clone, PartialEq)]
pub struct Elastic {
    /// Seconds since the start, and the spot price over the usual one from then on; rising in time.
    pub prices: Vec<(f64, f64)>,
    pub grow_at: f64,
    pub shrink_above: f64,
    /// VMs of the first group when it has grown.
    pub most_vms: u32,
    /// VMs of the first group when it has shrunk.
    pub fewest_vms: u32,
}

impl Elastic {
    /// VMs of the first group at `now`, `usual` of them at prices between the two limits; and when that may change.
    pub fn target(&self, usual: u32, now: SimTime) -> (u32, SimTime) {
        let next = (self.prices).partition_point(|(at, _)| SimTime::from_seconds(*at) <= now);
        let until = (self.prices.get(next)).map_or(f64::INFINITY, |(at, _)| *at);
        let price = next.checked_sub(1).and_then(|i| self.prices.get(i));
        let vms = match price {
            Some((_, price)) if *price <= self.grow_at => self.most_vms,
            Some((_, price)) if *price > self.shrink_above => self.fewest_vms,
            _ => usual,
        };
        (vms, SimTime::from_seconds(until))
    }
}

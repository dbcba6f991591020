//! Names of log entries in files; part of the interface.

use std::fmt;

use serde::{Serialize, Serializer};

use scavsim_data::usage::{Phase, RentedVm};
use scavsim_experiment::{Case, Plan};
use scavsim_sim::training::log::{Fate, LogEvent, NeighbourStage, Track};

#[derive(Debug, Clone, Copy, Serialize)]
pub struct TraceOf<'a> {
    pub scenario: &'a str,
    /// Number of the case, from 0.
    pub case: u64,
    /// Name of the setting; empty where no key of the scenario holds several values.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub setting: &'a str,
    pub workload: &'a str,
    pub strategy: &'a str,
    pub replica: u64,
    pub pricing: &'a str,
    pub objective: &'a str,
    /// `event`; of real runs `measured`.
    pub fidelity: &'a str,
    #[serde(skip)]
    pub vms: &'a [RentedVm],
}

impl<'a> TraceOf<'a> {
    pub fn new(plan: &'a Plan, case: Case, fidelity: &'a str, vms: &'a [RentedVm]) -> Self {
        TraceOf {
            scenario: &plan.scenario,
            case: case.number,
            setting: plan.setting(case.arena),
            workload: plan.workload(case.arena),
            strategy: plan.strategy(case.strategy),
            replica: case.replica,
            pricing: &plan.policies[case.policy].name,
            objective: plan.objectives[case.objective].name(),
            fidelity,
            vms,
        }
    }

    pub fn file_name(&self) -> String {
        format!("{}-case-{}.events.jsonl", self.scenario, self.case)
    }

    fn vm(&self, index: u16) -> Option<&'a str> {
        self.vms.get(usize::from(index)).map(|vm| &*vm.name)
    }

    /// The details of an entry other than its name.
    pub(super) fn args(&self, what: LogEvent) -> Args<'a> {
        let none = Args::default();
        let ended = |fate| Args {
            ended: ended(fate),
            ..none
        };
        match what {
            LogEvent::Cluster {
                vm,
                vms,
                workers,
                batch,
            } => Args {
                vm: self.vm(vm),
                vms: Some(vms),
                workers: Some(workers),
                batch: Some(batch),
                ..none
            },
            LogEvent::Requested(vm) | LogEvent::Starting(vm) | LogEvent::Running(vm) => Args {
                vm: self.vm(vm),
                ..none
            },
            LogEvent::Write(fate) | LogEvent::Restore(fate) => ended(fate),
            LogEvent::Compute(fate) | LogEvent::Communication(fate) | LogEvent::Update(fate) => {
                ended(fate)
            }
            LogEvent::Copy { of, fate } => Args {
                worker: Some(of),
                ..ended(fate)
            },
            LogEvent::Serve(worker) => Args {
                worker: Some(worker),
                ..none
            },
            LogEvent::Forward(micro) | LogEvent::Backward(micro) | LogEvent::Exchange(micro, _) => {
                Args {
                    micro_batch: Some(micro),
                    ..none
                }
            }
            LogEvent::Vms(vms) => Args {
                vms: Some(vms),
                ..none
            },
            LogEvent::Replicas(replicas) => Args {
                replicas: Some(replicas),
                ..none
            },
            LogEvent::Steps(steps) => Args {
                steps: Some(steps),
                ..none
            },
            LogEvent::Phase(_)
            | LogEvent::Checkpoint
            | LogEvent::Released
            | LogEvent::Revoked
            | LogEvent::Wait
            | LogEvent::Apply
            | LogEvent::Bubble
            | LogEvent::Full
            | LogEvent::Failure
            | LogEvent::Target => none,
        }
    }
}

impl fmt::Display for TraceOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, case {}: ", self.scenario, self.case)?;
        if !self.setting.is_empty() {
            write!(f, "{}, ", self.setting)?;
        }
        write!(
            f,
            "{}, {}, replica {}, {}, {}",
            self.workload, self.strategy, self.replica, self.pricing, self.objective
        )
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    vm: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<u32>,
    /// Which of a step, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    micro_batch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    /// How work ended that was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
}

fn ended(fate: Fate) -> Option<&'static str> {
    match fate {
        Fate::Done => None,
        Fate::Dropped => Some("dropped"),
        Fate::GivenUp => Some("given-up"),
        Fate::Paused => Some("paused"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something that takes time.
    Span,
    /// Something that happens at once.
    Instant,
    /// A figure that holds from then on.
    Counter,
}

pub(super) fn name(what: LogEvent) -> (&'static str, Kind) {
    use Kind::{Counter, Instant, Span};
    match what {
        LogEvent::Phase(phase) => (
            match phase {
                Phase::Waiting => "waiting",
                Phase::Restoring => "restoring",
                Phase::Searching => "searching",
                Phase::Training => "training",
                Phase::Lost => "lost",
            },
            Span,
        ),
        LogEvent::Checkpoint => ("checkpoint", Span),
        LogEvent::Write(_) => ("write", Span),
        LogEvent::Restore(_) => ("restore", Span),
        LogEvent::Cluster { .. } => ("cluster", Instant),
        LogEvent::Requested(_) => ("requested", Instant),
        LogEvent::Starting(_) => ("starting", Span),
        LogEvent::Running(_) => ("running", Span),
        LogEvent::Released => ("released", Instant),
        LogEvent::Revoked => ("revoked", Instant),
        LogEvent::Compute(_) => ("compute", Span),
        LogEvent::Copy { .. } => ("copy", Span),
        LogEvent::Wait => ("wait", Span),
        LogEvent::Communication(_) => ("communication", Span),
        LogEvent::Update(_) => ("update", Span),
        LogEvent::Serve(_) => ("serve", Span),
        LogEvent::Forward(_) => ("forward", Span),
        LogEvent::Backward(_) => ("backward", Span),
        LogEvent::Exchange(_, NeighbourStage::Before) => ("exchange-previous", Span),
        LogEvent::Exchange(_, NeighbourStage::Behind) => ("exchange-next", Span),
        LogEvent::Apply => ("apply", Span),
        LogEvent::Bubble => ("bubble", Span),
        LogEvent::Vms(_) => ("vms", Counter),
        LogEvent::Steps(_) => ("steps", Counter),
        LogEvent::Full => ("worker-steps end", Instant),
        LogEvent::Target => ("target reached", Instant),
        LogEvent::Failure => ("failure", Instant),
        LogEvent::Replicas(_) => ("replicas", Instant),
    }
}

pub(super) struct TrackName(pub Track);

impl fmt::Display for TrackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Track::Job => f.write_str("job"),
            Track::Checkpoints => f.write_str("checkpoints"),
            Track::Vm(n) => write!(f, "vm {n}"),
            Track::Spare(n) => write!(f, "spare {n}"),
            Track::Head => f.write_str("head node"),
            Track::Worker(n) => write!(f, "worker {n}"),
            Track::Server(n) => write!(f, "server {n}"),
            Track::Stage(replica, stage) => write!(f, "replica {replica}, stage {stage}"),
            Track::Link(replica, stage) => write!(f, "replica {replica}, stage {stage}: link"),
        }
    }
}

impl Serialize for TrackName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

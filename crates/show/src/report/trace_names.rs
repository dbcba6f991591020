//! What the entries of a job's log are called in files; part of the interface.

use std::fmt;

use serde::{Serialize, Serializer};

use scavsim_data::usage::{Phase, RentedVm};
use scavsim_lab::experiment::{Case, Plan};
use scavsim_sim::training::log::{Fate, Side, Track, What};

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

    /// What is to say about an entry besides its name.
    pub(super) fn args(&self, what: What) -> Args<'a> {
        let none = Args::default();
        let ended = |fate| Args {
            ended: ended(fate),
            ..none
        };
        match what {
            What::Cluster {
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
            What::Requested(vm) | What::Starting(vm) | What::Running(vm) => Args {
                vm: self.vm(vm),
                ..none
            },
            What::Write(fate) | What::Restore(fate) => ended(fate),
            What::Compute(fate) | What::Communication(fate) | What::Update(fate) => ended(fate),
            What::Copy { of, fate } => Args {
                worker: Some(of),
                ..ended(fate)
            },
            What::Serve(worker) => Args {
                worker: Some(worker),
                ..none
            },
            What::Forward(micro) | What::Backward(micro) | What::Exchange(micro, _) => Args {
                micro_batch: Some(micro),
                ..none
            },
            What::Vms(vms) => Args {
                vms: Some(vms),
                ..none
            },
            What::Replicas(replicas) => Args {
                replicas: Some(replicas),
                ..none
            },
            What::Steps(steps) => Args {
                steps: Some(steps),
                ..none
            },
            What::Phase(_)
            | What::Checkpoint
            | What::Released
            | What::Revoked
            | What::Wait
            | What::Apply
            | What::Bubble
            | What::Full
            | What::Failure
            | What::Target => none,
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
    /// VM type.
    #[serde(skip_serializing_if = "Option::is_none")]
    vm: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u32>,
    /// Whose work it is.
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

pub(super) fn name(what: What) -> (&'static str, Kind) {
    use Kind::{Counter, Instant, Span};
    match what {
        What::Phase(phase) => (
            match phase {
                Phase::Waiting => "waiting",
                Phase::Restoring => "restoring",
                Phase::Searching => "searching",
                Phase::Training => "training",
                Phase::Lost => "lost",
            },
            Span,
        ),
        What::Checkpoint => ("checkpoint", Span),
        What::Write(_) => ("write", Span),
        What::Restore(_) => ("restore", Span),
        What::Cluster { .. } => ("cluster", Instant),
        What::Requested(_) => ("requested", Instant),
        What::Starting(_) => ("starting", Span),
        What::Running(_) => ("running", Span),
        What::Released => ("released", Instant),
        What::Revoked => ("revoked", Instant),
        What::Compute(_) => ("compute", Span),
        What::Copy { .. } => ("copy", Span),
        What::Wait => ("wait", Span),
        What::Communication(_) => ("communication", Span),
        What::Update(_) => ("update", Span),
        What::Serve(_) => ("serve", Span),
        What::Forward(_) => ("forward", Span),
        What::Backward(_) => ("backward", Span),
        What::Exchange(_, Side::Before) => ("exchange-previous", Span),
        What::Exchange(_, Side::Behind) => ("exchange-next", Span),
        What::Apply => ("apply", Span),
        What::Bubble => ("bubble", Span),
        What::Vms(_) => ("vms", Counter),
        What::Steps(_) => ("steps", Counter),
        What::Full => ("worker-steps end", Instant),
        What::Target => ("target reached", Instant),
        What::Failure => ("failure", Instant),
        What::Replicas(_) => ("replicas", Instant),
    }
}

pub(super) struct TrackName(pub Track);

impl fmt::Display for TrackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Track::Job => f.write_str("job"),
            Track::Checkpoints => f.write_str("checkpoints"),
            Track::Vm(n) => write!(f, "vm {n}"),
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

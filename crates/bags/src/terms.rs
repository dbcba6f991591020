use std::sync::Arc;

use crate::{Notice, Reuse};
use scavsim_base::rng::{UnitLogNormal, VmTypeKey};
use scavsim_base::units::SimTime;
use scavsim_data::cloud::lifetimes::Lifetime;
use scavsim_data::space::Space;
use scavsim_data::usage::RentedVm;
use scavsim_sim::cluster::{Losses, Pause};

#[derive(Debug, Clone)]
pub struct Bag {
    pub jobs: u32,
    /// How many of the jobs have to be done: ⌈share × jobs⌉.
    pub needed: u32,
    pub job_time: UnitLogNormal,
    /// From the end of a job until the next begins on its slot.
    pub dispatch_lag: SimTime,
    /// By how much each slot begins after the one before.
    pub start_stagger: SimTime,
    pub rerun: bool,
    pub reuse: Reuse,
    pub keep_spares: SimTime,
    /// From the request of the first VMs until they run.
    pub first_boot: Pause,
    /// From the request of each later VM until it runs.
    pub boot: Pause,
    pub notice: Notice,
    pub loss: Loss,
    /// What takes the place of jobs after so many.
    pub surrogate: Option<Surrogate>,
}

impl Default for Bag {
    /// One job, at once, on VMs that stay.
    fn default() -> Bag {
        Bag {
            jobs: 1,
            needed: 1,
            job_time: UnitLogNormal::from_cv(0.0),
            dispatch_lag: SimTime::ZERO,
            start_stagger: SimTime::ZERO,
            rerun: true,
            reuse: Reuse::default(),
            keep_spares: SimTime::ZERO,
            first_boot: Pause::NONE,
            boot: Pause::NONE,
            notice: Notice::AT_ONCE,
            loss: Loss::Never,
            surrogate: None,
        }
    }
}

impl Bag {
    /// This bag without luck: no VM is lost or boots, all jobs take their mean.
    #[must_use]
    pub fn without_luck(&self) -> Bag {
        Bag {
            job_time: UnitLogNormal::from_cv(0.0),
            first_boot: Pause::NONE,
            boot: Pause::NONE,
            loss: Loss::Never,
            ..self.clone()
        }
    }

    /// Jobs that are run for so many results: no more than the surrogate learns from.
    pub fn simulated(&self, results: u32) -> u32 {
        let most = self.surrogate.map_or(u32::MAX, |s| s.after_jobs);
        results.min(most)
    }
}

#[derive(Debug, Clone)]
pub enum Loss {
    Never,
    Preemption(Losses),
    /// So many attempts, any of them as likely, at any moment of them: to compare with logs.
    Attempts(u32),
    /// One VM of a running job at each of these times since the bag began, in seconds, in their order.
    At(Arc<[f64]>),
}

impl Loss {
    pub fn is_never(&self) -> bool {
        match self {
            Loss::Never | Loss::Attempts(0) => true,
            Loss::At(times) => times.is_empty(),
            _ => false,
        }
    }
}

/// A model that takes the place of jobs once it has learned from enough of them. A formula, not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surrogate {
    pub after_jobs: u32,
    pub train_s: f64,
    pub result_s: f64,
}

#[derive(Debug, Clone)]
pub struct BagSize {
    /// Place of its VM type among [`BagChoices::types`].
    pub vm: u16,
    /// VMs of a job, m.
    pub vms_per_job: u32,
    /// Jobs side by side: slots, P.
    pub parallel_jobs: u32,
    /// Mean seconds of a job.
    pub job_s: f64,
    /// Lives of its VMs, where they are not those of the bag.
    pub life: Option<Lifetime>,
    pub vm_key: VmTypeKey,
}

impl BagSize {
    /// All its VMs, m P.
    pub fn vms(&self) -> u32 {
        self.vms_per_job.saturating_mul(self.parallel_jobs)
    }

    /// By which law its VMs are lost, where each is lost by itself.
    pub fn lifetime<'a>(&'a self, bag: &'a Bag) -> Option<&'a Lifetime> {
        self.life.as_ref().or(match &bag.loss {
            Loss::Preemption(losses) => losses.lifetime(),
            _ => None,
        })
    }
}

#[derive(Debug, Clone)]
pub struct BagChoices {
    pub name: String,
    pub space: Space,
    /// Sizes of the ways, in the order of the configurations.
    pub sizes: Vec<BagSize>,
    /// VM types, the head node's last if there is one.
    pub types: Vec<RentedVm>,
    /// Place of the head node's VM type.
    pub head: Option<u16>,
}

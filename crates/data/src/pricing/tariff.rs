use std::fmt::Debug;
use std::sync::Arc;

use super::billed_time::BilledTime;
use super::charges::{Amount, PerCharge};
use super::reductions::preemption_refund::PreemptionRefund;
use super::reductions::spot_series::SpotSeries;
use super::reductions::sustained_use::{BilledVms, SustainedUse};
use crate::usage::intervals::{EndedBy, Usage, VmInterval};
use crate::usage::phases::{PHASES, Phase, Phases};
use scavsim_base::units::{SECONDS_PER_HOUR, SimTime};

pub const AS_MEASURED: &str = "as-measured";

/// What runs cost by themselves, as stated with each measured one. Usage names a run where it else names a VM type.
pub trait StatedPrices: Debug + Send + Sync {
    fn usd(&self, run: u16, seconds: f64) -> f64;
}

#[derive(Debug, Clone)]
pub(super) struct SharedStatedPrices(Arc<dyn StatedPrices>);

impl PartialEq for SharedStatedPrices {
    fn eq(&self, other: &SharedStatedPrices) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What runs on certain VM types are billed by; see [`Policy::tariff`](super::Policy::tariff).
#[derive(Debug, Clone, PartialEq)]
pub struct Tariff {
    pub(super) charge: BillItem,
    pub(super) billed_time: BilledTime,
    pub(super) sustained_use: Option<SustainedUse>,
    /// Spot prices that change, which pools name.
    pub(super) spot_series: Vec<SpotSeries>,
    pub(super) revoked: PreemptionRefund,
    pub(super) servers: Option<Servers>,
    pub(super) charges: PerCharge<Amount>,
}

/// A bill, divided, in USD: the parts add up to the whole, but for rounding.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    pub whole: f64,
    /// Training of the choice, to the target.
    pub useful: f64,
    /// Steps of the search: cold start and probes.
    pub search: f64,
    /// Waiting for VMs to start.
    pub waiting: f64,
    /// Work that was lost with VMs.
    pub lost: f64,
    /// Writing and restoring checkpoints.
    pub restore: f64,
    pub charges: PerCharge<f64>,
}

/// What is charged for, discounts on the price itself included.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BillItem {
    /// Per VM and hour: the pool of each VM type, the price of each pool.
    Vm {
        pool_of: Vec<usize>,
        prices: Vec<PoolPrice>,
    },
    /// USD per sample of global batch and hour.
    Sample(f64),
    Stated(SharedStatedPrices),
}

/// What VMs that are charged as one type cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PoolPrice {
    pub(super) usd_per_hour: f64,
    pub(super) is_timed: bool,
    pub(super) series: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Servers {
    pub(super) count: u32,
    pub(super) pool: usize,
}

impl Tariff {
    pub fn as_stated(prices: Arc<dyn StatedPrices>) -> Tariff {
        Tariff::plain(
            BillItem::Stated(SharedStatedPrices(prices)),
            Default::default(),
        )
    }

    pub fn is_as_stated(&self) -> bool {
        matches!(self.charge, BillItem::Stated(_))
    }

    pub(super) fn per_sample(usd: f64, charges: PerCharge<Amount>) -> Tariff {
        Tariff::plain(BillItem::Sample(usd), charges)
    }

    fn plain(charge: BillItem, charges: PerCharge<Amount>) -> Tariff {
        Tariff {
            charge,
            billed_time: BilledTime::default(),
            sustained_use: None,
            spot_series: Vec::new(),
            revoked: PreemptionRefund::default(),
            servers: None,
            charges,
        }
    }

    /// USD per hour of VM type `vm` when the job begins, without sustained use; `None` where memory is charged for.
    pub fn usd_per_vm_hour(&self, vm: usize) -> Option<f64> {
        match &self.charge {
            BillItem::Vm { pool_of, prices } => {
                let price = prices[*pool_of.get(vm)?];
                let series = price.series.and_then(|own| self.spot_series.get(own));
                Some(price.usd_per_hour * series.map_or(1.0, SpotSeries::first))
            }
            BillItem::Sample(_) | BillItem::Stated(_) => None,
        }
    }

    /// USD for a whole job, as if nothing else ran that month.
    pub fn bill_usd(&self, usage: &Usage) -> f64 {
        self.so_far_usd(usage) + self.at_end_usd()
    }

    /// USD for the beginning of a job, everything released then: without what is charged at its end.
    pub fn so_far_usd(&self, usage: &Usage) -> f64 {
        self.intervals_usd(usage.intervals.iter().copied(), usage.sample_seconds)
    }

    fn intervals_usd(
        &self,
        intervals: impl Iterator<Item = VmInterval> + Clone,
        sample_seconds: f64,
    ) -> f64 {
        let held = self.held_usd(intervals.clone(), sample_seconds);
        held + self.by_the_hour_usd(intervals).iter().sum::<f64>()
    }

    /// The parts of [`bill_usd`](Self::bill_usd). VMs or memory are divided by their time in each phase, at the price of each
    /// VM type, so minima, rounding, sustained use and parameter servers are shared. Without phases all is useful.
    pub fn parts(&self, usage: &Usage) -> Parts {
        let intervals = usage.intervals.iter().copied();
        let held = self.held_usd(intervals.clone(), usage.sample_seconds);
        let by_the_hour = self.by_the_hour_usd(intervals);
        let charges = std::array::from_fn(|i| by_the_hour[i] + self.charges[i].usd_at_end);
        let weights = self.weights(&usage.phases);
        let all: f64 = weights.iter().sum();
        let part = |phase: Phase| {
            if all > 0.0 {
                held * (weights[phase as usize] / all)
            } else {
                f64::from(u8::from(phase == Phase::Training)) * held
            }
        };
        Parts {
            whole: held + by_the_hour.iter().sum::<f64>() + self.at_end_usd(),
            useful: part(Phase::Training),
            search: part(Phase::Searching),
            waiting: part(Phase::Waiting),
            lost: part(Phase::Lost),
            restore: part(Phase::Restoring),
            charges,
        }
    }

    fn weights(&self, phases: &Phases) -> [f64; PHASES] {
        match &self.charge {
            BillItem::Sample(_) => phases.sample_seconds,
            BillItem::Stated(SharedStatedPrices(prices)) => {
                let mut weights = [0.0; PHASES];
                for (run, seconds) in &phases.vm_seconds {
                    for (weight, seconds) in weights.iter_mut().zip(seconds) {
                        *weight += prices.usd(*run, *seconds);
                    }
                }
                weights
            }
            BillItem::Vm { pool_of, prices } => {
                let mut weights = [0.0; PHASES];
                for (vm, seconds) in &phases.vm_seconds {
                    let price = prices[pool_of[usize::from(*vm)]].usd_per_hour;
                    for (weight, seconds) in weights.iter_mut().zip(seconds) {
                        *weight += price * seconds;
                    }
                }
                weights
            }
        }
    }

    /// USD of each charge by the hour, from the first VM to the last.
    fn by_the_hour_usd(
        &self,
        intervals: impl Iterator<Item = VmInterval> + Clone,
    ) -> PerCharge<f64> {
        self.charges.map(|charge| match charge.usd_per_hour {
            0.0 => 0.0,
            usd => rental_span(intervals.clone()).1 / SECONDS_PER_HOUR * usd,
        })
    }

    fn at_end_usd(&self) -> f64 {
        self.charges.iter().map(|charge| charge.usd_at_end).sum()
    }

    /// USD for VMs alone, without charges.
    pub fn vms_usd(&self, intervals: impl Iterator<Item = VmInterval> + Clone) -> f64 {
        self.held_usd(intervals, 0.0)
    }

    /// USD for charges alone.
    pub fn charges_usd(&self, intervals: impl Iterator<Item = VmInterval> + Clone) -> f64 {
        self.by_the_hour_usd(intervals).iter().sum::<f64>() + self.at_end_usd()
    }

    /// USD of VMs for a short while at a price of the moment, minima and rounding included.
    pub fn moment_usd(&self, usd_per_hour: f64, seconds: f64) -> f64 {
        usd_per_hour * self.billed_time.seconds(seconds) / SECONDS_PER_HOUR
    }

    /// VM-hours at the base price of a pool that cost as much.
    fn charged_vm_hours(&self, price: &PoolPrice, held: BilledVms) -> f64 {
        match price.series.and_then(|own| self.spot_series.get(own)) {
            Some(series) => held.vms * series.charged_h(held.from_h, held.hours),
            None => held.vm_hours(),
        }
    }

    fn held_usd(
        &self,
        intervals: impl Iterator<Item = VmInterval> + Clone,
        sample_seconds: f64,
    ) -> f64 {
        let (pool_of, prices) = match &self.charge {
            BillItem::Sample(usd) => return sample_seconds / SECONDS_PER_HOUR * usd,
            BillItem::Stated(SharedStatedPrices(prices)) => {
                return intervals.map(|i| prices.usd(i.vm, i.seconds())).sum();
            }
            BillItem::Vm { pool_of, prices } => (pool_of, prices),
        };
        let workers = intervals.clone().map(|i| {
            let held_s = i.seconds();
            let billed_s = match i.ended_by {
                EndedBy::User => self.billed_time.seconds(held_s),
                EndedBy::Provider => self.revoked.seconds(held_s, &self.billed_time),
            };
            (
                pool_of[usize::from(i.vm)],
                billed_vms(i.vms, i.from, billed_s),
            )
        });
        let servers = self.servers.map(|servers| {
            let (from, held_s) = rental_span(intervals.clone());
            let billed_s = self.billed_time.seconds(held_s);
            (servers.pool, billed_vms(servers.count, from, billed_s))
        });
        if let Some(sustained) = &self.sustained_use {
            let all = workers.chain(servers);
            let pools = prices.iter().enumerate().map(|(pool, price)| {
                let own = (all.clone()).filter_map(|(of, held)| (of == pool).then_some(held));
                let hours = if price.is_timed {
                    sustained.charged_h(own)
                } else {
                    own.map(|held| self.charged_vm_hours(price, held)).sum()
                };
                hours * price.usd_per_hour
            });
            return pools.sum();
        }
        let usd = |(pool, held): (usize, BilledVms)| {
            self.charged_vm_hours(&prices[pool], held) * prices[pool].usd_per_hour
        };
        let of_workers: f64 = workers.map(usd).sum();
        servers.map_or(of_workers, |servers| of_workers + usd(servers))
    }

    /// Expected USD of a job that holds so many VMs of each type, with global batch `batch`, for `seconds`, without search.
    pub fn run_usd(
        &self,
        held: impl Iterator<Item = (u16, u32)> + Clone,
        batch: u32,
        seconds: f64,
    ) -> f64 {
        let (from, to) = (SimTime::ZERO, SimTime::from_seconds(seconds));
        let intervals = held.map(|vms| VmInterval::given_back(vms, from, to));
        self.intervals_usd(intervals, f64::from(batch) * seconds) + self.at_end_usd()
    }
}

fn billed_vms(vms: u32, from: SimTime, billed_s: f64) -> BilledVms {
    BilledVms {
        vms: f64::from(vms),
        from_h: from.hours(),
        hours: billed_s / SECONDS_PER_HOUR,
    }
}

fn rental_span(intervals: impl Iterator<Item = VmInterval> + Clone) -> (SimTime, f64) {
    let from = intervals.clone().map(|i| i.from).min();
    let to = intervals.map(|i| i.to).max();
    let from = from.unwrap_or(SimTime::ZERO);
    (from, (to.unwrap_or(from) - from).seconds())
}

#[cfg(test)]
mod tests;

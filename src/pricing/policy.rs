//! A pricing policy: a base price and the time it is billed for.

use super::billed_time::BilledTime;
use super::usage::Usage;
use crate::units::SECONDS_PER_HOUR;

/// A pricing policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Name in scenarios and results.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// What is charged for.
    pub base: Base,
    /// For how long.
    pub billed_time: BilledTime,
}

/// What a policy charges for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Base {
    /// USD per VM and hour, the same for every worker VM.
    VmHour(f64),
    /// USD per sample of global batch and hour: VMs sized to the batch and priced by memory alone.
    /// The worker count does not matter.
    SampleHour(f64),
}

impl Policy {
    /// USD for what was used.
    pub fn bill_usd(&self, usage: &Usage) -> f64 {
        match self.base {
            Base::VmHour(usd) => {
                let billed = |held_s: f64| self.billed_time.seconds(held_s) / SECONDS_PER_HOUR;
                usage
                    .intervals
                    .iter()
                    .map(|i| f64::from(i.vms) * billed((i.to - i.from).seconds()) * usd)
                    .sum()
            }
            Base::SampleHour(usd) => usage.sample_seconds / SECONDS_PER_HOUR * usd,
        }
    }

    /// Expected USD of `workers` VMs with global batch `batch` for `seconds`, without search;
    /// `scratch` is overwritten.
    pub fn run_usd(&self, workers: u32, batch: u32, seconds: f64, scratch: &mut Usage) -> f64 {
        scratch.set_single(0, workers, batch, seconds);
        self.bill_usd(scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(base: Base, granularity_s: f64, minimum_s: f64) -> Policy {
        Policy {
            name: "test".into(),
            description: String::new(),
            base,
            billed_time: BilledTime {
                granularity_s,
                minimum_s,
            },
        }
    }

    #[test]
    fn the_papers_fixed_price() {
        let fixed = policy(Base::VmHour(0.13402), 0.0, 0.0);
        let usd = fixed.run_usd(8, 384, 12.40 * 3600.0, &mut Usage::default());
        assert!((usd - 13.29).abs() < 0.01, "{usd}");
    }

    #[test]
    fn the_memory_price_ignores_the_workers() {
        let memory = policy(Base::SampleHour(0.001), 0.0, 0.0);
        let mut usage = Usage::default();
        let eight = memory.run_usd(8, 512, 7200.0, &mut usage);
        assert_eq!(eight, memory.run_usd(20, 512, 7200.0, &mut usage));
        assert!((eight - 1.024).abs() < 1e-12);
    }

    #[test]
    fn every_vm_is_rounded_up_by_itself() {
        let hourly = policy(Base::VmHour(1.0), 3600.0, 0.0);
        assert_eq!(hourly.run_usd(3, 1, 3601.0, &mut Usage::default()), 6.0);
    }
}

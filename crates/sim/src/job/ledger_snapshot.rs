//! A job's books when it came to its mark: what is lost later must not change its phases.

use super::present_vms::never;
use scavsim_base::units::SimTime;
use scavsim_data::usage::Usage;
use scavsim_data::usage::ledger::Ledger;

#[derive(Debug, Clone)]
pub struct LedgerSnapshot {
    at: SimTime,
    ledger: Ledger,
}

impl LedgerSnapshot {
    pub fn nothing() -> LedgerSnapshot {
        LedgerSnapshot {
            at: never(),
            ledger: Ledger::default(),
        }
    }

    pub fn forget(&mut self) {
        self.at = never();
    }

    pub fn keep(&mut self, now: SimTime, ledger: &Ledger) {
        self.at = now;
        self.ledger.copy_from(ledger);
    }

    /// What was used when all VMs are released at `end`, of a job whose books are now `ledger`.
    pub fn usage_until(&self, ledger: &Ledger, end: SimTime, usage: &mut Usage) {
        let ledger = if end == self.at { &self.ledger } else { ledger };
        ledger.usage_until(end, usage);
    }
}

use crate::pricing::file::PolicyFile;
use crate::pricing::{BilledTime, WrongPolicy};
use scavsim_base::units::SECONDS_PER_HOUR;

/// What is not charged of a spot VM that the provider takes away. One that is given back is charged as any other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PreemptionRefund {
    /// All of a VM that is taken away in its first hour: AWS since it bills by the second.
    pub free_first_hour: bool,
    /// The billing unit in which it is taken away, be it the first or a later one: AWS while it billed by the hour.
    pub free_started_unit: bool,
}

const STARTED_UNIT: &str = "`free_started_unit_if_revoked`";

impl PreemptionRefund {
    /// Reads `free_first_hour_if_revoked` and `free_started_unit_if_revoked`; both need spot VMs, the second a billed unit.
    pub(super) fn read(file: &PolicyFile, is_spot: bool) -> Result<PreemptionRefund, WrongPolicy> {
        let rules = PreemptionRefund {
            free_first_hour: file.free_first_hour_if_revoked,
            free_started_unit: file.free_started_unit_if_revoked,
        };
        let given = [
            (rules.free_first_hour, "`free_first_hour_if_revoked`"),
            (rules.free_started_unit, STARTED_UNIT),
        ];
        if let (false, Some((_, key))) = (is_spot, given.iter().find(|(is_given, _)| *is_given)) {
            let what = "a spot price: only spot VMs are taken away";
            return Err(WrongPolicy::Needs(key, what));
        }
        if rules.free_started_unit && file.granularity_s.is_none_or(|unit| unit.get() == 0.0) {
            let what = "a unit: give `granularity_s`, 3600 for hours";
            return Err(WrongPolicy::Needs(STARTED_UNIT, what));
        }
        Ok(rules)
    }

    /// Billed seconds for a VM that was taken away after `held_s` seconds.
    pub fn seconds(&self, held_s: f64, billed_time: &BilledTime) -> f64 {
        if self.free_first_hour && held_s < SECONDS_PER_HOUR {
            0.0
        } else if self.free_started_unit {
            billed_time.complete_units_s(held_s)
        } else {
            billed_time.seconds(held_s)
        }
    }
}

use std::cell::RefCell;

use crate::pricing::{PolicyFile, WrongPolicy};
use scavsim_base::units::MONTH_H;

pub(super) fn read(file: &PolicyFile) -> Option<Result<SustainedUse, WrongPolicy>> {
    let fractions = file.sustained_use.as_ref()?.iter().map(|f| f.get());
    let bands = SustainedUse::new(fractions.collect()).ok_or(WrongPolicy::Empty(
        "`sustained_use`",
        "the fraction of each part of the month",
    ));
    Some(bands)
}

/// VMs of one type, billed for the same hours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BilledVms {
    pub vms: f64,
    pub from_h: f64,
    pub hours: f64,
}

impl BilledVms {
    pub fn vm_hours(&self) -> f64 {
        self.vms * self.hours
    }
}

/// Sustained use: the month in equal parts, each with the fraction of the base price at which it is
/// charged.
///
/// It is earned by *level of concurrency*: level j is in use while at least j VMs of a type are held, and the hours of each
/// level in a month fill its bands. So 30 VMs for a day, one after the other, earn what one earns in 30 days, side by side
/// they earn nothing. Months of [`MONTH_H`] follow each other from the beginning of the job. Google Compute Engine
/// puts an *inferred instance* together from use that does not overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct SustainedUse(Vec<f64>);

impl SustainedUse {
    pub fn new(fractions: Vec<f64>) -> Option<Self> {
        (!fractions.is_empty()).then_some(SustainedUse(fractions))
    }

    pub fn least(&self) -> f64 {
        self.0.iter().copied().fold(1.0, f64::min)
    }

    /// VM-hours at the base price that cost as much as `all` VMs of one type.
    pub fn charged_h(&self, all: impl Iterator<Item = BilledVms> + Clone) -> f64 {
        let mut billed = all.filter(|held| held.hours > 0.0);
        let Some(first) = billed.clone().next() else {
            return 0.0;
        };
        let is_one = |held: BilledVms| (held.from_h, held.hours) == (first.from_h, first.hours);
        if billed.clone().all(is_one) {
            let to_h = first.from_h + first.hours;
            let vms: f64 = billed.map(|held| held.vms).sum();
            return vms * self.one_level_h(first.from_h, to_h);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.changes.clear();
            for held in &mut billed {
                let to_h = held.from_h + held.hours;
                scratch
                    .changes
                    .extend([(held.from_h, held.vms), (to_h, -held.vms)]);
            }
            self.levels_h(scratch)
        })
    }

    /// What `hours` of one level in one month are charged as.
    fn in_month_h(&self, hours: f64) -> f64 {
        let band_h = MONTH_H / self.0.len() as f64;
        let in_band = |index: usize| (hours - index as f64 * band_h).clamp(0.0, band_h);
        (self.0.iter().enumerate())
            .map(|(index, fraction)| fraction * in_band(index))
            .sum()
    }

    /// What a level is charged as that is in use from one hour to another.
    fn one_level_h(&self, from_h: f64, to_h: f64) -> f64 {
        let month_end = end_of_month(from_h);
        if to_h <= month_end {
            return self.in_month_h(to_h - from_h);
        }
        let months = ((to_h - month_end) / MONTH_H).floor();
        let rest = to_h - month_end - months * MONTH_H;
        self.in_month_h(month_end - from_h)
            + months * self.in_month_h(MONTH_H)
            + self.in_month_h(rest)
    }

    /// What all levels are charged as, from the changes of the number held.
    fn levels_h(&self, Scratch { changes, held }: &mut Scratch) -> f64 {
        changes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        held.clear();
        let (mut since, mut vms, mut charged) = (0.0, 0.0, 0.0);
        let mut month_end = MONTH_H;
        for &(at, change) in &*changes {
            if at > month_end {
                held.push((vms, month_end - since));
                charged += self.month_of_levels_h(held);
                let months = ((at - month_end) / MONTH_H).floor();
                charged += months * vms * self.in_month_h(MONTH_H);
                since = month_end + months * MONTH_H;
                month_end = since + MONTH_H;
            }
            if at > since {
                held.push((vms, at - since));
                since = at;
            }
            vms += change;
        }
        charged + self.month_of_levels_h(held)
    }

    /// What all levels of a month are charged as, from the hours for which so many VMs were held; they are taken out.
    fn month_of_levels_h(&self, held: &mut Vec<(f64, f64)>) -> f64 {
        held.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut hours, mut charged) = (0.0, 0.0);
        for (index, &(vms, more)) in held.iter().enumerate() {
            hours += more;
            let below = held.get(index + 1).map_or(0.0, |next| next.0);
            if below < vms {
                // Levels above `below`, up to `vms`, were in use for as long.
                charged += (vms - below) * self.in_month_h(hours);
            }
        }
        held.clear();
        charged
    }
}

fn end_of_month(hour: f64) -> f64 {
    ((hour / MONTH_H).floor() + 1.0) * MONTH_H
}

/// What a bill is worked out in: bills are written by the million.
#[derive(Default)]
struct Scratch {
    /// At which hour the number of VMs held changes, and by how many.
    changes: Vec<(f64, f64)>,
    /// How many VMs were held, and for how many hours, in the month in progress.
    held: Vec<(f64, f64)>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;
    use proptest::prelude::*;

    fn n1() -> SustainedUse {
        SustainedUse::new(vec![1.0, 0.8, 0.6, 0.4]).expect("four bands")
    }

    fn billed_vms(vms: u32, from_h: f64, hours: f64) -> BilledVms {
        BilledVms {
            vms: f64::from(vms),
            from_h,
            hours,
        }
    }

    fn charged(all: &[BilledVms]) -> f64 {
        n1().charged_h(all.iter().copied())
    }

    #[test]
    fn n1_costs_70_percent_over_a_full_month_and_90_over_half_of_one() {
        for (part, net) in [(0.25, 1.0), (0.5, 0.9), (0.75, 0.8), (1.0, 0.7)] {
            let hours = part * MONTH_H;
            for vms in [1, 8] {
                let vms_h = net * hours * f64::from(vms);
                near(charged(&[billed_vms(vms, 0.0, hours)]), vms_h, 1e-9);
            }
        }
    }

    #[test]
    fn every_month_begins_anew() {
        let full = 0.7 * MONTH_H;
        let third = n1().in_month_h(630.0);
        for (from, hours, expected) in [
            (0.0, 2.0 * MONTH_H, 2.0 * full),
            (0.0, 3.5 * MONTH_H, 3.0 * full + 0.9 * 365.0),
            // 365 h in each of two months.
            (365.0, MONTH_H, 2.0 * 0.9 * 365.0),
            (100.0, 30.0 + 600.0 + 2.0 * MONTH_H, third + 2.0 * full),
        ] {
            near(charged(&[billed_vms(1, from, hours)]), expected, 1e-9);
            let half = hours / 2.0;
            let pieces = charged(&[billed_vms(1, from, half), billed_vms(1, from + half, half)]);
            near(pieces, expected, 1e-9);
        }
    }

    #[test]
    fn vms_side_by_side_are_levels_and_one_after_the_other_they_are_one() {
        assert_eq!(charged(&[billed_vms(30, 0.0, 24.0)]), 720.0);
        let days = (0..30).map(|day| billed_vms(1, 24.0 * f64::from(day), 24.0));
        let days: Vec<BilledVms> = days.collect();
        near(charged(&days), n1().in_month_h(720.0), 1e-9);
        near(charged(&[billed_vms(1, 0.0, 720.0)]), charged(&days), 1e-9);
    }

    proptest! {
        /// Against levels counted hour by hour.
        #[test]
        fn levels_are_the_hours_with_at_least_so_many_vms(
            all in prop::collection::vec((1u32..6, 0u32..1800, 0u32..900), 1..12),
        ) {
            let mut expected = 0.0;
            for month in 0..4 {
                let mut levels = [0u32; 80];
                for hour in month * 730..(month + 1) * 730 {
                    let is_held = |&&(_, from, hours): &&(u32, u32, u32)| (from..from + hours).contains(&hour);
                    let vms: u32 = all.iter().filter(is_held).map(|h| h.0).sum();
                    levels[..vms as usize].iter_mut().for_each(|level| *level += 1);
                }
                expected += levels.iter().map(|&hours| n1().in_month_h(f64::from(hours))).sum::<f64>();
            }
            let all: Vec<BilledVms> = (all.iter())
                .map(|&(vms, from, hours)| billed_vms(vms, f64::from(from), f64::from(hours)))
                .collect();
            let found = charged(&all);
            prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }

        /// More use never costs less, and no hour costs more than the first or less than the last.
        #[test]
        fn every_hour_costs_between_the_last_and_the_first_band(
            hours in 0.0f64..5000.0, more in 0.001f64..900.0,
        ) {
            let extra = charged(&[billed_vms(1, 0.0, hours + more)]) - charged(&[billed_vms(1, 0.0, hours)]);
            prop_assert!(extra >= 0.4 * more - 1e-6 && extra <= more + 1e-6);
        }
    }
}

//! A discount that grows with the part of the month that VMs are used.

use super::{Reductions, Rule};

/// `sustained_use`
pub const RULE: Rule = Rule {
    key: "`sustained_use`",
    is_spot: false,
    read: |file| {
        let fractions = file.sustained_use.as_ref()?.iter().map(|f| f.get());
        let bands = SustainedUse::new(fractions.collect())
            .ok_or("`sustained_use` is empty: give the fraction of each part of the month");
        Some(bands.map_err(str::to_owned).map(|bands| Reductions {
            sustained_use: Some(bands),
            ..Reductions::NONE
        }))
    },
};

/// Hours of a month in price lists.
pub const MONTH_H: f64 = 730.0;

/// Sustained use: the month in equal parts, each with the fraction of the base price at which it is
/// charged.
///
/// The VM-hours of all VMs of one type are pooled and fill one machine's month after the other: 30
/// machines for a day earn what one machine earns in 30 days.
#[derive(Debug, Clone, PartialEq)]
pub struct SustainedUse(Vec<f64>);

impl SustainedUse {
    /// From the fractions, of which there is at least one.
    pub fn new(fractions: Vec<f64>) -> Option<Self> {
        (!fractions.is_empty()).then_some(SustainedUse(fractions))
    }

    /// Hours at the base price that cost as much as `hours` pooled VM-hours in one month in which
    /// nothing else runs.
    pub fn charged_h(&self, hours: f64) -> f64 {
        let band_h = MONTH_H / self.0.len() as f64;
        let charged = |hours: f64| -> f64 {
            let in_band = |index: usize| (hours - index as f64 * band_h).clamp(0.0, band_h);
            (self.0.iter().enumerate())
                .map(|(index, fraction)| fraction * in_band(index))
                .sum()
        };
        let months = (hours / MONTH_H).floor();
        months * charged(MONTH_H) + charged(hours - months * MONTH_H)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n1() -> SustainedUse {
        SustainedUse::new(vec![1.0, 0.8, 0.6, 0.4]).expect("four bands")
    }

    #[test]
    fn n1_costs_70_percent_over_a_full_month_and_90_over_half_of_one() {
        for (part, net) in [(0.25, 1.0), (0.5, 0.9), (0.75, 0.8), (1.0, 0.7)] {
            let hours = part * MONTH_H;
            assert!((n1().charged_h(hours) - net * hours).abs() < 1e-9, "{part}");
        }
        assert!((n1().charged_h(2.0 * MONTH_H) - 2.0 * 0.7 * MONTH_H).abs() < 1e-9);
    }

    proptest! {
        /// More use never costs less, and no hour costs more than the first or less than the last.
        #[test]
        fn every_hour_costs_between_the_last_and_the_first_band(
            hours in 0.0f64..5000.0, more in 0.001f64..900.0,
        ) {
            let extra = n1().charged_h(hours + more) - n1().charged_h(hours);
            prop_assert!(extra >= 0.4 * more - 1e-6 && extra <= more + 1e-6);
        }
    }
}

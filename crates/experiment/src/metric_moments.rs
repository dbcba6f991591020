//! Moments of the figures of a group's cases, and of their units (`units.rs`).

use super::stored::{Reader, Writer};
use super::units::{Place, interval, read_moments, with_others, write_moments};
use scavsim_base::stats::{Interval, Lanes, Welford};

#[derive(Debug, Clone)]
pub(super) struct MetricMoments {
    values: Lanes,
    units: Lanes,
    /// Figures of the last case, whose partner may still come; NaN where nothing waits.
    waiting: Box<[f64]>,
    waits: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figure {
    values: Welford,
    /// None where values are the units.
    units: Welford,
}

impl MetricMoments {
    pub(super) fn new(count: usize) -> MetricMoments {
        MetricMoments {
            values: Lanes::new(count),
            units: Lanes::new(count),
            waiting: vec![f64::NAN; count].into(),
            waits: false,
        }
    }

    /// Adds the next case: its figures, NaN where missing.
    pub(super) fn add_case(&mut self, row: &[f64], place: Place) {
        self.values.add(row);
        match place {
            Place::Alone => {}
            Place::First => {
                if self.waits {
                    self.units.add(&self.waiting);
                }
                self.waiting.copy_from_slice(row);
                self.waits = true;
            }
            Place::Second => {
                // The unit is the mean of both, or who is left alone.
                for (one, other) in self.waiting.iter_mut().zip(row) {
                    let both = 0.5 * (*one + other);
                    let alone = if one.is_nan() { *other } else { *one };
                    *one = if both.is_nan() { alone } else { both };
                }
                self.units.add(&self.waiting);
                self.waiting.fill(f64::NAN);
                self.waits = false;
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> Figure {
        let mut units = self.units.get(at);
        if !self.waiting[at].is_nan() {
            units.add(self.waiting[at]);
        }
        Figure {
            values: self.values.get(at),
            units,
        }
    }

    /// Replaces the figure at `at`, of which no case waits.
    pub(super) fn set(&mut self, at: usize, figure: &Figure) {
        self.values.set(at, &figure.values);
        self.units.set(at, &figure.units);
        self.waiting[at] = f64::NAN;
    }
}

impl Figure {
    /// Adds cases that follow. No pair is in two parts.
    pub(super) fn merge(&mut self, other: &Figure) {
        self.values.merge(&other.values);
        self.units.merge(&other.units);
    }

    pub(super) fn values(&self) -> &Welford {
        &self.values
    }

    pub(super) fn units(&self) -> u64 {
        match self.units.count() {
            0 => self.values.count(),
            units => units,
        }
    }

    pub(super) fn interval(&self) -> Option<Interval> {
        interval(&self.values, &self.units)
    }

    /// The interval where choices may come that no case made; see [`with_others`].
    pub(super) fn interval_with_others(&self, expected: Option<(f64, f64)>) -> Option<Interval> {
        with_others(&self.values, &self.units, expected)
    }

    pub(super) fn write(&self, to: &mut Writer) {
        write_moments(&self.values, to);
        write_moments(&self.units, to);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Figure> {
        Some(Figure {
            values: read_moments(from)?,
            units: read_moments(from)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::units::Partners;
    use super::*;

    fn figure(cases: &[(u64, Option<f64>)]) -> Figure {
        let (mut figures, mut partners) = (MetricMoments::new(2), Partners::default());
        for (replica, value) in cases {
            let row = [f64::NAN, value.unwrap_or(f64::NAN)];
            figures.add_case(&row, partners.in_pairs(*replica));
        }
        assert_eq!(
            (figures.get(0).units(), figures.get(0).interval()),
            (0, None)
        );
        figures.get(1)
    }

    fn units(cases: &[(u64, Option<f64>)]) -> Vec<u64> {
        let (count, sums) = figure(cases).units.sums();
        std::iter::once(count).chain([sums[0].to_bits()]).collect()
    }

    #[test]
    fn pairs_are_units_and_so_is_who_is_left_alone() {
        let one = Some;
        for (cases, count, mean) in [
            (vec![(0, one(1.0)), (1, one(3.0)), (2, one(5.0))], 2, 3.5),
            // The other has no figure, or is of another group, or came before.
            (
                vec![(0, one(1.0)), (1, None), (2, None), (3, one(5.0))],
                2,
                3.0,
            ),
            (vec![(1, one(1.0)), (2, one(5.0)), (5, one(6.0))], 3, 4.0),
            (vec![(1, one(1.0)), (0, one(2.0))], 2, 1.5),
            (vec![(4, one(1.0)), (4, one(2.0)), (5, one(4.0))], 2, 2.0),
            (vec![(4, None), (5, None)], 0, 0.0),
        ] {
            assert_eq!(units(&cases), [count, f64::to_bits(mean)], "{cases:?}");
        }
    }

    /// Where pairs come to the same the mean is known; without their pairs it would not be.
    #[test]
    fn the_interval_is_that_of_units() {
        let opposite: Vec<_> = (0..40)
            .map(|r| (r, Some(7.0 + [1.0, -1.0][r as usize % 2])))
            .collect();
        let known = figure(&opposite);
        assert_eq!(
            known.interval(),
            Some(Interval {
                low: 7.0,
                high: 7.0
            })
        );
        assert!(
            known
                .values()
                .interval()
                .is_some_and(|i| i.high - i.low > 0.5)
        );
        // The luck of what may still be chosen does not cancel, but goes no farther than what is expected of it.
        let ends = |i: Option<Interval>| i.map(|i| [i.low, i.high]).unwrap_or_default();
        let alone = ends(known.values().interval());
        let by_expectation = [7.0 - 0.125, 7.0 + 0.125];
        for (expected, right) in [(None, alone), (Some((0.0, 0.125)), by_expectation)] {
            let seen = ends(known.interval_with_others(expected));
            for (seen, right) in seen.into_iter().zip(right) {
                assert!((seen - right).abs() < 1e-12, "{seen} {right}");
            }
        }
        // Both of a pair the same: 20 values, not 40.
        let value = |r: u64| (r / 2 * 7 % 20) as f64;
        let same = figure(&(0..40).map(|r| (r, Some(value(r)))).collect::<Vec<_>>());
        let mut twenty = Welford::default();
        (0..20).for_each(|pair| twenty.add(value(2 * pair)));
        let (seen, expected) = (same.interval(), twenty.interval());
        for (seen, expected) in ends(seen).into_iter().zip(ends(expected)) {
            assert!((seen - expected).abs() < 1e-9, "{seen} {expected}");
        }
        assert_eq!(figure(&[(0, Some(1.0)), (1, Some(2.0))]).interval(), None);
    }

    #[test]
    fn without_pairs_values_are_units() {
        let mut figures = MetricMoments::new(1);
        for value in [1.0, 2.0, 4.0] {
            figures.add_case(&[value], Place::Alone);
        }
        let figure = figures.get(0);
        assert_eq!(figure.interval(), figure.values().interval());
        assert!(figure.interval().is_some());
    }

    #[test]
    fn parts_that_were_stored_come_to_the_same_bits() {
        let cases: Vec<_> = (0..61).map(|r| (r, Some(1.0 / (3 + r) as f64))).collect();
        let (mut whole, mut stored) = (Figure::default(), Figure::default());
        for part in cases.chunks(15) {
            // Odd parts are what a run of an odd number of replicas ends with.
            let part = figure(part);
            let mut to = Writer::default();
            part.write(&mut to);
            whole.merge(&part);
            stored.merge(&Figure::read(&mut Reader(&to.0)).expect("as written"));
        }
        let bits = |figure: &Figure| {
            let (count, sums) = figure.units.sums();
            (
                count,
                sums.map(f64::to_bits),
                figure.values.sums().1.map(f64::to_bits),
            )
        };
        assert_eq!(bits(&whole), bits(&stored));
    }
}

//! Figures by units: where replicas 2r and 2r + 1 share their luck, the second mirrored (`rng.rs`), what varies independently
//! is the mean of a pair. One of which the other is missing, as the last of an odd number, is a unit by itself.
//!
//! With units u of mean ū and all values of mean x̄ the interval of x̄ has the lengths of that of ū. Where all units are pairs
//! ū is x̄; else ū gives more weight to those by themselves, which vary more.
//!
//! Mirrored luck cancels while all choose the same. A choice that luck brings about comes with luck of its own, which no pair
//! shows that does not make it: where such a choice may come, an interval is longer to both sides.

use super::holds::Holds;
use super::stored::{Reader, Writer};
use scavsim_base::stats::{Interval, Pair, Share, Welford};

/// What the luck of a case is to the case before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All cases have luck of their own: units are not told apart from values.
    Alone,
    /// The first of a pair, whose partner may follow.
    First,
    /// The second of a pair, which shares the luck of the case before.
    Second,
}

/// Tells which records are the second of a pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Partners {
    /// The replica whose record came last.
    last: Option<u64>,
}

impl Partners {
    /// The place of the next record.
    pub(super) fn meet(&mut self, replica: u64, antithetic: bool) -> Place {
        if antithetic {
            self.in_pairs(replica)
        } else {
            Place::Alone
        }
    }

    fn in_pairs(&mut self, replica: u64) -> Place {
        let before = self.last.replace(replica);
        if replica % 2 == 1 && before == Some(replica - 1) {
            Place::Second
        } else {
            Place::First
        }
    }
}

/// Units of one figure, or of several that come together.
pub(super) trait UnitsOf: Clone + Default {
    /// The figures of one case.
    type Value: Copy;
    /// Takes in a unit.
    fn unit(&mut self, unit: Self::Value);
    /// Takes in units that follow.
    fn append(&mut self, other: &Self);
    /// The unit that two cases are.
    fn both(one: Self::Value, other: Self::Value) -> Self::Value;
}

impl UnitsOf for Welford {
    type Value = f64;

    fn unit(&mut self, unit: f64) {
        self.add(unit);
    }

    fn append(&mut self, other: &Self) {
        self.merge(other);
    }

    fn both(one: f64, other: f64) -> f64 {
        0.5 * (one + other)
    }
}

impl UnitsOf for Pair {
    type Value = [f64; 2];

    fn unit(&mut self, unit: [f64; 2]) {
        self.add(unit);
    }

    fn append(&mut self, other: &Self) {
        self.merge(other);
    }

    fn both(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|at| 0.5 * (one[at] + other[at]))
    }
}

/// Units as their cases pass by.
#[derive(Debug, Clone, Default)]
pub(super) struct Units<M: UnitsOf> {
    done: M,
    /// The last case, whose partner may still come.
    waiting: Option<M::Value>,
}

impl<M: UnitsOf> Units<M> {
    /// Takes in the next case of the group, which may not have the figure.
    pub(super) fn take(&mut self, value: Option<M::Value>, place: Place) {
        if place == Place::Alone {
            return;
        }
        let is_second = place == Place::Second;
        let before = self.waiting.take();
        if let (Some(one), Some(other), true) = (before, value, is_second) {
            self.done.unit(M::both(one, other));
            return;
        }
        if let Some(alone) = before {
            self.done.unit(alone);
        }
        // Nobody comes to a second one.
        match value {
            Some(alone) if is_second => self.done.unit(alone),
            value => self.waiting = value,
        }
    }

    /// Takes in units that follow. No pair is in two parts.
    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(alone) = self.waiting.take() {
            self.done.unit(alone);
        }
        self.done.append(&other.all());
    }

    /// All units so far.
    pub(super) fn all(&self) -> M {
        let mut all = self.done.clone();
        if let Some(alone) = self.waiting {
            all.unit(alone);
        }
        all
    }

    /// The units of which `done` is [`all`](Units::all).
    pub(super) fn of(done: M) -> Self {
        Units {
            done,
            waiting: None,
        }
    }
}

/// The 95 % confidence interval of the mean of `values` whose units are these, or themselves where there are none; `None`
/// below two units.
pub(super) fn interval(values: &Welford, units: &Welford) -> Option<Interval> {
    if units.count() == 0 {
        return values.interval();
    }
    let (down, up) = units.interval()?.about(units.mean());
    Some(Interval {
        low: values.mean() - down,
        high: values.mean() + up,
    })
}

/// The interval of a mean where choices may come that no case made. They are expected to move the mean by so much
/// `down` or `up`, and the luck that brings them about may move it as much the other way, but hardly by more than
/// values by themselves scatter. Of what begins a run nobody expects anything, so `expected` is `None` there.
pub(super) fn with_others(
    values: &Welford,
    units: &Welford,
    expected: Option<(f64, f64)>,
) -> Option<Interval> {
    let (plain, mean) = (interval(values, units)?, values.mean());
    let (down, up) = expected.unwrap_or_default();
    let widened = plain.and(mean, down, up);
    if units.count() == 0 {
        // Their own luck does not cancel.
        return Some(widened);
    }
    let most = expected.map_or(f64::INFINITY, |(down, up)| down.max(up));
    let with_luck = |own: f64, alone: f64| own.hypot(most).min(own.max(alone));
    let ((down, up), alone) = (plain.about(mean), values.interval()?.about(mean));
    let (least_down, least_up) = widened.about(mean);
    Some(Interval {
        low: mean - least_down.max(with_luck(down, alone.0)),
        high: mean + least_up.max(with_luck(up, alone.1)),
    })
}

/// A figure: its values, and its units.
#[derive(Debug, Clone, Default)]
pub(super) struct Figure {
    values: Welford,
    units: Units<Welford>,
}

impl Figure {
    /// Takes in the figure of the next case, if it has it.
    #[inline]
    pub(super) fn take(&mut self, value: Option<f64>, place: Place) {
        if let Some(value) = value {
            self.values.add(value);
        }
        self.units.take(value, place);
    }

    /// Takes in those of cases that follow.
    pub(super) fn merge(&mut self, other: &Figure) {
        self.values.merge(&other.values);
        self.units.merge(&other.units);
    }

    /// All values.
    pub(super) fn values(&self) -> &Welford {
        &self.values
    }

    /// Units, or values where those are the units.
    pub(super) fn units(&self) -> u64 {
        match self.units.all().count() {
            0 => self.values.count(),
            units => units,
        }
    }

    /// The interval of their mean.
    pub(super) fn interval(&self) -> Option<Interval> {
        interval(&self.values, &self.units.all())
    }

    /// The interval of the mean where choices may come that no case made; see [`with_others`].
    pub(super) fn interval_with_others(&self, expected: Option<(f64, f64)>) -> Option<Interval> {
        with_others(&self.values, &self.units.all(), expected)
    }

    pub(super) fn write(&self, to: &mut Writer) {
        write_moments(&self.values, to);
        write_moments(&self.units.all(), to);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Figure> {
        Some(Figure {
            values: read_moments(from)?,
            units: Units::of(read_moments(from)?),
        })
    }
}

/// A share of cases, and the same by units.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    share: Share,
    units: Units<Welford>,
}

impl Answers {
    /// Takes in the answer of the next case, if it has one.
    pub(super) fn take(&mut self, yes: Option<bool>, place: Place) {
        if let Some(yes) = yes {
            self.share.add(yes);
        }
        let value = yes.map(|yes| f64::from(u8::from(yes)));
        self.units.take(value, place);
    }

    /// Takes in those of cases that follow.
    pub(super) fn merge(&mut self, other: &Answers) {
        self.share.merge(&other.share);
        self.units.merge(&other.units);
    }

    /// The share.
    pub(super) fn share(&self) -> Share {
        self.share
    }

    /// The interval of the share, as of so many independent answers p as vary by as much as the units do: p (1 − p) /
    /// variance of the mean unit (Kish's effective sample size). At least the units, which is also taken where all say
    /// the same; at most all answers, though pairs that say the opposite may tell more.
    pub(super) fn interval(&self) -> Option<Interval> {
        let share = self.share.share()?;
        let units = self.units.all();
        if units.count() == 0 {
            return self.share.interval();
        }
        let (least, most) = (units.count() as f64, self.share.count as f64);
        let (alone, together) = (share * (1.0 - share), units.variance() / least);
        let count = match (alone > 0.0, together > 0.0) {
            (false, _) => least,
            (true, false) => most,
            (true, true) => alone / together,
        };
        self.share.interval_as_of(count.clamp(least, most))
    }

    /// How often that holds.
    pub(super) fn holds(&self) -> Holds {
        Holds::of_share(self.share.yes, self.share.count)
    }

    pub(super) fn write(&self, to: &mut Writer) {
        to.count(self.share.yes);
        to.count(self.share.count);
        write_moments(&self.units.all(), to);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Answers> {
        let (yes, count) = (from.count()?, from.count()?);
        let units = read_moments(from)?;
        // What nobody wrote would clamp between ends in the wrong order.
        (units.count() <= count).then(|| Answers {
            share: Share { yes, count },
            units: Units::of(units),
        })
    }
}

/// A count, the mean, and what is not 0 of the sums about it.
pub(super) fn write_moments(values: &Welford, to: &mut Writer) {
    let (count, [mean, squares, cubes]) = values.sums();
    let varies = squares != 0.0 || cubes != 0.0;
    to.count(count);
    if count > 0 {
        to.numbers(&[mean]);
        to.maybe(varies.then_some([squares, cubes]), |to, sums| {
            to.numbers(&sums)
        });
    }
}

/// What [`write_moments`] wrote; `None` where that is not what stands there.
pub(super) fn read_moments(from: &mut Reader<'_>) -> Option<Welford> {
    let count = from.count()?;
    if count == 0 {
        return Some(Welford::default());
    }
    let [mean] = from.numbers()?;
    let [squares, cubes] = from.maybe(Reader::numbers)?.unwrap_or_default();
    Some(Welford::of_sums(count, [mean, squares, cubes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A figure of cases with these replicas.
    fn figure(cases: &[(u64, Option<f64>)]) -> Figure {
        let (mut figure, mut partners) = (Figure::default(), Partners::default());
        for (replica, value) in cases {
            figure.take(*value, partners.in_pairs(*replica));
        }
        figure
    }

    fn units(cases: &[(u64, Option<f64>)]) -> Vec<u64> {
        let units = figure(cases).units.all();
        let (count, sums) = units.sums();
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
        let mut figure = Figure::default();
        for value in [1.0, 2.0, 4.0] {
            figure.take(Some(value), Place::Alone);
        }
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
            let (count, sums) = figure.units.all().sums();
            (
                count,
                sums.map(f64::to_bits),
                figure.values.sums().1.map(f64::to_bits),
            )
        };
        assert_eq!(bits(&whole), bits(&stored));
    }

    #[test]
    fn a_share_counts_answers_by_what_pairs_tell() {
        let share = |answer: &dyn Fn(u64) -> bool| {
            let (mut answers, mut partners) = (Answers::default(), Partners::default());
            for replica in 0..40 {
                answers.take(Some(answer(replica)), partners.in_pairs(replica));
            }
            answers.interval().expect("answers")
        };
        let of = |yes, count| Share { yes, count }.interval().expect("answers");
        let near = |a: Interval, b: Interval, by: f64| {
            assert!(
                (a.low - b.low).abs() <= by && (a.high - b.high).abs() <= by,
                "{a:?} {b:?}"
            );
        };
        // Twice the same tells it once; all the same might be that.
        near(share(&|r| r / 2 % 4 == 0), of(5, 20), 0.0);
        near(share(&|_| true), of(20, 20), 0.0);
        // Always the opposite is not taken to tell more than answers by themselves.
        near(share(&|r| r % 2 == 0), of(20, 40), 0.0);
        // As good as independent: no, no; no, yes; yes, no; yes, yes.
        near(
            share(&|r| ((r / 2 % 4) >> (r % 2)) & 1 == 1),
            of(20, 40),
            0.01,
        );
    }
}

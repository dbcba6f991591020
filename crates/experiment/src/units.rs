//! Figures by units: where replicas 2r and 2r + 1 share their luck, the second mirrored (`rng.rs`), the mean of a pair varies
//! independently. The last replica of an odd count forms a unit of its own.
//!
//! With units u of mean ū and all values of mean x̄ the interval of x̄ has the lengths of that of ū. Where all units are pairs ū is
//! x̄; else ū gives more weight to single ones, which vary more.
//!
//! Mirrored luck cancels while all choose the same. A choice that luck brings about has luck of its own, which pairs without that
//! choice do not show: where such a choice may come, an interval is longer to both sides.

use super::interval_coverage::IntervalCoverage;
use super::stored::{Reader, Writer};
use scavsim_base::stats::{Interval, Pair, Share, Welford};

/// How the luck of a case relates to the case before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All cases have luck of their own: values are units.
    Alone,
    /// First of a pair; the second may follow.
    First,
    /// Shares the luck of the case before.
    Second,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Partners {
    last: Option<u64>,
}

impl Partners {
    pub(super) fn meet(&mut self, replica: u64, are_paired: bool) -> Place {
        if are_paired {
            self.in_pairs(replica)
        } else {
            Place::Alone
        }
    }

    pub(super) fn in_pairs(&mut self, replica: u64) -> Place {
        let before = self.last.replace(replica);
        if replica % 2 == 1 && before == Some(replica - 1) {
            Place::Second
        } else {
            Place::First
        }
    }
}

/// Units of one figure, or of several together.
pub(super) trait UnitsOf: Clone + Default {
    type Value: Copy;
    fn unit(&mut self, unit: Self::Value);
    fn append(&mut self, other: &Self);
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

#[derive(Debug, Clone, Default)]
pub(super) struct Units<M: UnitsOf> {
    done: M,
    /// The last case, whose partner may still come.
    waiting: Option<M::Value>,
}

impl<M: UnitsOf> Units<M> {
    /// Adds the next case of the group, which may lack the figure.
    pub(super) fn push_value(&mut self, value: Option<M::Value>, place: Place) {
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

    /// Adds units that follow. No pair is in two parts.
    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(alone) = self.waiting.take() {
            self.done.unit(alone);
        }
        self.done.append(&other.all());
    }

    pub(super) fn all(&self) -> M {
        let mut all = self.done.clone();
        if let Some(alone) = self.waiting {
            all.unit(alone);
        }
        all
    }

    /// Units of which `done` is [`all`](Units::all).
    pub(super) fn from_done(done: M) -> Self {
        Units {
            done,
            waiting: None,
        }
    }
}

/// 95 % confidence interval of the mean of `values` by these units, or by themselves without units; `None` below two.
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

/// Interval of a mean where choices may come that no case made. They are expected to move the mean `down` or `up`, and their luck
/// may move it as much the other way, but hardly beyond the scatter of values. `expected` is `None` where it is unknown, as for what
/// begins a run.
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

#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    share: Share,
    units: Units<Welford>,
}

impl Answers {
    /// Adds the next case's answer, if it has one.
    pub(super) fn push_answer(&mut self, yes: Option<bool>, place: Place) {
        if let Some(yes) = yes {
            self.share.add(yes);
        }
        let value = yes.map(|yes| f64::from(u8::from(yes)));
        self.units.push_value(value, place);
    }

    pub(super) fn merge(&mut self, other: &Answers) {
        self.share.merge(&other.share);
        self.units.merge(&other.units);
    }

    pub(super) fn share(&self) -> Share {
        self.share
    }

    /// Interval of the share: from the `independent` answers where cases overlap; else from as many independent answers p as vary like
    /// the units, p (1 − p) / variance of the mean unit (Kish's effective sample size). At least the units, also where all say the same;
    /// at most all answers.
    pub(super) fn interval(&self, independent: Option<f64>) -> Option<Interval> {
        if let Some(count) = independent {
            return Some(count)
                .filter(|count| *count >= 2.0)
                .and_then(|count| self.share.interval_as_of(count));
        }
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

    pub(super) fn coverage(&self) -> IntervalCoverage {
        IntervalCoverage::of_share(self.share.yes, self.share.count)
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
            units: Units::from_done(units),
        })
    }
}

/// Count, mean, and the sums about it that are not 0.
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

/// Inverse of [`write_moments`]; `None` for other bytes.
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

    #[test]
    fn a_share_counts_answers_by_what_pairs_tell() {
        let share = |answer: &dyn Fn(u64) -> bool| {
            let (mut answers, mut partners) = (Answers::default(), Partners::default());
            for replica in 0..40 {
                answers.push_answer(Some(answer(replica)), partners.in_pairs(replica));
            }
            answers.interval(None).expect("answers")
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

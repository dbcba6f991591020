//! The median of a stream of values, in bounded memory.

use super::Interval;
use super::sketch::Sketch;

/// Up to this many values are kept and the median is exact: few enough for thousands of medians that run at the same time.
const EXACT_UP_TO: usize = 1_000;
/// Room for the values of a task: most have no more.
const FEW: usize = 32;

#[derive(Clone)]
pub struct RunningMedian(State);

#[derive(Clone)]
enum State {
    /// So many times the same value, as of a figure that does not vary: a count costs nothing.
    Same(f64, u64),
    Exact(Vec<f64>),
    Sketch(Box<Sketch>),
}

impl RunningMedian {
    pub fn new() -> Self {
        RunningMedian(State::Same(0.0, 0))
    }

    #[inline]
    pub fn add(&mut self, value: f64) {
        match &mut self.0 {
            State::Same(first, count) if first.to_bits() == value.to_bits() => *count += 1,
            _ => self.add_another(value),
        }
    }

    fn add_another(&mut self, value: f64) {
        match &mut self.0 {
            State::Same(first, count @ 0) => (*first, *count) = (value, 1),
            State::Same(first, count) => {
                let (first, count) = (*first, *count);
                self.0 = State::Exact(Vec::with_capacity(FEW));
                (0..count).for_each(|_| self.add_another(first));
                self.add_another(value);
            }
            State::Exact(values) if values.len() < EXACT_UP_TO => values.push(value),
            State::Exact(values) => {
                let mut sketch = Sketch::new();
                values.iter().for_each(|v| sketch.add(*v, 1));
                sketch.add(value, 1);
                self.0 = State::Sketch(Box::new(sketch));
            }
            State::Sketch(sketch) => sketch.add(value, 1),
        }
    }

    pub fn add_all(&mut self, values: impl Iterator<Item = f64>) {
        // What stays the same is taken in at once.
        let mut same: Option<(f64, u64)> = None;
        for value in values {
            match &mut same {
                Some((own, times)) if own.to_bits() == value.to_bits() => *times += 1,
                _ => {
                    if let Some((own, times)) = same.replace((value, 1)) {
                        self.add_times(own, times);
                    }
                }
            }
        }
        if let Some((value, times)) = same {
            self.add_times(value, times);
        }
    }

    fn add_times(&mut self, value: f64, times: u64) {
        match &mut self.0 {
            State::Same(own, count) if *count == 0 || own.to_bits() == value.to_bits() => {
                *own = value;
                *count += times;
            }
            // A count costs a sketch no more than one.
            State::Sketch(own) if times > 1 => own.add(value, times),
            _ => (0..times).for_each(|_| self.add(value)),
        }
    }

    pub fn merge(&mut self, other: &RunningMedian) {
        match (&mut self.0, &other.0) {
            (_, State::Same(_, 0)) => {}
            (State::Same(_, 0), _) => self.0 = other.0.clone(),
            (_, State::Same(value, count)) => self.add_times(*value, *count),
            (State::Exact(own), State::Exact(values))
                if own.len() + values.len() <= EXACT_UP_TO =>
            {
                own.extend_from_slice(values);
            }
            (State::Sketch(own), State::Exact(values)) => {
                values.iter().for_each(|value| own.add(*value, 1));
            }
            (_, State::Exact(values)) => values.iter().for_each(|value| self.add(*value)),
            (own, State::Sketch(others)) => {
                let mut all = others.clone();
                match own {
                    State::Same(value, count) => all.add(*value, *count),
                    State::Exact(values) => values.iter().for_each(|value| all.add(*value, 1)),
                    State::Sketch(own) => all.merge(own),
                }
                self.0 = State::Sketch(all);
            }
        }
    }

    /// One that has had these values, or one value so many times.
    pub fn of_values(values: Vec<f64>, times: u64) -> RunningMedian {
        match values[..] {
            [value] => RunningMedian(State::Same(value, times)),
            _ if values.len() <= EXACT_UP_TO => RunningMedian(State::Exact(values)),
            _ => {
                let mut median = RunningMedian::new();
                median.add_all(values.into_iter());
                median
            }
        }
    }

    /// The median of all values so far; `None` before the first. Puts what it holds into another order.
    pub fn median(&mut self) -> Option<f64> {
        match &mut self.0 {
            State::Same(_, 0) => None,
            State::Same(value, count) if *count <= EXACT_UP_TO as u64 => Some(*value),
            State::Same(value, _) => {
                // As a sketch has it, however many there are.
                let mut sketch = Sketch::new();
                sketch.add(*value, 1);
                sketch.quantile(0.5)
            }
            State::Exact(values) => {
                let is_odd = values.len() % 2 == 1;
                if values.is_empty() {
                    return None;
                }
                // No more is sorted than the median needs.
                let middle = values.len() / 2;
                let (below, at, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
                let below = below.iter().copied().max_by(f64::total_cmp);
                match below.filter(|_| !is_odd) {
                    Some(below) => Some(0.5 * (below + *at)),
                    None => Some(*at),
                }
            }
            State::Sketch(sketch) => sketch.quantile(0.5),
        }
    }
}

impl RunningMedian {
    /// The value that a share `q` of all stays below, linear between ranks; `None` before the first. Sorts what it holds.
    pub fn quantile(&mut self, q: f64) -> Option<f64> {
        match &mut self.0 {
            State::Same(_, 0) => None,
            State::Same(value, _) => Some(*value),
            State::Exact(values) => {
                values.sort_unstable_by(f64::total_cmp);
                let at = q.clamp(0.0, 1.0) * (values.len() - 1) as f64;
                let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
                Some(low + (high - low) * at.fract())
            }
            State::Sketch(sketch) => sketch.quantile(q),
        }
    }

    /// The 95 % confidence interval of the median between two of the values, by their ranks: it holds whatever the
    /// distribution. `None` below six values.
    pub fn interval(&mut self) -> Option<Interval> {
        let at = |low: f64, high: f64| Some(Interval { low, high });
        match &mut self.0 {
            State::Same(value, count) if *count >= 6 => at(*value, *value),
            State::Same(..) => None,
            State::Exact(values) => {
                values.sort_unstable_by(f64::total_cmp);
                let below = lower_rank(values.len())?;
                at(values[below], values[values.len() - 1 - below])
            }
            State::Sketch(sketch) => {
                // The binomial distribution is normal by now.
                let half = 0.98 / (sketch.count() as f64).sqrt();
                let quantile = |q: f64| sketch.quantile(q);
                at(quantile(0.5 - half)?, quantile(0.5 + half)?)
            }
        }
    }
}

/// How many of `count` values are below the lower end of the interval of their median: as many as are below the median
/// with a probability of at most 2.5 %. `None` where that is not even so for none.
fn lower_rank(count: usize) -> Option<usize> {
    let mut probability = libm::pow(0.5, count as f64);
    let mut sum = probability;
    let mut below = None;
    for k in 0..count {
        if sum > 0.025 {
            break;
        }
        below = Some(k);
        probability *= (count - k) as f64 / (k + 1) as f64;
        sum += probability;
    }
    below
}

impl Default for RunningMedian {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::RELATIVE_ERROR;
    use super::*;
    use crate::tests::{close, stream};

    fn median_of(values: impl IntoIterator<Item = f64>) -> RunningMedian {
        let mut running = RunningMedian::new();
        values.into_iter().for_each(|value| running.add(value));
        running
    }

    fn bits(median: Option<f64>) -> Option<u64> {
        median.map(f64::to_bits)
    }

    #[test]
    fn few_values_give_the_exact_median() {
        assert_eq!(RunningMedian::new().median(), None);
        assert_eq!(median_of([4.0, -1.0, 2.0]).median(), Some(2.0));
    }

    #[test]
    fn many_values_that_were_stored_come_to_what_telling_them_does() {
        let values: Vec<f64> = (0..1_500).map(|i| f64::from(i * 7 % 1_501)).collect();
        let mut told = median_of(values.clone());
        let mut stored = RunningMedian::of_values(values, 1);
        assert_eq!(bits(stored.median()), bits(told.median()));
    }

    #[test]
    fn quantiles_lie_between_ranks() {
        assert_eq!(RunningMedian::new().quantile(0.5), None);
        let mut running = median_of([3.0, 1.0, 2.0, 5.0]);
        let quantile = [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| running.quantile(q));
        assert_eq!(quantile, [1.0, 1.75, 2.5, 3.5, 5.0].map(Some));
        let mut many = median_of((1..=40_000).map(f64::from));
        let high = many.quantile(0.95).expect("there are values");
        close(high, 38_000.0, 2.0 * RELATIVE_ERROR);
    }

    #[test]
    fn the_interval_of_a_median_is_between_ranks_of_the_textbook() {
        for (count, lower) in [(6, 1), (10, 2), (20, 6), (100, 40), (1_000, 469)] {
            assert_eq!(lower_rank(count), Some(lower - 1), "{count}");
            let mut running = median_of((1..=count).map(|i| i as f64));
            let interval = running.interval().expect("enough");
            let ends = (lower as f64, (count + 1 - lower) as f64);
            assert_eq!((interval.low, interval.high), ends);
        }
        assert_eq!(lower_rank(5), None);
        let mut many = median_of((1..=40_000).map(f64::from));
        let interval = many.interval().expect("enough");
        close(interval.low, 19_804.0, 2.0 * RELATIVE_ERROR);
        close(interval.high, 20_196.0, 2.0 * RELATIVE_ERROR);
    }

    /// What is counted while it is the same gives the bits that keeping it would.
    #[test]
    fn a_value_that_stays_the_same_is_counted_without_a_trace() {
        for (same, others) in [
            (1, 0),
            (700, 0),
            (5_000, 0),
            (700, 900),
            (5_000, 4_000),
            (3, 40),
        ] {
            let mut kept = RunningMedian(State::Exact(Vec::new()));
            let mut counted = RunningMedian::new();
            let same_values = std::iter::repeat_n(0.3, same);
            for value in same_values.chain((0..others).map(|i| f64::from(i) / 7.0)) {
                kept.add(value);
                counted.add(value);
            }
            let medians = [kept, counted].map(|mut own| bits(own.median()));
            assert_eq!(medians[0], medians[1], "{same} {others}");
        }
    }

    /// However values are cut into parts, what is seen of them is what one after the other gives.
    #[test]
    fn parts_come_to_the_whole() {
        for (same, others, part) in [
            (0, 900, 64),
            (300, 20, 7),
            (40, 3_000, 64),
            (5, 4_000, 1_500),
        ] {
            let others_values = (0..others).map(|i| f64::from(i * 7 % 1_001) / 7.0);
            let values = std::iter::repeat_n(0.3, same).chain(others_values);
            let values: Vec<f64> = values.collect();
            let mut whole = median_of(values.iter().copied());
            let (mut parts, mut at_once) = (RunningMedian::new(), RunningMedian::new());
            for values in values.chunks(part) {
                at_once.add_all(values.iter().copied());
                let mut part = median_of(values.iter().copied());
                part = match part.0 {
                    State::Same(value, times) => RunningMedian::of_values(vec![value], times),
                    State::Exact(values) => RunningMedian::of_values(values, 1),
                    State::Sketch(_) => part,
                };
                parts.merge(&part);
            }
            for mut own in [parts, at_once] {
                let medians = [own.median(), whole.median()].map(bits);
                assert_eq!(medians[0], medians[1], "{same} {others}");
                assert_eq!(own.interval(), whole.interval(), "{same} {others}");
            }
        }
    }

    #[test]
    fn many_values_give_it_within_two_thousandths_on_both_sides_of_zero() {
        for shift in [-7.0, 5.0] {
            let mut stream = stream(4);
            let values = (0..200 * EXACT_UP_TO).map(|_| shift + stream.normal());
            let mut all: Vec<f64> = values.collect();
            let found = median_of(all.iter().copied()).median().expect("not empty");
            let exact = super::super::median(&mut all).expect("not empty");
            close(found, exact, 2.0 * RELATIVE_ERROR);
        }
    }
}

//! The interval that suits losses at a constant rate.

/// A checkpoint after every interval that suits memoryless losses. 0, where writing takes no time, is after every step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YoungDaly {
    /// Hours of work from one checkpoint to the next.
    interval_h: f64,
}

impl YoungDaly {
    /// Young's interval of √(2 δ M) hours: a write takes `write_h` = δ hours, losses are `mtbf_h` = M hours apart in the mean.
    /// Source: Young 1974. `None` unless δ is at least 0 and M above it, both finite.
    pub fn first_order(write_h: f64, mtbf_h: f64) -> Option<Self> {
        YoungDaly::with(write_h, mtbf_h, (2.0 * write_h * mtbf_h).sqrt())
    }

    /// Daly's interval, in hours: √(2 δ M) (1 + ⅓ √(δ/2M) + ⅑ δ/2M) − δ for δ < 2M, and M otherwise; names as above. Source: Daly 2006, eq. 37.
    pub fn higher_order(write_h: f64, mtbf_h: f64) -> Option<Self> {
        let part = write_h / (2.0 * mtbf_h);
        let interval_h = if part < 1.0 {
            let series = 1.0 + part.sqrt() / 3.0 + part / 9.0;
            (2.0 * write_h * mtbf_h).sqrt() * series - write_h
        } else {
            mtbf_h
        };
        YoungDaly::with(write_h, mtbf_h, interval_h)
    }

    /// The interval with the least Daly run time: the least of (e^((τ + δ)/M) − 1)/τ, found where its slope is 0.
    pub fn searched(write_h: f64, mtbf_h: f64) -> Option<Self> {
        // With x = τ/M and d = δ/M the slope is none where (1 − x) e^(x + d) = 1: falling in x from 0 to 1.
        let d = write_h / mtbf_h;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let x = 0.5 * (low + high);
            if (1.0 - x) * libm::exp(x + d) > 1.0 {
                low = x;
            } else {
                high = x;
            }
        }
        YoungDaly::with(write_h, mtbf_h, low * mtbf_h)
    }

    fn with(write_h: f64, mtbf_h: f64, interval_h: f64) -> Option<Self> {
        let is_legal = mtbf_h > 0.0 && write_h >= 0.0 && (write_h + interval_h).is_finite();
        is_legal.then_some(YoungDaly { interval_h })
    }

    pub fn interval_h(self) -> f64 {
        self.interval_h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::checkpoint::run_time::daly_h;
    use crate::tests::near;

    /// The published use: writes of a minute, losses an hour apart: 11 minutes.
    #[test]
    fn the_interval_is_the_published_one() {
        let young = YoungDaly::first_order(1.0 / 60.0, 1.0).expect("it is legal");
        near(young.interval_h() * 60.0, 10.954, 5e-4);
        assert_eq!(YoungDaly::higher_order(1.0, f64::NAN), None);
    }

    type Interval = fn(f64, f64) -> Option<YoungDaly>;

    /// √(2δM) goes to 0 with δ, and so do the others: at 0 there is a checkpoint after every step, and not none.
    #[test]
    fn a_write_that_takes_no_time_is_the_limit_of_short_ones() {
        let (young, daly) = (YoungDaly::first_order, YoungDaly::higher_order);
        for interval in [young as Interval, daly, YoungDaly::searched] {
            let of = |write_h| interval(write_h, 1.7).map(YoungDaly::interval_h);
            let hair = of(1e-12).expect("it is legal");
            assert!((0.0..3e-6).contains(&hair), "{hair}");
            assert_eq!(of(0.0), Some(0.0));
            assert_eq!(interval(0.0, f64::INFINITY), None);
            assert_eq!(of(-1e-12), None);
        }
    }

    /// The slow obvious search for the least run time finds the same interval, within its own step of
    /// 0.00001 and what the series leaves out: 0.04 % for δ = M/10, 0.55 % for M/2.
    #[test]
    fn the_higher_order_is_nearly_the_best_interval() {
        for (write, bound) in [(0.001, 3e-4), (0.01, 1e-4), (0.1, 5e-4), (0.5, 6e-3)] {
            let run = |interval: f64| daly_h(1.0, interval, write, 0.0, 1.0);
            let all = (1..200_000).map(|step| f64::from(step) * 1e-5);
            let best = all.min_by(|a, b| run(*a).total_cmp(&run(*b)));
            let best = best.expect("there are some");
            let of = |rule: Interval| rule(write, 1.0).expect("it is legal").interval_h();
            near(of(YoungDaly::searched), best, 2e-5);
            let off = |rule: Interval| (of(rule) / best - 1.0).abs();
            let error = off(YoungDaly::higher_order);
            assert!(error < bound, "{write}: {error}");
            assert!(error < off(YoungDaly::first_order));
        }
        let rare = YoungDaly::higher_order(3.0, 1.0).expect("it is legal");
        assert_eq!(rare.interval_h(), 1.0);
    }
}

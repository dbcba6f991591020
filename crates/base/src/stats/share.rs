use super::Interval;
use super::normal::AT_97_5;

/// Counts of yes among all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub yes: u64,
    pub count: u64,
}

impl Share {
    #[inline]
    pub fn add(&mut self, yes: bool) {
        self.count += 1;
        self.yes += u64::from(yes);
    }

    pub fn merge(&mut self, other: &Share) {
        self.yes += other.yes;
        self.count += other.count;
    }

    /// The share; `None` before the first answer.
    pub fn share(&self) -> Option<f64> {
        (self.count > 0).then(|| self.yes as f64 / self.count as f64)
    }

    /// 95 % confidence interval after Wilson (1927), which keeps to [0, 1] and is as wide as few cases make it when all
    /// say the same; `None` before the first answer.
    pub fn interval(&self) -> Option<Interval> {
        self.interval_as_of(self.count as f64)
    }

    /// 95 % confidence interval where all answers together tell no more than `n` independent ones.
    pub fn interval_as_of(&self, n: f64) -> Option<Interval> {
        let share = self.share()?;
        let z = AT_97_5 * AT_97_5 / n;
        let middle = (share + 0.5 * z) / (1.0 + z);
        let half = (z * (share * (1.0 - share) + 0.25 * z)).sqrt() / (1.0 + z);
        // Rounding must not keep the ends from what they are.
        let end = |value: f64, at: u64, exact: f64| if self.yes == at { exact } else { value };
        Some(Interval {
            low: end(middle - half, 0, 0.0),
            high: end(middle + half, self.count, 1.0),
        })
    }
}

/// The largest probability of an event that `count` cases without it leave credible at 95 %: 1 − 0.05^(1/count),
/// about 3/count.
pub fn unseen(count: u64) -> f64 {
    1.0 - libm::pow(0.05, 1.0 / count.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_textbook() {
        for (yes, count, low, high) in [
            (0, 20, 0.0, 0.1611),
            (1, 20, 0.0089, 0.2361),
            (10, 20, 0.2993, 0.7007),
            (20, 20, 0.8389, 1.0),
            (81, 263, 0.2553, 0.3662),
        ] {
            let seen = Share { yes, count }.interval().expect("answers");
            assert!((seen.low - low).abs() < 5e-5, "{seen:?} {low}");
            assert!((seen.high - high).abs() < 5e-5, "{seen:?} {high}");
        }
        assert_eq!(Share::default().interval(), None);
    }

    #[test]
    fn what_was_not_seen_in_twenty_cases_may_be_one_in_seven() {
        assert!((unseen(20) - 0.139_108).abs() < 1e-6);
        assert!((unseen(1) - 0.95).abs() < 1e-12);
        // One in 20 of all series of this length then misses it.
        assert!((libm::pow(1.0 - unseen(200), 200.0) - 0.05).abs() < 1e-12);
    }
}

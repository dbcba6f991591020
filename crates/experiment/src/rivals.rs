//! What a group's cases chose, and their second choices: choices that may come but that no case made.

use super::record::Record;
use super::stored::{Reader, Writer};
use scavsim_base::stats::unseen;

/// Outcomes told apart in a group; further ones count as seen.
const MOST_OUTCOMES: usize = 32;
/// Outcomes told apart in a part of a group.
const MOST_IN_PART: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ExpectedOutcome {
    pub(super) hours: f64,
    pub(super) usd: f64,
    /// `knee_depth` of the choice; 0 where not asked for.
    pub(super) depth: f64,
}

impl ExpectedOutcome {
    fn minus(self, other: ExpectedOutcome) -> [f64; 3] {
        [
            self.hours - other.hours,
            self.usd - other.usd,
            self.depth - other.depth,
        ]
    }
}

/// How far a mean may move by choices that no case made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Drift {
    pub(super) hours: (f64, f64),
    pub(super) usd: (f64, f64),
    pub(super) depth: (f64, f64),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Rivals {
    outcomes: Vec<RivalOutcome>,
    /// Cases that chose; two that share their luck count once.
    cases: u64,
}

#[derive(Debug, Clone)]
struct RivalOutcome {
    worth: ExpectedOutcome,
    chosen: u64,
    /// The most that a case with this second choice would have gained and lost by it: hours, USD and depth.
    up: [f64; 3],
    down: [f64; 3],
}

impl Rivals {
    /// Adds a case's choice and second choice; `shares_luck` with the case before.
    pub(super) fn add_record(&mut self, record: &Record<'_>, shares_luck: bool) {
        let worth = |hours: Option<f64>, usd: Option<f64>, depth: Option<f64>| {
            let (hours, usd) = hours.zip(usd)?;
            let depth = depth.unwrap_or(0.0);
            Some(ExpectedOutcome { hours, usd, depth })
        };
        let (hours, usd) = (record.expected_time_h, record.expected_cost_usd);
        let Some(own) = worth(hours, usd, record.knee_depth) else {
            return;
        };
        self.cases += u64::from(!shares_luck);
        if let Some(outcome) = self.outcome(own, MOST_IN_PART) {
            outcome.chosen += 1;
        }
        let (hours, usd) = (record.rival_time_h, record.rival_cost_usd);
        if let Some(rival) = worth(hours, usd, record.rival_knee_depth)
            && let Some(outcome) = self.outcome(rival, MOST_IN_PART)
        {
            let [hours, usd, depth] = rival.minus(own);
            // A configuration that is worse in expectation is chosen where its luck makes it the better.
            for (i, by) in [hours.abs(), usd.abs()].into_iter().enumerate() {
                outcome.up[i] = outcome.up[i].max(by);
                outcome.down[i] = outcome.down[i].max(by);
            }
            outcome.up[2] = outcome.up[2].max(depth);
            outcome.down[2] = outcome.down[2].max(-depth);
        }
    }

    /// Adds the cases of another, which follow.
    pub(super) fn merge(&mut self, other: &Rivals) {
        self.cases += other.cases;
        for seen in &other.outcomes {
            if let Some(outcome) = self.outcome(seen.worth, MOST_OUTCOMES) {
                outcome.chosen += seen.chosen;
                for i in 0..3 {
                    outcome.up[i] = outcome.up[i].max(seen.up[i]);
                    outcome.down[i] = outcome.down[i].max(seen.down[i]);
                }
            }
        }
    }

    fn outcome(&mut self, worth: ExpectedOutcome, most: usize) -> Option<&mut RivalOutcome> {
        let at = match self.outcomes.iter().position(|o| o.worth == worth) {
            Some(at) => at,
            None if self.outcomes.len() >= most => return None,
            None => {
                self.outcomes.push(RivalOutcome {
                    worth,
                    chosen: 0,
                    up: [0.0; 3],
                    down: [0.0; 3],
                });
                self.outcomes.len() - 1
            }
        };
        self.outcomes.get_mut(at)
    }

    pub(super) fn write(&self, to: &mut Writer) {
        to.count(self.cases);
        to.count(self.outcomes.len() as u64);
        for outcome in &self.outcomes {
            let ExpectedOutcome { hours, usd, depth } = outcome.worth;
            to.numbers(&[hours, usd, depth]);
            to.count(outcome.chosen);
            to.numbers(&outcome.up);
            to.numbers(&outcome.down);
        }
    }

    /// Inverse of [`Rivals::write`]; `None` for other bytes.
    pub(super) fn read(from: &mut Reader<'_>) -> Option<Rivals> {
        let cases = from.count()?;
        let outcomes = (0..from.count()?).map(|_| {
            let [hours, usd, depth] = from.numbers()?;
            Some(RivalOutcome {
                worth: ExpectedOutcome { hours, usd, depth },
                chosen: from.count()?,
                up: from.numbers()?,
                down: from.numbers()?,
            })
        });
        let outcomes = outcomes.collect::<Option<_>>()?;
        Some(Rivals { outcomes, cases })
    }

    /// How far the mean moves if a second choice that no case made is made with its largest credible probability; the farthest of
    /// several.
    pub(super) fn drift(&self) -> Drift {
        self.drift_by(unseen(self.cases))
    }

    fn drift_by(&self, probability: f64) -> Drift {
        let unseen = || self.outcomes.iter().filter(|outcome| outcome.chosen == 0);
        let of = |i: usize| {
            let down = unseen().fold(0.0, |most: f64, outcome| most.max(outcome.down[i]));
            let up = unseen().fold(0.0, |most: f64, outcome| most.max(outcome.up[i]));
            (probability * down, probability * up)
        };
        Drift {
            hours: of(0),
            usd: of(1),
            depth: of(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(own: f64, rival: Option<f64>) -> Record<'static> {
        Record {
            expected_time_h: Some(own),
            expected_cost_usd: Some(10.0 - own),
            rival_time_h: rival,
            rival_cost_usd: rival.map(|rival| 10.0 - rival),
            ..Record::default()
        }
    }

    #[test]
    fn only_what_no_case_chose_can_still_come() {
        let mut rivals = Rivals::default();
        for _ in 0..3 {
            rivals.add_record(&record(4.0, Some(5.0)), false);
        }
        rivals.add_record(&record(4.0, Some(3.0)), false);
        let drift = rivals.drift_by(0.2);
        let near = |(a, b): (f64, f64), c: f64, d: f64| {
            assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-12, "{a} {b}");
        };
        near(drift.hours, 0.2, 0.2);
        near(drift.usd, 0.2, 0.2);
        near(drift.depth, 0.0, 0.0);
        rivals.add_record(&record(5.0, Some(4.0)), false);
        near(rivals.drift_by(0.2).hours, 0.2, 0.2);
        // Without second places there is nothing to fear.
        let mut alone = Rivals::default();
        alone.add_record(&record(1.0, None), false);
        assert_eq!(alone.drift(), Drift::default());
        // Three pairs are three chances to see it, not six.
        let (mut pairs, mut single) = (Rivals::default(), Rivals::default());
        for _ in 0..3 {
            pairs.add_record(&record(4.0, Some(5.0)), false);
            pairs.add_record(&record(4.0, Some(5.0)), true);
            single.add_record(&record(4.0, Some(5.0)), false);
        }
        assert_eq!(pairs.drift(), single.drift());
    }
}

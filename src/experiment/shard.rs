//! One of several equal parts of a run, for several machines.
//!
//! Cases are dealt out in whole tasks, a round of one task per shard at a time, and each round
//! starts with another shard. Contiguous ranges would be simpler, but cases of one strategy and
//! workload stand together and cost alike: some ranges would take many times as long as others.
//! Strict turns would go wrong in the same way whenever the number of shards fits the number of
//! tasks per strategy. The start of a round is drawn from its number alone, so that everyone who
//! knows the number of shards knows who has which task.

use std::ops::Range;
use std::str::FromStr;

use super::plan::Plan;
use crate::rng::mix;

/// A shard: its number, from 1, and the number of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The most shards that a run can have.
    pub const MOST: u64 = 9999;

    /// Shard `index`, from 1, of `count`; `None` where there is no such shard.
    pub fn new(index: u64, count: u64) -> Option<Shard> {
        ((1..=Self::MOST).contains(&count) && (1..=count).contains(&index))
            .then_some(Shard { index, count })
    }

    /// Its number, from 1.
    pub fn index(self) -> u64 {
        self.index
    }

    /// The number of shards.
    pub fn count(self) -> u64 {
        self.count
    }

    /// The shard, of `count`, that has the task with this number.
    pub fn owner(task: u64, count: u64) -> Shard {
        let count = count.max(1);
        let (round, turn) = (task / count, task % count);
        Shard {
            index: (turn + start(round, count)) % count + 1,
            count,
        }
    }

    /// Its tasks, in case order, of all `tasks`.
    pub fn tasks(self, tasks: Tasks) -> impl Iterator<Item = Range<u64>> {
        let count = tasks.count();
        (0..count.div_ceil(self.count))
            .map(move |round| {
                let turn = (self.index - 1 + self.count - start(round, self.count)) % self.count;
                round * self.count + turn
            })
            .filter(move |&task| task < count)
            .map(move |task| tasks.cases(task))
    }
}

/// The shard, from 0, that begins a round.
fn start(round: u64, count: u64) -> u64 {
    mix(round, count) % count
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once('/')
            .and_then(|(index, count)| Shard::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| format!("expected I/N with I from 1 to N and N up to {}", Self::MOST))
    }
}

/// The cases of a run, cut into tasks of equal size; the last may be smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// Number of cases.
    pub cases: u64,
    /// Cases per task, at least 1.
    pub size: u64,
}

impl Tasks {
    /// The tasks of a plan.
    pub fn of(plan: &Plan) -> Tasks {
        Tasks {
            cases: plan.cases(),
            size: plan.cases_per_task(),
        }
    }

    /// Number of tasks.
    pub fn count(self) -> u64 {
        self.cases.div_ceil(self.size.max(1))
    }

    /// The cases of a task.
    pub fn cases(self, task: u64) -> Range<u64> {
        let start = task.saturating_mul(self.size).min(self.cases);
        start..start.saturating_add(self.size).min(self.cases)
    }

    /// All tasks behind the first `done` cases; the first of them may be the rest of a task.
    pub fn behind(self, done: u64) -> impl Iterator<Item = Range<u64>> {
        (done / self.size.max(1)..self.count()).filter_map(move |task| {
            let cases = self.cases(task);
            let rest = cases.start.max(done)..cases.end;
            (!rest.is_empty()).then_some(rest)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_shard_and_shards_are_equal_to_one_task() {
        for (cases, size, count) in [(1000, 64, 3), (1, 64, 5), (64 * 40, 64, 8), (77, 1, 10)] {
            let tasks = Tasks { cases, size };
            let mut seen = Vec::new();
            let mut sizes = Vec::new();
            for index in 1..=count {
                let shard = Shard::new(index, count).expect("it is one of them");
                let own: Vec<u64> = shard.tasks(tasks).flatten().collect();
                assert!(
                    own.iter()
                        .all(|case| Shard::owner(case / size, count) == shard)
                );
                assert!(own.is_sorted());
                sizes.push(own.len() as u64);
                seen.extend(own);
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..cases));
            let spread = sizes.iter().max().zip(sizes.iter().min());
            assert!(spread.is_some_and(|(most, least)| most - least <= size));
        }
    }

    #[test]
    fn as_many_shards_as_strategies_share_every_strategy() {
        let tasks = Tasks {
            cases: 64 * 8 * 200,
            size: 64,
        };
        for index in 1..=8 {
            let shard = Shard::new(index, 8).expect("it is one of them");
            let mut per_strategy = [0; 8];
            for cases in shard.tasks(tasks) {
                per_strategy[(cases.start / 64 % 8) as usize] += 1;
            }
            assert!(
                per_strategy.iter().all(|n| (8..45).contains(n)),
                "{per_strategy:?}"
            );
        }
    }

    #[test]
    fn what_is_left_begins_behind_what_is_done() {
        let tasks = Tasks { cases: 10, size: 4 };
        let left = |done| {
            let tasks = tasks.behind(done).map(|cases| (cases.start, cases.end));
            tasks.collect::<Vec<_>>()
        };
        assert_eq!(left(0), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(left(5), [(5, 8), (8, 10)]);
        assert_eq!(left(8), [(8, 10)]);
        assert!(left(10).is_empty());
    }

    #[test]
    fn only_shards_that_exist_can_be_named() {
        assert_eq!(
            "3/10".parse(),
            Ok(Shard {
                index: 3,
                count: 10
            })
        );
        for wrong in [
            "", "3", "0/3", "4/3", "1/0", "1/10000", "-1/3", "1/3/4", "a/b",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}

//! One of several equal parts of a run, for several machines.
//!
//! Cases are dealt in whole tasks, one per shard in each round. Contiguous ranges would be uneven: cases of one strategy and
//! workload stand together and cost alike. Strict turns would be uneven where the number of shards fits the number of tasks per
//! strategy. So the shard that begins a round is drawn from the round's number alone.

use std::ops::Range;
use std::str::FromStr;

use super::plan::Plan;
use super::scenario::Scenario;
use scavsim_base::rng::mix;
use scavsim_sim::training::Fidelity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    pub const MOST: u64 = 9999;

    pub fn new(index: u64, count: u64) -> Option<Shard> {
        ((1..=Self::MOST).contains(&count) && (1..=count).contains(&index))
            .then_some(Shard { index, count })
    }

    pub fn index(self) -> u64 {
        self.index
    }

    pub fn count(self) -> u64 {
        self.count
    }

    pub fn owner(task: u64, count: u64) -> Shard {
        let count = count.max(1);
        let (round, turn) = (task / count, task % count);
        Shard {
            index: (turn + start(round, count)) % count + 1,
            count,
        }
    }

    /// The shard's tasks of all `tasks`, in case order.
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

/// The cases of a run, cut into tasks with borders that depend on the scenario alone: sums within a task are the same for any
/// number of threads and shards. A task has either one strategy and search problem or whole ones, and parts no pair of replicas
/// (2 r and 2 r + 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    cases: u64,
    /// Cases of one search problem and strategy, or all: they begin with a task of their own.
    stretch: u64,
    size: u64,
    /// Whether replicas 2 r and 2 r + 1 share their luck.
    pub(super) are_paired: bool,
}

/// Cases beyond which the start of a task costs nothing.
const CASES: u64 = 64;
/// Replicas beyond which a task's sums are much smaller than its records, where many cases share a replica; and the cases beyond
/// which they are fewer.
const REPLICAS: u64 = 16;
const MOST_CASES: u64 = 4096;
const TOGETHER: u64 = 2;

impl Tasks {
    /// Tasks of at most `size` cases; `stretch` cases have one search problem and strategy.
    pub fn new(cases: u64, stretch: u64, size: u64) -> Tasks {
        let (stretch, size) = (stretch.max(1), size.max(1));
        let (stretch, size) = if stretch <= size {
            (cases.max(1), size / stretch * stretch)
        } else {
            (stretch, size)
        };
        Tasks {
            cases,
            stretch,
            size,
            are_paired: false,
        }
    }

    /// Tasks of replicas that come in pairs of mirrored luck, or do not.
    #[must_use]
    pub fn in_pairs(self, are_paired: bool) -> Tasks {
        Tasks { are_paired, ..self }
    }

    pub fn from_plan(plan: &Plan) -> Tasks {
        Tasks::shared(
            plan.cases(),
            plan.replicas,
            plan.cases_per_simulation(),
            pace(plan.lives().is_some(), plan.terms.fidelity),
        )
        .in_pairs(plan.is_antithetic())
    }

    pub fn of_scenario(scenario: &Scenario) -> Tasks {
        let together = scenario
            .subject
            .lives()
            .map_or(1, |_| scenario.strategies.len());
        let shared = (scenario.policies.len() * scenario.objectives.len() * together) as u64;
        Tasks::shared(
            scenario.cases(),
            scenario.replicas,
            shared,
            pace(scenario.subject.lives().is_some(), scenario.fidelity),
        )
        .in_pairs(scenario.antithetic)
    }

    /// Tasks with enough cases to start for nothing, few enough to share out, and fewer of slow cases, so that rows appear within
    /// seconds. Cases that `shared` a simulation stay together.
    fn shared(cases: u64, replicas: u64, shared: u64, fidelity: Fidelity) -> Tasks {
        let shared = shared.max(1);
        let stretch = replicas.max(1).saturating_mul(shared);
        let replicas = match fidelity {
            Fidelity::Fast => (CASES.div_ceil(shared)).max(REPLICAS.min(MOST_CASES / shared)),
            // Strategies are not put together: their cases are what can be shared out.
            Fidelity::Event => TOGETHER.min(replicas.max(1)),
        };
        let even = match fidelity {
            Fidelity::Fast => replicas.next_multiple_of(TOGETHER),
            Fidelity::Event => replicas,
        };
        Tasks::new(cases, stretch, even * shared)
    }

    pub fn all(self) -> u64 {
        self.cases
    }

    pub fn stretch(self) -> u64 {
        self.stretch
    }

    /// At least 1; the last task of a stretch may be smaller.
    pub fn size(self) -> u64 {
        self.size
    }

    fn per_stretch(self) -> u64 {
        self.stretch.div_ceil(self.size)
    }

    pub fn count(self) -> u64 {
        let (whole, rest) = (self.cases / self.stretch, self.cases % self.stretch);
        whole * self.per_stretch() + rest.div_ceil(self.size)
    }

    pub fn cases(self, task: u64) -> Range<u64> {
        let (stretch, place) = (task / self.per_stretch(), task % self.per_stretch());
        let begin = stretch.saturating_mul(self.stretch);
        let end = begin.saturating_add(self.stretch).min(self.cases);
        let start = begin.saturating_add(place * self.size).min(end);
        start..start.saturating_add(self.size).min(end)
    }

    pub fn task_of(self, case: u64) -> u64 {
        case / self.stretch * self.per_stretch() + case % self.stretch / self.size
    }

    /// All tasks behind the first `done` cases; the first may be the rest of a task.
    pub fn behind(self, done: u64) -> impl Iterator<Item = Range<u64>> {
        (self.task_of(done)..self.count()).filter_map(move |task| {
            let cases = self.cases(task);
            let rest = cases.start.max(done)..cases.end;
            (!rest.is_empty()).then_some(rest)
        })
    }
}

/// How slow cases are: lives of policies are as slow as the finest simulation.
pub(super) fn pace(has_policies: bool, fidelity: Fidelity) -> Fidelity {
    if has_policies {
        Fidelity::Event
    } else {
        fidelity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_one_shard_and_shards_are_equal_to_one_task() {
        for (cases, size, count) in [(1000, 64, 3), (1, 64, 5), (64 * 40, 64, 8), (77, 1, 10)] {
            let tasks = Tasks::new(cases, cases, size);
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
        let tasks = Tasks::new(64 * 8 * 200, 64 * 8 * 200, 64);
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
        let tasks = Tasks::new(10, 10, 4);
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
    fn tasks_part_no_pair_and_mix_no_strategies() {
        for (strategies, replicas, shared) in [
            (7, 200, 3),
            (3, 75, 1),
            (5, 7, 9),
            (2, 33, 159),
            (40, 1, 1),
            (3, 20, 3000),
        ] {
            for fidelity in [Fidelity::Fast, Fidelity::Event] {
                let stretch = replicas * shared;
                let tasks = Tasks::shared(strategies * stretch, replicas, shared, fidelity);
                let mut next = 0;
                for task in 0..tasks.count() {
                    let cases = tasks.cases(task);
                    assert_eq!(cases.start, next);
                    assert!(cases.clone().all(|case| tasks.task_of(case) == task));
                    next = cases.end;
                    let replica = next % stretch / shared;
                    assert!(next.is_multiple_of(shared) && replica % 2 == 0, "{cases:?}");
                    let strategies = (cases.start / stretch, (next - 1) / stretch);
                    let is_whole =
                        cases.start.is_multiple_of(stretch) && next.is_multiple_of(stretch);
                    assert!(strategies.0 == strategies.1 || is_whole, "{cases:?}");
                }
                assert_eq!(next, strategies * stretch);
            }
        }
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

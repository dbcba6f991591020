//! Sentences about a plan, besides its results.

use std::sync::OnceLock;

use super::{EAGER, Plan, SearchProblem};
use crate::expectation::Precision;

/// Most reasons for another fidelity in the text.
const MOST_FALLBACKS: usize = 8;
const MOST_AT_LIMITS: usize = 3;

impl Plan {
    /// A search problem in sentences: its workload, and its setting if there are several.
    pub fn arena_name(&self, arena: usize) -> String {
        match self.setting(arena) {
            "" => self.workload(arena).to_owned(),
            setting => format!("{setting}, {}", self.workload(arena)),
        }
    }

    /// A sentence for each reason why protocols run in `event` although another fidelity is asked for.
    pub fn fallbacks(&self) -> Vec<String> {
        let made = self.arenas.iter().filter_map(OnceLock::get);
        let arenas = made.filter_map(|made| made.as_ref().ok());
        let mut all: Vec<String> = Vec::new();
        let worlds = arenas.filter_map(|a| a.world().ok());
        for cluster in worlds.flat_map(|w| w.truths.kinds().map(|t| &t.cluster)) {
            let (_, Some(why)) = cluster.settle(self.terms.fidelity) else {
                continue;
            };
            let sentence = format!("`{}` runs in `event`: {why}", cluster.protocol.name());
            if !all.contains(&sentence) && all.len() < MOST_FALLBACKS {
                all.push(sentence);
            }
        }
        all
    }

    /// Notices of the runs so far, a sentence each.
    pub fn noticed(&self) -> Vec<String> {
        self.noticed.sentences()
    }

    /// Precision of the worst configuration per search problem whose expectations are means over runs.
    pub fn precision(&self) -> Vec<(usize, Precision)> {
        let worst = |arena: &SearchProblem| {
            let all = arena.precision.iter().copied().flatten();
            all.max_by(|a, b| {
                let by_cut = a.is_cut_short.cmp(&b.is_cut_short);
                by_cut.then(a.error.total_cmp(&b.error))
            })
        };
        (self.eager())
            .filter_map(|(index, arena)| Some((index, worst(arena)?)))
            .collect()
    }

    /// Names of configurations whose runs do not tell whether they keep to the limits, and what is assumed.
    pub fn at_a_limit(&self, arena: usize) -> Vec<String> {
        let found = self.eager().find(|(index, _)| *index == arena);
        let of = |arena: &SearchProblem| -> Vec<String> {
            let open = arena.precision.iter().enumerate();
            open.filter(|(_, known)| known.is_some_and(|known| known.is_at_a_limit))
                .map(|(at, _)| arena.space.name(at))
                .collect()
        };
        found.map_or_else(Vec::new, |(_, arena)| of(arena))
    }

    /// A sentence per search problem with such configurations.
    pub fn at_limits(&self) -> Vec<String> {
        let of = |(index, _): (usize, &SearchProblem)| {
            let open = self.at_a_limit(index);
            let more = open.len().saturating_sub(MOST_AT_LIMITS);
            let names = open[..open.len() - more].join("; ");
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            (!open.is_empty()).then(|| {
                format!(
                    "{}: the largest number of runs does not show whether the mean of {names}{more} keeps within the limits; \
                     it is taken to be as these runs have it",
                    self.arena_name(index)
                )
            })
        };
        self.eager().filter_map(of).collect()
    }

    fn eager(&self) -> impl Iterator<Item = (usize, &SearchProblem)> {
        (self.arenas.iter().take(EAGER).enumerate())
            .filter_map(|(index, made)| Some((index, &**made.get()?.as_ref().ok()?)))
    }

    /// Search problems whose shares of misses come from few runs, and how few.
    pub fn few_runs(&self) -> Vec<(usize, u64)> {
        (self.eager())
            .filter_map(|(index, arena)| Some((index, arena.spread.as_ref()?.few_runs?)))
            .collect()
    }
}

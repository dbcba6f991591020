//! What is told of a plan besides its results.

use std::sync::OnceLock;

use super::{Arena, EAGER, Plan};
use crate::experiment::expectation::Precision;

/// Reasons for another fidelity that are told.
const MOST_FALLBACKS: usize = 8;

impl Plan {
    /// What an arena is called in sentences: its workload, and its setting if there are several.
    pub fn arena_name(&self, arena: usize) -> String {
        match self.setting(arena) {
            "" => self.workload(arena).to_owned(),
            setting => format!("{setting}, {}", self.workload(arena)),
        }
    }

    /// Which protocols of the arenas made so far run in `event` although another fidelity is asked for, and why: a
    /// sentence for each reason.
    pub fn fallbacks(&self) -> Vec<String> {
        let made = self.arenas.iter().filter_map(OnceLock::get);
        let arenas = made.filter_map(|made| made.as_ref().ok());
        let mut all: Vec<String> = Vec::new();
        let worlds = arenas.filter_map(|a| a.ground.world());
        for cluster in worlds.flat_map(|w| w.truths.iter().map(|t| &t.cluster)) {
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

    /// How well expectations are known that are means over runs: per arena that was made, the worst of its
    /// configurations.
    pub fn precision(&self) -> Vec<(usize, Precision)> {
        let made = (self.arenas.iter().take(EAGER).enumerate())
            .filter_map(|(index, made)| Some((index, made.get()?.as_ref().ok()?)));
        let worst = |arena: &Arena| {
            let all = arena.precision.iter().copied();
            all.max_by(|a, b| a.error.total_cmp(&b.error))
        };
        made.filter_map(|(index, arena)| Some((index, worst(arena)?)))
            .collect()
    }

    /// Arenas whose shares of misses are counted over few runs, as more would take too long, and over how few.
    pub fn few_runs(&self) -> Vec<(usize, u64)> {
        let made = (self.arenas.iter().take(EAGER).enumerate())
            .filter_map(|(index, made)| Some((index, made.get()?.as_ref().ok()?)));
        made.filter_map(|(index, arena)| Some((index, arena.spread.as_ref()?.few_runs?)))
            .collect()
    }
}

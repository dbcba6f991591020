//! Configurations that a scenario leaves out by default, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::workload::{Reach, Workload};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    workload: String,
    measured: bool,
    searched: usize,
    reasons: Vec<(usize, String)>,
    /// Searched ones without a known noise, while others have one.
    silent: usize,
}

impl LeftOut {
    /// `measured`: whether only measured configurations are searched.
    pub fn new(workload: &Workload, measured: bool) -> LeftOut {
        LeftOut {
            workload: workload.name.clone(),
            measured,
            ..LeftOut::default()
        }
    }

    /// Uneven placements, which are searched only if they are named.
    pub fn uneven(&mut self, workload: &Workload, used: &[&str]) {
        let uneven = |shape: &&str| Shape::parse(shape).is_ok_and(|s| !s.is_even());
        let left = workload.steps.shapes().map(|s| &**s);
        let count = left
            .filter(|s| !used.contains(s))
            .filter(uneven)
            .map(|s| workload.steps.points_of(s).len())
            .sum();
        let why = "uneven placements of workers, which are there when `cluster.vm` names them";
        self.add(count, why.to_owned());
    }

    /// Leaves out `count` configurations that do not fit into memory.
    pub fn too_large(&mut self, count: usize) {
        self.add(
            count,
            "they do not fit into the memory of their VMs".to_owned(),
        );
    }

    /// Leaves out configurations that the workload does not know.
    pub fn unknown(
        &mut self,
        workload: &Workload,
        reach: &Reach,
        configurations: &[Configuration],
    ) {
        let mut epochs: BTreeMap<&str, (usize, BTreeSet<u32>)> = BTreeMap::new();
        let mut others = 0;
        for configuration in configurations {
            match workload.replay(configuration, reach) {
                Ok(_) => {}
                Err(outside) => match outside.what {
                    Some(what) => {
                        let entry = epochs.entry(what).or_default();
                        entry.0 += 1;
                        entry.1.insert(configuration.batch);
                    }
                    None => others += 1,
                },
            }
        }
        for (what, (count, batches)) in epochs {
            let why = format!("the {what} of batch {} are not known", listed(&batches));
            self.add(count, why);
        }
        self.add(others, "no measurements surround them".to_owned());
    }

    pub fn searched(
        mut self,
        workload: &Workload,
        reach: &Reach,
        configurations: &[Configuration],
    ) -> LeftOut {
        self.searched = configurations.len();
        if !workload.noise.is_unmeasured() {
            let is_silent = |c: &&Configuration| !workload.knows_noise(c, reach);
            self.silent = configurations.iter().filter(is_silent).count();
        }
        self
    }

    fn add(&mut self, count: usize, why: String) {
        if count > 0 {
            self.reasons.push((count, why));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty() && self.silent == 0
    }
}

fn listed(values: &BTreeSet<u32>) -> String {
    const SHOWN: usize = 6;
    let words: Vec<String> = values.iter().take(SHOWN).map(u32::to_string).collect();
    match values.len() {
        0..=SHOWN => words.join(", "),
        n => format!("{} and {} more", words.join(", "), n - SHOWN),
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out: usize = self.reasons.iter().map(|r| r.0).sum();
        let (all, searched) = (self.searched + out, self.searched);
        write!(f, "{}: ", self.workload)?;
        if out > 0 {
            let of = if self.measured {
                "measured"
            } else {
                "configurations"
            };
            write!(f, "{all} {of}, {searched} searched, {out} left out: ")?;
            let with_count = self.reasons.len() > 1;
            let reasons = self.reasons.iter().map(|(count, why)| {
                if with_count {
                    format!("{why} ({count})")
                } else {
                    why.clone()
                }
            });
            f.write_str(&reasons.collect::<Vec<_>>().join("; "))?;
        }
        if self.silent > 0 {
            let comma = if out > 0 { "; " } else { "" };
            write!(
                f,
                "{comma}noise is not known at {} of {searched}: strategies that read it do not foretell these",
                self.silent
            )?;
        }
        Ok(())
    }
}

//! What a program is told so that it cannot recognise a job or a machine by its name, its place in a list or a figure of a table.
//!
//! Shapes stay: which machine has how many processors, which run takes how many times another. Whoever knows the runs of a job
//! by heart can find it again by the ratios of a few of them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::talk::ObservationMessage;
use crate::search::Task;
use crate::testbed::Extent;
use scavsim_base::rng::{Stream, identity, mix};
use scavsim_data::space::AxisKind;

/// Seconds and prices are told at most so many times what they are, and at least over as much.
const MOST_SCALED: f64 = 4.0;

#[derive(Debug)]
pub(super) struct Disguise {
    /// The true place of each configuration that is told.
    places: Vec<usize>,
    /// Names in place of those that values of an axis have, by axis and name.
    names: HashMap<(String, String), String>,
    /// Seconds that are told over true ones.
    seconds: f64,
    /// USD per hour that are told over true ones.
    prices: f64,
    is_plain: bool,
}

impl Disguise {
    /// One drawn from `seed` for each task; without it, all is told as it is.
    pub(super) fn new(task: &Task<'_>, seed: Option<u64>) -> Disguise {
        let mut own = Disguise {
            places: (0..task.space.len()).collect(),
            names: HashMap::new(),
            seconds: 1.0,
            prices: 1.0,
            is_plain: seed.is_none(),
        };
        let Some(seed) = seed else { return own };
        let mut stream = Stream::seeded(mix(seed, identity(task.workload)));
        shuffle(&mut own.places, &mut stream);
        for axis in task.space.axes() {
            let mut numbers: Vec<usize> = (1..=axis.levels().len()).collect();
            if matches!(axis.kind, AxisKind::Categorical { .. }) {
                shuffle(&mut numbers, &mut stream);
            }
            let named = axis.levels().iter().zip(numbers);
            own.names.extend(named.map(|(level, at)| {
                let key = (axis.name.to_string(), level.to_string());
                (key, format!("{}-{at}", axis.name))
            }));
        }
        let mut scale = || libm::pow(MOST_SCALED, 2.0 * stream.uniform() - 1.0);
        (own.seconds, own.prices) = (scale(), scale());
        own
    }

    pub(super) fn true_place(&self, told: usize) -> usize {
        self.places.get(told).copied().unwrap_or(told)
    }

    pub(super) fn true_extent(&self, told: Extent) -> Extent {
        match told {
            Extent::Seconds(seconds) => Extent::Seconds(seconds / self.seconds),
            Extent::Usd(usd) => Extent::Usd(usd / (self.seconds * self.prices)),
            other => other,
        }
    }

    /// Predicted seconds by their true places; as they are where there are more or fewer than configurations.
    pub(super) fn true_times(&self, told: &[Option<f64>]) -> Vec<Option<f64>> {
        let mut all = told.to_vec();
        if told.len() == self.places.len() {
            for (&place, time_s) in self.places.iter().zip(told) {
                all[place] = time_s.map(|time_s| time_s / self.seconds);
            }
        }
        all
    }

    pub(super) fn hide_task(&self, mut task: Value) -> Value {
        if self.is_plain {
            return task;
        }
        task["workload"] = json!("job");
        for list in ["configurations", "machines"] {
            self.reorder(&mut task[list]);
        }
        for configuration in task["configurations"].as_array_mut().into_iter().flatten() {
            for (axis, value) in configuration.as_object_mut().into_iter().flatten() {
                let name = value.as_str().unwrap_or_default().to_owned();
                if let Some(hidden) = self.names.get(&(axis.clone(), name)) {
                    *value = json!(hidden);
                }
            }
        }
        let usd = self.seconds * self.prices;
        scale(&mut task["limits"]["max_time_s"], self.seconds);
        scale(&mut task["limits"]["max_cost_usd"], usd);
        let mut told = vec![0; self.places.len()];
        for (at, &place) in self.places.iter().enumerate() {
            told[place] = at;
        }
        let mut programs: Vec<Value> = Vec::new();
        let others = task["other_jobs"].as_array_mut().into_iter().flatten();
        for (number, job) in others.enumerate() {
            let known = programs.iter().position(|own| *own == job["program"]);
            let program = known.unwrap_or(programs.len());
            if known.is_none() {
                programs.push(job["program"].take());
            }
            job["workload"] = json!(format!("other job {}", number + 1));
            job["program"] = json!(format!("program {}", program + 1));
            for run in job["runs"].as_array_mut().into_iter().flatten() {
                let place = run["configuration"].as_u64().unwrap_or(0) as usize;
                run["configuration"] = json!(told[place]);
                for seconds in ["reached_s", "failed_s"] {
                    if let Some(own) = run.get_mut(seconds) {
                        scale(own, self.seconds);
                    }
                }
            }
        }
        task
    }

    pub(super) fn hide_search(&self, mut search: Value) -> Value {
        if !self.is_plain {
            self.reorder(&mut search["usd_per_hour"]);
            let all = search["usd_per_hour"].as_array_mut();
            all.into_iter()
                .flatten()
                .for_each(|own| scale(own, self.prices));
        }
        search
    }

    pub(super) fn hide_observation(&self, mut told: ObservationMessage) -> String {
        told.spent_s *= self.seconds;
        if let Some(usd) = &mut told.spent_usd {
            *usd *= self.seconds * self.prices;
        }
        if let Some(seen) = &mut told.observation {
            let steps = [
                &mut seen.step_s,
                &mut seen.compute_s,
                &mut seen.communication_s,
            ];
            let target = [
                &mut seen.reached_s,
                &mut seen.more_than_s,
                &mut seen.failed_s,
            ];
            for seconds in steps.into_iter().chain(target).flatten() {
                *seconds *= self.seconds;
            }
        }
        serde_json::to_string(&told).unwrap_or_else(|_| "{}".to_owned())
    }

    fn reorder(&self, list: &mut Value) {
        if let Some(all) = list.as_array_mut() {
            *all = self.places.iter().map(|&place| all[place].take()).collect();
        }
    }
}

fn scale(number: &mut Value, by: f64) {
    if let Some(own) = number.as_f64() {
        *number = json!(own * by);
    }
}

fn shuffle<T>(all: &mut [T], stream: &mut Stream) {
    for at in (1..all.len()).rev() {
        all.swap(at, stream.below(at + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::WorkloadFacts;
    use scavsim_data::space::{Axis, Space};

    #[test]
    fn a_disguise_hides_names_and_order_and_gives_the_true_places_and_seconds_back() {
        let axes = vec![
            Axis::categorical("vm", ["a.large".into(), "b.large".into(), "c.large".into()]),
            Axis::numeric("workers", "1"),
        ];
        let rows: Vec<[f64; 2]> = (0..12)
            .map(|at| [f64::from(at % 3), f64::from(at)])
            .collect();
        let space = Space::new(axes, &rows).expect("a space");
        let facts = WorkloadFacts::default();
        let task = facts.task("kmeans", &space);
        let told = super::super::talk::task(&task, None, None);
        let plain = Disguise::new(&task, None).hide_task(told.clone());
        assert_eq!(plain, told);
        let disguise = Disguise::new(&task, Some(7));
        let hidden = disguise.hide_task(told.clone());
        let text = hidden.to_string();
        assert!(
            !text.contains("kmeans") && !text.contains("large"),
            "{text}"
        );
        let all = hidden["configurations"].as_array().expect("a list");
        assert_ne!(disguise.places, (0..12).collect::<Vec<_>>());
        for (at, own) in all.iter().enumerate() {
            let place = disguise.true_place(at);
            assert_eq!(own["workers"], told["configurations"][place]["workers"]);
        }
        // Of one name there, one name here.
        let vms: std::collections::BTreeSet<_> =
            all.iter().map(|own| own["vm"].to_string()).collect();
        assert_eq!(vms.len(), 3);
        let seconds: Vec<Option<f64>> = (0..12)
            .map(|at| Some(all[at]["workers"].as_f64().expect("workers") * disguise.seconds))
            .collect();
        for (place, time_s) in disguise.true_times(&seconds).into_iter().enumerate() {
            assert!((time_s.expect("seconds") - place as f64).abs() < 1e-9);
        }
        let Extent::Usd(usd) =
            disguise.true_extent(Extent::Usd(disguise.seconds * disguise.prices))
        else {
            panic!("another extent")
        };
        assert!((usd - 1.0).abs() < 1e-12);
    }
}

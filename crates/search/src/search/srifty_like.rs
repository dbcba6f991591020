//! A search as Srifty (MLSys 2022) goes about it: one worker's compute is measured, communication is learned from other
//! applications. Its own models are not public: here compute is a line in the local batch through probes of the fewest
//! workers of each VM type, and communication grows with √K and the parameters of the model, see [`LearnedCommunication`].
//! Epochs are those of one earlier run, whatever the batch. On a VM type that no other application tells of, as for kinds of
//! cluster, the corners are probed besides.

use std::collections::BTreeMap;

use super::models::{StepPlane, StepReading};
use super::partial::{Extremes, corners};
use super::prober::{Prober, UNREAD};
use super::settings::{Probes, StepFit};
use super::{BuildResult, Depends, Forecast, Offer, Past, Recipe, Task, UnusableStrategy, ready};
use crate::testbed::{History, PastRun, Target};
use scavsim_base::settings;
use scavsim_base::stats::Line;
use scavsim_data::configuration::Shape;
use scavsim_data::space::Space;
use scavsim_fit::communication::{Exchange, LearnedCommunication};
use scavsim_read::input::checked::Count;

settings! {
    /// Settings of a search by measured compute and learned communication.
    pub struct SriftyLikeSettings {
        /// Steps per probe; the workload's own figure when absent.
        pub probe_steps: Option<Count>,
    }

    name: "srifty-like",
    what: "measure the compute of the fewest workers; communication learned from other applications by their parameters",
    formula: "probes: the fewest workers of each VM type with up to three local batches; epochs: those of one earlier run, everywhere; noise: not used; step: compute by a line through the probes, communication learned from other workloads",
    source: "after Srifty, MLSys 2022, whose own models are not public",
    example: "search.strategies = [\"srifty-like\"]",
}

impl Recipe for SriftyLikeSettings {
    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let probes = Probes::of_steps(self.probe_steps);
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in 0..task.space.len() {
            if let Some(shape) = shape(task.space, at) {
                members.entry(shape.vm_type).or_default().push(at);
            }
        }
        if members.is_empty() {
            return Err(UnusableStrategy(
                "nothing in the space is a cluster of VMs".to_owned(),
            ));
        }
        let corners: Vec<usize> = (corners(task, Extremes::Corners).into_iter())
            .flat_map(|group| group.corners)
            .collect();
        let types: Vec<VmType> = (members.into_iter())
            .map(|(vm_type, members)| {
                let learned = (task.parameters)
                    .and_then(|parameters| Some((parameters, learned(past, vm_type)?)));
                let mut probed = profile(task.space, &members);
                if learned.is_none() {
                    let own = corners.iter().filter(|at| members.contains(at));
                    probed.extend(own);
                    probed.sort_by_key(|&at| (task.space.workers(at), task.space.batch(at), at));
                    probed.dedup();
                }
                VmType {
                    probed,
                    members,
                    learned,
                }
            })
            .collect();
        let probing = Prober::by_one_run(task, past, probes);
        ready(Depends::NOTHING, move |task, testbed, _, forecast| {
            for vm_type in &types {
                let mut readings = Vec::with_capacity(vm_type.probed.len());
                for &at in &vm_type.probed {
                    let seen = probing.probe(testbed, at)?;
                    if let Target::Reached(time_s) = seen.target {
                        forecast.predict(at, time_s);
                    } else {
                        readings.extend(StepReading::from_observation(task.space, at, &seen));
                    }
                }
                vm_type.foretell(&probing, task.space, &readings, forecast);
            }
            Ok(())
        })
    }
}

fn shape(space: &Space, at: usize) -> Option<Shape<'_>> {
    Shape::parse(space.vm(at)?).ok()
}

/// The fewest workers with the least, middle and largest local batch; with only one, also the batch furthest from it.
fn profile(space: &Space, members: &[usize]) -> Vec<usize> {
    let local = |at: usize| {
        let (workers, batch) = (space.workers(at)?, space.batch(at)?);
        Some((workers, f64::from(batch) / f64::from(workers), at))
    };
    let mut all: Vec<(u32, f64, usize)> = members.iter().filter_map(|&at| local(at)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let Some(&(fewest, ..)) = all.first() else {
        return Vec::new();
    };
    let mut few: Vec<(f64, usize)> = (all.iter().filter(|c| c.0 == fewest))
        .map(|c| (c.1, c.2))
        .collect();
    few.dedup_by(|a, b| a.0 == b.0);
    let last = few.len() - 1;
    let mut chosen = vec![few[0].1, few[last / 2].1, few[last].1];
    chosen.dedup();
    if last == 0 {
        let apart = |c: &(u32, f64, usize)| libm::log(c.1 / few[0].0).abs();
        let furthest = all.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)));
        chosen.extend(furthest.map(|c| c.2).filter(|at| *at != few[0].1));
    }
    chosen
}

/// Communication on a VM type, by other applications that state their parameters; by whole runs, which cost more, only if
/// steps do not tell.
fn learned(past: &mut Past<'_>, vm_type: &str) -> Option<LearnedCommunication> {
    let steps = learned_of(past, vm_type, |offer| !offer.is_whole);
    steps.or_else(|| learned_of(past, vm_type, |_| true))
}

fn learned_of(
    past: &mut Past<'_>,
    vm_type: &str,
    wanted: impl Fn(&Offer<'_>) -> bool,
) -> Option<LearnedCommunication> {
    let own = past.own_name();
    let others: Vec<&str> = past.stored_names().filter(|name| *name != own).collect();
    let mut exchanges = Vec::new();
    for name in others {
        if past.parameters(name).is_none() {
            continue;
        }
        let of_type = |vm: Option<&str>| {
            vm.and_then(|vm| Shape::parse(vm).ok())
                .is_some_and(|shape| shape.vm_type == vm_type)
        };
        let history = past.take_stored(name, |offer| of_type(offer.vm) && wanted(offer));
        exchanges.extend(history.iter().flat_map(exchanges_of));
    }
    LearnedCommunication::fit(&exchanges)
}

/// The steps of an application beside what one worker of it computes, as its runs with one worker tell, or their split.
fn exchanges_of(history: &History) -> Vec<Exchange> {
    let Some(parameters) = history.parameters else {
        return Vec::new();
    };
    let local = |run: &PastRun| Some(f64::from(run.batch?) / f64::from(run.workers?));
    let single: Vec<(f64, f64)> = (history.runs.iter())
        .filter(|run| run.workers == Some(1))
        .filter_map(|run| Some((local(run)?, run.step_s()?)))
        .collect();
    let line = Line::fit(single.iter().copied()).filter(|_| single.len() > 1);
    let exchange = |run: &PastRun| {
        let (vm, workers, _) = run.cluster()?;
        let compute_s = match line {
            Some(line) => line.value_at(local(run)?),
            None => run.step?.compute_s,
        };
        Some(Exchange {
            parameters,
            compute_s,
            vms: Shape::parse(vm).ok()?.vms(workers)?,
            workers,
            step_s: run.step_s()?,
        })
    };
    (history.runs.iter().filter_map(exchange))
        .filter(|e| e.compute_s > 0.0)
        .collect()
}

struct VmType {
    members: Vec<usize>,
    probed: Vec<usize>,
    /// Parameters of the workload, and what is known of communication; else the probes tell it.
    learned: Option<(f64, LearnedCommunication)>,
}

impl VmType {
    /// What the readings on one VM type tell of all its configurations.
    fn foretell(
        &self,
        probing: &Prober,
        space: &Space,
        readings: &[StepReading],
        forecast: &mut Forecast,
    ) {
        // A step of one worker is all compute.
        let compute = |r: &StepReading| {
            let exposed_s = if r.workers == 1 {
                r.communication_s
            } else {
                0.0
            };
            let local_batch = f64::from(r.batch) / f64::from(r.workers);
            (local_batch, r.compute_s + exposed_s)
        };
        let Some(compute) = Line::fit(readings.iter().map(compute)) else {
            return; // without a reading nothing is foretold
        };
        let plane = StepPlane::fit(readings, StepFit::Split);
        for &at in &self.members {
            let (Some(workers), Some(batch)) = (space.workers(at), space.batch(at)) else {
                continue;
            };
            let step_s = match &self.learned {
                Some((parameters, learned)) => {
                    let vms = shape(space, at).and_then(|shape| shape.vms(workers));
                    let compute_s = compute.value_at(f64::from(batch) / f64::from(workers));
                    vms.and_then(|vms| learned.step_s(*parameters, compute_s, vms, workers))
                }
                None => plane.map(|plane| plane.step_s(workers, batch)),
            };
            if let Some(step_s) = step_s {
                probing.predict(at, UNREAD, step_s, forecast);
            }
        }
    }
}

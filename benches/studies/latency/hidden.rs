//! Hidden set-ups, and predictions of their steps from the rest.

use std::collections::BTreeSet;

use rayon::prelude::*;

use scavsim::fit::communication::{Exchange, LearnedCommunication};
use scavsim::input::Diagnostics;
use scavsim::validate::Answer;
use scavsim::validate::folds::{Fold, MeasuredStep, large, measured};
use scavsim::validate::steps::answers;
use scavsim::workload::{Workload, library, load};

/// Workloads whose set-ups are hidden: those that were measured in many placements on one VM type.
pub const WORKLOADS: [&str; 3] = ["pollux-bert", "pollux-cifar10", "pollux-imagenet"];
/// Number of parts in which placements are hidden, in turn.
const PARTS: usize = 10;

/// How set-ups are hidden. One worker's steps are always known: they are the compute profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hiding {
    /// A tenth of the placements of the application at a time; equal ones may be known under another name.
    Placements,
    /// A tenth of the placements at a time, including all equal ones.
    EqualPlacements,
    /// All on more than four VMs.
    LargeClusters,
    /// All of the application: only others show communication.
    Application,
}

impl Hiding {
    /// All four.
    pub const ALL: [Hiding; 4] = [
        Hiding::Placements,
        Hiding::EqualPlacements,
        Hiding::LargeClusters,
        Hiding::Application,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Hiding::Placements => "placements",
            Hiding::EqualPlacements => "placements, everywhere",
            Hiding::LargeClusters => "more than 4 VMs",
            Hiding::Application => "the application",
        }
    }
}

/// A hidden set-up with its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// How it was hidden.
    pub hiding: Hiding,
    /// The workload of the set-up.
    pub workload: String,
    /// VM type.
    pub vm_type: String,
    /// N.
    pub vms: u32,
    /// K.
    pub workers: u32,
    /// Samples per worker.
    pub local_batch: f64,
    /// Seconds of a step as measured.
    pub measured_s: f64,
    /// Predicted seconds, and the standard deviation of their logarithm.
    pub said: Option<(f64, f64)>,
}

/// All set-ups of the workloads, hidden in all ways.
pub fn study(workloads: &[&str]) -> Vec<Setup> {
    let workloads: Vec<Workload> = (workloads.iter())
        .filter_map(|name| load::load(&library::embedded(name)?, &mut Diagnostics::default()))
        .collect();
    let all: Vec<Vec<MeasuredStep<'_>>> = workloads.iter().map(measured).collect();
    let asked: Vec<(Hiding, usize)> = Hiding::ALL
        .into_iter()
        .flat_map(|hiding| (0..workloads.len()).map(move |own| (hiding, own)))
        .collect();
    let setups = asked.par_iter().map(|&(hiding, own)| match hiding {
        Hiding::Application => unseen(&workloads, &all, own),
        _ => folded(&workloads[own], &all[own], hiding),
    });
    setups.flatten().collect()
}

/// Set-ups that are predicted from the application's own others.
fn folded(workload: &Workload, all: &[MeasuredStep<'_>], hiding: Hiding) -> Vec<Setup> {
    let mut folds = Vec::new();
    let types: BTreeSet<&str> = all.iter().map(|m| m.vm_type).collect();
    for vm_type in types {
        let several = |m: &&MeasuredStep<'_>| m.vm_type == vm_type && m.at.workers > 1;
        match hiding {
            Hiding::Placements => {
                folds.extend(parts(all, several, |m| (m.at.vm.to_string(), m.at.workers)))
            }
            Hiding::EqualPlacements => folds.extend(parts(all, several, |m| m.layout.clone())),
            Hiding::LargeClusters => folds.extend(large(all, vm_type).unwrap_or_default()),
            Hiding::Application => {}
        }
    }
    let refit = hiding == Hiding::LargeClusters;
    let answered = folds.par_iter().map(|fold| {
        let answers = answers(workload, all, fold, refit);
        let setups = fold.asked.iter().zip(answers);
        setups
            .map(|(&at, answer)| setup(workload, &all[at], hiding, answer))
            .collect::<Vec<_>>()
    });
    answered.flatten().collect()
}

/// Steps for which `asked` is true, a part of their distinct keys at a time.
fn parts<'a, 'w: 'a, K: Ord>(
    all: &'a [MeasuredStep<'w>],
    asked: impl Fn(&&MeasuredStep<'w>) -> bool,
    key: impl Fn(&MeasuredStep<'w>) -> K,
) -> Vec<Fold> {
    let keys: BTreeSet<K> = all.iter().filter(&asked).map(&key).collect();
    let keys: Vec<K> = keys.into_iter().collect();
    (0..PARTS.min(keys.len()))
        .map(|part| {
            let is_out = |m: &MeasuredStep<'w>| {
                let place = keys.binary_search(&key(m));
                asked(&m) && place.is_ok_and(|place| place % PARTS == part)
            };
            let out: Vec<usize> = (0..all.len()).filter(|&at| is_out(&all[at])).collect();
            Fold {
                asked: out.clone(),
                out,
            }
        })
        .collect()
}

/// Set-ups of an application of which only one worker was ever seen.
fn unseen(workloads: &[Workload], all: &[Vec<MeasuredStep<'_>>], own: usize) -> Vec<Setup> {
    let mut setups = Vec::new();
    let types: BTreeSet<&str> = all[own].iter().map(|m| m.vm_type).collect();
    for vm_type in types {
        let mut exchanges = Vec::new();
        for other in (0..workloads.len()).filter(|other| *other != own) {
            let several = |m: &&MeasuredStep<'_>| m.vm_type == vm_type;
            exchanges.extend((all[other].iter().filter(several)).filter_map(|m| {
                let parameters = workloads[other].constants.parameters.as_ref()?.value;
                exchange(&all[other], m, parameters)
            }));
        }
        let learned = LearnedCommunication::fit(&exchanges);
        let parameters = workloads[own].constants.parameters.as_ref();
        let several = |m: &&MeasuredStep<'_>| m.vm_type == vm_type && m.at.workers > 1;
        for m in all[own].iter().filter(several) {
            let said = || {
                let (learned, parameters) = (learned?, parameters?.value);
                let compute_s = alone(&all[own], m)?;
                let said = learned.step_s(parameters, compute_s, m.vms, m.at.workers)?;
                Some((said, Some(learned.deviation)))
            };
            let answer = Answer {
                measured: m.cost.total_s(),
                said: said(),
            };
            setups.push(setup(&workloads[own], m, Hiding::Application, answer));
        }
    }
    setups
}

fn exchange(all: &[MeasuredStep<'_>], m: &MeasuredStep<'_>, parameters: f64) -> Option<Exchange> {
    Some(Exchange {
        parameters,
        compute_s: alone(all, m)?,
        vms: m.vms,
        workers: m.at.workers,
        step_s: m.cost.total_s(),
    })
}

/// Seconds of a step of one worker with an equal local batch: measured, or interpolated in logarithms.
fn alone(all: &[MeasuredStep<'_>], of: &MeasuredStep<'_>) -> Option<f64> {
    let single = || {
        let own = |m: &&MeasuredStep<'_>| m.vm_type == of.vm_type && m.at.workers == 1;
        all.iter()
            .filter(own)
            .map(|m| (m.at.local_batch(), m.cost.total_s()))
    };
    let local_batch = of.at.local_batch();
    let by_batch = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
    let below = single().filter(|s| s.0 <= local_batch).max_by(by_batch);
    let above = single().filter(|s| s.0 >= local_batch).min_by(by_batch);
    let (below, above) = (below?, above?);
    if below.0 == above.0 {
        return Some(below.1);
    }
    let share = libm::log(local_batch / below.0) / libm::log(above.0 / below.0);
    Some(below.1 * libm::pow(above.1 / below.1, share))
}

fn setup(workload: &Workload, m: &MeasuredStep<'_>, hiding: Hiding, answer: Answer) -> Setup {
    Setup {
        hiding,
        workload: workload.name.clone(),
        vm_type: m.vm_type.to_owned(),
        vms: m.vms,
        workers: m.at.workers,
        local_batch: m.at.local_batch(),
        measured_s: answer.measured,
        said: (answer.said).and_then(|(said, deviation)| Some((said, deviation?))),
    }
}

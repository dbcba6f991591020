//! Advice on profiles cut from measured workloads, where the truth is known.
//!
//! A cut keeps some worker counts and some local batches of one VM shape and drops all other measurements there. It is
//! processed like a user's table. Candidates are the measured configurations within the bounds of advice; the truth of each
//! is the measured step times the epochs of the whole workload.

pub mod catalogue;
mod cuts;
pub mod found;
pub mod ladders;
pub mod text;

use std::fmt::Write;
use std::sync::Arc;

use found::{Found, Outcome};
use scavsim::advise::candidates::Bounds;
use scavsim::advise::decision::{Decision, Goal, Measurement, MeasuringEffort, Prospect};
use scavsim::advise::gambles::surest_first;
use scavsim::advise::measurement_summary::{NoGain, no_gain};
use scavsim::advise::repeats::{EPOCHS_SD, Repeats, STEP_SD};
use scavsim::advise::uncertainty::{Covariances, Uncertainty};
use scavsim::configuration::{Configuration, Shape};
use scavsim::input::{Diagnostics, Folder, Source};
use scavsim::rng::{Purpose, StrategyKey, Streams};
use scavsim::search::{Limits, Objective, Point};
use scavsim::units::SECONDS_PER_HOUR;
use scavsim::workload::{Provenance, Reach, Workload, library, load};
use scavsim_import::profile;

/// Workloads that profiles are cut from.
pub const WORKLOADS: [&str; 6] = [
    "pollux-bert",
    "pollux-cifar10",
    "pollux-imagenet",
    "scavenger-resnet18",
    "scavenger-resnet50",
    "scavenger-transformer",
];
/// Worker counts and local batches (or global ones, if those were measured) that a cut keeps.
const KEPT: [usize; 2] = [3, 2];
/// USD per VM and hour: it only sets the cost of a measurement relative to a run.
const USD: f64 = 3.912;
/// Random measurements that each advised one is compared with.
const RANDOM: u64 = 3;

/// A measured configuration and its truth.
#[derive(Debug, Clone)]
pub struct Fact {
    pub configuration: Configuration,
    pub step_s: f64,
    pub epochs: f64,
    pub vms: f64,
    pub truth: Point,
}

/// Runs the study on at most this number of cuts of each workload, evenly spread over all.
pub fn study(workloads: &[&str], most: usize) -> Vec<Found> {
    use rayon::prelude::*;
    workloads
        .par_iter()
        .filter_map(|name| study_of(name, most.max(1)))
        .collect()
}

fn study_of(name: &str, most: usize) -> Option<Found> {
    use rayon::prelude::*;
    let mut diagnostics = Diagnostics::default();
    let workload = load::load(&library::embedded(name)?, &mut diagnostics)?;
    let mut found = Found {
        workload: name.to_owned(),
        ..Found::default()
    };
    let even = |shape: &&Arc<str>| Shape::parse(shape).is_ok_and(|s| s.is_even());
    let facts: Vec<Vec<Fact>> = (workload.steps.shapes().filter(even))
        .map(|shape| facts(&workload, shape))
        .collect();
    let all: Vec<(usize, Vec<usize>)> = (facts.iter().enumerate())
        .flat_map(|(shape, facts)| cuts(facts).into_iter().map(move |kept| (shape, kept)))
        .collect();
    found.of = all.len();
    let step = all.len().div_ceil(most).max(1);
    let chosen: Vec<usize> = (0..all.len()).step_by(step).collect();
    let each: Vec<Found> = (chosen.par_iter())
        .map(|number| {
            let (shape, kept) = &all[*number];
            let mut found = Found::default();
            one(&workload, &facts[*shape], kept, *number as u64, &mut found);
            found
        })
        .collect();
    each.iter().for_each(|one| found.add(one));
    Some(found)
}

/// Measurements on all shapes with equally many workers per VM.
pub fn all_facts(workload: &Workload) -> Vec<Fact> {
    let even = |shape: &&Arc<str>| Shape::parse(shape).is_ok_and(|s| s.is_even());
    let shapes = workload.steps.shapes().filter(even);
    shapes.flat_map(|shape| facts(workload, shape)).collect()
}

/// Measurements on a shape.
fn facts(workload: &Workload, shape: &str) -> Vec<Fact> {
    let reach = Reach {
        extrapolate: true,
        ..Reach::default()
    };
    let points = workload.steps.points_of(shape).iter();
    points
        .filter_map(|(c, cost)| {
            let replay = workload.replay(c, &reach).ok()?;
            let steps = workload.steps_to_target(replay.epochs, c.batch);
            let time_s = steps * cost.total_s();
            let vms = f64::from(Shape::parse(&c.vm).ok()?.vms(c.workers)?);
            Some(Fact {
                configuration: c.clone(),
                step_s: cost.total_s(),
                epochs: replay.epochs,
                vms,
                truth: Point {
                    time_s,
                    cost_usd: USD * vms * time_s / SECONDS_PER_HOUR,
                },
            })
        })
        .collect()
}

/// All ways to keep some worker counts and some batches: local ones if fewer of them were measured than global ones.
fn cuts(facts: &[Fact]) -> Vec<Vec<usize>> {
    let distinct = |of: &dyn Fn(&Configuration) -> u64| {
        let mut all: Vec<u64> = facts.iter().map(|f| of(&f.configuration)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let workers = |c: &Configuration| u64::from(c.workers);
    let local = |c: &Configuration| (c.local_batch() * 1e6).round() as u64;
    let global = |c: &Configuration| u64::from(c.batch);
    let by_local = distinct(&local).len() < distinct(&global).len();
    let batch = |c: &Configuration| if by_local { local(c) } else { global(c) };
    let mut all = Vec::new();
    for counts in subsets(&distinct(&workers), KEPT[0]) {
        for batches in subsets(&distinct(&batch), KEPT[1]) {
            let is_kept =
                |c: &Configuration| counts.contains(&workers(c)) && batches.contains(&batch(c));
            let kept: Vec<usize> = (0..facts.len())
                .filter(|at| is_kept(&facts[*at].configuration))
                .collect();
            // A hole in the table makes a smaller cut.
            if kept.len() == KEPT[0] * KEPT[1] {
                all.push(kept);
            }
        }
    }
    all
}

/// All subsets of a size, in order.
pub fn subsets(all: &[u64], size: usize) -> Vec<Vec<u64>> {
    match (size, all) {
        (0, _) => vec![Vec::new()],
        (_, []) => Vec::new(),
        (_, [first, rest @ ..]) => {
            let with = subsets(rest, size - 1).into_iter().map(|mut set| {
                set.insert(0, *first);
                set
            });
            with.chain(subsets(rest, size)).collect()
        }
    }
}

/// A cut as a user's table: `steps_only` are rows without epochs.
pub fn table(facts: &[Fact], kept: &[usize], steps_only: &[usize]) -> Arc<Source> {
    let mut text = "vm,workers,batch,step_s,epochs\n".to_owned();
    for at in kept.iter().chain(steps_only) {
        let Fact {
            configuration: c,
            step_s,
            epochs,
            ..
        } = &facts[*at];
        let epochs = if kept.contains(at) {
            epochs.to_string()
        } else {
            String::new()
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{},{},{step_s},{epochs}", c.vm, c.workers, c.batch);
    }
    Source::new("cut", text)
}

/// Processed like a user's table: imported, written and read back.
fn imported(source: &Arc<Source>, samples: f64) -> Option<Workload> {
    let options = profile::ProfileOptions {
        file: "cut.csv".into(),
        name: "cut".to_owned(),
        samples_per_epoch: samples as u64,
        epochs: None,
        unit: Some(profile::Unit::S),
        batch: Some(profile::BatchIs::Global),
        cold_start_steps: None,
        probe_steps: None,
        restore_s: None,
        parameters: None,
        run: profile::RunDescription::default(),
    };
    let mut diagnostics = Diagnostics::default();
    let imported = profile::read_source(&options, source, &mut diagnostics)?;
    let files = imported.draft.files().ok()?;
    let folder = Folder::Memory {
        name: "cut".to_owned(),
        files: files
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text))
            .collect(),
    };
    load::load(&folder, &mut diagnostics)
}

/// A cut with its decisions.
pub struct Asked {
    configurations: Vec<Configuration>,
    no_gain: Vec<NoGain>,
    only_batch: Option<u32>,
    /// Indices of the prospects among the facts.
    pub places: Vec<usize>,
    /// Whether each was predicted from surrounding ones.
    is_inside: Vec<bool>,
    /// Facts within the bounds of advice.
    pub within: Vec<usize>,
    /// Predictions, with the epochs that the cut tells.
    pub prospects: Vec<Prospect>,
    covariances: Covariances,
}

pub fn ask(
    workload: &Workload,
    facts: &[Fact],
    source: &Arc<Source>,
    samples: f64,
) -> Option<Asked> {
    let cut = imported(source, samples)?;
    let reach = Reach {
        extrapolate: true,
        ..Reach::default()
    };
    let bounds: Vec<(&Arc<str>, Bounds<'_>)> = (cut.steps.shapes())
        .map(|shape| (shape, Bounds::for_shape(&cut, shape)))
        .collect();
    let is_within = |c: &Configuration| {
        let of = bounds.iter().find(|(shape, _)| **shape == c.vm);
        of.is_some_and(|(_, bounds)| bounds.hold(c.workers, c.batch))
    };
    let (mut places, mut is_inside, mut within) = (Vec::new(), Vec::new(), Vec::new());
    let mut prospects = Vec::new();
    for (at, fact) in facts.iter().enumerate() {
        let c = &fact.configuration;
        if !is_within(c) {
            continue;
        }
        within.push(at);
        let Ok(replay) = cut.replay(c, &reach) else {
            continue;
        };
        is_inside.push(replay.provenance != Provenance::Extrapolated);
        let time_s = workload.steps_to_target(replay.epochs, c.batch) * replay.step.total_s();
        places.push(at);
        prospects.push(Prospect {
            configuration: c.clone(),
            expected: Point {
                time_s,
                cost_usd: USD * fact.vms * time_s / SECONDS_PER_HOUR,
            },
            run_sd: [0.0; 2],
            usd_per_hour: USD * fact.vms,
            step_s: replay.step.total_s(),
        });
    }
    let own: Vec<Configuration> = (prospects.iter().map(|p| p.configuration.clone())).collect();
    let uncertainty =
        Uncertainty::for_workload(&cut, &Repeats::default(), cut.stated_epochs().is_some());
    let covariances = uncertainty.covariances(&own);
    (!prospects.is_empty()).then_some(Asked {
        no_gain: no_gain(&cut),
        only_batch: uncertainty.only_batch(),
        configurations: own,
        places,
        is_inside,
        within,
        prospects,
        covariances,
    })
}

impl Asked {
    pub fn decision(&self, objective: Objective, limits: Limits) -> Decision<'_> {
        let goal = Goal {
            objective,
            limits,
            max_mean_time_s: None,
        };
        Decision::new(&self.prospects, self.covariances.clone(), goal)
    }

    /// Indices of the facts, the first choice of advice first.
    pub fn ranked(&self, decision: &Decision<'_>) -> Vec<usize> {
        let ranked = surest_first(
            decision,
            &self.configurations,
            &self.no_gain,
            self.only_batch,
            |_| false,
        );
        ranked.into_iter().map(|at| self.places[at]).collect()
    }
}

pub fn value(objective: Objective, point: &Point) -> f64 {
    match objective {
        Objective::Time => point.time_s,
        Objective::Cost | Objective::Knee => point.cost_usd,
    }
}

fn one(workload: &Workload, facts: &[Fact], kept: &[usize], number: u64, found: &mut Found) {
    let samples = workload.constants.samples_per_epoch.value;
    found.cuts += 1;
    found.kept += kept.len();
    found.forgotten += facts.len() - kept.len();
    let Some(asked) = ask(workload, facts, &table(facts, kept, &[]), samples) else {
        found.refused += 1;
        return;
    };
    // Intervals are equal for all objectives.
    let decision = asked.decision(Objective::Time, Limits::default());
    for (index, at) in asked
        .places
        .iter()
        .enumerate()
        .filter(|(_, at)| !kept.contains(at))
    {
        let [interval, _] = decision.intervals(index);
        let by = usize::from(!asked.is_inside[index]);
        found.asked[by] += 1;
        let holds = (interval[0]..=interval[1]).contains(&facts[*at].truth.time_s);
        found.covered[by] += usize::from(holds);
    }
    for objective in [Objective::Time, Objective::Cost] {
        let decision = asked.decision(objective, Limits::default());
        let Some(choice) = asked.ranked(&decision).first().copied() else {
            continue;
        };
        let truth = |at: usize| value(objective, &facts[at].truth);
        let least =
            |all: &mut dyn Iterator<Item = usize>| all.map(truth).fold(f64::INFINITY, f64::min);
        let best = least(&mut asked.within.iter().copied());
        let best_of_all = least(&mut (0..facts.len()));
        let effort = MeasuringEffort {
            setup_s: 600.0,
            is_expected: false,
            steps: 120.0,
            times: 1.0,
            noise: [STEP_SD * STEP_SD, EPOCHS_SD * EPOCHS_SD],
        };
        let left: Vec<usize> = (0..asked.places.len())
            .filter(|index| !kept.contains(&asked.places[*index]))
            .collect();
        let advised = decision
            .measurements(&effort)
            .into_iter()
            .find_map(|worth| match worth.measurement {
                Measurement::Step(index) if left.contains(&index) => Some(asked.places[index]),
                _ => None,
            });
        let then = |measured: usize| -> Option<f64> {
            let source = table(facts, kept, &[measured]);
            let again = ask(workload, facts, &source, samples)?;
            let decision = again.decision(objective, Limits::default());
            let choice = *again.ranked(&decision).first()?;
            Some(truth(choice) / best_of_all - 1.0)
        };
        let mut stream = Streams::new(number).stream(
            0,
            Purpose::Strategy(StrategyKey::from_name("random measurement")),
        );
        let random: Option<Vec<f64>> = (0..RANDOM)
            .filter(|_| !left.is_empty())
            .map(|_| then(asked.places[left[stream.below(left.len())]]))
            .collect();
        let random = random
            .filter(|all| !all.is_empty())
            .map(|all| all.iter().sum::<f64>() / all.len() as f64);
        found.outcomes.push((
            objective,
            Outcome {
                regret: truth(choice) / best - 1.0,
                regret_of_all: truth(choice) / best_of_all - 1.0,
                after: advised.and_then(then).zip(random),
            },
        ));
    }
}

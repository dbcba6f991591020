//! A profile, imported, simulated at the prices of the day, and decided on.

use std::collections::BTreeSet;

use super::candidates::candidates;
use super::decision::{Decision, Goal, Measurement, MeasuringEffort, Prospect, Worth};
use super::known::{Known, known};
use super::offers::{Offer, Offers, offers};
use super::question::{NoAdvice, Question};
use super::repeats::Repeats;
use super::simulate::{Simulated, simulate};
use super::uncertainty::Uncertainty;
use crate::import::{Imported, Report, profile};
use scavsim_data::cloud::{Catalogue, Market};
use scavsim_data::configuration::{Configuration, vm_type};
use scavsim_data::workload::{Provenance, Reach, Workload, load};
use scavsim_lab::experiment::ranking;
use scavsim_read::input::{Diagnostics, Folder, Source};
use scavsim_search::search::Objective;
use scavsim_sim::engine::Interrupt;

/// What is answered.
#[derive(Debug, Clone)]
pub struct Advice {
    /// Name of the workload.
    pub name: String,
    /// The import's own report.
    pub report: Report,
    /// The workload folder, as it would be written.
    pub files: Vec<(&'static str, String)>,
    /// Prices and lives.
    pub offers: Offers,
    /// What was known.
    pub known: Known,
    /// What it was chosen by.
    pub goal: Goal,
    /// USD that an hour counts as, for the knee.
    pub usd_per_hour: f64,
    /// Configurations that keep to the limits, the best first.
    pub choices: Vec<Choice>,
    /// Where none does, the one that is likeliest to.
    pub nearest: Option<Choice>,
    /// Configurations that do not.
    pub beyond_limits: usize,
    /// What could be measured next, what is worth most above its price first.
    pub measurements: Vec<Next>,
    /// How often the job is to be trained.
    pub times: f64,
}

/// A configuration in a market, and what is to be expected of it.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The configuration.
    pub configuration: Configuration,
    /// VMs of the choice.
    pub vms: u32,
    /// Price of the VMs.
    pub offer: Offer,
    /// Hours and their 90 % interval.
    pub time_h: [f64; 3],
    /// USD and their 90 % interval.
    pub cost_usd: [f64; 3],
    /// Chance to miss a limit; 0 without one.
    pub miss: f64,
    /// Measured, interpolated or extrapolated.
    pub provenance: Provenance,
    /// Value of the choice by the objective over that of the best.
    pub over_best: f64,
    /// Chance that it is better than the best.
    pub chance: f64,
    /// Whether nothing is both faster and cheaper in expectation.
    pub is_on_front: bool,
}

/// A measurement that could be made next.
#[derive(Debug, Clone)]
pub struct Next {
    /// What it brings and takes.
    pub worth: Worth,
    /// Where it is made.
    pub configuration: Configuration,
    /// VMs of the measurement.
    pub vms: u32,
    /// Price of the VMs.
    pub offer: Offer,
    /// Whether that was measured before.
    pub was_measured: bool,
}

/// Answers a question.
///
/// # Errors
/// [`NoAdvice`] with every mistake.
pub fn advise(question: &Question, jobs: usize, interrupt: &Interrupt) -> Result<Advice, NoAdvice> {
    let mut diagnostics = Diagnostics::default();
    let d = &mut diagnostics;
    let source = Source::read(&question.import.file, d);
    let imported = source
        .as_ref()
        .and_then(|s| profile::read_source(&question.import, s, d));
    let (Some(source), Some(imported)) = (source, imported) else {
        return Err(NoAdvice::Wrong(diagnostics));
    };
    let Imported { draft, report } = imported;
    let files = match draft.files() {
        Ok(files) => files,
        Err(error) => {
            d.push(scavsim_read::input::Diagnostic::general(error.to_string()));
            return Err(NoAdvice::Wrong(diagnostics));
        }
    };
    let folder = Folder::Memory {
        name: question.import.name.clone(),
        files: (files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.clone())))
        .collect(),
    };
    let Some(workload) = load::load(&folder, d) else {
        return Err(NoAdvice::Wrong(diagnostics));
    };
    let types: BTreeSet<String> = (workload.steps.shapes())
        .map(|shape| vm_type(shape).to_owned())
        .collect();
    let offers = offers(&types, &question.wanted, Catalogue::current(), d);
    if !diagnostics.is_empty() {
        return Err(NoAdvice::Wrong(diagnostics));
    }
    let reach = Reach {
        extrapolate: true,
        ..Reach::default()
    };
    let all = candidates(&workload, &reach);
    let repeats = Repeats::read(&source, question.import.batch);
    let simulated = simulate(
        question,
        &workload,
        &folder,
        &all,
        &offers,
        &repeats,
        (jobs, interrupt),
    )?;
    Ok(decide(
        question, workload, report, files, offers, repeats, simulated,
    ))
}

#[expect(clippy::too_many_lines, reason = "one list in one order, to be parted")]
fn decide(
    question: &Question,
    workload: Workload,
    report: Report,
    files: Vec<(&'static str, String)>,
    offers: Offers,
    repeats: Repeats,
    simulated: Vec<Simulated>,
) -> Advice {
    let stated = workload.stated_epochs();
    let uncertainty = Uncertainty::of(&workload, &repeats, stated.is_some());
    let prospects: Vec<Prospect> = simulated.iter().map(|s| s.prospect.clone()).collect();
    let configurations: Vec<Configuration> =
        prospects.iter().map(|p| p.configuration.clone()).collect();
    let covariances = uncertainty.covariances(&configurations);
    let decision = Decision::new(&prospects, covariances, question.goal);
    let ranked = decision.ranked();
    let points: Vec<_> = (0..prospects.len()).map(|at| decision.mean(at)).collect();
    let allowed: Vec<bool> = (0..prospects.len())
        .map(|at| decision.is_allowed(at))
        .collect();
    let front = ranking::front(&points, &allowed);
    let choice = |at: usize, best: usize| {
        let Simulated {
            prospect,
            offer,
            vms,
            provenance,
        } = &simulated[at];
        let mean = decision.mean(at);
        let [time, cost] = decision.intervals(at);
        Choice {
            configuration: prospect.configuration.clone(),
            vms: *vms,
            offer: offer.clone(),
            time_h: [mean.time_s, time[0], time[1]].map(|s| s / 3600.0),
            cost_usd: [mean.cost_usd, cost[0], cost[1]],
            miss: decision.miss(at),
            provenance: *provenance,
            over_best: decision.value(&mean) / decision.value(&decision.mean(best)) - 1.0,
            chance: if at == best {
                1.0
            } else {
                decision.chance_better(at, best)
            },
            is_on_front: front[at],
        }
    };
    let choices: Vec<Choice> = ranked.iter().map(|at| choice(*at, ranked[0])).collect();
    let nearest = (0..prospects.len())
        .filter(|_| ranked.is_empty())
        .min_by(|a, b| decision.miss(*a).total_cmp(&decision.miss(*b)))
        .map(|at| choice(at, at));
    let effort = MeasuringEffort {
        setup_s: 60.0 * question.setup_min,
        is_expected: true,
        steps: f64::from(question.steps),
        times: question.times,
        noise: [
            repeats.step_sd * repeats.step_sd,
            repeats.epochs_sd * repeats.epochs_sd,
        ],
    };
    let measured: BTreeSet<(&str, u32, u32)> = (workload.steps.points())
        .map(|(c, _)| (&*c.vm, c.workers, c.batch))
        .collect();
    let batches: BTreeSet<u32> = workload.epochs.rows().iter().map(|row| row.batch).collect();
    let measurements = (decision.measurements(&effort).into_iter())
        // Where somebody states the epochs, runs to learn them are not asked for.
        .filter(|worth| worth.value > 0.0)
        .map(|worth| {
            let at = match worth.measurement {
                Measurement::Step(at) | Measurement::Epochs(at) => at,
            };
            let c = &prospects[at].configuration;
            Next {
                was_measured: match worth.measurement {
                    Measurement::Step(_) => measured.contains(&(&*c.vm, c.workers, c.batch)),
                    Measurement::Epochs(_) => batches.contains(&c.batch),
                },
                worth,
                configuration: c.clone(),
                vms: simulated[at].vms,
                offer: simulated[at].offer.clone(),
            }
        })
        .collect();
    let sds: Vec<(Provenance, f64)> = (simulated.iter().enumerate())
        .map(|(at, s)| (s.provenance, decision.covariances().sd(at)))
        .collect();
    Advice {
        name: question.import.name.clone(),
        report,
        files,
        known: known(&workload, repeats, stated, &sds, &configurations),
        goal: question.goal,
        usd_per_hour: decision.usd_per_hour(),
        beyond_limits: prospects.len() - ranked.len(),
        choices,
        nearest,
        measurements,
        offers,
        times: question.times,
    }
}

impl Advice {
    /// Whether any offer is in the spot market.
    pub fn has_spot(&self) -> bool {
        self.offers
            .all
            .iter()
            .any(|offer| offer.market == Market::Spot)
    }

    /// What the value of a measurement is counted in.
    pub fn unit(&self) -> &'static str {
        match self.goal.objective {
            Objective::Time => "h",
            Objective::Cost | Objective::Knee => "USD",
        }
    }
}

//! A profile, imported, simulated at the prices of the day, and decided on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::candidates::candidates;
use super::decision::{Decision, Effort, Goal, Measurement, Prospect, Worth, Z90};
use super::offers::{Offer, Offers, Wanted, offers};
use super::repeats::Repeats;
use super::uncertainty::Uncertainty;
use crate::cloud::{Catalogue, Market};
use crate::configuration::{Configuration, Shape};
use crate::engine::Interrupt;
use crate::experiment::ranking::{self, NoRanking, Ranked};
use crate::import::{Imported, Report, profile};
use crate::input::{Diagnostics, Folder, Source};
use crate::scenario::{self, Given, Overrides, Scenario};
use crate::search::Objective;
use crate::workload::{Provenance, Reach, Workload, load};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// How the table is imported.
    pub import: profile::Options,
    /// Where, and in which market.
    pub wanted: Wanted,
    /// What to choose by.
    pub goal: Goal,
    /// Minutes until VMs train, in a measurement and in the job.
    pub setup_min: f64,
    /// Steps of a measurement.
    pub steps: u32,
    /// How often the job is to be trained.
    pub times: f64,
    /// Simulated runs of each configuration.
    pub runs: u64,
}

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

/// What the measurements told.
#[derive(Debug, Clone)]
pub struct Known {
    /// Configurations that were measured.
    pub measured: usize,
    /// Per way of telling: how many configurations are told, and ± of which 90 % of them are within, typically.
    pub told: Vec<(Provenance, usize, f64)>,
    /// Batches whose epochs were measured.
    pub batches: Vec<u32>,
    /// Epochs that somebody stated for all batches.
    pub stated_epochs: Option<f64>,
    /// Whether there is a law of epochs.
    pub epoch_law: bool,
    /// VM shapes without a law of steps.
    pub without_law: Vec<String>,
    /// Most samples of a worker that were measured, per VM type.
    pub largest_local: BTreeMap<String, f64>,
    /// Least and greatest worker count.
    pub workers: (u32, u32),
    /// What repeats tell.
    pub repeats: Repeats,
}

/// A configuration in a market, and what is to be expected of it.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The configuration.
    pub configuration: Configuration,
    /// Its VMs.
    pub vms: u32,
    /// Its price.
    pub offer: Offer,
    /// Hours and their 90 % interval.
    pub time_h: [f64; 3],
    /// USD and their 90 % interval.
    pub cost_usd: [f64; 3],
    /// Chance to miss a limit; 0 without one.
    pub miss: f64,
    /// Measured, interpolated or extrapolated.
    pub provenance: &'static str,
    /// Its value by the objective over that of the best.
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
    /// Its VMs.
    pub vms: u32,
    /// Their price.
    pub offer: Offer,
    /// Whether that was measured before.
    pub was_measured: bool,
}

/// Why there is no advice.
#[derive(Debug)]
pub enum NoAdvice {
    /// Something is wrong with the question.
    Wrong(Diagnostics),
    /// Something else.
    Failed(NoRanking),
}

impl From<NoRanking> for NoAdvice {
    fn from(why: NoRanking) -> NoAdvice {
        NoAdvice::Failed(why)
    }
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
            d.push(crate::input::Diagnostic::general(error.to_string()));
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
    let offers = offers(&types, &question.wanted, Catalogue::embedded().0, d);
    if !diagnostics.is_empty() {
        return Err(NoAdvice::Wrong(diagnostics));
    }
    let reach = Reach {
        extrapolate: true,
        ..Reach::default()
    };
    let all = candidates(&workload, &reach);
    let repeats = Repeats::read(&source);
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

/// A configuration in a market, simulated.
struct Simulated {
    prospect: Prospect,
    offer: Offer,
    row: Ranked,
}

fn vm_type(shape: &str) -> &str {
    Shape::parse(shape).map_or(shape, |shape| shape.vm_type)
}

/// Runs all configurations in each market where they have a price.
fn simulate(
    question: &Question,
    workload: &Workload,
    folder: &Folder,
    all: &[(Configuration, Provenance)],
    offers: &Offers,
    repeats: &Repeats,
    (jobs, interrupt): (usize, &Interrupt),
) -> Result<Vec<Simulated>, NoAdvice> {
    let reach = Reach {
        extrapolate: true,
        ..Reach::default()
    };
    let mut simulated = Vec::new();
    for lot in lots(&offers.all) {
        let of_lot = |c: &Configuration| lot.iter().find(|o| o.vm == vm_type(&c.vm));
        let own: Vec<Configuration> = (all.iter().map(|(c, _)| c))
            .filter(|c| of_lot(c).is_some())
            .cloned()
            .collect();
        if own.is_empty() {
            continue;
        }
        let scenario = scenario(question, folder, &lot, repeats).map_err(NoAdvice::Wrong)?;
        let scenario = Scenario {
            workloads: vec![(workload.clone(), own)],
            reach: reach.clone(),
            ..scenario
        };
        let effort = ranking::Effort {
            runs: question.runs,
            jobs,
            interrupt,
            progress: &AtomicU64::new(0),
        };
        for ranking in ranking::rank(&scenario, effort)? {
            for row in ranking.rows {
                let found = configuration(&row).and_then(|c| Some((of_lot(&c)?, c)));
                let Some((offer, configuration)) = found else {
                    continue;
                };
                let replay = workload.replay(&configuration, &reach);
                let step_s = replay.map_or(0.0, |replay| replay.step.total_s());
                let vms: u32 = row.held.iter().map(|held| held.vms).sum();
                let prospect = Prospect {
                    configuration,
                    expected: row.expected,
                    run_sd: [run_sd(row.time_s), run_sd(row.cost_usd)],
                    usd_per_hour: f64::from(vms) * offer.usd_per_hour,
                    step_s,
                };
                // What never ends cannot be chosen.
                if row.expected.time_s.is_finite() && row.expected.cost_usd.is_finite() {
                    simulated.push(Simulated {
                        prospect,
                        offer: (*offer).clone(),
                        row,
                    });
                }
            }
        }
    }
    Ok(simulated)
}

/// Offers that one scenario can hold: of one market, whose VMs live alike.
fn lots(all: &[Offer]) -> Vec<Vec<&Offer>> {
    let mut lots: BTreeMap<(Market, Option<&str>), Vec<&Offer>> = BTreeMap::new();
    for offer in all {
        let lives = offer.lifetime.map(|model| &*model.name);
        lots.entry((offer.market, lives)).or_default().push(offer);
    }
    lots.into_values().collect()
}

fn configuration(row: &Ranked) -> Option<Configuration> {
    Some(Configuration {
        vm: Arc::from(row.vm.as_deref()?),
        workers: row.workers?,
        batch: row.batch?,
    })
}

/// Standard deviation of the logarithm from both ends of a 90 % interval.
fn run_sd([low, high]: [f64; 2]) -> f64 {
    match low > 0.0 && high.is_finite() {
        true => libm::log(high / low) / (2.0 * Z90),
        // One in 20 does not end: nothing is sure.
        false => 1.0,
    }
}

/// The scenario of one lot, without its configurations.
fn scenario(
    question: &Question,
    folder: &Folder,
    lot: &[&Offer],
    repeats: &Repeats,
) -> Result<Scenario, Diagnostics> {
    let prices: Vec<String> = (lot.iter())
        .map(|offer| format!("\"{}\" = {:?}", offer.vm, offer.usd_per_hour))
        .collect();
    let spot = match lot.iter().find_map(|offer| offer.lifetime) {
        None => String::new(),
        Some(model) => format!(
            "[spot]\nlifetime = \"{}\"\ncheckpoint = \"young-daly\"\ncheckpoint_write_s = {:?}\n",
            model.name,
            question.import.restore_s.unwrap_or(profile::RESTORE_S),
        ),
    };
    let text = format!(
        "name = \"advice\"\nworkloads = [\"profile\"]\n\
         [cluster]\noutside = \"leave-out\"\nstart_up_s = {:?}\n{spot}\
         [variation]\nplacement_sigma = {:?}\nepoch_cv = {:?}\n\
         [pricing]\npolicies = [\"list\"]\n\
         [pricing.define.list]\nusd_per_hour_of = {{ {} }}\ngranularity_s = 1\nminimum_s = 60\n\
         [search]\nstrategies = [\"oracle\"]\nobjectives = [\"{}\"]\n",
        60.0 * question.setup_min,
        repeats.step_sd,
        repeats.epochs_sd,
        prices.join(", "),
        question.goal.objective.name(),
    );
    let mut diagnostics = Diagnostics::default();
    let given = Given {
        workloads: vec![("profile".to_owned(), folder.clone())],
        ..Given::default()
    };
    let source = Source::new("the scenario of the advice", text);
    let (here, overrides) = (Path::new("."), Overrides::default());
    match scenario::load_with(&source, here, overrides, &given, &mut diagnostics) {
        Some(scenario) if diagnostics.is_empty() => Ok(scenario),
        _ => Err(diagnostics),
    }
}

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
    let uncertainty = Uncertainty::of(&workload, repeats.clone(), stated.is_some());
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
            row,
        } = &simulated[at];
        let mean = decision.mean(at);
        let [time, cost] = decision.intervals(at);
        Choice {
            configuration: prospect.configuration.clone(),
            vms: row.held.iter().map(|held| held.vms).sum(),
            offer: offer.clone(),
            time_h: [mean.time_s, time[0], time[1]].map(|s| s / 3600.0),
            cost_usd: [mean.cost_usd, cost[0], cost[1]],
            miss: decision.miss(at),
            provenance: row.provenance,
            over_best: decision.value(&mean) / decision.value(&decision.mean(best)) - 1.0,
            chance: match at == best {
                true => 1.0,
                false => decision.chance_better(at, best),
            },
            is_on_front: front[at],
        }
    };
    let choices: Vec<Choice> = ranked.iter().map(|at| choice(*at, ranked[0])).collect();
    let nearest = (0..prospects.len())
        .filter(|_| ranked.is_empty())
        .min_by(|a, b| decision.miss(*a).total_cmp(&decision.miss(*b)))
        .map(|at| choice(at, at));
    let effort = Effort {
        setup_s: 60.0 * question.setup_min,
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
                vms: simulated[at].row.held.iter().map(|held| held.vms).sum(),
                offer: simulated[at].offer.clone(),
            }
        })
        .collect();
    let sds: Vec<(Provenance, f64)> = (0..prospects.len())
        .filter_map(|at| {
            let by = [
                Provenance::Measured,
                Provenance::Interpolated,
                Provenance::Extrapolated,
            ];
            let found = by
                .into_iter()
                .find(|p| p.name() == simulated[at].row.provenance)?;
            Some((found, decision.covariances().sd(at)))
        })
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

fn known(
    workload: &Workload,
    repeats: Repeats,
    stated_epochs: Option<f64>,
    sds: &[(Provenance, f64)],
    configurations: &[Configuration],
) -> Known {
    let mut largest_local: BTreeMap<String, f64> = BTreeMap::new();
    for (c, _) in workload.steps.points() {
        let largest = largest_local
            .entry(vm_type(&c.vm).to_owned())
            .or_insert(0.0);
        *largest = largest.max(c.local_batch());
    }
    let by = [
        Provenance::Measured,
        Provenance::Interpolated,
        Provenance::Extrapolated,
    ];
    let told = by.into_iter().filter_map(|provenance| {
        // A configuration in several markets is one.
        let mut seen = BTreeSet::new();
        let mut own: Vec<f64> = (sds.iter().zip(configurations))
            .filter(|((by, _), c)| *by == provenance && seen.insert((*c).clone().to_string()))
            .map(|((_, sd), _)| *sd)
            .collect();
        let typical = crate::stats::median(&mut own)?;
        Some((provenance, own.len(), libm::exp(Z90 * typical) - 1.0))
    });
    let without_law = (workload.steps.shapes())
        .filter(|shape| !workload.laws.steps.contains_key(&***shape))
        .map(|shape| shape.to_string());
    let workers = || workload.steps.points().map(|(c, _)| c.workers);
    let measured = (workload.epochs.rows().iter()).map(|row| row.batch);
    let mut batches: Vec<u32> = measured.filter(|_| stated_epochs.is_none()).collect();
    batches.sort_unstable();
    batches.dedup();
    Known {
        measured: workload.steps.points().count(),
        told: told.collect(),
        batches,
        stated_epochs,
        epoch_law: workload.laws.epochs.is_some(),
        without_law: without_law.collect(),
        largest_local,
        workers: (workers().min().unwrap_or(0), workers().max().unwrap_or(0)),
        repeats,
    }
}

impl Advice {
    /// Whether any choice is in the spot market.
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

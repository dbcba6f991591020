//! Imports a profile, predicts configurations of the catalogue, simulates them at current prices, and decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::advice::{Advice, CatalogueSurvey, Choice, MeasuredCounterpart, NextMeasurement};
use super::candidates::{candidates, on_machines};
use super::decision::{Decision, Goal, Measurement, MeasuringEffort, Prospect};
use super::gambles::surest_first;
use super::machines::{Basis, Machines, machines};
use super::measurement_summary::{PredictionSource, known, no_gain};
use super::offers::{OfferList, offers};
use super::question::{NoAdvice, Question};
use super::repeats::Repeats;
use super::simulate::{SimulatedChoice, simulate};
use super::uncertainty::Uncertainty;
use scavsim_base::text::words::plural;
use scavsim_data::cloud::Catalogue;
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_data::workload::{Workload, load};
use scavsim_engine::Interrupt;
use scavsim_experiment::ranking;
use scavsim_import::{ImportResult, Report, profile};
use scavsim_read::input::{Diagnostic, Diagnostics, Folder, Source};
use scavsim_search::search::{Objective, Point};

/// Configurations on unmeasured machines are left out if their predictions are more than this multiple of the best.
const HOPELESS: f64 = 2.0;

pub fn advise(question: &Question, jobs: usize, interrupt: &Interrupt) -> Result<Advice, NoAdvice> {
    let mut diagnostics = Diagnostics::default();
    match Source::read(&question.import.file, &mut diagnostics) {
        Some(source) => advise_on(question, &source, jobs, interrupt),
        None => Err(NoAdvice::Wrong(diagnostics)),
    }
}

/// An advice by current prices; with a price pack, also the choice by the prices of the program.
pub fn advise_on(
    question: &Question,
    source: &Arc<Source>,
    jobs: usize,
    interrupt: &Interrupt,
) -> Result<Advice, NoAdvice> {
    let current = Catalogue::current();
    let mut advice = advise_by(question, source, current, (jobs, interrupt))?;
    if current.pack.is_some() {
        let shipped = Catalogue::embedded().0;
        // With the prices of the program there may be no answer at all.
        let before = advise_by(question, source, shipped, (jobs, interrupt)).ok();
        advice.by_shipped_prices = before.and_then(|advice| advice.choices.into_iter().next());
    }
    Ok(advice)
}

fn advise_by(
    question: &Question,
    source: &Arc<Source>,
    catalogue: &'static Catalogue,
    (jobs, interrupt): (usize, &Interrupt),
) -> Result<Advice, NoAdvice> {
    let mut diagnostics = Diagnostics::default();
    let d = &mut diagnostics;
    let Some(imported) = profile::read_source(&question.import, source, d) else {
        return Err(NoAdvice::Wrong(diagnostics));
    };
    let ImportResult {
        draft,
        report,
        runs,
    } = imported;
    let files = match draft.files() {
        Ok(files) => files,
        Err(error) => {
            d.push(Diagnostic::general(error.to_string()));
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
    let mut machines = machines(&workload, &question.wanted, catalogue);
    let mut offers = offers(&types, &machines.names(), &question.wanted, catalogue, d);
    if !diagnostics.is_empty() {
        return Err(NoAdvice::Wrong(diagnostics));
    }
    machines.keep_priced(&mut offers, counts(&question.goal)[0]);
    let (all, [hopeless, above_cap]) =
        configurations_to_predict(question, &workload, &machines, &offers)?;
    if above_cap > 0 {
        let most = question.wanted.caps.cluster_usd.unwrap_or_default();
        let above = plural(above_cap as u64, "configuration");
        (offers.left_out).push(format!(
            "{above} above ${most} an hour (--max-usd-per-hour)"
        ));
    }
    let repeats = Repeats::of_runs(&runs);
    let simulated = simulate(
        question,
        &workload,
        &folder,
        &all,
        (&offers, &machines),
        &repeats,
        (jobs, interrupt),
    )?;
    let basis = Basics {
        workload,
        report,
        files,
        hopeless,
        offers,
        machines,
        repeats,
    };
    Ok(decide(question, basis, simulated))
}

/// Whether time counts, and whether money does.
fn counts(goal: &Goal) -> [bool; 2] {
    let is_limited = goal.is_limited();
    [Objective::Cost, Objective::Time].map(|other| is_limited || goal.objective != other)
}

/// The configurations to predict: all that measurements support, and promising ones on other machines. Also the numbers of
/// hopeless ones, and of those above the price cap.
fn configurations_to_predict(
    question: &Question,
    workload: &Workload,
    machines: &Machines,
    offers: &OfferList,
) -> Result<(Vec<Configuration>, [usize; 2]), NoAdvice> {
    let reach = machines.reach();
    let mut all = candidates(workload, &reach);
    let mut others = on_machines(workload, machines, &reach);
    let expected = |c: &Configuration| -> Option<Point> {
        let prices = offers.all.iter().filter(|o| o.vm == vm_type(&c.vm));
        let vms = Shape::parse(&c.vm).ok()?.vms(c.workers)?;
        let usd = (prices.map(|o| o.cluster_usd_per_hour(vms))).min_by(f64::total_cmp)?;
        let replay = workload.replay(c, &reach).ok()?;
        let steps = workload.steps_to_target(replay.epochs, c.batch);
        let time_s = steps * replay.step.total_s() + 60.0 * question.setup_min;
        Some(Point {
            time_s,
            cost_usd: usd * time_s,
        })
    };
    let mut least = f64::INFINITY;
    let mut is_within_cap = |c: &Configuration| {
        let vms = Shape::parse(&c.vm)
            .ok()
            .and_then(|shape| shape.vms(c.workers));
        let own = offers.all.iter().filter(|o| o.vm == vm_type(&c.vm));
        let usd = own.filter_map(|o| Some(o.cluster_usd_per_hour(vms?)));
        let usd = usd.fold(f64::INFINITY, f64::min);
        least = least.min(usd);
        question.wanted.caps.allow(usd)
    };
    let within_bounds = all.len() + others.len();
    all.retain(&mut is_within_cap);
    others.retain(&mut is_within_cap);
    let above_cap = within_bounds - all.len() - others.len();
    if all.is_empty() && others.is_empty() && above_cap > 0 {
        let mut wrong = Diagnostics::default();
        wrong.push(question.wanted.caps.without_any(least));
        return Err(NoAdvice::Wrong(wrong));
    }
    let points: Vec<(Configuration, Point)> = (others.into_iter())
        .filter_map(|c| expected(&c).map(|point| (c, point)))
        .collect();
    let is_other = |c: &Configuration| {
        let machine = machines.machine_of_shape(&c.vm);
        machine.is_some_and(|machine| machine.basis == Basis::OtherGpu)
    };
    let least = |points: &mut dyn Iterator<Item = Point>| {
        points.fold([f64::INFINITY; 2], |[time, cost], p| {
            [time.min(p.time_s), cost.min(p.cost_usd)]
        })
    };
    // The prediction for a much faster GPU is less certain, so it does not exclude machines with the measured GPU.
    let with_same = points
        .iter()
        .filter(|(c, _)| !is_other(c))
        .map(|(_, point)| *point);
    let same = least(&mut all.iter().filter_map(&expected).chain(with_same));
    let any = least(&mut points.iter().map(|(_, point)| *point));
    let best = |c: &Configuration| {
        if is_other(c) {
            [same[0].min(any[0]), same[1].min(any[1])]
        } else {
            same
        }
    };
    let [by_time, by_cost] = counts(&question.goal);
    let count = points.len();
    let hopeful = points.into_iter().filter(|(c, p)| {
        let best = best(c);
        (by_time && p.time_s <= HOPELESS * best[0]) || (by_cost && p.cost_usd <= HOPELESS * best[1])
    });
    let before = all.len();
    all.extend(hopeful.map(|(c, _)| c));
    let hopeless = count - (all.len() - before);
    Ok((all, [hopeless, above_cap]))
}

struct Basics {
    workload: Workload,
    report: Report,
    files: Vec<(&'static str, String)>,
    hopeless: usize,
    offers: OfferList,
    machines: Machines,
    repeats: Repeats,
}

impl Basics {
    fn is_other_gpu(&self, c: &Configuration) -> bool {
        let machine = self.machines.machine_of_shape(&c.vm);
        machine.is_some_and(|machine| machine.basis == Basis::OtherGpu)
    }

    /// Whether it has more unmeasured machines than were measured of their counterpart.
    fn is_cluster_unseen(&self, c: &Configuration) -> bool {
        let vms = |c: &Configuration| Shape::parse(&c.vm).ok().and_then(|s| s.vms(c.workers));
        let Some(machine) = self.machines.machine_of_shape(&c.vm) else {
            return false;
        };
        let points = self.workload.steps.points().map(|(c, _)| c);
        let of_like = points.filter(|own| vm_type(&own.vm) == machine.like);
        vms(c) > of_like.filter_map(vms).max()
    }

    fn measured_counterpart(&self, c: &Configuration) -> Option<MeasuredCounterpart> {
        self.machines
            .machine_of_shape(&c.vm)
            .map(|machine| MeasuredCounterpart {
                like: machine.like.clone(),
                basis: machine.basis,
                processor: machine.processor.clone(),
                compute_over_like: machine.compute_over_like(),
            })
    }
}

/// The relative excess over the best; 0 if both are 0, as for the cost of reserved machines.
fn over(value: f64, best: f64) -> f64 {
    if value == best {
        0.0
    } else {
        value / best - 1.0
    }
}

fn choice(
    basis: &Basics,
    decision: &Decision<'_>,
    simulated: &SimulatedChoice,
    at: usize,
    best: usize,
    is_on_front: bool,
) -> Choice {
    let mean = decision.mean(at);
    let [time, cost] = decision.intervals(at);
    let configuration = simulated.prospect.configuration.clone();
    Choice {
        stands: basis.measured_counterpart(&configuration),
        configuration,
        vms: simulated.vms,
        offer: simulated.offer.clone(),
        time_h: [mean.time_s, time[0], time[1]].map(|s| s / 3600.0),
        cost_usd: [mean.cost_usd, cost[0], cost[1]],
        miss: decision.miss(at),
        provenance: simulated.provenance,
        over_best: over(decision.value(&mean), decision.value(&decision.mean(best))),
        chance: if at == best {
            1.0
        } else {
            decision.chance_better(at, best)
        },
        is_on_front,
    }
}

fn decide(question: &Question, basis: Basics, simulated: Vec<SimulatedChoice>) -> Advice {
    let workload = &basis.workload;
    let stated = workload.stated_epochs();
    let uncertainty = Uncertainty::for_workload(workload, &basis.repeats, stated.is_some());
    let prospects: Vec<Prospect> = simulated.iter().map(|s| s.prospect.clone()).collect();
    let configurations: Vec<Configuration> =
        prospects.iter().map(|p| p.configuration.clone()).collect();
    let shares: Vec<f64> = simulated.iter().map(|s| s.share).collect();
    let covariances = uncertainty.with_machines(&configurations, &shares, &basis.machines);
    let decision = Decision::new(&prospects, covariances, question.goal);
    let no_gain = no_gain(workload);
    let ranked = surest_first(
        &decision,
        &configurations,
        &no_gain,
        uncertainty.only_batch(),
        |c| basis.is_other_gpu(c) || basis.is_cluster_unseen(c),
    );
    let points: Vec<_> = (0..prospects.len()).map(|at| decision.mean(at)).collect();
    let allowed: Vec<bool> = (0..prospects.len())
        .map(|at| decision.is_allowed(at))
        .collect();
    let beyond_limits = allowed.iter().filter(|is_allowed| !**is_allowed).count();
    let front = ranking::front(&points, &allowed);
    let choice =
        |at: usize, best: usize| choice(&basis, &decision, &simulated[at], at, best, front[at]);
    let choices: Vec<Choice> = ranked.iter().map(|at| choice(*at, ranked[0])).collect();
    let nearest = (0..prospects.len())
        .filter(|_| ranked.is_empty())
        .min_by(|a, b| {
            let time_s = |at: &usize| points[*at].time_s;
            let by_miss = decision.miss(*a).total_cmp(&decision.miss(*b));
            by_miss.then(time_s(a).total_cmp(&time_s(b)))
        })
        .map(|at| choice(at, at));
    let told: Vec<PredictionSource> = (simulated.iter().enumerate())
        .map(|(at, s)| PredictionSource {
            provenance: s.provenance,
            machine: basis
                .machines
                .machine_of_shape(&s.prospect.configuration.vm),
            sd: decision.covariances().sd(at),
        })
        .collect();
    Advice {
        name: question.import.name.clone(),
        known: known(
            workload,
            basis.repeats.clone(),
            stated,
            &told,
            &configurations,
            no_gain,
        ),
        goal: question.goal,
        setup_min: question.setup_min,
        usd_per_hour: decision.usd_per_hour(),
        beyond_limits,
        measurements: measurements(question, &basis, &decision, &simulated),
        catalogue: CatalogueSurvey {
            is_wanted: !question.wanted.only_measured,
            machines: basis.machines.all.len(),
            dearer: basis.machines.dearer,
            without_price: basis.machines.without_price,
            hopeless: basis.hopeless,
        },
        choices,
        nearest,
        times: question.times,
        report: basis.report,
        files: basis.files,
        offers: basis.offers,
        by_shipped_prices: None,
    }
}

fn measurements(
    question: &Question,
    basis: &Basics,
    decision: &Decision<'_>,
    simulated: &[SimulatedChoice],
) -> Vec<NextMeasurement> {
    let Basics {
        workload, repeats, ..
    } = basis;
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
    (decision.measurements(&effort).into_iter())
        // If the epochs are given, runs to measure them are not proposed.
        .filter(|worth| worth.value > 0.0)
        .map(|worth| {
            let at = match worth.measurement {
                Measurement::Step(at) | Measurement::Epochs(at) => at,
            };
            let c = &simulated[at].prospect.configuration;
            NextMeasurement {
                was_measured: match worth.measurement {
                    Measurement::Step(_) => measured.contains(&(&*c.vm, c.workers, c.batch)),
                    Measurement::Epochs(_) => batches.contains(&c.batch),
                },
                worth,
                configuration: c.clone(),
                vms: simulated[at].vms,
                offer: simulated[at].offer.clone(),
                basis: basis
                    .machines
                    .machine_of_shape(&c.vm)
                    .map(|machine| machine.basis),
            }
        })
        .collect()
}

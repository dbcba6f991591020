//! Simulates the configurations of a profile in each market with a price.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::decision::Prospect;
use super::machines::Machines;
use super::offers::{Offer, OfferList};
use super::question::{NoAdvice, Question};
use super::repeats::Repeats;
use scavsim_base::stats::normal;
use scavsim_data::cloud::Market;
use scavsim_data::configuration::{Configuration, vm_type};
use scavsim_data::workload::{Provenance, Workload};
use scavsim_engine::Interrupt;
use scavsim_experiment::ranking::{self, Ranked};
use scavsim_import::profile;
use scavsim_read::input::{Diagnostics, Folder, Source};
use scavsim_scenario::{ClusterScenario as _, Extensions, Overrides, Scenario};

pub(super) struct SimulatedChoice {
    pub(super) prospect: Prospect,
    pub(super) offer: Offer,
    pub(super) vms: u32,
    pub(super) provenance: Provenance,
    /// Share of communication in its step.
    pub(super) share: f64,
}

pub(super) fn simulate(
    question: &Question,
    workload: &Workload,
    folder: &Folder,
    all: &[Configuration],
    (offers, machines): (&OfferList, &Machines),
    repeats: &Repeats,
    (jobs, interrupt): (usize, &Interrupt),
) -> Result<Vec<SimulatedChoice>, NoAdvice> {
    let reach = machines.reach();
    let mut simulated = Vec::new();
    for lot in lots(&offers.all) {
        let of_lot = |c: &Configuration| lot.iter().find(|o| o.vm == vm_type(&c.vm));
        let own: Vec<Configuration> = (all.iter())
            .filter(|c| of_lot(c).is_some())
            .cloned()
            .collect();
        if own.is_empty() {
            continue;
        }
        let mut scenario = scenario(question, workload, folder, &lot, machines, repeats)
            .map_err(NoAdvice::Wrong)?;
        if let Some(clusters) = scenario.clusters_mut() {
            clusters.workloads = vec![(workload.clone(), own)];
            clusters.reach = reach.clone();
        }
        let effort = ranking::RankingOptions {
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
                let Ok(replay) = workload.replay(&configuration, &reach) else {
                    continue;
                };
                let vms: u32 = row.held.iter().map(|held| held.vms).sum();
                let usd_per_hour = offer.cluster_usd_per_hour(vms);
                if !question.wanted.caps.allow(usd_per_hour) {
                    continue;
                }
                let mut expected = row.expected;
                expected.cost_usd *= offer.paid_share(vms);
                let prospect = Prospect {
                    configuration,
                    expected,
                    run_sd: [run_sd(row.time_s), run_sd(row.cost_usd)],
                    usd_per_hour,
                    step_s: replay.step.total_s(),
                };
                // A configuration that never ends cannot be chosen.
                if row.expected.time_s.is_finite() && row.expected.cost_usd.is_finite() {
                    simulated.push(SimulatedChoice {
                        prospect,
                        offer: (*offer).clone(),
                        vms,
                        provenance: replay.provenance,
                        share: replay.step.communication_s / replay.step.total_s(),
                    });
                }
            }
        }
    }
    Ok(simulated)
}

/// Offers that fit into one scenario: of one market, with equal lifetimes.
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
    if low > 0.0 && high.is_finite() {
        libm::log(high / low) / (2.0 * normal::AT_95)
    } else {
        // One in 20 never ends, so the deviation is large.
        1.0
    }
}

/// The scenario of one lot, without its configurations.
fn scenario(
    question: &Question,
    workload: &Workload,
    folder: &Folder,
    lot: &[&Offer],
    machines: &Machines,
    repeats: &Repeats,
) -> Result<Scenario, Diagnostics> {
    let stand_ins: String = (lot.iter())
        .filter_map(|offer| machines.machine_of_shape(&offer.vm))
        .map(|machine| format!("[vm.\"{}\"]\nlike = \"{}\"\n", machine.vm, machine.like))
        .collect();
    // A scenario prices everything that was measured; types without an offer in this lot are not run.
    let measured: BTreeSet<&str> = workload.steps.shapes().map(|s| vm_type(s)).collect();
    let has_offer = |vm: &str| lot.iter().any(|offer| offer.vm == vm);
    let others = measured
        .into_iter()
        .filter(|vm| !has_offer(vm))
        .map(|vm| (vm, 1.0));
    let prices: Vec<String> = (lot.iter().map(|offer| (&*offer.vm, offer.usd_per_hour)))
        .chain(others)
        .map(|(vm, usd)| format!("\"{vm}\" = {usd:?}"))
        .collect();
    let spot =
        (lot.iter().find_map(|offer| offer.spot_lines())).map_or_else(String::new, |lines| {
            let write_s = question.import.restore_s.unwrap_or(profile::RESTORE_S);
            format!("{lines}checkpoint_write_s = {write_s:?}\n")
        });
    let text = format!(
        "name = \"advice\"\nworkloads = [\"profile\"]\n{stand_ins}\
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
    let given = Extensions {
        workloads: vec![("profile".to_owned(), folder.clone())],
        ..Extensions::default()
    };
    let source = Source::new("the scenario of the advice", text);
    let (here, overrides) = (Path::new("."), Overrides::default());
    match scavsim_scenario::load_with(&source, here, overrides, &given, &mut diagnostics) {
        Some(scenario) if diagnostics.is_empty() => Ok(scenario),
        _ => Err(diagnostics),
    }
}

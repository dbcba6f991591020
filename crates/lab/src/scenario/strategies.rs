//! Names of strategies and objectives → those that can be used.

use std::collections::HashSet;
use std::sync::Arc;

use toml::Spanned;

use super::by_vm;
use super::complaints::Complaints;
use super::file::{ScenarioFile, SearchTable, Together};
use super::grids::MeasuredJobs;
use scavsim_data::configuration::Configuration;
use scavsim_data::space::Space;
use scavsim_data::workload::{Reach, Workload};
use scavsim_read::input::Diagnostic;
use scavsim_search::search::registry::WHEN_NONE_IS_NAMED;
use scavsim_search::search::{
    ALL_KNOWING, Figures, Objective, Past, Registry, Settings, Task, registry,
};
use scavsim_search::testbed::{History, MeasuredGrid};
use scavsim_sim::bag::Choices;
use scavsim_sim::cluster::Setup;
use scavsim_sim::plans;

/// The strategies asked for.
pub(super) fn read(
    table: &SearchTable,
    settings: &Settings,
    known: &Registry,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Spanned<String>>> {
    let legal: Vec<&str> = (ALL_KNOWING.iter().map(|(name, _)| *name))
        .chain(known.names())
        .chain(settings.own.keys().map(String::as_str))
        .collect();
    let Some(asked) = &table.strategies else {
        let usual = WHEN_NONE_IS_NAMED.iter();
        return Some(usual.map(|n| Spanned::new(0..0, (*n).to_owned())).collect());
    };
    complaints.not_empty("strategies", asked, &legal);
    let now = |name: &Spanned<String>| {
        let old = name.get_ref();
        let new = known.renamed(old).map_or(old.clone(), str::to_owned);
        Spanned::new(name.span(), new)
    };
    let asked: Vec<Spanned<String>> = asked.get_ref().iter().map(now).collect();
    complaints.no_duplicates("strategies", &asked);
    let mut sound = true;
    for name in &asked {
        let base = registry::base(name.get_ref());
        if !legal.contains(&base) {
            sound = false;
            let title = format!("unknown strategy `{}`", name.get_ref());
            complaints.unknown(title, name, &legal, "list strategies");
        } else if base != name.get_ref()
            && known.recipe(name.get_ref(), &Settings::default()).is_none()
        {
            sound = false;
            let title = match known.recipe(&format!("{base}@1"), &Settings::default()) {
                Some(_) => format!(
                    "`{}`: expected a whole number from 1 behind the `@`",
                    name.get_ref()
                ),
                None => format!("the strategy `{base}` has no budget"),
            };
            complaints.push(complaints.at(name.span(), title, ""));
        }
    }
    sound.then_some(asked)
}

/// Sentences on names that strategies had before.
pub(super) fn renamed(table: &SearchTable, registry: &Registry) -> Vec<String> {
    let asked = table.strategies.iter().flat_map(|asked| asked.get_ref());
    let sentence = |name: &Spanned<String>| {
        let new = registry.renamed(name.get_ref())?;
        Some(format!(
            "the strategy `{}` is called `{new}` now, in records, too",
            name.get_ref()
        ))
    };
    asked.filter_map(sentence).collect()
}

/// The objectives asked for.
pub(super) fn objectives(table: &SearchTable, complaints: &mut Complaints<'_>) -> Vec<Objective> {
    let Some(asked) = &table.objectives else {
        return vec![Objective::Time, Objective::Cost, Objective::Knee];
    };
    complaints.not_empty("objectives", asked, &["time", "cost", "knee"]);
    complaints.no_duplicates("objectives", asked.get_ref());
    asked.get_ref().iter().map(|o| *o.get_ref()).collect()
}

/// What is simulated, and what is known of it.
pub(super) struct Simulated<'a> {
    /// Workloads with their configurations.
    pub(super) workloads: &'a [(Workload, Vec<Configuration>)],
    /// Workloads whose earlier runs are known.
    pub(super) stored: &'a [Workload],
    /// How far beyond measurements they may be asked.
    pub(super) reach: &'a Reach,
    /// How clusters live.
    pub(super) setup: &'a Setup,
}

/// The strategies to run. Every one that was asked for can be built for every workload; where
/// none was asked for, those that can.
pub(super) fn usable(
    file: &ScenarioFile,
    registry: &Registry,
    simulated: Simulated<'_>,
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    let Simulated {
        workloads,
        stored,
        reach,
        setup,
    } = simulated;
    let searches = (workloads.iter()).flat_map(|(w, all)| {
        let searches = searches(file.cluster.search, reach, all);
        searches.into_iter().map(move |c| (w, c))
    });
    for (workload, configurations) in searches {
        let reach = &setup.reach(reach, configurations);
        let stored: Vec<History> = stored.iter().map(|w| History::of(w, reach)).collect();
        let own = History::of(workload, reach);
        let space = Space::of_clusters(configurations);
        let task = Figures::of(workload).task(&workload.name, &space);
        buildable(
            file,
            registry,
            &task,
            (&own, &stored),
            &mut strategies,
            complaints,
        );
    }
    strategies.into_iter().map(Spanned::into_inner).collect()
}

/// The same on the jobs of a measured grid.
pub(super) fn usable_on(
    file: &ScenarioFile,
    registry: &Registry,
    measured: &MeasuredJobs,
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    let stored: Vec<History> = (measured.jobs.iter())
        .map(|job| MeasuredGrid::history(job))
        .collect();
    for (job, own) in measured.jobs.iter().zip(&stored) {
        let task = Figures::of_job(job).task(&job.name, &job.space);
        let past = (own, &stored[..]);
        buildable(file, registry, &task, past, &mut strategies, complaints);
    }
    strategies.into_iter().map(Spanned::into_inner).collect()
}

/// The same on a bag of jobs.
pub(super) fn usable_on_bag(
    file: &ScenarioFile,
    registry: &Registry,
    choices: &Choices,
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    let own = History::default();
    let task = Figures::of_bag().task(&choices.name, &choices.space);
    buildable(
        file,
        registry,
        &task,
        (&own, &[]),
        &mut strategies,
        complaints,
    );
    strategies.into_iter().map(Spanned::into_inner).collect()
}

/// The same on parallel plans.
pub(super) fn usable_on_plans(
    file: &ScenarioFile,
    registry: &Registry,
    plans: &plans::Choices,
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    let own = History::default();
    let mut task = Figures::of_plans(plans).task(&plans.name, &plans.space);
    task.plans = Some(plans);
    buildable(
        file,
        registry,
        &task,
        (&own, &[]),
        &mut strategies,
        complaints,
    );
    strategies.into_iter().map(Spanned::into_inner).collect()
}

/// Keeps those strategies that can be built for a task; complains where one was asked for that cannot.
fn buildable(
    file: &ScenarioFile,
    registry: &Registry,
    task: &Task<'_>,
    (own, stored): (&History, &[History]),
    strategies: &mut Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) {
    // The break-even of every strategy is counted against the default configuration.
    if let Err(why) = file.strategy.fixed.index(task) {
        let title = format!("`strategy.default` cannot be used: {why}");
        complaints.push(complaints.of_file(title));
        return;
    }
    let mut unusable: Vec<Diagnostic> = Vec::new();
    strategies.retain(|strategy| {
        let name = strategy.get_ref();
        let built = registry.recipe(name, &file.strategy);
        let built = built.map(|recipe| recipe.build(task, &mut Past::new(own, stored)));
        let Some(Err(why)) = built else {
            return true;
        };
        let title = format!("strategy `{name}` cannot be used: {why}");
        unusable.push(complaints.at(strategy.span(), title, ""));
        file.search.strategies.is_some()
    });
    if file.search.strategies.is_some() {
        complaints.diagnostics.extend(unusable);
    }
}

/// The configurations that are searched together. Of VM types that stand in for the same one with the
/// same configurations the first speaks for all: what a strategy needs to know is the same.
fn searches<'c>(
    together: Together,
    reach: &Reach,
    all: &'c [Configuration],
) -> Vec<&'c [Configuration]> {
    if together == Together::All {
        return vec![all];
    }
    let mut seen = HashSet::new();
    let kind = |search: &[Configuration]| -> Vec<(Arc<str>, Vec<[u32; 2]>)> {
        let shapes = search.chunk_by(|a, b| a.vm == b.vm);
        let pairs = |same: &[Configuration]| same.iter().map(|c| [c.workers, c.batch]).collect();
        shapes
            .map(|same| (Arc::clone(&reach.measured(&same[0]).0.vm), pairs(same)))
            .collect()
    };
    let runs = by_vm(all).into_iter().map(|range| &all[range]);
    runs.filter(|search| seen.insert(kind(search))).collect()
}

//! Names of strategies and objectives → those that can be used.

use std::collections::HashSet;
use std::sync::Arc;

use toml::Spanned;

use super::by_vm;
use super::complaints::Complaints;
use super::file::{ScenarioFile, SearchTable, Together};
use crate::configuration::Configuration;
use crate::input::Diagnostic;
use crate::search::{Knowledge, ORACLE, Objective, Settings};
use crate::testbed::History;
use crate::workload::{Reach, Workload};

/// The strategies asked for.
pub(super) fn read(
    table: &SearchTable,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Spanned<String>>> {
    let legal: Vec<&str> = std::iter::once(ORACLE)
        .chain(Settings::NAMES.iter().copied())
        .collect();
    let Some(asked) = &table.strategies else {
        let all = legal.iter().map(|n| Spanned::new(0..0, (*n).to_owned()));
        return Some(all.collect());
    };
    complaints.not_empty("strategies", asked, &legal);
    complaints.no_duplicates("strategies", asked.get_ref());
    let mut sound = true;
    for name in asked.get_ref() {
        if !legal.contains(&name.get_ref().as_str()) {
            sound = false;
            let title = format!("unknown strategy `{}`", name.get_ref());
            complaints.unknown(title, name, &legal, "list strategies");
        }
    }
    sound.then(|| asked.get_ref().clone())
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

/// The strategies to run. Every one that was asked for can be built for every workload; where
/// none was asked for, those that can.
pub(super) fn usable(
    file: &ScenarioFile,
    workloads: &[(Workload, Vec<Configuration>)],
    stored: &[Workload],
    reach: &Reach,
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    let searches = (workloads.iter()).flat_map(|(w, all)| {
        let searches = searches(file.cluster.search, reach, all);
        searches.into_iter().map(move |c| (w, c))
    });
    for (workload, configurations) in searches {
        let reach = &reach.only(configurations);
        let stored: Vec<History> = stored.iter().map(|w| History::of(w, reach)).collect();
        let own = History::of(workload, reach);
        let knowledge = Knowledge::of(workload, configurations, &own, &stored);
        // The break-even of every strategy is counted against the default configuration.
        if let Err(why) = file.strategy.fixed.index(&knowledge) {
            let title = format!("`strategy.default` cannot be used: {why}");
            complaints.push(complaints.of_file(title));
            continue;
        }
        let mut unusable: Vec<Diagnostic> = Vec::new();
        strategies.retain(|strategy| {
            let name = strategy.get_ref();
            let Some(Err(why)) = file.strategy.build(name, &knowledge) else {
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
    strategies.into_iter().map(Spanned::into_inner).collect()
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
    let kind = |search: &[Configuration]| -> Vec<(Arc<str>, u32, u32)> {
        let measured = search.iter().map(|c| reach.measured(c).0);
        measured
            .map(|c| (Arc::clone(&c.vm), c.workers, c.batch))
            .collect()
    };
    let runs = by_vm(all).into_iter().map(|range| &all[range]);
    runs.filter(|search| seen.insert(kind(search))).collect()
}

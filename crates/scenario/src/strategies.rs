//! Resolves names of strategies and objectives to usable ones.

use super::complaints::Complaints;
use super::file::{ScenarioFile, SearchTable};
use super::subject::ReadSubject;
use scavsim_experiment::subject::SearchKnowledge;
use scavsim_read::input::{Diagnostic, Spanned};
use scavsim_search::search::registry::WHEN_NONE_IS_NAMED;
use scavsim_search::search::{
    ALL_KNOWING, CLAIRVOYANT, Objective, Past, Registry, Settings, registry,
};
use scavsim_sim::cluster::Setup;

const MOST_REALISED: usize = 50_000;

pub(super) fn read(
    table: &SearchTable,
    settings: &Settings,
    known: &Registry,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Spanned<String>>> {
    let legal: Vec<&str> = (ALL_KNOWING.iter().map(|known| known.name))
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
            complaints.push(complaints.mistake_at(name.span(), title, ""));
        }
    }
    sound.then_some(asked)
}

/// Sentences about former names of strategies.
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

pub(super) fn objectives(table: &SearchTable, complaints: &mut Complaints<'_>) -> Vec<Objective> {
    let Some(asked) = &table.objectives else {
        return vec![Objective::Time, Objective::Cost, Objective::Knee];
    };
    complaints.not_empty("objectives", asked, &["time", "cost", "knee"]);
    complaints.no_duplicates("objectives", asked.get_ref());
    asked.get_ref().iter().map(|o| *o.get_ref()).collect()
}

/// Strategies that can be built for all searches; reports a requested one that cannot.
pub(super) fn usable(
    file: &ScenarioFile,
    registry: &Registry,
    (subject, setup): (&dyn ReadSubject, &Setup),
    mut strategies: Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    for search in subject.representatives() {
        let known = subject.known(&search, setup);
        buildable(file, registry, &known, &mut strategies, complaints);
    }
    strategies.into_iter().map(Spanned::into_inner).collect()
}

/// Keeps strategies that can be built for a task; reports a requested one that cannot.
fn buildable(
    file: &ScenarioFile,
    registry: &Registry,
    known: &SearchKnowledge<'_>,
    strategies: &mut Vec<Spanned<String>>,
    complaints: &mut Complaints<'_>,
) {
    let task = &known.task();
    // The break-even of every strategy is relative to the default configuration.
    if let Err(why) = file.strategy.fixed.index(task) {
        let title = format!("`strategy.default` cannot be used: {why}");
        complaints.push(complaints.of_file(title));
        return;
    }
    let mut unusable: Vec<Diagnostic> = Vec::new();
    strategies.retain(|strategy| {
        let name = strategy.get_ref();
        let built = registry.recipe(name, &file.strategy);
        let built =
            built.map(|recipe| recipe.build(task, &mut Past::new(&known.own, &known.stored)));
        let count = task.space.len();
        let why = match built {
            Some(Err(why)) => why.to_string(),
            None if name == CLAIRVOYANT && count > MOST_REALISED => format!(
                "{count} configurations, and it runs each of {MOST_REALISED} at most in every replica"
            ),
            Some(Ok(_)) | None => return true,
        };
        let title = format!("strategy `{name}` cannot be used: {why}");
        unusable.push(complaints.mistake_at(strategy.span(), title, ""));
        file.search.strategies.is_some()
    });
    if file.search.strategies.is_some() {
        complaints.diagnostics.extend(unusable);
    }
}

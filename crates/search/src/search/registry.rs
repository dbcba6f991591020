//! All strategies by name. A new strategy is one file with its settings, and one line here.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::Recipe;
use super::external::ExternalSettings;
use super::{
    bo_step_time, by_price, cherrypick, ei_per_cost, ernest, latin_hypercube, lynceus,
    random_forest,
};
use super::{fixed, full, no_search, one_run, online, partial, planner};
use super::{random, same_job, srifty_like};
use scavsim_base::Declaration;
use scavsim_read::input::checked::Count;
use scavsim_read::settings_by_name;

/// Name of the contender that knows what is expected of every configuration.
pub const ORACLE: &str = "oracle";
/// Name of the contender that knows how every configuration turns out in a replica.
pub const CLAIRVOYANT: &str = "clairvoyant";

/// Contenders that know the truth. They are no strategies: they have nothing to search.
pub const ALL_KNOWING: &[Declaration] = &[
    Declaration {
        name: ORACLE,
        what: "the best by expectation over all that nobody can know beforehand; a search can beat it in a replica",
        formula: "probes: none; knows what is expected",
        source: "this project",
        example: "search.strategies = [\"oracle\"]",
    },
    Declaration {
        name: CLAIRVOYANT,
        what: "the best as each replica turns out, which nobody can know: a bound; one run per configuration and replica",
        formula: "probes: none; knows how each replica turns out",
        source: "this project",
        example: "search.strategies = [\"clairvoyant\"]",
    },
];

/// The strategy that runs the configuration of `[strategy.default]`.
pub const DEFAULT: &str = "default";

/// The contenders of a scenario that names none, as far as they can be used. It stays as it is when
/// strategies are added, so that no old result changes; it goes with those that are renamed.
pub const WHEN_NONE_IS_NAMED: &[&str] = &[
    ORACLE,
    "full",
    "partial",
    "same-job",
    "no-search",
    "no-search-leave-out",
    "random",
    DEFAULT,
];

/// What the strategies that come with scavsim say of themselves, in the order of listings.
pub const STRATEGIES: &[Declaration] = Settings::DECLARED;

fn refused(name: &str) -> Option<&'static str> {
    if ALL_KNOWING.iter().any(|known| known.name == name) {
        return Some("knows the truth, and has no settings");
    }
    (name.contains(AT)).then_some("an `@` is followed by a budget")
}

settings_by_name! {
    /// Settings of all strategies; a table per strategy in a scenario, all optional.
    #[derive(Debug, Clone, Default, Serialize, JsonSchema)]
    pub struct Settings of a "strategy" {
        own: ExternalSettings,
    }

    /// The strategy called `name` with its settings; `None` if it is none of these.
    fn recipe -> dyn Recipe;

    refuses refused;

    full = "full": full::FullSettings,
    partial = "partial": partial::PartialSettings,
    one_run = "one-run": one_run::OneRunSettings,
    online = "online": online::OnlineSettings,
    same_job = "same-job": same_job::SameJobSettings,
    no_search = "no-search" once "universal": no_search::NoSearchSettings,
    no_search_leave_out = "no-search-leave-out" once "universal-leave-out": no_search::LeaveOutSettings,
    random = "random": random::RandomSettings,
    fixed = "default": fixed::DefaultSettings,
    coordinate_descent = "coordinate-descent": super::coordinate_descent::CoordinateDescentSettings,
    cheapest = "cheapest": by_price::CheapestSettings,
    dearest = "dearest": by_price::DearestSettings,
    latin_hypercube = "latin-hypercube": latin_hypercube::LatinHypercubeSettings,
    cherrypick = "cherrypick": cherrypick::CherryPickSettings,
    ei_per_cost = "ei-per-cost": ei_per_cost::EiPerCostSettings,
    lynceus = "lynceus": lynceus::LynceusSettings,
    random_forest = "random-forest": random_forest::RandomForestSettings,
    ernest = "ernest": ernest::ErnestSettings,
    bo_step_time = "bo-step-time": bo_step_time::BoStepTimeSettings,
    value_of_information = "value-of-information": super::value_of_information::ValueOfInformationSettings,
    value_of_information_history = "value-of-information-history" once "rule-selector": super::value_of_information_history::ValueOfInformationHistorySettings,
    average_best = "average-best": super::average_best::AverageBestSettings,
    collaborative_filtering = "collaborative-filtering": super::collaborative_filtering::CollaborativeFilteringSettings,
    rgpe = "rgpe": super::rgpe::RgpeSettings,
    planner = "planner": planner::PlannerSettings,
    successive_halving = "successive-halving": super::successive_halving::SuccessiveHalvingSettings,
    trimtuner_like = "trimtuner-like": super::trimtuner_like::TrimtunerLikeSettings,
    srifty_like = "srifty-like": srifty_like::SriftyLikeSettings,
}

/// What stands between the name of a strategy and its budget.
const AT: char = '@';

/// The name of a strategy without its budget: `random` of `random@6`.
pub fn base(name: &str) -> &str {
    name.split_once(AT).map_or(name, |(base, _)| base)
}

impl Settings {
    /// The strategy called `name` with another budget, which some call their probes; `None` if it has none.
    fn recipe_within(&self, name: &str, budget: u32) -> Option<Arc<dyn Recipe>> {
        let mut own = serde_json::to_value(self).ok()?.get_mut(name)?.take();
        let keys = own.as_object_mut()?;
        let is_named_probes = keys.contains_key("probes");
        let key = if is_named_probes { "probes" } else { "budget" };
        keys.insert(key.to_owned(), budget.into());
        let settings: Settings = serde_json::from_value(json!({ name: own })).ok()?;
        settings.recipe(name)
    }
}

/// Strategies by name: those that come with scavsim, and whatever is added to them.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Registry;
///
/// let registry = Registry::default();
/// assert!(registry.names().any(|name| name == "random"));
/// ```
///
/// [`Recipe`] shows how to add one.
#[derive(Clone, Default)]
pub struct Registry {
    added: Vec<(Arc<str>, Arc<dyn Recipe>)>,
}

impl Registry {
    /// The registry with one more strategy, which scenarios name as `name`. A name that is taken already stands for the
    /// new one from then on.
    #[must_use]
    pub fn with(mut self, name: &str, recipe: impl Recipe + 'static) -> Registry {
        self.added.retain(|(known, _)| **known != *name);
        self.added.push((name.into(), Arc::new(recipe)));
        self
    }

    /// All names but those of contenders that know the truth.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let added = self.added.iter().map(|(name, _)| &**name);
        let built_in = STRATEGIES.iter().map(|declared| declared.name);
        built_in
            .filter(|name| !self.added.iter().any(|(own, _)| **own == **name))
            .chain(added)
    }

    /// What a strategy is called now that was called `name` before; `None` for a name that was never changed.
    pub fn renamed(&self, name: &str) -> Option<&'static str> {
        let added = self.added.iter().any(|(known, _)| **known == *name);
        let renamed = Settings::RENAMED
            .iter()
            .find(|(old, _)| *old == name && !added);
        renamed.map(|(_, new)| *new)
    }

    /// The strategy called `name`, with its settings where it comes with scavsim, and with a budget where one stands behind
    /// its name, as in `random@6`; `None` if there is none, or it has no budget.
    pub fn recipe(&self, name: &str, settings: &Settings) -> Option<Arc<dyn Recipe>> {
        let added = self.added.iter().find(|(known, _)| **known == *name);
        if let Some((_, recipe)) = added {
            return Some(Arc::clone(recipe));
        }
        match name.split_once(AT) {
            Some((base, budget)) => {
                let budget: Count = Count::new(budget.parse().ok()?)?;
                settings.recipe_within(base, budget.get())
            }
            None => settings.recipe(name),
        }
    }

    /// Names and one-line summaries.
    pub fn summaries(&self) -> Vec<(String, String)> {
        let summary = |name: &str| {
            let added = self.added.iter().find(|(known, _)| **known == *name);
            let declared = STRATEGIES.iter().find(|declared| declared.name == name);
            let declared = declared.map_or("", |declared| declared.what);
            added
                .map_or(declared, |(_, recipe)| recipe.summary())
                .to_owned()
        };
        self.names()
            .map(|name| (name.to_owned(), summary(name)))
            .collect()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

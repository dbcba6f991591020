//! Kinds of declared things, for `scavsim explain`, completions, tables of documents and tests.

use scavsim_base::Declaration;
use scavsim_data::cloud::lifetimes;
use scavsim_data::pricing::{base, charges, reductions};
use scavsim_data::workload::law;
use scavsim_parallel::Schedule;
use scavsim_plans::{Forecast, Reaction};
use scavsim_search::search::{ALL_KNOWING, STRATEGIES};
use scavsim_sim::training::sync::PROTOCOLS;

#[derive(Debug)]
pub struct DeclaredKind {
    pub name: &'static str,
    pub one: &'static str,
    pub how: &'static str,
    /// Whether keys of scenarios end with these words in another sense.
    pub shares_words_with_keys: bool,
    pub all: fn() -> Vec<&'static Declaration>,
}

const fn kind(
    name: &'static str,
    one: &'static str,
    all: fn() -> Vec<&'static Declaration>,
) -> DeclaredKind {
    DeclaredKind {
        name,
        one,
        how: "Formula",
        shares_words_with_keys: false,
        all,
    }
}

pub const KINDS: &[DeclaredKind] = &[
    DeclaredKind {
        how: "How",
        ..kind("strategies", "a strategy", || {
            ALL_KNOWING.iter().chain(STRATEGIES).collect()
        })
    },
    kind("protocols", "a synchronisation protocol", || {
        PROTOCOLS.iter().collect()
    }),
    kind("charges", "a charge of pricing policies", || {
        charges::CHARGES
            .iter()
            .map(|charge| &charge.declaration)
            .collect()
    }),
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind("prices", "a base price of pricing policies", || {
            base::RULES.iter().map(|rule| &rule.declaration).collect()
        })
    },
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind("reductions", "a reduction of pricing policies", || {
            let all = reductions::RULES.iter();
            all.map(|rule| &rule.declaration).collect()
        })
    },
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind("lives", "a law of how VMs are lost", || {
            lifetimes::laws().collect()
        })
    },
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind("laws", "a law of workloads", || law::declared().collect())
    },
    kind("schedules", "a schedule of parallel plans", || {
        Schedule::DECLARED.iter().collect()
    }),
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind(
            "reactions",
            "a reaction of plans to losses and offers",
            || Reaction::DECLARED.iter().collect(),
        )
    },
    DeclaredKind {
        shares_words_with_keys: true,
        ..kind(
            "forecasts",
            "a forecast of how many GPUs there will be",
            || Forecast::DECLARED.iter().collect(),
        )
    },
];

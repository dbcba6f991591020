//! Warnings about prices and about knowledge of strategies, for stderr and below tables.

use std::collections::{BTreeMap, BTreeSet};

use super::file::ScenarioFile;
use super::prices::Rentals;
use scavsim_clusters::Clusters;
use scavsim_data::cloud::{Catalogue, Fleet, Market};
use scavsim_data::pricing::builtin::{LISTED, LISTED_SPOT};
use scavsim_data::pricing::{ListedPrice, Policy, RentedVmType};
use scavsim_data::workload::Workload;
use scavsim_experiment::scenario::{PricePack, ScenarioWarnings};
use scavsim_experiment::subject::Subject;
use scavsim_search::search::registry;

const MOST_NAMES: usize = 4;

pub(super) fn of_scenario(
    file: &ScenarioFile,
    policies: &[Policy],
    (subject, rentals): (&dyn Subject, &Rentals<'_>),
    strategies: &[String],
) -> ScenarioWarnings {
    let stored = subject
        .downcast::<Clusters>()
        .map_or(&[][..], |own| &own.stored);
    let of_nobody = unnamed(file, policies);
    let listed = listed_prices(policies, rentals);
    let is_told = of_nobody.is_some();
    let prices = (of_nobody.into_iter())
        .chain(old_prices(&listed))
        .chain(strange_prices(file, policies))
        .chain(of_free(policies, rentals))
        .chain(one_price(policies, rentals))
        .chain(stand_ins(policies, rentals));
    let stays = |vm: &RentedVmType<'_>| !vm.on_spot.unwrap_or(rentals.are_lost);
    let is_free_of_risk = |policy: &&Policy| {
        let mut all = rentals.all.iter();
        all.any(|vm| policy.is_spot_price(vm.on_spot) && stays(vm))
    };
    let is_told = is_told && (listed.iter()).all(|own| DESCRIBED.contains(&&*own.provider));
    let names = |of: &dyn Fn(&&Policy) -> bool| {
        let all = policies.iter().filter(of);
        all.map(|policy| policy.name.clone()).collect()
    };
    ScenarioWarnings {
        unasked: prices.collect(),
        averaged: averaged(strategies, stored),
        never_lost: names(&is_free_of_risk),
        only_ratios: names(&|policy| policy.only_ratios),
        price_days: (!is_told).then(|| price_days(&listed)).flatten(),
        price_pack: price_pack(&listed),
    }
}

/// Providers whose dates are in the descriptions of their policies.
const DESCRIBED: [&str; 3] = ["aws", "azure", "gcp"];

fn listed_prices(policies: &[Policy], rentals: &Rentals<'_>) -> BTreeSet<ListedPrice> {
    let of = |policy| {
        let one = move |vm: &RentedVmType<'_>| Policy::listed(policy, *vm, &rentals.fleet);
        rentals.all.iter().filter_map(one)
    };
    policies.iter().flat_map(of).collect()
}

/// Warns about old prices that are charged as current ones.
fn old_prices(listed: &BTreeSet<ListedPrice>) -> Option<String> {
    let of = |price: &ListedPrice| Some(format!("`{}` of {}", price.old_of.as_ref()?, price.day));
    let old: BTreeSet<String> = listed.iter().filter_map(of).collect();
    (!old.is_empty()).then(|| {
        let old = ScenarioWarnings::list(old.into_iter().collect());
        format!("old prices are charged, as no newer ones are known: {old}")
    })
}

fn price_days(listed: &BTreeSet<ListedPrice>) -> Option<String> {
    let all: Vec<&ListedPrice> = listed.iter().collect();
    let of_provider = |own: &[&ListedPrice]| {
        let regions: BTreeSet<&str> = own.iter().map(|price| &*price.region).collect();
        let regions = match regions.len() {
            0..=MOST_NAMES => regions.into_iter().collect::<Vec<_>>().join(", "),
            many => format!("{many} regions"),
        };
        let first = own.iter().map(|price| price.day).min()?;
        let last = own.iter().map(|price| price.day).max()?;
        let days = if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        Some(format!("{} {regions} of {days}", own[0].provider))
    };
    let each: Vec<String> = (all.chunk_by(|a, b| a.provider == b.provider))
        .filter_map(of_provider)
        .collect();
    let pack = price_pack(listed).map_or(String::new(), |pack| {
        format!("; with the price pack `{}`", pack.name)
    });
    (!each.is_empty()).then(|| format!("listed prices: {}{pack}", each.join("; ")))
}

fn price_pack(listed: &BTreeSet<ListedPrice>) -> Option<PricePack> {
    let pack = Catalogue::current().pack.as_ref()?;
    listed
        .iter()
        .any(|price| price.is_of_pack)
        .then(|| PricePack {
            name: pack.name.clone(),
            day: pack.day.to_string(),
            blake3: pack.hash.clone(),
        })
}

/// Warns that listed prices are charged by default.
fn unnamed(file: &ScenarioFile, policies: &[Policy]) -> Option<String> {
    let is_it = |policy: &&Policy| [LISTED, LISTED_SPOT].contains(&policy.name.as_str());
    let policy = policies.iter().find(is_it)?;
    (file.pricing.policies.is_none()).then(|| {
        format!(
            "no pricing policy is named, so `{}` is charged: {}",
            policy.name, policy.description
        )
    })
}

/// Warns about prices in a policy of the scenario that differ much from the last known ones.
fn strange_prices(file: &ScenarioFile, policies: &[Policy]) -> Vec<String> {
    let catalogue = Catalogue::current();
    let is_charged = |name: &str| policies.iter().any(|policy| policy.name == name);
    let defined = file.pricing.define.iter();
    let stated = defined.filter(|(name, _)| is_charged(name.get_ref()));
    let stated = stated.flat_map(|(name, policy)| {
        let prices = policy.usd_per_hour_of.iter().flatten();
        prices.map(move |(vm, usd)| (name.get_ref(), vm, usd.get()))
    });
    let doubted = stated.filter_map(|(name, vm, usd)| {
        let doubt = catalogue.doubt_price(vm, Market::OnDemand, usd)?;
        let what = format!("`{name}`: {vm} at ${usd} an hour is {}", doubt.sentence);
        Some(format!("{what}; {}", doubt.help))
    });
    doubted.collect()
}

/// Explains what decides if VMs are free, such as reserved ones.
fn of_free(policies: &[Policy], rentals: &Rentals<'_>) -> Option<String> {
    let is_free = |policy: &&Policy| {
        let tariff = policy.tariff(&rentals.all, &rentals.fleet);
        let usd = |at| tariff.as_ref().ok()?.usd_per_vm_hour(at);
        !rentals.all.is_empty() && (0..rentals.all.len()).all(|at| usd(at) == Some(0.0))
    };
    let free = policies.iter().filter(is_free);
    let names: Vec<String> = free.map(|policy| format!("`{}`", policy.name)).collect();
    (!names.is_empty()).then(|| {
        let names = ScenarioWarnings::list(names);
        format!("all VMs cost 0 under {names}: of equal costs the faster is the better")
    })
}

/// Warns that different VM types have one price.
fn one_price(policies: &[Policy], rentals: &Rentals<'_>) -> Option<String> {
    let mut types: Vec<&str> = rentals.all.iter().map(|rented| rented.vm).collect();
    types.sort_unstable();
    types.dedup();
    let names = policies.iter().filter(|policy| policy.is_one_price());
    let names: Vec<String> = names.map(|policy| format!("`{}`", policy.name)).collect();
    (types.len() > 1 && !names.is_empty()).then(|| {
        let charge = if names.len() == 1 {
            "charges"
        } else {
            "charge"
        };
        let count = types.len();
        let types = ScenarioWarnings::list(types.into_iter().map(str::to_owned).collect());
        format!(
            "{} {charge} one price for {count} VM types: {types}",
            ScenarioWarnings::list(names)
        )
    })
}

/// Warns that unlisted VM types have the price of the type that they resemble.
fn stand_ins(policies: &[Policy], rentals: &Rentals<'_>) -> Option<String> {
    let fleet = &rentals.fleet;
    let alone = fleet.without_likes();
    let is_lent = |vm: RentedVmType<'_>| {
        let has_price = |policy: &&Policy, fleet: &Fleet<'_>| policy.tariff(&[vm], fleet).is_ok();
        let mut all = policies.iter().filter(|policy| !policy.is_one_price());
        all.any(|policy| has_price(&policy, fleet) && !has_price(&policy, &alone))
    };
    // The types of one table are equal in this.
    let mut tables: BTreeMap<&str, (&str, usize, bool)> = BTreeMap::new();
    for vm in &rentals.all {
        if let Some(like) = fleet.like(vm.vm) {
            let table = fleet.table(vm.vm);
            let known = tables.entry(table);
            known.or_insert_with(|| (like, 0, is_lent(*vm))).1 += 1;
        }
    }
    let lent = tables.iter().filter(|(_, (.., is_lent))| *is_lent);
    let lent: Vec<String> = lent
        .map(|(table, (like, types, _))| match types {
            1 => format!("`{table}` as `{like}`"),
            types => format!("`{table}` ({types} VM types) as `{like}`"),
        })
        .collect();
    (!lent.is_empty()).then(|| {
        format!(
            "VM types that no list has are priced as what they are like: {}; `usd_per_hour` in their table of `[vm]` says otherwise",
            ScenarioWarnings::list(lent)
        )
    })
}

fn averaged(strategies: &[String], stored: &[Workload]) -> Option<String> {
    const ALL: &str = "no-search";
    const OTHERS: &str = "no-search-leave-out";
    let is_there = |name: &str| strategies.iter().any(|own| registry::base(own) == name);
    let names: Vec<String> = stored.iter().map(|w| w.name.clone()).collect();
    let names = names.join(", ");
    match (is_there(ALL), is_there(OTHERS)) {
        (false, false) => None,
        (true, _) if stored.len() == 1 => Some(format!(
            "`{ALL}` has no other job than {names} to average: for that it scales one run by its universal model"
        )),
        (true, false) => Some(format!("`{ALL}` averages the models of {names}")),
        (false, true) => Some(format!(
            "`{OTHERS}` averages the models of {names}, without that of the job itself"
        )),
        (true, true) => Some(format!(
            "`{ALL}` averages the models of {names}; `{OTHERS}` the same without that of the job itself"
        )),
    }
}

//! Resolves names of pricing policies to policies with a price for everything that may be rented.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::complaints::Complaints;
use super::file::{PricingTable, ScenarioFile};
use super::files::Files;
use super::subject::form::{Form, Reading};
use scavsim_data::cloud::{Fleet, PriceTable};
use scavsim_data::configuration::vm_type;
use scavsim_data::pricing::builtin;
use scavsim_data::pricing::file::Tables;
use scavsim_data::pricing::spot_series_key::SpotSeriesKey;
use scavsim_data::pricing::{NoPrice, Policy, PolicyFile, RentedVmType};
use scavsim_data::usage::RentedVm;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::toml::Swept;
use scavsim_read::input::{Source, Spanned};

/// The requested policies: built in, the program's, the subject's, or the scenario's; by default the one called `unnamed`.
pub(super) fn read(
    reading: &Reading<'_>,
    form: &Form,
    unnamed: &str,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Policy>> {
    let table = &reading.file.pricing;
    let own = [&reading.given.policies[..], &(form.policies)()].concat();
    let (known, mut sound) = known(table, &own, reading.files, complaints);
    let names: Vec<&str> = (known.iter().map(|p| p.name.as_str()))
        .chain(table.define.keys().map(|n| n.get_ref().as_str()))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let Some(asked) = &table.policies else {
        if !names.contains(&unnamed) {
            sound = false;
            let title =
                format!("a workload names the pricing policy `{unnamed}`, which is not known");
            let complaint = complaints.of_file(title);
            let help = "name another in `pricing.policies`, or mend `pricing` in its workload.toml";
            complaints.push(complaint.with_help(help));
        }
        return sound.then(|| known.into_iter().filter(|p| p.name == unnamed).collect());
    };
    complaints.not_empty("policies", asked, &names);
    complaints.no_duplicates("policies", asked.get_ref());
    let mut policies = Vec::new();
    for name in asked.get_ref() {
        match known.iter().find(|p| p.name == *name.get_ref()) {
            Some(policy) => policies.push(policy.clone()),
            None if names.contains(&name.get_ref().as_str()) => sound = false,
            None => {
                sound = false;
                let title = format!("unknown pricing policy `{}`", name.get_ref());
                complaints.unknown(title, name, &names, "list pricing");
            }
        }
    }
    sound.then_some(policies)
}

/// All known policies, and whether the scenario's own are valid.
fn known(
    table: &PricingTable,
    own: &[Policy],
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> (Vec<Policy>, bool) {
    let mut known: Vec<Policy> = builtin::policies().0;
    let mut sound = true;
    known.retain(|policy| own.iter().all(|own| own.name != policy.name));
    known.extend_from_slice(own);
    let document = (!table.define.is_empty()).then(|| files.document());
    let swept = document.flatten().map(|all| all.swept_tables());
    let mut swept: HashMap<String, Swept> = swept.into_iter().flatten().collect();
    for (name, policy) in &table.define {
        if own.iter().any(|own| own.name == *name.get_ref()) {
            sound = false;
            let title = format!("there are two pricing policies `{}`", name.get_ref());
            let label = "the program has one of this name";
            complaints.refuse(name.span(), title, label, "give this one another name");
            continue;
        }
        if let Some(why) = not_a_name(name.get_ref()) {
            sound = false;
            complaints.error_at(
                name.span(),
                "this cannot be the name of a pricing policy",
                why,
            );
            continue;
        }
        let mut policy = policy.clone();
        let Some(tables) = tables(name, &policy, files, complaints) else {
            sound = false;
            continue;
        };
        policy.tables = tables;
        match policy.policy(name.get_ref()) {
            Ok(mut policy) => {
                let swept = swept.remove(&policy.name).unwrap_or_default();
                let numbers = swept
                    .into_iter()
                    .filter_map(|(key, value)| Some((key, value?)));
                policy.swept = numbers.collect();
                known.retain(|p| p.name != policy.name);
                known.push(policy);
            }
            // A refused price only seems to be missing.
            Err(_) if complaints.is_reported(&complaints.table_from(name.span().start)) => {
                sound = false;
            }
            Err(wrong) => {
                sound = false;
                let title = format!("pricing policy `{}` cannot be used", name.get_ref());
                complaints.error_at(name.span(), title, wrong.to_string());
            }
        }
    }
    (known, sound)
}

/// The tables that a policy names; `None` if one cannot be read.
fn tables(
    name: &Spanned<String>,
    policy: &PolicyFile,
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<Tables> {
    let series = match &policy.spot_series {
        Some(SpotSeriesKey::Table(path)) => Some(path),
        _ => None,
    };
    let mut read = |path: Option<&String>| match path {
        None => Some(None),
        Some(path) => {
            let path = files.folder(name.span().start).join(path);
            let source = Source::read(&path, complaints.diagnostics)?;
            PriceTable::read(&source, complaints.diagnostics).map(|t| Some(Arc::new(t)))
        }
    };
    let (prices, series) = (read(policy.price_table.as_ref()), read(series));
    Some(Tables {
        prices: prices?,
        series: series?,
    })
}

pub(crate) struct Rentals<'a> {
    pub(super) fleet: Fleet<'a>,
    /// VMs to choose from, with their terms, each once.
    pub(super) all: Vec<RentedVmType<'a>>,
    /// Whether VMs may be lost whose terms only the price gives.
    pub(super) are_lost: bool,
}

impl<'a> Rentals<'a> {
    /// VMs of a bag of jobs or of parallel plans.
    pub(super) fn of_types(types: &'a [RentedVm], are_lost: bool) -> Rentals<'a> {
        let rented = |vm: &'a RentedVm| RentedVmType {
            vm: &vm.name,
            on_spot: vm.on_spot,
        };
        Rentals {
            fleet: Fleet::listed(),
            all: types.iter().map(rented).collect(),
            are_lost,
        }
    }
}

/// Checks that every policy has a price for every VM type, and that spot prices are not used for VMs on demand.
pub(super) fn all_priced(
    policies: &[Policy],
    asked: Option<&Spanned<Vec<Spanned<String>>>>,
    rentals: &Rentals<'_>,
    place: impl Fn(&str) -> Option<Range<usize>>,
    complaints: &mut Complaints<'_>,
) {
    let fleet = &rentals.fleet;
    // The types of one table have a price together, or none: only the amounts differ.
    let mut of_table: BTreeMap<(&str, Option<bool>), Vec<RentedVmType<'_>>> = BTreeMap::new();
    for vm in &rentals.all {
        let table = (fleet.table(vm.vm), vm.on_spot);
        of_table.entry(table).or_default().push(*vm);
    }
    for policy in policies {
        // One message per table; then the prices that all tables lack.
        let mut missing: Vec<(NoPrice, Option<&str>)> = (of_table.values())
            .filter_map(|types| {
                let mut why = policy.tariff(&types[..1], fleet).err()?;
                if let more @ 1.. = types.len() - 1 {
                    why.what
                        .push_str(&format!(", nor of {more} more of its table"));
                }
                Some((why, Some(types[0].vm)))
            })
            .collect();
        if missing.is_empty() {
            let all = policy.tariff(&rentals.all, fleet).err();
            missing.extend(all.map(|why| (why, None)));
        }
        missing.dedup_by(|a, b| a.0 == b.0);
        let named = (asked.into_iter().flat_map(Spanned::get_ref))
            .find(|name| *name.get_ref() == policy.name);
        let stays =
            |vm: &&RentedVmType<'_>| vm.on_spot == Some(false) && policy.is_spot_price(vm.on_spot);
        if let (Some(named), Some(vm)) = (named, rentals.all.iter().find(stays)) {
            let title = format!(
                "pricing policy `{}` has spot prices alone, and `{}` is on demand",
                policy.name, vm.vm
            );
            let complaint = complaints.mistake_at(named.span(), title, "nobody takes that VM away");
            complaints.push(complaint.with_help(
                "say `market = \"spot\"`, or take a policy with `as_rented = true` or `spot_ratio`",
            ));
        }
        for (why, vm) in missing {
            let complaint = match (named, vm) {
                (Some(named), _) => {
                    let title = format!("pricing policy `{}`: {}", policy.name, why.what);
                    let complaint = complaints.mistake_at(named.span(), title, "cannot be charged");
                    complaint.with_help(why.help)
                }
                (None, vm) => {
                    let place = vm.and_then(|vm| place(fleet.table(vm)));
                    unpriced(policy, why, vm, fleet, place, complaints)
                }
            };
            complaints.push(complaint);
        }
    }
}

/// Reports a VM type without a price in a scenario without policies, with help.
fn unpriced(
    policy: &Policy,
    why: NoPrice,
    vm: Option<&str>,
    fleet: &Fleet<'_>,
    place: Option<Range<usize>>,
    complaints: &Complaints<'_>,
) -> scavsim_read::input::Diagnostic {
    let title = format!(
        "no pricing policy is named, and `{}` has no price here: {}",
        policy.name, why.what
    );
    let complaint = match place {
        Some(place) => complaints.mistake_at(place, title, "what does it cost?"),
        None => complaints.of_file(title),
    };
    let vm = vm.unwrap_or("TYPE");
    let say = match fleet.own(vm) {
        // The help contains it.
        Some(_) if why.help.contains("`usd_per_hour`") => String::new(),
        Some(own) => format!("; or give `usd_per_hour` in `[vm.{}]`", own.table),
        None => format!(
            "; or state its price: `pricing.policies = [\"mine\"]` and `[pricing.define.mine]` with \
             `usd_per_hour_of = {{ \"{vm}\" = USD }}`, or with the listed price of another type, `priced_as`"
        ),
    };
    complaint.with_help(why.help + &say)
}

pub(super) fn place_in_cluster(file: &ScenarioFile, vm: &str) -> Option<Range<usize>> {
    let mut named = file.cluster.vm.iter();
    Some(named.find(|name| vm_type(name.get_ref()) == vm)?.span())
}

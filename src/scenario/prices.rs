//! Names of pricing policies → policies that have a price for everything that may be rented.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toml::Spanned;

use super::complaints::Complaints;
use super::file::PricingTable;
use super::files::Files;
use super::machines::{self, Machine};
use crate::cloud::{Fleet, PriceTable};
use crate::cluster::Setup;
use crate::configuration::{Configuration, Shape};
use crate::input::Source;
use crate::input::name::not_a_name;
use crate::pricing::file::Tables;
use crate::pricing::reductions::spot_series::SpotSeriesKey;
use crate::pricing::{NoPrice, Policy, PolicyFile, Rented, builtin};
use crate::testbed::Ground;
use crate::workload::Workload;

/// The policies asked for: built in, the program's `own`, or defined in the scenario.
pub(super) fn read(
    table: &PricingTable,
    own: &[Policy],
    files: &Files,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Policy>> {
    let (known, mut sound) = known(table, own, files, complaints);
    let names: Vec<&str> = (known.iter().map(|p| p.name.as_str()))
        .chain(table.define.keys().map(|n| n.get_ref().as_str()))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let Some(asked) = &table.policies else {
        return sound.then(|| {
            known
                .into_iter()
                .filter(|p| p.name == "paper-fixed")
                .collect()
        });
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

/// The policies that there are, and whether all of the scenario's own can be used.
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
    for (name, policy) in &table.define {
        if own.iter().any(|own| own.name == *name.get_ref()) {
            sound = false;
            let title = format!("there are two pricing policies `{}`", name.get_ref());
            let label = "the program has one of this name";
            let complaint = complaints.at(name.span(), title, label);
            complaints.push(complaint.with_help("give this one another name"));
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
            Ok(policy) => {
                known.retain(|p| p.name != policy.name);
                known.push(policy);
            }
            // Without a price that was refused there seems to be none.
            Err(_) if complaints.is_reported(&complaints.table_from(name.span().start)) => {
                sound = false;
            }
            Err(wrong) => {
                sound = false;
                let title = format!("pricing policy `{}` cannot be used", name.get_ref());
                complaints.error_at(name.span(), title, wrong);
            }
        }
    }
    (known, sound)
}

/// The tables that a policy names; `None` where one cannot be read.
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

/// Every policy must have a price for all that a ground rents.
pub(super) fn of_ground(
    pricing: &PricingTable,
    policies: &[Policy],
    ground: &dyn Ground,
    complaints: &mut Complaints<'_>,
) {
    for policy in policies {
        let Err(NoPrice { what, help }) = ground.tariff(policy, &Fleet::listed()) else {
            continue;
        };
        let asked = pricing.policies.iter().flat_map(Spanned::get_ref);
        let named = asked
            .into_iter()
            .find(|name| *name.get_ref() == policy.name);
        let title = format!("pricing policy `{}`: {what}", policy.name);
        let complaint = match named {
            Some(named) => complaints.at(named.span(), title, "cannot be charged"),
            None => complaints.of_file(title),
        };
        complaints.push(complaint.with_help(help));
    }
}

/// Every policy that was asked for must have a price for every VM type to choose from.
pub(super) fn all_priced(
    table: &PricingTable,
    policies: &[Policy],
    machines: &[Machine],
    setup: &Setup,
    workloads: &[(Workload, Vec<Configuration>)],
    complaints: &mut Complaints<'_>,
) {
    let fleet = machines::fleet(machines);
    let mut vms: Vec<Rented<'_>> = (workloads.iter())
        .flat_map(|w| w.1.chunk_by(|a, b| a.vm == b.vm))
        .filter_map(|alike| alike.first())
        .flat_map(|c| match setup.kinds.get(&c.vm) {
            Some(kind) => kind.rented().collect(),
            None => vec![Rented::as_priced(
                Shape::parse(&c.vm).map_or(&*c.vm, |s| s.vm_type),
            )],
        })
        .collect();
    vms.sort_unstable();
    vms.dedup();
    // The types of one table have a price or lack it together: they differ in its amount.
    let mut of_table: BTreeMap<(&str, Option<bool>), Vec<Rented<'_>>> = BTreeMap::new();
    for vm in &vms {
        let table = (fleet.listed_as(vm.vm), vm.on_spot);
        of_table.entry(table).or_default().push(*vm);
    }
    for policy in policies {
        let asked = (table.policies.iter().flat_map(Spanned::get_ref))
            .find(|name| *name.get_ref() == policy.name);
        // One table at a time, for a message about each; then what only all together lack.
        let mut missing: Vec<NoPrice> = (of_table.values())
            .filter_map(|types| {
                let mut why = policy.tariff(&types[..1], &fleet).err()?;
                if let more @ 1.. = types.len() - 1 {
                    why.what
                        .push_str(&format!(", nor of {more} more of its table"));
                }
                Some(why)
            })
            .collect();
        if missing.is_empty() {
            missing.extend(policy.tariff(&vms, &fleet).err());
        }
        missing.dedup();
        for NoPrice { what, help } in missing {
            let title = format!("pricing policy `{}`: {what}", policy.name);
            let complaint = match asked {
                Some(asked) => complaints.at(asked.span(), title, "cannot be charged"),
                None => complaints.of_file(title),
            };
            complaints.push(complaint.with_help(help));
        }
    }
}

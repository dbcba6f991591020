//! Names of pricing policies → policies that have a price for everything that may be rented.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;

use super::complaints::Complaints;
use super::file::{PricingTable, ScenarioFile};
use super::files::Files;
use super::grids::MeasuredJobs;
use super::machines::{self, Machine};
use scavsim_data::cloud::{Fleet, PriceTable};
use scavsim_data::configuration::{Configuration, Shape};
use scavsim_data::pricing::builtin::{self, LISTED, LISTED_SPOT};
use scavsim_data::pricing::file::Tables;
use scavsim_data::pricing::spot_series_key::SpotSeriesKey;
use scavsim_data::pricing::{NoPrice, Policy, PolicyFile, Rented};
use scavsim_data::usage::RentedVm;
use scavsim_data::workload::Workload;
use scavsim_read::input::Source;
use scavsim_read::input::name::not_a_name;
use scavsim_sim::cluster::Setup;

/// The policy of a scenario that names none: what all its workloads were published with, on the VM types that they were measured
/// on; else the listed price of each VM type.
pub(super) fn unnamed<'f>(file: &ScenarioFile, loaded: &'f [Option<Workload>]) -> &'f str {
    let mut published = loaded.iter().map(|w| w.as_ref()?.pricing.as_deref());
    if let (Some(Some(first)), true) = (published.next(), file.vm.is_empty())
        && published.all(|other| other == Some(first))
    {
        return first;
    }
    // The VMs of a kind, of a bag and of plans say themselves on which terms they are rented.
    let all_on_spot = file.spot.is_some()
        && file.kind.is_empty()
        && file.bag.is_none()
        && file.parallel.is_none();
    match all_on_spot {
        true => LISTED_SPOT,
        false => LISTED,
    }
}

/// The policies asked for: built in, the program's `own`, or defined in the scenario; the one called `unnamed` where none is.
pub(super) fn read(
    table: &PricingTable,
    own: &[Policy],
    unnamed: &str,
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

/// What may be rented in a scenario.
pub(super) struct Rentals<'a> {
    /// The VM types that there are.
    pub(super) fleet: Fleet<'a>,
    /// Those to choose from, on their terms, each once.
    pub(super) all: Vec<Rented<'a>>,
    /// Whether those whose terms only the price says may be taken away.
    pub(super) are_lost: bool,
}

impl<'a> Rentals<'a> {
    /// Those of simulated workloads.
    pub(super) fn of_workloads(
        machines: &'a [Machine],
        setup: &'a Setup,
        workloads: &'a [(Workload, Vec<Configuration>)],
    ) -> Rentals<'a> {
        let mut all: Vec<Rented<'_>> = (workloads.iter())
            .flat_map(|w| w.1.chunk_by(|a, b| a.vm == b.vm))
            .filter_map(|alike| alike.first())
            .flat_map(|c| match setup.kinds.get(&c.vm) {
                Some(kind) => kind.rented().collect(),
                None => vec![Rented::as_priced(vm_type(&c.vm))],
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        Rentals {
            fleet: machines::fleet(machines),
            all,
            are_lost: setup.spot.is_some(),
        }
    }

    /// Those of the runs of a grid, which lost none.
    pub(super) fn of_grid(measured: &'a MeasuredJobs) -> Rentals<'a> {
        let spaces = measured.jobs.iter().map(|job| &job.space);
        let vms = spaces.flat_map(|space| (0..space.len()).filter_map(|at| space.vm(at)));
        let types: BTreeSet<&str> = vms.map(|vm| vm_type(vm)).collect();
        Rentals {
            fleet: Fleet::listed(),
            all: types.into_iter().map(Rented::as_priced).collect(),
            are_lost: false,
        }
    }

    /// Those of a bag of jobs or of parallel plans.
    pub(super) fn of_types(types: &'a [RentedVm], are_lost: bool) -> Rentals<'a> {
        let rented = |vm: &'a RentedVm| Rented {
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

/// The VM type of a shape.
fn vm_type(shape: &str) -> &str {
    Shape::parse(shape).map_or(shape, |shape| shape.vm_type)
}

/// Every policy must have a price for every VM type to choose from.
pub(super) fn all_priced(
    file: &ScenarioFile,
    policies: &[Policy],
    rentals: &Rentals<'_>,
    workloads: &[(Workload, Vec<Configuration>)],
    complaints: &mut Complaints<'_>,
) {
    let fleet = &rentals.fleet;
    // The types of one table have a price or lack it together: they differ in its amount.
    let mut of_table: BTreeMap<(&str, Option<bool>), Vec<Rented<'_>>> = BTreeMap::new();
    for vm in &rentals.all {
        let table = (fleet.table(vm.vm), vm.on_spot);
        of_table.entry(table).or_default().push(*vm);
    }
    for policy in policies {
        // One table at a time, for a message about each; then what only all together lack.
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
        for (why, vm) in missing {
            let asked = (file.pricing.policies.iter().flat_map(Spanned::get_ref))
                .find(|name| *name.get_ref() == policy.name);
            let complaint = match (asked, vm) {
                (Some(asked), _) => {
                    let title = format!("pricing policy `{}`: {}", policy.name, why.what);
                    let complaint = complaints.at(asked.span(), title, "cannot be charged");
                    complaint.with_help(why.help)
                }
                (None, vm) => {
                    let place = vm.and_then(|vm| place(file, fleet.table(vm), workloads));
                    unpriced(policy, why, vm, fleet, place, complaints)
                }
            };
            complaints.push(complaint);
        }
    }
}

/// That a scenario without a policy has a VM type without a price, and how to give it one.
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
        Some(place) => complaints.at(place, title, "what does it cost?"),
        None => complaints.of_file(title),
    };
    let vm = vm.unwrap_or("TYPE");
    let say = match fleet.own(vm) {
        // The help says it.
        Some(_) if why.help.contains("`usd_per_hour`") => String::new(),
        Some(own) => format!("; or give `usd_per_hour` in `[vm.{}]`", own.table),
        None => format!(
            "; or state its price: `pricing.policies = [\"mine\"]` and `[pricing.define.mine]` with \
             `usd_per_hour_of = {{ \"{vm}\" = USD }}`, or with the listed price of another type, `priced_as`"
        ),
    };
    complaint.with_help(why.help + &say)
}

/// Where the file says that a VM type is to choose from.
fn place(
    file: &ScenarioFile,
    vm: &str,
    workloads: &[(Workload, Vec<Configuration>)],
) -> Option<Range<usize>> {
    let table = || Some(file.vm.keys().find(|name| name.get_ref() == vm)?.span());
    let job_time = || {
        let mut times = file
            .bag
            .as_ref()?
            .get_ref()
            .job_times
            .as_ref()?
            .get_ref()
            .iter();
        Some(times.find(|time| time.get_ref().vm == vm)?.span())
    };
    let cluster = || {
        let mut named = file.cluster.vm.iter();
        Some(named.find(|name| vm_type(name.get_ref()) == vm)?.span())
    };
    let workload = || {
        let asked = file.workloads.as_ref()?.get_ref();
        let runs =
            |(_, all): &&(Workload, Vec<Configuration>)| all.iter().any(|c| vm_type(&c.vm) == vm);
        let at = workloads.iter().position(|own| runs(&own));
        // A kind of cluster has the type among others.
        Some(asked.get(at.unwrap_or(0))?.span())
    };
    table().or_else(job_time).or_else(cluster).or_else(workload)
}

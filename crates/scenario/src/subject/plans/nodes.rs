//! VM types with their GPUs, zones and terms of rental.

use std::sync::Arc;

use super::layers::{self, FoundNodes, PlanSubject};

use crate::complaints::Complaints;
use crate::file::{RentedOn, ScenarioFile};
use crate::parallel_table::{NodeTable, ParallelTable};
use scavsim_parallel::NodeKind;
use scavsim_parallel::law::GpuNode;
use scavsim_plans::Offer;
use scavsim_read::input::Spanned;
use scavsim_read::input::checked::Positive;
use scavsim_read::input::name::not_a_name;

/// Name, in the zones of a mix, of a zone without one.
const NO_ZONE: &str = "elsewhere";
const MOST_ACROSS: usize = 64;

pub(super) fn read(
    file: &ScenarioFile,
    table: &ParallelTable,
    subject: &PlanSubject,
    complaints: &mut Complaints<'_>,
) -> FoundNodes {
    let mut found = FoundNodes::default();
    let nodes = table
        .nodes
        .as_ref()
        .map_or(&[][..], |nodes| nodes.get_ref());
    if let Some(given) = &table.nodes {
        complaints.not_empty("nodes", given, &["{ vm, gpu, gpus, gpu_memory_gib }"]);
    }
    let chosen: Vec<&Spanned<NodeTable>> = nodes
        .iter()
        .filter(|node| file.cluster.may_be_on(node.get_ref().vm.get_ref()))
        .collect();
    let named: Vec<&str> = (nodes.iter())
        .map(|node| node.get_ref().vm.get_ref().as_str())
        .collect();
    for vm in &file.cluster.vm {
        if !named.contains(&vm.get_ref().as_str()) {
            let title = format!("`parallel.nodes` has no VM type `{}`", vm.get_ref());
            complaints.unknown(title, vm, &named, "list vms");
        }
    }
    // For each kind, if it names them.
    let mut own_markets: Vec<Option<Vec<Option<bool>>>> = Vec::new();
    for node in chosen {
        if let Some((mut kind, own)) = kind(node, table, subject, complaints) {
            let is_it = |known: &NodeKind| known.name == kind.name && known.zone == kind.zone;
            if found.kinds.iter().any(is_it) {
                let title = format!("`parallel.nodes` holds `{}` twice", kind.name);
                complaints.error_at(node.span(), title, "remove one of the two");
                continue;
            }
            found.sheets.push(Arc::clone(&kind.gpu));
            found
                .nodes
                .extend(own.map(|own| distinct(own, &mut kind, &found.nodes)));
            found.kinds.push(kind);
            own_markets.push(markets(file, &node.get_ref().markets, complaints));
        }
    }
    zones(&mut found);
    let usual = markets(file, &table.markets, complaints)
        .unwrap_or_else(|| vec![file.spot.is_some().then_some(true)]);
    let mut patterns: Vec<(Arc<str>, Vec<Vec<u32>>)> = (found.kinds.iter().enumerate())
        .map(|(at, kind)| (Arc::clone(&kind.name), vec![vec![at as u32]]))
        .collect();
    for mix in &table.mixes {
        if mix.get_ref().len() < 2 {
            let title = "a mix has the VM types of two parts of the pipeline or more";
            complaints.error_at(mix.span(), title, "too few");
            continue;
        }
        let of_mix = mixed((mix, "mixes"), &found.kinds, &named, complaints);
        patterns.extend(of_mix.into_iter().map(|(name, kinds)| (name, vec![kinds])));
    }
    patterns.extend(unlike(table, &found.kinds, &named, complaints));
    for (name, lanes) in patterns {
        let zone = zone_of(&lanes.concat(), &found.kinds);
        let mut place = found.zones.iter().position(|known| *known == zone);
        if place.is_none() && !found.zones.is_empty() {
            // A mix spans several zones.
            found.zones.push(zone);
            place = Some(found.zones.len() - 1);
        }
        // A mix is not rented on terms that only some of its kinds have.
        let of = |kind: &u32| own_markets[*kind as usize].as_ref();
        let all = || lanes.iter().flatten();
        let offered = all().find_map(of).unwrap_or(&usual);
        let is_offered = |on_spot: &&Option<bool>| {
            all().all(|kind| of(kind).unwrap_or(&usual).contains(on_spot))
        };
        for &on_spot in offered.iter().filter(is_offered) {
            found.offers.push(Offer {
                name: Arc::clone(&name),
                lanes: lanes.clone(),
                zone: place.unwrap_or(0) as u16,
                on_spot,
            });
        }
    }
    found
}

/// Zone of kinds of nodes; several are joined by `+`.
fn zone_of(of: &[u32], kinds: &[NodeKind]) -> Arc<str> {
    let mut zones: Vec<&Arc<str>> = of.iter().map(|at| &kinds[*at as usize].zone).collect();
    if let [first, rest @ ..] = &zones[..]
        && rest.iter().all(|zone| zone == first)
    {
        return Arc::clone(first);
    }
    zones.dedup();
    let names: Vec<&str> = (zones.iter())
        .map(|zone| if zone.is_empty() { NO_ZONE } else { &***zone })
        .collect();
    names.join("+").into()
}

fn zones(found: &mut FoundNodes) {
    for kind in &found.kinds {
        if !kind.zone.is_empty() && !found.zones.contains(&kind.zone) {
            found.zones.push(Arc::clone(&kind.zone));
        }
    }
    if !found.zones.is_empty() && found.kinds.iter().any(|kind| kind.zone.is_empty()) {
        found.zones.push("".into());
    }
}

/// The law's node under a name that only equal nodes share: the GPU's, or with the VM type.
fn distinct(own: GpuNode, kind: &mut NodeKind, known: &[GpuNode]) -> GpuNode {
    let is_taken = |node: &GpuNode| node.gpu == own.gpu && *node != own;
    if !known.iter().any(is_taken) {
        return own;
    }
    let name: Arc<str> = format!("{} of {}", own.gpu, kind.name).into();
    kind.gpu = Arc::clone(&name);
    GpuNode { gpu: name, ..own }
}

fn kind(
    node: &Spanned<NodeTable>,
    table: &ParallelTable,
    subject: &PlanSubject,
    complaints: &mut Complaints<'_>,
) -> Option<(NodeKind, Option<GpuNode>)> {
    let own = node.get_ref();
    let before = complaints.count();
    let vm = own.vm.get_ref();
    if let Some(why) = not_a_name(vm) {
        complaints.error_at(own.vm.span(), "`vm` is no VM type", why);
    } else if let Some(mark) = vm.chars().find(|mark| "+|".contains(*mark)) {
        let label = format!("`{mark}` goes between the VM types of a mix or of unlike replicas");
        complaints.error_at(own.vm.span(), format!("`vm` holds a `{mark}`"), label);
    }
    let known = subject.gpu(node, table, complaints);
    let gpus = layers::gpus_of(own);
    if gpus.is_none() {
        let title = format!("nothing says how many GPUs a `{vm}` has");
        complaints.refuse(node.span(), title, "not in the catalogue", "give it `gpus`");
    }
    let said = own.gpu_memory_gib.map(Positive::get);
    let memory_gib = said.or(known.as_ref().and_then(|known| known.memory_gib));
    if let (None, Some(known)) = (memory_gib, &known) {
        let title = format!("nothing says how much memory a `{}` has", known.name);
        let complaint = complaints.mistake_at(node.span(), title, "memory unknown");
        complaints
            .push(complaint.with_help("give `gpu_memory_gib`: plans that need more are left out"));
    }
    if let Some(zone) = &own.zone
        && let Some(why) = not_a_name(zone)
    {
        complaints.error_at(node.span(), "`zone` is no name", why);
    } else if own.zone.as_ref().is_some_and(|zone| zone.contains('+')) {
        let label = "`+` goes between the zones of a mix";
        complaints.error_at(node.span(), "`zone` holds a `+`", label);
    }
    if complaints.count() > before {
        return None;
    }
    let (known, gpus) = (known?, gpus?);
    let of_law = layers::gpu_node(own, &known, gpus);
    let kind = NodeKind {
        name: vm.as_str().into(),
        gpu: Arc::clone(&known.name),
        gpus_per_node: gpus,
        memory_gib,
        zone: own.zone.as_deref().unwrap_or("").into(),
    };
    Some((kind, of_law))
}

fn markets(
    file: &ScenarioFile,
    asked: &Option<Spanned<Vec<Spanned<RentedOn>>>>,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<Option<bool>>> {
    let asked = asked.as_ref()?;
    complaints.not_empty("markets", asked, &["on-demand", "spot"]);
    let mut all = Vec::new();
    for market in asked.get_ref() {
        let on_spot = *market.get_ref() == RentedOn::Spot;
        if all.contains(&Some(on_spot)) {
            let title = "`parallel.markets` holds a market twice";
            complaints.error_at(market.span(), title, "remove one of the two");
        }
        if on_spot && file.spot.is_none() {
            let title = "`parallel.markets` names spot VMs, and there is no `[spot]`";
            let complaint = complaints.mistake_at(market.span(), title, "how long do they live?");
            complaints.push(complaint.with_help("say in `[spot]` how they are lost"));
        }
        all.push(Some(on_spot));
    }
    Some(all)
}

/// Mixed replicas: the kinds of each pipeline, over all combinations of zones.
fn unlike(
    table: &ParallelTable,
    kinds: &[NodeKind],
    named: &[&str],
    complaints: &mut Complaints<'_>,
) -> Vec<(Arc<str>, Vec<Vec<u32>>)> {
    let given = &table.replicas;
    let Some(first) = given.first() else {
        return Vec::new();
    };
    if given.len() < 2 {
        let title = "`parallel.replicas` has the pipelines of two replicas or more";
        let complaint = complaints.mistake_at(first.span(), title, "too few");
        complaints.push(complaint.with_help("replicas that are alike need no key"));
        return Vec::new();
    }
    let mut all: Vec<(String, Vec<Vec<u32>>)> = vec![Default::default()];
    for replica in given {
        if replica.get_ref().is_empty() {
            let title = "a replica of `parallel.replicas` has no VM type";
            complaints.error_at(replica.span(), title, "expected one or more");
            return Vec::new();
        }
        let of_replica = mixed((replica, "replicas"), kinds, named, complaints);
        let with = |(before, lanes): &(String, Vec<Vec<u32>>)| {
            let mark = if before.is_empty() { "" } else { "|" };
            let (before, lanes) = (format!("{before}{mark}"), lanes.clone());
            let each = of_replica.clone().into_iter().map(move |(name, lane)| {
                let mut lanes = lanes.clone();
                lanes.push(lane);
                (format!("{before}{name}"), lanes)
            });
            each.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).take(MOST_ACROSS + 1).collect();
        if all.len() > MOST_ACROSS {
            let title = "unlike replicas over many combinations of zones";
            let help = format!("at most {MOST_ACROSS} are tried: name fewer zones per VM type");
            complaints.refuse(replica.span(), title, "their VM types are in many", help);
            return Vec::new();
        }
    }
    (all.into_iter())
        .map(|(name, lanes)| (name.into(), lanes))
        .collect()
}

/// Kinds of a mix: per zone with all of them, or, without such a zone, over their zones.
fn mixed(
    (mix, key): (&Spanned<Vec<Spanned<String>>>, &str),
    kinds: &[NodeKind],
    named: &[&str],
    complaints: &mut Complaints<'_>,
) -> Vec<(Arc<str>, Vec<u32>)> {
    let all = mix.get_ref();
    let mut is_known = true;
    for vm in all {
        if !named.contains(&vm.get_ref().as_str()) {
            let title = format!(
                "`parallel.{key}` names no VM type of `nodes`: `{}`",
                vm.get_ref()
            );
            complaints.unknown(title, vm, named, "list vms");
            is_known = false;
        }
    }
    if !is_known {
        return Vec::new();
    }
    let names: Vec<&str> = all.iter().map(|vm| vm.get_ref().as_str()).collect();
    let name: Arc<str> = names.join("+").into();
    let mut zones: Vec<&Arc<str>> = kinds.iter().map(|kind| &kind.zone).collect();
    zones.sort_unstable();
    zones.dedup();
    let of_zone = |zone: &Arc<str>| -> Option<Vec<u32>> {
        (names.iter())
            .map(|vm| {
                let is_it = |kind: &NodeKind| *kind.name == **vm && kind.zone == *zone;
                kinds.iter().position(is_it).map(|at| at as u32)
            })
            .collect()
    };
    let mut found: Vec<Vec<u32>> = zones.into_iter().filter_map(of_zone).collect();
    if found.is_empty() {
        found = across(&names, kinds);
        if found.len() > MOST_ACROSS {
            let title = format!("a mix over {} combinations of zones", found.len());
            let help = format!("at most {MOST_ACROSS} are tried: name fewer zones per VM type");
            complaints.refuse(mix.span(), title, "no zone has all its VM types", help);
            return Vec::new();
        }
    }
    (found.into_iter())
        .map(|kinds| (Arc::clone(&name), kinds))
        .collect()
}

/// All combinations of zones for the VM types of a mix.
fn across(names: &[&str], kinds: &[NodeKind]) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for vm in names {
        let places = || (0..kinds.len() as u32).filter(|at| *kinds[*at as usize].name == **vm);
        let more = all.iter().flat_map(|before| {
            places().map(|at| {
                let mut longer = before.clone();
                longer.push(at);
                longer
            })
        });
        all = more.take(MOST_ACROSS + 1).collect();
    }
    all
}

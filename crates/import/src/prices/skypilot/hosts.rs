//! Hosts and their accelerators, which share a bill.

use std::collections::BTreeSet;

use crate::prices::{ObservedPrices, PriceKey};
use crate::report::Report;
use scavsim_data::cloud::{Date, Fleet, Market};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics};

#[derive(Debug, Clone)]
pub(super) struct HostPriceRow {
    pub(super) vm: Option<String>,
    pub(super) accelerator: Option<(String, f64)>,
    pub(super) region: String,
    pub(super) zone: String,
    /// USD per hour on demand; and in the spot market, if there is one.
    pub(super) usd: f64,
    pub(super) spot_usd: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostWithAccelerators {
    name: String,
    host: String,
    accelerator: String,
    count: f64,
}

/// `[NAME=]HOST+ACCELERATOR:COUNT`.
pub(super) fn joined(text: &str, diagnostics: &mut Diagnostics) -> Option<HostWithAccelerators> {
    let (name, pair) = text.split_once('=').unwrap_or((text, text));
    let parts = || {
        let (host, rest) = pair.split_once('+')?;
        let (accelerator, count) = rest.split_once(':').unwrap_or((rest, "1"));
        let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
        let named = !host.is_empty() && !accelerator.is_empty();
        (named && not_a_name(name).is_none() && !name.contains('/')).then(|| HostWithAccelerators {
            name: name.to_owned(),
            host: host.to_owned(),
            accelerator: accelerator.to_owned(),
            count: f64::from(count),
        })
    };
    let found = parts();
    if found.is_none() {
        let title = format!("--attach: `{text}` is no host with accelerators");
        let help = "expected HOST+ACCELERATOR:COUNT like `n1-standard-8+T4:2`, or NAME=HOST+ACCELERATOR:COUNT";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    found
}

/// Adds the prices of a copy: rows with a VM type unchanged, hosts with accelerators joined.
pub(super) fn collect_prices(
    cloud: &str,
    day: Date,
    offered: Vec<HostPriceRow>,
    attach: &[HostWithAccelerators],
    seen: &mut ObservedPrices,
    report: &mut Report,
) {
    let fleet = Fleet::listed();
    let (with_type, loose): (Vec<HostPriceRow>, Vec<HostPriceRow>) =
        offered.into_iter().partition(|o| o.vm.is_some());
    let is_apart = !loose.is_empty();
    let mut clashes: BTreeSet<PriceKey> = BTreeSet::new();
    let mut add = |vm: &str, at: &HostPriceRow, usd: f64, spot: Option<f64>| {
        let markets = [(Market::OnDemand, Some(usd)), (Market::Spot, spot)];
        for (market, usd) in markets {
            let Some(usd) = usd else { continue };
            let key = (
                cloud.to_owned(),
                vm.to_owned(),
                at.region.clone(),
                at.zone.clone(),
                market,
            );
            let before = seen.entry(key.clone()).or_default().insert(day, usd);
            if before.is_some_and(|before| before != usd) {
                clashes.insert(key);
            }
        }
    };
    let mut hosts_alone: BTreeSet<String> = BTreeSet::new();
    let with = |host: &HostPriceRow, name: &str, count: f64| {
        let more = loose.iter().find(|l| {
            (&l.region, &l.zone) == (&host.region, &host.zone)
                && l.accelerator
                    .as_ref()
                    .is_some_and(|(model, own)| model == name && *own == count)
        })?;
        let spot = host.spot_usd.zip(more.spot_usd).map(|(a, b)| a + b);
        Some((host.usd + more.usd, spot))
    };
    for row in &with_type {
        let vm = row.vm.as_deref().unwrap_or_default();
        for joined in attach.iter().filter(|j| j.host == vm) {
            if let Some((usd, spot)) = with(row, &joined.accelerator, joined.count) {
                add(&joined.name, row, usd, spot);
            }
        }
        // A host that is only rented with accelerators has no price of its own.
        let built_in = fleet.vm_type(vm).and_then(|t| t.gpus.as_ref());
        match built_in {
            Some(gpus) if is_apart && row.accelerator.is_none() => {
                match with(row, &gpus.model, gpus.count as f64) {
                    Some((usd, spot)) => add(vm, row, usd, spot),
                    None => {
                        hosts_alone.insert(vm.to_owned());
                    }
                }
            }
            None if is_apart && row.accelerator.is_none() && is_accelerated_family(vm) => {
                hosts_alone.insert(vm.to_owned());
            }
            _ => add(vm, row, row.usd, row.spot_usd),
        }
    }
    let copy = format!("{cloud}, {day}");
    drop_clashes(&clashes, &copy, day, seen, report);
    note_unjoined(&hosts_alone, &loose, &copy, report);
}

/// Drops duplicate prices that differ, with a note.
fn drop_clashes(
    clashes: &BTreeSet<PriceKey>,
    copy: &str,
    day: Date,
    seen: &mut ObservedPrices,
    report: &mut Report,
) {
    let types: BTreeSet<&str> = clashes.iter().map(|key| &*key.1).collect();
    let some: Vec<&str> = types.into_iter().take(4).collect();
    let what = match clashes.len() {
        0 => return,
        1 => "1 price is listed twice and differs".to_owned(),
        n => format!("{n} prices stand there twice and differ"),
    };
    report.note(format!("{copy}: {what}, of {}: dropped", some.join(", ")));
    for key in clashes {
        // Other days stay unchanged.
        if let Some(days) = seen.get_mut(key) {
            days.remove(&day);
            if days.is_empty() {
                seen.remove(key);
            }
        }
    }
}

/// Reports hosts without their accelerators, and accelerators without a host.
fn note_unjoined(
    hosts_alone: &BTreeSet<String>,
    loose: &[HostPriceRow],
    copy: &str,
    report: &mut Report,
) {
    if !hosts_alone.is_empty() {
        let some: Vec<&str> = hosts_alone.iter().take(4).map(String::as_str).collect();
        report.note(format!(
            "{copy}: {} hosts stand apart from accelerators that belong to them and are dropped, {} among them: join them with --attach",
            hosts_alone.len(),
            some.join(", ")
        ));
    }
    if !loose.is_empty() {
        let models: BTreeSet<&str> = (loose.iter())
            .filter_map(|l| l.accelerator.as_ref())
            .map(|(model, _)| model.as_str())
            .collect();
        report.note(format!(
            "{copy}: {} rows are accelerators without a host, {} models: join them with --attach, such as n1-standard-8+T4:1",
            loose.len(),
            models.len()
        ));
    }
}

/// Whether GCP builds this host around accelerators: `a2-`, `g2-` and so on, with rows of their own.
fn is_accelerated_family(vm: &str) -> bool {
    let mut letters = vm.chars();
    let first = letters.next();
    matches!(first, Some('a' | 'g')) && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// Reports requested pairs that are nowhere.
pub(super) fn missing_joins(
    attach: &[HostWithAccelerators],
    seen: &ObservedPrices,
    diagnostics: &mut Diagnostics,
) {
    for joined in attach {
        if seen.keys().all(|key| key.1 != joined.name) {
            let title = format!(
                "--attach: no zone has both `{}` and {} × `{}`",
                joined.host, joined.count, joined.accelerator
            );
            let help = "InstanceType, AcceleratorName and AcceleratorCount must be those of two rows of one zone";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
    }
}

//! The catalogue that SkyPilot keeps in `~/.sky/catalogs/vN`: `CLOUD/vms.csv`, a row per VM type and zone.
//!
//! Columns are read by name, for their order differs between clouds and versions. On GCP a host and its accelerators are
//! rows of their own that are billed together: they are joined where both are in a zone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ImportedPrices, Seen, table};
use crate::cloud::{Date, Fleet, Market};
use crate::import::report::Report;
use crate::input::csv::{Row, Table};
use crate::input::name::not_a_name;
use crate::input::{Diagnostic, Diagnostics, Source, closest};

/// What is imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Folders of catalogues: `vN`, or that of one cloud in it.
    pub folders: Vec<PathBuf>,
    /// The day of each; of one whose name is a day that is not needed.
    pub dates: Vec<String>,
    /// Only these clouds.
    pub clouds: Vec<String>,
    /// Only these regions.
    pub regions: Vec<String>,
    /// Hosts with accelerators: `[NAME=]HOST+ACCELERATOR:COUNT`.
    pub attach: Vec<String>,
}

/// Name of a cloud's table.
const FILE: &str = "vms.csv";

/// A host with accelerators.
#[derive(Debug, Clone, PartialEq)]
struct Joined {
    name: String,
    host: String,
    accelerator: String,
    count: f64,
}

/// A row of a table.
#[derive(Debug, Clone)]
struct Offered {
    vm: Option<String>,
    /// Model and number.
    accelerator: Option<(String, f64)>,
    region: String,
    zone: String,
    /// USD per hour on demand and, where there is such a market, spot.
    usd: f64,
    spot_usd: Option<f64>,
}

/// Reads all folders. Whatever is wrong goes to `diagnostics`.
///
/// # Errors
/// If the table cannot be written to memory.
pub fn read(
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> std::io::Result<Option<ImportedPrices>> {
    let attach: Vec<Joined> = (options.attach.iter())
        .filter_map(|text| joined(text, diagnostics))
        .collect();
    let copies = copies(options, diagnostics);
    let mut report = Report::default();
    let (mut seen, mut days) = (Seen::new(), BTreeMap::<String, Vec<Date>>::new());
    for (cloud, day, path) in copies {
        let Some(source) = Source::read(&path, diagnostics) else {
            continue;
        };
        let before = diagnostics.len();
        let Some(table) = Table::read_any(&source, diagnostics) else {
            continue;
        };
        let offered = offered(&table, &source, &cloud, options, &mut report, diagnostics);
        if diagnostics.len() > before {
            continue;
        }
        days.entry(cloud.clone()).or_default().push(day);
        take(&cloud, day, offered, &attach, &mut seen, &mut report);
    }
    days.values_mut().for_each(|days| days.sort_unstable());
    if !diagnostics.is_empty() {
        return Ok(None);
    }
    missing_joins(&attach, &seen, diagnostics);
    if seen.is_empty() {
        let title = "no price is left of these catalogues";
        let help = "look at --cloud and --region, and at what the report of a wider import drops";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    if !diagnostics.is_empty() {
        return Ok(None);
    }
    let types: BTreeSet<(&str, &str)> = seen.keys().map(|k| (&*k.0, &*k.1)).collect();
    let days: BTreeMap<String, Vec<Date>> = days;
    let all_days: BTreeSet<Date> = days.values().flatten().copied().collect();
    let text: Vec<String> = all_days.iter().map(Date::to_string).collect();
    report.note(format!(
        "{} VM types, prices of {}",
        types.len(),
        text.join(", ")
    ));
    Ok(Some(ImportedPrices {
        text: table(&seen, &days)?,
        report,
    }))
}

/// `[NAME=]HOST+ACCELERATOR:COUNT`.
fn joined(text: &str, diagnostics: &mut Diagnostics) -> Option<Joined> {
    let (name, pair) = text.split_once('=').unwrap_or((text, text));
    let parts = || {
        let (host, rest) = pair.split_once('+')?;
        let (accelerator, count) = rest.split_once(':').unwrap_or((rest, "1"));
        let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
        let named = !host.is_empty() && !accelerator.is_empty();
        (named && not_a_name(name).is_none() && !name.contains('/')).then(|| Joined {
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

/// Cloud, day and table of every copy.
fn copies(options: &Options, diagnostics: &mut Diagnostics) -> Vec<(String, Date, PathBuf)> {
    let mut copies = Vec::new();
    let mut dates = options.dates.iter();
    let mut clouds: BTreeSet<String> = BTreeSet::new();
    for folder in &options.folders {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let day = match Date::parse(&name) {
            Some(day) => day,
            None => {
                let given = dates.next();
                let Some(day) = given.and_then(|text| Date::parse(text)) else {
                    let title = match given {
                        Some(text) => format!("--date: `{text}` is no day"),
                        None => format!("no day is given for {}", folder.display()),
                    };
                    let help = "a catalogue does not say when it was fetched: give --date 2026-07-30 for each folder whose name is no day";
                    diagnostics.push(Diagnostic::general(title).with_help(help));
                    continue;
                };
                day
            }
        };
        let tables = tables(folder, &name, diagnostics);
        for (cloud, path) in tables {
            clouds.insert(cloud.clone());
            if !options.clouds.is_empty() && !options.clouds.contains(&cloud) {
                continue;
            }
            if copies.iter().any(|(c, d, _)| (c, d) == (&cloud, &day)) {
                let title = format!("two catalogues of {cloud} are of {day}");
                diagnostics.push(Diagnostic::general(title).with_help("keep one of them"));
                continue;
            }
            copies.push((cloud, day, path));
        }
    }
    if let Some(more) = dates.next() {
        let title = format!("--date {more} belongs to no folder");
        let help = "one for each folder whose name is no day, in their order";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    for unknown in options.clouds.iter().filter(|c| !clouds.contains(*c)) {
        let known: Vec<&str> = clouds.iter().map(String::as_str).collect();
        let mut help = format!("there are: {}", known.join(", "));
        if let Some(near) = closest(unknown, known.iter().copied()) {
            help = format!("did you mean `{near}`? {help}");
        }
        let title = format!("--cloud: there is no catalogue of `{unknown}`");
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    copies
}

/// Clouds and their tables in a folder, which may be that of one cloud.
fn tables(folder: &Path, name: &str, diagnostics: &mut Diagnostics) -> Vec<(String, PathBuf)> {
    let own = folder.join(FILE);
    if own.is_file() {
        return vec![(name.to_owned(), own)];
    }
    let mut found: Vec<(String, PathBuf)> = match fs::read_dir(folder) {
        Err(error) => {
            let title = format!("cannot read {}: {error}", folder.display());
            diagnostics.push(Diagnostic::general(title));
            return Vec::new();
        }
        Ok(entries) => entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let table = entry.path().join(FILE);
                let cloud = entry.file_name().into_string().ok()?;
                table.is_file().then_some((cloud, table))
            })
            .collect(),
    };
    found.sort();
    if found.is_empty() {
        let title = format!("{} has no CLOUD/{FILE}", folder.display());
        let help = "expected a folder like ~/.sky/catalogs/v8, or that of one cloud in it";
        diagnostics.push(Diagnostic::general(title).with_help(help));
    }
    found
}

/// The rows of a table that have a price; what is dropped is counted.
fn offered(
    table: &Table,
    source: &Arc<Source>,
    cloud: &str,
    options: &Options,
    report: &mut Report,
    diagnostics: &mut Diagnostics,
) -> Vec<Offered> {
    let missing: Vec<&str> = ["InstanceType", "Price", "Region"]
        .into_iter()
        .filter(|name| table.columns().all(|column| column != *name))
        .collect();
    if !missing.is_empty() {
        let title = format!("{} has no column {}", source.name, missing.join(", "));
        let help = "a table of SkyPilot's catalogue has InstanceType, AcceleratorName, AcceleratorCount, Price, SpotPrice, Region, AvailabilityZone";
        diagnostics.push(Diagnostic::general(title).with_help(help));
        return Vec::new();
    }
    let (mut read, mut elsewhere, mut free, mut unpriced) = (0, 0, 0, 0);
    let (mut nameless, mut no_cheaper) = (0, 0);
    let mut all = Vec::new();
    for row in table.rows() {
        read += 1;
        let region = row.optional_text("Region").unwrap_or_default().to_owned();
        if !options.regions.is_empty() && !options.regions.contains(&region) {
            elsewhere += 1;
            continue;
        }
        let usd = usd(&row, "Price", diagnostics);
        let spot_usd = usd_of_spot(&row, diagnostics);
        match usd {
            None => unpriced += 1,
            Some(0.0) => free += 1,
            Some(usd) => {
                let vm = row.optional_text("InstanceType").map(str::to_owned);
                let accelerator = accelerator(&row, diagnostics);
                if vm.is_none() && accelerator.is_none() {
                    nameless += 1;
                    continue;
                }
                no_cheaper += usize::from(spot_usd.is_some_and(|spot| spot >= usd));
                all.push(Offered {
                    vm,
                    accelerator,
                    region,
                    zone: row
                        .optional_text("AvailabilityZone")
                        .unwrap_or_default()
                        .to_owned(),
                    usd,
                    spot_usd,
                });
            }
        }
    }
    let dropped = [
        ("other regions", elsewhere),
        ("no price", unpriced),
        ("a price of 0", free),
        ("neither VM type nor accelerator", nameless),
    ];
    report.rows(format!("{cloud}, {}", source.name), read, &dropped);
    if no_cheaper > 0 {
        report.note(format!(
            "{cloud}: {no_cheaper} spot prices are not below on demand"
        ));
    }
    all
}

/// A price of at least 0; `None` where the cell is empty.
fn usd(row: &Row<'_>, column: &str, diagnostics: &mut Diagnostics) -> Option<f64> {
    row.optional_number(column, 0.0..=1e6, diagnostics)
}

/// A spot price; one of 0 is none.
fn usd_of_spot(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<f64> {
    usd(row, "SpotPrice", diagnostics).filter(|usd| *usd > 0.0)
}

fn accelerator(row: &Row<'_>, diagnostics: &mut Diagnostics) -> Option<(String, f64)> {
    let name = row.optional_text("AcceleratorName")?;
    let count = row.optional_number("AcceleratorCount", 0.0..=1e6, diagnostics);
    Some((name.to_owned(), count.unwrap_or(1.0)))
}

/// Takes the prices of a copy: rows with a VM type as they are, hosts with accelerators joined.
fn take(
    cloud: &str,
    day: Date,
    offered: Vec<Offered>,
    attach: &[Joined],
    seen: &mut Seen,
    report: &mut Report,
) {
    let fleet = Fleet::listed();
    let (with_type, loose): (Vec<Offered>, Vec<Offered>) =
        offered.into_iter().partition(|o| o.vm.is_some());
    let is_apart = !loose.is_empty();
    let mut clashes: BTreeSet<super::Key> = BTreeSet::new();
    let mut add = |vm: &str, at: &Offered, usd: f64, spot: Option<f64>| {
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
    let fitting = |host: &Offered, name: &str, count: f64| {
        loose.iter().find(|l| {
            (&l.region, &l.zone) == (&host.region, &host.zone)
                && l.accelerator
                    .as_ref()
                    .is_some_and(|(model, own)| model == name && *own == count)
        })
    };
    let sum = |host: &Offered, more: &Offered| {
        let spot = host.spot_usd.zip(more.spot_usd).map(|(a, b)| a + b);
        (host.usd + more.usd, spot)
    };
    for row in &with_type {
        let vm = row.vm.as_deref().unwrap_or_default();
        for joined in attach.iter().filter(|j| j.host == vm) {
            if let Some(more) = fitting(row, &joined.accelerator, joined.count) {
                let (usd, spot) = sum(row, more);
                add(&joined.name, row, usd, spot);
            }
        }
        // A host that is only rented with accelerators has no price by itself.
        let built_in = fleet.vm_type(vm).and_then(|t| t.gpus.as_ref());
        match built_in {
            Some(gpus) if is_apart && row.accelerator.is_none() => {
                match fitting(row, &gpus.model, gpus.count as f64) {
                    Some(more) => {
                        let (usd, spot) = sum(row, more);
                        add(vm, row, usd, spot);
                    }
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
    if !clashes.is_empty() {
        let first = clashes.first().map_or(String::new(), |key| key.1.clone());
        report.note(format!(
            "{cloud}, {day}: {} VM types have two prices in one zone, {first} among them: dropped",
            clashes.len()
        ));
        clashes.iter().for_each(|key| {
            seen.remove(key);
        });
    }
    if !hosts_alone.is_empty() {
        let some: Vec<&str> = hosts_alone.iter().take(4).map(String::as_str).collect();
        report.note(format!(
            "{cloud}, {day}: {} hosts stand apart from accelerators that belong to them and are dropped, {} among them: join them with --attach",
            hosts_alone.len(),
            some.join(", ")
        ));
    }
    if is_apart {
        let models: BTreeSet<&str> = (loose.iter())
            .filter_map(|l| l.accelerator.as_ref())
            .map(|(model, _)| model.as_str())
            .collect();
        report.note(format!(
            "{cloud}, {day}: {} rows are accelerators without a host, {} models: join them with --attach, such as n1-standard-8+T4:1",
            loose.len(),
            models.len()
        ));
    }
}

/// GCP calls hosts that are built around accelerators `a2-`, `g2-` and so on, where they stand in rows of their own.
fn is_accelerated_family(vm: &str) -> bool {
    let mut letters = vm.chars();
    let first = letters.next();
    matches!(first, Some('a' | 'g')) && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// Every pair that was asked for must be somewhere.
fn missing_joins(attach: &[Joined], seen: &Seen, diagnostics: &mut Diagnostics) {
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

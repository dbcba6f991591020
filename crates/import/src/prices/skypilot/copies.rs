//! The tables of a catalogue, and their dates.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use scavsim_data::cloud::Date;
use scavsim_read::input::{Diagnostic, Diagnostics, closest};

#[derive(Debug, Clone, Default)]
pub struct SkypilotOptions {
    /// Folders of catalogues: `vN`, or the folder of one cloud in it.
    pub folders: Vec<PathBuf>,
    /// The day of each folder; not needed if its name is a day.
    pub dates: Vec<String>,
    pub clouds: Vec<String>,
    pub regions: Vec<String>,
    /// Hosts with accelerators: `[NAME=]HOST+ACCELERATOR:COUNT`.
    pub attach: Vec<String>,
}

const FILE: &str = "vms.csv";

/// Cloud, day and table of every copy.
pub(super) fn copies(
    options: &SkypilotOptions,
    diagnostics: &mut Diagnostics,
) -> Vec<(String, Date, PathBuf)> {
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

/// Clouds and their tables in a folder, which may be the folder of one cloud.
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

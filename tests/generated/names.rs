//! Names that a scenario can use and the schema does not list: they come from the project's own tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::luck::Luck;

/// Where the tables are.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A listed price: its region and day.
#[derive(Debug, Clone)]
pub struct Listed {
    pub provider: String,
    pub vm: String,
    pub region: String,
    pub market: String,
    pub from: String,
    pub to: String,
}

pub struct Names {
    pub listed: Vec<Listed>,
    /// Times of spot VMs to start, and of models to restart.
    pub start_ups: Vec<String>,
    pub restarts: Vec<String>,
    /// Layer profiles: name, and the measured GPUs.
    pub profiles: Vec<(String, Vec<String>)>,
    /// Measured grids with their jobs, and whether a policy can charge them: a grid without VM types has only its own costs.
    pub grids: Vec<(String, Vec<String>, bool)>,
    /// VM types with GPUs: name, GPU, number.
    pub gpu_vms: Vec<(String, String, u32)>,
    /// GPUs by their names in the data sheets.
    pub sheets: Vec<String>,
}

impl Names {
    pub fn read() -> Names {
        let rows = |path: &str| table(&repository().join(path));
        let mut listed = Vec::new();
        for provider in ["aws", "azure", "gcp"] {
            let all = rows(&format!("data/clouds/prices/{provider}.csv"));
            listed.extend(all.into_iter().map(|row| Listed {
                provider: provider.to_owned(),
                vm: row.cell("vm"),
                region: row.cell("region"),
                market: row.cell("market"),
                from: row.cell("valid_from"),
                to: row.cell("valid_to"),
            }));
        }
        let spot = rows("data/clouds/delays/startup.csv").into_iter();
        let start_ups = spot.filter(|row| row.cell("market") == "spot").map(|row| {
            let parts = ["provider", "gpu", "region"].map(|part| row.cell(part));
            parts.join("-").to_lowercase()
        });
        let restarts = rows("data/clouds/delays/restart.csv").into_iter();
        let restarts: BTreeSet<String> = restarts
            .map(|row| row.cell("model").to_lowercase().replace(' ', "-"))
            .collect();
        let profiles = folders("data/layers").into_iter().map(|folder| {
            let times = table(&folder.join("times.csv")).into_iter();
            let gpus: BTreeSet<String> = times.map(|row| row.cell("gpu")).collect();
            (name(&folder), gpus.into_iter().collect())
        });
        let grids = folders("data/grids").into_iter().map(|folder| {
            let text = fs::read_to_string(folder.join("grid.toml")).expect("it is checked in");
            let spec: toml::Table = text.parse().expect("it is TOML");
            let column = spec["job"].as_str().unwrap_or_default().to_owned();
            let rows = table(&folder.join("rows.csv")).into_iter();
            let jobs: BTreeSet<String> = rows.map(|row| row.cell(&column)).collect();
            (
                name(&folder),
                jobs.into_iter().collect(),
                spec.contains_key("vms"),
            )
        });
        let vms = rows("data/clouds/vms.csv").into_iter();
        let gpu_vms = vms.filter_map(|row| {
            let gpus = row.cell("gpus").parse().ok()?;
            Some((row.cell("vm"), row.cell("gpu"), gpus))
        });
        let sheets = rows("data/gpus/gpus.csv").into_iter().flat_map(|row| {
            let aliases = row.cell("aliases");
            let aliases = aliases.split(';').map(str::to_owned);
            aliases.chain([row.cell("name")]).collect::<Vec<_>>()
        });
        Names {
            sheets: sheets.filter(|name| !name.is_empty()).collect(),
            listed,
            start_ups: start_ups.collect(),
            restarts: restarts.into_iter().collect(),
            profiles: profiles.collect(),
            grids: grids.collect(),
            gpu_vms: gpu_vms.collect(),
        }
    }

    /// A day and region in which several VM types are listed on demand, and some of them.
    pub fn place(&self, most: usize, luck: &mut Luck) -> (Listed, Vec<String>) {
        loop {
            let at = luck.pick(&self.listed).clone();
            let beside = self.listed.iter().filter(|other| {
                (&other.provider, &other.region) == (&at.provider, &at.region)
                    && other.market == "on-demand"
                    && other.from <= at.from
                    && (other.to.is_empty() || other.to >= at.from)
            });
            let mut vms: Vec<String> = beside.map(|other| other.vm.clone()).collect();
            vms.dedup();
            if vms.is_empty() {
                continue;
            }
            let wanted = (1 + luck.below(most)).min(vms.len());
            while vms.len() > wanted {
                vms.remove(luck.below(vms.len()));
            }
            return (at, vms);
        }
    }
}

/// A row by the names of its columns.
pub struct Row {
    header: csv::StringRecord,
    cells: csv::StringRecord,
}

impl Row {
    pub fn cell(&self, column: &str) -> String {
        let at = self.header.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at))
            .unwrap_or_default()
            .to_owned()
    }
}

pub fn table(path: &Path) -> Vec<Row> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_path(path)
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let header = reader.headers().expect("a header").clone();
    let rows = reader.records().map(|cells| Row {
        header: header.clone(),
        cells: cells.expect("a row"),
    });
    rows.collect()
}

/// The folders in a folder of this repository.
fn folders(path: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join(path)).expect("it is checked in");
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is readable").path())
        .filter(|path| path.is_dir())
        .collect();
    all.sort();
    all
}

fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

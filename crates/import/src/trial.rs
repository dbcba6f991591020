//! Checks that a scenario accepts the imported files, before anything is written.

use std::path::Path;

use scavsim_data::cloud::PriceTable;
use scavsim_read::input::{Diagnostic, Diagnostics, Folder, Source};
use scavsim_scenario::{Extensions, Overrides};

/// A scenario with only the workload, for any price of its VMs: prices matter when it is run.
const SCENARIO: &str = "workloads = [\"imported\"]\nsearch.strategies = [\"oracle\"]\npricing.policies = [\"paper-fixed\"]\n";

/// Reads the files of a workload back, like a scenario with only this workload.
pub fn workload<N: AsRef<str>>(files: &[(N, String)], out: &Path) -> Result<(), Diagnostics> {
    judge(tried(files, out, SCENARIO), "workload")
}

/// The mistakes of a scenario with these files.
fn tried<N: AsRef<str>>(files: &[(N, String)], out: &Path, scenario: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let given = Extensions {
        workloads: vec![("imported".to_owned(), folder(files, out))],
        ..Extensions::default()
    };
    let source = Source::new("a scenario of the imported workload", scenario);
    let (here, overrides) = (Path::new("."), Overrides::default());
    scavsim_scenario::load_with(&source, here, overrides, &given, &mut diagnostics);
    diagnostics
}

/// Mistakes of a scenario with only the workload at usual prices: its VMs may have no price.
pub fn prices_of_vms<N: AsRef<str>>(files: &[(N, String)], out: &Path) -> Diagnostics {
    tried(files, out, "workloads = [\"imported\"]\n")
}

pub fn grid<N: AsRef<str>>(files: &[(N, String)], out: &Path) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    scavsim_grids::load::load(&folder(files, out), &mut diagnostics);
    judge(diagnostics, "grid")
}

pub fn prices(text: &str, out: &Path) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new(out.display().to_string(), text);
    PriceTable::read(&source, &mut diagnostics);
    judge(diagnostics, "table")
}

pub fn folder<N: AsRef<str>>(files: &[(N, String)], out: &Path) -> Folder {
    let texts = files.iter();
    Folder::Memory {
        name: out.display().to_string(),
        files: texts
            .map(|(n, text)| (n.as_ref().to_owned(), text.clone()))
            .collect(),
    }
}

fn judge(mut diagnostics: Diagnostics, what: &str) -> Result<(), Diagnostics> {
    if diagnostics.is_empty() {
        return Ok(());
    }
    let title = format!("these measurements make no {what} that a scenario can name");
    let help = "below, the files that would have been written";
    diagnostics.push(Diagnostic::general(title).with_help(help));
    Err(diagnostics)
}

//! The scenario files that a command is given.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::exit::Failure;
use super::listener::heard;
use super::{example, terminal};
use scavsim_read::input::regular::MOST_BYTES;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};
use scavsim_scenario::{Overrides, Scenario};

/// Reads and checks all files, and prints their remarks to standard error.
pub(super) fn load(files: &[PathBuf], overrides: Overrides) -> Result<Vec<Scenario>, Failure> {
    let scenarios = load_silently(files, overrides)?;
    note_remarks(&scenarios);
    Ok(scenarios)
}

/// Prints the remarks about scenarios to standard error.
pub(super) fn note_remarks(scenarios: &[Scenario]) {
    for scenario in scenarios {
        for sentence in scenario.remarks.on_stderr() {
            terminal::note(&format!("{}: {sentence}", scenario.name));
        }
    }
}

/// Reads and checks all files; all mistakes in them are reported together.
pub(super) fn load_silently(
    files: &[PathBuf],
    overrides: Overrides,
) -> Result<Vec<Scenario>, Failure> {
    let mut diagnostics = Diagnostics::default();
    let scenarios: Vec<Option<Scenario>> = files
        .iter()
        .map(|path| {
            let source = read(path, &mut diagnostics)?;
            if let Some(wrong) = other_form(path, &source.text) {
                diagnostics.push(wrong);
                return None;
            }
            let folder = path.parent().unwrap_or(Path::new("."));
            scavsim_scenario::load(&source, folder, overrides.clone(), &mut diagnostics)
        })
        .collect();
    match scenarios.into_iter().collect::<Option<Vec<_>>>() {
        Some(scenarios) if diagnostics.is_empty() => Ok(scenarios),
        _ => Err(Failure::Wrong(diagnostics)),
    }
}

/// What a file is if it is no scenario, from its first line: a table of measurements, or YAML.
fn other_form(path: &Path, text: &str) -> Option<Diagnostic> {
    let mut lines = text.lines().map(str::trim_end);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    if first.contains(['=', '[']) {
        return None;
    }
    let path = path.display();
    let (what, help) = if first.contains([',', '\t']) {
        let help = format!("`scavsim advise {path} --samples-per-epoch N` reads measurements");
        ("a table", help)
    } else if first == "---" || first.contains(": ") || first.ends_with(':') {
        let help =
            "write `key = value` below `[table]`; `scavsim new NAME` writes a first scenario";
        ("YAML", help.to_owned())
    } else {
        return None;
    };
    let title = format!("{path} is {what}, and scenarios are TOML");
    Some(Diagnostic::general(title).with_help(help))
}

/// The text of a scenario; `-` is standard input, which is read only once.
pub(super) fn read(path: &Path, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
    static STDIN: LazyLock<io::Result<String>> =
        LazyLock::new(|| io::read_to_string(io::stdin().lock().take(MOST_BYTES)));
    if path.as_os_str() == "-" {
        if let Some(text) = heard(|listener| listener.given.clone()).flatten() {
            return Some(Source::new("scenario", text));
        }
        let failed = |error| {
            let title = format!("cannot read standard input: {error}");
            diagnostics.push(Diagnostic::general(title));
        };
        let text = STDIN.as_ref().map_err(failed).ok()?;
        return Some(Source::new("stdin", text.clone()));
    }
    let is_there = fs::metadata(path).is_ok();
    let mut unread = Diagnostics::default();
    let source = Source::read(path, &mut unread);
    diagnostics.extend(unread.into_iter().map(|one| match (is_there, &one.help) {
        (false, None) => one.with_help(example::instead_of(path)),
        _ => one,
    }));
    source
}

/// The number of available cores.
pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

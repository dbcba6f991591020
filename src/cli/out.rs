//! Where commands write results.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::exit::{Failure, no_mistakes, wrong};
use scavsim_base::output::remove_empty;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_show::report::{OutputFolder, results};

const HELP: &str = "`--out` needs a folder in which files can be created";

/// The last part of a path.
pub(super) fn last(path: &Path) -> String {
    let last = path.file_name().unwrap_or_default();
    last.to_string_lossy().into_owned()
}

/// The last part of a path without its ending.
pub(super) fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

pub(super) fn writable<T>(folder: io::Result<T>) -> Result<T, Failure> {
    written(folder, HELP)
}

/// An unwritable place is wrong usage, with this help; a temporary problem, such as a full disk, is a failure.
pub(super) fn written<T>(place: io::Result<T>, help: &str) -> Result<T, Failure> {
    place.map_err(|error| {
        if may_pass(&error) {
            Failure::from(error)
        } else {
            wrong(error.to_string(), help)
        }
    })
}

/// Whether the command may succeed later: another process holds the place, or there is no room.
fn may_pass(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, FileTooLarge, QuotaExceeded, StorageFull, WouldBlock};
    matches!(
        error.kind(),
        BrokenPipe | FileTooLarge | QuotaExceeded | StorageFull | WouldBlock
    )
}

/// Opens the output folders of these scenarios, writable and locked until dropped. Fails for equal names, and removes what it created.
pub(super) fn folders(
    out: &Path,
    names: &[&str],
    open: fn(&Path) -> io::Result<OutputFolder>,
) -> Result<Vec<OutputFolder>, Failure> {
    let mut diagnostics = Diagnostics::default();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            diagnostics.push(Diagnostic::general(format!(
                "two scenarios are called `{name}` and would write to the same folder"
            )));
        }
    }
    no_mistakes(diagnostics)?;
    let mut diagnostics = Diagnostics::default();
    let paths: Vec<PathBuf> = match names {
        [_] => vec![out.to_owned()],
        _ => names.iter().map(|name| out.join(name)).collect(),
    };
    // Deepest first, so that each folder is empty before it is removed.
    let mut missing: Vec<&Path> = (paths.iter().flat_map(|path| path.ancestors()))
        .filter(|path| fs::symlink_metadata(path).is_err())
        .collect();
    missing.sort_unstable_by_key(|path| std::cmp::Reverse(path.components().count()));
    let mut taken = None;
    let mut folders = Vec::new();
    for path in &paths {
        let folder = open(path).and_then(|own| results::may_be_written(&own).map(|()| own));
        match folder {
            Ok(folder) => folders.push(folder),
            Err(error) if may_pass(&error) => taken = Some(error),
            Err(error) => {
                diagnostics.push(Diagnostic::general(error.to_string()).with_help(HELP));
            }
        }
    }
    if taken.is_none() && diagnostics.is_empty() {
        return Ok(folders);
    }
    // Nothing is run, so new folders are removed.
    missing.into_iter().for_each(remove_empty);
    match taken.filter(|_| diagnostics.is_empty()) {
        Some(error) => Err(error.into()),
        None => Err(Failure::Wrong(diagnostics)),
    }
}

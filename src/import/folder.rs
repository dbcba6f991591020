//! The folder on disk, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::input::{Diagnostic, Diagnostics};

/// What a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// In one word.
    pub name: &'static str,
    /// The file by which it is told.
    pub file: &'static str,
}

impl Kind {
    /// A workload.
    pub const WORKLOAD: Kind = Kind {
        name: "workload",
        file: "workload.toml",
    };
    /// A measured grid.
    pub const GRID: Kind = Kind {
        name: "grid",
        file: crate::grid::SPEC,
    };
}

/// Whether `out` may be written: it is not there, or it is of this `kind` and `force` is given.
/// Anything else there is never replaced.
pub fn check(out: &Path, kind: Kind, force: bool, diagnostics: &mut Diagnostics) {
    if out.file_name().is_none() {
        let title = format!("`{}` does not name a folder", out.display());
        diagnostics.push(Diagnostic::general(title).with_help("end the path with a name"));
        return;
    }
    // A link to nowhere is there too.
    if fs::symlink_metadata(out).is_err() {
        return;
    }
    let is_alike = out.join(kind.file).is_file();
    if is_alike && force {
        return;
    }
    let name = kind.name;
    let help = if is_alike {
        format!("choose another folder, or replace this {name} with --force")
    } else {
        format!("choose another folder; this is no {name}, so --force does not replace it")
    };
    let title = format!("{} is already there", out.display());
    diagnostics.push(Diagnostic::general(title).with_help(help));
}

/// Writes files, each a name and a text, as the folder `out`, replacing the one that [`check`]
/// allowed.
///
/// # Errors
/// Whatever prevents it; then `out` is as it was.
pub fn write<N: AsRef<Path>>(files: &[(N, String)], out: &Path) -> io::Result<()> {
    let named =
        |e: io::Error| io::Error::new(e.kind(), format!("cannot write {}: {e}", out.display()));
    put(files, out).map_err(named)
}

fn put<N: AsRef<Path>>(files: &[(N, String)], out: &Path) -> io::Result<()> {
    let parent = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent)?;
    // Dropped on any error, with what is in it.
    let aside = tempfile::Builder::new()
        .prefix(".import-")
        .tempdir_in(parent)?;
    let fresh = aside.path().join("new");
    fs::create_dir(&fresh)?;
    for (name, text) in files {
        let mut file = File::create(fresh.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    let old = aside.path().join("old");
    let replaces = fs::symlink_metadata(out).is_ok();
    if replaces {
        fs::rename(out, &old)?;
    }
    if let Err(error) = fs::rename(&fresh, out) {
        if replaces {
            fs::rename(&old, out)?;
        }
        return Err(error);
    }
    Ok(())
}

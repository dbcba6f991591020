//! The folder on disk, whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use scavsim_base::Lock;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// What a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// In one word.
    pub name: &'static str,
    /// The file by which it is told.
    pub file: &'static str,
    /// All files that it may have; others that lie beside them are not its own.
    pub files: &'static [&'static str],
}

impl Kind {
    /// A workload.
    pub const WORKLOAD: Kind = Kind {
        name: "workload",
        file: "workload.toml",
        files: &scavsim_data::workload::load::FILES,
    };
    /// A measured grid.
    pub const GRID: Kind = Kind {
        name: "grid",
        file: scavsim_search::grid::SPEC,
        files: &[scavsim_search::grid::SPEC, scavsim_search::grid::ROWS],
    };
    /// A layer profile.
    pub const LAYERS: Kind = Kind {
        name: "layer profile",
        file: scavsim_sim::parallel::profile::FILES[0],
        files: &crate::import::layers::FILES,
    };
    /// A market.
    pub const MARKET: Kind = Kind {
        name: "market",
        file: crate::import::market::FILES[0],
        files: &crate::import::market::FILES,
    };
    /// A price pack.
    pub const PRICES: Kind = Kind {
        name: "price pack",
        file: scavsim_data::cloud::pack::PRICES,
        files: &[
            scavsim_data::cloud::pack::PRICES,
            scavsim_data::cloud::pack::VMS,
        ],
    };
}

/// Whether `out` may be written: it is not there, or it is of this `kind` and `force` is given, and none of the `inputs`
/// lies in it. Anything else there is never replaced.
pub fn check(out: &Path, kind: Kind, force: bool, inputs: &[&Path], diagnostics: &mut Diagnostics) {
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
        let real = |path: &Path| fs::canonicalize(path).ok();
        let lies_inside = |input: &&&Path| {
            real(input)
                .zip(real(out))
                .is_some_and(|(input, out)| input.starts_with(out))
        };
        if let Some(input) = inputs.iter().find(lies_inside) {
            let title = format!(
                "{} lies in {}, which would be replaced",
                input.display(),
                out.display()
            );
            let help = "choose another folder, or move the input out of this one";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
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

/// Writes files, each a name and a text, as the folder `out`, in place of those of the `kind` that [`check`] allowed to
/// be replaced. Files beside them stay.
///
/// # Errors
/// Whatever prevents it; then `out` is as it was.
pub fn write<N: AsRef<Path>>(files: &[(N, String)], out: &Path, kind: Kind) -> io::Result<()> {
    let named =
        |e: io::Error| io::Error::new(e.kind(), format!("cannot write {}: {e}", out.display()));
    // Behind a link the folder itself is replaced, not the link.
    let real = fs::canonicalize(out).unwrap_or_else(|_| out.to_owned());
    put(files, &real, kind).map_err(named)
}

fn put<N: AsRef<Path>>(files: &[(N, String)], out: &Path, kind: Kind) -> io::Result<()> {
    let parent = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent)?;
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("{ASIDE}{name}-");
    finish_killed(parent, &prefix, out, kind)?;
    // Dropped on any error, with what is in it.
    let aside = tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir_in(parent)?;
    let _at_work = Lock::alone(aside.path())?;
    let fresh = aside.path().join("new");
    fs::create_dir(&fresh)?;
    for (name, text) in files {
        let mut file = File::create(fresh.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    let old = aside.path().join("old");
    let replaces = is_there(out);
    if replaces {
        fs::rename(out, &old)?;
    }
    if let Err(error) = fs::rename(&fresh, out) {
        if replaces {
            fs::rename(&old, out)?;
        }
        return Err(error);
    }
    if replaces && let Err(error) = move_others(&old, out, kind) {
        let kept = aside.keep().join("old");
        let told = format!("{error}; what was not moved back is in {}", kept.display());
        return Err(io::Error::new(error.kind(), told));
    }
    Ok(())
}

/// How the names begin of folders that are not finished.
const ASIDE: &str = ".import-";

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Brings to its end what imports of `out` left that were killed: what they moved aside comes back.
fn finish_killed(parent: &Path, prefix: &str, out: &Path, kind: Kind) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let path = entry?.path();
        let is_left = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix(prefix))
            .is_some_and(|rest| !rest.contains('-'));
        if !is_left || !path.is_dir() {
            continue;
        }
        // Nobody holds it whose process has ended.
        let Ok(_alone) = Lock::alone(&path) else {
            continue;
        };
        let old = path.join("old");
        match (is_there(&old), is_there(out)) {
            (true, false) => fs::rename(&old, out)?,
            (true, true) => move_others(&old, out, kind)?,
            (false, _) => {}
        }
        fs::remove_dir_all(&path)?;
    }
    Ok(())
}

/// Writes a file whole or not at all, in place of what is there.
///
/// # Errors
/// Whatever prevents it.
pub fn write_file(text: &str, out: &Path) -> io::Result<()> {
    let write = || {
        let parent = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent)?;
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(out).map_err(|e| e.error).map(drop)
    };
    write().map_err(|e| io::Error::new(e.kind(), format!("cannot write {}: {e}", out.display())))
}

/// Moves all but the files of the `kind` from one folder to another.
fn move_others(from: &Path, to: &Path, kind: Kind) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        let is_own = kind.files.iter().any(|own| name == *own);
        if !is_own {
            fs::rename(from.join(&name), to.join(&name))?;
        }
    }
    Ok(())
}

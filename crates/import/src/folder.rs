//! Writes a folder to disk, completely or not at all.

use std::fs;
use std::io;
use std::path::Path;

use scavsim_base::output::replace_folder;
use scavsim_read::input::{Diagnostic, Diagnostics};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    /// The file that identifies the kind.
    pub file: &'static str,
    /// All possible files of it; other files in the folder do not belong to it.
    pub files: &'static [&'static str],
}

impl Kind {
    pub const WORKLOAD: Kind = Kind {
        name: "workload",
        file: "workload.toml",
        files: &scavsim_data::workload::load::FILES,
    };
    pub const GRID: Kind = Kind {
        name: "grid",
        file: scavsim_grids::SPEC,
        files: &[scavsim_grids::SPEC, scavsim_grids::ROWS],
    };
    pub const LAYERS: Kind = Kind {
        name: "layer profile",
        file: scavsim_parallel::profile::FILES[0],
        files: &scavsim_parallel::profile::FILES,
    };
    pub const MARKET: Kind = Kind {
        name: "market",
        file: crate::market::FILES[0],
        files: &crate::market::FILES,
    };
    pub const PRICES: Kind = Kind {
        name: "price pack",
        file: scavsim_data::cloud::pack::PRICES,
        files: &[
            scavsim_data::cloud::pack::PRICES,
            scavsim_data::cloud::pack::VMS,
        ],
    };
}

/// Whether `out` may be written: absent, or of this `kind` with `force` and without any of `inputs`. Nothing else is
/// replaced.
pub fn check(out: &Path, kind: Kind, force: bool, inputs: &[&Path], diagnostics: &mut Diagnostics) {
    if out.file_name().is_none() {
        let title = format!("`{}` does not name a folder", out.display());
        diagnostics.push(Diagnostic::general(title).with_help("end the path with a name"));
        return;
    }
    // A dangling link also exists.
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

/// Writes files, each a name and a text, as the folder `out`, in place of those that [`check`] allowed. Other files in the
/// folder stay.
pub fn write<N: AsRef<Path>>(files: &[(N, String)], out: &Path, kind: Kind) -> io::Result<()> {
    replace_folder(out, files, kind.files)
}

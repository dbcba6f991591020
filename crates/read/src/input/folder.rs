//! Folders of data: inside the binary, on disk, or in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::Dir;

use super::words::{listed, shown};
use super::{Diagnostic, Diagnostics, Source};

/// The place of the tables of a workload or a grid.
#[derive(Debug, Clone)]
pub enum Folder {
    Embedded {
        /// The path in the repository, for messages.
        root: &'static str,
        dir: &'static Dir<'static>,
    },
    Disk(PathBuf),
    Memory {
        /// The name in messages.
        name: String,
        files: BTreeMap<String, String>,
    },
}

impl Folder {
    pub fn has(&self, file: &str) -> bool {
        match self {
            Folder::Embedded { dir, .. } => dir.get_file(dir.path().join(file)).is_some(),
            Folder::Disk(path) => path.join(file).symlink_metadata().is_ok(),
            Folder::Memory { files, .. } => files.contains_key(file),
        }
    }

    /// Refuses unknown files in memory. On disk other files than the `known` ones are allowed.
    pub fn only(&self, known: &[&str], diagnostics: &mut Diagnostics) {
        let Folder::Memory { name, files } = self else {
            return;
        };
        for file in files.keys().filter(|file| !known.contains(&file.as_str())) {
            let title = format!("{name}/{}: no such file is read", shown(file));
            let help = format!("allowed here: {}", listed(known.iter().copied()));
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
    }

    pub fn read(&self, file: &str, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
        match self {
            Folder::Disk(path) => Source::read(&path.join(file), diagnostics),
            Folder::Memory { name, files } => {
                let place = format!("{name}/{file}");
                match files.get(file) {
                    Some(text) => Some(Source::new(place, text)),
                    None => {
                        diagnostics.push(Diagnostic::general(format!("there is no {place}")));
                        None
                    }
                }
            }
            Folder::Embedded { root, dir } => {
                let path = dir.path().join(file);
                let name = Path::new(root).join(&path).display().to_string();
                match dir.get_file(&path).and_then(|f| f.contents_utf8()) {
                    Some(text) => Some(Source::new(name, text)),
                    None => {
                        diagnostics.push(Diagnostic::general(format!("cannot read {name}")));
                        None
                    }
                }
            }
        }
    }
}

/// The names of the folders in an embedded one, in alphabetical order.
pub fn names(embedded: &'static Dir<'static>) -> Vec<&'static str> {
    let mut names: Vec<&str> = embedded
        .dirs()
        .filter_map(|d| d.path().file_name()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

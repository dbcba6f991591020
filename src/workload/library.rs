//! The workloads embedded in the binary, and folders on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};

use crate::input::{Diagnostic, Diagnostics, Source};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/workloads");

/// Where a workload's tables are.
#[derive(Debug, Clone)]
pub enum Folder {
    /// Inside the binary.
    Embedded(&'static Dir<'static>),
    /// On disk.
    Disk(PathBuf),
}

impl Folder {
    /// The embedded workload called `name`.
    pub fn embedded(name: &str) -> Option<Folder> {
        EMBEDDED.get_dir(name).map(Folder::Embedded)
    }

    /// Whether `file` exists.
    pub fn has(&self, file: &str) -> bool {
        match self {
            Folder::Embedded(dir) => dir.get_file(dir.path().join(file)).is_some(),
            Folder::Disk(path) => path.join(file).exists(),
        }
    }

    /// Reads `file`; what prevents it goes to `diagnostics`.
    pub fn read(&self, file: &str, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
        match self {
            Folder::Disk(path) => Source::read(&path.join(file), diagnostics),
            Folder::Embedded(dir) => {
                let path = dir.path().join(file);
                let name = Path::new("data/workloads")
                    .join(&path)
                    .display()
                    .to_string();
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

/// The names of all embedded workloads, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = EMBEDDED
        .dirs()
        .filter_map(|d| d.path().file_name()?.to_str())
        .collect();
    names.sort_unstable();
    names
}

//! The workloads embedded in the binary.

use include_dir::{Dir, include_dir};

use crate::input::{Folder, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/workloads");

/// The folder of the embedded workload called `name`.
pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    let root = "data/workloads";
    Some(Folder::Embedded { root, dir })
}

/// The names of all embedded workloads, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

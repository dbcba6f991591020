//! The grids embedded in the binary.

use include_dir::{Dir, include_dir};

use super::{Grid, load};
use scavsim_read::input::{Diagnostics, Folder, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/grids");

pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    let root = "data/grids";
    Some(Folder::Embedded { root, dir })
}

/// The embedded grid called `name`; `None` where there is none, or with `diagnostics`.
pub fn load(name: &str, diagnostics: &mut Diagnostics) -> Option<Grid> {
    load::load(&embedded(name)?, diagnostics)
}

/// The names of all embedded grids, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

use include_dir::{Dir, include_dir};

use super::{Grid, load};
use scavsim_read::input::{Diagnostics, Folder, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/grids");

pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    let root = "data/grids";
    Some(Folder::Embedded { root, dir })
}

pub fn load(name: &str, diagnostics: &mut Diagnostics) -> Option<Grid> {
    load::load(&embedded(name)?, diagnostics)
}

pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

use std::sync::Arc;

use include_dir::{Dir, include_dir};

use crate::{LayerProfile, Links};
use scavsim_read::input::{Diagnostics, Folder, Source, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/layers");

const ROOT: &str = "data/layers";

pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    Some(Folder::Embedded { root: ROOT, dir })
}

pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

/// The embedded layer profile called `name`; `None` if there is none, or with `diagnostics`.
pub fn profile(name: &str, diagnostics: &mut Diagnostics) -> Option<LayerProfile> {
    LayerProfile::load(&embedded(name)?, diagnostics)
}

pub fn links(diagnostics: &mut Diagnostics) -> Option<Links> {
    Links::read(&file("links.csv", diagnostics)?, diagnostics)
}

pub(crate) fn file(name: &str, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
    let folder = Folder::Embedded {
        root: ROOT,
        dir: &EMBEDDED,
    };
    folder.read(name, diagnostics)
}

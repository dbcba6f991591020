//! The layer profiles and links embedded in the binary.

use std::sync::Arc;

use include_dir::{Dir, include_dir};

use super::{LayerProfile, Links};
use scavsim_read::input::{Diagnostics, Folder, Source, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/layers");

/// Where the embedded folders are, for messages.
const ROOT: &str = "data/layers";

/// The folder of the embedded layer profile called `name`.
pub fn embedded(name: &str) -> Option<Folder> {
    let dir = EMBEDDED.get_dir(name)?;
    Some(Folder::Embedded { root: ROOT, dir })
}

/// The names of all embedded layer profiles, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    folder::names(&EMBEDDED)
}

/// The embedded layer profile called `name`; `None` where there is none, or with `diagnostics`.
pub fn profile(name: &str, diagnostics: &mut Diagnostics) -> Option<LayerProfile> {
    LayerProfile::load(&embedded(name)?, diagnostics)
}

pub fn links(diagnostics: &mut Diagnostics) -> Option<Links> {
    Links::read(&file("links.csv", diagnostics)?, diagnostics)
}

/// An embedded table that is of no profile.
pub(super) fn file(name: &str, diagnostics: &mut Diagnostics) -> Option<Arc<Source>> {
    let folder = Folder::Embedded {
        root: ROOT,
        dir: &EMBEDDED,
    };
    folder.read(name, diagnostics)
}

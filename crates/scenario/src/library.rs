//! Scenarios in the library of the program.

use std::path::Path;
use std::sync::Arc;

use include_dir::{Dir, include_dir};

use scavsim_read::input::Source;

pub static SHIPPED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios");

/// Prefix in `include` for files of the library, whose own paths start at its folder.
pub const PREFIX: &str = "library:";

/// Name of the library file at `path`, if it is one.
pub fn name(path: &Path) -> Option<&str> {
    let name = path.to_str()?.strip_prefix(PREFIX)?;
    Some(name.trim_start_matches(['/', '\\']))
}

pub fn source(name: &str) -> Option<Arc<Source>> {
    let text = SHIPPED.get_file(name)?.contents_utf8()?;
    Some(Source::new(format!("{PREFIX}{name}"), text))
}

pub fn names() -> Vec<&'static str> {
    let paths = SHIPPED.files().filter_map(|file| file.path().to_str());
    paths.filter(|path| path.ends_with(".toml")).collect()
}

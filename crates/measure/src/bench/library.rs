use std::sync::Arc;

use include_dir::{Dir, include_dir};

use scavsim_read::input::Source;

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/bench");

/// The name of the default suite.
pub const NEWEST: &str = "v2";

pub fn source(name: &str) -> Option<Arc<Source>> {
    let file = format!("{name}.toml");
    let text = EMBEDDED.get_file(&file)?.contents_utf8()?;
    Some(Source::new(format!("data/bench/{file}"), text))
}

pub fn names() -> Vec<&'static str> {
    let paths = EMBEDDED.files().filter_map(|file| file.path().to_str());
    let mut names: Vec<&str> = paths
        .filter_map(|path| path.strip_suffix(".toml"))
        .collect();
    names.sort_unstable();
    names
}

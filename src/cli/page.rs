//! Writes pages.

use std::path::Path;

use super::exit::Failure;
use super::finished::wrong;
use scavsim_show::page::{self, contents::Contents};
use scavsim_show::report::Folder;

/// Writes a page, whole or not at all.
///
/// # Errors
/// [`Failure`]; a place that cannot be written is wrong usage.
pub(super) fn put(contents: &Contents, out: &Path) -> Result<(), Failure> {
    let html = page::html(contents).map_err(anyhow::Error::from)?;
    let help = "a page needs a file in a folder in which files can be created";
    let name = out.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| !out.is_dir()) else {
        return Err(wrong(
            format!("cannot write {}: it is no file", out.display()),
            help,
        ));
    };
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = Folder::prepare(parent.unwrap_or(Path::new(".")))
        .map_err(|error| wrong(error.to_string(), help))?;
    Ok(folder.write(name, html.as_bytes())?)
}

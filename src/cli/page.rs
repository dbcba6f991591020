use std::path::Path;

use super::exit::Failure;
use super::out::written;
use scavsim_base::output::write_file;
use scavsim_show::page::{self, contents::Contents};

pub(super) fn put(contents: &Contents, out: &Path) -> Result<(), Failure> {
    let html = page::html(contents).map_err(anyhow::Error::from)?;
    let help = "a page needs a file in a folder in which files can be created";
    written(write_file(out, html.as_bytes()), help)
}

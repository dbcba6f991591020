//! `scavsim schema`: the JSON Schema of a scenario file, for editors.

use super::exit::{Exit, Failure};
use super::terminal;
use scavsim_scenario::file;

pub fn run() -> Result<Exit, Failure> {
    terminal::print(&text()?)?;
    Ok(Exit::Done)
}

pub(super) fn text() -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(&file::schema()).map_err(anyhow::Error::from)?;
    Ok(text + "\n")
}

//! `scavsim --version`: which program, from which commit, and of when the prices in it are.

use scavsim_data::cloud::Catalogue;

/// The commit of a release build; empty where nobody knows, and in development.
const COMMIT: &str = env!("SCAVSIM_COMMIT");

/// In one line; kept for the rest of the run, which is short.
pub fn version() -> &'static str {
    let commit = match COMMIT {
        "" => "development build",
        commit => commit,
    };
    let (catalogue, _) = Catalogue::embedded();
    let latest = catalogue.prices.iter().map(|price| price.valid_to).max();
    let prices = latest.map_or_else(String::new, |day| format!(", prices up to {day}"));
    format!("{} ({commit}{prices})", env!("CARGO_PKG_VERSION")).leak()
}

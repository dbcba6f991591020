//! `scavsim --version`: the program, its commit, and the date of its prices.

use scavsim_data::cloud::Catalogue;

/// The commit of a release build; empty if unknown, and in development.
const COMMIT: &str = env!("SCAVSIM_COMMIT");

/// The version in one line; kept for the rest of the short run.
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

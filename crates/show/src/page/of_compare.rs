//! The page of a comparison of strategies.

use super::contents::{Contents, Fact};
use super::of_blocks;
use crate::figure::material::distinct;
use scavsim_base::text::words::{plural, plural_with_commas};
use scavsim_measure::compare::Comparison;

pub fn contents(comparison: &Comparison) -> Contents {
    let blocks = &comparison.blocks;
    let units = blocks.first().map_or(0, |block| block.units.len() as u64);
    let scenarios = blocks.iter().flat_map(|block| &block.units);
    let scenarios = distinct(scenarios.map(|unit| &*unit.scenario));
    let told = comparison.told.iter().filter(|told| told.known_runs > 0.0);
    let told = told.map(|told| {
        format!(
            "{} knows {:.0} earlier runs, whose price is not in its overhead.",
            told.strategy, told.known_runs
        )
    });
    Contents {
        title: format!("{}: strategies beside each other", scenarios.join(", ")),
        about: vec![
            match comparison.told.len() {
                1 => "1 strategy".to_owned(),
                more => format!("{more} strategies"),
            },
            plural(units, "job"),
            plural_with_commas(comparison.replicas, "replica"),
        ],
        pickers: of_blocks::pickers(blocks),
        answers: of_blocks::answers(blocks),
        picture: Some(of_blocks::picture()),
        tables: vec![of_blocks::table(blocks), of_blocks::units(blocks)],
        caveats: told.collect(),
        facts: vec![
            Fact::new("scenarios", scenarios.join(", ")),
            Fact::new("replicas", comparison.replicas.to_string()),
            Fact::new("scavsim", env!("CARGO_PKG_VERSION")),
        ],
        sources: Vec::new(),
    }
}

//! What came out, in sentences.

use crate::figure::Material;
use crate::report::headline::{Headline, headlines};
use crate::report::places::Places;
use crate::report::summary_table::are_of_a_block;
use scavsim_lab::experiment::Group;

/// One sentence per setting, workload, policy and objective, as above the table in the terminal.
pub(super) fn of(material: &Material) -> Vec<String> {
    let blocks: Vec<&[Group]> = material.groups.chunk_by(are_of_a_block).collect();
    let (told, more) = headlines(&blocks, &Places::from_identity(&material.identity));
    // A number stays with its unit.
    let sentence = |one: Headline| format!("{} {}", one.about, one.text).replace(" %", "\u{a0}%");
    let mut all: Vec<String> = told.into_iter().map(sentence).collect();
    if more > 0 {
        all.push(format!(
            "{more} more of these stand in the table of strategies."
        ));
    }
    all
}

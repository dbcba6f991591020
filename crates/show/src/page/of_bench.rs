//! The page of a leaderboard.

use std::path::PathBuf;

use super::contents::{Contents, Fact};
use super::of_blocks;
use super::sources::Source;
use super::table::Table;
use scavsim_base::text::words::plural;
use scavsim_measure::bench::board::Board;
use scavsim_measure::bench::{Refusal, Suite, VerifiedSubmission};

/// The page of verified folders; refused ones are named.
pub fn contents(
    board: &Board,
    verified: &[VerifiedSubmission],
    refused: &[(PathBuf, Refusal)],
    suite: &Suite,
) -> Contents {
    let cases = verified.first().map_or(0, |own| own.submission.cases);
    let source = |grid: &scavsim_measure::bench::suite::SuiteGrid| Source {
        name: grid.name.clone(),
        what: "measured grid".to_owned(),
        from: "scavsim bench cards".to_owned(),
        licence: grid.licence.clone(),
        hash: grid.rows.clone(),
    };
    let of_refused = |(folder, refusal): &(PathBuf, Refusal)| {
        let first = refusal.why.first().map_or("", String::as_str);
        // The path itself is private.
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        format!("Refused: {name}: {first}")
    };
    let note = "Net overhead over the oracle, search included, mean over jobs. Ranks are means over jobs and blocks.";
    Contents {
        title: format!("Leaderboard of the suite {}", suite.name),
        about: vec![
            format!("version {}", suite.version),
            plural(verified.len() as u64, "submission"),
            format!("seed {}", suite.seed),
        ],
        pickers: of_blocks::pickers(&board.blocks),
        answers: of_blocks::answers(&board.blocks),
        picture: Some(of_blocks::picture()),
        tables: vec![
            Table::from_sheet("board", "Leaderboard", note, &board.to_sheet()),
            of_blocks::table(&board.blocks),
            of_blocks::units(&board.blocks),
        ],
        caveats: (board.headlines().into_iter())
            .filter(|sentence| sentence.ends_with("everywhere."))
            .chain(refused.iter().map(of_refused))
            .collect(),
        facts: vec![
            Fact::new("suite", format!("{} version {}", suite.name, suite.version)),
            Fact::new("hash of the suite", suite.hash.clone()),
            Fact::new("seed", suite.seed.to_string()),
            Fact::new("searches of each", cases.to_string()),
            Fact::new("scavsim", env!("CARGO_PKG_VERSION")),
        ],
        sources: suite.grids.iter().map(source).collect(),
    }
}

//! A submission: a folder with the transcripts of all searches of a suite, and its description.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::contestant::{Contestant, Entrant, hash_of_file, is_built_in, not_a_label, not_a_text};
use super::suite::{Suite, SuiteScenario};
use super::suite_searches::{NoBench, RunMode, walk};
use super::transcript;
use crate::compare::{Block, ComparisonOptions, Tally};
use scavsim_base::output::OutputFolder;
use scavsim_base::stats::mean;
use scavsim_base::text::words::{or_dash, signed_percent};
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_read::input::{Diagnostics, Source, json};
use scavsim_search::search::Objective;

pub const FILE: &str = "submission.json";
/// Folder of the program's files in the submission.
const PROGRAM: &str = "program";

/// Why a folder does not match its claims, in sentences.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", why.join("; "))]
pub struct Refusal {
    /// Each with its file and line.
    pub why: Vec<String>,
}

impl Refusal {
    pub fn for_reason(why: impl Into<String>) -> Refusal {
        Refusal {
            why: vec![why.into()],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Version of scavsim that made it.
    pub scavsim: String,
    pub suite: SubmittedSuite,
    /// Name on the leaderboard.
    pub name: String,
    /// The strategy, or the command of the program.
    pub strategy: String,
    /// Words of the program's command; none of a strategy that comes along.
    pub command: Vec<String>,
    /// BLAKE3 hashes of the program's files, which are in the folder `program`.
    pub program: BTreeMap<String, String>,
    /// What its constants were chosen on, by the word of who handed it in.
    pub tuned_on: String,
    pub cases: u64,
    /// BLAKE3 hash of the transcripts.
    pub transcripts: String,
    pub totals: Vec<Total>,
}

/// The suite that a folder was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedSuite {
    pub name: String,
    pub version: u32,
    pub seed: u64,
    /// BLAKE3 hash of its file.
    pub hash: String,
    /// BLAKE3 hashes of specification and table of each grid.
    pub grids: BTreeMap<String, [String; 2]>,
}

impl SubmittedSuite {
    pub fn from_suite(suite: &Suite) -> SubmittedSuite {
        let grids = suite.grids.iter();
        SubmittedSuite {
            name: suite.name.clone(),
            version: suite.version,
            seed: suite.seed,
            hash: suite.hash.clone(),
            grids: grids
                .map(|grid| (grid.name.clone(), [grid.spec.clone(), grid.rows.clone()]))
                .collect(),
        }
    }
}

/// What the searches on a grid came to, by objective and number of runs; overheads and regret are means over jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    pub grid: String,
    pub objective: Objective,
    pub repeats: u64,
    pub cases: u64,
    /// Searches that came to nothing that works, and are charged.
    pub failed: u64,
    pub net: Option<f64>,
    pub gross: Option<f64>,
    pub regret: Option<f64>,
}

/// The totals of blocks, grid by grid.
pub(super) fn totals(suite: &Suite, blocks: &[Block]) -> Vec<Total> {
    let of = |grid: &str, block: &Block| {
        let all = block.units.iter().zip(&block.entries[0].units);
        let own: Vec<&Tally> = (all.filter(|(unit, _)| unit.scenario == grid))
            .map(|(_, tally)| tally)
            .collect();
        let figure = |of: fn(&Tally) -> Option<f64>| mean(own.iter().filter_map(|tally| of(tally)));
        Total {
            grid: grid.to_owned(),
            objective: block.objective,
            repeats: block.repeats,
            cases: own.iter().map(|tally| tally.cases).sum(),
            failed: own.iter().map(|tally| tally.failed + tally.without).sum(),
            net: figure(Tally::net),
            gross: figure(Tally::gross),
            regret: figure(Tally::regret),
        }
    };
    let grids = suite.grids.iter();
    grids
        .flat_map(|grid| blocks.iter().map(|block| of(&grid.name, block)))
        .collect()
}

/// A folder with the results of its searches.
#[derive(Clone)]
pub struct VerifiedSubmission {
    pub submission: Submission,
    pub blocks: Vec<Block>,
    /// Whether its strategy repeated the searches, in addition to the replay of the transcripts.
    pub was_run_again: bool,
}

/// Makes all searches of a suite and writes a folder with their transcripts, the program and the results.
pub fn run(
    suite: &Suite,
    scenarios: &[SuiteScenario],
    contestant: &Contestant,
    folder: &Path,
    effort: ComparisonOptions<'_>,
) -> Result<VerifiedSubmission, NoBench> {
    let folder = OutputFolder::alone(folder)?;
    let mut file = folder.create(transcript::FILE)?;
    let way = RunMode::Search(&mut file);
    let blocks = walk(suite, scenarios, &contestant.name, effort, way)?;
    // The old file does not describe the new searches.
    folder.remove(FILE)?;
    file.close()?;
    let files = contestant.files();
    if !files.is_empty() {
        let program = folder.subfolder(PROGRAM)?;
        for (name, path) in files {
            program.copy(&path, &name)?;
        }
    }
    let made = Submission {
        scavsim: env!("CARGO_PKG_VERSION").to_owned(),
        suite: SubmittedSuite::from_suite(suite),
        name: contestant.name.clone(),
        strategy: contestant.strategy.clone(),
        command: contestant.command_words(),
        program: contestant.hashes()?,
        tuned_on: contestant.tuned_on.clone(),
        cases: suite.cases(scenarios),
        transcripts: hash_of_file(&folder.file(transcript::FILE))?,
        totals: totals(suite, &blocks),
    };
    let mut text = serde_json::to_string_pretty(&made).map_err(io::Error::other)?;
    text.push('\n');
    folder.write(FILE, text.as_bytes())?;
    Ok(VerifiedSubmission {
        submission: made,
        blocks,
        was_run_again: true,
    })
}

impl Submission {
    pub fn table(&self, page: &Page) -> String {
        let figure = |head, of: fn(&Total) -> Option<f64>| {
            Column::number(head, move |total: &&Total| {
                or_dash(of(total).map(signed_percent))
            })
        };
        let columns = [
            Column::text("grid", |total: &&Total| total.grid.clone()),
            Column::text("objective", |total: &&Total| {
                total.objective.name().to_owned()
            }),
            Column::number("R", |total: &&Total| total.repeats.to_string()),
            Column::number("searches", |total: &&Total| total.cases.to_string()),
            Column::number("failed", |total: &&Total| total.failed.to_string()),
            figure("net", |total| total.net),
            figure("gross", |total| total.gross),
            figure("regret", |total| total.regret),
        ];
        let fitted = Sheet::new(&self.totals, columns).fit(page);
        fitted.text(page) + &fitted.remark("", page)
    }

    pub fn read(folder: &Path) -> Result<Submission, Refusal> {
        let mut diagnostics = Diagnostics::default();
        let Some(source) = Source::read(&folder.join(FILE), &mut diagnostics) else {
            return Err(Refusal {
                why: diagnostics.iter().map(|one| one.title.clone()).collect(),
            });
        };
        let sound = json::check(&source.text);
        let read = sound.and_then(|()| serde_json::from_str(&source.text));
        let read: Submission = read.map_err(|why| {
            let place = format!("line {}, column {}", why.line(), why.column());
            let what = transcript::no_json(&why, &place);
            Refusal::for_reason(format!("{FILE} is none of this version: {what}"))
        })?;
        let why = not_a_label(&read.name, &read.strategy)
            .or_else(|| not_a_text(&read.tuned_on, usize::MAX));
        if let Some(why) = why {
            let why = format!("{FILE}: a name that cannot be shown: {why}");
            return Err(Refusal::for_reason(why));
        }
        let why = match (is_built_in(&read.strategy), read.command.as_slice()) {
            (true, []) => return Ok(read),
            (false, []) => "is no built-in strategy, and has no `command`",
            (true, _) => "is a program with the name of a built-in strategy",
            (false, words) if words.join(" ") != read.strategy => "is not its `command`",
            (false, _) => return Ok(read),
        };
        let why = format!("{FILE}: `{}` {why}", read.strategy);
        Err(Refusal::for_reason(why))
    }

    /// The author and strategy of a submission, from its folder.
    pub(super) fn contestant(
        &self,
        folder: &Path,
        diagnostics: &mut Diagnostics,
    ) -> Option<Contestant> {
        let is_program = !self.command.is_empty();
        let entrant = Entrant {
            strategy: (!is_program).then_some(&*self.strategy),
            command: &self.command,
            name: Some(&self.name),
            tuned_on: is_program.then_some(&*self.tuned_on),
        };
        Contestant::find(entrant, &folder.join(PROGRAM), diagnostics)
    }
}

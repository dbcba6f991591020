//! What is handed in: a folder with the transcripts of all searches of a suite, and what it says of itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::suite::Suite;
use super::transcript;
use super::walk::{NoBench, Way, walk};
use crate::compare::{Block, Effort, Tally};
use scavsim_base::stats::mean;
use scavsim_base::text::words::{or_dash, signed_percent};
use scavsim_base::text::{Column, Page, Sheet};
use scavsim_lab::scenario::Scenario;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, closest, foreign};
use scavsim_search::search::{Objective, Registry, Settings, registry};

/// Name of the file.
pub const FILE: &str = "submission.json";
/// Name that every program has in its scenarios, so that all are dealt the same luck.
const PROGRAM: &str = "submission";
/// Characters of a name.
const LONGEST_NAME: usize = 40;

/// Who competes.
#[derive(Debug, Clone)]
pub struct Contestant {
    kind: ContestantKind,
    /// The strategy, or the file of the program.
    pub strategy: String,
    /// The name on the leaderboard.
    pub name: String,
}

#[derive(Debug, Clone)]
enum ContestantKind {
    /// A strategy that comes with scavsim.
    BuiltIn,
    /// A program, in its folder.
    Program {
        command: Vec<String>,
        folder: PathBuf,
    },
}

impl Contestant {
    /// Whoever replays transcripts needs a strategy in its place.
    pub(super) fn nobody() -> Contestant {
        Contestant {
            kind: ContestantKind::BuiltIn,
            strategy: "random".to_owned(),
            name: "random".to_owned(),
        }
    }

    /// A strategy that comes with scavsim, or the file of a program; `name` is that on the leaderboard.
    pub fn find(
        strategy: &str,
        name: Option<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Contestant> {
        let before = diagnostics.len();
        let path = Path::new(strategy);
        let registry = Registry::default();
        let is_known = registry.recipe(strategy, &Settings::default()).is_some();
        let (kind, usual) = if is_known {
            (Some(ContestantKind::BuiltIn), strategy.to_owned())
        } else if path.is_file() {
            let stem = path.file_stem().unwrap_or_default();
            (program(path), stem.to_string_lossy().into_owned())
        } else {
            let near = closest(registry::base(strategy), registry.names());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help = "`scavsim list strategies` has those that come along; another one is the file of a program";
            let title = format!("there is no strategy and no program `{strategy}`");
            diagnostics.push(Diagnostic::general(title).with_help(format!("{near}{help}")));
            (None, String::new())
        };
        let name = name.unwrap_or(&usual).to_owned();
        if kind.is_some()
            && let Some(why) = not_a_label(&name)
        {
            let title = format!("`{name}` is no name for a leaderboard: {why}");
            diagnostics.push(Diagnostic::general(title).with_help("say another `--name`"));
        }
        let kind = kind.filter(|_| diagnostics.len() == before)?;
        Some(Contestant {
            kind,
            strategy: match path.file_name() {
                Some(file) if !is_known => file.to_string_lossy().into_owned(),
                _ => strategy.to_owned(),
            },
            name,
        })
    }

    /// Its name in scenarios.
    pub(super) fn scenario_name(&self) -> &str {
        match &self.kind {
            ContestantKind::BuiltIn => &self.strategy,
            ContestantKind::Program { .. } => PROGRAM,
        }
    }

    /// Program and arguments, where it is one.
    pub(super) fn command(&self) -> Option<&[String]> {
        match &self.kind {
            ContestantKind::BuiltIn => None,
            ContestantKind::Program { command, .. } => Some(command),
        }
    }

    /// The scenario with the program where it is.
    pub(super) fn at_home(&self, mut scenario: Scenario) -> Scenario {
        if let ContestantKind::Program { folder, .. } = &self.kind
            && let Some(own) = scenario.settings.own.get_mut(PROGRAM)
        {
            own.folder.clone_from(folder);
        }
        scenario
    }
}

/// How a file is started.
fn program(path: &Path) -> Option<ContestantKind> {
    let file = path.file_name()?.to_string_lossy().into_owned();
    let folder = std::path::absolute(path).ok()?.parent()?.to_owned();
    let command = match path.extension() {
        Some(ending) if ending == "py" => vec!["python3".to_owned(), file],
        _ => vec![format!("./{file}")],
    };
    Some(ContestantKind::Program { command, folder })
}

/// Why a text cannot stand on a leaderboard.
pub(super) fn not_a_label(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is empty")
    } else if name.chars().count() > LONGEST_NAME {
        Some("it has more than 40 characters")
    } else if foreign::harmless(name) != name {
        Some("a spreadsheet would take it for a formula, or it has characters that are not seen")
    } else {
        None
    }
}

/// What a folder says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Version of scavsim that made it.
    pub scavsim: String,
    /// The suite.
    pub suite: SubmittedSuite,
    /// Name on the leaderboard.
    pub name: String,
    /// The strategy, or the file of the program.
    pub strategy: String,
    /// BLAKE3 hashes of the program's files, in the order of its command.
    pub program: Vec<String>,
    /// Searches.
    pub cases: u64,
    /// BLAKE3 hash of the transcripts.
    pub transcripts: String,
    /// What they came to.
    pub totals: Vec<Total>,
}

/// The suite that a folder was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedSuite {
    /// Name of the suite.
    pub name: String,
    /// Version of the suite.
    pub version: u32,
    /// Seed of the suite.
    pub seed: u64,
    /// BLAKE3 hash of its file.
    pub hash: String,
    /// BLAKE3 hashes of specification and table of each grid.
    pub grids: BTreeMap<String, [String; 2]>,
}

impl SubmittedSuite {
    /// What identifies a suite.
    pub fn of(suite: &Suite) -> SubmittedSuite {
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

/// What the searches on a grid came to, by an objective, of a job that is run so often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// Name of the grid.
    pub grid: String,
    /// What was looked for.
    pub objective: Objective,
    /// How often the job is run.
    pub repeats: u64,
    /// Searches.
    pub cases: u64,
    /// Searches that came to nothing that works, and are charged.
    pub failed: u64,
    /// Mean net overhead over jobs.
    pub net: Option<f64>,
    /// Mean gross overhead over jobs.
    pub gross: Option<f64>,
    /// Mean regret over jobs.
    pub regret: Option<f64>,
}

/// What blocks come to, grid by grid.
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

/// Makes all searches of a suite and writes a folder with their transcripts and what they came to.
///
/// # Errors
/// [`NoBench`].
pub fn run(
    suite: &Suite,
    scenarios: &[Scenario],
    contestant: &Contestant,
    folder: &Path,
    effort: Effort<'_>,
) -> Result<Submission, NoBench> {
    std::fs::create_dir_all(folder)?;
    let mut file = BufWriter::new(NamedTempFile::new_in(folder)?);
    let way = Way::Search(&mut file);
    let blocks = walk(suite, scenarios, &contestant.name, effort, way)?;
    let file = file.into_inner().map_err(|error| error.into_error())?;
    let path = folder.join(transcript::FILE);
    file.persist(&path).map_err(|error| error.error)?;
    let program = scenarios.first().and_then(|s| s.settings.own.get(PROGRAM));
    let submission = Submission {
        scavsim: env!("CARGO_PKG_VERSION").to_owned(),
        suite: SubmittedSuite::of(suite),
        name: contestant.name.clone(),
        strategy: contestant.strategy.clone(),
        program: program.map_or(Vec::new(), |own| own.file_hashes()),
        cases: suite.cases(scenarios),
        transcripts: hash_of_file(&path)?,
        totals: totals(suite, &blocks),
    };
    let mut text = serde_json::to_string_pretty(&submission).map_err(io::Error::other)?;
    text.push('\n');
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(FILE))
        .map_err(|error| error.error)?;
    Ok(submission)
}

/// BLAKE3 hash of a file, as `b3sum` prints it.
pub(super) fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

impl Submission {
    /// What its searches came to, as a table.
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

    /// Reads what a folder says of itself.
    ///
    /// # Errors
    /// What is wrong with it, in sentences.
    pub fn read(folder: &Path) -> Result<Submission, Vec<String>> {
        let mut diagnostics = Diagnostics::default();
        let Some(source) = Source::read(&folder.join(FILE), &mut diagnostics) else {
            return Err(diagnostics.iter().map(|one| one.title.clone()).collect());
        };
        let read: Submission = serde_json::from_str(&source.text)
            .map_err(|why| vec![format!("{FILE} is none of this version: {why}")])?;
        match not_a_label(&read.name).or_else(|| not_a_label(&read.strategy)) {
            Some(why) => Err(vec![format!("{FILE}: a name that cannot be shown: {why}")]),
            None => Ok(read),
        }
    }
}

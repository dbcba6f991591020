//! `scavsim bench`: a suite of searches, submissions of others, and a leaderboard of verified results.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::{Exit, Failure, accept, no_mistakes, wrong};
use super::progress::Progress;
use super::signals::Signals;
use super::{out, scenarios, terminal};
use scavsim_base::output::{replace_folder, write_file};
use scavsim_base::text::Page;
use scavsim_base::text::words::plural;
use scavsim_measure::bench::board::Board;
use scavsim_measure::bench::{
    Contestant, Entrant, NoBench, Refusal, Suite, SuiteScenario, Verification, VerifiedSubmission,
    card, export, library, run, verify,
};
use scavsim_measure::compare::{ComparisonOptions, tally::reasons};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// Most failure reasons that a run prints.
const MOST_REASONS: usize = 5;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Make all searches of a suite with a strategy: a folder with a transcript of each
    Run(BenchRunArgs),
    /// Replay transcripts on the tables of the grids, and run strategies again: every figure must come out again
    Verify(FoldersArgs),
    /// Rank folders by what was verified of them; those that fail are named with the reason
    Board(BoardArgs),
    /// Print what grids hold: by whom they were measured, their licence, what is missing, the spread of repeats
    Cards(CardsArgs),
    /// Write a suite with its grids, cards, licences and hashes into a folder to be archived
    Export(ExportArgs),
}

#[derive(Debug, Args)]
struct SuiteArgs {
    /// A suite that comes along, or the file of one
    #[arg(long, value_name = "SUITE", default_value = library::NEWEST)]
    suite: String,
}

#[derive(Debug, Args)]
struct BenchRunArgs {
    /// A strategy that comes along, as `scavsim list strategies` has them, or the file of a program (docs/own-strategy.md)
    #[arg(
        long,
        value_name = "STRATEGY",
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    strategy: Option<String>,
    /// A program with its arguments, behind `--`: `-- venv/bin/python mine.py 10`
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Folder of the submission
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Name on the leaderboard [default: that of the strategy or the file]
    #[arg(long)]
    name: Option<String>,
    /// Grids or data sets on which its constants were chosen: the leaderboard says it
    #[arg(long, value_name = "GRIDS")]
    tuned_on: Option<String>,
    /// Threads; all cores when absent. Results do not depend on it
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    suite: SuiteArgs,
}

/// Folders to verify, and how.
#[derive(Debug, Args)]
struct FoldersArgs {
    /// Folders of submissions; nothing in them is changed
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Run the programs that were handed in again: without, their transcripts are replayed, and nobody knows whose they are
    #[arg(long)]
    programs: bool,
    /// Threads; all cores when absent
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    suite: SuiteArgs,
}

#[derive(Debug, Args)]
struct BoardArgs {
    #[command(flatten)]
    verified: FoldersArgs,
    /// Rank by searches that all make anew, on halves and from starts that this number draws, which nobody knew beforehand;
    /// programs see other names, another order and other units
    #[arg(long, value_name = "N", requires = "programs")]
    seed: Option<u32>,
    /// Write the leaderboard to this file, too, and a page beside it
    #[arg(short, long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct CardsArgs {
    /// Grids that come along; all of them where none is named
    #[arg(value_name = "GRID")]
    grids: Vec<String>,
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// The folder; new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    suite: SuiteArgs,
}

impl BenchArgs {
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        match self.what {
            BenchCommand::Run(args) => args.run(signals),
            BenchCommand::Verify(args) => args.run(signals),
            BenchCommand::Board(args) => args.run(signals),
            BenchCommand::Cards(args) => args.run(),
            BenchCommand::Export(args) => args.run(),
        }
    }
}

impl SuiteArgs {
    fn load(&self) -> Result<Suite, Failure> {
        let mut diagnostics = Diagnostics::default();
        let suite = self.read(&mut diagnostics);
        accept(suite, diagnostics)
    }

    fn read(&self, diagnostics: &mut Diagnostics) -> Option<Suite> {
        if let Some(source) = library::source(&self.suite) {
            return Suite::read(&source, Path::new("."), diagnostics);
        }
        let path = Path::new(&self.suite);
        if path.extension().is_none() {
            let title = format!("there is no suite `{}`", self.suite);
            let help = format!(
                "known: {}; another one is a file.toml",
                library::names().join(", ")
            );
            diagnostics.push(Diagnostic::general(title).with_help(help));
            return None;
        }
        let source = Source::read(path, diagnostics)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Suite::read(&source, folder, diagnostics)
    }

    /// The suite, with the scenarios in which transcripts are replayed.
    fn to_replay(&self) -> Result<(Suite, Vec<SuiteScenario>), Failure> {
        let suite = self.load()?;
        let mut diagnostics = Diagnostics::default();
        let replayed = suite.replayed(&mut diagnostics);
        let scenarios = replayed.ok_or(Failure::Wrong(diagnostics))?;
        Ok((suite, scenarios))
    }
}

impl BenchRunArgs {
    fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        let suite = self.suite.load()?;
        let mut diagnostics = Diagnostics::default();
        let entrant = Entrant {
            strategy: self.strategy.as_deref(),
            command: &self.command,
            name: self.name.as_deref(),
            tuned_on: self.tuned_on.as_deref(),
        };
        let contestant = Contestant::find(entrant, Path::new("."), &mut diagnostics);
        let scenarios = (contestant.as_ref())
            .and_then(|contestant| suite.scenarios(contestant, &mut diagnostics));
        let (Some(contestant), Some(scenarios)) = (contestant, scenarios) else {
            return Err(Failure::Wrong(diagnostics));
        };
        let cases = suite.cases(&scenarios);
        let progress = Progress::over("bench", "searches", cases);
        let effort = effort(self.jobs, signals, &progress)?;
        let made = run(&suite, &scenarios, &contestant, &self.out, effort);
        drop(progress);
        let made = made.map_err(failure)?;
        let page = terminal::page();
        let failed: u64 = made
            .submission
            .totals
            .iter()
            .map(|total| total.failed)
            .sum();
        let sentence = format!(
            "{}: {} of suite {}, {failed} of them failed",
            made.submission.name,
            plural(made.submission.cases, "search"),
            suite.name
        );
        let mut text = page.prose(&sentence, 2);
        let entries = made.blocks.iter().flat_map(|block| &block.entries);
        for (reason, count) in reasons(entries).into_iter().take(MOST_REASONS) {
            text += &page.prose(&format!("  {count}: {reason}"), 4);
        }
        text += &made.submission.table(&page);
        text += &page.prose(&format!("{}", self.out.display()), 2);
        terminal::print(&text)?;
        Ok(Exit::Done)
    }
}

fn effort<'a>(
    jobs: Option<u16>,
    signals: &'a Signals,
    progress: &'a Progress,
) -> Result<ComparisonOptions<'a>, Failure> {
    Ok(ComparisonOptions {
        jobs: jobs.map_or_else(scenarios::available, usize::from),
        interrupt: signals.raise_first()?,
        progress: &progress.counter,
    })
}

fn failure(why: NoBench) -> Failure {
    match why {
        NoBench::Interrupted => Failure::Interrupted,
        NoBench::NoPlan(_) => wrong(
            why.to_string(),
            "a suite has no earlier runs of the job itself; `scavsim compare` judges strategies that need them",
        ),
        other => Failure::Other(other.into()),
    }
}

/// A folder, with the verified submission or the reason for its refusal.
type Outcome = (PathBuf, Result<VerifiedSubmission, Refusal>);

fn verified(
    asked: &FoldersArgs,
    seed: Option<u32>,
    (suite, scenarios): &(Suite, Vec<SuiteScenario>),
    signals: &Signals,
) -> Result<Vec<Outcome>, Failure> {
    let cases = suite.cases(scenarios) * asked.folders.len() as u64;
    let progress = Progress::over("bench", "searches", cases);
    let effort = effort(asked.jobs, signals, &progress)?;
    let verification = Verification {
        programs: asked.programs,
        seed,
    };
    let mut all: Vec<Outcome> = Vec::new();
    for folder in &asked.folders {
        let outcome = verify(folder, suite, scenarios, verification, effort);
        let mut outcome = outcome.map_err(failure)?;
        let name = |verified: &VerifiedSubmission| verified.submission.name.clone();
        if let Ok(own) = &outcome {
            let mut others = all.iter().filter_map(|(_, other)| other.as_ref().ok());
            if others.any(|other| name(other) == name(own)) {
                let why = format!("another folder before it is called `{}`, too", name(own));
                outcome = Err(Refusal::for_reason(why));
            }
        }
        all.push((folder.clone(), outcome));
    }
    Ok(all)
}

/// The mistakes of a folder, one line per sentence.
fn refusal_text(folder: &Path, refusal: &Refusal, page: &Page) -> String {
    let head = page.prose(&format!("{}: refused", folder.display()), 2);
    let each = refusal
        .why
        .iter()
        .map(|what| page.prose(&format!("  {what}"), 4));
    head + &each.collect::<String>()
}

impl FoldersArgs {
    fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        let replayed = self.suite.to_replay()?;
        let all = verified(&self, None, &replayed, signals)?;
        let page = terminal::page();
        let mut exit = Exit::Done;
        let mut text = String::new();
        for (folder, outcome) in &all {
            match outcome {
                Ok(own) => {
                    let how = if own.was_run_again {
                        ""
                    } else {
                        "; its program was not run, which `--programs` does"
                    };
                    let sentence = format!(
                        "{}: {}, every figure of {} searches came out again{how}",
                        folder.display(),
                        own.submission.name,
                        own.submission.cases
                    );
                    text += &page.prose(&sentence, 2);
                }
                Err(why) => {
                    exit = Exit::Failed;
                    text += &refusal_text(folder, why, &page);
                }
            }
        }
        terminal::print(&text)?;
        Ok(exit)
    }
}

impl BoardArgs {
    fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        let mut replayed = self.verified.suite.to_replay()?;
        let all = verified(&self.verified, self.seed, &replayed, signals)?;
        if let Some(seed) = self.seed {
            replayed.0 = replayed.0.drawn_by(seed);
        }
        let page = terminal::page();
        let (mut sound, mut refused) = (Vec::new(), Vec::new());
        for (folder, outcome) in all {
            match outcome {
                Ok(own) => sound.push(own),
                Err(why) => refused.push((folder, why)),
            }
        }
        for (folder, why) in &refused {
            terminal::note(refusal_text(folder, why, &page).trim_end());
        }
        let Some(board) = Board::from_verified(&sound) else {
            return Err(anyhow::anyhow!("no folder was verified: there is no leaderboard").into());
        };
        let mut text: String = (board.headlines().iter())
            .map(|sentence| page.prose(sentence, 2))
            .collect();
        text.push('\n');
        let fitted = board.to_sheet().fit(&page);
        text += &fitted.text(&page);
        text += &fitted.remark("", &page);
        if let Some(out) = &self.out {
            text += &files(&board, &sound, &refused, &replayed.0, out)?;
        }
        terminal::print(&text)?;
        Ok(if refused.is_empty() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }
}

fn files(
    board: &Board,
    sound: &[VerifiedSubmission],
    refused: &[(PathBuf, Refusal)],
    suite: &Suite,
    out: &Path,
) -> Result<String, Failure> {
    let help = "`--out` needs a file in a folder in which files can be created";
    out::written(write_file(out, board.csv()?.as_bytes()), help)?;
    let page = page(board, sound, refused, suite, out)?;
    let written = std::iter::once(out.to_owned()).chain(page);
    Ok(written
        .map(|path| format!("{}\n", path.display()))
        .collect())
}

#[cfg(feature = "figures")]
fn page(
    board: &Board,
    sound: &[VerifiedSubmission],
    refused: &[(PathBuf, Refusal)],
    suite: &Suite,
    out: &Path,
) -> Result<Option<PathBuf>, Failure> {
    let contents = scavsim_show::page::of_bench::contents(board, sound, refused, suite);
    let page = out.with_extension("html");
    super::page::put(&contents, &page)?;
    Ok(Some(page))
}

#[cfg(not(feature = "figures"))]
fn page(
    _: &Board,
    _: &[VerifiedSubmission],
    _: &[(PathBuf, Refusal)],
    _: &Suite,
    _: &Path,
) -> Result<Option<PathBuf>, Failure> {
    terminal::note("no page: this program is built without the feature `figures`");
    Ok(None)
}

impl CardsArgs {
    fn run(self) -> Result<Exit, Failure> {
        let mut diagnostics = Diagnostics::default();
        let known = scavsim_grids::library::names();
        for name in &self.grids {
            if !known.contains(&name.as_str()) {
                let title = format!("unknown grid `{name}`");
                let help = format!("there are {}", known.join(", "));
                diagnostics.push(Diagnostic::general(title).with_help(help));
            }
        }
        let asked =
            |name: &&&str| self.grids.is_empty() || self.grids.iter().any(|own| own == **name);
        let cards: Vec<String> = (known.iter().filter(asked))
            .filter_map(|name| {
                card::card(&scavsim_grids::library::embedded(name)?, &mut diagnostics)
            })
            .collect();
        no_mistakes(diagnostics)?;
        terminal::print(&cards.join("\n"))?;
        Ok(Exit::Done)
    }
}

impl ExportArgs {
    fn run(self) -> Result<Exit, Failure> {
        let suite = self.suite.load()?;
        let mut diagnostics = Diagnostics::default();
        let files = export::files(&suite, &mut diagnostics);
        let files = files.ok_or(Failure::Wrong(diagnostics))?;
        let is_used = std::fs::read_dir(&self.folder).is_ok_and(|mut all| all.next().is_some());
        if self.folder.file_name().is_none() {
            let title = format!("`{}` does not name a folder", self.folder.display());
            return Err(wrong(title, "end the path with a name"));
        }
        if is_used || self.folder.is_file() {
            let title = format!("{} is no empty folder", self.folder.display());
            return Err(wrong(title, "what is archived is to hold nothing else"));
        }
        replace_folder(&self.folder, &files, &[])?;
        let line = format!(
            "{}: {} files, hashes in {}\n",
            self.folder.display(),
            files.len(),
            export::HASHES
        );
        terminal::print(&line)?;
        Ok(Exit::Done)
    }
}

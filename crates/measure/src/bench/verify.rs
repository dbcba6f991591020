//! Whether a folder matches its claims: every search is replayed on the tables of the grids, and repeated by its strategy.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use super::contestant::hash_of_file;
use super::submission::{FILE, Refusal, Submission, SubmittedSuite, VerifiedSubmission, totals};
use super::suite::{Suite, SuiteScenario};
use super::suite_searches::{Lines, NoBench, RunMode, walk};
use super::transcript::{self, difference};
use crate::compare::ComparisonOptions;
use scavsim_read::input::Diagnostics;

/// Checks of a folder in addition to the replay of its transcripts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verification {
    /// Whether submitted programs repeat their searches, too.
    pub programs: bool,
    /// Seed that replaces the suite's for all entrants: of halves, starts and disguises.
    pub seed: Option<u32>,
}

/// Verifies a folder. Mistakes are sentences, each with its line.
pub fn verify(
    folder: &Path,
    suite: &Suite,
    scenarios: &[SuiteScenario],
    verification: Verification,
    effort: ComparisonOptions<'_>,
) -> Result<Result<VerifiedSubmission, Refusal>, NoBench> {
    let submission = match Submission::read(folder) {
        Ok(submission) => submission,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let is_of = SubmittedSuite::from_suite(suite);
    if (&submission.suite.name, submission.suite.version) != (&is_of.name, is_of.version) {
        let of = |one: &SubmittedSuite| format!("`{}` version {}", one.name, one.version);
        let (own, suite) = (of(&submission.suite), of(&is_of));
        let why = format!("it is of the suite {own}, not of {suite}");
        return Ok(Err(Refusal::for_reason(why)));
    }
    let path = folder.join(transcript::FILE);
    if !path.is_file() {
        return Ok(Err(Refusal::for_reason("there is no transcripts.jsonl")));
    }
    let mut diagnostics = Diagnostics::default();
    let Some(mut contestant) = submission.contestant(folder, &mut diagnostics) else {
        let why = diagnostics.iter().map(|one| one.title.clone()).collect();
        return Ok(Err(Refusal { why }));
    };
    let mut from = BufReader::new(File::open(&path)?);
    let mut lines = Lines::new(&mut from);
    let way = RunMode::Replay(&mut lines);
    let mut blocks = walk(suite, scenarios, &submission.name, effort, way)?;
    let mut wrong: Vec<String> = (lines.wrong.into_iter())
        .map(|what| format!("{}: {what}", transcript::FILE))
        .collect();
    if wrong.is_empty() {
        let truth = Submission {
            scavsim: env!("CARGO_PKG_VERSION").to_owned(),
            suite: is_of,
            program: contestant.hashes()?,
            tuned_on: contestant.tuned_on.clone(),
            cases: suite.cases(scenarios),
            transcripts: hash_of_file(&path)?,
            totals: totals(suite, &blocks),
            ..submission.clone()
        };
        wrong.extend(difference(&submission, &truth).map(|what| format!("{FILE}: {what}")));
    }
    let may_run = submission.command.is_empty() || verification.programs;
    if wrong.is_empty() && may_run {
        let mut again = |suite: &Suite, contestant: &_, into: &mut dyn io::Write| {
            let uncounted = AtomicU64::new(0);
            let effort = ComparisonOptions {
                progress: &uncounted,
                ..effort
            };
            let scenarios = suite.scenarios(contestant, &mut diagnostics);
            let scenarios = scenarios.unwrap_or_default();
            walk(
                suite,
                &scenarios,
                &submission.name,
                effort,
                RunMode::Search(into),
            )
        };
        let mut hasher = blake3::Hasher::new();
        again(suite, &contestant, &mut hasher)?;
        if hasher.finalize().to_hex().as_str() != submission.transcripts {
            let what = format!("`{}` makes other searches than these", submission.strategy);
            wrong.push(what);
        } else if let Some(seed) = verification.seed {
            contestant.disguise(u64::from(seed));
            blocks = again(&suite.drawn_by(seed), &contestant, &mut io::sink())?;
        }
    } else if wrong.is_empty() && verification.seed.is_some() {
        let what = "only a program that is run can be judged by a seed: `--programs` runs it";
        wrong.push(what.to_owned());
    }
    Ok(if wrong.is_empty() {
        Ok(VerifiedSubmission {
            submission,
            blocks,
            was_run_again: may_run,
        })
    } else {
        Err(Refusal { why: wrong })
    })
}

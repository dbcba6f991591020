//! Whether a folder is what it says: every search replayed on the tables of the grids, without the strategy.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use super::contestant::Contestant;
use super::submission::{Refusal, Submission, SubmittedSuite, hash_of_file, totals};
use super::suite::Suite;
use super::suite_searches::{Lines, NoBench, RunMode, walk};
use super::transcript;
use crate::compare::{Block, ComparisonOptions};
use scavsim_read::input::Diagnostics;
use scavsim_scenario::Scenario;

/// A folder whose every figure was found again.
#[derive(Clone)]
pub struct VerifiedSubmission {
    pub submission: Submission,
    pub blocks: Vec<Block>,
}

/// Replays all transcripts of a folder. What is wrong with them comes in sentences, each with its line.
pub fn verify(
    folder: &Path,
    suite: &Suite,
    scenarios: &[Scenario],
    effort: ComparisonOptions<'_>,
) -> Result<Result<VerifiedSubmission, Refusal>, NoBench> {
    let submission = match Submission::read(folder) {
        Ok(submission) => submission,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let of_suite = SubmittedSuite::from_suite(suite);
    if submission.suite != of_suite {
        let why = another(&submission.suite, &of_suite);
        return Ok(Err(Refusal::for_reason(why)));
    }
    let path = folder.join(transcript::FILE);
    if !path.is_file() {
        return Ok(Err(Refusal::for_reason(format!(
            "there is no {}",
            transcript::FILE
        ))));
    }
    let mut from = BufReader::new(File::open(&path)?);
    let mut lines = Lines::new(&mut from);
    let way = RunMode::Replay(&mut lines);
    let blocks = walk(suite, scenarios, &submission.name, effort, way)?;
    let mut wrong: Vec<String> = (lines.wrong.into_iter())
        .map(|what| format!("{}: {what}", transcript::FILE))
        .collect();
    if wrong.is_empty() {
        wrong.extend(told_otherwise(&submission, suite, scenarios, &blocks));
        if hash_of_file(&path)? != submission.transcripts {
            let what = "the hash of the transcripts is another";
            wrong.push(format!("{}: {what}", super::submission::FILE));
        }
    }
    if wrong.is_empty() && submission.program.is_empty() {
        wrong.extend(made_otherwise(&submission, suite, effort)?);
    }
    Ok(if wrong.is_empty() {
        Ok(VerifiedSubmission { submission, blocks })
    } else {
        Err(Refusal { why: wrong })
    })
}

/// Makes the searches of a strategy that comes along anew: those of another one cannot stand under its name.
fn made_otherwise(
    submission: &Submission,
    suite: &Suite,
    effort: ComparisonOptions<'_>,
) -> Result<Option<String>, NoBench> {
    let Submission { name, strategy, .. } = submission;
    let mut diagnostics = Diagnostics::default();
    let contestant = Contestant::find(strategy, Some(name), &mut diagnostics);
    let scenarios = contestant.and_then(|own| suite.scenarios(&own, &mut diagnostics));
    let uncounted = AtomicU64::new(0);
    let effort = ComparisonOptions {
        progress: &uncounted,
        ..effort
    };
    let mut hasher = blake3::Hasher::new();
    let way = RunMode::Search(&mut hasher);
    let made = match walk(suite, &scenarios.unwrap_or_default(), name, effort, way) {
        Err(NoBench::NoPlan(_)) => false,
        made => made.map(|_| hasher.finalize().to_hex().as_str() == submission.transcripts)?,
    };
    let what = format!("`{strategy}` makes other searches than these");
    Ok((!made).then_some(what))
}

/// How the suite of a folder differs from the one that it is verified by.
fn another(own: &SubmittedSuite, suite: &SubmittedSuite) -> String {
    let of = |one: &SubmittedSuite| format!("`{}` version {}", one.name, one.version);
    if (&own.name, own.version) == (&suite.name, suite.version) {
        format!(
            "it was made from another {}: seed, hash of the suite or hashes of its grids differ",
            of(suite)
        )
    } else {
        format!("it is of the suite {}, not of {}", of(own), of(suite))
    }
}

/// What the folder says of its searches, and they do not come to.
fn told_otherwise(
    submission: &Submission,
    suite: &Suite,
    scenarios: &[Scenario],
    blocks: &[Block],
) -> Vec<String> {
    let file = super::submission::FILE;
    let mut wrong = Vec::new();
    let cases = suite.cases(scenarios);
    if submission.cases != cases {
        wrong.push(format!(
            "{file}: `cases` is {}, the suite has {cases}",
            submission.cases
        ));
    }
    let truth = totals(suite, blocks);
    if submission.totals.len() != truth.len() {
        let (own, all) = (submission.totals.len(), truth.len());
        wrong.push(format!(
            "{file}: `totals` has {own} entries, the replay {all}"
        ));
        return wrong;
    }
    for (own, truth) in submission.totals.iter().zip(&truth) {
        if own != truth {
            let show = |figure: Option<f64>| figure.map_or("none".to_owned(), |f| f.to_string());
            wrong.push(format!(
                "{file}: the totals of {}, {}, R {} are not those of the replay, whose `net` is {}; `net` is {} here",
                truth.grid,
                truth.objective.name(),
                truth.repeats,
                show(truth.net),
                show(own.net)
            ));
        }
    }
    wrong
}

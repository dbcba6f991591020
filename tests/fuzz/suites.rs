//! Suites of searches, and submissions to them.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use scavsim::Interrupt;
use scavsim::input::{Diagnostics, Source};
use scavsim_measure::bench::{
    self, Contestant, Entrant, Submission, Suite, SuiteScenario, Verification, card, export,
    submission, transcript,
};
use scavsim_measure::compare::ComparisonOptions;

use super::Target;
use super::inputs::taken;
use super::seeds::{Files, corpus, each_toml, files_of, text_of};

/// The suite of two searches for submissions.
const TINY: &str = "tests/corpus/suites/tiny/suite.toml";

pub fn targets(scratch: &Path) -> Vec<Target> {
    let suites = [corpus("suites"), each_toml("data/bench", "suite.toml")].concat();
    let tiny = Tiny::new();
    let (made, right) = tiny.submitted(scratch);
    let transcripts = move |folder: &Path| tiny.verified(folder, &right);
    vec![
        Target::new("suites", 20, suites, suite),
        Target::new("transcripts", 40, vec![made], transcripts),
    ]
}

fn suite(folder: &Path) -> bool {
    let mut wrong = Diagnostics::default();
    let source = Source::read(&folder.join("suite.toml"), &mut wrong);
    let read = source.and_then(|source| Suite::read(&source, folder, &mut wrong));
    let Some(suite) = taken(read, &wrong) else {
        return false;
    };
    let files = export::files(&suite, &mut wrong);
    let files = taken(files, &wrong).expect("what was read is exported");
    assert!(files.iter().any(|(name, _)| name.ends_with(card::FILE)));
    true
}

/// A suite of two searches, and its scenarios.
struct Tiny {
    suite: Suite,
    replayed: Vec<SuiteScenario>,
}

fn effort<'a>(interrupt: &'a Interrupt, progress: &'a AtomicU64) -> ComparisonOptions<'a> {
    ComparisonOptions {
        jobs: 1,
        interrupt,
        progress,
    }
}

impl Tiny {
    fn new() -> Tiny {
        let mut wrong = Diagnostics::default();
        let source = Source::new("suite.toml", text_of(TINY));
        let suite = Suite::read(&source, Path::new("."), &mut wrong);
        let suite = suite.unwrap_or_else(|| panic!("{}", wrong.render(false)));
        let replayed = suite.replayed(&mut wrong).expect("it was checked");
        Tiny { suite, replayed }
    }

    /// A valid submission, with its results.
    fn submitted(&self, scratch: &Path) -> (Files, Submission) {
        let mut wrong = Diagnostics::default();
        let entrant = Entrant {
            strategy: Some("random"),
            ..Entrant::default()
        };
        let found = Contestant::find(entrant, Path::new("."), &mut wrong);
        let contestant = found.expect("it comes along");
        let scenarios = self.suite.scenarios(&contestant, &mut wrong);
        let scenarios = scenarios.expect("it was checked");
        let folder = scratch.join("submission");
        let (never, counted) = (Interrupt::default(), AtomicU64::new(0));
        let effort = effort(&never, &counted);
        let made = bench::run(&self.suite, &scenarios, &contestant, &folder, effort);
        (
            files_of(&folder),
            made.expect("a plain suite runs").submission,
        )
    }

    /// A changed submission is refused, or the change had no effect. A forger of transcripts also updates their hash.
    fn verified(&self, folder: &Path, right: &Submission) -> bool {
        let path = folder.join(submission::FILE);
        let said = fs::read_to_string(&path);
        let said = said.ok().and_then(|text| serde_json::from_str(&text).ok());
        if let (Some(serde_json::Value::Object(mut said)), Ok(lines)) =
            (said, fs::read(folder.join(transcript::FILE)))
        {
            let hash = blake3::hash(&lines).to_hex().to_string();
            said.insert("transcripts".to_owned(), hash.into());
            let text = serde_json::to_string_pretty(&said).expect("it was read");
            fs::write(&path, text).expect("it is writable");
        }
        let (never, counted) = (Interrupt::default(), AtomicU64::new(0));
        let effort = effort(&never, &counted);
        let verified = bench::verify(
            folder,
            &self.suite,
            &self.replayed,
            Verification::default(),
            effort,
        );
        match verified.expect("nobody stops it") {
            Ok(verified) => {
                let totals = verified.submission.totals;
                assert!(
                    totals == right.totals,
                    "altered transcripts were taken for true"
                );
                true
            }
            Err(refusal) => {
                assert!(!refusal.to_string().is_empty(), "refused without a reason");
                false
            }
        }
    }
}

//! How a command ends, and what it can fail with.

use std::path::Path;
use std::process::ExitCode;

use scavsim_experiment::ranking::NoRanking;
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_show::report::AlteredRows;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the run failed
  2    wrong scenario, data, results or usage, or a long run without `--yes`; nothing was run
  3    done, but some cases have no result
  4    reproduce: a figure is off without a stated reason
  129, 130, 143    stopped by SIGHUP, Ctrl-C, SIGTERM; what was finished is kept
  134  no memory was left; what was finished is kept";

/// Exit codes; part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// Wrong scenario, data or usage, or a long run without consent; nothing was run or written.
    Wrong = 2,
    /// Done, but some cases have no result.
    SomeCasesFailed = 3,
    /// A reproduced figure lies outside its tolerance without a stated reason.
    OutsideTolerance = 4,
    /// Stopped by SIGHUP; finished results are kept.
    HungUp = 129,
    /// Stopped by Ctrl-C; finished results are kept.
    Interrupted = 130,
    /// Stopped by SIGTERM; finished results are kept.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[derive(Debug)]
pub enum Failure {
    Wrong(Diagnostics),
    /// The user declined a run after its estimate: why.
    Declined(String),
    /// A signal, before there was anything to keep.
    Interrupted,
    Other(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Other(error)
    }
}

impl From<Diagnostic> for Failure {
    fn from(mistake: Diagnostic) -> Self {
        let mut wrong = Diagnostics::default();
        wrong.push(mistake);
        Failure::Wrong(wrong)
    }
}

impl From<NoRanking> for Failure {
    fn from(why: NoRanking) -> Self {
        match why {
            NoRanking::Interrupted => Failure::Interrupted,
            other => Failure::Other(other.into()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let inner = error.get_ref();
        if inner.is_some_and(|inner| inner.is::<AlteredRows>()) {
            let help = "put the file back as it was, or evaluate all cases again: `scavsim run FILE --out DIR --overwrite`";
            wrong(error.to_string(), help)
        } else {
            Failure::Other(error.into())
        }
    }
}

/// Wrong usage, with what to do.
pub(super) fn wrong(what: impl Into<String>, help: &str) -> Failure {
    Diagnostic::general(what).with_help(help).into()
}

/// Refuses to replace a file that already exists, unless asked to.
pub(super) fn refuse_existing(path: &Path, replaces: bool, wrong: &mut Diagnostics) {
    if !replaces && path.symlink_metadata().is_ok() {
        let title = format!("{} is already there", path.display());
        let help = "choose another name, or replace it with --force";
        wrong.push(Diagnostic::general(title).with_help(help));
    }
}

/// What was read, unless a mistake was found in it.
pub(super) fn accept<T>(read: Option<T>, mistakes: Diagnostics) -> Result<T, Failure> {
    read.filter(|_| mistakes.is_empty())
        .ok_or(Failure::Wrong(mistakes))
}

pub(super) fn no_mistakes(found: Diagnostics) -> Result<(), Failure> {
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::Wrong(found))
}

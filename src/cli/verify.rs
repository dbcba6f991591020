//! `scavsim verify`: whether results follow from their scenario. Hashes detect accidents only: an attacker who changes a row can hash it
//! again. But a case is a function of its number and scenario: sampled cases are evaluated again, and compared byte by byte.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::exit::{Exit, Failure, no_mistakes, wrong};
use super::finished::{FinishedRun, same_scenario};
use super::programs::ProgramsArg;
use super::scenarios;
use super::set::SetArgs;
use super::signals::Signals;
use super::terminal;
use scavsim_base::rng::{Purpose, Streams};
use scavsim_experiment::{Evaluator, Plan, Record, RecordColumns, Sink, Summary};
use scavsim_read::input::{Diagnostic, Diagnostics};
use scavsim_scenario::Scenario;
use scavsim_show::report::csv_rows::CsvRows;
use scavsim_show::report::{manifest, result_files, results, summary_csv};

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The folder of a finished run; nothing in it is changed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The scenario that the run was made from
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    programs: ProgramsArg,
    #[command(flatten)]
    set: SetArgs,
    /// Evaluate N cases again, drawn at random
    #[arg(long, value_name = "N", default_value_t = 20)]
    again: u64,
    /// Draw the same cases again; at random when absent
    #[arg(long, value_name = "SEED")]
    draw: Option<u32>,
}

impl VerifyArgs {
    pub fn run(self, signals: &Signals) -> Result<Exit, Failure> {
        if self.files()? {
            return Ok(Exit::Done);
        }
        let run = FinishedRun::open(&self.folder)?;
        let set = self.set.sources()?;
        let scenario = match &self.scenario {
            Some(file) => Some(same_scenario(file, set, &run.identity, self.programs)?),
            None if self.again > 0 => {
                return Err(wrong(
                    "cases are evaluated again from their scenario, and none is named".to_owned(),
                    "name it with `--scenario FILE`, or leave it at the hashes with `--again 0`",
                ));
            }
            None => None,
        };
        let cases = run.tasks().all();
        let draw = self.draw.unwrap_or_else(seed);
        let drawn = drawn(cases, self.again, draw);
        let columns = Arc::new(manifest::columns(&run.identity));
        let stored = self.stored(&run, &columns, drawn)?;
        let page = terminal::page();
        let say =
            |what: String| terminal::print(&page.prose(&format!("{}: {what}", run.name()), 2));
        say(format!(
            "{cases} rows have the hashes of the manifest, and `summary.csv` is theirs"
        ))?;
        if let Some(scenario) = scenario.filter(|_| self.again > 0) {
            again(&scenario, &columns, &stored, signals)?;
            let count = stored.len();
            say(format!(
                "{count} of {cases} cases evaluated again are the same, byte for byte (`--draw {draw}`)"
            ))?;
        }
        Ok(Exit::Done)
    }

    /// Compares files with their hashes, for results without strategies; returns whether they are of that kind.
    fn files(&self) -> Result<bool, Failure> {
        let manifest = manifest::read(&self.folder.join(manifest::FILE));
        let manifest = manifest.ok().flatten().unwrap_or_default();
        let Some((altered, count)) = result_files::altered(&self.folder, &manifest) else {
            return Ok(false);
        };
        let folder = self.folder.display();
        if self.scenario.is_some() {
            return Err(wrong(
                format!("`--scenario` is for runs of search strategies, and {folder} holds none"),
                "leave it out: the files are then compared with their hashes",
            ));
        }
        if let Some(name) = altered.first() {
            let what = format!(
                "{folder}/{name} is missing or was changed: manifest.json has another hash"
            );
            let help = "put the file back as it was, or make the results again with `--overwrite`";
            return Err(wrong(what, help));
        }
        let page = terminal::page();
        let told = format!("{folder}: {count} files have the hashes of the manifest");
        terminal::print(&page.prose(&told, 2))?;
        Ok(true)
    }

    /// Reads all rows, recomputes their summary and compares it; returns the rows of these cases.
    fn stored(
        &self,
        run: &FinishedRun,
        columns: &Arc<RecordColumns>,
        drawn: Vec<u64>,
    ) -> Result<StoredCaseRows, Failure> {
        let summary = run.summary()?;
        let by = results::summary_columns(&summary)?;
        let across_vms = manifest::is_across_vms(&run.identity);
        let mut reading = Reading {
            columns: Arc::clone(columns),
            summary: Summary::new(by.as_ref(), across_vms, run.tasks()),
            rows: drawn.into_iter().map(|case| (case, Vec::new())).collect(),
        };
        run.hand_out(&mut reading)?;
        let anew = summary_csv::file(&reading.summary.finish()?, columns);
        if anew.as_bytes() != summary {
            let folder = self.folder.display();
            let what = format!("summary.csv in {folder} is not that of its records");
            let help = "`scavsim summary DIR` prints what they come to";
            return Err(wrong(what, help));
        }
        Ok(reading.rows)
    }
}

/// Rows by their cases, as `records.csv` has them.
type StoredCaseRows = BTreeMap<u64, Vec<u8>>;

struct Reading {
    columns: Arc<RecordColumns>,
    summary: Summary,
    rows: StoredCaseRows,
}

impl Sink for Reading {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        if let Some(row) = self.rows.get_mut(&record.case) {
            *row = row_of(&self.columns, record);
        }
        self.summary.push_record(record)
    }
}

fn row_of(columns: &Arc<RecordColumns>, record: &Record<'_>) -> Vec<u8> {
    let mut rows = CsvRows::new(columns);
    rows.push_record(record);
    rows.into_bytes()
}

/// An unpredictable seed: an attacker cannot choose rows that are not sampled.
fn seed() -> u32 {
    // The random keys of the standard library's hash maps.
    RandomState::new().hash_one(0) as u32
}

fn drawn(cases: u64, count: u64, seed: u32) -> Vec<u64> {
    if count >= cases {
        return (0..cases).collect();
    }
    let mut stream = Streams::new(u64::from(seed)).stream(0, Purpose::Trial(0));
    let mut all = std::collections::BTreeSet::new();
    while (all.len() as u64) < count {
        all.insert(((stream.uniform() * cases as f64) as u64).min(cases - 1));
    }
    all.into_iter().collect()
}

/// Evaluates these cases again, and compares their rows.
fn again(
    scenario: &Scenario,
    columns: &Arc<RecordColumns>,
    stored: &StoredCaseRows,
    signals: &Signals,
) -> Result<(), Failure> {
    let interrupt = signals.raise_first()?;
    let plan = Plan::on_threads(scenarios::available(), scenario, interrupt);
    if interrupt.is_raised() {
        return Err(Failure::Interrupted);
    }
    let plan = plan.map_err(anyhow::Error::from)?;
    let mut evaluator = Evaluator::new(&plan);
    let mut found = Diagnostics::default();
    for (case, row) in stored {
        let own = row_of(columns, &evaluator.evaluate(plan.case(*case)));
        if interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        if own != *row {
            found.push(Diagnostic::general(difference(columns, *case, row, &own)).with_help(
                "the row was changed, or another version of scavsim or of the data behind the scenario made it",
            ));
        }
    }
    no_mistakes(found)
}

/// How a row differs from the one that was evaluated again.
fn difference(columns: &RecordColumns, case: u64, stored: &[u8], own: &[u8]) -> String {
    let cells = |row: &[u8]| {
        let mut rows = csv::ReaderBuilder::new();
        let mut rows = rows.has_headers(false).from_reader(row);
        let first = rows.records().next().and_then(Result::ok);
        first.map_or(Vec::new(), |row| row.iter().map(str::to_owned).collect())
    };
    let (stored, own): (Vec<String>, Vec<String>) = (cells(stored), cells(own));
    let columns = columns.names().zip(stored.iter().zip(&own));
    let other: Vec<String> = columns
        .filter(|(_, (stored, own))| stored != own)
        .map(|(column, (stored, own))| format!("`{column}` is {stored}, evaluated again {own}"))
        .collect();
    const SHOWN: usize = 3;
    let more = match other.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let shown = &other[..other.len().min(SHOWN)];
    format!(
        "case {case} is not what its scenario comes to: {}{more}",
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_drawn_once_each_and_the_same_by_seed() {
        assert_eq!(drawn(5, 20, 1), [0, 1, 2, 3, 4]);
        let some = drawn(1000, 20, 7);
        assert_eq!(some.len(), 20);
        assert!(some.windows(2).all(|two| two[0] < two[1]) && some[19] < 1000);
        assert_eq!(some, drawn(1000, 20, 7));
        assert_ne!(some, drawn(1000, 20, 8));
    }
}

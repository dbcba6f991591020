//! All output of a run in a folder. Order matters, because a run may be killed between any two steps: rows are written first,
//! and the manifest that claims them last; output of an older run is disclaimed and removed before anything new is claimed.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::failures_csv::FailuresPart;
use super::formats::FORMATS;
use super::manifest::{self, Identity};
use super::records_csv::{self, CsvPart, RecordsCsv, ValidRows};
use super::records_file::{FormPart, RecordsFile, RecordsFormat};
use super::row_hashes::{self, AlteredRows, RowHashes};
use super::stored_rows::{StoredRows, invalid};
use super::unfinished_rows;
use super::{failures_csv, summary_by, summary_csv};
use scavsim_base::output::{OutputFolder, partial_name};
use scavsim_experiment::{
    Aggregated, Finished, Gather, KeyColumns, Maker, Part, Plan, Record, RecordColumns, RunEnding,
    Summary, SummaryMaker, SummaryPart, Tasks,
};
use scavsim_read::input::regular;

/// Name of the file in a folder of results that has the summary.
pub const SUMMARY: &str = "summary.csv";

pub struct Results {
    folder: OutputFolder,
    identity: Identity,
    /// Whether CSV rows are requested, and not only written to be read back.
    keep_csv: bool,
    columns: Arc<RecordColumns>,
    forms: Vec<PartMaker>,
    rows: RecordsCsv,
    derived: DerivedFiles,
}

type PartMaker = fn(&RecordColumns) -> Box<dyn FormPart>;

pub struct ResultsPart {
    rows: CsvPart,
    derived: DerivedPart,
}

pub struct DerivedPart {
    forms: Vec<Box<dyn FormPart>>,
    failures: FailuresPart,
    summary: SummaryPart,
    failed: Option<io::Error>,
}

pub struct ResultsMaker {
    columns: Arc<RecordColumns>,
    forms: Vec<PartMaker>,
    summary: SummaryMaker,
}

/// All files that can be made again from the rows.
struct DerivedFiles {
    forms: Vec<Box<dyn RecordsFile>>,
    failures: failures_csv::FailuresCsv,
    summary: Summary,
}

impl Results {
    pub fn start(
        folder: &OutputFolder,
        identity: Identity,
        formats: &[&'static RecordsFormat],
        summary: Summary,
    ) -> io::Result<Results> {
        // Emptied before the manifest claims it.
        let hashes = RowHashes::new(&identity);
        let columns = manifest::columns(&identity);
        let rows = RecordsCsv::open(folder, &columns, 0, ValidRows::default(), hashes)?;
        let derived = claim(folder, &identity, formats, summary)?;
        Ok(Self::from_parts(folder, identity, formats, rows, derived))
    }

    /// Continues after the rows that an earlier run of this identity left, and reports how far that was. Rows after the last
    /// hash are evaluated again. [`AlteredRows`] rows are refused; then nothing is changed.
    pub fn resume(
        folder: &OutputFolder,
        mut identity: Identity,
        formats: &[&'static RecordsFormat],
        summary: Summary,
        plan: &Plan,
        progress: &AtomicU64,
    ) -> io::Result<(Results, Finished)> {
        let (partial, whole) = (
            folder.file(records_csv::PARTIAL),
            folder.file(records_csv::FILE),
        );
        let there = if partial.exists() { &partial } else { &whole };
        let named = |error: io::Error| AlteredRows::named(there, error);
        let left = manifest::read(&folder.file(manifest::FILE))?.unwrap_or_default();
        let good = unfinished_rows::good(folder, there, &left).map_err(named)?;
        // Existing rows keep their columns.
        let columns = manifest::columns(&left);
        identity = manifest::with_columns(identity, &columns);
        if !partial.exists() && whole.exists() {
            folder.rename(records_csv::FILE, records_csv::PARTIAL)?;
        }
        let mut derived = claim(folder, &identity, formats, summary)?;
        let mut finished = Finished::default();
        let mut hashes = RowHashes::new(&identity);
        let mut end = 0;
        if good.rows > 0
            && let Some(mut stored) = StoredRows::open(&partial, &columns).map_err(named)?
        {
            let tasks = Tasks::from_plan(plan);
            let maker = ResultsMaker {
                columns: Arc::new(columns.clone()),
                forms: parts_of(formats),
                summary: derived.summary.maker(),
            };
            while finished.cases < good.rows {
                let mut part = maker.derived();
                for case in tasks.cases(tasks.task_of(finished.cases)) {
                    let record = stored.read().map_err(named)?;
                    let Some(record) = record.filter(|r| r.case == case && plan.owns(r)) else {
                        return Err(named(AlteredRows::rows(case, case, 1)));
                    };
                    finished.count(&record);
                    part.push_record(&record)?;
                    progress.fetch_add(1, Ordering::Relaxed);
                    hashes.push_rows(stored.raw(), 1);
                }
                part.end();
                derived.merge(part)?;
            }
            end = stored.end();
        }
        let rows = RecordsCsv::open(folder, &columns, end, good, hashes)?;
        let results = Self::from_parts(folder, identity, formats, rows, derived);
        Ok((results, finished))
    }

    fn from_parts(
        folder: &OutputFolder,
        identity: Identity,
        formats: &[&'static RecordsFormat],
        rows: RecordsCsv,
        derived: DerivedFiles,
    ) -> Results {
        Results {
            folder: folder.clone(),
            columns: Arc::new(manifest::columns(&identity)),
            identity,
            forms: parts_of(formats),
            keep_csv: formats.iter().any(|format| format.beside.is_none()),
            rows,
            derived,
        }
    }

    /// Whether only rows and the usual summary are requested.
    pub fn is_plain(&self) -> bool {
        self.forms.is_empty() && self.derived.summary.is_usual()
    }

    pub fn maker(&self) -> ResultsMaker {
        ResultsMaker {
            columns: Arc::clone(&self.columns),
            forms: self.forms.clone(),
            summary: self.derived.summary.maker(),
        }
    }

    /// Whether `folder` has rows of any run.
    pub fn has_rows(folder: &Path) -> bool {
        let is_behind_header = |name: &str| -> io::Result<bool> {
            let mut file = BufReader::new(regular::open(&folder.join(name))?);
            file.skip_until(b'\n')?;
            Ok(!file.fill_buf()?.is_empty())
        };
        let files = [records_csv::PARTIAL, records_csv::FILE];
        files
            .into_iter()
            .any(|name| is_behind_header(name).unwrap_or(false))
    }

    /// Whether a stored manifest is complete, and the files exist, including the summary by the requested columns.
    pub fn is_complete(
        folder: &Path,
        read: &Identity,
        formats: &[&'static RecordsFormat],
        by: Option<&KeyColumns>,
    ) -> bool {
        read.get("complete").and_then(|c| c.as_bool()) == Some(true)
            && (formats.iter()).all(|format| folder.join(format.file).exists())
            && has_columns(folder, by).unwrap_or(false)
    }

    /// Closes all files, then writes `summary.csv` and last the manifest with `more` in it; returns the groups of the
    /// summary. A run that ended early keeps the files that `--resume` needs.
    pub fn finish(
        self,
        finished: &Finished,
        more: Option<(&'static str, Value)>,
    ) -> io::Result<Aggregated> {
        for form in self.derived.forms {
            form.close()?;
        }
        self.derived.failures.close()?;
        let hashes = if self.keep_csv {
            self.rows.close()?
        } else {
            self.rows.leave()?
        };
        let aggregated = self.derived.summary.finish()?;
        let folder = &self.folder;
        let summary = summary_csv::file(&aggregated, &self.columns);
        folder.write(SUMMARY, summary.as_bytes())?;
        if !self.keep_csv && finished.ending == RunEnding::Complete {
            folder.remove(records_csv::PARTIAL)?;
        }
        let ending = manifest::ending(finished).into_iter();
        let summary = (
            manifest::SUMMARY_HASH,
            json!(manifest::hash(summary.as_bytes())),
        );
        let more = ending
            .chain(more)
            .chain(hashes.manifest_entries())
            .chain([summary]);
        let manifest = manifest::text(&self.identity, more)?;
        folder.write(manifest::FILE, manifest.as_bytes())?;
        folder.remove(row_hashes::PARTIAL)?;
        Ok(aggregated)
    }
}

impl ResultsMaker {
    fn derived(&self) -> DerivedPart {
        DerivedPart {
            forms: self.forms.iter().map(|part| part(&self.columns)).collect(),
            failures: FailuresPart::default(),
            summary: self.summary.part(),
            failed: None,
        }
    }
}

impl ResultsPart {
    /// The part of a task without its records, if only rows and the usual summary are requested.
    pub fn from_parts(rows: CsvPart, failures: FailuresPart, summary: SummaryPart) -> ResultsPart {
        let derived = DerivedPart {
            forms: Vec::new(),
            failures,
            summary,
            failed: None,
        };
        ResultsPart { rows, derived }
    }

    pub fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.rows.push_record(record);
        self.derived.push_record(record)
    }

    pub fn end(&mut self) {
        self.rows.end();
        self.derived.end();
    }
}

impl DerivedPart {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        for form in &mut self.forms {
            form.push_record(record)?;
        }
        self.failures.push_record(record)?;
        self.summary.push_record(record);
        Ok(())
    }

    fn end(&mut self) {
        let ended = self.forms.iter_mut().try_for_each(|form| form.end());
        self.failed = ended.err();
    }
}

impl<'p> Part<'p> for ResultsPart {
    fn push_record(&mut self, record: &mut Record<'p>) -> io::Result<()> {
        ResultsPart::push_record(self, record)
    }

    fn end(&mut self) {
        ResultsPart::end(self);
    }
}

impl Maker for ResultsMaker {
    type Part<'p> = ResultsPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        ResultsPart {
            rows: CsvPart::new(&self.columns),
            derived: self.derived(),
        }
    }
}

impl Gather for Results {
    type Maker = ResultsMaker;

    fn maker(&self) -> ResultsMaker {
        Results::maker(self)
    }

    fn merge(&mut self, part: ResultsPart) -> io::Result<()> {
        self.rows.merge(part.rows)?;
        self.derived.merge(part.derived)
    }

    fn flush_waiting(&mut self) -> io::Result<()> {
        self.rows.flush_waiting()?;
        self.derived.summary.flush_waiting()
    }
}

/// The makers of a task's part in each additional format.
fn parts_of(formats: &[&'static RecordsFormat]) -> Vec<PartMaker> {
    let beside = formats.iter().filter_map(|format| format.beside);
    beside.map(|beside| beside.part).collect()
}

/// Checks that no link or pipe is in place of a file that a run writes.
pub fn may_be_written(folder: &OutputFolder) -> io::Result<()> {
    let forms = FORMATS.iter().map(|format| partial_name(format.file));
    let others = [
        partial_name(failures_csv::FILE),
        row_hashes::PARTIAL.to_owned(),
    ];
    folder.may_hold(forms.chain(others))
}

/// The summary in `folder`, checked to be the one that the run of `manifest` wrote.
pub fn summary(folder: &Path, manifest: &Identity) -> io::Result<Vec<u8>> {
    let path = folder.join(SUMMARY);
    let bytes = regular::read(&path).map_err(|error| AlteredRows::named(&path, error))?;
    if manifest.get(manifest::SUMMARY_HASH) == Some(&json!(manifest::hash(&bytes))) {
        Ok(bytes)
    } else {
        let what = format!("{} is not what the manifest describes", path.display());
        Err(AlteredRows(what).into())
    }
}

/// The columns of a summary, if they are not the usual ones; an error for a header that no run writes.
pub fn summary_columns(summary: &[u8]) -> io::Result<Option<KeyColumns>> {
    let header = summary.split(|byte| *byte == b'\n').next();
    let header = String::from_utf8_lossy(header.unwrap_or_default());
    let names: Vec<&str> = header.trim_end().split(',').collect();
    if names.starts_with(&summary_csv::KEY) && names.contains(&summary_csv::REPLICAS) {
        return Ok(None);
    }
    let by = names
        .iter()
        .position(|name| *name == summary_by::FIRST_FIGURE);
    let by = by.and_then(|count| names[..count].join(",").parse().ok());
    let wrong = || invalid(format!("{SUMMARY}: its header is none of a summary"));
    by.map(Some).ok_or_else(wrong)
}

/// Whether the summary in `folder` has the requested columns `by`.
fn has_columns(folder: &Path, by: Option<&KeyColumns>) -> io::Result<bool> {
    let found = summary_columns(&regular::read(&folder.join(SUMMARY))?)?;
    let names = |by: &KeyColumns| -> Vec<String> {
        let names = by.columns.iter().map(|column| column.name.to_string());
        names.collect()
    };
    Ok(found.as_ref().map(names) == by.map(names))
}

/// Marks the folder as belonging to this unfinished run, removes files that the run does not own, and opens the files next to
/// the rows.
fn claim(
    folder: &OutputFolder,
    identity: &Identity,
    formats: &[&'static RecordsFormat],
    summary: Summary,
) -> io::Result<DerivedFiles> {
    let mut unfinished = Finished::default();
    unfinished.ending = RunEnding::Interrupted;
    let manifest = manifest::text(identity, manifest::ending(&unfinished))?;
    let older = files(folder);
    folder.write(manifest::FILE, manifest.as_bytes())?;
    older.iter().try_for_each(|name| folder.remove(name))?;
    let columns = manifest::columns(identity);
    let create = |format: &&RecordsFormat| {
        let beside = format.beside?;
        Some((beside.create)(folder, &columns))
    };
    Ok(DerivedFiles {
        forms: formats
            .iter()
            .filter_map(create)
            .collect::<io::Result<_>>()?,
        failures: failures_csv::FailuresCsv::new(folder),
        summary,
    })
}

/// Files of a folder that belong to its results, but not the rows of a current run.
fn files(folder: &OutputFolder) -> Vec<String> {
    let older = manifest::read(&folder.file(manifest::FILE)).ok().flatten();
    let named = older
        .as_ref()
        .and_then(|own| own.get(manifest::FILES)?.as_object());
    let named = named.into_iter().flat_map(|files| files.keys().cloned());
    // A forged manifest may name files in other places.
    let own = named.filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)));
    let derived = [failures_csv::FILE, row_hashes::PARTIAL].map(partial_name);
    let beside = FORMATS.iter().filter(|format| format.beside.is_some());
    let partial = beside.map(|format| partial_name(format.file));
    let whole = FORMATS.iter().map(|format| format.file.to_owned());
    own.chain([SUMMARY, failures_csv::FILE].map(str::to_owned))
        .chain(derived)
        .chain(partial)
        .chain(whole)
        .collect()
}

/// Removes results from a folder, their manifest first, but not the files of new results that are still `unfinished`.
pub fn remove(folder: &OutputFolder, unfinished: &[String]) -> io::Result<()> {
    let rows = [records_csv::PARTIAL, row_hashes::PARTIAL].map(str::to_owned);
    let files = files(folder);
    folder.remove(manifest::FILE)?;
    let mut old = (files.iter().chain(&rows)).filter(|name| !unfinished.contains(name));
    old.try_for_each(|name| folder.remove(name))
}

impl DerivedFiles {
    fn merge(&mut self, part: DerivedPart) -> io::Result<()> {
        if let Some(error) = part.failed {
            return Err(error);
        }
        for (form, part) in self.forms.iter_mut().zip(part.forms) {
            form.merge(part)?;
        }
        self.failures.merge(&part.failures.into_bytes()?)?;
        self.summary.merge(part.summary)
    }
}

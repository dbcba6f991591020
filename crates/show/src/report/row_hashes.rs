//! Hashes that detect changed rows. A leaf is the hash of the rows of one task as in `records.csv`, for any format of the
//! records. During a run each leaf is a line of [`PARTIAL`], written after its rows. After the run, the manifest has at most
//! 64 hashes, each of equally many leaves.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::manifest::{self, Identity, short};
use scavsim_experiment::Tasks;

/// Hashes of the rows in an unfinished file. Each line has the number of rows up to it, and the hash of the rows of the last
/// leaf.
pub const PARTIAL: &str = "records.partial.hashes";

/// Maximum number of hashes in a manifest.
const MOST: u64 = 64;
const TASKS: &str = "tasks_per_hash";
const HASHES: &str = "records_hashes";

/// The hashes of consecutive rows.
#[derive(Debug, Clone)]
pub struct RowHashes {
    tasks: Tasks,
    rows: u64,
    /// Hash of the rows of an unfinished task, if there is one.
    leaf: blake3::Hasher,
    begun: Option<String>,
    /// Leaves per hash of a manifest; the complete hashes, and the hash of the remaining leaves with their number.
    per_hash: u64,
    whole: Vec<String>,
    open: blake3::Hasher,
    leaves: u64,
    /// Rows before those of `open`, and before those of the last complete one.
    before: [u64; 2],
}

impl RowHashes {
    /// The hashes of no rows yet, for the run `identity`.
    pub fn new(identity: &Identity) -> RowHashes {
        let cases = identity.get("cases").and_then(Value::as_u64).unwrap_or(0);
        let tasks = manifest::tasks(identity).unwrap_or(Tasks::new(cases, cases, 1));
        RowHashes {
            tasks,
            rows: 0,
            leaf: blake3::Hasher::new(),
            begun: None,
            per_hash: tasks.count().div_ceil(MOST).max(1),
            whole: Vec::new(),
            open: blake3::Hasher::new(),
            leaves: 0,
            before: [0; 2],
        }
    }

    /// Adds `rows` rows with their line ends, at most up to the end of the task; returns their line in [`PARTIAL`].
    pub fn push_rows(&mut self, bytes: &[u8], rows: u64) -> String {
        self.leaf.update(bytes);
        let leaf = short(&self.leaf);
        self.take_leaf(leaf, rows)
    }

    /// Adds the next rows by the hash of all rows of the task so far; returns their line in [`PARTIAL`].
    pub fn take_leaf(&mut self, leaf: String, rows: u64) -> String {
        self.rows += rows;
        let line = format!("{} {leaf}\n", self.rows);
        if !self.is_at_border() {
            self.begun = Some(leaf);
            return line;
        }
        self.open.update(leaf.as_bytes());
        self.leaf.reset();
        self.begun = None;
        self.leaves += 1;
        if self.leaves == self.per_hash {
            self.whole.push(short(&self.open));
            self.open.reset();
            self.leaves = 0;
            self.before = [self.rows, self.before[0]];
        }
        line
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows that are left in the task.
    pub fn room(&self) -> u64 {
        let task = self.tasks.cases(self.tasks.task_of(self.rows));
        // No row after the last one can be right.
        task.end.saturating_sub(self.rows).max(1)
    }

    /// Whether no task is partly finished.
    pub fn is_at_border(&self) -> bool {
        let task = self.tasks.cases(self.tasks.task_of(self.rows));
        task.start == self.rows || self.rows >= self.tasks.all()
    }

    /// All hashes for a manifest, that of the last rows included.
    fn all(&self) -> Vec<String> {
        let mut all = self.whole.clone();
        if self.leaves > 0 || self.begun.is_some() {
            let mut open = self.open.clone();
            if let Some(leaf) = &self.begun {
                open.update(leaf.as_bytes());
            }
            all.push(short(&open));
        }
        all
    }

    pub fn manifest_entries(&self) -> [(&'static str, Value); 2] {
        [(TASKS, json!(self.per_hash)), (HASHES, json!(self.all()))]
    }
}

/// Stored rows that do not match the hashes in their manifest: they were changed, removed or added after the run. Holds the
/// message, with the lines.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AlteredRows(pub String);

impl AlteredRows {
    /// The error that rows from `first` to `last`, counted from 0, differ; each has a line of its own, after `before` other
    /// lines.
    pub fn rows(first: u64, last: u64, before: u64) -> io::Error {
        let (first, last) = (first + before + 1, last + before + 1);
        let what = if first == last {
            format!("line {first} is not what the run wrote")
        } else {
            format!("lines {first} to {last} are not what the run wrote")
        };
        AlteredRows(what).into()
    }

    pub fn named(path: &Path, error: io::Error) -> io::Error {
        let what = format!("{}: {error}", path.display());
        if error
            .get_ref()
            .is_some_and(|inner| inner.is::<AlteredRows>())
        {
            AlteredRows(what).into()
        } else {
            io::Error::new(error.kind(), what)
        }
    }
}

impl From<AlteredRows> for io::Error {
    fn from(altered: AlteredRows) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, altered)
    }
}

pub struct Check {
    seen: RowHashes,
    right: Vec<String>,
    rows: u64,
    /// Lines before the first row.
    before: u64,
}

impl Check {
    /// A check of the rows of an ended run, by its manifest; `None` if that has no hashes. `before` is the number of lines
    /// before the rows.
    pub fn from_manifest(manifest: &Identity, before: u64) -> Option<Check> {
        let hashes = manifest.get(HASHES)?.as_array()?.iter();
        let right = hashes.map(|hash| hash.as_str().map(str::to_owned));
        let mut seen = RowHashes::new(manifest);
        let per_hash = manifest.get(TASKS)?.as_u64()?;
        seen.per_hash = (per_hash > 0).then_some(per_hash)?;
        Some(Check {
            seen,
            right: right.collect::<Option<_>>()?,
            rows: manifest.get("finished")?.as_u64()?,
            before,
        })
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Compares rows as in `records.csv`, at most up to the end of their task; returns their line in [`PARTIAL`], or [`AlteredRows`].
    pub fn check_rows(&mut self, bytes: &[u8], rows: u64) -> io::Result<String> {
        let before = self.seen.whole.len();
        let line = self.seen.push_rows(bytes, rows);
        let whole = &self.seen.whole;
        if whole.len() > before && whole.last() != self.right.get(before) {
            let [end, begin] = self.seen.before;
            return Err(AlteredRows::rows(begin, end.saturating_sub(1), self.before));
        }
        Ok(line)
    }

    pub fn room(&self) -> u64 {
        self.seen.room()
    }

    pub fn is_at_border(&self) -> bool {
        self.seen.is_at_border()
    }

    /// Ends the check after the last row; [`AlteredRows`] if the last rows differ, or some are missing.
    pub fn end(self) -> io::Result<()> {
        let (rows, right) = (self.seen.rows(), self.rows);
        if rows != right {
            return Err(AlteredRows(format!(
                "there are {rows} rows of the {right} that the run wrote"
            ))
            .into());
        }
        if self.seen.all() != self.right {
            let [open, last] = self.seen.before;
            let first = if open < rows { open } else { last };
            return Err(AlteredRows::rows(
                first,
                rows.saturating_sub(1),
                self.before,
            ));
        }
        Ok(())
    }
}

//! Contents of a stored shard, task by task: its rows, and their sums in `0003-of-0010.sums`.
//!
//! The file of sums begins with a line that names its version. For each task it has the length of an entry in 8 bytes, the
//! entry, and 16 bytes of the BLAKE3 hash of the entry. An entry holds the number of rows, their bytes and their hash in
//! [`PARTIAL`](super::row_hashes::PARTIAL); the number of cases without a result, with their rows in `failures.csv`; and the
//! part of the summary. The shard's manifest has the hash of all hashes, which proves that rows and sums are complete.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::csv_rows::CsvRows;
use super::failures_csv::FailuresPart;
use super::manifest;
use super::records_csv::{self, CsvPart};
use super::row_hashes::AlteredRows;
use super::row_reader::RowReader;
use super::stored_rows::invalid;
use scavsim_experiment::{Reader, Record, RecordColumns, SummaryPart, Writer};
use scavsim_read::input::regular;

/// The first line.
pub const HEAD: &[u8] = b"scavsim sums 1\n";
/// Bytes of the hash of an entry.
pub const HASH: usize = 16;

pub struct StoredTask {
    /// Rows of the task with their line ends.
    pub rows: Vec<u8>,
    pub count: u64,
    /// Cases without a result.
    pub failed: u64,
    leaf: String,
    failures: Vec<u8>,
    /// The entry, and the position of the summary's part in it.
    entry: Vec<u8>,
    sums_at: usize,
}

struct TaskEntry {
    count: u64,
    bytes: u64,
    leaf: String,
}

impl TaskEntry {
    fn read(from: &mut Reader<'_>) -> io::Result<TaskEntry> {
        Ok(TaskEntry {
            count: from.count().ok_or_else(damaged)?,
            bytes: from.count().ok_or_else(damaged)?,
            leaf: from.text().ok_or_else(damaged)?,
        })
    }
}

/// The bytes of an entry, with its length before and its hash after it.
pub fn entry(
    rows: &CsvRows,
    leaf: &str,
    failed: u64,
    failures: &[u8],
    summary: &SummaryPart,
) -> Vec<u8> {
    let mut to = Writer(vec![0; 8]);
    to.count(rows.rows());
    to.count(rows.bytes().len() as u64);
    to.text(leaf);
    to.count(failed);
    to.bytes(failures);
    summary.write(&mut to);
    let mut bytes = to.0;
    let length = (bytes.len() - 8) as u64;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    let hash = blake3::hash(&bytes[8..]);
    bytes.extend_from_slice(&hash.as_bytes()[..HASH]);
    bytes
}

impl StoredTask {
    /// The parts of a run for this task: its rows, the rows of its failures, and its part of the summary.
    pub fn into_parts(
        self,
        columns: &Arc<RecordColumns>,
    ) -> io::Result<(CsvPart, FailuresPart, SummaryPart)> {
        let mut from = Reader(&self.entry[self.sums_at..]);
        let summary = SummaryPart::read(&mut from).filter(|_| from.0.is_empty());
        let summary = summary.ok_or_else(|| invalid("the sums are not those of a task"))?;
        let rows = CsvPart::from_rows(
            CsvRows::from_bytes(columns, self.rows, self.count),
            self.leaf,
        );
        Ok((rows, FailuresPart::from_rows(self.failures), summary))
    }

    /// Returns its records, which belong to `cases`.
    pub fn records(
        &self,
        columns: &RecordColumns,
        cases: std::ops::Range<u64>,
        take: &mut dyn FnMut(&Record<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut rows = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(&self.rows[..]);
        let mut row = csv::StringRecord::new();
        let mut reader = RowReader::new(columns.clone());
        for case in cases {
            let is_there = rows.read_record(&mut row).map_err(invalid)?;
            let record: Option<Record<'_>> = if is_there {
                Some(reader.record(&row).map_err(invalid)?)
            } else {
                None
            };
            let Some(record) = record.filter(|record| record.case == case) else {
                return Err(invalid(format!("case {case} is not where it belongs")));
            };
            if !record.is_finite() {
                return Err(invalid("a figure is not finite"));
            }
            take(&record)?;
        }
        Ok(())
    }
}

pub struct StoredShard {
    rows: File,
    sums: BufReader<File>,
    pub at: [u64; 2],
    path: PathBuf,
}

impl StoredShard {
    /// Opens the files of the shard with the rows at `path`, where reading continues at `at`.
    pub fn open(
        path: &Path,
        columns: &RecordColumns,
        at: Option<[u64; 2]>,
    ) -> io::Result<StoredShard> {
        let sums_path = path.with_extension("sums");
        let open = |path: &Path, head: &[u8], at: Option<u64>| -> io::Result<(File, u64)> {
            let mut file = regular::open(path)?;
            let at = match at {
                Some(at) => at,
                None => {
                    let mut found = Vec::new();
                    (&file).take(head.len() as u64).read_to_end(&mut found)?;
                    if found != head {
                        return Err(invalid("it does not begin with the header of this version"));
                    }
                    head.len() as u64
                }
            };
            file.seek(SeekFrom::Start(at))?;
            Ok((file, at))
        };
        let (rows, rows_at) = open(path, &records_csv::header(columns)?, at.map(|at| at[0]))
            .map_err(|error| AlteredRows::named(path, error))?;
        let (sums, sums_at) = open(&sums_path, HEAD, at.map(|at| at[1]))
            .map_err(|error| AlteredRows::named(&sums_path, error))?;
        Ok(StoredShard {
            rows,
            sums: BufReader::with_capacity(1 << 14, sums),
            at: [rows_at, sums_at],
            path: path.to_owned(),
        })
    }

    /// The next task; `None` after the last. Its entry is trusted.
    pub fn next_task(&mut self) -> io::Result<Option<StoredTask>> {
        let read = self.read();
        read.map_err(|error| AlteredRows::named(&self.path, error))
    }

    fn read(&mut self) -> io::Result<Option<StoredTask>> {
        let mut entry = Vec::new();
        if self.read_entry(&mut entry)?.is_none() {
            return Ok(None);
        }
        let mut from = Reader(&entry);
        let TaskEntry { count, bytes, leaf } = TaskEntry::read(&mut from)?;
        let failed = from.count().ok_or_else(damaged)?;
        let failures = from.bytes().ok_or_else(damaged)?.to_vec();
        let sums_at = entry.len() - from.0.len();
        let mut rows = Vec::new();
        exactly(&mut self.rows, bytes, &mut rows)?;
        self.at[0] += bytes;
        Ok(Some(StoredTask {
            rows,
            count,
            failed,
            leaf,
            failures,
            entry,
            sums_at,
        }))
    }

    /// Replaces the contents of `entry` by the next entry; returns the hash after it, `None` after the last.
    fn read_entry(&mut self, entry: &mut Vec<u8>) -> io::Result<Option<[u8; HASH]>> {
        if self.sums.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut length = [0; 8];
        self.sums.read_exact(&mut length).map_err(cut_off_or)?;
        let length = u64::from_le_bytes(length);
        exactly(&mut self.sums, length, entry)?;
        let mut hash = [0; HASH];
        self.sums.read_exact(&mut hash).map_err(cut_off_or)?;
        self.at[1] += 8 + length + HASH as u64;
        Ok(Some(hash))
    }

    /// The hash of the hashes of all entries, which proves that the shard is complete. Checks that rows and sums of every
    /// task match its entry, and that nothing follows them.
    pub fn hash(path: &Path, columns: &RecordColumns) -> io::Result<String> {
        let mut shard = StoredShard::open(path, columns, None)?;
        shard
            .hash_all()
            .map_err(|error| AlteredRows::named(path, error))
    }

    fn hash_all(&mut self) -> io::Result<String> {
        let mut all = blake3::Hasher::new();
        let (mut entry, mut rows) = (Vec::new(), Vec::new());
        while let Some(hash) = self.read_entry(&mut entry)? {
            if blake3::hash(&entry).as_bytes()[..HASH] != hash {
                return Err(invalid("its sums are not those that the shard wrote"));
            }
            let told = TaskEntry::read(&mut Reader(&entry))?;
            exactly(&mut self.rows, told.bytes, &mut rows)?;
            if manifest::hash(&rows) != told.leaf {
                return Err(invalid("its rows are not those that the shard wrote"));
            }
            all.update(&hash);
        }
        if self.rows.read(&mut [0])? > 0 {
            return Err(invalid("it has rows that are in no task"));
        }
        Ok(all.finalize().to_hex().to_string())
    }
}

/// Replaces the contents of `bytes` by `count` bytes, without trusting that there are this many.
fn exactly(file: &mut impl Read, count: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    bytes.reserve(count.min(1 << 20) as usize);
    file.take(count).read_to_end(bytes)?;
    if bytes.len() as u64 == count {
        Ok(())
    } else {
        Err(cut_off())
    }
}

fn cut_off() -> io::Error {
    invalid("it is cut off")
}

/// An early end of the file means that it is cut off.
fn cut_off_or(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_off(),
        _ => error,
    }
}

fn damaged() -> io::Error {
    invalid("its sums are damaged")
}

//! Hashes by which rows that somebody changed are told from those that were written.
//!
//! A leaf is the hash of 64 rows as they stand in `records.csv`, whatever form they are kept in. While a run goes on
//! each leaf is a line of [`PARTIAL`], written behind its rows. When it has ended, the manifest holds at most 64
//! hashes, each of as many leaves.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::manifest::Identity;

/// Hashes of the rows in an unfinished file. A line says how many rows there are up to it, and the hash of those of
/// the last leaf.
pub const PARTIAL: &str = "records.partial.hashes";

/// Rows of a leaf.
pub const LEAF: u64 = 64;
/// Hashes in a manifest, at most.
const MOST: u64 = 64;
/// Keys in a manifest.
const ROWS: &str = "rows_per_hash";
const HASHES: &str = "records_hashes";

/// The hashes of rows that come one after the other.
#[derive(Debug, Clone)]
pub struct RowHashes {
    rows: u64,
    leaf: blake3::Hasher,
    /// Rows per hash of a manifest; those that are whole, and that of the leaves behind.
    per_hash: u64,
    whole: Vec<String>,
    open: blake3::Hasher,
}

impl RowHashes {
    /// Of no rows yet, of the run that `identity` is of.
    pub fn new(identity: &Identity) -> RowHashes {
        let cases = identity.get("cases").and_then(Value::as_u64);
        RowHashes {
            rows: 0,
            leaf: blake3::Hasher::new(),
            per_hash: cases.unwrap_or(0).div_ceil(MOST).div_ceil(LEAF).max(1) * LEAF,
            whole: Vec::new(),
            open: blake3::Hasher::new(),
        }
    }

    /// Takes so many rows with their line ends, none of them behind the end of the leaf; returns their line in
    /// [`PARTIAL`].
    pub fn take(&mut self, bytes: &[u8], rows: u64) -> String {
        self.leaf.update(bytes);
        self.rows += rows;
        let leaf = short(&self.leaf);
        if self.rows.is_multiple_of(LEAF) {
            self.open.update(leaf.as_bytes());
            self.leaf.reset();
            if self.rows.is_multiple_of(self.per_hash) {
                self.whole.push(short(&self.open));
                self.open.reset();
            }
        }
        format!("{} {leaf}\n", self.rows)
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows that the leaf still takes.
    pub fn room(&self) -> u64 {
        LEAF - self.rows % LEAF
    }

    /// All hashes for a manifest, that of the last rows included.
    fn all(&self) -> Vec<String> {
        let mut all = self.whole.clone();
        if !self.rows.is_multiple_of(self.per_hash) {
            let mut open = self.open.clone();
            if !self.rows.is_multiple_of(LEAF) {
                open.update(short(&self.leaf).as_bytes());
            }
            all.push(short(&open));
        }
        all
    }

    /// What a manifest says of them.
    pub fn told(&self) -> [(&'static str, Value); 2] {
        [(ROWS, json!(self.per_hash)), (HASHES, json!(self.all()))]
    }
}

/// 128 bits in hexadecimal digits.
fn short(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Rows that are not those that were written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Altered(pub String);

impl Altered {
    /// The error that rows from `first` to `last`, counted from 0, are others; they stand on a line of their own each,
    /// behind so many `before`.
    pub fn rows(first: u64, last: u64, before: u64) -> io::Error {
        let (first, last) = (first + before + 1, last + before + 1);
        let what = match first == last {
            true => format!("line {first} is not what the run wrote"),
            false => format!("lines {first} to {last} are not what the run wrote"),
        };
        Altered(what).into()
    }
}

impl Altered {
    /// The same error with the file that it is of.
    pub fn named(path: &Path, error: io::Error) -> io::Error {
        let what = format!("{}: {error}", path.display());
        match error.get_ref().is_some_and(|inner| inner.is::<Altered>()) {
            true => Altered(what).into(),
            false => io::Error::new(error.kind(), what),
        }
    }
}

impl From<Altered> for io::Error {
    fn from(altered: Altered) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, altered)
    }
}

/// Compares rows with the hashes in a manifest.
pub struct Check {
    seen: RowHashes,
    right: Vec<String>,
    rows: u64,
    /// Lines before the first row.
    before: u64,
}

impl Check {
    /// A check of the rows of an ended run, by its manifest; `None` where that holds no hashes. They stand behind
    /// so many lines.
    pub fn of(manifest: &Identity, before: u64) -> Option<Check> {
        let hashes = manifest.get(HASHES)?.as_array()?.iter();
        let right = hashes.map(|hash| hash.as_str().map(str::to_owned));
        let mut seen = RowHashes::new(manifest);
        let per_hash = manifest.get(ROWS)?.as_u64()?;
        seen.per_hash = (per_hash > 0 && per_hash.is_multiple_of(LEAF)).then_some(per_hash)?;
        Some(Check {
            seen,
            right: right.collect::<Option<_>>()?,
            rows: manifest.get("finished")?.as_u64()?,
            before,
        })
    }

    /// Rows that there are to be.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes rows as they stand in `records.csv`, none behind the end of their leaf; returns their line in [`PARTIAL`].
    ///
    /// # Errors
    /// [`Altered`], with the lines, where a hash is another.
    pub fn take(&mut self, bytes: &[u8], rows: u64) -> io::Result<String> {
        let line = self.seen.take(bytes, rows);
        let rows = self.seen.rows();
        let (whole, per_hash) = (self.seen.whole.len(), self.seen.per_hash);
        if rows.is_multiple_of(per_hash) && self.seen.whole.last() != self.right.get(whole - 1) {
            return Err(Altered::rows(rows - per_hash, rows - 1, self.before));
        }
        Ok(line)
    }

    /// Rows that a leaf still takes.
    pub fn room(&self) -> u64 {
        self.seen.room()
    }

    /// Ends the check behind the last row.
    ///
    /// # Errors
    /// [`Altered`] where the last rows are others, or fewer than there were.
    pub fn end(self) -> io::Result<()> {
        let (rows, right) = (self.seen.rows(), self.rows);
        if rows != right {
            return Err(Altered(format!(
                "there are {rows} rows of the {right} that the run wrote"
            ))
            .into());
        }
        if self.seen.all() != self.right {
            let first = rows.saturating_sub(1) / self.seen.per_hash * self.seen.per_hash;
            return Err(Altered::rows(first, rows.saturating_sub(1), self.before));
        }
        Ok(())
    }
}

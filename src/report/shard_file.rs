//! `shards/0003-of-0010.csv` and `.json`: the rows of one shard, and what they were made from.
//!
//! A shard is whole or not there: its rows take their name when all are written, and count only
//! beside a manifest that holds their hash. It may be made twice, even at the same time, as
//! engines do that retry: the bytes are the same.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::folder::Folder;
use super::manifest::{self, Identity};
use super::records_csv;
use crate::experiment::{Finished, Record, Shard, Sink};
use crate::input::regular;

/// The folder of shards in a result folder.
pub const FOLDER: &str = "shards";

/// A shard that is being written.
pub struct ShardFile {
    folder: Folder,
    shard: Shard,
    rows: csv::Writer<Hashed>,
}

/// The name of a shard's files, without extension.
pub fn name(shard: Shard) -> String {
    format!("{:04}-of-{:04}", shard.index(), shard.count())
}

/// The manifest of a shard in `folder` that is of another run than `identity`, which `merge` would refuse.
pub fn of_another_run(folder: &Folder, identity: &Identity) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder.path()).ok()?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths.into_iter().find(|path| {
        let is_manifest = path.extension().is_some_and(|ending| ending == "json");
        // What cannot be read is reported by `merge`.
        let read = if is_manifest {
            manifest::read(path).ok().flatten()
        } else {
            None
        };
        read.is_some_and(|read| {
            identity
                .iter()
                .any(|(key, value)| read.get(key) != Some(value))
        })
    })
}

/// The hash of a file.
///
/// # Errors
/// Whatever keeps it from being read.
pub fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(regular::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

impl ShardFile {
    /// The number of failed cases of a shard that is already there and whole, and of this
    /// identity.
    ///
    /// # Errors
    /// Whatever keeps its rows from being read.
    pub fn stored(folder: &Folder, shard: Shard, identity: &Identity) -> io::Result<Option<u64>> {
        let name = name(shard);
        // What cannot be read as a manifest is as good as none.
        let Ok(Some(manifest)) = manifest::read(&folder.file(&format!("{name}.json"))) else {
            return Ok(None);
        };
        let same = (identity.iter().map(|(key, value)| (key.as_str(), value)))
            .chain(place(shard).iter().map(|(key, value)| (*key, value)))
            .all(|(key, value)| manifest.get(key) == Some(value));
        let rows = folder.file(&format!("{name}.csv"));
        if !same || !rows.exists() || manifest.get("records_hash") != Some(&json!(hash(&rows)?)) {
            return Ok(None);
        }
        Ok(manifest.get("failed").and_then(Value::as_u64))
    }

    /// Starts a shard.
    ///
    /// # Errors
    /// Whatever prevents it.
    pub fn create(folder: &Folder, shard: Shard) -> io::Result<ShardFile> {
        let mut out = Hashed {
            file: BufWriter::new(folder.unnamed()?),
            hasher: blake3::Hasher::new(),
        };
        out.write_all(&records_csv::header()?)?;
        Ok(ShardFile {
            folder: folder.clone(),
            shard,
            rows: records_csv::rows_behind(out),
        })
    }

    /// Finishes the shard.
    ///
    /// # Errors
    /// Whatever prevents it; the shard is then not there.
    pub fn close(
        self,
        identity: &Identity,
        cases_per_task: u64,
        finished: &Finished,
        expectations: Option<(&'static str, Value)>,
    ) -> io::Result<()> {
        let Hashed { file, hasher } = self.rows.into_inner().map_err(|e| e.into_error())?;
        let file = file.into_inner().map_err(|e| e.into_error())?;
        file.as_file().sync_all()?;
        let name = name(self.shard);
        file.persist(self.folder.file(&format!("{name}.csv")))
            .map_err(|e| e.error)?;
        let own = [
            ("cases_per_task", json!(cases_per_task)),
            ("finished", json!(finished.cases)),
            ("failed", json!(finished.failed)),
            ("records_hash", json!(hasher.finalize().to_hex().as_str())),
        ];
        // They are the whole run's, and the same in every shard.
        let more = place(self.shard).into_iter().chain(own);
        let manifest = manifest::text(identity, more.chain(expectations))?;
        self.folder
            .write(&format!("{name}.json"), manifest.as_bytes())
    }
}

/// Which shard it is, in its manifest.
fn place(shard: Shard) -> [(&'static str, Value); 2] {
    [
        ("shard", json!(shard.index())),
        ("shards", json!(shard.count())),
    ]
}

impl Sink for ShardFile {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.rows.serialize(record).map_err(io::Error::other)
    }
}

/// A file whose hash is known when it is written.
struct Hashed {
    file: BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

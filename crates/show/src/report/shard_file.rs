//! `shards/0003-of-0010.csv`, `.sums` and `.json`: the rows of one shard, their sums, and its identity. A shard is complete
//! or absent: its files count only with a manifest that has their hash. It may be made twice, even at one time, as by engines
//! that retry: the bytes are equal.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::csv_rows::CsvRows;
use super::failures_csv::FailuresPart;
use super::manifest::{self, Identity};
use super::records_csv;
use super::stored_shard::{self, HASH, StoredShard};
use scavsim_base::output::{OutputFolder, PartialFile, is_partial};
use scavsim_experiment::{
    Finished, Gather, Maker, Part, Record, RecordColumns, Shard, Status, SummaryPart,
};

pub const FOLDER: &str = "shards";

pub struct ShardFile {
    folder: OutputFolder,
    shard: Shard,
    across_vms: bool,
    are_paired: bool,
    columns: Arc<RecordColumns>,
    rows: PartialFile,
    sums: PartialFile,
    hash: blake3::Hasher,
}

pub struct ShardPart {
    rows: CsvRows,
    failures: FailuresPart,
    failed: u64,
    summary: SummaryPart,
    /// The entry of the task, after its last record.
    entry: io::Result<Vec<u8>>,
}

pub struct ShardMaker {
    across_vms: bool,
    are_paired: bool,
    columns: Arc<RecordColumns>,
}

/// The name of a shard's files, without extension.
pub fn name(shard: Shard) -> String {
    format!("{:04}-of-{:04}", shard.index(), shard.count())
}

/// The manifest of a shard in `folder` of another run than `identity`, which `merge` would refuse.
pub fn of_another_run(folder: &OutputFolder, identity: &Identity) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder.path()).ok()?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths.into_iter().find(|path| {
        let is_manifest =
            path.extension().is_some_and(|ending| ending == "json") && !is_partial(path);
        // Unreadable manifests are reported by `merge`.
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

impl ShardFile {
    /// Failed cases of a complete stored shard of this identity. Unreadable ones count as absent.
    pub fn stored(folder: &OutputFolder, shard: Shard, identity: &Identity) -> Option<u64> {
        let name = name(shard);
        let manifest = manifest::read(&folder.file(&format!("{name}.json"))).ok()??;
        let same = (identity.iter().map(|(key, value)| (key.as_str(), value)))
            .chain(place(shard).iter().map(|(key, value)| (*key, value)))
            .all(|(key, value)| manifest.get(key) == Some(value));
        if !same {
            return None;
        }
        let columns = manifest::columns(identity);
        let hash = StoredShard::hash(&folder.file(&format!("{name}.csv")), &columns).ok()?;
        if manifest.get("records_hash") != Some(&json!(hash)) {
            return None;
        }
        manifest.get("failed").and_then(Value::as_u64)
    }

    pub fn create(
        folder: &OutputFolder,
        shard: Shard,
        identity: &Identity,
    ) -> io::Result<ShardFile> {
        let name = name(shard);
        let columns = manifest::columns(identity);
        let mut rows = folder.create(&format!("{name}.csv"))?;
        rows.write_all(&records_csv::header(&columns)?)?;
        let mut sums = folder.create(&format!("{name}.sums"))?;
        sums.write_all(stored_shard::HEAD)?;
        Ok(ShardFile {
            folder: folder.clone(),
            shard,
            across_vms: manifest::is_across_vms(identity),
            are_paired: manifest::are_paired(identity),
            columns: Arc::new(columns),
            rows,
            sums,
            hash: blake3::Hasher::new(),
        })
    }

    /// Renames rows and sums, then writes the manifest of the shard: without it, the shard does not exist.
    pub fn close(
        self,
        identity: &Identity,
        finished: &Finished,
        expectations: Option<(&'static str, Value)>,
    ) -> io::Result<()> {
        self.rows.close()?;
        self.sums.close()?;
        let own = [
            ("finished", json!(finished.cases)),
            ("failed", json!(finished.failed)),
            (
                "records_hash",
                json!(self.hash.finalize().to_hex().as_str()),
            ),
        ];
        // Expectations are those of the whole run, and equal in every shard.
        let more = place(self.shard).into_iter().chain(own);
        let manifest = manifest::text(identity, more.chain(expectations))?;
        self.folder
            .write(&format!("{}.json", name(self.shard)), manifest.as_bytes())
    }
}

fn place(shard: Shard) -> [(&'static str, Value); 2] {
    [
        ("shard", json!(shard.index())),
        ("shards", json!(shard.count())),
    ]
}

impl<'p> Part<'p> for ShardPart {
    fn push_record(&mut self, record: &mut Record<'p>) -> io::Result<()> {
        self.rows.push_record(record);
        self.failed += u64::from(record.status == Status::Failed);
        self.failures.push_record(record)?;
        self.summary.push_record(record);
        Ok(())
    }

    fn end(&mut self) {
        let leaf = manifest::hash(self.rows.bytes());
        let failures = std::mem::take(&mut self.failures).into_bytes();
        self.entry = failures.map(|failures: Vec<u8>| {
            stored_shard::entry(&self.rows, &leaf, self.failed, &failures, &self.summary)
        });
    }
}

impl Maker for ShardMaker {
    type Part<'p> = ShardPart;

    fn part<'p>(&self) -> Self::Part<'p> {
        ShardPart {
            rows: CsvRows::new(&self.columns),
            failures: FailuresPart::default(),
            failed: 0,
            summary: SummaryPart::usual(self.across_vms, self.are_paired),
            entry: Ok(Vec::new()),
        }
    }
}

impl Gather for ShardFile {
    type Maker = ShardMaker;

    fn maker(&self) -> ShardMaker {
        ShardMaker {
            across_vms: self.across_vms,
            are_paired: self.are_paired,
            columns: Arc::clone(&self.columns),
        }
    }

    fn merge(&mut self, part: ShardPart) -> io::Result<()> {
        let entry = part.entry?;
        self.hash.update(&entry[entry.len().saturating_sub(HASH)..]);
        self.sums.write_all(&entry)?;
        self.rows.write_all(part.rows.bytes())
    }
}

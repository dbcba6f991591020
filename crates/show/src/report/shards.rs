//! All shards of a run, checked to belong together, and their records in case order. The number of shards determines which
//! shard has which task, so nothing is sorted. The sums of a task's records are stored with its rows, which are copied
//! unchanged, and read only for other output. If there are many shards, only some are open at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::manifest::{self, Identity};
use super::results::{Results, ResultsPart};
use super::stored_rows::invalid;
use super::stored_shard::{StoredShard, StoredTask};
use scavsim_base::output::is_partial;
use scavsim_experiment::{Finished, Gather, Maker, Shard, Tasks};
use scavsim_read::input::{Diagnostic, Diagnostics};

pub struct Shards {
    pub identity: Identity,
    /// The manifest's entry about expectations.
    pub expectations: Option<(&'static str, Value)>,
    tasks: Tasks,
    /// For each shard, its rows, and where reading continues.
    parts: Vec<(PathBuf, ShardPlace)>,
}

enum ShardPlace {
    Open(Box<StoredShard>),
    Closed(Option<[u64; 2]>),
}

const MOST_OPEN: usize = 64;

struct Part {
    path: PathBuf,
    manifest: Identity,
    shard: Shard,
}

/// Keys of a shard's manifest that differ from the run's.
const OWN: [&str; 6] = [
    "shard",
    "shards",
    "finished",
    "failed",
    "records_hash",
    manifest::HASH,
];

impl Shards {
    /// Reads all manifests in `folder` and checks that their shards form one run, without gaps.
    pub fn open(folder: &Path) -> Result<Shards, Diagnostics> {
        let mut wrong = Diagnostics::default();
        let mut parts = parts(folder, &mut wrong);
        parts.sort_by(|a, b| (a.shard, &a.path).cmp(&(b.shard, &b.path)));
        let Some(first) = parts.first() else {
            if wrong.is_empty() {
                wrong.push(
                    Diagnostic::general(format!("there are no shards in {}", folder.display()))
                        .with_help("`scavsim run FILE --shard I/N --out DIR` makes them"),
                );
            }
            return Err(wrong);
        };
        let mut identity = identity(&first.manifest);
        let expectations = identity.remove(manifest::EXPECTATIONS);
        if identity.get("scavsim") != Some(&json!(env!("CARGO_PKG_VERSION"))) {
            wrong.push(Diagnostic::general(format!(
                "{}: it was made by another version of scavsim; this is {}",
                first.path.display(),
                env!("CARGO_PKG_VERSION")
            )));
        }
        one_run(&parts, first, &mut wrong);
        no_gaps(&parts, first.shard.count(), folder, &mut wrong);
        let tasks = manifest::tasks(&first.manifest);
        if tasks.is_none() {
            wrong.push(Diagnostic::general(format!(
                "{}: `cases` and `cases_per_task` are not there",
                first.path.display()
            )));
        }
        // The slowest part of merging, and independent for each shard.
        let damaged: Vec<Option<Diagnostic>> = parts.par_iter().map(damage).collect();
        damaged
            .into_iter()
            .flatten()
            .for_each(|one| wrong.push(one));
        match tasks {
            Some(tasks) if wrong.is_empty() => Ok(Shards {
                tasks,
                parts: parts
                    .iter()
                    .map(|part| (part.path.with_extension("csv"), ShardPlace::Closed(None)))
                    .collect(),
                identity,
                expectations: expectations.map(|told| (manifest::EXPECTATIONS, told)),
            }),
            _ => Err(wrong),
        }
    }

    pub fn tasks(&self) -> Tasks {
        self.tasks
    }

    pub fn cases(&self) -> u64 {
        self.tasks.all()
    }

    pub fn merge(&mut self, results: &mut Results, progress: &AtomicU64) -> io::Result<Finished> {
        let (is_plain, maker) = (results.is_plain(), results.maker());
        let columns = Arc::new(manifest::columns(&self.identity));
        let mut finished = Finished::default();
        self.each_task(&mut |cases, task| {
            let count = cases.end - cases.start;
            finished.cases += count;
            finished.failed += task.failed;
            progress.fetch_add(count, Ordering::Relaxed);
            let part = if is_plain {
                let (rows, failures, summary) = task.into_parts(&columns)?;
                ResultsPart::from_parts(rows, failures, summary)
            } else {
                let mut part = maker.part();
                task.records(&columns, cases, &mut |record| part.push_record(record))?;
                part.end();
                part
            };
            results.merge(part)
        })?;
        results.flush_waiting()?;
        Ok(finished)
    }

    /// Returns all tasks with their cases, in order.
    pub fn each_task(
        &mut self,
        take: &mut dyn FnMut(Range<u64>, StoredTask) -> io::Result<()>,
    ) -> io::Result<()> {
        let count = self.parts.len() as u64;
        let columns = manifest::columns(&self.identity);
        for (_, place) in &mut self.parts {
            *place = ShardPlace::Closed(None);
        }
        for number in 0..self.tasks.count() {
            let owner = Shard::owner(number, count).index() as usize - 1;
            let (path, place) = &mut self.parts[owner];
            if let ShardPlace::Closed(at) = place {
                *place = ShardPlace::Open(Box::new(StoredShard::open(path, &columns, *at)?));
            }
            let ShardPlace::Open(shard) = place else {
                continue;
            };
            let cases = self.tasks.cases(number);
            // They were checked when they were opened.
            let task = shard.next_task()?;
            let is_it = |task: &StoredTask| task.count == cases.end - cases.start;
            let Some(task) = task.filter(is_it) else {
                let (path, first) = (path.display(), cases.start);
                return Err(invalid(format!(
                    "{path}: case {first} is not where it belongs"
                )));
            };
            let at = shard.at;
            take(cases, task)?;
            if owner >= MOST_OPEN {
                *place = ShardPlace::Closed(Some(at));
            }
        }
        Ok(())
    }
}

fn parts(folder: &Path, wrong: &mut Diagnostics) -> Vec<Part> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            wrong.push(
                Diagnostic::general(format!("cannot read {}: {error}", folder.display()))
                    .with_help("`scavsim run FILE --shard I/N --out DIR` makes shards"),
            );
            return Vec::new();
        }
    };
    let mut parts = Vec::new();
    for entry in entries {
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => {
                wrong.push(Diagnostic::general(format!(
                    "cannot read {}: {error}",
                    folder.display()
                )));
                continue;
            }
        };
        if path.extension().is_none_or(|extension| extension != "json") || is_partial(&path) {
            continue;
        }
        match manifest::read(&path) {
            Err(error) => wrong.push(Diagnostic::general(error.to_string())),
            Ok(None) => {}
            Ok(Some(manifest)) => {
                let number = |key: &str| manifest.get(key).and_then(Value::as_u64);
                match (number("shard").zip(number("shards"))).and_then(|(i, n)| Shard::new(i, n)) {
                    Some(shard) => parts.push(Part {
                        path,
                        manifest,
                        shard,
                    }),
                    None => wrong.push(Diagnostic::general(format!(
                        "{}: it does not say which shard it is",
                        path.display()
                    ))),
                }
            }
        }
    }
    parts
}

fn identity(manifest: &Identity) -> Identity {
    let mut identity = manifest.clone();
    identity.retain(|key, _| !OWN.contains(&key.as_str()));
    identity
}

/// Reports shards that belong to another run than `first`, or are duplicates.
fn one_run(parts: &[Part], first: &Part, wrong: &mut Diagnostics) {
    let count = first.shard.count();
    for part in parts {
        let path = part.path.display();
        if part.shard.count() != count {
            wrong.push(Diagnostic::general(format!(
                "{path} is one of {} shards, {} one of {count}",
                part.shard.count(),
                first.path.display(),
            )));
        }
        for difference in manifest::differences(&first.manifest, &identity(&part.manifest)) {
            wrong.push(
                Diagnostic::general(format!("{path} belongs to another run: {difference}"))
                    .with_help(format!("compared with {}", first.path.display())),
            );
        }
    }
    for pair in parts.windows(2) {
        if pair[0].shard == pair[1].shard {
            wrong.push(Diagnostic::general(format!(
                "shard {} is there twice: {} and {}",
                pair[0].shard.index(),
                pair[0].path.display(),
                pair[1].path.display()
            )));
        }
    }
}

fn no_gaps(parts: &[Part], count: u64, folder: &Path, wrong: &mut Diagnostics) {
    let there: BTreeSet<Shard> = parts.iter().map(|part| part.shard).collect();
    let missing: Vec<String> = (1..=count)
        .filter(|&index| Shard::new(index, count).is_none_or(|shard| !there.contains(&shard)))
        .map(|index| index.to_string())
        .collect();
    if !missing.is_empty() {
        let (what, are) = match missing.len() {
            1 => ("shard", "is"),
            _ => ("shards", "are"),
        };
        let title = format!(
            "{what} {} of {count} {are} missing in {}",
            missing.join(", "),
            folder.display()
        );
        let help = format!(
            "`scavsim run FILE --shard {}/{count} --out DIR` makes it",
            missing[0]
        );
        wrong.push(Diagnostic::general(title).with_help(help));
    }
}

/// The reason why the rows of a shard do not match its manifest, if any.
fn damage(part: &Part) -> Option<Diagnostic> {
    let rows = part.path.with_extension("csv");
    let help = format!(
        "make it again: `--shard {}/{}`",
        part.shard.index(),
        part.shard.count()
    );
    let what = match StoredShard::hash(&rows, &manifest::columns(&part.manifest)) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            format!(
                "{} is not what its manifest describes: {error}",
                rows.display()
            )
        }
        Err(error) => format!("cannot read {error}"),
        Ok(hash) if part.manifest.get("records_hash") != Some(&json!(hash)) => {
            format!("{} is not what its manifest describes", rows.display())
        }
        Ok(_) => return None,
    };
    Some(Diagnostic::general(what).with_help(help))
}

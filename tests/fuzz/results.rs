//! Output of runs: records in every format, output of a killed run, shards, manifests.

use std::fs;
use std::io;
use std::path::Path;

use scavsim::cli::consent::Consent;
use scavsim::cli::resume::Start;
use scavsim::cli::runner::Runner;
use scavsim::experiment::{Record, Sink};
use scavsim::report::{
    FORMATS, OutputFolder, Shards, manifest, shard_file, stored_records, unfinished_rows,
};
use scavsim::scenario::{Overrides, Scenario, load};
use scavsim::{Interrupt, input};

use super::Target;
use super::seeds::{Files, files_of};

const SCENARIO: &str = r#"
workloads = ["scavenger-resnet18"]
replicas = 24
variation = { step_cv = 0.05, epoch_cv = 0.02 }
search = { strategies = ["oracle", "partial", "default"], objectives = ["time", "knee"] }
limits = { max_time_h = 6.0 }
"#;

/// Collects records as text.
#[derive(Default)]
struct Kept(String);

impl Sink for Kept {
    fn push_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        assert!(record.is_finite(), "{record:?}");
        self.0 += &format!("{record:?}\n");
        Ok(())
    }
}

pub fn targets(scratch: &Path) -> Vec<Target> {
    let made = made(scratch);
    let right = records(&made.whole).expect("they were just written");
    let [records_of, shards_of] = [(); 2].map(|()| right.clone());
    // Each format alone: the first one found is read.
    let forms = ["records.csv", "records.jsonl", "records.parquet"].map(|form| {
        let mut files = files_of(&made.whole);
        files.retain(|(name, _)| name == "manifest.json" || name == form);
        files
    });
    let text: Vec<Files> = forms[..2].to_vec();
    let parquet: Vec<Files> = forms[2..]
        .iter()
        .filter(|files| files.len() == 2)
        .cloned()
        .collect();
    let shared = right.clone();
    let mut all = vec![
        Target::new("records", 50, text, move |folder| {
            whole(folder, &records_of)
        }),
        Target::new("killed", 80, vec![killed(&forms[0])], resumed),
        Target::new("shards", 40, vec![files_of(&made.shards)], move |folder| {
            shards(folder, &shards_of)
        }),
    ];
    if !parquet.is_empty() {
        all.push(Target::new("parquet", 20, parquet, move |folder| {
            whole(folder, &shared)
        }));
    }
    all
}

/// Valid folders of results.
struct Made {
    whole: std::path::PathBuf,
    shards: std::path::PathBuf,
}

fn made(scratch: &Path) -> Made {
    let mut diagnostics = input::Diagnostics::default();
    let source = input::Source::new("scenario", SCENARIO);
    let scenario = load(
        &source,
        Path::new("."),
        Overrides::default(),
        &mut diagnostics,
    );
    let scenario: Scenario = scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let (never, formats) = (Interrupt::default(), Vec::from_iter(FORMATS));
    let runner = Runner {
        jobs: 1,
        fail_fast: false,
        interrupt: &never,
        signals: None,
        formats: &formats,
        all_columns: false,
        by: None,
        printed: scavsim::experiment::metrics::KeptMetrics::all(),
        consent: Consent {
            is_given: true,
            stdin_is_taken: false,
        },
    };
    let folder = |name: &str| OutputFolder::open(&scratch.join(name)).expect("it is writable");
    let (whole, parts) = (folder("whole"), folder("parts"));
    let run = runner.run(&scenario, Some(&whole), Start::Over);
    assert!(run.is_ok(), "a plain scenario runs");
    for index in 1..=2 {
        let shard = format!("{index}/2").parse().expect("it is a shard");
        assert!(
            runner.run_shard(&scenario, &parts, shard).is_ok(),
            "a plain scenario runs"
        );
    }
    Made {
        whole: whole.path().to_owned(),
        shards: parts.file(shard_file::FOLDER),
    }
}

/// The records in a folder of results.
fn records(folder: &Path) -> io::Result<String> {
    let Some(manifest) = manifest::read(&folder.join(manifest::FILE))? else {
        return Err(io::Error::other("no manifest"));
    };
    let mut kept = Kept::default();
    stored_records::hand_out(folder, &manifest, &mut kept)?;
    Ok(kept.0)
}

/// Changed records are refused, or the change had no effect.
fn whole(folder: &Path, right: &str) -> bool {
    let seen = records(folder);
    let is_right = |seen: &String| seen == right;
    assert!(
        seen.as_ref().is_ok_and(is_right) || seen.is_err(),
        "altered records were taken for true"
    );
    seen.is_ok()
}

/// The files of a killed run whose records are CSV.
fn killed(finished: &Files) -> Files {
    let of = |name: &str| {
        let file = finished.iter().find(|(file, _)| file == name);
        file.map(|(_, bytes)| bytes.clone())
            .expect("it was written")
    };
    let mut identity: manifest::Identity =
        serde_json::from_slice(&of("manifest.json")).expect("it is JSON");
    for key in ["records_hashes", "tasks_per_hash"] {
        identity.remove(key);
    }
    let rows = of("records.csv");
    let mut hashes = scavsim::report::row_hashes::RowHashes::new(&identity);
    let lines: String = (rows.split_inclusive(|&byte| byte == b'\n').skip(1))
        .map(|row| hashes.push_rows(row, 1))
        .collect();
    for (key, value) in [
        ("complete", false.into()),
        ("finished", 0.into()),
        ("failed", 0.into()),
    ] {
        identity.insert(key.to_owned(), value);
    }
    identity.remove(manifest::SUMMARY_HASH);
    manifest::seal(&mut identity);
    let manifest = serde_json::to_vec_pretty(&identity).expect("it is JSON");
    vec![
        ("manifest.json".to_owned(), manifest),
        ("records.partial.csv".to_owned(), rows),
        ("records.partial.hashes".to_owned(), lines.into_bytes()),
    ]
}

fn resumed(folder: &Path) -> bool {
    let folder = OutputFolder::open(folder).expect("it is writable");
    let Ok(Some(manifest)) = manifest::read(&folder.file(manifest::FILE)) else {
        return false;
    };
    let rows = folder.file("records.partial.csv");
    let length = fs::metadata(folder.file("records.partial.hashes")).map_or(0, |file| file.len());
    let good = unfinished_rows::good(&folder, &rows, &manifest);
    if let Ok(good) = &good {
        assert!(good.hashes_end <= length.max(1 << 20), "{good:?}");
    }
    good.is_ok()
}

fn shards(folder: &Path, right: &str) -> bool {
    let mut kept = Kept::default();
    let Ok(mut shards) = Shards::open(folder) else {
        return false;
    };
    let columns = std::sync::Arc::new(manifest::columns(&shards.identity));
    let handed = shards.each_task(&mut |cases, task| {
        task.records(&columns, cases, &mut |record| kept.push_record(record))?;
        task.into_parts(&columns).map(drop)
    });
    if handed.is_ok() {
        assert!(kept.0 == right, "altered shards were taken for true");
    }
    handed.is_ok()
}

//! A folder to run the program in. Paths in messages are relative to it, so they are stable.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::assert::{Assert, OutputAssertExt};
use scavsim::experiment::COLUMNS;
use scavsim::report::manifest::{self, Identity};
use scavsim::report::row_hashes::RowHashes;
use tempfile::TempDir;

/// The root of this repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Text of a file of this repository.
pub fn repository_file(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect("the file is checked in")
}

/// A temporary folder that is the program's working directory.
pub struct Sandbox(TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Sandbox(TempDir::new().expect("the temporary directory is writable"))
    }

    /// With a file `scenario.toml`.
    pub fn with(scenario: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("scenario.toml", scenario);
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("the sandbox is writable");
        }
        fs::write(path, text).expect("the sandbox is writable");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Everything in a folder, sorted; empty when there is no such folder.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(folder))
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("it is readable").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A copy of the embedded ResNet18 in the folder `name`, with that name.
    pub fn workload(&self, name: &str) {
        let from = repository().join("data/workloads/scavenger-resnet18");
        fs::create_dir(self.path(name)).expect("the sandbox is writable");
        for entry in fs::read_dir(from).expect("the workload is checked in") {
            let entry = entry.expect("it is readable");
            fs::copy(entry.path(), self.path(name).join(entry.file_name()))
                .expect("the sandbox is writable");
        }
        self.edit(
            &format!("{name}/workload.toml"),
            r#"name = "scavenger-resnet18""#,
            &format!(r#"name = "{name}""#),
        );
    }

    /// Turns the folder of a finished run into that of a run that was killed after `bytes` bytes of its rows. Their hashes
    /// may be ahead of them, row by row.
    pub fn kill(&self, folder: &str, bytes: usize) {
        let finished = self.contents(folder);
        self.left_by_a_kill(folder, &finished, &finished["records.csv"][..bytes]);
    }

    /// Turns a folder into that of a killed run with these rows, from `finished`, the files of a finished run.
    pub fn left_by_a_kill(&self, folder: &str, finished: &Files, rows: &[u8]) {
        let mut manifest: Identity =
            serde_json::from_slice(&finished["manifest.json"]).expect("it is JSON");
        for key in ["records_hashes", "tasks_per_hash"] {
            assert!(manifest.remove(key).is_some(), "{manifest:?}");
        }
        manifest["complete"] = false.into();
        manifest["finished"] = 0.into();
        manifest["failed"] = 0.into();
        manifest.remove(manifest::SUMMARY_HASH);
        manifest::seal(&mut manifest);
        // It may exist from before.
        let _ = fs::remove_dir_all(self.path(folder));
        fs::create_dir_all(self.path(folder)).expect("the sandbox is writable");
        let manifest_text = serde_json::to_string(&manifest).expect("it is JSON");
        self.write(&format!("{folder}/manifest.json"), &manifest_text);
        fs::write(self.path(folder).join("records.partial.csv"), rows).expect("it is writable");
        let mut hashes = RowHashes::new(&manifest);
        let right = finished["records.csv"].split_inclusive(|&byte| byte == b'\n');
        let lines: String = right.skip(1).map(|row| hashes.push_rows(row, 1)).collect();
        self.write(&format!("{folder}/records.partial.hashes"), &lines);
    }

    /// Replaces `from`, which must occur in the file exactly once.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
        self.write(file, &text.replace(from, to));
    }

    /// Replaces `from` in a manifest, which is then sealed again: another run, not a damaged one.
    pub fn edit_manifest(&self, file: &str, from: &str, to: &str) {
        self.edit(file, from, to);
        let mut manifest: Identity =
            serde_json::from_str(&self.read(file)).expect("it is still JSON");
        manifest::seal(&mut manifest);
        let text = serde_json::to_string_pretty(&manifest).expect("it is JSON");
        self.write(file, &text);
    }

    /// The program, in this folder.
    pub fn scavsim(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scavsim"));
        command.current_dir(self.0.path());
        // The user who runs the tests may have price packs.
        command.env("SCAVSIM_PRICES", "builtin");
        command
    }

    /// Runs the program.
    pub fn run(&self, arguments: &[&str]) -> Assert {
        self.scavsim().args(arguments).assert()
    }

    /// Imports `table`, the file `p.csv`, as the workload `w`.
    pub fn import_profile(&self, table: &str, more: &[&str]) -> Assert {
        self.write("p.csv", table);
        let samples = ["--samples-per-epoch", "50000", "--out", "w"];
        self.run(&[&["import", "profile", "p.csv"], &samples[..], more].concat())
    }
}

/// Text printed on stdout.
pub fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("output is UTF-8")
}

/// Text printed on stderr.
pub fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("output is UTF-8")
}

/// A table with a header line, by column name.
pub struct Rows {
    pub header: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

/// One row of [`Rows`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    header: &'a [String],
    cells: &'a csv::StringRecord,
}

impl Rows {
    /// Parses a table; every row must have as many cells as the header.
    pub fn parse(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().expect("there is a header").clone();
        Rows {
            header: header.iter().map(str::to_owned).collect(),
            rows: reader
                .records()
                .map(|row| row.expect("every row is whole"))
                .collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row {
            header: &self.header,
            cells,
        })
    }
}

impl<'a> Row<'a> {
    /// Text of a cell; empty for a column of records or summaries that is left out if it is empty.
    pub fn text(self, column: &str) -> &'a str {
        match self.header.iter().position(|h| h == column) {
            Some(index) => &self.cells[index],
            None => {
                let parts = ["_mean", "_low95", "_high95", "_median", "_count"];
                let figure = parts.iter().find_map(|part| column.strip_suffix(part));
                let figure = figure.unwrap_or(column);
                let is_known = COLUMNS.iter().any(|own| own.name == figure);
                assert!(is_known, "no column `{column}`");
                ""
            }
        }
    }

    /// Number in a cell.
    pub fn number(self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse()
            .unwrap_or_else(|_| panic!("`{column}` holds `{text}`: {:?}", self.cells))
    }

    /// All cells but the first, the number of the case.
    pub fn without_number(self) -> Vec<&'a str> {
        self.cells.iter().skip(1).collect()
    }
}

/// All files of a result folder with their bytes; folders in it are left out.
pub type Files = std::collections::BTreeMap<String, Vec<u8>>;

impl Sandbox {
    /// All files of `folder`.
    pub fn contents(&self, folder: &str) -> Files {
        let names = self.files(folder).into_iter();
        names
            .map(|name| (self.path(folder).join(&name), name))
            .filter(|(path, _)| path.is_file())
            .map(|(path, name)| (name, fs::read(path).expect("it is readable")))
            .collect()
    }
}

/// Fails unless both folders have equal files with equal bytes.
#[track_caller]
pub fn assert_same_files(seen: &Files, right: &Files, when: &str) {
    assert!(seen.keys().eq(right.keys()), "{when}: {:?}", seen.keys());
    for (name, bytes) in right {
        assert!(seen[name] == *bytes, "{when}: {name} differs");
    }
}

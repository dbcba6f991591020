//! The program under test: this library in process, or a program by its path, of this tree or an older one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::draft::{Draft, SCENARIO};
use crate::library;
use crate::rows::{Row, read};

/// A mistake of a scenario: its file, its line, and the message.
#[derive(Debug, Clone)]
pub struct Wrong {
    pub file: String,
    pub line: Option<usize>,
    pub said: String,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Not {
    Refused(Vec<Wrong>),
    TooSlow,
    Crashed(String),
}

/// A program that reads and runs scenarios.
pub struct Program {
    /// None for the library in process.
    path: Option<PathBuf>,
    scratch: TempDir,
    /// The contents of the folder, without the program's own output.
    saved: Mutex<Option<Draft>>,
    /// Time limit of one call.
    pub patience: Duration,
}

impl Program {
    pub fn new(path: Option<PathBuf>, patience: Duration) -> Program {
        Program {
            path,
            scratch: TempDir::new().expect("the temporary directory is writable"),
            saved: Mutex::new(None),
            patience,
        }
    }

    /// Another folder for the program, with an equal time limit.
    pub fn twin(&self) -> Program {
        Program::new(self.path.clone(), self.patience)
    }

    pub fn schema(&self) -> Value {
        match &self.path {
            None => library::schema(),
            Some(path) => {
                let output = Command::new(path)
                    .arg("schema")
                    .output()
                    .expect("it starts");
                serde_json::from_slice(&output.stdout).expect("it is JSON")
            }
        }
    }

    /// The folder that a draft is written to.
    pub fn folder(&self) -> PathBuf {
        self.scratch.path().join("scenario")
    }

    /// Writes a draft to its emptied folder.
    pub fn save_anew(&self, draft: &Draft) {
        *self.saved.lock().expect("nobody panics with it") = None;
        self.save(draft);
    }

    /// Writes a draft to its folder: all of it, or only its changed lines.
    fn save(&self, draft: &Draft) {
        let mut saved = self.saved.lock().expect("nobody panics with it");
        let is_there = saved.take().is_some_and(|saved| {
            let has_one_file = saved.base.is_empty() && draft.base.is_empty();
            self.path.is_none() && has_one_file && saved.files == draft.files
        });
        let written = if is_there {
            fs::write(self.folder().join(SCENARIO), draft.text())
        } else {
            draft.save(&self.folder())
        };
        written.expect("the scratch folder is writable");
        *saved = Some(draft.clone());
    }

    /// Reads a draft.
    pub fn check(&self, draft: &Draft) -> Result<(), Not> {
        self.save(draft);
        match self.path {
            None => library::check(&self.folder()),
            Some(_) => self.call(&["check", SCENARIO]).map(|_| ()),
        }
    }

    /// Its records.
    pub fn run(&self, draft: &Draft, jobs: usize) -> Result<Vec<Row>, Not> {
        self.save(draft);
        match self.path {
            None => library::run(&self.folder(), jobs, self.patience),
            Some(_) => {
                let jobs = jobs.to_string();
                self.call(&[
                    "run",
                    SCENARIO,
                    "--out",
                    "out",
                    "--overwrite",
                    "--quiet",
                    "-j",
                    &jobs,
                ])?;
                let text = fs::read_to_string(self.folder().join("out/records.csv"));
                read(&text.map_err(crashed)?).map_err(Not::Crashed)
            }
        }
    }

    /// The largest relative standard error of the expectations of any configuration; 0 for formulas.
    pub fn stated_error(&self, draft: &Draft) -> Result<f64, Not> {
        self.save(draft);
        if self.path.is_none() {
            return library::stated_error(&self.folder(), self.patience);
        }
        self.call(&["run", SCENARIO, "--out", "out", "--overwrite", "--quiet"])?;
        let text = fs::read_to_string(self.folder().join("out/manifest.json")).map_err(crashed)?;
        let manifest: Value = serde_json::from_str(&text).map_err(crashed)?;
        let all = manifest["expectations"].as_array().into_iter().flatten();
        let errors = all.filter_map(|one| one["standard_error"].as_f64());
        Ok(errors.fold(0.0, f64::max))
    }

    /// All events of a case, in fidelity `event`, as lines of JSON.
    pub fn trace(&self, draft: &Draft, case: u64, most: u64) -> Result<Vec<Value>, Not> {
        self.save(draft);
        let text = match self.path {
            None => library::trace(&self.folder(), case, most, self.patience)?,
            Some(_) => {
                let (case, most) = (case.to_string(), most.to_string());
                self.call(&[
                    "trace",
                    SCENARIO,
                    "--case",
                    &case,
                    "--out",
                    "trace",
                    "--max-events",
                    &most,
                ])?;
                let entries = fs::read_dir(self.folder().join("trace")).map_err(crashed)?;
                let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
                let jsonl = paths
                    .into_iter()
                    .find(|path| path.extension().is_some_and(|e| e == "jsonl"));
                fs::read_to_string(jsonl.unwrap_or_default()).map_err(crashed)?
            }
        };
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).map_err(crashed));
        lines.collect()
    }

    /// Runs a command of the program in the folder of the draft.
    pub fn call(&self, arguments: &[&str]) -> Result<(), Not> {
        let own = Path::new(env!("CARGO_BIN_EXE_scavsim"));
        let path = self.path.as_deref().unwrap_or(own);
        let said = self.scratch.path().join("said");
        let mut child = Command::new(path)
            .args(arguments)
            .current_dir(self.folder())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said).expect("the scratch folder is writable"))
            .spawn()
            .expect("the program starts");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("it is our child") {
                break status;
            }
            if began.elapsed() > self.patience {
                child.kill().expect("it is our child");
                child.wait().expect("it is our child");
                return Err(Not::TooSlow);
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let said = fs::read_to_string(&said).unwrap_or_default();
        match status.code() {
            // Some cases have no result.
            Some(0 | 3) => Ok(()),
            Some(2) => Err(Not::Refused(mistakes(&said))),
            // A case without a result has no trace.
            Some(1) if said.contains("has no result") => Err(Not::Refused(Vec::new())),
            _ => Err(Not::Crashed(format!("{status}: {said}"))),
        }
    }
}

pub fn crashed(why: impl ToString) -> Not {
    Not::Crashed(why.to_string())
}

/// The mistakes in a program's output: titles, and the places below them.
fn mistakes(said: &str) -> Vec<Wrong> {
    let mut all: Vec<Wrong> = Vec::new();
    for line in said.lines() {
        if let Some(title) = line.strip_prefix("error: ") {
            all.push(Wrong {
                file: String::new(),
                line: None,
                said: title.to_owned(),
            });
        } else if let (Some(place), Some(last)) =
            (line.trim_start().strip_prefix("--> "), all.last_mut())
        {
            let mut parts = place.split(':');
            last.file = parts.next().unwrap_or_default().to_owned();
            last.line = parts.next().and_then(|line| line.parse().ok());
        }
    }
    all
}

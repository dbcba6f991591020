//! A scenario as lines, each a key with dots and its value, so that single ones can be left out.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// From the top of the file on.
    pub path: Vec<String>,
    /// As TOML writes it on one line.
    pub value: String,
    /// The points of the schema that it covers.
    pub points: Vec<String>,
}

impl Line {
    /// The line in the file.
    pub fn text(&self) -> String {
        let keys: Vec<String> = self.path.iter().map(|key| quoted(key)).collect();
        format!("{} = {}", keys.join("."), self.value)
    }

    /// Whether it is this key, or in this table.
    pub fn is_in(&self, key: &str) -> bool {
        let mut own = self.path.iter();
        key.split('.')
            .all(|part| own.next().is_some_and(|own| own == part))
    }
}

/// A key, quoted if TOML requires it.
pub fn quoted(key: &str) -> String {
    let is_bare =
        !key.is_empty() && (key.chars()).all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare {
        key.to_owned()
    } else {
        format!("\"{key}\"")
    }
}

/// A scenario and the files that it names.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub number: u64,
    pub lines: Vec<Line>,
    /// Lines of a file that it includes, and lines there that are overridden.
    pub base: Vec<Line>,
    pub base_only: Vec<String>,
    /// Paths in its folder, and texts.
    pub files: Vec<(String, String)>,
    /// The subject, which determines the configurations.
    pub ground: &'static str,
    /// Approximate worker-steps of a run to the target; `None` if only the default fidelity is fast enough.
    pub worker_steps: Option<f64>,
    /// Maximum seconds of a step; 0 if unknown.
    pub step_s: f64,
}

impl Draft {
    /// Writes a key, or replaces its value.
    pub fn set(&mut self, key: &str, value: impl Into<String>, points: Vec<String>) {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        self.set_path(path, value.into(), points);
    }

    pub fn set_path(&mut self, path: Vec<String>, value: String, points: Vec<String>) {
        self.lines.retain(|line| line.path != path);
        self.lines.push(Line {
            path,
            value,
            points,
        });
    }

    /// The value of a key, as written.
    pub fn value(&self, key: &str) -> Option<&str> {
        let path: Vec<&str> = key.split('.').collect();
        let line = (self.lines.iter().chain(&self.base)).find(|line| line.path == path);
        line.map(|line| &*line.value)
    }

    /// Whether there is this key, or one in that table.
    pub fn has(&self, key: &str) -> bool {
        let all = self.lines.iter().chain(&self.base);
        all.into_iter().any(|line| line.is_in(key))
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            writeln!(text, "{}", line.text()).expect("it is in memory");
        }
        text
    }

    /// Writes the scenario and its files to an emptied folder.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        for (name, text) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("it is in the folder"))?;
            fs::write(path, text)?;
        }
        if !self.base.is_empty() {
            let own = self.base.iter().map(Line::text);
            let all: Vec<String> = own.chain(self.base_only.iter().cloned()).collect();
            fs::write(folder.join(BASE), all.join("\n") + "\n")?;
        }
        fs::write(folder.join(SCENARIO), self.text())
    }

    /// The draft in one file.
    pub fn flat(&self) -> Draft {
        let mut flat = self.clone();
        flat.lines
            .retain(|line| !line.is_in("include") && !line.is_in("unset"));
        flat.lines.append(&mut flat.base);
        flat.base_only.clear();
        flat
    }

    /// The points of the schema that it covers.
    pub fn points(&self) -> BTreeSet<&str> {
        let all = self.lines.iter().chain(&self.base);
        let all = all.flat_map(|line| &line.points);
        all.map(String::as_str).collect()
    }
}

/// Name of the scenario's file.
pub const SCENARIO: &str = "scenario.toml";
/// Name of the file that it includes.
pub const BASE: &str = "base.toml";

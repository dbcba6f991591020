//! Results that appear only when all files are complete: of comparisons, and of policies. Their manifest has the hash of each
//! file. It does not depend on the machine, the time or the number of threads.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::manifest::{self, FILES, HASH_DIGITS, Identity, short};
use super::results;
use scavsim_base::output::{OutputFolder, PartialFile, partial_name};
use scavsim_measure::compare::ComparisonQuestion;
use scavsim_read::input::regular;
use scavsim_scenario::Scenario;

pub struct ResultFiles {
    folder: OutputFolder,
    files: Vec<ResultFile>,
}

/// One of the files, whose bytes are hashed while they are written.
pub struct ResultFile {
    name: &'static str,
    file: PartialFile,
    hasher: blake3::Hasher,
}

impl ResultFiles {
    pub fn new(folder: OutputFolder) -> ResultFiles {
        ResultFiles {
            folder,
            files: Vec::new(),
        }
    }

    /// Starts a file, which must be added when it is complete.
    pub fn create(&self, name: &'static str) -> io::Result<ResultFile> {
        Ok(ResultFile {
            name,
            file: self.folder.create(name)?,
            hasher: blake3::Hasher::new(),
        })
    }

    pub fn add(&mut self, mut file: ResultFile) -> io::Result<()> {
        file.flush()?;
        self.files.push(file);
        Ok(())
    }

    pub fn put(&mut self, name: &'static str, text: &str) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(text.as_bytes())?;
        self.add(file)
    }

    /// Renames all files to their names, in place of older results, and adds a manifest of their inputs.
    pub fn finish(self, made_from: &Identity) -> io::Result<OutputFolder> {
        let unfinished: Vec<String> = self
            .files
            .iter()
            .map(|file| partial_name(file.name))
            .collect();
        results::remove(&self.folder, &unfinished)?;
        let mut hashes = Map::new();
        for ResultFile { name, file, hasher } in self.files {
            file.close()?;
            hashes.insert(name.to_owned(), json!(short(&hasher)));
        }
        let more = [("complete", json!(true)), (FILES, hashes.into())];
        let text = manifest::text(made_from, more)?;
        self.folder.write(manifest::FILE, text.as_bytes())?;
        Ok(self.folder)
    }
}

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The files in a folder that do not match its manifest, and the number of files in that; `None` if it names none.
pub fn altered<'m>(folder: &Path, manifest: &'m Identity) -> Option<(Vec<&'m str>, usize)> {
    let files = manifest.get(FILES)?.as_object()?;
    let is_altered = |name: &str, hash: &Value| {
        let mut hasher = blake3::Hasher::new();
        let file = regular::open(&folder.join(name));
        let read = file.and_then(|file| hasher.update_reader(file).map(drop));
        read.is_err() || *hash != json!(short(&hasher))
    };
    let altered = files.iter().filter(|(name, hash)| is_altered(name, hash));
    Some((altered.map(|(name, _)| &**name).collect(), files.len()))
}

pub fn of_comparison(scenarios: &[Scenario], question: &ComparisonQuestion) -> Identity {
    let entries = [
        (manifest::KIND, json!(manifest::COMPARISON)),
        ("scavsim", json!(env!("CARGO_PKG_VERSION"))),
        ("repeats", json!(question.repeats)),
        ("halves", json!(question.parts)),
        ("against", json!(question.against)),
        ("scenarios", scenarios.iter().map(of_scenario).collect()),
    ];
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
}

/// Everything that determines the cases of a scenario, with its strategies and programs.
fn of_scenario(scenario: &Scenario) -> Value {
    let own = &scenario.settings.own;
    let programs = scenario.strategies.iter().filter_map(|name| {
        let hashes = own.get(name)?.program().file_hashes();
        let hashes: Vec<String> = hashes
            .iter()
            .map(|own| own[..HASH_DIGITS].to_owned())
            .collect();
        Some((name.clone(), json!(hashes)))
    });
    let mut all = manifest::identity(scenario);
    all.insert("strategies".to_owned(), json!(scenario.strategies));
    all.insert(
        "programs".to_owned(),
        programs.collect::<serde_json::Map<_, _>>().into(),
    );
    all.into()
}

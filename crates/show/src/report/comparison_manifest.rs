//! `manifest.json` of a comparison: what its files were made from. Nothing in it depends on the machine, the time or the number of
//! threads.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::manifest::{self, HASH_DIGITS};
use scavsim_lab::scenario::Scenario;
use scavsim_measure::compare::ComparisonQuestion;

/// The text of the manifest of a comparison whose files have these names and hashes.
///
/// # Errors
/// None in memory; the signature is that of the writer.
pub fn text(
    scenarios: &[Scenario],
    question: &ComparisonQuestion,
    files: &[(&str, String)],
) -> io::Result<String> {
    let files: Value = (files.iter())
        .map(|(name, hash)| ((*name).to_owned(), json!(hash)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let entries = [
        ("scavsim", json!(env!("CARGO_PKG_VERSION"))),
        ("repeats", json!(question.repeats)),
        ("halves", json!(question.parts)),
        ("against", json!(question.against)),
        ("scenarios", scenarios.iter().map(of_scenario).collect()),
        ("files", files),
    ];
    manifest::text(&manifest::Identity::default(), entries)
}

/// What decides the cases of a scenario, with its strategies and the programs among them.
fn of_scenario(scenario: &Scenario) -> Value {
    let own = &scenario.settings.own;
    let programs = scenario.strategies.iter().filter_map(|name| {
        let hashes = own.get(name)?.file_hashes();
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

/// A writer whose bytes have a hash in the end, as the manifest has it.
pub struct Hashed<W> {
    writer: W,
    hasher: blake3::Hasher,
}

impl<W> Hashed<W> {
    /// Nothing written yet.
    pub fn new(writer: W) -> Hashed<W> {
        Hashed {
            writer,
            hasher: blake3::Hasher::new(),
        }
    }

    /// The writer, and the hash of what was written.
    pub fn done(self) -> (W, String) {
        let hash = self.hasher.finalize().to_hex()[..HASH_DIGITS].to_owned();
        (self.writer, hash)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

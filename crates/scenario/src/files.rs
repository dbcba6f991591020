use std::path::{Path, PathBuf};
use std::sync::Arc;

use scavsim_read::input::Source;
use scavsim_read::input::toml::Key;

#[derive(Debug)]
pub(super) struct Files {
    /// All texts as one, the scenario file first.
    pub(super) source: Arc<Source>,
    pub(super) texts: Vec<Arc<Source>>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) keys: Vec<Key>,
    /// Whether any file has keys that make settings.
    pub(super) has_settings: bool,
}

impl Files {
    /// The folder of relative paths at the byte `at` of the source.
    pub(super) fn folder(&self, at: usize) -> &Path {
        &self.folders[self.source.part_of(at)]
    }

    /// BLAKE3 hash of the text; for several texts, the hash of their hashes.
    pub(super) fn hash(&self) -> String {
        let of = |source: &Arc<Source>| blake3::hash(source.text.as_bytes());
        let hash = match &self.texts[..] {
            [single] => of(single),
            several => {
                let mut all = blake3::Hasher::new();
                for text in several {
                    all.update(of(text).as_bytes());
                }
                all.finalize()
            }
        };
        hash.to_hex().to_string()
    }
}

/// Combines `hash` with the hashes of other files that determine results.
pub(super) fn hash_with<'h>(hash: String, others: impl Iterator<Item = &'h String>) -> String {
    let mut others = others.peekable();
    if others.peek().is_none() {
        return hash;
    }
    let mut all = blake3::Hasher::new();
    all.update(hash.as_bytes());
    for other in others {
        all.update(other.as_bytes());
    }
    all.finalize().to_hex().to_string()
}

//! Reads the files of a scenario: each separately, for its own mistakes, then all as one document whose values know their files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::file::ScenarioFile;
use super::files::Files;
use super::include::Include;
use super::library;
use super::subject::LISTS;
use scavsim_read::input::toml::{Document, Key, Step};
use scavsim_read::input::{self, Diagnostic, Diagnostics, Source, Spanned, closest};

/// Maximum number of files; more indicate includes that multiply.
const MOST_FILES: usize = 100;

/// Keys that say where to read on; readable when the rest is not.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    include: Option<Spanned<Include>>,
    /// Head of a file that only `scavsim reproduce` reads.
    citation: Option<Spanned<String>>,
}

impl Files {
    /// All texts as one document, if some keys make settings.
    pub(super) fn settings(&self) -> Option<Document<'_>> {
        self.has_settings.then(|| self.document()).flatten()
    }

    /// All texts as one document, whose mistakes are reported elsewhere.
    pub(super) fn document(&self) -> Option<Document<'_>> {
        let told = &mut Diagnostics::default();
        match &self.texts[..] {
            [_] => Some(input::toml::document(&self.source, &LISTS, told)),
            _ => input::toml::merged(&self.source, &LISTS, is_value, told),
        }
    }
}

/// Reads a scenario file and its includes. `set` has priority, the last line first; its relative paths start at the current
/// folder. A form may be returned with mistakes.
pub(super) fn read(
    source: &Arc<Source>,
    folder: &Path,
    set: &[Arc<Source>],
    diagnostics: &mut Diagnostics,
) -> (Files, Option<ScenarioFile>) {
    let mut reader = FileReader {
        texts: Vec::new(),
        folders: Vec::new(),
        chain: Vec::new(),
        keys: Vec::new(),
        has_settings: false,
        diagnostics,
    };
    for own in set.iter().rev() {
        reader.set(own);
    }
    let file = reader.add(source, folder);
    let FileReader {
        texts,
        folders,
        keys,
        has_settings,
        ..
    } = reader;
    let mut files = Files {
        source: Source::joined(&texts).named(&source.name),
        texts,
        folders,
        keys,
        has_settings,
    };
    let file = match &files.texts[..] {
        [_] => {
            let unset = file.iter().flat_map(|file| &file.unset);
            for own in unset {
                let title = "`unset` leaves out what included files set";
                diagnostics.error_at(&files.source, own.span(), title, "nothing is included");
            }
            file
        }
        _ => {
            input::toml::merged(&files.source, &LISTS, is_value, diagnostics).and_then(|document| {
                files.keys = document.keys();
                document.read(0, diagnostics)
            })
        }
    };
    (files, file)
}

/// A range of `[cluster]` is one value: a `step` of one file and a `factor` of another would contradict each other.
fn is_value(path: &[Step]) -> bool {
    matches!(path, [Step::Key(table), _] if table == "cluster")
}

struct FileReader<'a> {
    /// Texts in the order of priority.
    texts: Vec<Arc<Source>>,
    folders: Vec<PathBuf>,
    /// Files being read, each included by the one before: folder and name.
    chain: Vec<(PathBuf, String)>,
    keys: Vec<Key>,
    has_settings: bool,
    diagnostics: &'a mut Diagnostics,
}

impl FileReader<'_> {
    /// Reads a file separately: the first of its settings, and the values of all others.
    fn read(&mut self, source: &Arc<Source>) -> Option<ScenarioFile> {
        let document = input::toml::document(source, &LISTS, self.diagnostics);
        self.has_settings |= document.has_lists();
        self.keys = document.keys();
        document.read_all_values(self.diagnostics)
    }

    fn set(&mut self, source: &Arc<Source>) {
        let own = self.read(source);
        if let Some(include) = own.and_then(|own| own.include) {
            let title = "`include` stands in a file";
            self.diagnostics
                .error_at(source, include.span(), title, "not here");
        }
        self.texts.push(Arc::clone(source));
        self.folders.push(PathBuf::new());
    }

    /// Reads a file, then its includes, the last first.
    fn add(&mut self, source: &Arc<Source>, folder: &Path) -> Option<ScenarioFile> {
        // Mistakes here are reported with the whole form.
        let head: Head = input::toml::read(source, &mut Diagnostics::default()).unwrap_or_default();
        let file = match &head.citation {
            None => self.read(source),
            Some(citation) => {
                self.diagnostics.error_at(
                    source,
                    citation.span(),
                    "this file is a paper, not a scenario",
                    "`scavsim reproduce` runs its folder",
                );
                None
            }
        };
        self.texts.push(Arc::clone(source));
        self.folders.push(folder.to_owned());
        let place = real(Path::new(&source.name));
        self.chain.push((place, source.name.clone()));
        let included = match head.include {
            None => Vec::new(),
            Some(include) => match include.get_ref() {
                Include::One(path) => vec![Spanned::new(include.span(), path.clone())],
                Include::Several(paths) => paths.clone(),
            },
        };
        for path in included.iter().rev() {
            self.include(path, source, folder);
        }
        self.chain.pop();
        file
    }

    fn include(&mut self, path: &Spanned<String>, from: &Arc<Source>, folder: &Path) {
        let own = Path::new(path.get_ref());
        let file = match library::name(own) {
            Some(_) => own.to_owned(),
            None => folder.join(own),
        };
        let place = real(&file);
        if let Some(first) = self.chain.iter().position(|(open, _)| *open == place) {
            let names = self.chain[first..].iter().map(|(_, name)| name.as_str());
            let again = self.chain[first].1.as_str();
            let circle: Vec<&str> = names.chain([again]).collect();
            self.diagnostics.error_at(
                from,
                path.span(),
                format!("files include each other: {}", circle.join(" → ")),
                "closes the circle",
            );
            return;
        }
        if self.texts.len() == MOST_FILES {
            self.diagnostics.error_at(
                from,
                path.span(),
                format!("more than {MOST_FILES} files are included"),
                "one too many",
            );
            return;
        }
        let mut unread = Diagnostics::default();
        let read = match library::name(&file) {
            None => Source::read(&file, &mut unread),
            Some(name) => library::source(name).or_else(|| {
                let all = library::names();
                let help = match closest(name, all.iter().copied()) {
                    Some(near) => format!("did you mean `library:{near}`?"),
                    None => format!("there are: {}", all.join(", ")),
                };
                let title = format!("the library has no scenario `{name}`");
                unread.push(Diagnostic::general(title).with_help(help));
                None
            }),
        };
        match read {
            Some(source) => {
                let folder = match library::name(&file) {
                    Some(_) => Path::new(library::PREFIX),
                    None => file.parent().unwrap_or(Path::new("")),
                };
                self.add(&source, folder);
            }
            None => {
                for Diagnostic { title, help, .. } in unread {
                    let help = help.unwrap_or_else(|| {
                        "paths are relative to the file that names them".to_owned()
                    });
                    let complaint = Diagnostic::at_span(from, path.span(), title, "included here");
                    self.diagnostics.push(complaint.with_help(help));
                }
            }
        }
    }
}

/// The real path, or the path itself if there is none.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

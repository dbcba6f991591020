use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};

use super::constants::{self, Constant};
use super::expectations::{self, Expectation};
use super::form::{PaperFile, ScenarioForm};
use super::names::Names;
use super::stage::{self, Size};
use crate::functions::scenarios::Variants;
use crate::functions::{FileInputs, LifetimesByName};
use scavsim_read::expression::{self, Definition};
use scavsim_read::input::csv::Table;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{self, Diagnostic, Diagnostics, Folder, Source, did_you_mean, folder};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data/papers");

/// The file that describes a paper, and the table of its figures, which may be missing if there are claims.
const FILE: &str = "paper.toml";
const FIGURES: &str = "figures.csv";
const CLAIMS: &str = "claims.csv";

#[derive(Debug)]
pub struct Paper {
    pub name: String,
    pub citation: String,
    pub tolerances: String,
    pub constants: Vec<Constant>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) names: Names,
}

impl Paper {
    pub fn names() -> Vec<&'static str> {
        folder::names(&EMBEDDED)
    }

    /// Programs that its scenarios start, each once.
    pub fn programs(&self) -> BTreeSet<String> {
        self.names
            .stages
            .values()
            .flat_map(Variants::programs)
            .collect()
    }

    /// The files of a paper of the library, by their paths in its folder; empty for an unknown one.
    pub fn files(name: &str) -> Vec<(&'static Path, &'static [u8])> {
        fn add(
            dir: &'static Dir<'static>,
            root: &Path,
            all: &mut Vec<(&'static Path, &'static [u8])>,
        ) {
            for file in dir.files() {
                let path = file.path();
                all.push((path.strip_prefix(root).unwrap_or(path), file.contents()));
            }
            dir.dirs().for_each(|dir| add(dir, root, all));
        }
        let mut all = Vec::new();
        if let Some(dir) = EMBEDDED.get_dir(name) {
            add(dir, dir.path(), &mut all);
        }
        all
    }

    /// Opens the paper of the library called `name`, or in the folder of this path, with this size of simulations.
    pub fn open(name: &str, size: Size) -> Result<Paper, Diagnostics> {
        Paper::open_changed(name, size, &[])
    }

    /// Opens a paper like [`open`](Paper::open), with these keys in place of those of its scenarios, where they are legal.
    pub fn open_changed(name: &str, size: Size, set: &[Arc<Source>]) -> Result<Paper, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let paper = match EMBEDDED.get_dir(name) {
            Some(dir) if Paper::names().contains(&name) => {
                let root = "data/papers";
                let place = Path::new(root).join(name);
                let folder = Folder::Embedded { root, dir };
                read(name, &folder, place, (size, set), &mut diagnostics)
            }
            _ if Path::new(name).is_dir() => {
                let place = PathBuf::from(name);
                let own = place.canonicalize().unwrap_or_else(|_| place.clone());
                let own = own
                    .file_name()
                    .map(|own| own.to_string_lossy().into_owned());
                let folder = Folder::Disk(place.clone());
                read(
                    &own.unwrap_or_default(),
                    &folder,
                    place,
                    (size, set),
                    &mut diagnostics,
                )
            }
            _ => {
                let legal = Paper::names();
                let all = format!(
                    "allowed here: {}, or a folder with a {FILE}",
                    legal.join(", ")
                );
                let help = did_you_mean(name, legal, all);
                let wrong = Diagnostic::general(format!("unknown paper `{name}`"));
                diagnostics.push(wrong.with_help(help));
                None
            }
        };
        paper.filter(|_| diagnostics.is_empty()).ok_or(diagnostics)
    }
}

fn read(
    name: &str,
    folder: &Folder,
    place: PathBuf,
    (size, set): (Size, &[Arc<Source>]),
    d: &mut Diagnostics,
) -> Option<Paper> {
    let source = folder.read(FILE, d);
    let claims = (folder.has(CLAIMS)).then(|| folder.read(CLAIMS, d));
    let figures = (folder.has(FIGURES) || claims.is_none()).then(|| folder.read(FIGURES, d));
    let source = source?;
    let file: PaperFile = input::toml::read(&source, d)?;
    let mut names = Names::default();
    let mut lives = LifetimesByName::new();
    for (name, life) in &file.lives {
        match life.get_ref().lifetime() {
            Ok(life) => {
                lives.insert(name.clone(), life);
            }
            Err(why) => d.error_at(&source, life.span(), why.to_string(), "here"),
        }
    }
    names.given = FileInputs::new(lives, file.unequal, size.fidelity);
    let mut scenarios = file.scenarios;
    if let Some(main) = file.scenario {
        let form = ScenarioForm {
            file: main,
            set: Vec::new(),
            each: Vec::new(),
        };
        scenarios.insert("main".to_owned(), form);
    }
    let files = (folder, &*place, &source);
    read_stages(name, files, scenarios, (size, set), &mut names, d);
    for (name, path) in &file.tables {
        let table = (read_at(folder, &source, path, d)).and_then(|text| Table::read_any(&text, d));
        names
            .given
            .tables
            .extend(table.map(|table| (name.clone(), super::names::table(&table))));
    }
    for (head, body) in &file.define {
        let Some((name, parameters)) = head_of(head.get_ref()) else {
            let title = format!("`{}` is no name with parameters", head.get_ref());
            d.error_at(&source, head.span(), title, "expected `name(a, b)`");
            continue;
        };
        if let Some(body) = expression_in(&source, body, d) {
            names.defined.insert(name, Definition { parameters, body });
        }
    }
    let mut expectations = Vec::new();
    for figures in figures.iter().flatten() {
        expectations.extend(expectations::read(figures, d));
    }
    for claims in claims.iter().flatten() {
        expectations.extend(expectations::read_claims(claims, d));
    }
    // Rows that could not be read are missing among those that constants name.
    let constants = if d.is_empty() {
        constants::read(file.constants, &expectations, &source, d)
    } else {
        Vec::new()
    };
    names.check(&expectations, d);
    Some(Paper {
        name: name.to_owned(),
        citation: file.citation,
        tolerances: file.tolerances,
        constants,
        expectations,
        names,
    })
}

/// Reads the scenarios of a paper, with changed keys where these are legal.
fn read_stages(
    name: &str,
    (folder, place, source): (&Folder, &Path, &Arc<Source>),
    scenarios: BTreeMap<String, ScenarioForm>,
    (size, set): (Size, &[Arc<Source>]),
    names: &mut Names,
    d: &mut Diagnostics,
) {
    let mut refused = Diagnostics::default();
    let mut is_changed = set.is_empty();
    for (stage_name, form) in scenarios {
        let Some(text) = read_at(folder, source, &form.file, d) else {
            continue;
        };
        let read = |set: &[Arc<Source>], d: &mut Diagnostics| {
            stage::read(&text, place, &form, source, (size, set), d)
        };
        let mut own = Diagnostics::default();
        let changed = Some(set).filter(|set| !set.is_empty());
        let changed = changed.and_then(|set| read(set, &mut own));
        let changed = changed.filter(|_| own.is_empty());
        is_changed |= changed.is_some();
        refused.extend(own);
        let stage = changed.or_else(|| read(&[], d));
        names.stages.extend(stage.map(|stage| (stage_name, stage)));
    }
    if !is_changed {
        if refused.is_empty() {
            let title = format!("the paper `{name}` has no scenario whose keys could change");
            refused.push(Diagnostic::general(title));
        }
        d.extend(refused);
    }
}

/// Reads the file that `path` names in `source`, where a mistake would point.
fn read_at(
    folder: &Folder,
    source: &Arc<Source>,
    path: &toml::Spanned<String>,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<Source>> {
    let mut unread = Diagnostics::default();
    let found = folder.read(path.get_ref(), &mut unread);
    for Diagnostic { title, .. } in unread {
        let help = "a path starts at the folder of the paper";
        let wrong = Diagnostic::at_span(source, path.span(), title, "named here").with_help(help);
        diagnostics.push(wrong);
    }
    found
}

/// The parts of `name(a, b)`.
fn head_of(head: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = head.trim().split_once('(').unwrap_or((head.trim(), ")"));
    let parameters = rest.trim().strip_suffix(')')?.trim();
    let parameters: Vec<String> = match parameters {
        "" => Vec::new(),
        all => all.split(',').map(|one| one.trim().to_owned()).collect(),
    };
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic())
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c))
            && not_a_name(word).is_none()
    };
    let all_words = is_word(name) && parameters.iter().all(|word| is_word(word));
    all_words.then(|| (name.to_owned(), parameters))
}

fn expression_in(
    source: &Arc<Source>,
    body: &toml::Spanned<String>,
    diagnostics: &mut Diagnostics,
) -> Option<expression::Text> {
    let (span, text) = (body.span(), body.get_ref());
    let written = &source.text[span.clone()];
    // In a string without escapes the places are those in the file.
    let quotes = written.find(text.as_str());
    match quotes {
        Some(at) => expression::parse(text, source, span.start + at, diagnostics),
        None => {
            let own = Source::new(format!("{}: {written}", source.name), text);
            expression::parse(text, &own, 0, diagnostics)
        }
    }
}

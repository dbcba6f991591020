//! The grids, objectives, runs of a job and starts that judge a strategy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::contestant::Contestant;
use crate::compare::parts;
use crate::compare::run::competing;
use scavsim_experiment::Plan;
use scavsim_grids::{ROWS, SPEC, library};
use scavsim_read::input::checked::Count;
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{self, Diagnostic, Diagnostics, Folder, Source};
use scavsim_scenario::{Overrides, Scenario};
use scavsim_search::search::Objective;

/// A suite as it is written. All keys may be missing here, so that what is there is checked all the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SuiteFile {
    name: Option<Spanned<String>>,
    version: Option<Count>,
    about: Option<String>,
    seed: Option<u32>,
    repeats: Vec<Spanned<Count>>,
    objectives: Vec<Spanned<Objective>>,
    grid: Vec<Spanned<GridTable>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GridTable {
    name: Option<Spanned<String>>,
    folder: Option<String>,
    spec: Option<Spanned<String>>,
    rows: Option<Spanned<String>>,
    jobs: Vec<String>,
    starts: Option<Count>,
    halves: u32,
}

/// A suite, checked: its grids are unchanged.
#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    pub version: u32,
    /// The purpose of the suite.
    pub about: String,
    /// Seed of its halves, random draws and strategies.
    pub seed: u64,
    pub repeats: Vec<u64>,
    pub objectives: Vec<Objective>,
    pub grids: Vec<SuiteGrid>,
    /// BLAKE3 hash of its file.
    pub hash: String,
    pub source: Arc<Source>,
    /// The base folder of its paths.
    pub folder: PathBuf,
}

#[derive(Debug, Clone)]
pub struct SuiteGrid {
    pub name: String,
    /// Folder of a grid that is not embedded.
    pub folder: Option<String>,
    /// BLAKE3 hash of its specification.
    pub spec: String,
    /// BLAKE3 hash of its table.
    pub rows: String,
    pub licence: String,
    /// The jobs to use; by default the grid's own.
    pub jobs: Vec<String>,
    /// Searches of each kind on each job.
    pub starts: u32,
    /// Random halves of the configurations of each job; 0: all of them.
    pub halves: u32,
}

/// The scenario of a grid, and why its contestant cannot be used there, if so: then all its searches fail.
#[derive(Debug, Clone)]
pub struct SuiteScenario {
    pub scenario: Scenario,
    pub unusable: Option<String>,
}

/// One plan of a suite: a grid or a half of it, for a number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    pub grid: usize,
    /// Number of the half, from 1; 0: the whole.
    pub half: u32,
    pub repeats: u64,
}

impl Suite {
    /// Reads a suite; every mistake goes to `diagnostics`. Its paths are relative to `folder`.
    pub fn read(
        source: &Arc<Source>,
        folder: &Path,
        diagnostics: &mut Diagnostics,
    ) -> Option<Suite> {
        let before = diagnostics.len();
        let file: SuiteFile = input::toml::read(source, diagnostics)?;
        let keys = [
            ("name", file.name.is_none(), "one word: `name = \"v1\"`"),
            ("version", file.version.is_none(), "a whole number from 1"),
            ("seed", file.seed.is_none(), "a whole number from 0"),
            (
                "repeats",
                file.repeats.is_empty(),
                "how often a job is run: `repeats = [1, 10, 100]`",
            ),
            (
                "objectives",
                file.objectives.is_empty(),
                "`cost`, `time` or both",
            ),
            ("grid", file.grid.is_empty(), "a table `[[grid]]` for each"),
        ];
        for (what, _, help) in keys.iter().filter(|key| key.1) {
            let title = format!("{}: the suite says no `{what}`", source.name);
            diagnostics.push(Diagnostic::general(title).with_help(*help));
        }
        if let Some(name) = &file.name
            && let Some(why) = not_a_name(name.get_ref())
        {
            let title = format!("`{}` is no name of a suite", name.get_ref());
            diagnostics.error_at(source, name.span(), title, why);
        }
        twice(source, &file.repeats, "repeats", diagnostics);
        twice(source, &file.objectives, "objectives", diagnostics);
        let mut grids: Vec<SuiteGrid> = Vec::new();
        for table in &file.grid {
            if let Some(grid) = grid(source, table, folder, diagnostics) {
                if grids.iter().any(|other| other.name == grid.name) {
                    let title = format!("two grids are called `{}`", grid.name);
                    diagnostics.error_at(source, table.span(), title, "the second of them");
                }
                grids.push(grid);
            }
        }
        if diagnostics.len() > before {
            return None;
        }
        let suite = Suite {
            name: file.name?.into_inner(),
            version: file.version?.get(),
            about: file.about.unwrap_or_default(),
            seed: u64::from(file.seed?),
            repeats: (file.repeats.iter())
                .map(|repeats| u64::from(repeats.get_ref().get()))
                .collect(),
            objectives: file.objectives.iter().map(|o| *o.get_ref()).collect(),
            grids,
            hash: hash(&source.text),
            source: Arc::clone(source),
            folder: folder.to_owned(),
        };
        // All mistakes of its scenarios are reported here.
        suite.replayed(diagnostics)?;
        Some(suite)
    }

    /// The suite with another seed of halves, starts and strategies.
    pub fn drawn_by(&self, seed: u32) -> Suite {
        Suite {
            seed: u64::from(seed),
            ..self.clone()
        }
    }

    /// The scenario of each grid for a contestant. Mistakes of the suite go to `diagnostics`, and those of a contestant that
    /// can be used on no grid.
    pub fn scenarios(
        &self,
        contestant: &Contestant,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<SuiteScenario>> {
        let mut all = self.replayed(diagnostics)?;
        let mut mistakes = Diagnostics::default();
        for (grid, own) in self.grids.iter().zip(&mut all) {
            let before = mistakes.len();
            match self.scenario(grid, contestant, &mut mistakes) {
                Some(scenario) => match Plan::new(&competing(&scenario, 1)) {
                    Ok(_) => own.scenario = scenario,
                    Err(why) => {
                        let title = format!("{}: {why}", grid.name);
                        mistakes.push(Diagnostic::general(title.clone()));
                        own.unusable = Some(why.to_string());
                    }
                },
                None => {
                    let why = mistakes.iter().nth(before);
                    own.unusable = Some(why.map_or(String::new(), |why| why.title.clone()));
                }
            }
        }
        if all.iter().all(|own| own.unusable.is_some()) {
            diagnostics.extend(mistakes);
            return None;
        }
        Some(all)
    }

    /// The scenario of each grid in which transcripts are replayed; mistakes go to `diagnostics`.
    pub fn replayed(&self, diagnostics: &mut Diagnostics) -> Option<Vec<SuiteScenario>> {
        let nobody = Contestant::nobody();
        let all: Vec<Option<Scenario>> = (self.grids.iter())
            .map(|grid| self.scenario(grid, &nobody, diagnostics))
            .collect();
        let whole = |scenario: Option<Scenario>| {
            Some(SuiteScenario {
                scenario: scenario?,
                unusable: None,
            })
        };
        all.into_iter().map(whole).collect()
    }

    fn scenario(
        &self,
        grid: &SuiteGrid,
        contestant: &Contestant,
        diagnostics: &mut Diagnostics,
    ) -> Option<Scenario> {
        let name = format!("scenario of `{}` by {}", grid.name, self.source.name);
        let source = Source::new(name, self.scenario_text(grid, contestant));
        let overrides = Overrides::default();
        let mut scenario = scavsim_scenario::load(&source, &self.folder, overrides, diagnostics)?;
        scenario.subject_mut().leave_own_out();
        Some(contestant.at_home(scenario))
    }

    fn scenario_text(&self, grid: &SuiteGrid, contestant: &Contestant) -> String {
        let text = |word: &str| toml::Value::String(word.to_owned()).to_string();
        let list = |words: &mut dyn Iterator<Item = &str>| {
            let all: Vec<String> = words.map(text).collect();
            format!("[{}]", all.join(", "))
        };
        let jobs = match grid.jobs.as_slice() {
            [] => String::new(),
            jobs => format!("jobs = {}\n", list(&mut jobs.iter().map(String::as_str))),
        };
        let command = match contestant.command() {
            None => String::new(),
            Some(command) => format!(
                "[strategy.{}]\nother_jobs = true\ncommand = {}\n",
                contestant.scenario_name(),
                list(&mut command.iter().map(String::as_str))
            ),
        };
        format!(
            "name = {}\ngrid = {}\n{jobs}seed = {}\nreplicas = {}\n[search]\nstrategies = [{}]\nobjectives = {}\n{command}",
            text(&grid.name),
            text(grid.folder.as_ref().unwrap_or(&grid.name)),
            self.seed,
            grid.starts,
            text(contestant.scenario_name()),
            list(&mut self.objectives.iter().map(|o| o.name())),
        )
    }

    /// All plans of the suite, in the order of its transcripts.
    pub fn passages(&self) -> Vec<Passage> {
        let mut all = Vec::new();
        for (grid, of) in self.grids.iter().enumerate() {
            let halves = match of.halves {
                0 => 0..=0,
                halves => 1..=halves,
            };
            for half in halves {
                all.extend(self.repeats.iter().map(|&repeats| Passage {
                    grid,
                    half,
                    repeats,
                }));
            }
        }
        all
    }

    pub(super) fn of_passage(&self, scenarios: &[SuiteScenario], passage: &Passage) -> Scenario {
        let scenario = &scenarios[passage.grid].scenario;
        let scenario = match passage.half {
            0 => scenario.clone(),
            half => parts::half(scenario, half),
        };
        competing(&scenario, passage.repeats)
    }

    pub fn cases(&self, scenarios: &[SuiteScenario]) -> u64 {
        let of = |passage: &Passage| scenarios[passage.grid].scenario.cases();
        self.passages().iter().map(of).sum()
    }

    pub fn grid_folder(&self, grid: &SuiteGrid) -> Option<Folder> {
        grid_folder(&grid.name, grid.folder.as_deref(), &self.folder)
    }
}

/// BLAKE3 hash of a text, as `b3sum` prints it.
pub fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn grid_folder(name: &str, own: Option<&str>, root: &Path) -> Option<Folder> {
    match own {
        Some(own) => Some(Folder::Disk(root.join(own))),
        None => library::embedded(name),
    }
}

/// Duplicates in a list.
fn twice<T: PartialEq>(
    source: &Arc<Source>,
    list: &[Spanned<T>],
    key: &str,
    diagnostics: &mut Diagnostics,
) {
    for (at, value) in list.iter().enumerate() {
        if list[..at]
            .iter()
            .any(|other| other.get_ref() == value.get_ref())
        {
            let title = format!("`{key}` names something twice");
            diagnostics.error_at(source, value.span(), title, "was named before");
        }
    }
}

/// A grid with its hashes, compared with its files.
fn grid(
    source: &Arc<Source>,
    table: &Spanned<GridTable>,
    root: &Path,
    diagnostics: &mut Diagnostics,
) -> Option<SuiteGrid> {
    let (span, own) = (table.span(), table.get_ref());
    let keys = [
        ("name", own.name.is_none(), "as `scavsim list grids` has it"),
        (
            "starts",
            own.starts.is_none(),
            "how many searches of each kind: a whole number from 1",
        ),
        (
            "spec",
            own.spec.is_none(),
            "the BLAKE3 hash of its `grid.toml`",
        ),
        (
            "rows",
            own.rows.is_none(),
            "the BLAKE3 hash of its `rows.csv`",
        ),
    ];
    for (key, _, what) in keys.iter().filter(|key| key.1) {
        let title = format!("a grid says no `{key}`");
        diagnostics.error_at(source, span.clone(), title, (*what).to_owned());
    }
    let name = own.name.as_ref()?;
    let word = name.get_ref();
    if own.folder.is_some() {
        if let Some(why) = not_a_name(word) {
            let title = format!("`{word}` is no name of a grid");
            diagnostics.error_at(source, name.span(), title, why);
        }
    } else if library::embedded(word).is_none() {
        let title = format!("unknown grid `{word}`");
        let told = Diagnostic::at_span(
            source,
            name.span(),
            title,
            "not one of those that come along",
        );
        let all = library::names().join(", ");
        diagnostics
            .push(told.with_help(format!("there are {all}; of another one say its `folder`")));
        return None;
    }
    let folder = grid_folder(word, own.folder.as_deref(), root)?;
    let mut check = |file: &str, stated: &Spanned<String>| {
        let text = folder.read(file, diagnostics)?;
        let found = hash(&text.text);
        if found != *stated.get_ref() {
            let title = format!("`{file}` of `{word}` is not the one that the suite was made from");
            let told = Diagnostic::at_span(source, stated.span(), title, "another hash");
            diagnostics.push(told.with_help(format!(
                "the BLAKE3 hash of the file is {found}; results on other data belong to another suite"
            )));
        }
        Some(found)
    };
    let (spec, rows) = (own.spec.as_ref()?, own.rows.as_ref()?);
    let (spec, rows) = (check(SPEC, spec), check(ROWS, rows));
    // Mistakes in it are reported where the grid is read.
    let about: toml::Table = (folder.read(SPEC, diagnostics)?.text.parse()).unwrap_or_default();
    let licence = about.get("licence").and_then(toml::Value::as_str);
    Some(SuiteGrid {
        name: word.clone(),
        folder: own.folder.clone(),
        spec: spec?,
        rows: rows?,
        licence: licence.unwrap_or_default().to_owned(),
        jobs: own.jobs.clone(),
        starts: own.starts?.get(),
        halves: own.halves,
    })
}

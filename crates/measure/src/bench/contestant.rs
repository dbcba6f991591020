//! Who is judged by a suite: a strategy that comes along, or a program.

use std::path::{Path, PathBuf};

use scavsim_read::input::{Diagnostic, Diagnostics, closest, foreign};
use scavsim_scenario::Scenario;
use scavsim_search::search::{Registry, Settings, registry};

/// Name that every program has in its scenarios, so that all are dealt the same luck.
pub(super) const PROGRAM: &str = "submission";
const LONGEST_NAME: usize = 40;

#[derive(Debug, Clone)]
pub struct Contestant {
    kind: ContestantKind,
    /// The strategy, or the file of the program.
    pub strategy: String,
    /// The name on the leaderboard.
    pub name: String,
}

#[derive(Debug, Clone)]
enum ContestantKind {
    BuiltIn,
    Program {
        command: Vec<String>,
        folder: PathBuf,
    },
}

impl Contestant {
    /// Whoever replays transcripts needs a strategy in its place.
    pub(super) fn nobody() -> Contestant {
        Contestant {
            kind: ContestantKind::BuiltIn,
            strategy: "random".to_owned(),
            name: "random".to_owned(),
        }
    }

    /// A strategy that comes with scavsim, or the file of a program; `name` is that on the leaderboard.
    pub fn find(
        strategy: &str,
        name: Option<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Contestant> {
        let before = diagnostics.len();
        let path = Path::new(strategy);
        let registry = Registry::default();
        let is_known = is_built_in(strategy);
        let (kind, usual) = if is_known {
            (Some(ContestantKind::BuiltIn), strategy.to_owned())
        } else if let (true, Some(file)) = (path.is_file(), path.file_name())
            && is_built_in(&file.to_string_lossy())
        {
            let file = file.to_string_lossy();
            let title = format!("the program `{strategy}` has the name of the strategy `{file}`");
            diagnostics.push(Diagnostic::general(title).with_help("rename the file"));
            (None, String::new())
        } else if path.is_file() {
            let stem = path.file_stem().unwrap_or_default();
            (program(path), stem.to_string_lossy().into_owned())
        } else {
            let near = closest(registry::base(strategy), registry.names());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help = "`scavsim list strategies` has those that come along; another one is the file of a program";
            let title = format!("there is no strategy and no program `{strategy}`");
            diagnostics.push(Diagnostic::general(title).with_help(format!("{near}{help}")));
            (None, String::new())
        };
        let name = name.unwrap_or(&usual).to_owned();
        if kind.is_some()
            && let Some(why) = not_a_label(&name)
        {
            let title = format!("`{name}` is no name for a leaderboard: {why}");
            diagnostics.push(Diagnostic::general(title).with_help("say another `--name`"));
        } else if kind.is_some() && name != strategy && is_built_in(&name) {
            let title = format!("`{name}` is the name of another strategy than `{strategy}`");
            diagnostics.push(Diagnostic::general(title).with_help("say another `--name`"));
        }
        let kind = kind.filter(|_| diagnostics.len() == before)?;
        Some(Contestant {
            kind,
            strategy: match path.file_name() {
                Some(file) if !is_known => file.to_string_lossy().into_owned(),
                _ => strategy.to_owned(),
            },
            name,
        })
    }

    pub(super) fn scenario_name(&self) -> &str {
        match &self.kind {
            ContestantKind::BuiltIn => &self.strategy,
            ContestantKind::Program { .. } => PROGRAM,
        }
    }

    pub(super) fn command(&self) -> Option<&[String]> {
        match &self.kind {
            ContestantKind::BuiltIn => None,
            ContestantKind::Program { command, .. } => Some(command),
        }
    }

    /// The scenario with the program where it is.
    pub(super) fn at_home(&self, mut scenario: Scenario) -> Scenario {
        if let ContestantKind::Program { folder, .. } = &self.kind
            && let Some(own) = scenario.settings.own.get_mut(PROGRAM)
        {
            own.folder.clone_from(folder);
        }
        scenario
    }
}

pub(super) fn is_built_in(name: &str) -> bool {
    let recipe = Registry::default().recipe(name, &Settings::default());
    recipe.is_some()
}

/// How a file is started.
fn program(path: &Path) -> Option<ContestantKind> {
    let file = path.file_name()?.to_string_lossy().into_owned();
    let folder = std::path::absolute(path).ok()?.parent()?.to_owned();
    let command = match path.extension() {
        Some(ending) if ending == "py" => vec!["python3".to_owned(), file],
        _ => vec![format!("./{file}")],
    };
    Some(ContestantKind::Program { command, folder })
}

/// Why a text cannot stand on a leaderboard.
pub(super) fn not_a_label(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is empty")
    } else if name.chars().count() > LONGEST_NAME {
        Some("it has more than 40 characters")
    } else if foreign::harmless(name) != name {
        Some("a spreadsheet would take it for a formula, or it has characters that are not seen")
    } else {
        None
    }
}

//! An entrant of a suite: a built-in strategy, or a program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use scavsim_read::input::{Diagnostic, Diagnostics, closest, foreign};
use scavsim_scenario::Scenario;
use scavsim_search::search::{Registry, Settings, registry};

/// Name of every program in its scenarios, so that all meet equal random draws.
const PROGRAM: &str = "submission";
const LONGEST_NAME: usize = 40;
const LONGEST_STRATEGY: usize = 200;

#[derive(Debug, Clone)]
pub struct Contestant {
    program: Option<EnteredProgram>,
    /// The strategy, or the command of the program.
    pub strategy: String,
    /// The name on the leaderboard.
    pub name: String,
    /// The entrant's statement about tuning.
    pub tuned_on: String,
}

/// A program, started in the folder of its files.
#[derive(Debug, Clone)]
struct EnteredProgram {
    command: Vec<String>,
    /// Files of the command by their names, without its interpreter.
    files: BTreeMap<String, PathBuf>,
    folder: PathBuf,
    disguise: Option<u64>,
}

/// An entrant: a strategy, the file of a program or a command, with a description.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entrant<'a> {
    pub strategy: Option<&'a str>,
    pub command: &'a [String],
    /// Name on the leaderboard, if it differs.
    pub name: Option<&'a str>,
    pub tuned_on: Option<&'a str>,
}

impl Contestant {
    /// A placeholder strategy for replaying transcripts.
    pub(super) fn nobody() -> Contestant {
        Contestant {
            program: None,
            strategy: "random".to_owned(),
            name: "random".to_owned(),
            tuned_on: String::new(),
        }
    }

    /// A built-in strategy, the file of a program, or a command that is started in `folder`.
    pub fn find(
        entrant: Entrant<'_>,
        folder: &Path,
        diagnostics: &mut Diagnostics,
    ) -> Option<Contestant> {
        let before = diagnostics.len();
        let alone = entrant.strategy.map(str::to_owned);
        let words: &[String] = alone.as_ref().map_or(entrant.command, std::slice::from_ref);
        let first = words.first().map_or("", String::as_str);
        let (program, usual) = if entrant.strategy.is_some_and(is_built_in) {
            (None, first.to_owned())
        } else if entrant.strategy.is_some() && !folder.join(first).is_file() {
            let registry = Registry::default();
            let near = closest(registry::base(first), registry.names());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            let help = "`scavsim list strategies` has those that come along; another one is the file of a program, or a command behind `--`";
            let title = format!("there is no strategy and no program `{first}`");
            diagnostics.push(Diagnostic::general(title).with_help(format!("{near}{help}")));
            return None;
        } else {
            let program = EnteredProgram::new(words, folder, diagnostics)?;
            let file = program.files.keys().next_back();
            let stem = file.and_then(|file| Path::new(file).file_stem());
            let usual = stem.map_or(first.into(), |stem| stem.to_string_lossy());
            (Some(program.clone()), usual.into_owned())
        };
        let strategy = match &program {
            Some(program) => program.command_words().join(" "),
            None => first.to_owned(),
        };
        let name = entrant.name.unwrap_or(&usual).to_owned();
        if program.is_some() && is_built_in(&strategy) {
            let title = format!("the program `{first}` has the name of the strategy `{strategy}`");
            diagnostics.push(Diagnostic::general(title).with_help("rename the file"));
        } else if let Some(why) = not_a_label(&name, &strategy) {
            let title = format!("`{name}` is no name for a leaderboard: {why}");
            diagnostics.push(Diagnostic::general(title).with_help("say another `--name`"));
        }
        let tuned_on = match (entrant.tuned_on, &program) {
            (Some(said), _) => said,
            (None, None) => tuned_on(&strategy),
            (None, Some(_)) => "not said",
        };
        if let Some(why) = not_a_text(tuned_on, LONGEST_STRATEGY) {
            let title = format!("what it was tuned on cannot be shown: {why}");
            diagnostics.push(Diagnostic::general(title).with_help("name grids or data sets"));
        }
        (diagnostics.len() == before).then(|| Contestant {
            program,
            strategy,
            name,
            tuned_on: tuned_on.to_owned(),
        })
    }

    pub(super) fn scenario_name(&self) -> &str {
        match &self.program {
            None => &self.strategy,
            Some(_) => PROGRAM,
        }
    }

    /// The command that starts it; `None` for a built-in strategy.
    pub(super) fn command(&self) -> Option<&[String]> {
        Some(&self.program.as_ref()?.command)
    }

    /// Words of its command, files by their names; empty for a built-in strategy.
    pub(super) fn command_words(&self) -> Vec<String> {
        let program = self.program.as_ref();
        program.map_or(Vec::new(), EnteredProgram::command_words)
    }

    /// Files of its command, by their names.
    pub(super) fn files(&self) -> BTreeMap<String, PathBuf> {
        let program = self.program.as_ref();
        program.map_or(BTreeMap::new(), |program| program.files.clone())
    }

    /// BLAKE3 hashes of its files.
    pub(super) fn hashes(&self) -> io::Result<BTreeMap<String, String>> {
        let files = self.files().into_iter();
        let each = files.map(|(name, path)| Ok((name, hash_of_file(&path)?)));
        each.collect()
    }

    /// Gives a program names, orders and units that it cannot know.
    pub(super) fn disguise(&mut self, seed: u64) {
        if let Some(program) = &mut self.program {
            program.disguise = Some(seed);
        }
    }

    /// The scenario with the program in its real folder.
    pub(super) fn at_home(&self, mut scenario: Scenario) -> Scenario {
        if let Some(program) = &self.program
            && let Some(own) = scenario.settings.own.get_mut(PROGRAM)
        {
            own.folder.clone_from(&program.folder);
            own.disguise = program.disguise;
        }
        scenario
    }
}

impl EnteredProgram {
    /// A command in a folder: a Python file is run by `python3`.
    fn new(
        words: &[String],
        folder: &Path,
        diagnostics: &mut Diagnostics,
    ) -> Option<EnteredProgram> {
        let folder = std::path::absolute(folder).ok()?;
        let is_file = |word: &&String| folder.join(word).is_file();
        let mut command = words.to_vec();
        let first = words.first()?;
        if is_file(&first) && first.ends_with(".py") {
            command.insert(0, "python3".to_owned());
        } else if is_file(&first) || first.contains('/') {
            let place = Some(folder.join(first)).filter(|place| place.is_file());
            // The interpreter's environment may be in the judge's folder.
            let place = place.or_else(|| std::path::absolute(first).ok())?;
            command[0] = place.to_string_lossy().into_owned();
        }
        let arguments = command[1..].iter().filter(is_file);
        let mut named: Vec<&String> = arguments.collect();
        if named.is_empty() {
            named.extend(command[..1].iter().filter(is_file));
        }
        let mut files = BTreeMap::new();
        for word in named {
            let (name, path) = (file_name(word), folder.join(word));
            if let Some(other) = files.insert(name.clone(), path.clone())
                && other != path
            {
                let title = format!("the command names two files `{name}`");
                diagnostics.push(Diagnostic::general(title).with_help("rename one"));
                return None;
            }
        }
        Some(EnteredProgram {
            command,
            files,
            folder,
            disguise: None,
        })
    }

    fn command_words(&self) -> Vec<String> {
        let (here, files) = (&self.folder, &self.files);
        let plain = |word: &String| match here.join(word).strip_prefix(here) {
            _ if files.contains_key(&file_name(word)) => file_name(word),
            // An interpreter in the folder, or one on the search path.
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => file_name(word),
        };
        self.command.iter().map(plain).collect()
    }
}

fn file_name(word: &str) -> String {
    let name = Path::new(word).file_name();
    name.map_or(word.to_owned(), |name| name.to_string_lossy().into_owned())
}

pub(super) fn is_built_in(name: &str) -> bool {
    let recipe = Registry::default().recipe(name, &Settings::default());
    recipe.is_some()
}

/// The data on which the constants of a built-in strategy were chosen.
fn tuned_on(strategy: &str) -> &'static str {
    match registry::base(strategy) {
        "value-of-information" | "value-of-information-history" => {
            "scout, trimtuner, scavenger; three rules: llm-pilot"
        }
        _ => "nothing here",
    }
}

/// Why a name or a strategy is invalid on a leaderboard.
pub(super) fn not_a_label(name: &str, strategy: &str) -> Option<&'static str> {
    let why = not_a_text(name, LONGEST_NAME).or_else(|| not_a_text(strategy, LONGEST_STRATEGY));
    why.or_else(|| {
        (name != strategy && is_built_in(name)).then_some("it is the name of another strategy")
    })
}

pub(super) fn not_a_text(text: &str, longest: usize) -> Option<&'static str> {
    if text.trim().is_empty() {
        Some("it is empty")
    } else if text.chars().count() > longest {
        Some("it is too long")
    } else if foreign::harmless(text) != text {
        Some("a spreadsheet would take it for a formula, or it has characters that are not seen")
    } else if text.contains(['<', '>', '&', '"', '`']) {
        Some("it has one of the characters < > & \" `")
    } else {
        None
    }
}

/// BLAKE3 hash of a file, as `b3sum` prints it.
pub(super) fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

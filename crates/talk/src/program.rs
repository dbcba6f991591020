//! A command of a scenario, with its limits.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use scavsim_read::input::checked::{Count, Positive};

#[derive(Debug, Clone, Copy)]
pub struct Program<'p> {
    pub command: &'p [String],
    /// The folder in which it starts, and relative to which a program with a `/` is found.
    pub folder: &'p Path,
    /// Time limit of each answer.
    pub timeout_s: Positive,
    /// Additional seconds to start, before the first answer.
    pub start_s: Positive,
    /// MiB of address space per process, on Linux.
    pub memory_mib: Count,
    pub wording: MessageTerms,
}

/// Words of messages about a program.
#[derive(Debug, Clone, Copy)]
pub struct MessageTerms {
    /// The task that ends with its input: a search, a life.
    pub task: &'static str,
    /// The action that is missing when it ends too early: chosen, decided.
    pub done: &'static str,
    pub answers: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum NoStart {
    #[error("its `command` is empty")]
    NoCommand,
    #[error("there is no program `{0}`")]
    NotThere(String),
    #[error("the shell that ends the program with scavsim does not start: {0}")]
    Guard(io::Error),
    #[error("the program does not start: {0}")]
    Program(io::Error),
    #[error("the program does not start: it has no pipes")]
    NoPipes,
}

/// Settings of a program: its own fields, and those that every program has.
#[macro_export]
macro_rules! program_settings {
    (
        $(#[$about:meta])*
        pub struct $settings:ident worded $wording:expr;
        $($own:tt)*
    ) => {
        $(#[$about])*
        #[serde(deny_unknown_fields)]
        pub struct $settings {
            /// The program and its arguments. It is started in the folder of the scenario, and paths start there.
            pub command: scavsim_read::input::Spanned<Vec<String>>,
            /// Seconds within which each answer comes.
            #[serde(default = "scavsim_talk::program::timeout_s")]
            pub timeout_s: scavsim_read::input::checked::Positive,
            /// Seconds that a process may take to start, besides, before its first answer.
            #[serde(default = "scavsim_talk::program::start_s")]
            pub start_s: scavsim_read::input::checked::Positive,
            /// MiB of address space of each process, on Linux.
            #[serde(default = "scavsim_talk::program::memory_mib")]
            pub memory_mib: scavsim_read::input::checked::Count,
            $($own)*
            /// Where the scenario is.
            #[serde(skip)]
            pub folder: std::path::PathBuf,
            #[serde(skip)]
            waiting: $crate::numbered_conversation::ConversationPool,
        }

        impl $settings {
            pub fn program(&self) -> $crate::program::Program<'_> {
                $crate::program::Program {
                    command: self.command.get_ref(),
                    folder: &self.folder,
                    timeout_s: self.timeout_s,
                    start_s: self.start_s,
                    memory_mib: self.memory_mib,
                    wording: $wording,
                }
            }
        }
    };
}

pub fn timeout_s() -> Positive {
    Positive::new(10.0).expect("it is positive")
}

pub fn start_s() -> Positive {
    Positive::new(30.0).expect("it is positive")
}

/// Default MiB of address space.
pub fn memory_mib() -> Count {
    Count::new(4096).expect("it is above 0")
}

impl<'p> Program<'p> {
    /// BLAKE3 hashes of the files in its command: other contents make another program.
    pub fn file_hashes(&self) -> Vec<String> {
        let files = self.command.iter().map(|word| self.folder.join(word));
        let texts = files
            .filter(|path| path.is_file())
            .filter_map(|path| std::fs::read(path).ok());
        texts
            .map(|text| blake3::hash(&text).to_hex().to_string())
            .collect()
    }

    pub fn found(&self) -> Result<(PathBuf, &'p [String]), NoStart> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(NoStart::NoCommand);
        };
        let place = match Path::new(program).components().count() {
            1 => on_path(program),
            _ => Some(self.folder.join(program)).filter(|place| place.is_file()),
        };
        // A link is not followed: the link of a virtual environment locates its packages.
        let place = place.and_then(|place| std::path::absolute(place).ok());
        match place {
            Some(place) => Ok((place, arguments)),
            None => Err(NoStart::NotThere(program.clone())),
        }
    }
}

impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = std::path::absolute(self.folder);
        let folder = folder.as_deref().unwrap_or(self.folder);
        write!(f, "{} in {}", self.command.join(" "), folder.display())
    }
}

/// The place at which a shell would find a program.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).flat_map(|folder| {
        let plain = folder.join(program);
        let windows = folder.join(format!("{program}.exe"));
        [plain, windows]
    });
    places.find(|place| place.is_file())
}

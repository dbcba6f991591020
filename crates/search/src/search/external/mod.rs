//! A strategy of one's own that is another program, in whatever language: JSON lines on its standard input and output.
//!
//! - `spoken`: a search with somebody who answers lines; `talk`: what the lines say; `breach`: why it fails.
//! - `process`: a program under way, with its limits; `guard`: who ends it where nobody else can. Here: its settings.
//!
//! A process that repeats the numbers of lines makes one search after the other, as many processes as there are threads;
//! another one makes one search. Whatever goes wrong with one ends its search, never the run, and the next search begins with
//! a new process.

mod breach;
mod guard;
mod process;
mod spoken;
mod talk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use self::breach::NoStart;
use self::process::{Process, ProcessLimits};
use self::spoken::{Bounds, ToldLine, Waiting};
pub use self::spoken::{Conversation, Spoken};
use super::{Depends, Past, Recipe, Strategy, Task, Unusable};
use scavsim_read::input::checked::{Count, Positive};
use scavsim_sim::engine::Interrupt;

/// Settings of a strategy that is another program.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalSettings {
    /// The program and its arguments. It is started in the folder of the scenario, and paths start there.
    #[schemars(with = "Vec<String>")]
    pub command: Spanned<Vec<String>>,
    /// Seconds within which each answer comes.
    #[serde(default = "timeout_s")]
    pub timeout_s: Positive,
    /// Seconds that a process may take to start, besides, before its first answer.
    #[serde(default = "start_s")]
    pub start_s: Positive,
    /// Probes and cold starts beyond which a search fails.
    #[serde(default = "max_probes")]
    pub max_probes: Count,
    /// Seconds beyond which a search fails; the start of a process, up to its first answer, is no part of them.
    #[serde(default = "max_search_s")]
    pub max_search_s: Positive,
    /// MiB of address space of each process, on Linux.
    #[serde(default = "memory_mib")]
    pub memory_mib: Count,
    /// Whether it is told the objective, with a search for each.
    #[serde(default = "yes")]
    pub objective: bool,
    /// Whether it is told prices and what it spent, with a search for each policy.
    #[serde(default = "yes")]
    pub prices: bool,
    /// Whether it takes all earlier runs of the workload, which had to be paid for.
    #[serde(default)]
    pub earlier_runs: bool,
    /// Whether it takes all earlier runs of other jobs on the same configurations, which had to be paid for.
    #[serde(default)]
    pub other_jobs: bool,
    /// Where the scenario is.
    #[serde(skip)]
    #[schemars(skip)]
    pub folder: PathBuf,
    /// What ends it while it is waited for.
    #[serde(skip)]
    #[schemars(skip)]
    pub interrupt: Interrupt,
    #[serde(skip)]
    #[schemars(skip)]
    waiting: Waiting,
}

fn timeout_s() -> Positive {
    Positive::new(10.0).expect("it is positive")
}

fn start_s() -> Positive {
    Positive::new(30.0).expect("it is positive")
}

fn max_probes() -> Count {
    Count::new(Bounds::default().probes).expect("it is above 0")
}

fn max_search_s() -> Positive {
    Positive::new(Bounds::default().search_s).expect("it is positive")
}

fn memory_mib() -> Count {
    Count::new(4096).expect("it is above 0")
}

fn yes() -> bool {
    true
}

impl ExternalSettings {
    /// The program and its arguments, found.
    fn found(&self) -> Result<(PathBuf, &[String]), Unusable> {
        let Some((program, arguments)) = self.command.get_ref().split_first() else {
            return Err(Unusable("its `command` is empty".to_owned()));
        };
        let place = match Path::new(program).components().count() {
            1 => on_path(program),
            _ => Some(self.folder.join(program)).filter(|place| place.is_file()),
        };
        // A link is not followed: that of a virtual environment says where its packages are.
        let place = place.and_then(|place| std::path::absolute(place).ok());
        match place {
            Some(place) => Ok((place, arguments)),
            None => Err(Unusable(format!("there is no program `{program}`"))),
        }
    }
}

impl ExternalSettings {
    /// BLAKE3 hashes of the files in its command: with another text it is another strategy.
    pub fn file_hashes(&self) -> Vec<String> {
        let words = self.command.get_ref().iter();
        let files = words
            .map(|word| self.folder.join(word))
            .filter(|path| path.is_file());
        let texts = files.filter_map(|path| std::fs::read(path).ok());
        texts
            .map(|text| blake3::hash(&text).to_hex().to_string())
            .collect()
    }

    fn start(&self) -> Result<Box<dyn Conversation>, NoStart> {
        let (program, arguments) = self.found()?;
        let limits = ProcessLimits {
            start: Duration::from_secs_f64(self.start_s.get()),
            answer: Duration::from_secs_f64(self.timeout_s.get()),
            memory_mib: self.memory_mib.get(),
        };
        let interrupt = self.interrupt.clone();
        let process = Process::start(&program, arguments, &self.folder, limits, interrupt)?;
        Ok(Box::new(process))
    }
}

/// Where the shell would find a program.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).flat_map(|folder| {
        let plain = folder.join(program);
        let windows = folder.join(format!("{program}.exe"));
        [plain, windows]
    });
    places.find(|place| place.is_file())
}

impl Recipe for ExternalSettings {
    fn summary(&self) -> &str {
        "a program of one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        self.found()?;
        let mut depends = Depends::NOTHING;
        depends.objective = self.objective;
        depends.prices = self.prices;
        let told = ToldLine {
            depends,
            earlier_runs: self.earlier_runs,
            other_jobs: self.other_jobs,
        };
        let bounds = Bounds {
            probes: self.max_probes.get(),
            search_s: self.max_search_s.get(),
        };
        let own = self.clone();
        let open = move || Ok(own.start()?);
        Spoken::of(Arc::new(open), self.waiting.clone(), told, bounds).build(task, past)
    }
}

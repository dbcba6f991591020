//! A strategy of one's own that is another program, in whatever language: JSON lines on its standard input and output.
//!
//! - `talk`: what is said. `process`: a program under way, with its limits. Here: its settings, and a search.
//!
//! A process makes one search after the other, as many processes as there are threads. Whatever goes wrong with one ends
//! its search, never the run, and the next search begins with a new process.

mod process;
mod talk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use self::process::{Pool, Process};
use self::talk::Answer;
use super::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::input::checked::{Count, Positive};
use crate::rng::Stream;
use crate::testbed::{Stop, Testbed};

/// Seeds are below, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

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
    /// Where the scenario is.
    #[serde(skip)]
    #[schemars(skip)]
    pub folder: PathBuf,
    #[serde(skip)]
    #[schemars(skip)]
    pool: Pool,
}

fn timeout_s() -> Positive {
    Positive::new(10.0).expect("it is positive")
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
        let place = place.and_then(|place| place.canonicalize().ok());
        match place {
            Some(place) => Ok((place, arguments)),
            None => Err(Unusable(format!("there is no program `{program}`"))),
        }
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
        let earlier = self.earlier_runs.then(|| past.take_own(|_| true));
        Ok(Box::new(External {
            task: talk::task(task, earlier.as_ref()),
            settings: self.clone(),
        }))
    }
}

struct External {
    settings: ExternalSettings,
    /// What every search is told.
    task: String,
}

impl External {
    /// A process that waits for a task.
    fn process(&self) -> Result<Process, String> {
        match self.settings.pool.take() {
            Some(process) => Ok(process),
            None => {
                let (program, arguments) = self.settings.found().map_err(|why| why.0)?;
                let mib = self.settings.memory_mib.get();
                Process::start(&program, arguments, &self.settings.folder, mib)
            }
        }
    }
}

impl Strategy for External {
    fn depends(&self) -> Depends {
        let mut depends = Depends::NOTHING;
        depends.objective = self.settings.objective;
        depends.prices = self.settings.prices;
        depends
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let mut process = self.process().map_err(Stop::Failed)?;
        let timeout = Duration::from_secs_f64(self.settings.timeout_s.get());
        let mut told = talk::search(&self.task, task, stream.below(SEEDS));
        loop {
            let answer = match process.ask(told, timeout) {
                Ok(answer) => talk::understood(&answer),
                Err(broken) => return Err(Stop::Failed(broken.in_words(process))),
            };
            let seen = match answer.map_err(Stop::Failed)? {
                Answer::Probe(probe) => {
                    let extent = probe.extent(task.probe_steps).map_err(Stop::Failed)?;
                    Some(testbed.probe(probe.configuration, extent)?)
                }
                Answer::ColdStart(cold) => {
                    let steps = cold.steps.unwrap_or(task.cold_start_steps);
                    testbed.cold_start(cold.configuration, steps)?;
                    None
                }
                Answer::Choose(at) => {
                    forecast.decided = Some(at);
                    break;
                }
                Answer::Predict(times) => {
                    talk::predict(&times, forecast).map_err(Stop::Failed)?;
                    break;
                }
                Answer::Fail(why) => {
                    self.settings.pool.give_back(process);
                    return Err(Stop::Failed(talk::shortened(&why)));
                }
            };
            told = talk::seen(seen, testbed.spent());
        }
        self.settings.pool.give_back(process);
        Ok(())
    }
}

//! A search by somebody who answers lines with lines.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::talk::{self, Answer};
use crate::rng::Stream;
use crate::search::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::testbed::{Stop, Testbed};

/// Seeds are below, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

/// Somebody who searches by answering lines of JSON with lines of JSON, as `docs/own-strategy.md` has them: one search after
/// the other.
///
/// ```
/// use scavsim::{Conversation, Registry, Scenario, Spoken};
///
/// /// The configuration with this number, whatever it is told.
/// struct Always(usize);
///
/// impl Conversation for Always {
///     fn answer(&mut self, _: String) -> Result<String, String> {
///         Ok(format!("{{\"choose\": {}}}", self.0))
///     }
/// }
///
/// let spoken = Spoken::new(|| Ok(Box::new(Always(0))));
/// let scenario = Scenario::options().registry(Registry::default().with("first", spoken)).parse(
///     r#"
///     workloads = ["scavenger-resnet18"]
///     search = { strategies = ["first"], objectives = ["time"] }
///     "#,
/// )?;
/// scenario.run(|record| assert_eq!(record.chosen_workers, Some(8)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Conversation: Send {
    /// The answer to a line.
    ///
    /// # Errors
    /// Why there is none, in words: the search has failed, and the conversation is over.
    fn answer(&mut self, line: String) -> Result<String, String>;
}

type Open = dyn Fn() -> Result<Box<dyn Conversation>, String> + Send + Sync;

/// A strategy that is such a conversation. Each thread has one of its own; [`Conversation`] shows one.
#[derive(Clone)]
pub struct Spoken {
    open: Arc<Open>,
    waiting: Waiting,
    told: Told,
}

/// What a conversation is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) depends: Depends,
    pub(super) earlier_runs: bool,
}

/// Conversations between two searches.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<Vec<Box<dyn Conversation>>>>);

impl Waiting {
    fn take(&self) -> Option<Box<dyn Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, conversation: Box<dyn Conversation>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(conversation);
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl fmt::Debug for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spoken").finish_non_exhaustive()
    }
}

impl Spoken {
    /// One that is told everything but earlier runs; `open` begins a conversation.
    pub fn new(
        open: impl Fn() -> Result<Box<dyn Conversation>, String> + Send + Sync + 'static,
    ) -> Spoken {
        let told = Told {
            depends: Depends::BOTH,
            earlier_runs: false,
        };
        Spoken::of(Arc::new(open), Waiting::default(), told)
    }

    /// The same, told no more than it depends on.
    #[must_use]
    pub fn depending(mut self, depends: Depends) -> Spoken {
        self.told.depends = depends;
        self
    }

    /// The same, told the earlier runs of the workload if `told`, which records then count.
    #[must_use]
    pub fn earlier_runs(mut self, told: bool) -> Spoken {
        self.told.earlier_runs = told;
        self
    }

    pub(super) fn of(open: Arc<Open>, waiting: Waiting, told: Told) -> Spoken {
        Spoken {
            open,
            waiting,
            told,
        }
    }
}

impl Recipe for Spoken {
    fn summary(&self) -> &str {
        "one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let earlier = self.told.earlier_runs.then(|| past.take_own(|_| true));
        Ok(Box::new(Ready {
            task: talk::task(task, earlier.as_ref()),
            spoken: self.clone(),
        }))
    }
}

/// The strategy, ready for one workload.
struct Ready {
    spoken: Spoken,
    /// What every search is told.
    task: String,
}

impl Strategy for Ready {
    fn depends(&self) -> Depends {
        self.spoken.told.depends
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let waiting = self.spoken.waiting.take();
        let mut with = match waiting {
            Some(waiting) => waiting,
            None => (self.spoken.open)().map_err(Stop::Failed)?,
        };
        let mut line = talk::search(&self.task, task, stream.below(SEEDS));
        loop {
            let answer = with.answer(line).map_err(Stop::Failed)?;
            let seen = match talk::understood(&answer).map_err(Stop::Failed)? {
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
                    self.spoken.waiting.give_back(with);
                    return Err(Stop::Failed(talk::shortened(&why)));
                }
            };
            line = talk::seen(seen, testbed.spent());
        }
        self.spoken.waiting.give_back(with);
        Ok(())
    }
}

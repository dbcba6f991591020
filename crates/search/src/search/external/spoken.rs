//! A search by somebody who answers lines with lines.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::breach::{Breach, Silence};
use super::talk::{self, Answer};
use crate::search::others::Others;
use crate::search::{Depends, Forecast, Past, Recipe, Strategy, Task, Unusable};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;

/// Seeds are below, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

/// Somebody who searches by answering lines of JSON with lines of JSON, as `docs/own-strategy.md` has them: one search after
/// the other.
pub trait Conversation: Send {
    /// The answer to a line.
    ///
    /// # Errors
    /// Why there is none: the search has failed, and the conversation is over.
    fn answer(&mut self, line: String) -> Result<String, Silence>;

    /// A search is over: whether there can be another one. Not asked of who repeats the number of each line: that one is
    /// told, and answers.
    ///
    /// # Errors
    /// What was wrong with the search after all.
    fn over(&mut self) -> Result<bool, Silence> {
        Ok(true)
    }
}

type Open = dyn Fn() -> Result<Box<dyn Conversation>, Silence> + Send + Sync;

/// A strategy that is such a conversation. Each thread has one of its own; [`Conversation`] shows one.
#[derive(Clone)]
pub struct Spoken {
    open: Arc<Open>,
    waiting: Waiting,
    told: ToldLine,
    bounds: Bounds,
}

/// What a search may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Probes and cold starts.
    pub(super) probes: u32,
    /// Seconds.
    pub(super) search_s: f64,
}

/// More than any strategy needs, and soon over for one that never chooses.
impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            probes: 10_000,
            search_s: 3600.0,
        }
    }
}

/// What a conversation is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToldLine {
    pub(super) depends: Depends,
    pub(super) earlier_runs: bool,
    pub(super) other_jobs: bool,
}

/// Conversations between two searches.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<Vec<Talk>>>);

impl Waiting {
    fn take(&self) -> Option<Talk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, talk: Talk) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(talk);
    }
}

/// A conversation under way.
///
/// Its lines are numbered. Who repeats the numbers cannot be taken to answer what it was not asked, and is asked after each
/// search whether that was all: what it said too much is then heard in the search that it belongs to, not in the next.
struct Talk {
    with: Box<dyn Conversation>,
    /// Number of the last line that was told.
    number: u64,
    /// Whether every answer had its number.
    is_numbered: bool,
}

impl Talk {
    fn ask(&mut self, line: &str) -> Result<Answer, Breach> {
        self.number += 1;
        let answer = self.with.answer(talk::numbered(line, self.number))?;
        let (number, understood) = talk::understood(&answer)?;
        match number {
            Some(number) if number == self.number => Ok(understood),
            // Who never began with it may go on without.
            None if !self.is_numbered || self.number == 1 => {
                self.is_numbered = false;
                Ok(understood)
            }
            None => Err(Breach::WithoutNumber(talk::shortened(&answer))),
            Some(answered) => Err(Breach::OtherLine {
                answered,
                told: self.number,
                answer: talk::shortened(&answer),
            }),
        }
    }

    /// After a search: the same, if there can be another one.
    fn over(mut self) -> Result<Option<Talk>, Breach> {
        let goes_on = if self.is_numbered {
            match self.ask(talk::OVER)? {
                Answer::Ready => true,
                _ => return Err(Breach::GoesOn),
            }
        } else {
            self.with.over()?
        };
        Ok(goes_on.then_some(self))
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
        open: impl Fn() -> Result<Box<dyn Conversation>, Silence> + Send + Sync + 'static,
    ) -> Spoken {
        let told = ToldLine {
            depends: Depends::BOTH,
            earlier_runs: false,
            other_jobs: false,
        };
        Spoken::of(Arc::new(open), Waiting::default(), told, Bounds::default())
    }

    /// Bounds searches: they fail beyond so many probes and cold starts, or after so long; 10,000 and an hour without
    /// it.
    #[must_use]
    pub fn bounded(mut self, probes: u32, search: Duration) -> Spoken {
        self.bounds = Bounds {
            probes,
            search_s: search.as_secs_f64(),
        };
        self
    }

    /// Tells strategies no more than what `depends` names.
    #[must_use]
    pub fn depending(mut self, depends: Depends) -> Spoken {
        self.told.depends = depends;
        self
    }

    /// Tells strategies the earlier runs of the workload if `told`, which records then count.
    #[must_use]
    pub fn earlier_runs(mut self, told: bool) -> Spoken {
        self.told.earlier_runs = told;
        self
    }

    /// Tells strategies the earlier runs of other jobs on the same configurations if `told`, which records then count.
    #[must_use]
    pub fn other_jobs(mut self, told: bool) -> Spoken {
        self.told.other_jobs = told;
        self
    }

    pub(super) fn of(open: Arc<Open>, waiting: Waiting, told: ToldLine, bounds: Bounds) -> Spoken {
        Spoken {
            open,
            waiting,
            told,
            bounds,
        }
    }
}

impl Recipe for Spoken {
    fn summary(&self) -> &str {
        "one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> Result<Box<dyn Strategy>, Unusable> {
        let earlier = self.told.earlier_runs.then(|| past.take_own(|_| true));
        let others = self.told.other_jobs.then(|| Others::take(task, past));
        let others = others.transpose()?;
        Ok(Box::new(Ready {
            task: talk::task(task, earlier.as_ref(), others.as_ref()),
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
        let bounds = self.spoken.bounds;
        // When it began to search: of one that starts, with its first answer.
        let mut begun = None;
        let mut with = match self.spoken.waiting.take() {
            Some(waiting) => {
                begun = Some(Instant::now());
                waiting
            }
            None => Talk {
                with: (self.spoken.open)().map_err(Breach::from)?,
                number: 0,
                is_numbered: true,
            },
        };
        let mut line = talk::search(&self.task, task, stream.below(SEEDS));
        let mut probes = 0;
        let failed = loop {
            let answer = with.ask(&line)?;
            let begun = begun.get_or_insert_with(Instant::now);
            if begun.elapsed().as_secs_f64() > bounds.search_s {
                return Err(Breach::TooLong(bounds.search_s).into());
            }
            if matches!(answer, Answer::Probe(_) | Answer::ColdStart(_)) {
                probes += 1;
                if probes > bounds.probes {
                    return Err(Breach::TooManyProbes(bounds.probes).into());
                }
            }
            let seen = match answer {
                Answer::Probe(probe) => {
                    let extent = probe.extent(task.probe_steps)?;
                    Some(testbed.probe(probe.configuration, extent)?)
                }
                Answer::ColdStart(cold) => {
                    let steps = cold.steps.unwrap_or(task.cold_start_steps);
                    testbed.cold_start(cold.configuration, steps)?;
                    None
                }
                Answer::Choose(at) => {
                    forecast.decided = Some(at);
                    break None;
                }
                Answer::Predict(times) => {
                    talk::predict(&times, forecast)?;
                    break None;
                }
                Answer::Fail(why) => break Some(talk::shortened(&why)),
                Answer::Ready => return Err(Breach::ReadyTooSoon.into()),
            };
            line = talk::seen(seen, testbed.spent());
        };
        let over = with.over();
        if let Some(why) = failed {
            // What failed tells more than how it ended.
            if let Ok(Some(with)) = over {
                self.spoken.waiting.give_back(with);
            }
            return Err(Stop::Failed(why));
        }
        if let Some(with) = over? {
            self.spoken.waiting.give_back(with);
        }
        Ok(())
    }
}

//! A search by somebody who answers lines with lines.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::breach::Breach;
use super::talk::{self, Answer};
use crate::search::other_jobs::OtherJobs;
use crate::search::{BuildResult, Depends, Forecast, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_talk::conversation::{Conversation, ConversationError};
use scavsim_talk::lines::shortened;
use scavsim_talk::numbered_conversation::{ConversationPool, NumberedConversation};

/// Seeds are below, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

type ConversationOpener =
    dyn Fn() -> Result<Box<dyn Conversation>, ConversationError> + Send + Sync;

/// A strategy that is such a conversation. Each thread has one of its own; [`Conversation`] shows one.
#[derive(Clone)]
pub struct ConversationStrategy {
    open: Arc<ConversationOpener>,
    waiting: ConversationPool,
    told: ConversationInputs,
    bounds: Bounds,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Probes and cold starts.
    pub(super) probes: u32,
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
pub(super) struct ConversationInputs {
    pub(super) depends: Depends,
    pub(super) earlier_runs: bool,
    pub(super) other_jobs: bool,
}

impl fmt::Debug for ConversationStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationStrategy")
            .finish_non_exhaustive()
    }
}

impl ConversationStrategy {
    /// One that is told everything but earlier runs; `open` begins a conversation.
    pub fn new(
        open: impl Fn() -> Result<Box<dyn Conversation>, ConversationError> + Send + Sync + 'static,
    ) -> ConversationStrategy {
        let told = ConversationInputs {
            depends: Depends::BOTH,
            earlier_runs: false,
            other_jobs: false,
        };
        ConversationStrategy::from_parts(
            Arc::new(open),
            ConversationPool::default(),
            told,
            Bounds::default(),
        )
    }

    /// Bounds searches: they fail beyond so many probes and cold starts, or after so long; 10,000 and an hour without it.
    #[must_use]
    pub fn bounded(mut self, probes: u32, search: Duration) -> ConversationStrategy {
        self.bounds = Bounds {
            probes,
            search_s: search.as_secs_f64(),
        };
        self
    }

    /// Tells strategies no more than what `depends` names.
    #[must_use]
    pub fn depending(mut self, depends: Depends) -> ConversationStrategy {
        self.told.depends = depends;
        self
    }

    /// Tells strategies the earlier runs of the workload if `told`, which records then count.
    #[must_use]
    pub fn earlier_runs(mut self, told: bool) -> ConversationStrategy {
        self.told.earlier_runs = told;
        self
    }

    /// Tells strategies the earlier runs of other jobs on the same configurations if `told`, which records then count.
    #[must_use]
    pub fn other_jobs(mut self, told: bool) -> ConversationStrategy {
        self.told.other_jobs = told;
        self
    }

    pub(super) fn from_parts(
        open: Arc<ConversationOpener>,
        waiting: ConversationPool,
        told: ConversationInputs,
        bounds: Bounds,
    ) -> ConversationStrategy {
        ConversationStrategy {
            open,
            waiting,
            told,
            bounds,
        }
    }
}

impl Recipe for ConversationStrategy {
    fn summary(&self) -> &str {
        "one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let earlier = self.told.earlier_runs.then(|| past.take_own(|_| true));
        let others = self
            .told
            .other_jobs
            .then(|| OtherJobs::take_from_past(task, past));
        let others = others.transpose()?;
        Ok(Box::new(PreparedConversation {
            task: talk::task(task, earlier.as_ref(), others.as_ref()),
            spoken: self.clone(),
        }))
    }
}

/// The strategy, ready for one workload.
struct PreparedConversation {
    spoken: ConversationStrategy,
    /// What every search is told.
    task: String,
}

impl Strategy for PreparedConversation {
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
        let mut with = match self.spoken.waiting.pop() {
            Some(waiting) => {
                begun = Some(Instant::now());
                waiting
            }
            None => NumberedConversation::new((self.spoken.open)().map_err(Breach::from)?),
        };
        let mut line = talk::search(&self.task, task, stream.below(SEEDS));
        let mut probes = 0;
        let failed = loop {
            let answer = with.ask(&line, talk::understood)?;
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
                Answer::Fail(why) => break Some(shortened(&why)),
                Answer::Ready => return Err(Breach::ReadyTooSoon.into()),
            };
            line = talk::observation_line(seen, testbed.spent());
        };
        let over = with.over(talk::understood, talk::ready);
        if let Some(why) = failed {
            // What failed tells more than how it ended.
            if let Ok(Some(with)) = over {
                self.spoken.waiting.push(with);
            }
            return Err(Stop::Failed(why));
        }
        if let Some(with) = over? {
            self.spoken.waiting.push(with);
        }
        Ok(())
    }
}

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::disguise::Disguise;
use super::talk::{self, Answer};
use crate::search::other_jobs::OtherJobs;
use crate::search::{BuildResult, Depends, Forecast, Past, Recipe, Strategy, Task};
use crate::testbed::{Stop, Testbed};
use scavsim_base::rng::Stream;
use scavsim_talk::conversation::{Conversation, ConversationError};
use scavsim_talk::numbered_conversation::{Breach, ConversationPool};

/// Bound of seeds, so that every language reads them exactly.
const SEEDS: usize = 1 << 31;

type ConversationOpener =
    dyn Fn() -> Result<Box<dyn Conversation>, ConversationError> + Send + Sync;

pub(super) const MAX_PROBES: u32 = 10_000;
pub(super) const MAX_SEARCH_S: f64 = 3600.0;

/// A strategy that is such a conversation. Each thread has one of its own; [`Conversation`] shows one.
#[derive(Clone)]
pub struct ConversationStrategy {
    open: Arc<ConversationOpener>,
    pub(super) waiting: ConversationPool,
    pub(super) depends: Depends,
    earlier_runs: bool,
    other_jobs: bool,
    /// Seed of the disguise of tasks, where they wear one.
    pub(super) disguise: Option<u64>,
    pub(super) max_probes: u32,
    pub(super) max_search_s: f64,
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
        ConversationStrategy {
            open: Arc::new(open),
            waiting: ConversationPool::default(),
            depends: Depends::BOTH,
            earlier_runs: false,
            other_jobs: false,
            disguise: None,
            max_probes: MAX_PROBES,
            max_search_s: MAX_SEARCH_S,
        }
    }

    /// Bounds searches: they fail beyond so many probes and cold starts, or after so long; 10,000 and an hour without it.
    #[must_use]
    pub fn bounded(mut self, probes: u32, search: Duration) -> ConversationStrategy {
        self.max_probes = probes;
        self.max_search_s = search.as_secs_f64();
        self
    }

    /// Tells strategies no more than what `depends` names.
    #[must_use]
    pub fn depending(mut self, depends: Depends) -> ConversationStrategy {
        self.depends = depends;
        self
    }

    /// Tells strategies the earlier runs of the workload if `told`, which records then count.
    #[must_use]
    pub fn earlier_runs(mut self, told: bool) -> ConversationStrategy {
        self.earlier_runs = told;
        self
    }

    /// Tells strategies the earlier runs of other jobs on the same configurations if `told`, which records then count.
    #[must_use]
    pub fn other_jobs(mut self, told: bool) -> ConversationStrategy {
        self.other_jobs = told;
        self
    }
}

impl Recipe for ConversationStrategy {
    fn summary(&self) -> &str {
        "one's own"
    }

    fn build(&self, task: &Task<'_>, past: &mut Past<'_>) -> BuildResult {
        let earlier = self.earlier_runs.then(|| past.take_own(|_| true));
        let others = (self.other_jobs).then(|| OtherJobs::take_from_past(task, past));
        let told = talk::task(task, earlier.as_ref(), others.as_ref());
        let disguise = Disguise::new(task, self.disguise);
        Ok(Box::new(PreparedConversation {
            task: disguise.hide_task(told).to_string(),
            disguise,
            spoken: self.clone(),
        }))
    }
}

struct PreparedConversation {
    spoken: ConversationStrategy,
    task: String,
    disguise: Disguise,
}

impl Strategy for PreparedConversation {
    fn depends(&self) -> Depends {
        self.spoken.depends
    }

    fn search(
        &self,
        task: &Task<'_>,
        testbed: &mut dyn Testbed,
        stream: &mut Stream,
        forecast: &mut Forecast,
    ) -> Result<(), Stop> {
        let (waiting, max_search_s) = (&self.spoken.waiting, self.spoken.max_search_s);
        let mut with = waiting.take_or_open(talk::TERMS, || (self.spoken.open)())?;
        // When it began to search: of one that starts, with its first answer.
        let mut begun = (!with.is_new()).then(Instant::now);
        let disguise = &self.disguise;
        let search = disguise.hide_search(talk::search(task, stream.below(SEEDS)));
        let mut line = format!("{{\"task\":{},\"search\":{search}}}", self.task);
        let mut probes = 0;
        let done = loop {
            let answer = match with.ask(&line, talk::understood) {
                Err(Breach::Wrong(why)) => return Err(Stop::Failed(why)),
                answer => answer,
            };
            let begun = begun.get_or_insert_with(Instant::now);
            if begun.elapsed().as_secs_f64() > max_search_s {
                let why = format!("the search took more than {max_search_s} s (`max_search_s`)");
                return Err(Stop::Failed(why));
            }
            if matches!(answer, Ok(Answer::Probe(_) | Answer::ColdStart(_))) {
                probes += 1;
                let most = self.spoken.max_probes;
                if probes > most {
                    let why =
                        format!("the search asked for more than {most} probes (`max_probes`)");
                    return Err(Stop::Failed(why));
                }
            }
            let seen = match answer {
                Ok(Answer::Probe(probe)) => {
                    let extent = disguise.true_extent(probe.extent(task.probe_steps)?);
                    Some(testbed.probe(disguise.true_place(probe.configuration), extent)?)
                }
                Ok(Answer::ColdStart(cold)) => {
                    let steps = cold.steps.unwrap_or(task.cold_start_steps);
                    testbed.cold_start(disguise.true_place(cold.configuration), steps)?;
                    None
                }
                Ok(Answer::Choose(at)) => {
                    forecast.decided = Some(disguise.true_place(at));
                    break Ok(());
                }
                Ok(Answer::Predict(times)) => {
                    talk::predict(&disguise.true_times(&times), forecast)?;
                    break Ok(());
                }
                Err(Breach::Fails(why)) => break Err(Stop::Failed(why)),
                Err(breach) => return Err(breach.into()),
            };
            line = disguise.hide_observation(talk::observation(seen, testbed.spent()));
        };
        let over = waiting.put_back(with, talk::understood);
        // What failed tells more than how it ended.
        done.and_then(|()| Ok(over?))
    }
}

impl From<Breach> for Stop {
    fn from(breach: Breach) -> Stop {
        Stop::Failed(breach.to_string())
    }
}

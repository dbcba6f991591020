//! What is known beforehand has an owner and a price: earlier runs, and an account of which a strategy took.

use crate::testbed::history::RunPrice;
use crate::testbed::{History, PastRun};

/// Earlier runs that a strategy may use. It sees what each was and cost, and nothing of what came out
/// until it takes it.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{History, Past};
///
/// let (own, stored) = (History::default(), [History { workload: "other".into(), ..History::default() }]);
/// let mut past = Past::new(&own, &stored);
/// assert_eq!(past.stored_names().collect::<Vec<_>>(), ["other"]);
/// // What is taken here stands in the records, with the hours and USD that it had cost.
/// let taken = past.take_stored("other", |run| run.is_whole && run.seconds < 7200.0);
/// assert!(taken.is_some_and(|history| history.runs.is_empty()));
/// ```
#[derive(Debug)]
pub struct Past<'a> {
    own: &'a History,
    stored: &'a [History],
    taken: Vec<UsedPastRun>,
    /// Which numbers they have, by workload.
    numbers: Vec<(&'a str, Vec<bool>)>,
}

/// An earlier run before it is taken.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::Offer;
///
/// /// Small clusters that ran to the target.
/// fn wanted(run: &Offer<'_>) -> bool {
///     run.is_whole && run.workers.is_some_and(|workers| workers <= 8)
/// }
/// # let _ = wanted;
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Offer<'a> {
    /// VM shape.
    pub vm: Option<&'a str>,
    /// Worker count K.
    pub workers: Option<u32>,
    /// Global batch B.
    pub batch: Option<u32>,
    /// What it was on all other axes.
    pub other: Option<&'a str>,
    /// Whether it ran to the target.
    pub is_whole: bool,
    /// Whether it knows the epochs to the target.
    pub has_epochs: bool,
    /// Whether it knows the noise.
    pub has_noise: bool,
    /// Seconds that it took.
    pub seconds: f64,
}

/// A run that was taken.
///
/// ```
/// # use scavsim_search::face as scavsim;
/// use scavsim::{History, Past};
///
/// let none = History::default();
/// let mut past = Past::new(&none, &[]);
/// past.take_own(|_| true);
/// assert!(past.into_taken().is_empty()); // there was nothing to take
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UsedPastRun {
    /// Name of the workload that the run was of.
    pub workload: String,
    /// Workers that it ran with.
    pub workers: Option<u32>,
    /// Global batch.
    pub batch: Option<u32>,
    /// What it was and cost.
    pub price: RunPrice,
}

impl<'a> Past<'a> {
    /// Runs of the workload itself, and those of all workloads that a service has seen, which may hold it too.
    pub fn new(own: &'a History, stored: &'a [History]) -> Self {
        Past {
            own,
            stored,
            taken: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Name of the workload itself.
    pub fn own_name(&self) -> &'a str {
        &self.own.workload
    }

    /// Names of all stored workloads.
    pub fn stored_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.stored.iter().map(|history| &*history.workload)
    }

    /// Names of the stored workloads that are other jobs: neither the workload itself nor another input of its program.
    pub fn other_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let own = self.own;
        let is_other = move |history: &&History| {
            let is_same_program = own.program.is_some() && history.program == own.program;
            history.workload != own.workload && !is_same_program
        };
        let others = self.stored.iter().filter(is_other);
        others.map(|history| &*history.workload)
    }

    /// Parameters of a stored workload's model, where they are stated: what it is, which nothing was run for.
    pub fn parameters(&self, workload: &str) -> Option<f64> {
        let history = self.stored.iter().find(|h| h.workload == workload)?;
        history.parameters
    }

    /// What there is of the workload itself.
    pub fn offers(&self) -> impl Iterator<Item = Offer<'a>> + use<'a> {
        self.own.runs.iter().map(offer)
    }

    /// Takes those runs of the workload itself that are `wanted`.
    pub fn take_own(&mut self, wanted: impl Fn(&Offer<'_>) -> bool) -> History {
        self.take_runs(self.own, wanted)
    }

    /// Takes those runs of a stored workload that are `wanted`; `None` if it is not stored.
    pub fn take_stored(
        &mut self,
        workload: &str,
        wanted: impl Fn(&Offer<'_>) -> bool,
    ) -> Option<History> {
        let history = self.stored.iter().find(|h| h.workload == workload)?;
        Some(self.take_runs(history, wanted))
    }

    /// All that was taken, each run once.
    pub fn into_taken(self) -> Vec<UsedPastRun> {
        self.taken
    }

    fn take_runs(&mut self, history: &'a History, wanted: impl Fn(&Offer<'_>) -> bool) -> History {
        let runs: Vec<PastRun> = (history.runs.iter())
            .filter(|run| wanted(&offer(run)))
            .cloned()
            .collect();
        let known = self.numbers.iter().position(|n| n.0 == history.workload);
        let known = known.unwrap_or_else(|| {
            self.numbers.push((&history.workload, Vec::new()));
            self.numbers.len() - 1
        });
        let numbers = &mut self.numbers[known].1;
        for run in &runs {
            let number = run.price.number;
            if numbers.len() <= number {
                numbers.resize(number + 1, false);
            }
            if !std::mem::replace(&mut numbers[number], true) {
                self.taken.push(UsedPastRun {
                    workload: history.workload.clone(),
                    workers: run.workers,
                    batch: run.batch,
                    price: run.price.clone(),
                });
            }
        }
        History {
            workload: history.workload.clone(),
            program: history.program.clone(),
            parameters: history.parameters,
            runs,
        }
    }
}

fn offer(run: &PastRun) -> Offer<'_> {
    Offer {
        vm: run.vm.as_deref(),
        workers: run.workers,
        batch: run.batch,
        other: run.other.as_deref(),
        is_whole: run.price.is_whole,
        has_epochs: run.epochs.is_some(),
        has_noise: run.noise_normalised.is_some(),
        seconds: run.price.seconds,
    }
}

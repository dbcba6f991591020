use super::{Observation, Stop};
use scavsim_base::units::SimTime;
use scavsim_data::usage::Usage;
use scavsim_sim::job::{SketchResult, Totals};
use scavsim_sim::training::UnfinishedJob;
use scavsim_sim::training::log::Entry;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    Steps(u64),
    /// This share of a run to the target.
    Share(f64),
    /// A run of its own, from scratch to the target.
    Whole,
    /// A run to the target, given up at this moment.
    WholeUntil(SimTime),
    Until(SimTime),
    /// So many passes over every layer by itself on one VM.
    Profile(u64),
    /// A cheap version of a run, which has this share of it.
    Fidelity(f64),
}

pub fn no_fidelities() -> Stop {
    Stop::Failed("there are no cheap versions of runs here".to_owned())
}

pub fn no_layers() -> Stop {
    Stop::Failed("there are no layers to profile here".to_owned())
}

/// A job on an environment, in one replica: what an experiment asks of a testbed.
pub trait JobTrial: Send {
    /// Back to time zero, in `replica`.
    fn restart(&mut self, replica: u64);

    /// Remembers this state of the job under a number, for [`back_to`](Self::back_to).
    fn mark(&mut self, number: usize);

    /// Back to the state that was marked last under this number, in the same replica.
    fn back_to(&mut self, number: usize);

    fn now(&self) -> SimTime;

    /// The configuration that the job is in; `None` before the first.
    fn current(&self) -> Option<usize>;

    /// Holds the VMs of a configuration, ready to train.
    fn move_to(&mut self, configuration: usize) -> Result<(), Stop>;

    /// Trains until the noise has settled, at most as many steps as a run to the target takes.
    fn cold_start(&mut self, configuration: usize, steps: u64) -> Result<(), Stop>;

    /// Trains for a while and looks, at most as long as a run to the target takes. That the target is reached
    /// meanwhile ends no search: it is what net accounting ends at.
    fn probe(&mut self, configuration: usize, length: Length) -> Result<Observation, Stop>;

    /// Runs `choice` to the target after whatever was searched before.
    fn run_to_target(&mut self, choice: usize) -> Result<Timeline, UnfinishedJob>;

    /// The last run of `choice` since a restart, in outline, on the same lives of VMs; `None` where runs have no outline.
    fn sketch_again(&mut self, choice: usize) -> Option<SketchResult>;

    /// A run of `choice` in outline, in a replica and with lives of its own.
    fn sketch(&mut self, choice: usize, replica: u64) -> Option<SketchResult>;

    /// What was used when everything is released at `end`, which must not lie before the end of the search.
    fn usage_until(&self, end: SimTime, usage: &mut Usage);

    /// What was used until the target was reached, which may be before the end of the search: that of the last run.
    fn usage_until_target(&self, line: &Timeline, usage: &mut Usage);

    /// Notes what happens from the next restart on: everything of the job, and of single worker-steps
    /// the first `most` entries. Its runs then end at the target.
    fn watch(&mut self, most: u64);

    /// What was noted of a job that ended at `end`; nothing is noted any more.
    fn noted_until(&mut self, end: SimTime) -> Vec<Entry>;
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeline {
    pub choice: usize,
    /// When the chosen configuration began to train towards the target; zero without search.
    pub search_end: SimTime,
    /// When the target was reached, search steps counting as progress: perhaps before the search was over.
    pub net_end: SimTime,
    /// When it would have been reached if search steps earned nothing.
    pub gross_end: SimTime,
    /// The configuration in which the target was reached during the search, where it was.
    pub reached: Option<usize>,
    /// Configuration and seconds of the cold start, if there was one.
    pub cold_start: Option<(usize, f64)>,
    /// VMs that the provider took away until the target.
    pub lost_vms: u32,
    /// What came of its stretches, where workers do more than step together on VMs that stay.
    pub totals: Option<Totals>,
}

impl Timeline {
    /// A run that began at the end of the search, if there was one, and came to the target at `end`.
    pub fn new(choice: usize, search_end: SimTime, end: SimTime, lost_vms: u32) -> Timeline {
        Timeline {
            choice,
            search_end,
            net_end: end,
            gross_end: end,
            reached: None,
            cold_start: None,
            lost_vms,
            totals: None,
        }
    }
}

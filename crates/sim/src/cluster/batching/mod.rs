//! Unequal workers in one cluster, with a law of their step time ([`WorkerLaw`]), and policies that set their batches.
//! Batches are real numbers: a fraction stands for its mean over the steps.

pub mod controller;
pub mod dynamic;
pub mod group;
pub mod job;
pub mod omnilearn;
pub mod proportional;
pub mod registry;
pub mod schedule;
pub mod shares;
pub mod smoothing;
pub mod uniform;

pub use controller::Controller;
pub use group::{Bounds, WorkerGroup};
pub use job::{ImpossibleJob, Outcome, Plan, UnequalJob, Worker};
pub use registry::Batching;
pub use scavsim_data::workload::law::{Speed, WorkerLaw};
pub use schedule::{Level, Schedule};
pub use smoothing::Smoothing;

/// Sets the batches of unequal workers. It sees sizes, bounds and step times, never the law.
pub trait BatchPolicy {
    fn start(&self, group: &WorkerGroup, batches: &mut [f64]);

    /// How often the policy looks at step times and how it averages them; `None` for one that never looks.
    fn looks(&self) -> Option<ObservationSchedule> {
        None
    }

    /// Wanted batches into `next`, from averaged step times `seen_s`; false where those in `batches` should stay.
    fn adjust(
        &self,
        _: &WorkerGroup,
        _seen_s: &[f64],
        _batches: &[f64],
        _next: &mut [f64],
    ) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservationSchedule {
    /// Steps from one look to the next.
    pub every: u64,
    pub smoothing: Smoothing,
}

//! Parallel plans: one model partitioned over GPUs by data, pipeline and tensor parallelism, from profiles of its layers and
//! links. Gives seconds of a step and their parts, the memory of each stage, or why the plan does not fit. It is independent
//! of prices and strategies.

pub mod architecture;
pub mod gpu;
pub mod law;
pub mod library;
pub mod links;
pub mod measured_plans;
pub mod memory;
pub mod misfit;
pub mod plan;
pub mod prepared;
pub mod profile;
pub mod runtime;
pub mod schedule;
pub mod sharing;
pub mod tuning;

pub use architecture::{Architecture, ModelTable};
pub use links::{Links, Scope};
pub use misfit::Misfit;
pub use plan::{NodeKind, ParallelPlan, Replica, StageOfPlan};
pub use prepared::{PathScratch, PreparedPlan, Room, Span, StepBreakdown, StepOutline, Work};
pub use profile::{LayerProfile, StageCuts};
pub use runtime::{Activations, Runtime};
pub use schedule::Schedule;
pub use sharing::ReplicaSharing;
pub use tuning::TrainingMethod;

//! Parallel plans: one model cut over GPUs by data, pipeline and tensor parallelism, from profiles of its layers.
//!
//! In: seconds per layer on a GPU, what its activations and parameters weigh, links, a plan. Out: seconds of a step and
//! where they go, the memory of each stage, or the reason why the plan does not fit. It knows no price and no strategy.
//!
//! - [`profile`]: what a layer costs; [`links`]: what sending does; `library`: those that are embedded.
//! - [`architecture`]: what a model is made of; [`law`]: what its layers cost where nobody profiled them.
//! - [`gpu`]: GPUs by their data sheets.
//! - [`plan`]: which GPUs hold which layers; [`sharing`]: what replicas share; [`misfit`]: why that cannot be.
//! - [`schedule`]: in which order a stage computes its micro-batches.
//! - [`runtime`]: what the training framework adds.
//! - [`measured_plans`]: plans that others ran.
//! - [`memory`]: what a stage holds. [`prepared`]: a plan with all that does not depend on luck.

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

pub use architecture::{Architecture, ModelTable};
pub use links::{Links, Scope};
pub use misfit::Misfit;
pub use plan::{NodeKind, ParallelPlan, Replica, StageOfPlan};
pub use prepared::{PathScratch, PreparedPlan, Room, Span, StepBreakdown, StepOutline, Work};
pub use profile::{LayerProfile, StageCuts};
pub use runtime::{Activations, Runtime};
pub use schedule::Schedule;
pub use sharing::ReplicaSharing;

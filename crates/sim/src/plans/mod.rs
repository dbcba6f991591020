//! Parallel plans as configurations: all legal ways to cut a model over rented GPUs, and a training job on one of them.
//!
//! In: degrees, VM types and markets to choose from; how VMs are lost. Out: a space of plans that fit, with the holes and
//! their reasons; when a job on one of them comes to its target, which VMs it held until then and what for. It knows no
//! price and no strategy.
//!
//! - [`axes`]: what a plan may be, and all that are legal, one after the other.
//! - [`form`]: what of the model plans keep, and what replicas hold in parts.
//! - [`feasible_plan`]: a plan that fits, in figures.
//! - [`choices`]: those that fit into memory, as configurations; `space`: their axes. [`holes`]: the others.
//! - [`plan_metrics`]: what a plan does with its GPUs, as runs are published; `flops`: what of it the model needs.
//! - [`terms`]: on which terms a job runs.
//! - [`pace`]: the steps of a plan in one replica, in both fidelities.
//! - [`formation`]: what of a plan trains, and what of its state is left. [`reaction`]: what a job does when VMs go and come.
//!   [`forecast`]: how many GPUs there will be. [`failures`]: of machines that nobody takes away. [`recovery_terms`]: what is saved.
//! - [`plan_job`]: a job through all losses.
//! - [`outlook`]: how long that takes, by formula.
//! - [`timeline`]: one step as entries of a trace.

pub mod axes;
pub mod choices;
pub mod failures;
pub mod fastest;
pub mod feasible_plan;
mod flops;
pub mod forecast;
pub mod form;
pub mod formation;
pub mod holes;
pub mod outlook;
pub mod pace;
pub mod plan_job;
pub mod plan_metrics;
pub mod reaction;
pub mod recovery_terms;
mod space;
pub mod terms;
pub mod timeline;

pub use axes::{Axes, Draft, Offer};
pub use choices::Choices;
pub use failures::Failures;
pub use feasible_plan::{FeasiblePlan, Parts, Target};
pub use flops::Flops;
pub use forecast::Forecast;
pub use form::{Form, PreparedForm};
pub use formation::Formation;
pub use holes::Holes;
pub use pace::{PlanEffects, PlanPace, Spread, TrialEffects};
pub use plan_job::PlanJob;
pub use plan_metrics::PlanMetrics;
pub use reaction::{Aim, Reaction, ReactionCosts, ReactionTerms};
pub use recovery_terms::RecoveryTerms;
pub use terms::Terms;

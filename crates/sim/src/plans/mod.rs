//! Parallel plans as configurations: all legal ways to cut a model over rented GPUs, those that do not fit with their
//! reasons, and a training job on one: when it comes to its target, which VMs it held and what for. It knows no price and no
//! strategy.

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

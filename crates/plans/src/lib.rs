//! Parallel plans as configurations: all legal ways to cut a model over rented GPUs, those that do not fit with their
//! reasons, and a training job on one: when it comes to its target, which VMs it held and what for. It knows no price and no
//! strategy.

pub mod axes;
pub mod choices;
mod environment;
pub mod failures;
pub mod feasible_plan;
pub mod forecast;
pub mod form;
pub mod formation;
pub mod holes;
pub mod outlook;
pub mod pace;
pub mod plan_job;
mod plan_metrics;
pub mod reaction;
mod space;
pub mod subject;
pub mod terms;
#[cfg(test)]
mod tests;
pub mod timeline;

pub use axes::{Axes, Draft, Offer};
pub use choices::Choices;
pub use failures::Failures;
pub use feasible_plan::{FastestOn, FeasiblePlan, Flops, Parts, Target};
pub use forecast::Forecast;
pub use form::{Form, PreparedForm};
pub use formation::Formation;
pub use holes::Holes;
pub use pace::{PlanEffects, PlanPace, Spread, TrialEffects};
pub use plan_job::PlanJob;
pub use reaction::{Aim, Reaction, ReactionCosts, ReactionTerms};
pub use terms::Terms;

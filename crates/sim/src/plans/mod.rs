//! Parallel plans as configurations: all legal ways to cut a model over rented GPUs, and a training job on one of them.
//!
//! In: degrees, VM types and markets to choose from; how VMs are lost. Out: a space of plans that fit, with the holes and
//! their reasons; when a job on one of them comes to its target, which VMs it held until then and what for. It knows no
//! price and no strategy.
//!
//! - [`axes`]: what a plan may be, and all that are legal, one after the other.
//! - [`form`]: what of the model plans keep, and what replicas hold in parts.
//! - [`way`]: a plan that fits, in figures.
//! - [`choices`]: those that fit into memory, as configurations; `space`: their axes. [`holes`]: the others.
//! - [`figures`]: what a plan does with its GPUs, as runs are published; `flops`: what of it the model needs.
//! - [`terms`]: on which terms a job runs.
//! - [`pace`]: the steps of a plan in one replica, in both fidelities.
//! - [`formation`]: what of a plan trains, and what of its state is left. [`reaction`]: what a job does when VMs go and come.
//!   [`forecast`]: how many GPUs there will be. [`failures`]: of machines that nobody takes away. [`upkeep`]: what is saved.
//! - [`life`]: a job through all losses.
//! - [`outlook`]: how long that takes, by formula.
//! - [`timeline`]: one step as entries of a trace.

pub mod axes;
pub mod choices;
pub mod failures;
pub mod fastest;
pub mod figures;
mod flops;
pub mod forecast;
pub mod form;
pub mod formation;
pub mod holes;
pub mod life;
pub mod outlook;
pub mod pace;
pub mod reaction;
mod space;
pub mod terms;
pub mod timeline;
pub mod upkeep;
pub mod way;

pub use axes::{Axes, Draft, Offer};
pub use choices::Choices;
pub use failures::Failures;
pub use figures::PlanFigures;
pub use flops::Flops;
pub use forecast::Forecast;
pub use form::{Form, Formed};
pub use formation::Formation;
pub use holes::Holes;
pub use life::PlanJob;
pub use pace::{PlanLuck, PlanPace, Spread, TrialLuck};
pub use reaction::{Aim, Reacting, Reaction, ReactionCosts};
pub use terms::Terms;
pub use upkeep::Upkeep;
pub use way::{Parts, Target, Way};

//! How long rented VMs live before the provider takes them away.
//!
//! In: tables of `data/clouds/lifetimes/`, or the figures of a law. Out: lives of single VMs, in hours from
//! when they run, or losses that take several at once. Pure mathematics; nothing is allocated when drawing.
//!
//! - [`lifetime`]: what a law has to tell, and a law under the provider's cap.
//! - Laws of a VM by itself: [`exponential`], [`bathtub`], [`empirical_law`].
//! - [`first_of`]: the first loss among equal VMs.
//! - Losses of several VMs: [`trace`] replays them, [`batch`] draws them; [`mod@share`] is how many of them are ours.
//! - [`registry`]: the models by their names, from `data/clouds/lifetimes/models.csv`.

pub mod batch;
pub mod bathtub;
pub mod empirical_law;
pub mod exponential;
pub mod first_of;
pub mod lifetime;
pub mod registry;
pub mod share;
pub mod trace;

pub use batch::{Batch, Event};
pub use bathtub::Bathtub;
pub use empirical_law::EmpiricalLaw;
pub use exponential::Exponential;
pub use first_of::FirstOf;
pub use lifetime::{Law, Lifetime};
pub use registry::{Kind, Model, UnknownModel, laws};
pub use share::share;
pub use trace::{Change, Cursor, Trace, TraceReplay};

//! How long rented VMs live: laws of single VMs, in hours from their start, and losses of several at once, from
//! `data/clouds/lifetimes/`. Nothing is allocated when drawing.

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

//! When a job saves its state, and how long it takes with losses, from the life of a VM
//! ([`Lifetime`](scavsim_data::cloud::lifetimes::Lifetime)) and the cost of a checkpoint and a restart. All in hours. Pure
//! mathematics.

pub mod choice;
pub mod drawn;
pub mod dynamic;
pub mod policy;
pub mod run_time;
pub mod since_start;
pub mod young_daly;

pub use choice::between_losses_h;
pub use dynamic::{DynamicSchedule, LossOdds, ScheduleError, Task};
pub use policy::{Periodic, Policy};
pub use since_start::SinceStart;
pub use young_daly::YoungDaly;

//! Delays from `data/clouds/delays/`: starts of VMs, workers that join again, checkpoints; each a mean with a spread.

pub mod checkpoint_write;
pub mod delay;
pub mod restart;
pub mod startup;

pub use checkpoint_write::CheckpointWrite;
pub use delay::Delay;
pub use restart::Restart;
pub use startup::Startup;

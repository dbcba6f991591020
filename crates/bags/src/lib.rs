//! Bags of independent jobs on transient VMs: some jobs side by side, each on some VMs, until enough are done. Gives when the
//! bag is done, which VMs were held until then and what for. It knows no price and no strategy.

mod environment;
pub mod formula;
pub mod job;
pub mod logged_bags;
pub mod notice;
mod rental;
pub mod reuse;
mod run;
pub mod subject;
pub mod terms;

pub use job::{BagJob, BagRunSpec};
pub use notice::Notice;
pub use reuse::Reuse;
pub use terms::{Bag, BagChoices, BagSize, Loss, Surrogate};

//! Bags of independent jobs on transient VMs: some jobs side by side, each on some VMs, until enough are done. Gives when the
//! bag is done, which VMs were held until then and what for. It knows no price and no strategy.

pub mod bag_environment;
mod environment;
pub mod formula;
pub mod logged_bags;
pub mod notice;
mod rental;
pub mod reuse;
pub mod run;
pub mod slots;
pub mod subject;
pub mod terms;
pub mod vms;

pub use notice::Notice;
pub use reuse::Reuse;
pub use run::BagEnd;
pub use slots::{BagJob, BagRunSpec, Run};
pub use terms::{Bag, BagChoices, BagSize, Loss, Surrogate};

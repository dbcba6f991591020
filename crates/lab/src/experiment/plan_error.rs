//! Why a scenario cannot be planned.

use scavsim_data::pricing::NoPrice;
use scavsim_search::search::Unusable;

/// Why a scenario that was read without complaint cannot be planned.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PlanError {
    /// A configuration outside the measured hull.
    #[error(transparent)]
    OutsideHull(#[from] scavsim_data::workload::OutsideHull),
    /// A VM type that a policy has no price for.
    #[error("pricing policy `{0}`: {1}")]
    NoPrice(String, NoPrice),
    /// A strategy that lacks what it needs.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// A strategy that does not exist.
    #[error("unknown strategy `{0}`")]
    UnknownStrategy(String),
}

use scavsim_data::pricing::NoPrice;
use scavsim_search::search::UnusableStrategy;

/// Why a scenario that was read without complaint cannot be planned.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    OutsideHull(#[from] scavsim_data::workload::OutsideHull),
    #[error("pricing policy `{0}`: {1}")]
    NoPrice(String, NoPrice),
    #[error(transparent)]
    Unusable(#[from] UnusableStrategy),
    #[error("policies decide during a run; there is nothing to search")]
    NothingToSearch,
    #[error("unknown strategy `{0}`")]
    UnknownStrategy(String),
}

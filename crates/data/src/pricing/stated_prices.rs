//! Prices that whoever measured has stated for each run, instead of a price per VM.

use std::fmt::Debug;
use std::sync::Arc;

pub const AS_MEASURED: &str = "as-measured";

/// What runs cost by themselves. Usage names a run where it else names a VM type.
pub trait StatedPrices: Debug + Send + Sync {
    fn usd(&self, run: u16, seconds: f64) -> f64;
}

#[derive(Debug, Clone)]
pub(super) struct SharedStatedPrices(pub(super) Arc<dyn StatedPrices>);

impl PartialEq for SharedStatedPrices {
    fn eq(&self, other: &SharedStatedPrices) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

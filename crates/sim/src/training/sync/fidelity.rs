/// Standard deviations from its mean beyond which many updates at once are not believed, and are simulated event by event.
pub const MOST_DEVIATIONS: f64 = 10.0;

/// Why a protocol cannot be simulated in `fast`. Every one can in `event`.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// Steps depend on each other.
    #[error(
        "under `{protocol}` what a worker does next depends on the others' progress, and here on too much of it to \
         measure its pace"
    )]
    Entangled { protocol: &'static str },
    /// The protocol says that it can be fast, but not how.
    #[error("no formula gives the time of many updates under `{protocol}`")]
    NoFormula { protocol: &'static str },
    /// The order statistic of unequal machines is not computed.
    #[error("`{protocol}` on machines that differ has no moments of a step in closed form")]
    UnequalMachines { protocol: &'static str },
    /// Updates queue at the parameter servers.
    #[error(
        "updates wait for the parameter servers, {:.2} % of a worker's time, and workers fall out of step too slowly \
         to measure their pace", 100.0 * waiting
    )]
    Contended {
        /// Fraction of a worker's time spent in the queue, an estimate.
        waiting: f64,
    },
    /// Many updates at once came out as no run of single events would.
    #[error("a stretch left its mean by more than {MOST_DEVIATIONS} standard deviations")]
    LeftMean,
    /// Workers still step nearly together, as at the start.
    #[error("{updates} updates are too few for workers to fall out of step")]
    InStep {
        /// Updates asked for.
        updates: u64,
    },
}

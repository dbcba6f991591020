//! What is wrong with the keys of a policy.

use scavsim_read::input::checked::MOST_MACHINES;

/// What keys need that tell VM types apart.
pub(super) const BY_TYPE: &str = "a price that depends on the VM type";

/// What is wrong with the keys of a policy. Keys stand in it as they are told, in backquotes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WrongPolicy {
    /// Keys of which some are missing.
    #[error("{0} go together")]
    GoTogether(String),
    /// A key without the other that it goes with.
    #[error("{0} goes with {1}")]
    GoesWith(&'static str, &'static str),
    /// A key that stands beside those that it replaces.
    #[error("{0} takes the place of {1}")]
    TakesPlace(&'static str, &'static str),
    /// A key that needs something which the policy has not.
    #[error("{0} needs {1}")]
    Needs(&'static str, &'static str),
    /// Keys that are of no use where VMs are not what is paid for.
    #[error("{0} need a price per VM")]
    NeedPerVm(&'static str),
    /// A table outside of a scenario, which has no folder to read it from.
    #[error("{0} is read in a scenario, from the folder of its file")]
    OutsideScenario(&'static str),
    /// A list without values, and what to give.
    #[error("{0} is empty: give {1}")]
    Empty(&'static str, &'static str),
    /// No base price, and the keys that give one.
    #[error("there is no price: give {0}")]
    NoBase(String),
    /// Two base prices.
    #[error("give only one of {0} and {1}")]
    TwoBases(&'static str, &'static str),
    /// Two discounts.
    #[error("{0} and {1} exclude each other: one discount per unit of use")]
    TwoDiscounts(&'static str, &'static str),
    /// Resources that are all free.
    #[error("`usd_per_vcpu_hour`, `usd_per_gib_hour` and `usd_per_gpu_hour` are all 0")]
    AllFree,
    /// The spot prices of spot VMs, beside other terms than on demand.
    #[error(
        "`as_rented` takes the spot price of spot VMs: `catalogue` is that of the others, \"on-demand\""
    )]
    AsRented,
    /// Days of other providers than the regions.
    #[error("`dates` has the same providers as `regions`")]
    OtherProviders,
    /// A provider that there is not.
    #[error("`regions`: `{unknown}` is not one of the providers {known}")]
    UnknownProvider {
        /// Name that is no provider's.
        unknown: String,
        /// Providers that there are.
        known: String,
    },
    /// More parameter servers than can be simulated.
    #[error("{0} billed parameter servers; at most {MOST_MACHINES}")]
    ManyServers(u32),
    /// Steps that begin after the job, at this hour.
    #[error("{0} begins at hour {1}: the first step is at hour 0")]
    LateSteps(&'static str, f64),
    /// A step that is not behind the one before.
    #[error("{key}: hour {from_h} comes behind hour {before_h}: hours must rise")]
    FallingSteps {
        /// The key of the steps.
        key: &'static str,
        /// Hour of the step.
        from_h: f64,
        /// Hour of the step before.
        before_h: f64,
    },
}

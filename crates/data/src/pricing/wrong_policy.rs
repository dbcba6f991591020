use scavsim_read::input::checked::MOST_MACHINES;

/// What keys need that tell VM types apart.
pub(super) const BY_TYPE: &str = "a price that depends on the VM type";

/// What is wrong with the keys of a policy. Keys stand in it as they are told, in backquotes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WrongPolicy {
    #[error("{0} go together")]
    GoTogether(String),
    #[error("{0} goes with {1}")]
    GoesWith(&'static str, &'static str),
    #[error("{0} takes the place of {1}")]
    TakesPlace(&'static str, &'static str),
    #[error("{0} needs {1}")]
    Needs(&'static str, &'static str),
    /// Keys that are of no use where VMs are not what is paid for.
    #[error("{0} need a price per VM")]
    NeedPerVm(&'static str),
    #[error("{0} is read in a scenario, from the folder of its file")]
    OutsideScenario(&'static str),
    #[error("{0} is empty: give {1}")]
    Empty(&'static str, &'static str),
    #[error("there is no price: give {0}")]
    NoBase(String),
    #[error("give only one of {0} and {1}")]
    TwoBases(&'static str, &'static str),
    #[error("{0} and {1} exclude each other: one discount per unit of use")]
    TwoDiscounts(&'static str, &'static str),
    #[error("`usd_per_vcpu_hour`, `usd_per_gib_hour` and `usd_per_gpu_hour` are all 0")]
    AllFree,
    #[error(
        "`as_rented` takes the spot price of spot VMs: `catalogue` is that of the others, \"on-demand\""
    )]
    AsRented,
    #[error("`dates` has the same providers as `regions`")]
    OtherProviders,
    #[error("`regions`: `{unknown}` is not one of the providers {known}")]
    UnknownProvider { unknown: String, known: String },
    #[error("{0} billed parameter servers; at most {MOST_MACHINES}")]
    ManyServers(u32),
    #[error("{0} begins at hour {1}: the first step is at hour 0")]
    LateSteps(&'static str, f64),
    #[error("{key}: hour {from_h} comes behind hour {before_h}: hours must rise")]
    FallingSteps {
        key: &'static str,
        from_h: f64,
        before_h: f64,
    },
}

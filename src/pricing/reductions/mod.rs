//! What makes a base price less: spot, commitments and sustained use.
//!
//! In: the form of a policy. Out: its [`Reductions`], or what is wrong with them. One file per discount; a
//! new one is a file here, its keys in [`PolicyFile`], and a line in [`RULES`].
//!
//! - [`spot_ratio`], [`commitment_discount`]: a fraction of the price.
//! - [`spot_series`]: a spot price that changes while a job runs.
//! - [`sustained_use`]: a discount that grows with use.

pub mod commitment_discount;
pub mod spot_ratio;
pub mod spot_series;
pub mod sustained_use;

use super::file::PolicyFile;
use crate::cloud::Market;
use spot_series::SpotSeries;
use sustained_use::SustainedUse;

/// What a policy takes off its base price.
#[derive(Debug, Clone)]
pub struct Reductions {
    /// What is left after a spot ratio or a commitment.
    pub factor: f64,
    /// What is left for VMs that are rented on demand beside spot VMs.
    pub on_demand_factor: f64,
    /// A spot ratio that changes during the job.
    pub spot_series: Option<SpotSeries>,
    /// Discount on pooled VM-hours.
    pub sustained_use: Option<SustainedUse>,
    /// Whether a VM that is taken away in its first hour costs nothing.
    pub free_first_hour_if_revoked: bool,
}

impl Reductions {
    /// Nothing is taken off.
    pub const NONE: Reductions = Reductions {
        factor: 1.0,
        on_demand_factor: 1.0,
        spot_series: None,
        sustained_use: None,
        free_first_hour_if_revoked: false,
    };
}

/// A discount on the base price.
pub struct Rule {
    /// Its key.
    pub key: &'static str,
    /// Whether it is for spot VMs.
    is_spot: bool,
    /// Reads it; `None` where its key is not given.
    read: fn(&PolicyFile) -> Option<Result<Reductions, String>>,
}

/// All discounts on a base price.
pub const RULES: &[Rule] = &[
    spot_ratio::RULE,
    spot_series::RULE,
    commitment_discount::RULE,
    sustained_use::RULE,
];

/// The reductions of a base price that is listed in `market`. A unit of use gets one discount, and
/// none on a spot or commitment price.
///
/// # Errors
/// A sentence about keys that do not go together, or a discount that is none.
pub fn read(file: &PolicyFile, market: Market) -> Result<Reductions, String> {
    let listed = match market {
        Market::OnDemand => None,
        Market::Spot => Some("a spot price"),
        Market::Commitment1y | Market::Commitment3y => Some("a commitment price"),
    };
    let found: Vec<(&Rule, Result<Reductions, String>)> = (RULES.iter())
        .filter_map(|rule| Some((rule, (rule.read)(file)?)))
        .collect();
    let given: Vec<&str> = (listed.into_iter())
        .chain(found.iter().map(|(rule, _)| rule.key))
        .collect();
    if let [one, other, ..] = given[..] {
        return Err(format!(
            "{one} and {other} exclude each other: one discount per unit of use"
        ));
    }
    let is_spot = market == Market::Spot
        || file.as_rented
        || file.spot_usd_per_hour_of.is_some()
        || found.iter().any(|(rule, _)| rule.is_spot);
    if file.free_first_hour_if_revoked && !is_spot {
        return Err(
            "`free_first_hour_if_revoked` needs a spot price: only spot VMs are taken away"
                .to_owned(),
        );
    }
    let reductions = found.into_iter().next().map(|(_, reductions)| reductions);
    Ok(Reductions {
        free_first_hour_if_revoked: file.free_first_hour_if_revoked,
        ..reductions.unwrap_or(Ok(Reductions::NONE))?
    })
}

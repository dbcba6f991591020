//! What makes a base price less: spot, commitments and sustained use.

use super::file::PolicyFile;
use super::spot_series::SpotSeries;
use super::sustained_use::SustainedUse;
use crate::cloud::Market;

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

/// The reductions of a base price that is listed in `market`. A unit of use gets one discount, and
/// none on a spot or commitment price.
pub fn read(file: &PolicyFile, market: Market) -> Result<Reductions, String> {
    let is_commitment = matches!(market, Market::Commitment1y | Market::Commitment3y);
    let given = [
        ("a spot price", market == Market::Spot),
        ("a commitment price", is_commitment),
        ("`spot_ratio`", file.spot_ratio.is_some()),
        ("`spot_series`", file.spot_series.is_some()),
        ("`commitment_discount`", file.commitment_discount.is_some()),
        ("`sustained_use`", file.sustained_use.is_some()),
    ];
    let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
    if let [one, other, ..] = given[..] {
        return Err(format!(
            "{one} and {other} exclude each other: one discount per unit of use"
        ));
    }
    let factor = match (file.spot_ratio, file.commitment_discount) {
        (Some(ratio), _) => ratio.get(),
        (_, Some(discount)) => 1.0 - discount.get(),
        _ => 1.0,
    };
    let sustained =
        match &file.sustained_use {
            None => None,
            Some(bands) => {
                let bands = SustainedUse::new(bands.iter().map(|b| b.get()).collect());
                Some(bands.ok_or(
                    "`sustained_use` is empty: give the fraction of each part of the month",
                )?)
            }
        };
    let is_spot = market == Market::Spot
        || file.as_rented
        || file.spot_usd_per_hour_of.is_some()
        || file.spot_ratio.is_some()
        || file.spot_series.is_some();
    if file.free_first_hour_if_revoked && !is_spot {
        return Err(
            "`free_first_hour_if_revoked` needs a spot price: only spot VMs are taken away"
                .to_owned(),
        );
    }
    Ok(Reductions {
        factor,
        on_demand_factor: if file.spot_ratio.is_some() {
            1.0
        } else {
            factor
        },
        spot_series: (file.spot_series.as_deref())
            .map(SpotSeries::new)
            .transpose()?,
        sustained_use: sustained,
        free_first_hour_if_revoked: file.free_first_hour_if_revoked,
    })
}

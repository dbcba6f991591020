//! Charges for a job beside its VMs: data that leave the cloud, and data that are kept.

use super::file::PolicyFile;
use super::sustained_use::MONTH_H;
use crate::checked::NonNegative;

/// What a job costs beside its VMs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JobCharges {
    /// USD once per job.
    pub egress_usd: f64,
    /// USD per hour of the job.
    pub storage_usd_per_hour: f64,
}

/// The charges of a policy; none by default.
pub fn read(file: &PolicyFile) -> Result<JobCharges, String> {
    let product =
        |names: [&str; 2], quantity: Option<NonNegative>, price: Option<NonNegative>| match (
            quantity, price,
        ) {
            (Some(quantity), Some(price)) => Ok(quantity.get() * price.get()),
            (None, None) => Ok(0.0),
            _ => Err(format!("`{}` and `{}` go together", names[0], names[1])),
        };
    let egress = product(
        ["egress_gib", "usd_per_egress_gib"],
        file.egress_gib,
        file.usd_per_egress_gib,
    )?;
    let storage = product(
        ["storage_gib", "usd_per_storage_gib_month"],
        file.storage_gib,
        file.usd_per_storage_gib_month,
    )?;
    Ok(JobCharges {
        egress_usd: egress,
        storage_usd_per_hour: storage / MONTH_H,
    })
}

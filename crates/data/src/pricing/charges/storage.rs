//! Data that are kept while the job lasts.

use super::charge::{Amount, Charge};
use scavsim_base::units::MONTH_H;

const GIB: &str = "storage_gib";
const USD: &str = "usd_per_storage_gib_month";

/// `storage_gib`, `usd_per_storage_gib_month`
pub const CHARGE: Charge = Charge {
    name: "storage",
    keys: &[
        (
            GIB,
            "GiB that are kept while the job lasts; with `usd_per_storage_gib_month`.",
        ),
        (USD, "USD per GiB kept for a month of 730 hours."),
    ],
    read: |keys| {
        Ok(Amount {
            usd_per_hour: keys.product(GIB, USD)? / MONTH_H,
            ..Amount::default()
        })
    },
};

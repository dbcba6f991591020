//! Data that leave the cloud, once per job.

use super::charge::{Amount, Charge};

const GIB: &str = "egress_gib";
const USD: &str = "usd_per_egress_gib";

/// `egress_gib`, `usd_per_egress_gib`
pub const CHARGE: Charge = Charge {
    name: "egress",
    keys: &[
        (
            GIB,
            "GiB that leave the cloud per job; with `usd_per_egress_gib`.",
        ),
        (USD, "USD per GiB that leaves the cloud."),
    ],
    read: |keys| {
        Ok(Amount {
            usd_at_end: keys.product(GIB, USD)?,
            ..Amount::default()
        })
    },
};

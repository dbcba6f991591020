//! Data that leave the cloud, once per job.

use super::charge::{Amount, Charge};
use scavsim_base::Declaration;

const GIB: &str = "egress_gib";
const USD: &str = "usd_per_egress_gib";

pub const CHARGE: Charge = Charge {
    declaration: Declaration {
        name: "egress",
        what: "Charges data that leave the cloud, once per job, when it ends.",
        formula: "`egress_gib` × `usd_per_egress_gib`",
        source: "bills of all providers; the papers publish no quantity",
        example: "pricing.define.mine = { usd_per_vm_hour = 1, egress_gib = 10, usd_per_egress_gib = 0.09 }",
    },
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

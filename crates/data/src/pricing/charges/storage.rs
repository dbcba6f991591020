//! Data that are kept while the job lasts.

use super::charge::{Amount, Charge};
use scavsim_base::Declaration;
use scavsim_base::units::MONTH_H;

const GIB: &str = "storage_gib";
const USD: &str = "usd_per_storage_gib_month";

pub const CHARGE: Charge = Charge {
    declaration: Declaration {
        name: "storage",
        what: "Charges data that are kept while the job lasts, from the first VM to the last.",
        formula: "`storage_gib` × `usd_per_storage_gib_month` × hours / 730",
        source: "bills of all providers; the papers publish no quantity",
        example: "pricing.define.mine = { usd_per_vm_hour = 1, storage_gib = 500, usd_per_storage_gib_month = 0.04 }",
    },
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

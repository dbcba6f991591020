//! A fee for every job, whatever it takes: a platform's price per run.

use super::charge::{Amount, Charge};
use scavsim_base::Declaration;

const USD: &str = "usd_per_job";

pub const CHARGE: Charge = Charge {
    declaration: Declaration {
        name: "fee",
        what: "Charges every job the same when it ends, whatever it took.",
        formula: "`usd_per_job`",
        source: "platforms with a price per run",
        example: "pricing.define.mine = { usd_per_vm_hour = 1, usd_per_job = 2 }",
    },
    keys: &[(USD, "USD for every job, when it ends.")],
    read: |keys| {
        Ok(Amount {
            usd_at_end: keys.get(USD).unwrap_or(0.0),
            ..Amount::default()
        })
    },
};

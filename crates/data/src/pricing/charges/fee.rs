//! A fee for every job, whatever it takes: a platform's price per run.

use super::charge::{Amount, Charge};

const USD: &str = "usd_per_job";

/// `usd_per_job`
pub const CHARGE: Charge = Charge {
    name: "fee",
    keys: &[(USD, "USD for every job, when it ends.")],
    read: |keys| {
        Ok(Amount {
            usd_at_end: keys.get(USD).unwrap_or(0.0),
            ..Amount::default()
        })
    },
};

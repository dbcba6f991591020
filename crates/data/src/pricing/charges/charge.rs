use crate::pricing::wrong_policy::WrongPolicy;
use scavsim_base::Declaration;
use std::collections::BTreeMap;

use serde::Serialize;

use scavsim_read::input::checked::NonNegative;

/// A charge: its keys in a policy, and what they come to.
#[derive(Debug)]
pub struct Charge {
    pub declaration: Declaration,
    /// Keys of the charge, each a number of at least 0, with what it says.
    pub keys: &'static [(&'static str, &'static str)],
    pub(super) read: fn(&Keys) -> Result<Amount, WrongPolicy>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amount {
    pub usd_at_end: f64,
    /// USD per hour from the first VM to the last.
    pub usd_per_hour: f64,
}

/// The numbers that a policy gives to charges, by their keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Keys(pub(super) BTreeMap<&'static str, NonNegative>);

impl Keys {
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).map(|number| number.get())
    }

    /// Quantity times price; 0 without both, an error where one is missing.
    pub fn product(&self, quantity: &str, price: &str) -> Result<f64, WrongPolicy> {
        match (self.get(quantity), self.get(price)) {
            (Some(quantity), Some(price)) => Ok(quantity * price),
            (None, None) => Ok(0.0),
            _ => Err(WrongPolicy::GoTogether(format!(
                "`{quantity}` and `{price}`"
            ))),
        }
    }
}

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::cloud::Date;
use scavsim_read::schema_of;

const NEWEST: &str = "newest";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceDay {
    On(Date),
    /// The last day on which the price of the VM type is known in the region and market.
    Newest,
}

impl PriceDay {
    pub fn stated(self) -> Option<Date> {
        match self {
            PriceDay::On(date) => Some(date),
            PriceDay::Newest => None,
        }
    }
}

impl<'de> Deserialize<'de> for PriceDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Date::parse(&text) {
            Some(date) => Ok(PriceDay::On(date)),
            None if text == NEWEST => Ok(PriceDay::Newest),
            None => Err(D::Error::custom(format!(
                "expected a day like \"2026-07-30\", or \"{NEWEST}\", found \"{text}\""
            ))),
        }
    }
}

impl Serialize for PriceDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            PriceDay::On(date) => date.serialize(serializer),
            PriceDay::Newest => serializer.serialize_str(NEWEST),
        }
    }
}

schema_of!(PriceDay, is_inline: true, { "type": "string", "pattern": "^([0-9]{4}-[0-9]{2}-[0-9]{2}|newest)$" });

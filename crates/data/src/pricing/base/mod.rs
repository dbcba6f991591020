//! Base prices: what a policy charges for, before any discount. One file per rule; a new one is a file here, its keys in
//! [`PolicyFile`], and a line in [`RULES`].

pub mod catalogue_price;
pub mod market_price;
pub mod per_resource;
pub mod per_sample;
pub mod per_type;
pub mod per_vm;
pub mod price;

use super::file::PolicyFile;
use super::wrong_policy::WrongPolicy;
pub use crate::usage::RentedVmType;
pub use price::{Base, ListedPrice, NoPrice, Rule, VmPrice};

pub const RULES: &[Rule] = &[
    per_vm::RULE,
    per_type::RULE,
    per_sample::RULE,
    per_resource::RULE,
    catalogue_price::RULE,
    market_price::RULE,
];

/// The base price of a policy, of which there must be exactly one.
pub fn read(file: &PolicyFile) -> Result<Base, WrongPolicy> {
    let mut given = RULES
        .iter()
        .filter_map(|rule| Some((rule, (rule.read)(file)?)));
    match (given.next(), given.next()) {
        (None, _) => {
            let keys: Vec<&str> = RULES.iter().map(|rule| rule.keys).collect();
            Err(WrongPolicy::NoBase(keys.join(", or ")))
        }
        (Some((one, _)), Some((other, _))) => Err(WrongPolicy::TwoBases(one.keys, other.keys)),
        (Some((_, base)), None) => base,
    }
}

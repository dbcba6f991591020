//! A commitment of one or three years.

use super::{Reductions, Rule};

/// `commitment_discount`
pub const RULE: Rule = Rule {
    key: "`commitment_discount`",
    is_spot: false,
    read: |file| {
        let factor = 1.0 - file.commitment_discount?.get();
        Some(Ok(Reductions {
            factor,
            on_demand_factor: factor,
            ..Reductions::NONE
        }))
    },
};

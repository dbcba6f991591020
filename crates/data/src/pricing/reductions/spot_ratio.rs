//! A spot price that is always the same fraction of the base price.

use super::{Reductions, Rule};

/// `spot_ratio`; VMs on demand beside spot VMs cost their whole price.
pub const RULE: Rule = Rule {
    key: "`spot_ratio`",
    is_spot: true,
    read: |file| {
        let factor = file.spot_ratio?.get();
        Some(Ok(Reductions {
            factor,
            ..Reductions::NONE
        }))
    },
};

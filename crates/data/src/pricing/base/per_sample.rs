//! VMs sized to the batch and priced by memory alone; the worker count does not matter.

use super::price::{Base, Rule};
use scavsim_base::Declaration;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "per-sample",
        what: "Memory is sized to the batch and all that is paid for, whatever the worker count.",
        formula: "`usd_per_sample_hour` × global batch",
        source: "Scavenger, as cost = batch × time",
        example: "pricing.define.mine = { usd_per_sample_hour = 0.001 }",
    },
    keys: "`usd_per_sample_hour`",
    read: |file| Some(Ok(Base::Sample(file.usd_per_sample_hour?.get()))),
};

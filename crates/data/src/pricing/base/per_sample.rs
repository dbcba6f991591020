//! VMs sized to the batch and priced by memory alone; the worker count does not matter.

use super::price::Base;
use super::rule::Rule;

/// `usd_per_sample_hour`
pub const RULE: Rule = Rule {
    keys: "`usd_per_sample_hour`",
    read: |file| Some(Ok(Base::Sample(file.usd_per_sample_hour?.get()))),
};

//! The life of a VM, by a name or a law that a file gives.

use super::no_value::NoLife;
use std::collections::BTreeMap;

use serde::Deserialize;

use scavsim_data::cloud::lifetimes::{Bathtub, Empirical, Kind, Lifetime, Model};
use scavsim_read::input::checked::Positive;

pub type Lives = BTreeMap<String, Lifetime>;

/// A life as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// By a model of `scavsim list lifetimes`.
    Named(String),
    /// Lost at any age up to this with equal odds.
    UniformUpToH(Positive),
    /// By the law a (1 − e^(−t/τ1) + e^((t−b)/τ2)), up to a cap.
    Bathtub {
        /// a
        a: Positive,
        /// τ1
        tau1_h: Positive,
        /// τ2
        tau2_h: Positive,
        /// b
        b_h: Positive,
        /// The cap.
        cap_h: Positive,
    },
}

impl Life {
    pub fn lifetime(&self) -> Result<Lifetime, NoLife> {
        match self {
            Life::Named(name) => library(name).cloned(),
            Life::UniformUpToH(end) => {
                let law = Empirical::new(&[(end.get(), 1.0)]).ok_or(NoLife::Uniform)?;
                Ok(Lifetime::new(law, None))
            }
            Life::Bathtub {
                a,
                tau1_h,
                tau2_h,
                b_h,
                cap_h,
            } => {
                let law = Bathtub::new(a.get(), tau1_h.get(), tau2_h.get(), b_h.get());
                let law = law.ok_or(NoLife::Bathtub)?;
                Ok(Lifetime::new(law, Some(cap_h.get())))
            }
        }
    }
}

/// The life of single VMs by a model of `scavsim list lifetimes`.
pub(super) fn library(name: &str) -> Result<&'static Lifetime, NoLife> {
    match &Model::named(name)?.kind {
        Kind::Alone(life) => Ok(life),
        Kind::Batch(_) | Kind::Trace(_) => Err(NoLife::NotAlone(name.to_owned())),
    }
}

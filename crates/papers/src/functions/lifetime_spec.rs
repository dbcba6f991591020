//! The lifetime of a VM, from a name or from a law in a file.

use super::no_value::NoLifetime;
use std::collections::BTreeMap;

use serde::Deserialize;

use scavsim_data::cloud::lifetimes::{Bathtub, EmpiricalLaw, Kind, Lifetime, Model};
use scavsim_read::input::checked::Positive;

pub type LifetimesByName = BTreeMap<String, Lifetime>;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifetimeSpec {
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
        cap_h: Positive,
    },
}

impl LifetimeSpec {
    pub fn lifetime(&self) -> Result<Lifetime, NoLifetime> {
        match self {
            LifetimeSpec::Named(name) => library(name).cloned(),
            LifetimeSpec::UniformUpToH(end) => {
                let law = EmpiricalLaw::new(&[(end.get(), 1.0)]).ok_or(NoLifetime::Uniform)?;
                Ok(Lifetime::new(law, None))
            }
            LifetimeSpec::Bathtub {
                a,
                tau1_h,
                tau2_h,
                b_h,
                cap_h,
            } => {
                let law = Bathtub::new(a.get(), tau1_h.get(), tau2_h.get(), b_h.get());
                let law = law.ok_or(NoLifetime::Bathtub)?;
                Ok(Lifetime::new(law, Some(cap_h.get())))
            }
        }
    }
}

pub(super) fn library(name: &str) -> Result<&'static Lifetime, NoLifetime> {
    match &Model::named(name)?.kind {
        Kind::Alone(life) => Ok(life),
        Kind::Batch(_) | Kind::Trace(_) => Err(NoLifetime::NotAlone(name.to_owned())),
    }
}

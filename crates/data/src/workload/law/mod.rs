//! Laws of step time and epochs that a workload may name, for what was not measured: synthetic VM types, gaps and
//! extrapolation. Pure functions with their parameters; no tables. A new law is a variant in its file, declared there.

mod bounds;
pub mod communication;
pub mod compute;
pub mod epochs;
pub mod free_pooled;
pub mod goodput;
pub mod growth;
pub mod noise;
pub mod overlap;
pub mod pooled;
pub mod prior;
pub mod step;
pub mod worker;

pub use bounds::OutOfBounds;
pub use communication::CommunicationLaw;
pub use compute::{ComputeLaw, SizedWorker};
pub use epochs::EpochLaw;
pub use noise::NoiseLaw;
pub use overlap::Overlap;
pub use pooled::PooledLaw;
pub use step::StepLaw;
pub use worker::{Speed, WorkerLaw};

use std::collections::BTreeMap;

use scavsim_base::Declaration;

#[derive(Debug, Clone, Default)]
pub struct Laws {
    pub steps: BTreeMap<String, StepLaw>,
    /// Seconds of a step on any shape of a VM type; it comes before those per shape.
    pub pooled: BTreeMap<String, PooledLaw>,
    pub epochs: Option<EpochLaw>,
}

pub fn declared() -> impl Iterator<Item = &'static Declaration> {
    let all = [
        ComputeLaw::DECLARED,
        CommunicationLaw::DECLARED,
        Overlap::DECLARED,
        EpochLaw::DECLARED,
        NoiseLaw::DECLARED,
    ];
    all.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    /// Laws of an enumeration, each read from its example: `laws.steps.k80.communication.ring = { … }`.
    fn are_declared<L: DeserializeOwned>(
        declared: &[Declaration],
        check: fn(&L) -> Result<(), OutOfBounds>,
    ) {
        for Declaration { name, example, .. } in declared {
            let (key, value) = example.split_once(" = ").expect(example);
            let (_, last) = key.rsplit_once('.').expect(example);
            let written = if last == *name {
                format!("law.{name} = {value}")
            } else {
                format!("law = {value}")
            };
            let mut read: BTreeMap<String, L> = toml::from_str(&written).expect(example);
            let law = read.remove("law").expect(example);
            assert!(check(&law).is_ok() && written.contains(name), "{example}");
        }
        // The reader tells which laws there are.
        let none = serde_json::from_str::<L>("\"none\"").err().expect("no law");
        let none = none.to_string();
        let names = none.split('`').skip(3).step_by(2);
        assert!(names.eq(declared.iter().map(|law| law.name)), "{none}");
    }

    #[test]
    fn every_law_is_declared_and_read_from_its_example() {
        are_declared(ComputeLaw::DECLARED, ComputeLaw::check);
        are_declared(CommunicationLaw::DECLARED, CommunicationLaw::check);
        are_declared(Overlap::DECLARED, Overlap::check);
        are_declared(EpochLaw::DECLARED, EpochLaw::check);
        are_declared(NoiseLaw::DECLARED, NoiseLaw::check);
    }
}

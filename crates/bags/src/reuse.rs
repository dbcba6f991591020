use schemars::JsonSchema;
use serde::Deserialize;

use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::cloud::lifetimes::Lifetime;

/// Whether a VM that has run a job gets the next, or is given back for a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// While it is no likelier to be lost during the next job than a new one: the policy of HPDC 2020.
    #[default]
    ByAge,
    /// Whatever its age: what follows from lives without memory.
    #[serde(alias = "memoryless")]
    Always,
    /// Never: every attempt gets new VMs.
    Never,
}

impl Reuse {
    /// Whether a VM of age s = `age_s` gets a job of J = `job_s`. By age: (F(s + J) − F(s)) / (1 − F(s)) ≤ F(J).
    pub fn keeps(self, life: Option<&Lifetime>, age_s: f64, job_s: f64) -> bool {
        let Some(life) = life.filter(|_| self == Reuse::ByAge) else {
            return self != Reuse::Never;
        };
        let (age_h, job_h) = (age_s / SECONDS_PER_HOUR, job_s / SECONDS_PER_HOUR);
        let left = life.survival(age_h);
        // S(s + J) / S(s) ≥ S(J), up to rounding: an age that VMs hardly reach has few digits left.
        left > 0.0 && life.survival(age_h + job_h) / left >= life.survival(job_h) - 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_data::cloud::lifetimes::{Bathtub, Exponential};

    #[test]
    fn vms_are_kept_between_the_losses_of_the_young_and_of_the_old() {
        let law = Bathtub::new(0.4137, 0.9, 0.76, 24.0).expect("a law");
        let life = Lifetime::new(law, Some(24.0));
        let keeps = |age_h: f64| Reuse::ByAge.keeps(Some(&life), 3600.0 * age_h, 6.0 * 3600.0);
        assert!([0.0, 1.0, 5.0, 12.0].into_iter().all(keeps));
        assert!(![18.5, 20.0, 23.9, 24.0].into_iter().any(keeps));
    }

    #[test]
    fn without_memory_no_vm_is_given_back() {
        let life = Lifetime::new(Exponential::new(2.0).expect("a law"), None);
        for age_s in [0.0, 90.0, 1e4, 3e4] {
            let keeps = |reuse: Reuse| reuse.keeps(Some(&life), age_s, 900.0);
            assert_eq!(keeps(Reuse::ByAge), keeps(Reuse::Always), "{age_s}");
            assert!(!keeps(Reuse::Never));
        }
    }
}

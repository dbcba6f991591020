//! Seconds per step of one worker, from its batch and its size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::checked::{Fraction, NonNegative, Positive};

/// t(b) = c + (w + b)·u / s(n), n being the worker's size: its cores, or its FLOPS in any unit.
///
/// In the form t = c_k + b/x_k: c_k = c + w·u/s(n) and x_k = s(n)/u.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerLaw {
    /// u: seconds per sample of a worker of size 1.
    pub sample_s: Positive,
    /// w: work of a step that does not depend on the batch but runs on the same cores, in samples.
    #[serde(default = "zero")]
    pub fixed_samples: NonNegative,
    /// c: seconds of a step that no size shortens.
    #[serde(default = "zero")]
    pub fixed_s: NonNegative,
    /// s: how speed grows with size.
    pub speed: Speed,
}

/// 0, where a key is absent.
pub(super) fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is at least 0")
}

/// Speed of a worker of size n; 1 at size 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Speed {
    /// n: no loss.
    Linear,
    /// 1/(σ + (1 − σ)/n): a share σ of the work runs on one core (Amdahl).
    Amdahl {
        /// σ.
        serial: Fraction,
    },
    /// n^p. Above 1, small workers suffer more than in proportion, which Amdahl cannot say.
    Power {
        /// p.
        exponent: Positive,
    },
}

impl Speed {
    /// Speed at `size`.
    pub fn at(self, size: f64) -> f64 {
        match self {
            Speed::Linear => size,
            Speed::Amdahl { serial } => 1.0 / (serial.get() + (1.0 - serial.get()) / size),
            Speed::Power { exponent } => libm::pow(size, exponent.get()),
        }
    }
}

impl WorkerLaw {
    /// Mean seconds of a step with `batch` samples on a worker of `size`.
    pub fn step_s(&self, batch: f64, size: f64) -> f64 {
        let samples = self.fixed_samples.get() + batch;
        self.fixed_s.get() + samples * self.sample_s.get() / self.speed.at(size)
    }
}

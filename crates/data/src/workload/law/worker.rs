//! Seconds of one worker's step, from its batch and its size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use scavsim_read::input::checked::{AtLeastOne, Fraction, NonNegative, Positive};

/// t(b) = c + w·u/s_w(n) + (b + (β − 1)·max(0, b − κ))·u/s(n), n being the worker's size: its cores, or its FLOPS in any unit.
///
/// A step in which all wait for the slowest takes max(t) + a·(1 − mean(t)/max(t)) over its workers.
///
/// Without a knee κ and with s_w = s, in the form t = c_k + b/x_k: c_k = c + w·u/s(n) and x_k = s(n)/u.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerLaw {
    /// u: seconds per sample of a worker of size 1.
    pub sample_s: Positive,
    /// w: work of a step that does not depend on the batch but runs on the same cores, in samples.
    #[serde(default = "zero", skip_serializing_if = "is_zero")]
    pub fixed_samples: NonNegative,
    /// c: seconds of a step that no size shortens.
    #[serde(default = "zero", skip_serializing_if = "is_zero")]
    pub fixed_s: NonNegative,
    /// s: how speed grows with size.
    pub speed: Speed,
    /// s_w: the same for the work that does not depend on the batch; `speed` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_speed: Option<Speed>,
    /// β: seconds of a sample beyond a worker's knee κ, over those of one before it; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_knee: Option<AtLeastOne>,
    /// a: seconds that a step takes besides, times the share of their time for which workers wait for the slowest; 0 when absent.
    #[serde(default = "zero", skip_serializing_if = "is_zero")]
    pub waiting_s: NonNegative,
}

/// 0, where a key is absent.
pub fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is at least 0")
}

fn is_zero(value: &NonNegative) -> bool {
    value.get() == 0.0
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
    fn speed_at(self, size: f64) -> f64 {
        match self {
            Speed::Linear => size,
            Speed::Amdahl { serial } => 1.0 / (serial.get() + (1.0 - serial.get()) / size),
            Speed::Power { exponent } => libm::pow(size, exponent.get()),
        }
    }
}

impl WorkerLaw {
    /// Mean seconds of a step with `batch` samples on a worker of `size`, whose throughput falls beyond `knee` samples.
    pub fn step_s(&self, batch: f64, size: f64, knee: Option<f64>) -> f64 {
        let beyond = match (self.beyond_knee, knee) {
            (Some(factor), Some(knee)) => (factor.get() - 1.0) * (batch - knee).max(0.0),
            _ => 0.0,
        };
        let (u, w) = (self.sample_s.get(), self.fixed_samples.get());
        let speed = self.speed.speed_at(size);
        let fixed_s = match self.fixed_speed {
            // As one term where both are as fast: the same bits as ever.
            None => return self.fixed_s.get() + (w + batch + beyond) * u / speed,
            Some(fixed) => w * u / fixed.speed_at(size),
        };
        self.fixed_s.get() + fixed_s + (batch + beyond) * u / speed
    }

    /// Seconds that a step takes beyond its slowest worker, for workers with these mean times: a·(1 − mean/max).
    pub fn waiting_step_s(&self, means_s: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut slowest, mut workers) = (0.0, 0.0f64, 0.0);
        for mean_s in means_s {
            (sum, slowest, workers) = (sum + mean_s, slowest.max(mean_s), workers + 1.0);
        }
        if slowest > 0.0 {
            // Equal times may have a mean above them by rounding.
            self.waiting_s.get() * (1.0 - sum / (workers * slowest)).max(0.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> WorkerLaw {
        toml::from_str(text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn fixed_work_has_a_speed_of_its_own_and_samples_beyond_the_knee_are_slower() {
        let law = law("sample_s = 0.5\nfixed_samples = 8\nspeed = \"linear\"\n\
             fixed_speed = { power = { exponent = 3 } }\nbeyond_knee = 3");
        let alone_s = 8.0 * 0.5 / 8.0 + 20.0 * 0.5 / 2.0;
        assert_eq!(law.step_s(20.0, 2.0, None), alone_s);
        assert_eq!(law.step_s(20.0, 2.0, Some(20.0)), alone_s);
        // 15 samples, and 5 that count three times.
        let seconds = law.step_s(20.0, 2.0, Some(15.0));
        assert!((seconds - (0.5 + 30.0 * 0.25)).abs() < 1e-12, "{seconds}");
    }

    #[test]
    fn waiting_costs_in_proportion_to_the_share_of_time_that_workers_wait() {
        let law = law("sample_s = 1\nspeed = \"linear\"\nwaiting_s = 0.8");
        let seconds = |means_s: [f64; 3]| law.waiting_step_s(means_s.into_iter());
        assert_eq!(seconds([0.7; 3]), 0.0);
        // One of three works for 4 s, and two wait for 2 and 4 of them: half of 12 s.
        assert!((seconds([4.0, 2.0, 0.0]) - 0.4).abs() < 1e-12);
        assert_eq!(seconds([4.0, 2.0, 0.0]), seconds([8.0, 4.0, 0.0]));
    }
}

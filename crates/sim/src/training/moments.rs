use super::variation::WorkerTime;

/// Mean and central moments of a step's slowest worker, relative to one worker's mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Mean, at least 1.
    pub mean: f64,
    pub deviation: f64,
    /// Third central moment over the cube of the standard deviation; 0 for a constant.
    pub skewness: f64,
    /// Moments of steps in which nobody straggles, where somebody may.
    pub calm: Option<StragglerFreeSteps>,
}

/// Steps in which nobody straggles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StragglerFreeSteps {
    /// Probability that a step is one.
    pub odds: f64,
    /// Mean of those, relative to one worker's mean over all steps.
    pub mean: f64,
    pub deviation: f64,
    pub skewness: f64,
}

/// Where fewer steps than this are calm, nothing is gained by taking them by themselves.
const FEWEST_CALM: f64 = 1e-3;

impl Moments {
    pub const fn constant(value: f64) -> Self {
        Moments {
            mean: value,
            deviation: 0.0,
            skewness: 0.0,
            calm: None,
        }
    }

    /// With those of steps in which none of `workers` straggles; `plain` gives them for times without stragglers.
    pub(super) fn with_calm(
        self,
        workers: u32,
        time: WorkerTime,
        plain: impl FnOnce(WorkerTime) -> Moments,
    ) -> Self {
        let calm = time.straggler.and_then(|straggler| {
            let odds = libm::pow(1.0 - straggler.probability, f64::from(workers));
            let without = WorkerTime {
                straggler: None,
                ..time
            };
            (odds >= FEWEST_CALM).then(|| {
                let plain = plain(without);
                let scale = libm::exp(time.log_scale() - without.log_scale());
                StragglerFreeSteps {
                    odds,
                    mean: scale * plain.mean,
                    deviation: scale * plain.deviation,
                    skewness: plain.skewness,
                }
            })
        });
        Moments { calm, ..self }
    }
}

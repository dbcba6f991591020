//! Values in equal steps: `{ from = 1, to = 2, step = 0.5 }`, or `{ from = 0.25, to = 4, factor = 2 }`.

use serde::Deserialize;

use super::checked::{NonNegative, Positive, Slowdown};

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    from: NonNegative,
    to: Positive,
    step: Option<Positive>,
    factor: Option<Slowdown>,
}

/// Maximum number of values: a longer range is a typing mistake.
pub const MOST_VALUES: usize = 10_000;

/// Tolerance of the end, as a share of a step: decimal fractions are not exact.
const RELIEF: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoValues {
    #[error("expected `from` not above `to`, found {from} above {to}")]
    Descending { from: f64, to: f64 },
    /// 0 has no multiples but 0.
    #[error("expected `from` above 0 with a `factor`")]
    FactorOfZero,
    #[error("expected a `factor` of at least 2, found 1")]
    FactorOfOne,
    #[error("expected either `step` or `factor`")]
    NotOneOfTwo,
    #[error("expected `step` or `factor`, found both")]
    Both,
    #[error("expected a range of at most {most} values, found {count}")]
    TooMany { most: usize, count: f64 },
}

impl Range {
    /// The values in ascending order.
    pub fn values(&self) -> Result<Vec<f64>, NoValues> {
        let (from, to) = (self.from.get(), self.to.get());
        if from > to {
            return Err(NoValues::Descending { from, to });
        }
        let (steps, value): (f64, Box<dyn Fn(f64) -> f64>) = match (self.step, self.factor) {
            (Some(step), None) => {
                let step = step.get();
                ((to - from) / step, Box::new(move |i| from + step * i))
            }
            (None, Some(_)) if from == 0.0 => {
                return Err(NoValues::FactorOfZero);
            }
            (None, Some(factor)) => {
                let factor = factor.get();
                let steps = libm::log(to / from) / libm::log(factor);
                (steps, Box::new(move |i| from * libm::pow(factor, i)))
            }
            _ => return Err(NoValues::NotOneOfTwo),
        };
        let count = (steps + RELIEF).floor() + 1.0;
        if count > MOST_VALUES as f64 {
            let most = MOST_VALUES;
            return Err(NoValues::TooMany { most, count });
        }
        Ok((0..count as u32).map(|i| value(f64::from(i))).collect())
    }
}

/// A value of a range with enough digits to differ from its neighbours.
pub fn digits(value: f64) -> String {
    let rounded = format!("{value:.6}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    if value == 0.0 || value >= 1e-3 {
        short.to_owned()
    } else {
        format!("{value:e}")
    }
}

//! What the earlier part of the trace taught.

use super::{MarketView, SpanOf};
use scavsim_base::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "trained",
    what: "The mean number of GPUs some minutes after there were as many as now, in the half of the trace before the job; what was not seen there stays as it is.",
    formula: "E[g(t + lag) | g(t)], lags of five minutes up to two hours, rounded to the nearest",
    source: "empirical means",
    example: "parallel.reaction.forecast = \"trained\"",
};
use scavsim_data::cloud::lifetimes::Trace;

/// Seconds between two lags, and how many there are.
const LAG_S: f64 = 300.0;
const LAGS: usize = 24;
/// Seconds between two looks at the trace.
const LOOK_S: f64 = 60.0;

/// Means of the GPUs there were at each lag, by how many there were.
#[derive(Debug, Clone, Default)]
pub struct Training {
    by_gpus: Vec<(u32, [(f64, u32); LAGS])>,
}

impl Training {
    /// What the half of a trace before a moment of it teaches; behind its beginning its end comes.
    pub fn before(trace: &Trace, start_s: u64) -> Training {
        let length = trace.length_s().max(1) as f64;
        let half = 0.5 * length;
        let at = |back: f64| trace.held_at((start_s as f64 - back).rem_euclid(length) as u64);
        let mut training = Training::default();
        let looks = (half / LOOK_S) as u32;
        for look in 0..looks {
            let back = half - f64::from(look) * LOOK_S;
            let row = training.row(at(back));
            for (lag, (sum, count)) in row.iter_mut().enumerate() {
                let later = back - (lag as f64 + 1.0) * LAG_S;
                if later < 0.0 {
                    break;
                }
                *sum += f64::from(at(later));
                *count += 1;
            }
        }
        training
    }

    fn row(&mut self, gpus: u32) -> &mut [(f64, u32); LAGS] {
        let place = self.by_gpus.partition_point(|row| row.0 < gpus);
        if self.by_gpus.get(place).is_none_or(|row| row.0 != gpus) {
            self.by_gpus.insert(place, (gpus, [(0.0, 0); LAGS]));
        }
        &mut self.by_gpus[place].1
    }

    /// GPUs in the mean at a lag after there were so many.
    fn mean(&self, gpus: u32, lag: usize) -> f64 {
        let row = self.by_gpus.iter().find(|row| row.0 == gpus);
        match row.map(|row| row.1[lag]) {
            Some((sum, count)) if count > 0 => sum / f64::from(count),
            _ => f64::from(gpus),
        }
    }
}

pub(super) fn foretell(seen: &MarketView<'_>, path: &mut Vec<SpanOf>) {
    let now = seen.capacity.gpus;
    let mut left = seen.horizon_s;
    let mut gpus = now;
    for lag in 0..=LAGS {
        if left <= 0.0 {
            return;
        }
        let seconds = if lag == LAGS { left } else { LAG_S.min(left) };
        path.push(SpanOf { seconds, gpus });
        left -= seconds;
        if let (Some(training), true) = (seen.training, lag < LAGS) {
            gpus = training.mean(now, lag).round() as u32;
        }
    }
}

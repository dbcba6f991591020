//! Forecasts of how many GPUs there will be: a path of spans. A forecast is a file and a line in [`Forecast`].

mod clairvoyant;
mod last_value;
mod moving_average;
mod none;
mod trained;

use scavsim_data::cloud::lifetimes::Trace;
use scavsim_sim::cluster::Losses;
use scavsim_sim::provider::Capacity;

pub use trained::Training;

/// Seconds in which there are so many GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanOf {
    pub seconds: f64,
    pub gpus: u32,
}

#[derive(Debug)]
pub struct MarketView<'a> {
    /// How many GPUs there are, and will be: only who is clairvoyant looks on.
    pub capacity: &'a Capacity,
    pub losses: &'a Losses,
    pub trace: &'a Trace,
    pub now_s: f64,
    pub horizon_s: f64,
    /// What was learned of the trace before the job.
    pub training: Option<&'a Training>,
}

impl MarketView<'_> {
    /// GPUs that there were so many seconds ago, as whoever watched the market knows it.
    fn gpus_before(&self, seconds: f64) -> u32 {
        let length = self.trace.length_s().max(1) as f64;
        let at = (self.capacity.start_s as f64 + self.now_s - seconds).rem_euclid(length);
        self.trace.held_at(at as u64)
    }
}

/// What of a path can train: VMs that come do so once they run, `boot_s` later; `running` GPUs do so now.
pub(crate) fn usable(path: &[SpanOf], running: u32, boot_s: f64, into: &mut Vec<SpanOf>) {
    into.clear();
    if path.first().is_none_or(|first| !first.seconds.is_finite()) {
        // Nobody looks ahead.
        into.extend(path.iter().map(|span| SpanOf {
            gpus: running,
            ..*span
        }));
        return;
    }
    let mut begins = 0.0;
    let starts: Vec<(f64, u32)> = (path.iter())
        .map(|span| {
            let from = begins;
            begins += span.seconds;
            (from, span.gpus)
        })
        .collect();
    let end = begins;
    let mut points: Vec<f64> = starts
        .iter()
        .flat_map(|(at, _)| [*at, at + boot_s])
        .collect();
    points.retain(|at| *at < end);
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    for (number, &at) in points.iter().enumerate() {
        // The least there was since those that train now were asked for.
        let since = at - boot_s;
        let later = starts
            .iter()
            .filter(|(from, _)| *from > since && *from <= at);
        let before = starts
            .iter()
            .rfind(|(from, _)| *from <= since)
            .map(|(_, gpus)| *gpus);
        let least = later.map(|(_, gpus)| *gpus).min().unwrap_or(u32::MAX);
        let seconds = points.get(number + 1).map_or(end - at, |next| next - at);
        into.push(SpanOf {
            seconds,
            gpus: least.min(before.unwrap_or(running)),
        });
    }
}

scavsim_base::registry! {
    /// How a job foretells how many GPUs there will be.
    #[derive(Default)]
    pub enum Forecast {
        #[default]
        None = none,
        LastValue = last_value,
        MovingAverage = moving_average,
        Trained = trained,
        Clairvoyant = clairvoyant,
    }

    /// Adds the spans to come to `path`, as many as fill the horizon.
    pub fn foretell(self, seen: &MarketView<'_>, path: &mut Vec<SpanOf>);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: four GPUs are lost at once, others train 20 s after they come.
    #[test]
    fn what_comes_has_to_start_first() {
        let of = |spans: &[(f64, u32)]| -> Vec<SpanOf> {
            let span = |&(seconds, gpus): &(f64, u32)| SpanOf { seconds, gpus };
            spans.iter().map(span).collect()
        };
        let path = of(&[(100.0, 12), (100.0, 8), (100.0, 16)]);
        let mut into = Vec::new();
        usable(&path, 10, 20.0, &mut into);
        let started = [
            (20.0, 10),
            (80.0, 12),
            (20.0, 8),
            (80.0, 8),
            (20.0, 8),
            (80.0, 16),
        ];
        assert_eq!(into, of(&started));
        usable(&of(&[(f64::INFINITY, 7)]), 5, 20.0, &mut into);
        assert_eq!(into, of(&[(f64::INFINITY, 5)]));
    }
}

//! The scatter of repeated measurements.

use std::collections::BTreeMap;

use scavsim_base::stats::median_of;
use scavsim_import::MeasuredRun;
use scavsim_import::profile::ASTRAY;

/// Standard deviation of ln(step) without repeats: no measurement.
pub const STEP_SD: f64 = 0.02;
/// Standard deviation of ln(epochs) without repeats: training runs differ by more than steps do.
pub const EPOCHS_SD: f64 = 0.03;
/// Weight of the assumption, in repeats.
const ASSUMED: f64 = 2.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// Standard deviation of ln(step) of one measurement.
    pub step_sd: f64,
    /// Standard deviation of ln(epochs) of one training run.
    pub epochs_sd: f64,
    /// Number of repeats, not counting the first run of a configuration, and of the epochs of a batch.
    pub beyond_first: (usize, usize),
    counts: BTreeMap<(String, u32, u32), usize>,
    runs: BTreeMap<u32, usize>,
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats {
            step_sd: STEP_SD,
            epochs_sd: EPOCHS_SD,
            beyond_first: (0, 0),
            counts: BTreeMap::new(),
            runs: BTreeMap::new(),
        }
    }
}

impl Repeats {
    pub fn of_runs(runs: &[MeasuredRun]) -> Repeats {
        let (mut steps, mut epochs) = (BTreeMap::new(), BTreeMap::new());
        for run in runs {
            let key = (run.vm.clone(), run.workers, run.batch);
            let of_key: &mut Vec<f64> = steps.entry(key).or_default();
            of_key.push(libm::log(run.step_s));
            if let Some(passes) = run.epochs {
                let of_batch: &mut Vec<f64> = epochs.entry(run.batch).or_default();
                of_batch.push(libm::log(passes));
            }
        }
        let (step_sd, of_steps) = pooled(steps.values(), STEP_SD);
        let (epochs_sd, of_epochs) = pooled(epochs.values(), EPOCHS_SD);
        Repeats {
            step_sd,
            epochs_sd,
            beyond_first: (of_steps, of_epochs),
            counts: steps
                .into_iter()
                .map(|(key, all)| (key, all.len()))
                .collect(),
            runs: epochs
                .into_iter()
                .map(|(batch, all)| (batch, all.len()))
                .collect(),
        }
    }

    /// Variance of ln(mean step) of a configuration.
    pub(super) fn of_step(&self, vm: &str, workers: u32, batch: u32) -> f64 {
        let count = self.counts.get(&(vm.to_owned(), workers, batch));
        self.step_sd * self.step_sd / count.copied().unwrap_or(1) as f64
    }

    /// Variance of ln(mean epochs) of a batch.
    pub(super) fn of_epochs(&self, batch: u32) -> f64 {
        let count = self.runs.get(&batch).copied().unwrap_or(1);
        self.epochs_sd * self.epochs_sd / count as f64
    }
}

/// The standard deviation within groups, with the assumption as additional repeats; and the number of repeats.
fn pooled<'a>(groups: impl Iterator<Item = &'a Vec<f64>>, assumed: f64) -> (f64, usize) {
    let (mut squares, mut repeats) = (0.0, 0);
    for group in groups {
        // Repeats far from the median are outliers, and are left out.
        let middle = median_of(group.iter().copied()).unwrap_or(0.0);
        let alike = || (group.iter()).filter(|x| group.len() < 3 || (**x - middle).abs() < ASTRAY);
        let count = alike().count();
        let mean = alike().sum::<f64>() / count as f64;
        squares += alike().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        repeats += count.saturating_sub(1);
    }
    let all = squares + ASSUMED * assumed * assumed;
    ((all / (repeats as f64 + ASSUMED)).sqrt(), repeats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scavsim_base::tests::{close, near};

    fn run(workers: u32, step_s: f64, epochs: Option<f64>) -> MeasuredRun {
        MeasuredRun {
            vm: "v".to_owned(),
            workers,
            batch: 64,
            step_s,
            epochs,
        }
    }

    #[test]
    fn many_repeats_outweigh_what_is_assumed_and_none_leave_it() {
        assert_eq!(Repeats::of_runs(&[]), Repeats::default());
        // ±10 % around one second.
        let around = (0..200).map(|at| run(2, if at % 2 == 0 { 0.9 } else { 1.1 }, None));
        let runs: Vec<MeasuredRun> = around.chain([run(4, 1.0, Some(20.0))]).collect();
        let repeats = Repeats::of_runs(&runs);
        close(repeats.step_sd, 0.5 * libm::log(1.1 / 0.9), 0.01);
        assert_eq!(repeats.beyond_first, (199, 0));
        assert_eq!(repeats.epochs_sd, EPOCHS_SD);
        let (many, one) = (repeats.of_step("v", 2, 64), repeats.of_step("v", 4, 64));
        near(one / many, 200.0, 1e-9);
    }

    #[test]
    fn epochs_of_a_batch_repeat_whatever_the_workers() {
        let runs = [
            run(2, 1.0, Some(10.0)),
            run(4, 1.0, Some(20.0)),
            run(4, 1.0, None),
        ];
        let repeats = Repeats::of_runs(&runs);
        assert_eq!(repeats.beyond_first, (1, 1));
        let (twice, once) = (repeats.of_step("v", 4, 64), repeats.of_step("v", 2, 64));
        near(once / twice, 2.0, 1e-9);
    }
}

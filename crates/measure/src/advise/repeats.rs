//! How far repeats of one measurement lie apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::import::profile::{ASTRAY, BatchIs};
use scavsim_base::stats::median_of;
use scavsim_read::input::csv::Table;
use scavsim_read::input::{Diagnostics, Source};

/// Standard deviation of ln(step) where nothing was repeated: no measurement.
pub const STEP_SD: f64 = 0.02;
/// Standard deviation of ln(epochs) where nothing was repeated: training runs differ by more than steps do.
pub const EPOCHS_SD: f64 = 0.03;
/// Repeats that what is assumed weighs as much as.
const ASSUMED: f64 = 2.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// Standard deviation of ln(step) of one measurement.
    pub step_sd: f64,
    /// Standard deviation of ln(epochs) of one training run.
    pub epochs_sd: f64,
    /// Repeats beyond the first of a configuration, and of the epochs of a batch.
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
    /// The repeats of a table that an import took, its batches being whose `batch_is` says: what is wrong with it was told.
    pub fn read(source: &Arc<Source>, batch_is: Option<BatchIs>) -> Repeats {
        let mut unread = Diagnostics::default();
        let required = ["vm", "workers", "batch", "step_s"];
        let optional = ["compute_s", "communication_s", "noise", "epochs"];
        let table = Table::read(source, &required, &optional, &mut unread);
        let (mut steps, mut epochs) = (BTreeMap::new(), BTreeMap::new());
        for row in table.iter().flat_map(Table::rows) {
            let d = &mut unread;
            let vm = row.name("vm", d).map(str::to_owned);
            let mut whole = |column| {
                let value = row.whole_number(column, 1..=u64::from(u32::MAX), d)?;
                u32::try_from(value).ok()
            };
            let (workers, batch) = (whole("workers"), whole("batch"));
            let batch = match batch_is {
                Some(BatchIs::Local) => {
                    (batch.zip(workers)).and_then(|(each, workers)| each.checked_mul(workers))
                }
                _ => batch,
            };
            let above = || (std::ops::Bound::Excluded(0.0), std::ops::Bound::Unbounded);
            let step = row.number("step_s", above(), d);
            let passes = row.optional_number("epochs", above(), d);
            let (Some(vm), Some(workers), Some(batch), Some(step)) = (vm, workers, batch, step)
            else {
                continue;
            };
            let key = (vm, workers, batch);
            steps
                .entry(key)
                .or_insert_with(Vec::new)
                .push(libm::log(step));
            if let Some(passes) = passes {
                epochs
                    .entry(batch)
                    .or_insert_with(Vec::new)
                    .push(libm::log(passes));
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

/// The standard deviation within groups, with what is assumed as so many repeats more; and the repeats.
fn pooled<'a>(groups: impl Iterator<Item = &'a Vec<f64>>, assumed: f64) -> (f64, usize) {
    let (mut squares, mut repeats) = (0.0, 0);
    for group in groups {
        // A repeat that went astray says nothing of the others.
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

    #[test]
    fn many_repeats_outweigh_what_is_assumed_and_none_leave_it() {
        let none = Repeats::read(&Source::new("a", ""), None);
        assert_eq!(none, Repeats::default());
        let mut text = "vm,workers,batch,step_s,epochs\n".to_owned();
        for at in 0..200 {
            // ±10 % around one second.
            let step = if at % 2 == 0 { 0.9 } else { 1.1 };
            text += &format!("v,2,64,{step},\n");
        }
        text += "v,4,64,1.0,20\n";
        let repeats = Repeats::read(&Source::new("a", text), None);
        close(repeats.step_sd, 0.5 * libm::log(1.1 / 0.9), 0.01);
        assert_eq!(repeats.beyond_first, (199, 0));
        assert_eq!(repeats.epochs_sd, EPOCHS_SD);
        let (many, one) = (repeats.of_step("v", 2, 64), repeats.of_step("v", 4, 64));
        near(one / many, 200.0, 1e-9);
    }

    #[test]
    fn equal_batches_of_each_worker_are_no_repeats_of_one_global_batch() {
        let text = "vm,workers,batch,step_s,epochs\nv,2,32,1.0,10\nv,4,32,1.0,20\nv,4,32,1.0,\n";
        let source = Source::new("a", text);
        let local = Repeats::read(&source, Some(BatchIs::Local));
        assert_eq!(local.beyond_first, (1, 0));
        assert_eq!(local.epochs_sd, EPOCHS_SD);
        let (twice, once) = (local.of_step("v", 4, 128), local.of_step("v", 2, 64));
        near(once / twice, 2.0, 1e-9);
        assert_eq!(Repeats::read(&source, None).beyond_first, (1, 1));
    }
}

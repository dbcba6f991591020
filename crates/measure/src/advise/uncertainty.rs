//! The errors of a workload's predictions, and their correlation between configurations. Steps: by the [law with its
//! residual](scavsim_data::workload::residual). Epochs: errors are a random field in the logarithm of the global batch,
//! scaled by leaving out measurements.

use super::machines::{Machine, Machines};
use super::process::{Place, Process};
use super::repeats::Repeats;
use scavsim_base::stats::student_t;
use scavsim_data::configuration::Configuration;
use scavsim_data::workload::epochs::{UNTOLD, UNTOLD_WEIGHT};
use scavsim_data::workload::{Epochs, StepCosts, Workload};

/// Not measured, like [`UNTOLD`]: growth of errors for each factor of two outside the measurements, relative to those among them.
const GROWTH: f64 = 1.0;

#[derive(Debug, Clone)]
pub struct Uncertainty<'w> {
    steps: &'w StepCosts,
    repeats: Repeats,
    /// `None` if the epochs of all batches are equal because the user gave them.
    epochs: Option<Process>,
    /// The least and the greatest batch with known epochs.
    batches: [f64; 2],
}

/// Covariances of errors of ln(time) between configurations, by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariances {
    pub count: usize,
    pub steps: Vec<f64>,
    pub epochs: Vec<f64>,
}

impl Covariances {
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        self.steps[a * self.count + b] + self.epochs[a * self.count + b]
    }

    pub fn sd(&self, at: usize) -> f64 {
        self.covariance(at, at).max(0.0).sqrt()
    }
}

impl<'w> Uncertainty<'w> {
    /// The uncertainty of a workload whose epochs are known from `runs`, or `stated` for all batches.
    pub fn for_workload(
        workload: &'w Workload,
        repeats: &Repeats,
        stated: bool,
    ) -> Uncertainty<'w> {
        let epochs = (!stated).then(|| epochs_process(workload, repeats));
        let known = (workload.epochs.rows().iter()).map(|row| f64::from(row.batch));
        Uncertainty {
            steps: &workload.steps,
            repeats: repeats.clone(),
            epochs,
            batches: ends(known),
        }
    }

    /// The batch with known epochs, if those of all others are assumed.
    pub fn only_batch(&self) -> Option<u32> {
        let [least, greatest] = self.batches;
        (self.epochs.is_some() && least == greatest).then_some(least as u32)
    }

    pub fn covariances(&self, configurations: &[Configuration]) -> Covariances {
        let count = configurations.len();
        let batches: Vec<Place> = (configurations.iter())
            .map(|c| batch_place(c.batch, self.batches.map(libm::log)))
            .collect();
        Covariances {
            count,
            steps: (self.steps).covariances(configurations, &|c| {
                self.repeats.of_step(&c.vm, c.workers, c.batch)
            }),
            epochs: match &self.epochs {
                Some(epochs) => epochs.covariance(&batches),
                None => vec![0.0; count * count],
            },
        }
    }
}

impl Uncertainty<'_> {
    /// Covariances of the errors of `configurations`, also on unmeasured machines; `shares` are of communication in steps.
    pub fn with_machines(
        &self,
        configurations: &[Configuration],
        shares: &[f64],
        machines: &Machines,
    ) -> Covariances {
        let reach = machines.reach();
        let measured = configurations
            .iter()
            .map(|c| reach.measured(c).0.into_owned());
        let mut all = self.covariances(&measured.collect::<Vec<_>>());
        let own: Vec<Option<&Machine>> = configurations
            .iter()
            .map(|c| machines.machine_of_shape(&c.vm))
            .collect();
        for i in 0..all.count {
            for j in 0..all.count {
                if let (Some(a), Some(b)) = (own[i], own[j]) {
                    all.steps[i * all.count + j] +=
                        machines.covariance([a, b], [shares[i], shares[j]]);
                }
            }
        }
        all
    }
}

fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
        [low.min(v), high.max(v)]
    })
}

/// Error at a distance outside `ends`, relative to the error between them.
fn scale(x: f64, [low, high]: [f64; 2]) -> f64 {
    let beyond = (low - x).max(x - high).max(0.0);
    if beyond.is_finite() {
        1.0 + GROWTH * beyond / std::f64::consts::LN_2
    } else {
        1.0
    }
}

fn batch_place(batch: u32, ends: [f64; 2]) -> Place {
    let x = libm::log(f64::from(batch));
    Place {
        x,
        scale: scale(x, ends),
    }
}

/// Mean of squares, with [`UNTOLD`] as additional points.
#[derive(Default)]
struct Squares {
    sum: f64,
    count: f64,
}

impl Squares {
    fn add(&mut self, error: f64, left: f64) {
        if error.is_finite() && left > 1e-6 {
            self.sum += error * error / left;
            self.count += 1.0;
        }
    }

    /// Wider with few points, like Student's distribution.
    fn sigma(&self) -> f64 {
        let free = self.count + f64::from(UNTOLD_WEIGHT);
        let all = self.sum + f64::from(UNTOLD_WEIGHT) * UNTOLD * UNTOLD;
        (all / free).sqrt() * student_t::wider(0.975, free as u64)
    }
}

fn epochs_process(workload: &Workload, repeats: &Repeats) -> Process {
    let rows = workload.epochs.rows();
    let mut batches: Vec<u32> = rows.iter().map(|row| row.batch).collect();
    batches.sort_unstable();
    batches.dedup();
    let ends = ends(batches.iter().map(|b| libm::log(f64::from(*b))));
    let places = batches.iter().map(|b| batch_place(*b, ends)).collect();
    let own = batches.iter().map(|b| repeats.of_epochs(*b)).collect();
    let process = Process::new(places, own, UNTOLD);
    let left = process.left_without();
    let mut squares = Squares::default();
    for (batch, left) in batches.iter().zip(&left) {
        let others = rows.iter().filter(|row| row.batch != *batch).cloned();
        let table = Epochs::new(others.collect(), workload.laws.epochs, &|_| None);
        for row in rows.iter().filter(|row| row.batch == *batch) {
            if let Some((told, _)) = table.epochs_at(row.workers.unwrap_or(1), *batch) {
                squares.add(libm::log(told / row.epochs), *left);
            }
        }
    }
    process.scaled(squares.sigma())
}

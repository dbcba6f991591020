//! The law of a worker's time by its size, from times of whole jobs with barriers.

use super::minimise::levenberg_marquardt;
use scavsim_data::workload::law::worker::zero;
use scavsim_data::workload::law::{Speed, WorkerLaw};
use scavsim_read::input::checked::{NonNegative, Positive};

#[derive(Debug, Clone, PartialEq)]
pub struct TimedStep {
    /// Samples and size of each worker.
    pub workers: Vec<(f64, f64)>,
    pub step_s: f64,
}

/// Seconds of a step without variation, for workers with these samples and sizes and a barrier.
pub fn barrier_s(law: &WorkerLaw, workers: &[(f64, f64)]) -> f64 {
    let means_s = || (workers.iter()).map(|&(batch, size)| law.step_s(batch, size, None));
    means_s().fold(0.0, f64::max) + law.waiting_step_s(means_s())
}

/// Cost of a factor of e in a constant, as a relative error: it fixes constants that the times do not determine.
const HOLD: f64 = 0.01;

/// t(b) = (w + b)·u/n^p and the cost of waiting a, from four times or more, by least squares of their logarithms. Waiting
/// costs nothing unless the times need it. w, p and a are held, weakly, near a worker's number of samples, near 1, and near
/// the shortest step. `None` if there are fewer times, or no law is found.
pub fn by_size(steps: &[TimedStep]) -> Option<WorkerLaw> {
    let first = steps.first().filter(|_| steps.len() >= 4)?;
    let samples = first.workers.iter().map(|worker| worker.0).sum::<f64>();
    let samples = samples / first.workers.len() as f64;
    let shortest_s = (steps.iter()).fold(f64::INFINITY, |least, step| least.min(step.step_s));
    let near = [samples, 1.0, shortest_s].map(libm::log);
    let residuals = |law: Option<WorkerLaw>, held: &[f64]| -> Vec<f64> {
        let off = |step: &TimedStep| match law {
            Some(law) => libm::log(barrier_s(&law, &step.workers) / step.step_s),
            None => f64::INFINITY,
        };
        let held = held.iter().zip(near).map(|(at, near)| HOLD * (at - near));
        steps.iter().map(off).chain(held).collect()
    };
    let mut best: Option<(WorkerLaw, f64)> = None;
    let mut offer = |found: Option<(Option<WorkerLaw>, f64)>| {
        // An additional constant must explain something.
        if let Some((Some(law), loss)) = found
            && best.is_none_or(|(_, least)| loss < least * (1.0 - 1e-9))
        {
            best = Some((law, loss));
        }
    };
    for exponent in [0.5, 1.0, 1.5] {
        for fixed in [0.3, 1.5] {
            let at = [libm::log(fixed * samples), libm::log(exponent)];
            // Seconds per sample for which the first step has its measured time.
            let sample = -residuals(worker_law([0.0, at[0], at[1]], None), &[])[0];
            let start = [sample, at[0], at[1]];
            let without = |at: &[f64; 3]| residuals(worker_law(*at, None), &at[1..]);
            let found = levenberg_marquardt(start, without);
            offer(found.map(|(at, loss)| (worker_law(at, None), loss)));
            for waiting in [0.2, 2.0] {
                let start = [
                    start[0],
                    start[1],
                    start[2],
                    libm::log(waiting * shortest_s),
                ];
                let law = |at: &[f64; 4]| worker_law([at[0], at[1], at[2]], Some(at[3]));
                let found = levenberg_marquardt(start, |at| residuals(law(at), &at[1..]));
                offer(found.map(|(at, loss)| (law(&at), loss)));
            }
        }
    }
    best.map(|(law, _)| law)
}

fn worker_law([sample_s, fixed, exponent]: [f64; 3], waiting: Option<f64>) -> Option<WorkerLaw> {
    let waiting_s = match waiting {
        Some(waiting) => NonNegative::new(libm::exp(waiting))?,
        None => zero(),
    };
    Some(WorkerLaw {
        sample_s: Positive::new(libm::exp(sample_s))?,
        fixed_samples: NonNegative::new(libm::exp(fixed))?,
        fixed_s: zero(),
        speed: Speed::Power {
            exponent: Positive::new(libm::exp(exponent))?,
        },
        fixed_speed: None,
        beyond_knee: None,
        waiting_s,
    })
}

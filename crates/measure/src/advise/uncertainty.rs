//! How far off a workload's predictions may be, and how much of that two configurations share.
//!
//! The prediction is the workload's own. Its errors are taken as a random field in the logarithms of workers and local
//! batch, and of the global batch for epochs, whose size is told by leaving out what was measured.
//!
//! A workload tells a [`Spread`](scavsim_data::workload::Spread) of its own, for one prediction at a time. What a measurement of one
//! configuration says of another asks how their errors go together, which that does not know.

use std::collections::BTreeMap;

use super::process::{Place, Process};
use super::repeats::Repeats;
use scavsim_base::stats::student_t;
use scavsim_data::configuration::{Configuration, Shape, vm_type};
use scavsim_data::workload::step_cost::StepRow;
use scavsim_data::workload::{Communication, Epochs, Laws, StepCosts, Workload};

/// Standard deviation of ln(predicted/true) where nothing can be left out. No measurement: these three are chosen by the
/// coverage of intervals in `cargo bench --bench studies -- advise`.
const UNTOLD: f64 = 0.15;
/// Points that it weighs as much as.
const UNTOLD_WEIGHT: f64 = 3.0;
/// How much larger errors are for each factor of two beyond the measurements, over those among them.
const GROWTH: f64 = 1.0;
/// Parameters of a law: with so many points its errors on them say nothing.
const PARAMETERS: f64 = 3.0;

/// Errors of step and epochs.
#[derive(Debug, Clone)]
pub struct Uncertainty {
    steps: Process,
    groups: Groups,
    /// `None` where epochs are the same for every batch because somebody said so.
    epochs: Option<Process>,
    /// Logarithms of the least and the greatest batch whose epochs are known.
    batches: [f64; 2],
}

/// Covariances of errors of ln(time) between configurations, by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariances {
    /// Configurations.
    pub count: usize,
    /// Covariances of the step.
    pub steps: Vec<f64>,
    /// Covariances of the epochs.
    pub epochs: Vec<f64>,
}

impl Covariances {
    /// Covariance of ln(time) of two.
    pub fn of(&self, a: usize, b: usize) -> f64 {
        self.steps[a * self.count + b] + self.epochs[a * self.count + b]
    }

    /// Standard deviation of ln(time) of one.
    pub fn sd(&self, at: usize) -> f64 {
        self.of(at, at).max(0.0).sqrt()
    }
}

impl Uncertainty {
    /// The uncertainty of a workload whose epochs are known from `runs` of it, or `stated` for all batches.
    pub fn of(workload: &Workload, repeats: Repeats, stated: bool) -> Uncertainty {
        let groups = Groups::of(workload);
        let measured: Vec<&Configuration> = workload.steps.points().map(|(c, _)| c).collect();
        let places = measured.iter().map(|c| groups.place(c)).collect();
        let own = (measured.iter())
            .map(|c| repeats.of_step(&c.vm, c.workers, c.batch))
            .collect();
        let steps = Process::new(places, own, UNTOLD);
        let sigma = step_sigma(workload, &steps);
        let epochs = (!stated).then(|| epochs_process(workload, &repeats));
        let known = workload
            .epochs
            .rows()
            .iter()
            .map(|row| f64::from(row.batch));
        Uncertainty {
            steps: steps.scaled(sigma),
            groups,
            epochs,
            batches: ends(known.map(libm::log)),
        }
    }

    /// Covariances of the errors of `configurations`.
    pub fn covariances(&self, configurations: &[Configuration]) -> Covariances {
        let count = configurations.len();
        let places: Vec<Place> = (configurations.iter())
            .map(|c| self.groups.place(c))
            .collect();
        let batches: Vec<Place> = (configurations.iter())
            .map(|c| batch_place(c.batch, self.batches))
            .collect();
        Covariances {
            count,
            steps: self.steps.covariance(&places),
            epochs: match &self.epochs {
                Some(epochs) => epochs.covariance(&batches),
                None => vec![0.0; count * count],
            },
        }
    }
}

/// What was measured of each VM type.
#[derive(Debug, Clone)]
struct Groups(BTreeMap<String, (usize, [[f64; 2]; 2])>);

/// The least and the greatest.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
        [low.min(v), high.max(v)]
    })
}

/// Errors at so far beyond `ends`, over those between them.
fn scale(x: f64, [low, high]: [f64; 2]) -> f64 {
    let beyond = (low - x).max(x - high).max(0.0);
    if beyond.is_finite() {
        1.0 + GROWTH * beyond / std::f64::consts::LN_2
    } else {
        1.0
    }
}

impl Groups {
    fn of(workload: &Workload) -> Groups {
        let mut groups = BTreeMap::new();
        for shape in workload.steps.shapes() {
            let own = |of: fn(&Configuration) -> f64| {
                let all = workload.steps.points().map(|(c, _)| c);
                ends(all.filter(|c| vm_type(&c.vm) == vm_type(shape)).map(of))
            };
            let hull = [own(|c| logs(c)[0]), own(|c| logs(c)[1])];
            let next = groups.len();
            groups
                .entry(vm_type(shape).to_owned())
                .or_insert((next, hull));
        }
        Groups(groups)
    }

    fn place(&self, c: &Configuration) -> Place {
        let vms = Shape::parse(&c.vm).ok().and_then(|s| s.vms(c.workers));
        let x = logs(c);
        let group = self.0.get(vm_type(&c.vm));
        Place {
            // One that was never measured shares nothing with those that were.
            group: group.map_or(usize::MAX, |(group, _)| *group),
            is_one_vm: vms == Some(1),
            x,
            scale: group.map_or(1.0, |(_, hull)| scale(x[0], hull[0]) * scale(x[1], hull[1])),
        }
    }
}

/// Logarithms of workers and of the local batch.
fn logs(c: &Configuration) -> [f64; 2] {
    [libm::log(f64::from(c.workers)), libm::log(c.local_batch())]
}

fn batch_place(batch: u32, ends: [f64; 2]) -> Place {
    let x = libm::log(f64::from(batch));
    Place {
        group: 0,
        is_one_vm: false,
        x: [x, 0.0],
        scale: scale(x, ends),
    }
}

/// Mean of squares, with [`UNTOLD`] as so many points more.
#[derive(Default)]
struct Squares {
    sum: f64,
    count: f64,
    /// Parameters that were fitted to the points.
    spent: f64,
}

impl Squares {
    fn add(&mut self, error: f64, left: f64) {
        if error.is_finite() && left > 1e-6 {
            self.sum += error * error / left;
            self.count += 1.0;
        }
    }

    /// Wider where few points tell it, as Student's distribution is.
    fn sigma(&self) -> f64 {
        let free = (self.count - self.spent).max(0.0) + UNTOLD_WEIGHT;
        let all = self.sum + UNTOLD_WEIGHT * UNTOLD * UNTOLD;
        (all / free).sqrt() * student_t::wider(0.975, free as u64)
    }
}

/// The standard deviation of errors far from anything measured, from each measurement left out of the table, and
/// from those of the laws on what they were fitted to.
fn step_sigma(workload: &Workload, process: &Process) -> f64 {
    let rows: Vec<StepRow> = (workload.steps.points())
        .map(|(c, cost)| StepRow {
            vm: c.vm.clone(),
            workers: c.workers,
            batch: c.batch,
            step_s: cost.total_s(),
            communication_s: Some(cost.communication_s),
        })
        .collect();
    let left = process.left_without();
    // The law of a VM type has seen what is left out, and takes too long to fit again for each.
    let laws = Laws {
        pooled: BTreeMap::new(),
        ..workload.laws.clone()
    };
    let (mut inside, mut by_law) = (Squares::default(), Squares::default());
    for (out, (c, cost)) in workload.steps.points().enumerate() {
        let mut others = rows.clone();
        others.remove(out);
        let measured = workload.steps.measured;
        if let Ok(table) = StepCosts::new(others, measured, Communication::Known, &laws)
            && let Some((told, _)) = table.at(c)
        {
            inside.add(libm::log(told.total_s() / cost.total_s()), left[out]);
        }
        let law = workload.laws.steps.get(&*c.vm);
        if let Some(told) = law.and_then(|l| l.cost(c.workers, c.local_batch(), 1.0, 1.0)) {
            by_law.add(libm::log(told.total_s() / cost.total_s()), 1.0);
        }
    }
    by_law.spent = PARAMETERS * workload.laws.steps.len() as f64;
    match (inside.count > 0.0, by_law.count > 0.0) {
        (true, true) => inside.sigma().max(by_law.sigma()),
        (true, false) => inside.sigma(),
        _ => by_law.sigma(),
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
            if let Some((told, _)) = table.at(row.workers.unwrap_or(1), *batch) {
                squares.add(libm::log(told / row.epochs), *left);
            }
        }
    }
    process.scaled(squares.sigma())
}

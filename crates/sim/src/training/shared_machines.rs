//! The slowest worker where machines differ and workers on one VM share its machine. A VM is m·S late: m its machine's
//! factor, log-normal with mean 1, S the slowest of its workers on equal machines. VMs are independent, the workers of one
//! are not.

use super::slowest;
use super::variation::WorkerTime;
use scavsim_base::stats::normal;

/// Nodes of the machines' normal variable per σ, and how far they reach.
const NODES_PER_SIGMA: u32 = 12;
const REACH: u32 = 9;

/// Mean of the slowest worker relative to one worker's mean. `layout` says how many workers are on how many VMs,
/// `vm_sigma` is the standard deviation of the logarithm of a machine's factor, above 0.
pub fn mean_of_slowest(layout: &[(u32, u32)], time: WorkerTime, vm_sigma: f64) -> f64 {
    let over_all = WorkerTime {
        sigma: libm::hypot(time.sigma, vm_sigma),
        ..time
    };
    let vms: Vec<(LateVm, f64)> = (layout.iter())
        .map(|(each, vms)| {
            (
                LateVm::new(f64::from(*each), time, vm_sigma),
                f64::from(*vms),
            )
        })
        .collect();
    let slowest = slowest::integrate(over_all, &[0.0], |log_time| {
        let (mut product, mut hazard) = (1.0, 0.0);
        for (vm, count) in &vms {
            let (density, cdf) = vm.density_and_cdf(log_time);
            if cdf <= 0.0 {
                return 0.0;
            }
            product *= libm::pow(cdf, *count);
            hazard += count * density / cdf;
        }
        product * hazard
    });
    slowest.mean
}

/// ln(lateness of a VM), as a sum over nodes of the part that varies less: what is left is smooth.
enum LateVm {
    /// Over the slowest worker: its values with their odds.
    Workers {
        nodes: Vec<(f64, f64)>,
        vm_sigma: f64,
    },
    /// Over the machine: its values with their odds; so many workers are on it.
    Machine {
        nodes: Vec<(f64, f64)>,
        each: f64,
        time: WorkerTime,
    },
}

impl LateVm {
    fn new(each: f64, time: WorkerTime, vm_sigma: f64) -> LateVm {
        let mean = -0.5 * vm_sigma * vm_sigma;
        if time.has_no_spread() {
            // Either nobody straggles or somebody does.
            let plain = mean + time.log_scale();
            let nodes = match time.straggler {
                None => vec![(plain, 1.0)],
                Some(s) => {
                    let none = libm::pow(1.0 - s.probability, each);
                    vec![(plain, none), (plain + libm::log(s.factor), 1.0 - none)]
                }
            };
            return LateVm::Workers { nodes, vm_sigma };
        }
        if time.sigma < vm_sigma {
            let odds = |(y, step): (f64, f64)| {
                let (density, cdf) = slowest::one_worker(time, y);
                (mean + y, each * libm::pow(cdf, each - 1.0) * density * step)
            };
            let nodes = slowest::nodes(time, &[0.0]).into_iter().map(odds);
            return LateVm::Workers {
                nodes: nodes.collect(),
                vm_sigma,
            };
        }
        let half = (REACH * NODES_PER_SIGMA) as i32;
        let step = 1.0 / f64::from(NODES_PER_SIGMA);
        let nodes = (-half..=half).map(|i| {
            let z = f64::from(i) * step;
            (mean + vm_sigma * z, normal::density(z) * step)
        });
        LateVm::Machine {
            nodes: nodes.collect(),
            each,
            time,
        }
    }

    fn density_and_cdf(&self, log_time: f64) -> (f64, f64) {
        let sum = |nodes: &[(f64, f64)], one: &dyn Fn(f64) -> (f64, f64)| {
            nodes.iter().fold((0.0, 0.0), |(density, cdf), (y, odds)| {
                let (own_density, own_cdf) = one(log_time - y);
                (density + odds * own_density, cdf + odds * own_cdf)
            })
        };
        match self {
            LateVm::Workers { nodes, vm_sigma } => sum(nodes, &|y| {
                let z = y / vm_sigma;
                (normal::density(z) / vm_sigma, normal::cdf(z))
            }),
            LateVm::Machine { nodes, each, time } => sum(nodes, &|y| {
                let (density, cdf) = slowest::one_worker(*time, y);
                let others = libm::pow(cdf, each - 1.0);
                (each * others * density, others * cdf)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{drawn, near, straggler, stream, variation};
    use crate::training::variation::Straggler;
    use scavsim_base::rng::UnitLogNormal;
    use scavsim_base::stats::Welford;

    const SIGMAS: [(f64, f64); 4] = [(0.05, 0.2), (0.2, 0.05), (0.1, 0.1), (0.3, 1e-6)];

    fn time(step_cv: f64, straggler: Option<Straggler>) -> WorkerTime {
        variation(step_cv, straggler).worker_time()
    }

    #[test]
    fn workers_by_themselves_wait_as_for_one_log_normal() {
        for (step_cv, vm_sigma) in SIGMAS {
            let time = time(step_cv, None);
            let over_all = WorkerTime {
                sigma: libm::hypot(time.sigma, vm_sigma),
                ..time
            };
            for workers in [1, 2, 16, 256] {
                let shared = mean_of_slowest(&[(1, workers)], time, vm_sigma);
                let known = slowest::moments(workers, over_all).mean;
                near(shared, known, 1e-9);
            }
        }
    }

    #[test]
    fn workers_on_one_vm_wait_as_on_equal_machines() {
        for (step_cv, vm_sigma) in SIGMAS.into_iter().chain([(0.0, 0.1)]) {
            for straggler in [None, straggler(0.02, 4.0)] {
                let time = time(step_cv, straggler);
                let shared = mean_of_slowest(&[(8, 1)], time, vm_sigma);
                near(shared, slowest::moments(8, time).mean, 1e-8);
            }
        }
    }

    /// Four standard errors of 200,000 steps, at a fixed seed.
    #[test]
    fn the_mean_is_that_of_draws_on_vms_that_hold_unlike_numbers_of_workers() {
        let straggler = straggler(0.02, 4.0);
        let layout = [(4, 2), (2, 1), (1, 1)];
        for (step_cv, straggler) in [(0.1, None), (0.2, straggler), (0.0, straggler)] {
            let (time, machine) = (time(step_cv, straggler), UnitLogNormal::from_sigma(0.15));
            let mut stream = stream(3);
            let mut seen = Welford::default();
            for _ in 0..200_000 {
                let mut slowest_s = 0.0f64;
                for (each, vms) in layout {
                    for _ in 0..vms {
                        let factor = machine.sample(&mut stream);
                        slowest_s = slowest_s.max(factor * slowest::draw(each, time, &mut stream));
                    }
                }
                seen.add(slowest_s);
            }
            drawn(&seen, mean_of_slowest(&layout, time, 0.15), 4.0);
        }
    }
}

//! What the tests of several modules share.

use crate::training::slowest;
use crate::training::stepping::Stepping;
use crate::training::sync::Protocol;
use crate::training::variation::{Family, Straggler, Variation, WorkerTime};
use scavsim_base::stats::Welford;
pub use scavsim_base::tests::{close, near, stream};
use scavsim_data::cloud::lifetimes::{Exponential, Kind, Lifetime, Model};

/// The mean of what was drawn is within so many standard errors.
#[track_caller]
pub fn drawn(seen: &Welford, expected: f64, errors: f64) {
    let error = seen.standard_deviation() / (seen.count() as f64).sqrt();
    near(seen.mean(), expected, errors * error + 1e-12);
}

pub fn straggler(probability: f64, factor: f64) -> Option<Straggler> {
    Some(Straggler {
        probability,
        factor,
    })
}

pub fn log_normal(sigma: f64, straggler: Option<Straggler>) -> WorkerTime {
    WorkerTime {
        sigma,
        straggler,
        family: Family::LogNormal,
    }
}

pub fn variation(step_cv: f64, straggler: Option<Straggler>) -> Variation {
    Variation {
        step_cv,
        straggler,
        ..Variation::default()
    }
}

pub fn stepping(workers: u32, [worker_s, communication_s]: [f64; 2], time: WorkerTime) -> Stepping {
    Stepping {
        workers,
        worker_s,
        communication_s,
        time,
        slowest: slowest::moments(workers, time),
        machines: None,
    }
}

pub fn protocol(text: &str) -> Protocol {
    toml::from_str(text).expect("a protocol")
}

/// How long VMs of a model live that are lost each by itself.
pub fn life_of(model: &str) -> Lifetime {
    match &Model::named(model).expect("it is there").kind {
        Kind::Alone(life) => life.clone(),
        other => panic!("{other:?}"),
    }
}

pub fn memoryless(mean_h: f64) -> Lifetime {
    Lifetime::new(Exponential::new(mean_h).expect("it is legal"), None)
}

//! Asynchronous workers and their parameter servers.

use super::draws::SEED;
use super::file_inputs::FileInputs;
use super::function::{Function, function};
use super::no_value::NoValue;
use scavsim_base::rng::{Purpose, Streams};
use scavsim_base::units::SimTime;
use scavsim_engine::Interrupt;
use scavsim_read::expression::Arguments;
use scavsim_read::input::checked::{Delay, Machines, Spread};
use scavsim_sim::job::Job;
use scavsim_sim::training::drift::DriftPath;
use scavsim_sim::training::sync::fast::Pace;
use scavsim_sim::training::sync::{Asp, Goal, Protocol, ServiceTime};
use scavsim_sim::training::{Stepping, Variation, slowest};

pub(super) const FUNCTIONS: &[Function] = &[function!(
    asp_speed [
        "workers", "alone_s", "servers", "service_s", "service_cv", "updates", "step_cv?"
    ] "updates per second of workers whose step takes so long alone, its update included, simulated with their servers"
)];

const MOST_UPDATES: u64 = 100_000_001;
const MOST_WORKERS: u64 = 1_000_001;

fn asp_speed(given: &FileInputs, arguments: &Arguments<'_>) -> Result<f64, NoValue> {
    let updates = arguments.whole_number("updates", 1..MOST_UPDATES)?;
    let workers = arguments.whole_number("workers", 1..MOST_WORKERS)? as u32;
    let servers = arguments.whole_number("servers", 1..MOST_WORKERS)? as u32;
    let service_cv = Spread::new(arguments.number("service_cv")?);
    let asp = Asp {
        servers: Machines::new(servers).ok_or(NoValue::Servers)?,
        service_s: Delay::new(arguments.number("service_s")?)
            .ok_or(NoValue::OutOfRange("the service time"))?,
        service: ServiceTime::Cv(
            service_cv.ok_or(NoValue::OutOfRange("the variation of service"))?,
        ),
        step_includes_service: true,
    };
    let alone_s = arguments.number("alone_s")?;
    if !(alone_s > 0.0 && alone_s.is_finite()) {
        return Err(NoValue::NotPositive("`alone_s` is"));
    }
    let worker_s = alone_s - asp.part_s();
    if worker_s <= 0.0 {
        return Err(NoValue::SlowServers);
    }
    let variation = Variation {
        step_cv: arguments.optional_number("step_cv")?.unwrap_or(0.0),
        ..Variation::default()
    };
    let time = variation.worker_time();
    let stepping = Stepping {
        workers,
        worker_s,
        communication_s: 0.0,
        time,
        slowest: slowest::moments(workers, time),
        machines: None,
    };
    let protocol = Protocol::Asp(asp);
    let (fidelity, _) = protocol.settle(given.fidelity, &stepping, updates);
    let (pace, streams) = (Pace::new(protocol, &stepping), Streams::new(SEED));
    let mut stream = streams.stream(0, Purpose::Trial(u64::from(workers)));
    let job = Job::new(fidelity, SimTime::ZERO, DriftPath::still(), streams);
    let mut job = job.heeding(Interrupt::of_current_thread());
    job.stretch(&pace, &stepping, Goal::updates(updates), &mut stream)?;
    Ok(updates as f64 / job.now().seconds())
}

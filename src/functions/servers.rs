//! Asynchronous workers and their parameter servers.

use super::{Function, Given, SEED, function};
use crate::expression::Arguments;
use crate::input::checked::{Delay, Machines, Sharpness};
use crate::training::sync::{Asp, AspAlone, ServiceTime};

pub(super) const FUNCTIONS: &[Function] = &[
    function!(asp_speed ["workers", "alone_s", "servers", "service_s", "sharpness", "updates", "step_cv?"] "updates per second of workers whose step takes so long alone, simulated: servers by the saturating law"),
    function!(asp_round_s ["workers", "alone_s", "servers", "service_s", "sharpness"] "seconds of a step of each of so many workers by the saturating law"),
    function!(asp_queue_s ["workers", "alone_s", "servers", "service_s", "updates", "step_cv?", "before_workers?", "before_updates?"] "seconds of so many updates, each an event at servers with constant service, behind others of so many workers"),
];

const MOST_UPDATES: u64 = 100_000_001;
const MOST_WORKERS: u64 = 1_000_001;

fn asp(arguments: &Arguments<'_>, is_sharp: bool) -> Result<AspAlone, String> {
    let service_s = arguments.number("service_s")?;
    let servers = arguments.whole("servers", 1..MOST_WORKERS)? as u32;
    let sharpness = match is_sharp {
        true => {
            let sharpness = arguments.number("sharpness")?;
            Some(Sharpness::new(sharpness).ok_or("the sharpness is out of range")?)
        }
        false => None,
    };
    let asp = Asp {
        servers: Machines::new(servers).ok_or("so many servers are not legal")?,
        service_s: Delay::new(service_s).ok_or("the service time is out of range")?,
        service: ServiceTime::Constant,
        sharpness,
    };
    let alone_s = arguments.number("alone_s")?;
    if !(alone_s > 0.0 && alone_s.is_finite()) {
        return Err("`alone_s` is above 0".to_owned());
    }
    Ok(AspAlone {
        asp,
        own_s: alone_s,
        step_cv: arguments.optional_number("step_cv")?.unwrap_or(0.0),
        seed: SEED,
    })
}

fn workers(arguments: &Arguments<'_>, name: &str) -> Result<u32, String> {
    Ok(arguments.whole(name, 1..MOST_WORKERS)? as u32)
}

fn asp_speed(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    let updates = arguments.whole("updates", 1..MOST_UPDATES)?;
    asp(arguments, true)?.speed(workers(arguments, "workers")?, updates)
}

fn asp_round_s(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    let alone = asp(arguments, true)?;
    let workers = workers(arguments, "workers")?;
    let round_s = alone.asp.law_round_s(workers, alone.own_s);
    round_s.ok_or_else(|| "there is no such law".to_owned())
}

fn asp_queue_s(_: &Given, arguments: &Arguments<'_>) -> Result<f64, String> {
    let updates = arguments.whole("updates", 1..MOST_UPDATES)?;
    let mut stretches = Vec::new();
    if arguments.get("before_updates").is_some() {
        let before = arguments.whole("before_updates", 1..MOST_UPDATES)?;
        stretches.push((workers(arguments, "before_workers")?, before));
    }
    stretches.push((workers(arguments, "workers")?, updates));
    asp(arguments, false)?.queue_s(&stretches)
}

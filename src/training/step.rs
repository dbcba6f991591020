//! Fidelity `step`: one draw of the slowest worker per step, no queue inside a step.

use super::drift::DriftPath;
use super::progress::Advance;
use super::stepping::Stepping;
use crate::rng::Stream;
use crate::units::SimTime;

/// Trains `steps` steps from `start` on; also returns when they end.
pub fn advance(
    start: SimTime,
    drift: &mut DriftPath,
    stepping: &Stepping,
    steps: u64,
    mark: u64,
    stream: &mut Stream,
) -> (Advance, SimTime) {
    let never = SimTime::from_seconds(f64::INFINITY);
    let (advance, end, _) = advance_until(start, drift, stepping, steps, mark, never, stream);
    (advance, end)
}

/// The same, but no step is begun that ends after `until`; also returns how many ended by then. The end
/// is that of the step in which `until` came, where it came before.
pub fn advance_until(
    start: SimTime,
    drift: &mut DriftPath,
    stepping: &Stepping,
    steps: u64,
    mark: u64,
    until: SimTime,
    stream: &mut Stream,
) -> (Advance, SimTime, u64) {
    let mut now = start;
    let mut result = Advance::from(start);
    for done in 1..=steps {
        let compute_s = stepping.draw_slowest_s(stream);
        now += SimTime::from_seconds(compute_s);
        let (network, _) = drift.at(now);
        let communication_s = stepping.communication_s * network;
        now += SimTime::from_seconds(communication_s);
        if now > until {
            return (result, now, done - 1);
        }
        result.compute_s += compute_s;
        result.communication_s += communication_s;
        if done == mark {
            result.at_mark = now;
        }
    }
    (result, now, steps)
}

//! Steps that all workers end together, many at once.

use super::leap::Leap;
use super::stretch::Stretch;
use crate::training::slowest::Moments;
use crate::training::stepping::StepCondition;
use crate::training::sums::ComputeSum;
use scavsim_base::rng::Stream;
use scavsim_base::units::SimTime;

/// Takes independent steps until the goal of `leap`, as many in one draw as are expected before the network changes, and says
/// when. `one` is the compute of a step relative to a worker's mean; `draw` draws one in seconds. Gradients are left to the
/// protocol.
pub(super) fn take_steps(
    leap: Leap<'_>,
    one: Moments,
    mut draw: impl FnMut(&mut Stream, StepCondition) -> f64,
) -> (Stretch, SimTime) {
    let Leap {
        start,
        drift,
        stepping,
        goal,
        stream,
        interrupt,
        ..
    } = leap;
    let mut stretch = Stretch::from(start);
    let mut now = start;
    while stretch.updates < goal.updates && !interrupt.is_raised() {
        let (network, mut ends) = drift.factor_at(now);
        let compute_s = stepping.worker_s * one.mean;
        let mut communication_s = stepping.communication_s * network;
        let left = goal.updates - stretch.updates;
        // Short periods together, as far as neither the goal nor the mark is expected before they end.
        let limit = || {
            let ahead = match goal.mark.checked_sub(stretch.updates) {
                None | Some(0) => left,
                Some(to_mark) => left.min(to_mark),
            };
            let usual_s = compute_s + stepping.communication_s;
            let expected = now + SimTime::from_seconds(ahead as f64 * usual_s);
            expected.min(goal.until)
        };
        let parts = (compute_s, stepping.communication_s);
        if let Some((step_s, end)) = drift.block(now, limit, parts) {
            (communication_s, ends) = (step_s - compute_s, end);
        }
        let mean_s = compute_s + communication_s;
        // As many as are expected before the network changes or the time is up.
        let room_s = (ends.min(goal.until) - now).seconds();
        let room = room_s / mean_s;
        let mut count = if room >= left as f64 {
            left
        } else {
            left.min(room.ceil().max(1.0) as u64)
        };
        let marked = goal.mark.saturating_sub(stretch.updates).min(count);
        let mut walk = ComputeSum::draw(stepping, one, count, marked, &mut draw, stream);
        let mut total = walk.total_s();
        let before = walk.before_s(marked, stream);
        let end = |steps: u64, compute_s: f64| {
            now + SimTime::from_seconds(compute_s + steps as f64 * communication_s)
        };
        let mut over = false;
        if end(count, total) > goal.until {
            let in_time = |n: u64, t: f64| end(n, t) <= goal.until;
            (count, total) = walk.in_time(in_time, stream);
            over = true;
        }
        if marked > 0 && goal.mark <= stretch.updates + count {
            stretch.advance.at_mark = end(marked, before).min(goal.until);
        }
        stretch.advance.compute_s += total;
        stretch.advance.communication_s += count as f64 * communication_s;
        stretch.updates += count;
        now = end(count, total);
        if over {
            return (stretch, goal.until);
        }
    }
    (stretch, now)
}

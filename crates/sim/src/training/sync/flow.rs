//! Updates in no common step, many at once: their rate, how the time of many varies, and the delay by a common start.

use super::leap::Leap;
use super::stretch::{Stretch, deviations, ratio};
use crate::training::sums::{bridge, skewed};
use scavsim_base::units::SimTime;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flow {
    /// Updates per second.
    pub(super) rate: f64,
    /// Seconds by which a common start delays all of them.
    pub(super) late_s: f64,
    /// Standard deviation of that delay.
    pub(super) late_deviation_s: f64,
    /// Standard deviation of the time of n updates over √n, seconds.
    pub(super) deviation_s: f64,
    /// Skewness of the time of n updates times √n.
    pub(super) skewness: f64,
    /// Mean fraction of a worker's time that is not compute.
    pub(super) communication: f64,
    /// Seconds that an update keeps a parameter server busy.
    pub(super) served_s: f64,
}

/// What is ahead until the network changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowAhead {
    /// Updates so far, and to the goal.
    pub(super) done: u64,
    pub(super) left: u64,
    /// Seconds until the network changes or time is up.
    pub(super) seconds: f64,
}

/// Updates until the goal is reached, and when that is; `flow_at` gives their flow at a network factor, for what is ahead at
/// it. Each is counted as one gradient that missed nothing.
pub(super) fn updates(
    leap: &mut Leap<'_>,
    mut flow_at: impl FnMut(f64, FlowAhead) -> Flow,
) -> (Stretch, SimTime) {
    let Leap {
        start,
        drift,
        goal,
        stream,
        interrupt,
        ..
    } = leap;
    let (start, goal) = (*start, *goal);
    let mut stretch = Stretch::from(start);
    let mut now = start;
    let (mut communication_s, mut served_s) = (0.0, 0.0);
    // When so many updates are done in the mean, its variance, and the time of one more.
    let (mut mean_s, mut variance, mut one_s) = (0.0, 0.0, 0.0);
    while stretch.updates < goal.updates && now < goal.until && !interrupt.is_raised() {
        let (network, ends) = drift.factor_at(now);
        let room_s = (ends.min(goal.until) - now).seconds();
        let left = goal.updates - stretch.updates;
        let room = FlowAhead {
            done: stretch.updates,
            left,
            seconds: room_s,
        };
        let flow = flow_at(network, room);
        let mut count = left.min((room_s * flow.rate).ceil().max(1.0) as u64);
        // Only the start is in step.
        let late_s = match now == start {
            true if flow.late_deviation_s > 0.0 => {
                flow.late_s + flow.late_deviation_s * stream.normal()
            }
            true => flow.late_s,
            false => 0.0,
        };
        let n = count as f64;
        let bent = skewed(stream.normal(), flow.skewness / n.sqrt());
        let mut total = (n / flow.rate + late_s + flow.deviation_s * n.sqrt() * bent).max(0.0);
        let end = |seconds: f64| now + SimTime::from_seconds(seconds);
        let marked = goal.mark.saturating_sub(stretch.updates);
        if (1..=count).contains(&marked) {
            let (m, rest) = (marked as f64, (count - marked) as f64);
            let spread = flow.deviation_s * (m / n * rest).sqrt() * stream.normal();
            // The start delays all updates alike.
            let at_s = late_s + m / n * (total - late_s) + spread;
            stretch.advance.at_mark = end(at_s.clamp(0.0, total));
        }
        let over = end(total) > goal.until;
        if over {
            let in_time = |_: u64, at: f64| end(at) <= goal.until;
            let whole = (count, total);
            (count, _) = bridge((0, late_s), whole, flow.deviation_s, in_time, stream);
            total = (goal.until - now).seconds();
        }
        stretch.updates += count;
        if now == start {
            mean_s += flow.late_s;
            variance += flow.late_deviation_s * flow.late_deviation_s;
        }
        mean_s += count as f64 / flow.rate;
        variance += count as f64 * flow.deviation_s * flow.deviation_s;
        one_s = if over { 1.0 / flow.rate } else { 0.0 };
        communication_s += total * flow.communication;
        served_s += count as f64 * flow.served_s;
        now = if over { goal.until } else { end(total) };
    }
    if goal.mark > stretch.updates {
        stretch.advance.at_mark = start;
    }
    stretch.gradients = stretch.updates;
    let elapsed_s = (now - start).seconds();
    stretch.divide(elapsed_s, communication_s);
    stretch.utilisation = ratio(served_s, elapsed_s);
    // Time that was up before an update came tells nothing of when it would have come.
    let off_s = match stretch.updates {
        0 => (elapsed_s - mean_s).max(0.0),
        _ => elapsed_s - mean_s,
    };
    stretch.deviations = deviations(off_s, one_s, variance.sqrt(), elapsed_s);
    (stretch, now)
}

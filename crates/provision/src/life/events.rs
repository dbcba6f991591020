//! What happened between two decisions, as far as a policy may know it.
//!
//! Whether a spot market has machines is no event: that is learned by asking, or by a probe.

use super::desk::Desk;
use super::state::Place;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Spot machines were lost in this zone.
    Lost(usize),
    /// Machines have started, and work, in this zone.
    Works(usize),
    /// A checkpoint was written: seconds of work that are kept if machines are lost.
    Checkpoint(f64),
    /// The spot price of this zone is another one.
    Price(usize),
    /// Less slack is left than two changeovers and a tick.
    DeadlineNear,
}

/// What a policy has seen of its life: it remembers it from one decision to the next.
///
/// ```
/// use scavsim_provision::face::{Desk, Event, Policy, Seen};
///
/// /// Goes on demand after its first loss.
/// #[derive(Debug, Default)]
/// struct Wary(Seen);
///
/// impl Policy for Wary {
///     fn decide(&mut self, desk: &mut Desk<'_, '_>) {
///         let lost = |event: &Event| matches!(event, Event::Lost(_));
///         if desk.events(&mut self.0).iter().any(lost) {
///             desk.go_on_demand(0);
///         } else if desk.running().is_none() {
///             desk.try_spot(0);
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Spot prices of all zones; none before the first look.
    prices_usd: Vec<f64>,
    /// Machines that work.
    working: Option<Place>,
    losses: u32,
    saved_s: f64,
    is_near: bool,
    /// What the last look found.
    events: Vec<Event>,
}

impl Seen {
    /// What the last look found.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl Desk<'_, '_> {
    /// What happened since `seen` was last shown this desk; nothing at the first time. Prices are looked at in every zone, and
    /// a price that went and came back meanwhile is no event.
    pub fn events<'s>(&self, seen: &'s mut Seen) -> &'s [Event] {
        seen.events.clear();
        let is_first = seen.prices_usd.is_empty();
        let working = self.running().filter(|_| self.start_up_left_s() <= 0.0);
        let (losses, saved_s) = (self.losses(), self.saved_s());
        let is_near = self.slack_s() < 2.0 * self.changeover_s() + self.tick_s();
        if is_first {
            seen.prices_usd.resize(self.zones(), f64::NAN);
        } else {
            if losses > seen.losses
                && let Some(zone) = self.last_loss()
            {
                seen.events.push(Event::Lost(zone));
            }
            if let Some(place) = working
                && seen.working != working
            {
                seen.events.push(Event::Works(place.zone));
            }
            if self.checkpoint_every_s().is_some() && saved_s > seen.saved_s {
                seen.events.push(Event::Checkpoint(saved_s));
            }
            for (zone, before) in seen.prices_usd.iter().enumerate() {
                if self.spot_usd_per_h(zone) != *before {
                    seen.events.push(Event::Price(zone));
                }
            }
            if is_near && !seen.is_near {
                seen.events.push(Event::DeadlineNear);
            }
        }
        for (zone, price) in seen.prices_usd.iter_mut().enumerate() {
            *price = self.spot_usd_per_h(zone);
        }
        seen.working = working;
        seen.losses = losses;
        seen.saved_s = saved_s;
        seen.is_near = is_near;
        &seen.events
    }
}

//! Events between two decisions, as far as a policy may know them; the state of a spot market is learned by asking or probing.

use super::policy_view::PolicyView;
use crate::world::Place;
use scavsim_base::units::SimTime;

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
/// use scavsim_provision::face::{PolicyView, Event, Policy, LastLook};
///
/// /// Goes on demand after its first loss.
/// #[derive(Debug, Default)]
/// struct OnDemandAfterLoss(LastLook);
///
/// impl Policy for OnDemandAfterLoss {
///     fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
///         let lost = |event: &Event| matches!(event, Event::Lost(_));
///         if view.events(&mut self.0).iter().any(lost) {
///             view.go_on_demand(0);
///         } else if view.running().is_none() {
///             view.try_spot(0);
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct LastLook {
    /// None before the first look.
    prices_usd: Vec<f64>,
    working: Option<Place>,
    losses: u32,
    saved_s: f64,
    is_near: bool,
    events: Vec<Event>,
}

impl LastLook {
    /// What the last look found.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl PolicyView<'_, '_> {
    /// Events since the last `look` at this run, in this order: a loss, machines that work, a checkpoint (seconds of work), prices
    /// by zone, a near deadline. None at the first look. A price that went and came back meanwhile is no event.
    pub fn events<'s>(&self, look: &'s mut LastLook) -> &'s [Event] {
        look.events.clear();
        let is_first = look.prices_usd.is_empty();
        let working = self.running().filter(|_| self.start_up_left_s() <= 0.0);
        let (losses, saved_s) = (self.losses(), self.saved_s());
        let times = self.times();
        let near = times.changeover + times.changeover + times.tick;
        let is_near = SimTime::from_seconds(self.slack_s()) < near;
        if is_first {
            look.prices_usd.resize(self.zones(), f64::NAN);
        } else {
            if losses > look.losses
                && let Some(zone) = self.last_loss()
            {
                look.events.push(Event::Lost(zone));
            }
            if let Some(place) = working
                && look.working != working
            {
                look.events.push(Event::Works(place.zone));
            }
            if self.checkpoint_every_s().is_some() && saved_s > look.saved_s {
                look.events.push(Event::Checkpoint(saved_s));
            }
            for (zone, before) in look.prices_usd.iter().enumerate() {
                if self.spot_usd_per_h(zone) != *before {
                    look.events.push(Event::Price(zone));
                }
            }
            if is_near && !look.is_near {
                look.events.push(Event::DeadlineNear);
            }
        }
        for (zone, price) in look.prices_usd.iter_mut().enumerate() {
            *price = self.spot_usd_per_h(zone);
        }
        look.working = working;
        look.losses = losses;
        look.saved_s = saved_s;
        look.is_near = is_near;
        &look.events
    }
}

//! Uniform Progress (Wu and others, NSDI 2024): progress never falls behind the straight line to the deadline. Spot while there is any;
//! on demand where progress is behind the line, then until it is two changeovers ahead.

use super::{Net, OnDemandZone, Policy, Recipe, order};
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;
use scavsim_base::units::SimTime;

/// Uniform Progress, over one zone or with failover to others.
#[derive(Debug, Default)]
pub struct UniformProgress {
    /// Whether machines on demand are given back before spot machines are asked for, and a job exactly two changeovers ahead stays on
    /// demand, as in the source's simulator over several zones: a tick passes without machines where spot has none.
    pub stops_first: bool,
    pub on_demand_zone: OnDemandZone,
    last: Option<usize>,
}

struct Progress {
    behind: bool,
    /// Whether it has reached the line of two changeovers later.
    well_ahead: bool,
    /// Whether only on-demand machines still keep the deadline.
    last_moment: bool,
    tight: bool,
}

impl Progress {
    fn from_view(view: &PolicyView<'_, '_>, stays_at_tie: bool) -> Self {
        let times = view.times();
        let product =
            |a: SimTime, b: SimTime| u128::from(a.nanoseconds()) * u128::from(b.nanoseconds());
        // Work times deadline, so that nothing is rounded.
        let line = |at: SimTime| product(at, times.work);
        let done = product(times.done, times.deadline);
        let later = times.now + times.changeover + times.changeover;
        Progress {
            behind: done < line(times.now),
            well_ahead: done > line(later) || (done == line(later) && !stays_at_tie),
            last_moment: view.is_last_moment(),
            tight: later + times.work - times.done > times.deadline,
        }
    }
}

impl UniformProgress {
    fn zone(&self, view: &PolicyView<'_, '_>) -> usize {
        let last = self
            .last
            .or(view.checkpoint())
            .filter(|_| self.on_demand_zone == OnDemandZone::Last);
        last.unwrap_or_else(|| view.cheapest_on_demand(on_demand_s(view)))
    }
}

/// Seconds of work on demand until it is two changeovers ahead, without offers.
fn on_demand_s(view: &PolicyView<'_, '_>) -> f64 {
    let share = view.work_s() / view.deadline_s();
    let begins_s = view.elapsed_s() + 3.0 * view.changeover_s();
    let behind_s = begins_s * share - view.done_s();
    (behind_s / (1.0 - share).max(1e-9)).clamp(0.0, view.left_s())
}

impl Policy for UniformProgress {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let progress = Progress::from_view(view, self.stops_first);
        self.last = view.running().map(|place| place.zone).or(self.last);
        let has_to = progress.last_moment || progress.tight;
        match view.running().map(|place| place.market) {
            Some(Market::Spot) => {
                // At the last moment machines that work already may stay: if they are lost there is still time.
                if progress.last_moment && view.start_up_left_s() > 0.0 {
                    view.go_on_demand(self.zone(view));
                }
            }
            Some(Market::OnDemand) => {
                if progress.well_ahead {
                    if self.stops_first {
                        view.stop();
                    }
                    order::try_by_price(view, self.last);
                }
            }
            None if has_to => view.go_on_demand(self.zone(view)),
            None => {
                if !order::try_by_price(view, self.last) && progress.behind {
                    view.go_on_demand(self.zone(view));
                }
            }
        }
    }

    fn net(&self) -> Net {
        if self.stops_first {
            Net::Strict
        } else {
            Net::Patient
        }
    }

    fn on_demand_zone(&self) -> OnDemandZone {
        self.on_demand_zone
    }
}

settings! {
    /// Settings of the policy `uniform-progress`.
    pub struct UniformProgressSettings {
        /// Where it goes on demand.
        pub on_demand_zone: OnDemandZone,
    }

    name: "uniform-progress",
    what: "spot while there is any; on demand where progress is behind the straight line to the deadline, until it is two changeovers ahead",
    formula: "behind: done < t x work / deadline; back to spot: done > (t + 2 d) x work / deadline",
    source: "Wu and others, NSDI 2024",
    example: "policy.names = [\"uniform-progress\"]",
}

impl Recipe for UniformProgressSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(UniformProgress {
            stops_first: false,
            on_demand_zone: self.on_demand_zone,
            last: None,
        })
    }
}

settings! {
    /// Settings of the policy `uniform-progress-failover`.
    pub struct UniformProgressFailoverSettings {
        /// Where it goes on demand.
        pub on_demand_zone: OnDemandZone = OnDemandZone::Last,
    }

    name: "uniform-progress-failover",
    what: "uniform progress as SkyNomad runs it over zones: machines on demand are given back before spot machines are asked for, and the net is strict",
    formula: "as uniform-progress",
    source: "andylizf/skynomad-artifact",
    example: "policy.names = [\"uniform-progress-failover\"]",
}

impl Recipe for UniformProgressFailoverSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(UniformProgress {
            stops_first: true,
            on_demand_zone: self.on_demand_zone,
            last: None,
        })
    }
}

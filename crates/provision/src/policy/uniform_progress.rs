//! Uniform Progress (Wu and others, NSDI 2024): progress never falls behind the straight line to the deadline.
//!
//! Spot while there is any; on demand where progress is behind the line; then on demand until it is two changeovers
//! ahead.

use serde::Deserialize;

use super::{Net, Policy, Recipe, order};
use crate::job::whole;
use crate::life::Market;
use crate::life::desk::Desk;
use scavsim_base::{Declaration, Declared};

/// Uniform Progress, over one zone or with failover to others.
#[derive(Debug, Default)]
pub struct UniformProgress {
    /// Whether machines on demand are given back before spot machines are asked for, so that nothing runs for a tick
    /// where there are none: as the source's simulator does over several zones.
    pub stops_first: bool,
    /// Zone where it ran last.
    last: Option<usize>,
}

impl UniformProgress {
    /// With or without the wait after on-demand machines are given back.
    pub fn new(stops_first: bool) -> Self {
        UniformProgress {
            stops_first,
            last: None,
        }
    }
}

/// How far progress is.
struct Progress {
    /// Whether it is behind the line.
    behind: bool,
    /// Whether it is as far as the line will be two changeovers later.
    well_ahead: bool,
    /// Whether the time left is but what on-demand machines take.
    last_moment: bool,
    /// Whether there is no time for two changeovers.
    tight: bool,
}

impl Progress {
    fn of(desk: &Desk<'_, '_>) -> Self {
        let line = |at_s: f64| at_s * desk.work_s() / desk.deadline_s();
        let (now, done, d) = (desk.elapsed_s(), desk.done_s(), desk.changeover_s());
        let needed = |s: f64| whole((desk.left_s() + s) / desk.tick_s(), f64::ceil);
        Progress {
            behind: done < line(now),
            well_ahead: done > line(now + 2.0 * d),
            last_moment: desk.is_last_moment(),
            tight: needed(2.0 * d) > desk.ticks_left(),
        }
    }
}

impl Policy for UniformProgress {
    fn decide(&mut self, desk: &mut Desk<'_, '_>) {
        let progress = Progress::of(desk);
        let running = desk.running();
        if let Some(place) = running {
            self.last = Some(place.zone);
        }
        let here =
            (self.last.or(desk.checkpoint())).unwrap_or_else(|| order::cheapest_on_demand(desk));
        let has_to = progress.last_moment || progress.tight;
        match running.map(|place| place.market) {
            Some(Market::Spot) => {
                // At the last moment machines that work already may stay: if they are lost there is still time.
                if progress.last_moment && desk.start_up_left_s() > 0.0 {
                    desk.go_on_demand(here);
                }
            }
            Some(Market::OnDemand) => {
                if progress.well_ahead {
                    if self.stops_first {
                        desk.stop();
                    }
                    let zones = order::by_price(desk, self.last);
                    order::try_in_order(desk, &zones);
                }
            }
            None if has_to => desk.go_on_demand(here),
            None => {
                let zones = order::by_price(desk, self.last);
                if !order::try_in_order(desk, &zones) && progress.behind {
                    desk.go_on_demand(here);
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
}

/// Settings of the policy `uniform-progress`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformProgressSettings {}

impl Declared for UniformProgressSettings {
    const DECLARATION: Declaration = Declaration {
        name: "uniform-progress",
        what: "spot while there is any; on demand where progress is behind the straight line to the deadline, until it is two changeovers ahead",
        formula: "behind: done < t x work / deadline; back to spot: done > (t + 2 d) x work / deadline",
        source: "Wu and others, NSDI 2024",
        example: "policy.names = [\"uniform-progress\"]",
    };
}

impl Recipe for UniformProgressSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(UniformProgress::new(false))
    }
}

/// Settings of the policy `uniform-progress-failover`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformProgressFailoverSettings {}

impl Declared for UniformProgressFailoverSettings {
    const DECLARATION: Declaration = Declaration {
        name: "uniform-progress-failover",
        what: "uniform progress as SkyNomad runs it over zones: machines on demand are given back before spot machines are asked for, and the net is strict",
        formula: "as uniform-progress",
        source: "andylizf/skynomad-artifact",
        example: "policy.names = [\"uniform-progress-failover\"]",
    };
}

impl Recipe for UniformProgressFailoverSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(UniformProgress::new(true))
    }
}

//! The cheapest size that keeps pace with the deadline.
//!
//! The rest needs some seconds of work per second. Of the forms in spot markets that are faster by a margin, the one with the least USD
//! per work is taken. It stays while it is fast enough and no other is cheaper after its start. Where none is fast enough, the fastest
//! is taken; machines on demand are left to the net.

use super::Policy;
use crate::policy_run::Market;
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;
use scavsim_read::input::checked::{AtLeastOne, Positive};

settings! {
    /// Keeps pace with the deadline.
    pub struct KeepPace {
        /// How many times as fast as the rest needs a form must be that it changes to.
        pub margin: AtLeastOne = AtLeastOne::new(1.25).expect("it is legal"),
        /// Hours that machines are expected to stay, over which starts and egress are spread.
        pub stay_h: Positive = Positive::new(2.0).expect("it is positive"),
    }

    name: "keep-pace",
    what: "of the sizes that spot markets have, the cheapest per work that is faster than the rest needs by a margin; else the fastest",
    formula: "least (price x stay + egress) / (speed x (stay - start)), speed >= margin x rest of work / rest of time",
    source: "this project",
    example: "policy.names = [\"keep-pace\"]",
}

#[derive(Debug, Clone, Copy)]
struct Offer {
    zone: usize,
    form: usize,
    /// Mean speed until the work is done.
    speed: f64,
    /// USD per hour of work, with start and egress.
    usd: f64,
}

impl KeepPace {
    fn offer(&self, view: &PolicyView<'_, '_>, zone: usize, form: usize, is_here: bool) -> Offer {
        let speed = view.left_s() / view.rest_s(form);
        let (start_s, egress_usd) = if is_here {
            (view.start_up_left_s(), 0.0)
        } else {
            (view.changeover_s(), view.egress_usd(zone))
        };
        let paid_h = self
            .stay_h
            .get()
            .min((start_s + view.rest_s(form)) / 3600.0);
        let works_h = (paid_h - start_s / 3600.0).max(1e-6);
        Offer {
            zone,
            form,
            speed,
            usd: (view.spot_usd_per_h_as(zone, form) * paid_h + egress_usd) / (speed * works_h),
        }
    }
}

impl Policy for KeepPace {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        let here = match (view.running(), view.running_form()) {
            (Some(place), Some(form)) if place.market == Market::Spot => {
                Some(self.offer(view, place.zone, form, true))
            }
            _ => None,
        };
        let left_s = view.deadline_s() - view.elapsed_s() - view.changeover_s();
        let needed = view.left_s() / left_s.max(view.tick_s());
        let mut offers = Vec::with_capacity(view.zones() * view.forms());
        for zone in 0..view.zones() {
            for form in (0..view.forms()).filter(|&form| view.is_served(zone, form)) {
                let offer = self.offer(view, zone, form, false);
                let keeps_pace = offer.speed >= self.margin.get() * needed;
                let is_better = here.is_none_or(|here| {
                    if keeps_pace && here.speed >= needed {
                        offer.usd < here.usd
                    } else {
                        offer.speed > here.speed && here.speed < needed
                    }
                });
                if is_better {
                    offers.push((keeps_pace, offer));
                }
            }
        }
        offers.sort_by(|(a_keeps, a), (b_keeps, b)| {
            let faster = b.speed.total_cmp(&a.speed);
            let cheaper = a.usd.total_cmp(&b.usd);
            let same = if *a_keeps {
                cheaper
            } else {
                faster.then(cheaper)
            };
            b_keeps.cmp(a_keeps).then(same)
        });
        for (_, offer) in offers {
            if view.try_spot_as(offer.zone, offer.form) {
                return;
            }
        }
    }
}

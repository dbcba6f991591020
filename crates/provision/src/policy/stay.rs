//! One place and one form, chosen at the start: what a choice is worth that nobody changes.

use super::{Policy, Recipe};
use crate::policy_run::policy_view::PolicyView;
use scavsim_base::settings;

settings! {
    /// Stays with its first choice.
    pub struct StaySettings {}

    name: "stay",
    what: "the zone and size that cost least at the start, spot while there is any, on demand from the last moment; never another",
    formula: "least price x rest of work, of the sizes that keep the deadline without losses",
    source: "a configuration chosen once, as most tools do",
    example: "policy.names = [\"stay\"]",
}

#[derive(Debug, Default)]
pub(super) struct Stay {
    /// Zone and form.
    choice: Option<(usize, usize)>,
}

impl Recipe for StaySettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(Stay::default())
    }
}

impl Stay {
    /// Zones and forms that keep the deadline if nothing is lost, the cheapest first.
    fn offers(view: &PolicyView<'_, '_>) -> Vec<(usize, usize)> {
        let all =
            (0..view.zones()).flat_map(|zone| (0..view.forms()).map(move |form| (zone, form)));
        let is_served = |&(zone, form): &(usize, usize)| view.is_served(zone, form);
        let usd = |(zone, form)| view.spot_usd_per_h_as(zone, form) * view.rest_s(form);
        let is_late = |form| view.changeover_s() + view.rest_s(form) > view.deadline_s();
        let mut offers: Vec<(usize, usize)> = all.filter(is_served).collect();
        offers.sort_by(|a, b| {
            let in_time = is_late(a.1).cmp(&is_late(b.1));
            in_time.then(usd(*a).total_cmp(&usd(*b)))
        });
        offers
    }
}

impl Stay {
    /// Asks for the machines of its choice, in the form that `form_of` makes of it; chooses first where there is none.
    pub(super) fn start(
        &mut self,
        view: &mut PolicyView<'_, '_>,
        form_of: impl Fn(usize) -> usize,
    ) {
        let offers = match self.choice {
            Some(choice) => vec![choice],
            None => Stay::offers(view),
        };
        let taken = (offers.iter()).find(|&&(zone, form)| view.try_spot_as(zone, form_of(form)));
        self.choice = taken.or(offers.first()).copied();
    }
}

impl Policy for Stay {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        if view.running().is_none() {
            self.start(view, |form| form);
        }
    }
}

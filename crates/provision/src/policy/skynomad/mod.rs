//! SkyNomad's utility over zones (NSDI 2027): the value of progress against price, remaining lifetime and egress.
//!
//! An option of price C, expected remaining lifetime L and egress E has the utility V max(L − d, 0)/L − C − E/L per hour, waiting has
//! 0. V is the price on demand times how much faster the rest must go than planned. The highest utility is taken where it beats the
//! present one by a margin. `lifetimes` gives L, from the runs in `zone_runs`.

mod lifetimes;
mod zone_runs;

use super::{Net, OnDemandZone, Policy, Recipe};
use crate::policy_run::policy_view::PolicyView;
use crate::policy_run::{Market, Place};
use crate::world::Window;
use scavsim_base::settings;
use scavsim_read::input::checked::{Count, NonNegative, Positive};
use zone_runs::{End, Runs, Source};

settings! {
    /// Settings of the policy `skynomad`.
    pub struct SkyNomadSettings {
        /// USD per hour by which another option must be better.
        pub margin_usd_per_h: NonNegative = NonNegative::new(0.51).expect("it is legal"),
        /// The margin's share of the value of progress.
        pub margin_share: NonNegative = NonNegative::new(0.05).expect("it is legal"),
        /// Ticks between probes of a zone.
        pub probe_every_ticks: Count = Count::new(6).expect("it is legal"),
        /// Hours beyond which no lifetime is believed; none by default.
        pub longest_life_h: Option<Positive>,
        /// Where its net goes on demand.
        pub on_demand_zone: OnDemandZone = OnDemandZone::Last,
    }

    name: "skynomad",
    what: "the highest utility over zones and markets, by what progress is worth, price, expected remaining lifetime and egress",
    formula: "U = V max(L - d, 0)/L - C - E/L; V = price on demand x (rest of work / rest of time) / (work / deadline); L by Nelson-Aalen",
    source: "SkyNomad, NSDI 2027; andylizf/skynomad-artifact",
    example: "policy.names = [\"skynomad\"]",
}

impl Recipe for SkyNomadSettings {
    fn policy(&self) -> Box<dyn Policy> {
        Box::new(SkyNomad::new(self, None))
    }
}

settings! {
    /// Settings of the policy `skynomad-true-lifetimes`.
    pub struct SkyNomadTrueLifetimesSettings {}

    name: "skynomad-true-lifetimes",
    what: "skynomad, knowing how long each zone's machines will stay: a bound, out of reach",
    formula: "as skynomad, L as it comes",
    source: "SkyNomad, NSDI 2027; andylizf/skynomad-artifact",
    example: "policy.names = [\"skynomad-true-lifetimes\"]",
}

impl Recipe for SkyNomadTrueLifetimesSettings {
    fn policy(&self) -> Box<dyn Policy> {
        SkyNomadSettings::default().policy()
    }

    fn knowing(&self, future: Window<'_>) -> Option<Box<dyn Policy>> {
        let world = future.world();
        let lifetimes = |zone: usize| {
            let mut until = vec![0_u32; future.ticks() + 1];
            for tick in (0..future.ticks()).rev() {
                let is_up = future.offered(zone, tick) > 0;
                until[tick] = if is_up { until[tick + 1] + 1 } else { 0 };
            }
            until
        };
        let truth = (0..world.zones.len()).map(lifetimes).collect();
        let settings = SkyNomadSettings::default();
        Some(Box::new(SkyNomad::new(&settings, Some(truth))))
    }
}

#[derive(Debug)]
pub struct SkyNomad {
    settings: SkyNomadSettings,
    /// Ticks that each zone's machines will stay, per tick; where known.
    truth: Option<Vec<Vec<u32>>>,
    zones: Vec<ZoneState>,
    /// Zone of its spot machines, and whether it gives them back itself.
    spot: Option<(usize, bool)>,
    last: Option<usize>,
    /// Choices of this tick; kept to reuse memory.
    choices: Vec<Choice>,
}

#[derive(Debug, Default)]
struct ZoneState {
    runs: Runs,
    is_probed: bool,
    /// Whether it was up when last asked without own machines.
    was_up: Option<bool>,
    probed_h: f64,
    /// Hours of a probe in the tick before.
    paid_h: f64,
    refused: bool,
    /// Expected hours of its machines at the begin of this tick.
    life_h: f64,
    next_probe: usize,
    /// USD per hour at its last request or probe, or at the begin.
    usd_per_h: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Choice {
    utility: f64,
    place: Option<Place>,
}

impl SkyNomad {
    fn new(settings: &SkyNomadSettings, truth: Option<Vec<Vec<u32>>>) -> Self {
        SkyNomad {
            settings: settings.clone(),
            truth,
            zones: Vec::new(),
            spot: None,
            last: None,
            choices: Vec::new(),
        }
    }

    /// Value of an hour of progress, at least the cheapest spot price.
    fn value(&self, view: &PolicyView<'_, '_>) -> f64 {
        let least = |price: &dyn Fn(usize) -> f64| {
            let prices = (0..view.zones()).map(price);
            prices.fold(f64::INFINITY, f64::min)
        };
        let left_s = view.deadline_s() - view.elapsed_s();
        let rate = view.left_s() / left_s;
        let planned = view.work_s() / view.deadline_s();
        let value = least(&|zone| view.on_demand_usd_per_h(zone)) * rate / planned;
        value.max(least(&|zone| self.price(view, zone)))
    }

    /// Expected hours of a zone's machines at the begin of this tick.
    fn lifetime_h(&mut self, view: &PolicyView<'_, '_>, zone: usize) -> f64 {
        if let Some(truth) = &self.truth {
            return f64::from(truth[zone][view.tick()]) * view.tick_s() / 3600.0;
        }
        let state = &mut self.zones[zone];
        let age_h = state.runs.age_h(view.elapsed_s()).unwrap_or(0.0);
        let tick_h = view.tick_s() / 3600.0;
        let life_h = state
            .runs
            .expected_h(age_h.max(state.probed_h), view.elapsed_s(), tick_h);
        let left_h = (view.deadline_s() - view.elapsed_s()) / 3600.0;
        let longest_h = self
            .settings
            .longest_life_h
            .map_or(f64::INFINITY, Positive::get);
        life_h.min(longest_h).min(left_h)
    }

    fn spot_utility(
        &self,
        view: &PolicyView<'_, '_>,
        zone: usize,
        value: f64,
        is_here: bool,
    ) -> f64 {
        let life_h = self.zones[zone].life_h;
        let start_up_h = if is_here {
            0.0
        } else {
            view.changeover_s() / 3600.0
        };
        let works_h = life_h - start_up_h;
        if works_h <= 0.0 {
            return f64::NEG_INFINITY;
        }
        (value * works_h - self.price(view, zone) * life_h) / life_h
    }

    /// The spot price at its last request.
    fn price(&self, view: &PolicyView<'_, '_>, zone: usize) -> f64 {
        let known = self.zones[zone].usd_per_h;
        known.unwrap_or_else(|| view.spot_usd_per_h(zone))
    }

    fn utility_now(&self, view: &PolicyView<'_, '_>, value: f64) -> f64 {
        match view.running() {
            None => 0.0,
            Some(place) if place.market == Market::Spot => {
                self.spot_utility(view, place.zone, value, true)
            }
            Some(place) => value - view.on_demand_usd_per_h(place.zone),
        }
    }

    /// Choices that may be better than the present one, best first.
    fn choices(&self, view: &PolicyView<'_, '_>, value: f64, now: f64, choices: &mut Vec<Choice>) {
        let running = view.running();
        let from = running.map(|place| place.zone).or(self.last);
        let egress = |zone: usize| from.map_or(0.0, |from| view.egress_between_usd(from, zone));
        let margin =
            self.settings.margin_usd_per_h.get() + self.settings.margin_share.get() * value;
        choices.clear();
        choices.push(Choice {
            utility: 0.0,
            place: None,
        });
        let mut add = |place: Place, utility: f64, is_better: bool| {
            if utility >= 0.0 && running != Some(place) && is_better {
                choices.push(Choice {
                    utility,
                    place: Some(place),
                });
            }
        };
        for zone in 0..view.zones() {
            let place = Market::Spot.in_zone(zone);
            let is_here = running == Some(place);
            let life_h = self.zones[zone].life_h;
            let utility =
                self.spot_utility(view, zone, value, is_here) - egress(zone) / life_h.max(1e-6);
            let elsewhere = running.is_some_and(|there| there.zone != zone);
            add(place, utility, !(elsewhere && utility <= now + margin));
        }
        for zone in 0..view.zones() {
            let moves = from.is_some_and(|from| from != zone);
            let start_up_h = view.changeover_s() / 3600.0;
            let penalty = if moves {
                start_up_h * value + egress(zone)
            } else {
                0.0
            };
            let utility = value - view.on_demand_usd_per_h(zone) - penalty;
            let is_better = running.is_none() || utility > now + margin;
            add(Market::OnDemand.in_zone(zone), utility, is_better);
        }
        choices.sort_by(|a, b| b.utility.total_cmp(&a.utility));
    }

    /// Takes the best available choice; the place after it.
    fn start_best_choice(
        &mut self,
        view: &mut PolicyView<'_, '_>,
        choices: &[Choice],
        now: f64,
    ) -> Option<Place> {
        let before = view.running();
        for choice in choices.iter().take_while(|choice| choice.utility > now) {
            let Some(place) = choice.place else {
                // Waiting is better, but machines that are there are kept.
                self.last = None;
                return None;
            };
            let zone = place.zone;
            match place.market {
                Market::Spot => {
                    let at_s = view.elapsed_s();
                    self.zones[zone].end_probe(at_s, End::Given);
                    self.zones[zone].usd_per_h = Some(view.spot_usd_per_h(zone));
                    if !view.try_spot(zone) {
                        self.refuse(zone, at_s);
                        continue;
                    }
                    self.zones[zone].runs.begin(at_s, Source::Own);
                    // A run of its own elsewhere is left open: it was not seen to end.
                    self.spot = Some((zone, before.is_some_and(|old| old.zone == zone)));
                    if let Some(before) = before {
                        self.see(before.zone, false, at_s);
                    }
                }
                Market::OnDemand => {
                    view.go_on_demand(zone);
                    let at_s = view.elapsed_s();
                    if let Some(before) = before {
                        if let Some((old, gives_back)) = &mut self.spot
                            && *old == before.zone
                        {
                            *gives_back = true;
                        }
                        self.see(before.zone, false, at_s);
                    }
                }
            }
            self.last = Some(zone);
            return Some(place);
        }
        before
    }

    fn refuse(&mut self, zone: usize, at_s: f64) {
        let state = &mut self.zones[zone];
        state.refused = true;
        state.runs.fail();
        self.see(zone, false, at_s);
    }

    /// Notes whether a zone without own machines has some: a virtual run.
    fn see(&mut self, zone: usize, is_up: bool, at_s: f64) {
        if self.spot.is_some_and(|(own, _)| own == zone) {
            return;
        }
        let state = &mut self.zones[zone];
        match state.was_up.replace(is_up) {
            Some(before) if before == is_up => {}
            Some(true) => state.runs.end(at_s, End::Lost),
            _ if is_up => state.runs.begin(at_s, Source::Probe),
            _ => {}
        }
    }

    fn probe(&mut self, view: &mut PolicyView<'_, '_>, at: Option<Place>) {
        let (tick, at_s) = (view.tick(), view.elapsed_s());
        for zone in 0..self.zones.len() {
            let state = &self.zones[zone];
            let is_here = at.is_some_and(|place| place.zone == zone);
            if is_here || state.is_probed || state.refused || tick < state.next_probe {
                continue;
            }
            let is_up = view.probe(zone);
            let state = &mut self.zones[zone];
            state.usd_per_h = Some(view.spot_usd_per_h(zone));
            state.next_probe = tick + self.settings.probe_every_ticks.get() as usize;
            if is_up {
                // The source tells hours of probes from what it is billed in the zone, machines on demand included.
                state.paid_h = match view.running() {
                    Some(here) if here.zone == zone && here.market == Market::OnDemand => {
                        let spot = view.spot_usd_per_h(zone);
                        view.on_demand_usd_per_h(zone) / spot * view.tick_s() / 3600.0
                    }
                    _ => 60.0 / 3600.0,
                };
                state.is_probed = true;
                state.runs.begin(at_s, Source::Probe);
            } else {
                state.runs.fail();
                state.runs.forget_virtual();
            }
            self.see(zone, is_up, at_s);
        }
        for state in &mut self.zones {
            state.refused = false;
        }
    }
}

impl ZoneState {
    fn end_probe(&mut self, at_s: f64, end: End) {
        if std::mem::take(&mut self.is_probed) {
            self.runs.end(at_s, end);
            self.runs.forget_virtual();
        }
    }
}

impl Policy for SkyNomad {
    fn decide(&mut self, view: &mut PolicyView<'_, '_>) {
        self.zones.resize_with(view.zones(), ZoneState::default);
        for (zone, state) in self.zones.iter_mut().enumerate() {
            state
                .usd_per_h
                .get_or_insert_with(|| view.spot_usd_per_h(zone));
        }
        let (at_s, tick_h) = (view.elapsed_s(), view.tick_s() / 3600.0);
        if let Some((zone, gives_back)) = self.spot
            && view.running() != Some(Market::Spot.in_zone(zone))
        {
            let end = if gives_back { End::Given } else { End::Lost };
            self.zones[zone].runs.end(at_s, end);
            // Not own any more when it is seen to be down.
            self.see(zone, false, at_s);
            self.spot = None;
        }
        for state in &mut self.zones {
            state.probed_h += std::mem::take(&mut state.paid_h);
            state.runs.pass(at_s, tick_h);
        }
        self.last = view.running().map(|place| place.zone).or(self.last);
        for zone in 0..self.zones.len() {
            self.zones[zone].life_h = self.lifetime_h(view, zone);
        }
        let value = self.value(view);
        let now = self.utility_now(view, value);
        let mut choices = std::mem::take(&mut self.choices);
        self.choices(view, value, now, &mut choices);
        let at = self.start_best_choice(view, &choices, now);
        self.choices = choices;
        if self.truth.is_none() {
            self.probe(view, at);
        }
    }

    fn net(&self) -> Net {
        Net::Strict
    }

    fn on_demand_zone(&self) -> OnDemandZone {
        self.settings.on_demand_zone
    }
}

//! The spot market of a choice: its price, how long machines stay, and how long they are away.

use std::collections::BTreeMap;

use scavsim_data::cloud::{Catalogue, Market};
use scavsim_measure::advise::offers::{self, Offer, PriceCaps};
use scavsim_measure::advise::rental::RentalChoice;
use scavsim_provision::world::written::WrittenMarket;
use scavsim_read::input::{Diagnostic, Diagnostics};

/// The market of the library whose runs and pauses replace unmeasured ones; its provider and VM type.
const STAND_IN: (&str, [&str; 2]) = ("aws-v100-2023", ["aws", "p3.2xlarge"]);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StatedSpotTimes {
    /// Mean hours of a machine until it is lost.
    pub(super) run_h: Option<f64>,
    /// Mean hours until a market has machines again.
    pub(super) pause_h: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MeanFrom {
    Said,
    /// Published for such machines, as lifetimes of this name.
    Published(&'static str),
    /// Measured on such machines in the region.
    Measured,
    /// Measured on another machine type.
    StandIn,
}

#[derive(Debug, Clone)]
pub(super) struct SpotMarket {
    pub(super) offer: Offer,
    /// Mean hours until one of all machines of the job is lost, and the origin of the value.
    pub(super) run_h: (f64, MeanFrom),
    /// Mean hours until there are machines again.
    pub(super) pause_h: (f64, MeanFrom),
}

/// Runs and pauses of the market that replaces unmeasured markets.
#[derive(Debug, Clone)]
pub(super) struct SubstituteMarket {
    pub(super) about: String,
    /// Mean hours from when a zone has machines until it has none.
    pub(super) run_h: f64,
    /// Mean hours from when a zone has no machine until it has one.
    pub(super) pause_h: f64,
    by_region: BTreeMap<String, [f64; 2]>,
}

/// Number of ticks and of ends, for pauses and for runs.
type Counts = [[f64; 2]; 2];

impl SubstituteMarket {
    /// Means over all zones of the market.
    pub(super) fn read(d: &mut Diagnostics) -> Option<SubstituteMarket> {
        let (name, _) = STAND_IN;
        let wrong = Diagnostic::general(format!("unknown market `{name}`"));
        let market = WrittenMarket::open(name, ".".as_ref(), wrong, d)?;
        let tick_h = market.world.tick_s / 3600.0;
        let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
        let mut all = Counts::default();
        for zone in &market.world.zones {
            let of_region = counts.entry(&zone.region).or_default();
            for pair in zone.offered.windows(2) {
                let [before, now] = [pair[0] > 0, pair[1] > 0];
                for counts in [&mut *of_region, &mut all] {
                    let own = &mut counts[usize::from(before)];
                    own[0] += 1.0;
                    own[1] += f64::from(u8::from(before != now));
                }
            }
        }
        let means_h = |[pauses, runs]: Counts| {
            [runs, pauses].map(|[ticks, ends]| tick_h * ticks / ends.max(1.0))
        };
        let [run_h, pause_h] = means_h(all);
        let by_region = counts.into_iter();
        let by_region = by_region.map(|(region, counts)| (region.to_owned(), means_h(counts)));
        Some(SubstituteMarket {
            run_h,
            pause_h,
            by_region: by_region.collect(),
            about: market.about,
        })
    }

    /// Measured means of runs and pauses for an offer's own machine, in its region.
    fn means_of_offer(&self, offer: &Offer) -> Option<[f64; 2]> {
        let (_, [provider, vm]) = STAND_IN;
        let is_it = offer.provider.as_deref() == Some(provider) && offer.vm == vm;
        let region = offer.region.as_deref().filter(|_| is_it)?;
        self.by_region.get(region).copied()
    }
}

impl SpotMarket {
    /// The spot market in which a choice is also offered on demand; `None` if no price is known.
    pub(super) fn for_choice(
        choice: &RentalChoice,
        said: StatedSpotTimes,
        stand_in: &SubstituteMarket,
        caps: &PriceCaps,
    ) -> Option<SpotMarket> {
        let offer = offers::offer_in_market(&choice.offer, Market::Spot, Catalogue::current())?;
        if (caps.spot_cap(&offer.vm)).is_some_and(|most| offer.usd_per_hour > most) {
            return None;
        }
        let published = offer.lifetime.and_then(|model| {
            Some((
                model.mean_h_of_first(choice.vms)?,
                MeanFrom::Published(&model.name),
            ))
        });
        let machines = f64::from(choice.vms.max(1));
        let measured = stand_in.means_of_offer(&offer);
        let run_h = match (said.run_h, measured, published) {
            (Some(hours), ..) => (hours / machines, MeanFrom::Said),
            (None, Some([hours, _]), _) => (hours / machines, MeanFrom::Measured),
            (None, None, Some(published)) => published,
            (None, None, None) => (stand_in.run_h / machines, MeanFrom::StandIn),
        };
        let pause_h = match (said.pause_h, measured) {
            (Some(hours), _) => (hours, MeanFrom::Said),
            (None, Some([_, hours])) => (hours, MeanFrom::Measured),
            (None, None) => (stand_in.pause_h, MeanFrom::StandIn),
        };
        Some(SpotMarket {
            offer,
            run_h,
            pause_h,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_pauses_of_the_stand_in_are_those_of_its_traces() {
        let mut d = Diagnostics::default();
        let stand_in = SubstituteMarket::read(&mut d).expect("it is shipped");
        // Hours up and down over ends of runs and pauses, counted by hand from the tables.
        assert!((stand_in.run_h - 3.352).abs() < 0.005, "{stand_in:?}");
        assert!((stand_in.pause_h - 1.851).abs() < 0.005, "{stand_in:?}");
        // Two zones: 0.7593 and 0.6822 of 20158 ticks of 195 s, with 145 and 174 losses.
        let up_h = (0.759_302 + 0.682_210) * 20_158.0 * 195.0 / 3600.0;
        let [run_h, _] = stand_in.by_region["us-east-2"];
        assert!((run_h / (up_h / 319.0) - 1.0).abs() < 2e-3, "{run_h}");
    }
}

//! What can be rented, and at what price on which day.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use super::Date;
use super::pack::Pack;
use super::prices::{self, Market, Price};
use super::sources::Sources;
use super::vm_types::{self, VmType};
use scavsim_read::input::{Diagnostics, closest};

#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    pub types: Vec<VmType>,
    /// Prices by provider, VM type, region, market and day.
    pub prices: Vec<Price>,
    index_of: HashMap<String, usize>,
    /// The last day of which any price is known.
    pub(super) newest_day: Date,
    pub pack: Option<Pack>,
}

/// The catalogue of this process, where a pack was taken.
static CURRENT: OnceLock<Catalogue> = OnceLock::new();

/// Terms under which a price is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub provider: String,
    pub region: String,
    pub market: Market,
    pub date: Date,
}

/// A price on demand that is so many times off all that are known is asked about.
const STRANGE: f64 = 3.0;

/// Why a price is doubted, and what may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceDoubt {
    pub sentence: String,
    pub help: String,
}

impl Catalogue {
    /// The embedded tables, read once per process, and what is wrong with them; a test keeps that empty.
    pub fn embedded() -> (&'static Catalogue, Diagnostics) {
        static READ: OnceLock<(Catalogue, Diagnostics)> = OnceLock::new();
        let (catalogue, diagnostics) = READ.get_or_init(|| {
            let mut diagnostics = Diagnostics::default();
            (Catalogue::read(&mut diagnostics), diagnostics)
        });
        (catalogue, diagnostics.clone())
    }

    fn read(diagnostics: &mut Diagnostics) -> Catalogue {
        let sources = Sources::embedded(diagnostics);
        let types = vm_types::embedded(&sources, diagnostics);
        Catalogue::new(types, prices::embedded(&sources, diagnostics))
    }

    fn new(types: Vec<VmType>, prices: Vec<Price>) -> Catalogue {
        let index_of = (types.iter().enumerate())
            .map(|(index, vm_type)| (vm_type.vm.clone(), index))
            .collect();
        let newest_day = prices.iter().map(|price| price.valid_to).max();
        Catalogue {
            types,
            prices,
            index_of,
            newest_day: newest_day.unwrap_or_default(),
            pack: None,
        }
    }

    /// What this program knows: the embedded tables, with the price pack that [`Catalogue::install_pack`] brought.
    pub fn current() -> &'static Catalogue {
        CURRENT.get().unwrap_or_else(|| Catalogue::embedded().0)
    }

    /// Installs a pack for the whole process, once, before any price is looked up; gives it back if one was installed before.
    pub fn install_pack(pack: Pack) -> Result<(), Box<Pack>> {
        if CURRENT.get().is_some() {
            return Err(Box::new(pack));
        }
        let all = Catalogue::embedded().0.with(pack);
        (CURRENT.set(all)).map_err(|mut all| Box::new(all.pack.take().unwrap_or_default()))
    }

    /// This catalogue with a pack beside it. Days and VM types that are known here keep their figures, so no dated result
    /// changes.
    pub fn with(&self, pack: Pack) -> Catalogue {
        let is_new = |price: &&Price| {
            let known = self.span(|own| own.key().cmp(&price.key()));
            let mut known = known.iter();
            known.all(|own| price.valid_to < own.valid_from || own.valid_to < price.valid_from)
        };
        let mut prices: Vec<Price> = pack.prices.iter().filter(is_new).cloned().collect();
        prices.extend_from_slice(&self.prices);
        prices.sort_by(|a, b| (a.key(), a.valid_from).cmp(&(b.key(), b.valid_from)));
        let new = |vm_type: &&VmType| self.vm_type(&vm_type.vm).is_none();
        let mut types = self.types.clone();
        types.extend(pack.types.iter().filter(new).cloned());
        Catalogue {
            pack: Some(pack),
            ..Catalogue::new(types, prices)
        }
    }

    pub fn vm_type(&self, vm: &str) -> Option<&VmType> {
        self.types.get(*self.index_of.get(vm)?)
    }

    /// The VM type that is written so in other letters, or as SageMaker writes it.
    pub fn spelled(&self, vm: &str) -> Option<&VmType> {
        let plain = vm.strip_prefix("ml.").unwrap_or(vm);
        let is_it = |own: &&VmType| own.vm.eq_ignore_ascii_case(plain);
        (self.vm_type(vm)).or_else(|| self.types.iter().find(is_it))
    }

    /// Why a price is hardly that of an hour: far from all known ones on demand, or a commitment above them.
    pub fn doubt_price(&self, vm: &str, market: Market, usd: f64) -> Option<PriceDoubt> {
        let listed = self.vm_type(vm)?;
        let all = self.prices_of(&listed.provider, vm).iter();
        let on_demand = all.filter(|price| price.market == Market::OnDemand);
        let last = on_demand.clone().map(|price| price.valid_to).max()?;
        let known = on_demand.filter(|price| price.valid_to == last);
        let ends = known.fold((f64::INFINITY, 0.0_f64), |(least, most), price| {
            (least.min(price.usd_per_hour), most.max(price.usd_per_hour))
        });
        let most = match market {
            Market::Spot => return None,
            Market::OnDemand => STRANGE * ends.1,
            Market::Commitment1y | Market::Commitment3y => ends.1,
        };
        let least = match market {
            Market::OnDemand => ends.0 / STRANGE,
            _ => 0.0,
        };
        let gpus = listed.gpu_count();
        // What is paid for costs 0.
        let (times, word, near, help) = if usd > most {
            let help = "expected USD of one hour, not of a month or a whole term".to_owned();
            (usd / ends.1, "above", ends.1, help)
        } else if usd < least && usd > 0.0 {
            let help = match gpus {
                2.. => format!(
                    "it has {gpus} GPUs: if that is the price of one, all cost {}",
                    usd * gpus as f64
                ),
                _ => "expected USD of one hour".to_owned(),
            };
            (ends.0 / usd, "below", ends.0, help)
        } else {
            return None;
        };
        let times = match times {
            10.0.. => format!("{times:.0}"),
            times => format!("{times:.1}"),
        };
        Some(PriceDoubt {
            sentence: format!(
                "{times} times {word} the last known price on demand, ${near} of {last}"
            ),
            help,
        })
    }

    /// USD per hour of `vm` under `offer`; a price holds on the days on which its source has it.
    pub fn usd_per_hour(&self, vm: &str, offer: &Offer) -> Option<f64> {
        self.price(vm, offer).map(|p| p.usd_per_hour)
    }

    pub fn price(&self, vm: &str, offer: &Offer) -> Option<&Price> {
        self.dated(vm, offer)
            .iter()
            .find(|p| p.holds_on(offer.date))
    }

    pub fn is_of_pack(&self, price: &Price) -> bool {
        let place = |own: &Price| (own.key(), own.valid_from).cmp(&(price.key(), price.valid_from));
        let own = self.pack.as_ref().map_or(&[][..], |pack| &pack.prices);
        (own.binary_search_by(place)).is_ok_and(|at| own[at] == *price)
    }

    /// The price of `vm` in a region and market on the last day on which one is known.
    pub fn newest(&self, provider: &str, vm: &str, region: &str, market: Market) -> Option<&Price> {
        let wanted = (provider, vm, region, market);
        self.span(|p| p.key().cmp(&wanted)).last()
    }

    pub fn prices_of(&self, provider: &str, vm: &str) -> &[Price] {
        self.span(|p| (&*p.provider, &*p.vm).cmp(&(provider, vm)))
    }

    fn dated(&self, vm: &str, offer: &Offer) -> &[Price] {
        let wanted = (&*offer.provider, vm, &*offer.region, offer.market);
        self.span(|p| p.key().cmp(&wanted))
    }

    /// The prices that `place` calls equal.
    fn span(&self, place: impl Fn(&Price) -> Ordering) -> &[Price] {
        let from = self.prices.partition_point(|p| place(p).is_lt());
        let behind = &self.prices[from..];
        &behind[..behind.partition_point(|p| place(p).is_eq())]
    }

    /// Says what exists instead of a missing price: the nearest days, else other regions and markets, else other VM types.
    pub fn instead(&self, vm: &str, offer: &Offer) -> String {
        let dated = self.dated(vm, offer);
        if !dated.is_empty() {
            return format!("known there: {}", nearest_days(dated, offer.date));
        }
        let provider = &*offer.provider;
        let of_vm = self.prices_of(provider, vm);
        if !of_vm.is_empty() {
            let places: Vec<String> = (of_vm.chunk_by(|a, b| a.region == b.region))
                .map(|of_region| {
                    let mut markets: Vec<&str> =
                        of_region.iter().map(|p| p.market.name()).collect();
                    markets.dedup();
                    format!("{} ({})", of_region[0].region, markets.join(", "))
                })
                .collect();
            let regions = of_vm.iter().map(|p| &*p.region);
            let near = closest(&offer.region, regions).filter(|near| *near != offer.region);
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return format!("{near}known of `{vm}`: {}", listed(&places));
        }
        self.unknown_vm(vm, Some(provider))
    }

    pub fn unknown_vm(&self, vm: &str, provider: Option<&str>) -> String {
        const ALL: &str = "`scavsim list vms` shows all VM types";
        let providers: BTreeSet<&str> = self.types.iter().map(|t| &*t.provider).collect();
        if let Some(unknown) = provider.filter(|p| !providers.contains(p)) {
            let known: Vec<&str> = providers.into_iter().collect();
            return format!(
                "`{unknown}` is not one of the providers {}",
                known.join(", ")
            );
        }
        if let Some(other) = self.vm_type(vm) {
            return format!("`{vm}` is a VM type of {}; {ALL}", other.provider);
        }
        let own = self
            .types
            .iter()
            .filter(|t| provider.is_none_or(|p| t.provider == p));
        match closest(vm, own.map(|t| &*t.vm)) {
            Some(near) => format!("did you mean `{near}`? {ALL}"),
            None => ALL.to_owned(),
        }
    }
}

fn listed(words: &[String]) -> String {
    const SHOWN: usize = 8;
    match words.len().saturating_sub(SHOWN) {
        0 => words.join(", "),
        more => format!("{} and {more} more regions", words[..SHOWN].join(", ")),
    }
}

fn nearest_days(dated: &[Price], date: Date) -> String {
    const AROUND: usize = 2;
    let next = dated.partition_point(|p| p.valid_to < date);
    let from = next.saturating_sub(AROUND);
    let shown = &dated[from..dated.len().min(next + AROUND)];
    let mut days: Vec<String> = (shown.iter())
        .map(|p| {
            if p.valid_from == p.valid_to {
                p.valid_from.to_string()
            } else {
                format!("{} to {}", p.valid_from, p.valid_to)
            }
        })
        .collect();
    if shown.len() < dated.len() {
        days.push(format!("and {} more", dated.len() - shown.len()));
    }
    days.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::near;

    fn offer_of(provider: &str, region: &str, market: Market, date: Date) -> Offer {
        Offer {
            provider: provider.into(),
            region: region.into(),
            market,
            date,
        }
    }

    fn offer(region: &str, market: Market, date: &str) -> Offer {
        offer_of("gcp", region, market, Date::parse(date).expect("a day"))
    }

    #[test]
    fn the_embedded_tables_are_sound_and_every_priced_vm_type_is_described() {
        let (catalogue, diagnostics) = Catalogue::embedded();
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        for price in &catalogue.prices {
            let described = catalogue.vm_type(&price.vm).map(|t| &*t.provider);
            assert_eq!(described, Some(&*price.provider), "{}", price.vm);
        }
    }

    /// No price list has a spot price above on demand, so one here would be a mistake in a table.
    #[test]
    fn no_reduced_price_is_above_the_on_demand_price_of_its_day() {
        let catalogue = Catalogue::embedded().0;
        let mut compared = 0;
        for price in &catalogue.prices {
            let day = price.valid_to;
            let offer = offer_of(&price.provider, &price.region, Market::OnDemand, day);
            let on_demand = catalogue.usd_per_hour(&price.vm, &offer);
            assert!(on_demand.is_some_and(|usd| price.usd_per_hour <= usd));
            compared += usize::from(price.market != Market::OnDemand);
        }
        assert!(compared > 2000, "{compared}");
    }

    #[test]
    fn prices_of_gpus_and_commitments_are_those_of_their_sources() {
        let catalogue = Catalogue::embedded().0;
        for case in PRICES_OF_SOURCES.lines() {
            let [vm, provider, region, market, date, usd] =
                <[&str; 6]>::try_from(case.split(' ').collect::<Vec<_>>()).expect("six words");
            let market = Market::ALL.into_iter().find(|m| m.name() == market);
            let offer = Offer {
                provider: provider.into(),
                ..offer(region, market.expect("a market"), date)
            };
            let (usd, hours) = usd.split_once('/').unwrap_or((usd, "1"));
            let number = |text: &str| text.parse::<f64>().expect("a number");
            let found = catalogue.usd_per_hour(vm, &offer);
            assert!(
                found.is_some_and(|f| (f * number(hours) / number(usd) - 1.0).abs() < 1e-8),
                "{case} {found:?}"
            );
        }
        let gpus = |vm| catalogue.vm_type(vm).map(VmType::gpu_count);
        assert_eq!(gpus("g4dn.12xlarge"), Some(4));
        assert_eq!(gpus("Standard_NC64as_T4_v3"), Some(4));
        assert_eq!(gpus("n1-standard-8"), Some(0));
    }

    /// A VM type, where and when it is rented, and USD per hour, or those of a month by its hours.
    const PRICES_OF_SOURCES: &str = "\
g4dn.xlarge aws us-east-1 on-demand 2026-07-20 0.526
p4d.24xlarge aws us-east-1 on-demand 2023-10-09 32.7726
p4d.24xlarge aws us-east-1 on-demand 2026-07-20 21.957642
p3.2xlarge aws us-east-1 commitment-1y 2017-11-12 2.088
Standard_NC6s_v3 azure eastus on-demand 2026-06-18 3.06
Standard_NC4as_T4_v3 azure westeurope spot 2026-08-22 0.457113
a2-highgpu-1g gcp us-central1 spot 2026-07-30 1.92802
g2-standard-8 gcp us-central1 commitment-1y 2026-07-30 392.58179878/730
n1-standard-8 gcp us-central1 commitment-3y 2026-07-30 124.8373/730";

    /// The slow obvious search finds the same.
    #[test]
    fn every_price_is_found_on_its_days() {
        let catalogue = Catalogue::embedded().0;
        for price in &catalogue.prices {
            for date in [price.valid_from, price.valid_to] {
                let offer = offer_of(&price.provider, &price.region, price.market, date);
                let found = catalogue.usd_per_hour(&price.vm, &offer);
                assert_eq!(found, Some(price.usd_per_hour), "{price:?}");
            }
        }
    }

    /// The paper does not name its region; the catalogue has its price in us-central1.
    #[test]
    fn the_papers_price_is_the_catalogues() {
        let catalogue = Catalogue::embedded().0;
        let iowa = offer("us-central1", Market::OnDemand, "2023-05-01");
        let usd = catalogue.usd_per_hour("e2-standard-4", &iowa);
        near(usd.unwrap_or(0.0), 0.13402, 5e-6);
    }

    #[test]
    fn a_price_holds_only_while_it_was_seen() {
        let catalogue = Catalogue::embedded().0;
        let spot = |date| {
            let offer = offer("us-central1", Market::Spot, date);
            catalogue.usd_per_hour("e2-standard-4", &offer)
        };
        assert_eq!(spot("2020-05-29"), Some(0.04021));
        assert_eq!(spot("2026-07-30"), Some(0.080424));
        assert_eq!(spot("2020-05-28"), None);
        assert_eq!(spot("2022-01-01"), None);
        assert_eq!(spot("2026-07-31"), None);
    }

    #[test]
    fn what_exists_is_told_from_near_to_far() {
        let catalogue = Catalogue::embedded().0;
        let there = offer("us-central1", Market::Spot, "2022-01-01");
        let mars = offer("mars-1", Market::Spot, "2022-01-01");
        for (vm, offer, expected) in [
            (
                "e2-standard-4",
                &there,
                "known there: 2020-05-29, 2026-07-30",
            ),
            (
                "e2-standard-4",
                &mars,
                "known of `e2-standard-4`: asia-east1 (on-demand, spot, commitment",
            ),
            ("pdp-11", &mars, "`scavsim list vms` shows all VM types"),
            ("m5.xlarge", &mars, "`m5.xlarge` is a VM type of aws"),
            ("n1-standrd-4", &mars, "did you mean `n1-standard-4`?"),
        ] {
            let instead = catalogue.instead(vm, offer);
            assert!(instead.starts_with(expected), "{instead}");
        }
    }
}

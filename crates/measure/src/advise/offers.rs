//! Prices, regions and lifetimes of the measured VM types: from the catalogue, or as given by the user.

use std::collections::{BTreeMap, BTreeSet};

pub use super::offer::{Offer, PriceCaps};

use super::offer::ASSUMED_LIVES;
use scavsim_base::text::words::rate;
use scavsim_data::cloud::lifetimes::Model;
use scavsim_data::cloud::{Catalogue, Market, Price, VmType};
use scavsim_read::input::{Diagnostic, Diagnostics, closest, nearest_or_all};

/// The word for all providers; for a region, the cheapest one of each VM type.
pub const ANY: &str = "any";

#[derive(Debug, Clone, Default)]
pub struct OfferFilter {
    /// Only VM types of this provider, or of [`ANY`]; by default of the measured types' providers.
    pub provider: Option<String>,
    pub only_measured: bool,
    /// Only prices of this region; with [`ANY`] the cheapest of each VM type.
    pub region: Option<String>,
    /// Only this market; by default on demand, and spot if prices and lifetimes are known.
    pub market: Option<Market>,
    /// USD per hour on demand, instead of the catalogue's.
    pub own_usd: BTreeMap<String, f64>,
    /// Mean hours until a spot VM is lost, instead of published lifetimes.
    pub spot_run_h: Option<f64>,
    pub caps: PriceCaps,
    /// Reserved VMs: this number of a type is free on demand.
    pub reserved: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRegion {
    pub provider: String,
    pub region: String,
    /// Other regions with a price of a measured type.
    pub others: BTreeSet<String>,
}

/// All offers, and why there are not more.
#[derive(Debug, Clone, Default)]
pub struct OfferList {
    pub places: Vec<PriceRegion>,
    /// By VM type, on demand before spot.
    pub all: Vec<Offer>,
    /// Reasons for missing offers, a sentence each.
    pub left_out: Vec<String>,
}

/// Offers of `vm_types`, and of unmeasured `others`, if there are any. Mistakes go to `diagnostics`.
pub fn offers(
    vm_types: &BTreeSet<String>,
    others: &BTreeSet<String>,
    wanted: &OfferFilter,
    catalogue: &'static Catalogue,
    diagnostics: &mut Diagnostics,
) -> OfferList {
    let before = diagnostics.len();
    check(vm_types, others, wanted, catalogue, diagnostics);
    let mut offers = OfferList::default();
    if diagnostics.len() > before {
        return offers;
    }
    // If a provider has no measured type, the other candidates decide its region.
    let mut regions_by_provider = regions(others, wanted, catalogue);
    regions_by_provider.extend(regions(vm_types, wanted, catalogue));
    let regions = regions_by_provider;
    let takes = |market: Market| wanted.market.is_none_or(|m| m == market);
    for vm in vm_types.iter().chain(others) {
        let is_measured = vm_types.contains(vm);
        let mut leave_out = |why: String| {
            if is_measured {
                offers.left_out.push(why);
            }
        };
        let listed = catalogue.vm_type(vm);
        let provider = listed.map(|t| t.provider.clone());
        if let Some(why) = of_another(vm, provider.as_deref(), wanted) {
            leave_out(why);
            continue;
        }
        if let Some(usd) = wanted.own_usd.get(vm)
            && takes(Market::OnDemand)
        {
            offers
                .all
                .push(own_offer(vm, provider.clone(), *usd, wanted));
        }
        let Some(listed) = listed else {
            if !wanted.own_usd.contains_key(vm) {
                let why = "its price is not known; --usd-per-hour can say it";
                leave_out(format!("{vm}: {why}"));
            }
            continue;
        };
        let Some(region) = regions.get(&listed.provider) else {
            if !wanted.own_usd.contains_key(vm) {
                leave_out(format!(
                    "{vm}: {}",
                    without_region(listed, wanted, catalogue)
                ));
            }
            continue;
        };
        let mut markets = match wanted.market {
            None => vec![Market::OnDemand, Market::Spot],
            Some(market) => vec![market],
        };
        markets.retain(|m| *m != Market::OnDemand || !wanted.own_usd.contains_key(vm));
        for market in markets {
            match listed_offer(listed, market, region, wanted, catalogue) {
                Ok(offer) => offers.all.push(offer),
                Err(NoOffer(why)) => leave_out(format!("{vm}{why}")),
            }
        }
    }
    for offer in (offers.all.iter_mut()).filter(|o| o.market == Market::OnDemand) {
        offer.reserved = wanted.reserved.get(&offer.vm).copied().unwrap_or(0);
    }
    offers.places = places(&offers.all, regions, vm_types, wanted, catalogue);
    if offers.all.is_empty() {
        diagnostics.push(without_any(vm_types, &offers.left_out, wanted.market));
    }
    offers
}

/// Why a VM type has no offer, as the end of a sentence.
struct NoOffer(String);

/// The offer of a listed VM type in a market.
fn listed_offer(
    listed: &VmType,
    market: Market,
    region: &str,
    wanted: &OfferFilter,
    catalogue: &Catalogue,
) -> Result<Offer, NoOffer> {
    let all = catalogue.prices_of(&listed.provider, &listed.vm);
    let is_anywhere = wanted.region.as_deref() == Some(ANY);
    let (found, place) = if is_anywhere {
        (cheapest(all, market, catalogue), ANY)
    } else {
        (latest(all, region, market), region)
    };
    let price = found.ok_or_else(|| {
        NoOffer(match market {
            Market::Spot => format!(" as spot: no price in {place}"),
            market => format!(": no price {} in {place}", in_words(Some(market))),
        })
    })?;
    if let Some(why) = catalogue.why_not_newest(price) {
        return Err(NoOffer(format!(": {why}")));
    }
    if market != Market::Spot {
        return Ok(offer(&listed.vm, price, None, catalogue));
    }
    let most = wanted.caps.spot_cap(&listed.vm).unwrap_or(f64::INFINITY);
    if price.usd_per_hour > most {
        let usd = rate(price.usd_per_hour);
        let why = format!(" as spot: {usd} is above --max-spot-usd {most}");
        return Err(NoOffer(why));
    }
    Ok(spot_offer(listed, price, wanted, catalogue))
}

/// Why a VM type has no price in any region: none is known, or the last one is too old.
fn without_region(listed: &VmType, wanted: &OfferFilter, catalogue: &Catalogue) -> String {
    let market = wanted.market.unwrap_or(Market::OnDemand);
    let all = catalogue.prices_of(&listed.provider, &listed.vm).iter();
    let last = (all.filter(|p| p.market == market)).max_by_key(|p| p.valid_to);
    let why = last.and_then(|last| catalogue.why_not_newest(last));
    why.unwrap_or_else(|| format!("no price {} is known of it", in_words(wanted.market)))
}

/// Why a VM type of another provider is left out.
fn of_another(vm: &str, provider: Option<&str>, wanted: &OfferFilter) -> Option<String> {
    let only = wanted.provider.as_deref().filter(|only| *only != ANY)?;
    let of = provider.unwrap_or("no provider that is known");
    (provider != Some(only)).then(|| format!("{vm}: it is of {of}"))
}

/// The VM type of an offer in another market of its region, if the catalogue knows a price of that year.
pub fn offer_in_market(
    offer: &Offer,
    market: Market,
    catalogue: &'static Catalogue,
) -> Option<Offer> {
    let (provider, region) = (offer.provider.as_deref()?, offer.region.as_deref()?);
    let all = catalogue.prices_of(provider, &offer.vm);
    let mut new = new_in_regions(all, market, catalogue).into_iter();
    let price = new.find(|price| &*price.region == region)?;
    let listed = catalogue.vm_type(&offer.vm)?;
    let gpu = listed.gpus.as_ref().map(|gpus| &*gpus.model);
    let lives = lifetime(provider, gpu, region).filter(|_| market == Market::Spot);
    Some(self::offer(&offer.vm, price, lives, catalogue))
}

/// The regions of the prices, and other regions with prices of the measured types.
fn places(
    all: &[Offer],
    regions: BTreeMap<String, String>,
    vm_types: &BTreeSet<String>,
    wanted: &OfferFilter,
    catalogue: &Catalogue,
) -> Vec<PriceRegion> {
    let market = wanted.market.unwrap_or(Market::OnDemand);
    if wanted.region.as_deref() == Some(ANY) {
        return Vec::new();
    }
    let is_taken = |provider: &String| {
        let own = |o: &Offer| o.provider.as_ref() == Some(provider) && o.date.is_some();
        all.iter().any(own)
    };
    let taken = regions
        .into_iter()
        .filter(|(provider, _)| is_taken(provider));
    let place = |(provider, region): (String, String)| {
        let prices = vm_types
            .iter()
            .flat_map(|vm| catalogue.prices_of(&provider, vm));
        let of_market = prices.filter(|p| p.market == market && *p.region != *region);
        let others = of_market.map(|p| p.region.to_string()).collect();
        PriceRegion {
            provider,
            region,
            others,
        }
    };
    taken.map(place).collect()
}

/// A market as the object of a price.
fn in_words(market: Option<Market>) -> String {
    match market {
        None | Some(Market::OnDemand) => "on demand".to_owned(),
        Some(Market::Spot) => "as spot".to_owned(),
        Some(term) => format!("with a {term}"),
    }
}

fn without_any(
    vm_types: &BTreeSet<String>,
    left_out: &[String],
    market: Option<Market>,
) -> Diagnostic {
    let mut help = left_out.join("; ");
    match (vm_types.first(), market) {
        (Some(vm), None | Some(Market::OnDemand)) => {
            help += &format!("; say it with `--usd-per-hour {vm}=USD`");
        }
        _ => help += "; a newer price pack may have it (`scavsim prices update`)",
    }
    let title = format!(
        "none of the measured VM types has a price {}",
        in_words(market)
    );
    Diagnostic::general(title).with_help(help)
}

/// User prices that differ much from the last known ones, each with a hint.
pub fn strange_prices(own_usd: &BTreeMap<String, f64>, catalogue: &Catalogue) -> Diagnostics {
    let mut doubts = Diagnostics::default();
    for (vm, usd) in own_usd {
        let Some(doubt) = catalogue.doubt_price(vm, Market::OnDemand, *usd) else {
            continue;
        };
        let title = format!("`--usd-per-hour {vm}={usd}`: {}", doubt.sentence);
        doubts.push(Diagnostic::general(title).with_help(doubt.help));
    }
    doubts
}

fn own_offer(vm: &str, provider: Option<String>, usd_per_hour: f64, wanted: &OfferFilter) -> Offer {
    Offer {
        vm: vm.to_owned(),
        provider,
        region: wanted.region.clone(),
        market: Market::OnDemand,
        usd_per_hour,
        date: None,
        reserved: 0,
        is_old: false,
        lifetime: None,
        stated_run_h: None,
    }
}

/// A spot VM at a price, with given, published or assumed lifetimes.
fn spot_offer(
    listed: &VmType,
    price: &Price,
    wanted: &OfferFilter,
    catalogue: &Catalogue,
) -> Offer {
    let gpu = listed.gpus.as_ref().map(|gpus| &*gpus.model);
    let published = || lifetime(&listed.provider, gpu, &price.region);
    let lives = match wanted.spot_run_h {
        Some(_) => None,
        None => published().or_else(|| Model::named(ASSUMED_LIVES).ok()),
    };
    Offer {
        stated_run_h: wanted.spot_run_h,
        ..offer(&listed.vm, price, lives, catalogue)
    }
}

fn offer(
    vm: &str,
    price: &Price,
    lifetime: Option<&'static Model>,
    catalogue: &Catalogue,
) -> Offer {
    Offer {
        vm: vm.to_owned(),
        provider: Some(price.provider.to_string()),
        region: Some(price.region.to_string()),
        market: price.market,
        usd_per_hour: price.usd_per_hour,
        date: Some(price.valid_to),
        reserved: 0,
        is_old: catalogue.is_old(price),
        lifetime,
        stated_run_h: None,
    }
}

fn check(
    vm_types: &BTreeSet<String>,
    others: &BTreeSet<String>,
    wanted: &OfferFilter,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics,
) {
    let providers: BTreeSet<&str> = catalogue.types.iter().map(|t| &*t.provider).collect();
    let regions: BTreeSet<&str> = (catalogue.prices.iter())
        .filter(|p| {
            let only = wanted.provider.as_deref();
            only.is_none_or(|only| only == ANY || only == &*p.provider)
        })
        .map(|p| &*p.region)
        .collect();
    let mut unknown = |what: &str, asked: &str, legal: Vec<&str>| {
        let title = format!("unknown {what} `{asked}`");
        let help = nearest_or_all(asked, legal);
        diagnostics.push(Diagnostic::general(title).with_help(help));
    };
    let is_known = |p: &String| providers.contains(&**p);
    let is_one = wanted.provider.as_deref() != Some(ANY);
    if let Some(asked) = wanted.provider.as_ref().filter(|_| is_one)
        && !is_known(asked)
    {
        let legal = providers.iter().copied().chain([ANY]);
        unknown("provider", asked, legal.collect());
    }
    if let Some(asked) = &wanted.region
        && (wanted.provider.as_ref().is_none_or(is_known) || !is_one)
        && asked != ANY
        && !regions.contains(&**asked)
    {
        unknown("region", asked, regions.into_iter().collect());
    }
    let is_asked = |vm: &&String| vm_types.contains(*vm) || others.contains(*vm);
    let own = wanted.own_usd.keys().map(|vm| ("usd-per-hour", vm));
    let capped = wanted
        .caps
        .spot_usd_of
        .keys()
        .map(|vm| ("max-spot-usd", vm));
    let reserved = wanted.reserved.keys().map(|vm| ("reserved", vm));
    for (option, vm) in own
        .chain(capped)
        .chain(reserved)
        .filter(|(_, vm)| !is_asked(vm))
    {
        let legal = vm_types.iter().chain(others).map(String::as_str);
        unknown(&format!("VM type in --{option}"), vm, legal.collect());
    }
    let names = || catalogue.types.iter().map(|listed| &*listed.vm);
    for vm in vm_types {
        let is_known = catalogue.vm_type(vm).is_some() || wanted.own_usd.contains_key(vm);
        if !is_known && let Some(near) = closest(vm, names()) {
            let title = format!("unknown VM type `{vm}` in the measurements");
            let help =
                format!("did you mean `{near}`? else say its price with `--usd-per-hour {vm}=USD`");
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
    }
}

/// The region of each provider with the most of the VM types; among these the cheapest.
fn regions(
    vm_types: &BTreeSet<String>,
    wanted: &OfferFilter,
    catalogue: &Catalogue,
) -> BTreeMap<String, String> {
    let mut found: BTreeMap<(String, String), (usize, f64)> = BTreeMap::new();
    for vm in vm_types {
        let Some(listed) = catalogue.vm_type(vm) else {
            continue;
        };
        let market = wanted.market.unwrap_or(Market::OnDemand);
        let all = catalogue.prices_of(&listed.provider, vm);
        let prices = match wanted.region.as_deref() {
            None | Some(ANY) => new_in_regions(all, market, catalogue),
            Some(only) => (latest(all, only, market).into_iter())
                .filter(|price| catalogue.why_not_newest(price).is_none())
                .collect(),
        };
        for price in prices {
            let key = (listed.provider.clone(), price.region.to_string());
            let entry = found.entry(key).or_insert((0, 0.0));
            *entry = (entry.0 + 1, entry.1 + price.usd_per_hour);
        }
    }
    let mut best: BTreeMap<String, (String, (usize, f64))> = BTreeMap::new();
    for ((provider, region), (count, usd)) in found {
        let is_better = best
            .get(&provider)
            .is_none_or(|(_, (most, least))| count > *most || (count == *most && usd < *least));
        if is_better {
            best.insert(provider, (region, (count, usd)));
        }
    }
    best.into_iter()
        .map(|(provider, (region, _))| (provider, region))
        .collect()
}

/// The last price in each region. Old ones are included only on demand, for a VM type without newer ones: an old price may be
/// too low.
fn new_in_regions<'p>(all: &'p [Price], market: Market, catalogue: &Catalogue) -> Vec<&'p Price> {
    let is_bygone = all.iter().all(|price| catalogue.is_old(price));
    let regions: BTreeSet<&str> = all.iter().map(|p| &*p.region).collect();
    (regions.into_iter())
        .filter_map(|region| latest(all, region, market))
        .filter(|price| {
            let is_taken = is_bygone && price.market == Market::OnDemand;
            is_taken || !catalogue.is_old(price)
        })
        .collect()
}

/// The cheapest of the last prices in all regions.
fn cheapest<'p>(all: &'p [Price], market: Market, catalogue: &Catalogue) -> Option<&'p Price> {
    (new_in_regions(all, market, catalogue).into_iter())
        .min_by(|a, b| a.usd_per_hour.total_cmp(&b.usd_per_hour))
}

fn latest<'p>(all: &'p [Price], region: &str, market: Market) -> Option<&'p Price> {
    all.iter()
        .filter(|p| &*p.region == region && p.market == market)
        .max_by_key(|p| p.valid_to)
}

/// The published lifetimes of such VMs: in the region, in all regions, or anywhere.
fn lifetime(provider: &str, gpu: Option<&str>, region: &str) -> Option<&'static Model> {
    let alike = || {
        let all = Model::embedded().0.iter();
        all.filter(|m| m.provider == provider && m.market == Market::Spot)
            .filter(|m| m.gpu.as_deref() == gpu)
    };
    alike()
        .find(|m| m.region.as_deref() == Some(region))
        .or_else(|| alike().find(|m| m.region.is_none()))
        .or_else(|| alike().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(vms: &[&str], wanted: &OfferFilter) -> (OfferList, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let vms = vms.iter().map(|vm| (*vm).to_owned()).collect();
        let none = BTreeSet::new();
        let catalogue = Catalogue::embedded().0;
        let found = offers(&vms, &none, wanted, catalogue, &mut diagnostics);
        (found, diagnostics)
    }

    fn found(vms: &[&str], wanted: &OfferFilter) -> Vec<Offer> {
        let (found, wrong) = find(vms, wanted);
        assert!(wrong.is_empty(), "{}", wrong.render(false));
        found.all
    }

    #[test]
    fn one_region_has_all_types_of_a_provider_and_the_cheapest_is_taken() {
        let mut on_demand = found(&["g5.xlarge", "g6e.xlarge"], &OfferFilter::default());
        on_demand.retain(|offer| offer.market == Market::OnDemand);
        assert_eq!(on_demand.len(), 2);
        assert_eq!(on_demand[0].region, on_demand[1].region);
        let catalogue = Catalogue::embedded().0;
        for region in ["us-east-1", "us-west-2"] {
            let usd = |vm| latest(catalogue.prices_of("aws", vm), region, Market::OnDemand);
            if let (Some(a), Some(b)) = (usd("g5.xlarge"), usd("g6e.xlarge")) {
                let sum: f64 = on_demand.iter().map(|o| o.usd_per_hour).sum();
                assert!(sum <= a.usd_per_hour + b.usd_per_hour);
            }
        }
    }

    #[test]
    fn anywhere_is_where_each_type_is_the_cheapest_and_commitments_are_offered_when_asked_for() {
        let wanted = |market| OfferFilter {
            region: Some(ANY.to_owned()),
            market: Some(market),
            ..OfferFilter::default()
        };
        let catalogue = Catalogue::embedded().0;
        for (market, count) in [(Market::OnDemand, 40), (Market::Commitment3y, 30)] {
            let [own] = &found(&["g2-standard-4"], &wanted(market))[..] else {
                panic!("one offer")
            };
            let all = catalogue.prices_of("gcp", "g2-standard-4").iter();
            let day = own.date.expect("a day");
            let of_day = all.filter(|p| p.market == market && p.holds_on(day));
            let usd: Vec<f64> = of_day.map(|p| p.usd_per_hour).collect();
            assert!(usd.len() > count / 2, "{}", usd.len());
            let least = usd.iter().copied().fold(f64::MAX, f64::min);
            assert_eq!(own.usd_per_hour, least);
            assert_eq!(own.market, market);
        }
    }

    #[test]
    fn a_price_of_ones_own_stands_for_what_nobody_lists() {
        let (none, wrong) = find(&["my-box"], &OfferFilter::default());
        assert!(none.all.is_empty() && wrong.len() == 1);
        let own = OfferFilter {
            own_usd: BTreeMap::from([("my-box".to_owned(), 2.5)]),
            ..OfferFilter::default()
        };
        let own = found(&["my-box"], &own);
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].usd_per_hour, 2.5);
    }

    #[test]
    fn names_that_do_not_exist_are_all_told() {
        let wanted = OfferFilter {
            provider: Some("asw".to_owned()),
            own_usd: BTreeMap::from([("g5.xlrage".to_owned(), 1.0)]),
            ..OfferFilter::default()
        };
        let (_, wrong) = find(&["g5.xlarge"], &wanted);
        let text = wrong.render(false);
        assert_eq!(wrong.len(), 2, "{text}");
        assert!(text.contains("`aws`"), "{text}");
        assert!(text.contains("`g5.xlarge`"), "{text}");
    }

    #[test]
    fn spot_is_offered_where_prices_and_lives_are_known() {
        let wanted = OfferFilter {
            market: Some(Market::Spot),
            region: Some("us-central1".to_owned()),
            ..OfferFilter::default()
        };
        let found = found(&["e2-standard-4"], &wanted);
        assert_eq!(found[0].lifetime.map(|m| &*m.name), Some("gcp-2019"));
    }
}

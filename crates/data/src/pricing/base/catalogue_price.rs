//! The listed price of a VM type in a region, on a day. A stand-in that no list has is charged as what it is like.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::price::{Base, ListedPrice, NoPrice, Rule, VmPrice};
use crate::cloud::{Date, Fleet, Market, Offer, Price, PriceTable, RentalPlace, prices, vm_types};
use crate::pricing::spot_series_key::SpotSeriesKey;
use crate::pricing::wrong_policy::WrongPolicy;
use crate::pricing::{PolicyFile, PriceDay};
use crate::usage::RentedVmType;
use scavsim_base::Declaration;

pub const RULE: Rule = Rule {
    declaration: Declaration {
        name: "catalogue",
        what: "The listed price of the VM type in a region, on a day, from `data/clouds/prices/`; `scavsim list vms --region REGION` shows what there is.",
        formula: "`catalogue` is the market: `\"on-demand\"`, `\"spot\"`, `\"commitment-1y\"`, `\"commitment-3y\"`; with `region`, `date` (a day, or `\"newest\"`) and `provider`, by default that of the VM type; `catalogue` and `region` may be lists",
        source: "price lists of the providers",
        example: "pricing.define.mine = { catalogue = \"on-demand\", provider = \"gcp\", region = \"us-central1\", date = \"2026-07-30\" }",
    },
    keys: "`catalogue` with `region` and `date`",
    read: |file| {
        if file.price_table.is_some() {
            return Some(of_table(file));
        }
        // Of prices of one's own these say where and when the spot ones hold.
        let is_dated = matches!(file.spot_series, Some(SpotSeriesKey::Table(_)));
        if is_dated && file.catalogue.is_none() && file.regions.is_none() {
            return None;
        }
        let place = match (&file.provider, &file.region, &file.regions) {
            (None, None, None)
                if file.catalogue.is_none() && file.date.is_none() && file.dates.is_none() =>
            {
                return None;
            }
            (Some(provider), Some(region), None) => {
                BTreeMap::from([(provider.clone(), region.clone())])
            }
            (None, None, Some(regions)) => regions.clone(),
            (_, _, Some(_)) if file.provider.is_some() || file.region.is_some() => {
                let old = "`provider` and `region`";
                return Some(Err(WrongPolicy::TakesPlace("`regions`", old)));
            }
            // A region without its provider is one of the provider of each VM type.
            (None, Some(region), None) if file.date.is_some() && file.dates.is_none() => {
                return Some(of_region(file, region));
            }
            _ => BTreeMap::new(),
        };
        let days = match (file.date, &file.dates) {
            (Some(_), Some(_)) => {
                return Some(Err(WrongPolicy::TakesPlace("`dates`", "`date`")));
            }
            (Some(date), None) => place.keys().map(|own| (own.clone(), date)).collect(),
            (None, Some(dates)) if file.regions.is_some() => {
                if !dates.keys().eq(place.keys()) {
                    return Some(Err(WrongPolicy::OtherProviders));
                }
                (dates.iter())
                    .map(|(own, date)| (own.clone(), PriceDay::On(*date)))
                    .collect()
            }
            _ => BTreeMap::new(),
        };
        let (Some(market), false) = (file.catalogue, place.is_empty() || days.is_empty()) else {
            let keys = "`catalogue`, `date`, and `provider` with `region`, or `regions`,";
            return Some(Err(WrongPolicy::GoTogether(keys.to_owned())));
        };
        let place = place.into_iter().zip(days.into_values());
        let place = (place.map(|((own, region), day)| (own, (region, day)))).collect();
        let known = || prices::TABLES.iter().map(|(provider, _, _)| *provider);
        if let Some(unknown) = (file.regions.iter().flat_map(BTreeMap::keys))
            .find(|provider| !known().any(|k| k == *provider))
        {
            let known: Vec<&str> = known().collect();
            return Some(Err(WrongPolicy::UnknownProvider {
                unknown: unknown.clone(),
                known: known.join(", "),
            }));
        }
        if file.as_rented && market != Market::OnDemand {
            return Some(Err(WrongPolicy::AsRented));
        }
        Some(Ok(Base::Vm(Arc::new(CataloguePrice {
            market,
            as_rented: file.as_rented,
            place: if file.regions.is_some() {
                ListedAt::OfProviders(place)
            } else {
                ListedAt::One(place)
            },
        }))))
    },
};

fn of_region(file: &PolicyFile, region: &str) -> Result<Base, WrongPolicy> {
    let (Some(market), Some(day)) = (file.catalogue, file.date) else {
        let keys = "`catalogue`, `date` and `region`";
        return Err(WrongPolicy::GoTogether(keys.to_owned()));
    };
    if file.as_rented && market != Market::OnDemand {
        return Err(WrongPolicy::AsRented);
    }
    Ok(Base::Vm(Arc::new(CataloguePrice {
        market,
        as_rented: file.as_rented,
        place: ListedAt::Region(region.to_owned(), day),
    })))
}

/// `price_table` with `catalogue` and `date`, and as much of `provider`, `region` and `zone` as its prices differ by.
fn of_table(file: &PolicyFile) -> Result<Base, WrongPolicy> {
    let date = file.date.and_then(PriceDay::stated);
    let (Some(market), Some(date)) = (file.catalogue, date) else {
        return Err(WrongPolicy::GoesWith(
            "`price_table`",
            "`catalogue`, the market, and `date`, a day",
        ));
    };
    if file.regions.is_some() {
        return Err(WrongPolicy::GoesWith(
            "`price_table`",
            "`region`, not with `regions`",
        ));
    }
    if file.as_rented && market != Market::OnDemand {
        return Err(WrongPolicy::AsRented);
    }
    let table =
        (file.tables.prices.clone()).ok_or(WrongPolicy::OutsideScenario("`price_table`"))?;
    Ok(Base::Vm(Arc::new(TablePrice {
        table,
        market,
        as_rented: file.as_rented,
        date,
        place: file.place(),
    })))
}

/// USD per hour from a table of one's own.
#[derive(Debug)]
struct TablePrice {
    table: Arc<PriceTable>,
    market: Market,
    /// Whether spot VMs of the scenario have their spot price.
    as_rented: bool,
    date: Date,
    place: RentalPlace,
}

impl VmPrice for TablePrice {
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        let market = if self.as_rented && rented.on_spot == Some(true) {
            Market::Spot
        } else {
            self.market
        };
        // A price that the scenario states is one on demand.
        if let (Market::OnDemand, Some(own)) = (market, fleet.own(rented.vm))
            && let Some(usd) = own.usd_per_hour
        {
            return Ok(usd);
        }
        let of = |vm| (self.table).usd_per_hour(vm, market, &self.place, self.date);
        let like = || of(fleet.like(rented.vm)?).ok();
        let usd = of(fleet.table(rented.vm)).or_else(|why| like().ok_or(why));
        usd.map_err(|(what, help)| NoPrice { what, help })
    }

    fn market(&self) -> Market {
        self.market
    }
}

#[derive(Debug)]
struct CataloguePrice {
    market: Market,
    as_rented: bool,
    place: ListedAt,
}

/// Where and of when the price is.
#[derive(Debug)]
enum ListedAt {
    /// Region and day of one provider, whose price is charged for all VM types.
    One(BTreeMap<String, (String, PriceDay)>),
    /// Region and day by provider; every VM type is rented from its own.
    OfProviders(BTreeMap<String, (String, PriceDay)>),
    /// A region of the provider of each VM type, and the day.
    Region(String, PriceDay),
}

impl ListedAt {
    fn is_newest(&self) -> bool {
        match self {
            ListedAt::One(all) | ListedAt::OfProviders(all) => {
                all.values().all(|(_, day)| *day == PriceDay::Newest)
            }
            ListedAt::Region(_, day) => *day == PriceDay::Newest,
        }
    }
}

impl CataloguePrice {
    fn market_of(&self, rented: RentedVmType<'_>) -> Market {
        if self.as_rented && rented.on_spot == Some(true) {
            Market::Spot
        } else {
            self.market
        }
    }

    fn place(
        &self,
        vm: &str,
        market: Market,
        listed: &str,
        fleet: &Fleet<'_>,
    ) -> Result<(String, String, PriceDay), NoPrice> {
        let of = |(provider, (region, day)): (&String, &(String, PriceDay))| {
            (provider.clone(), region.clone(), *day)
        };
        if let ListedAt::One(place) = &self.place
            && let Some(one) = place.first_key_value()
        {
            return Ok(of(one));
        }
        let Some(vm_type) = fleet.catalogue.vm_type(listed) else {
            return Err(NoPrice {
                what: format!("VM type `{vm}` is not in {}", vm_types::FILE),
                help: unlisted(vm, fleet, market)
                    .unwrap_or_else(|| fleet.catalogue.unknown_vm(listed, None)),
            });
        };
        let provider = &vm_type.provider;
        match &self.place {
            ListedAt::Region(region, day) => Ok((provider.clone(), region.clone(), *day)),
            ListedAt::One(place) | ListedAt::OfProviders(place) => {
                let found = place.get_key_value(provider).map(of);
                found.ok_or_else(|| NoPrice {
                    what: format!("`regions` has none of {provider}, the provider of `{vm}`"),
                    help: unlisted(vm, fleet, market).unwrap_or_else(|| {
                        format!(
                            "`scavsim list vms --provider {provider}` shows its prices by region"
                        )
                    }),
                })
            }
        }
    }

    fn price<'f>(
        &self,
        vm: &str,
        market: Market,
        fleet: &'f Fleet<'_>,
    ) -> Result<(&'f Price, Date), NoPrice> {
        let listed = fleet.listed_as(vm);
        let catalogue = fleet.catalogue;
        let (provider, region, day) = self.place(vm, market, listed, fleet)?;
        let newest = match day {
            PriceDay::On(_) => None,
            PriceDay::Newest => catalogue.newest(&provider, listed, &region, market),
        };
        if let Some(old) = newest
            && let Some(what) = catalogue.why_not_newest(old)
        {
            let help = format!("`date = \"{}\"` takes it all the same", old.valid_to);
            return Err(NoPrice { what, help });
        }
        let newest_day = || newest.map_or(Date::FIRST, |price| price.valid_to);
        let date = day.stated().unwrap_or_else(newest_day);
        let offer = Offer {
            provider,
            region,
            market,
            date,
        };
        let found = catalogue.price(listed, &offer);
        found.map(|price| (price, date)).ok_or_else(|| {
            let on = match day {
                PriceDay::On(date) => format!(" on {date}"),
                PriceDay::Newest => String::new(),
            };
            NoPrice {
                what: format!(
                    "no {market} price of `{vm}` in {} {}{on} in {}",
                    offer.provider,
                    offer.region,
                    prices::FOLDER
                ),
                help: unlisted(vm, fleet, market)
                    .unwrap_or_else(|| catalogue.instead(listed, &offer)),
            }
        })
    }
}

/// What to do about a VM type of the scenario that no catalogue can know.
fn unlisted(vm: &str, fleet: &Fleet<'_>, market: Market) -> Option<String> {
    (fleet.like(vm).is_some() && market == Market::OnDemand)
        .then(|| "give `usd_per_hour` in its table of `[vm]`".to_owned())
}

impl VmPrice for CataloguePrice {
    fn usd_per_hour(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Result<f64, NoPrice> {
        let market = self.market_of(rented);
        // A price that the scenario states is one on demand.
        if let (Market::OnDemand, Some(own)) = (market, fleet.own(rented.vm))
            && let Some(usd) = own.usd_per_hour
        {
            return Ok(usd);
        }
        let (price, _) = self.price(rented.vm, market, fleet)?;
        Ok(price.usd_per_hour)
    }

    fn market(&self) -> Market {
        self.market
    }

    fn is_gap(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> bool {
        let market = self.market_of(rented);
        let listed = fleet.listed_as(rented.vm);
        let known = fleet.catalogue.vm_type(listed);
        let place = self.place(rented.vm, market, listed, fleet).ok();
        let (Some(known), Some((provider, region, day))) = (known, place) else {
            return false;
        };
        let mut all = fleet.catalogue.prices.iter();
        known.provider == provider
            && self.usd_per_hour(rented, fleet).is_err()
            && all.any(|price| {
                let is_of_day = |day| price.market == market && price.holds_on(day);
                *price.provider == *provider
                    && *price.region == *region
                    && day.stated().is_none_or(is_of_day)
            })
    }

    fn listed(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Option<ListedPrice> {
        let market = self.market_of(rented);
        let is_stated = (fleet.own(rented.vm)).is_some_and(|own| own.usd_per_hour.is_some());
        if market == Market::OnDemand && is_stated {
            return None;
        }
        let (price, day) = self.price(rented.vm, market, fleet).ok()?;
        Some(ListedPrice {
            provider: price.provider.to_string(),
            region: price.region.to_string(),
            day,
            is_of_pack: fleet.catalogue.is_of_pack(price),
            old_of: (self.place.is_newest() && fleet.catalogue.is_old(price))
                .then(|| price.vm.to_string()),
        })
    }
}

//! A pricing policy: a base price and all that changes it, before any VM type is known.

use std::collections::HashMap;
use std::sync::Arc;

use super::base::market_price::MarketPrice;
use super::base::{self, Base, ListedPrice, NoPrice, RentedVmType, VmPrice};
use super::billed_time::BilledTime;
use super::charges::{self, Amount, PerCharge};
use super::file::PolicyFile;
use super::reductions::spot_series::{Series, SpotSeries};
use super::reductions::{self, Reductions};
use super::spot_series_key::SpotSeriesKey;
use super::tariff::{AS_MEASURED, BillItem, PoolPrice, Servers, Tariff};
use super::wrong_policy::{BY_TYPE, WrongPolicy};
use crate::cloud::{Fleet, Market, RentalPlace};
use scavsim_read::input::checked::{MOST_MACHINES, NonNegative, VmUsd};

/// Parameter servers that are billed: held from the first VM to the last, at a VM's price.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterServers {
    pub count: u32,
    /// VM type of the parameter servers; that of the workers when absent.
    pub vm: Option<String>,
}

/// The billed parameter servers; none by default, as in the Scavenger paper.
fn parameter_servers(
    file: &PolicyFile,
    base: &Base,
) -> Result<Option<ParameterServers>, WrongPolicy> {
    let vm = file.parameter_server_vm.clone();
    match (file.billed_parameter_servers, base) {
        (0, _) if vm.is_some() => Err(WrongPolicy::GoesWith(
            "`parameter_server_vm`",
            "`billed_parameter_servers`",
        )),
        (0, _) => Ok(None),
        (count, _) if count > MOST_MACHINES => Err(WrongPolicy::ManyServers(count)),
        (_, Base::Sample(_) | Base::Stated) => Err(WrongPolicy::Needs(
            "`billed_parameter_servers`",
            "a price per VM",
        )),
        (_, Base::Vm(price)) if price.is_of_market() => {
            Err(WrongPolicy::Needs("`billed_parameter_servers`", BY_TYPE))
        }
        (_, Base::Vm(price)) if price.is_flat() && vm.is_some() => {
            Err(WrongPolicy::Needs("`parameter_server_vm`", BY_TYPE))
        }
        (count, Base::Vm(_)) => Ok(Some(ParameterServers { count, vm })),
    }
}

pub const MARKET: &str = "market";

/// VMs of one place, on one of its terms.
#[derive(Debug, Clone)]
pub struct MarketRental {
    pub usd_per_hour: f64,
    pub on_spot: bool,
    /// The price over time over `usd_per_hour`, where it changes.
    pub series: Option<SpotSeries>,
}

#[derive(Debug, Clone)]
pub struct Policy {
    pub name: String,
    pub description: String,
    /// Whether its dollars are a unit of which only ratios count.
    pub only_ratios: bool,
    pub is_of_spot: bool,
    pub base: Base,
    /// VM type whose price is charged in place of that of the workers' own.
    pub priced_as: Option<String>,
    pub reductions: Reductions,
    pub billed_time: BilledTime,
    pub parameter_servers: Option<ParameterServers>,
    pub charges: PerCharge<Amount>,
    pub table_hashes: Vec<String>,
    /// Keys with numbers that tell it from others made of the same table.
    pub swept: Vec<(String, f64)>,
}

impl PolicyFile {
    pub(super) fn place(&self) -> RentalPlace {
        RentalPlace {
            provider: self.provider.clone(),
            region: self.region.clone(),
            zone: self.zone.clone(),
        }
    }

    pub fn policy(&self, name: &str) -> Result<Policy, WrongPolicy> {
        let has_table =
            self.price_table.is_some() || matches!(self.spot_series, Some(SpotSeriesKey::Table(_)));
        if self.zone.is_some() && !has_table {
            let tables = "prices of one's own: `price_table`, or a table for `spot_series`";
            return Err(WrongPolicy::GoesWith("`zone`", tables));
        }
        let base = base::read(self)?;
        let billed_time = BilledTime {
            granularity_s: self.granularity_s.map_or(0.0, NonNegative::get),
            minimum_s: self.minimum_s.map_or(0.0, NonNegative::get),
        };
        if self.as_rented && self.catalogue.is_none() {
            let what = "a listed price: give `catalogue`";
            return Err(WrongPolicy::Needs("`as_rented`", what));
        }
        let market = match &base {
            Base::Vm(price)
                if (price.is_flat() || price.is_of_market()) && self.priced_as.is_some() =>
            {
                return Err(WrongPolicy::Needs("`priced_as`", BY_TYPE));
            }
            Base::Vm(price) => price.market(),
            Base::Sample(_) if billed_time != BilledTime::default() => {
                return Err(WrongPolicy::NeedPerVm("`granularity_s` and `minimum_s`"));
            }
            Base::Sample(_) if self.priced_as.is_some() || self.sustained_use.is_some() => {
                return Err(WrongPolicy::NeedPerVm("`priced_as` and `sustained_use`"));
            }
            Base::Sample(_)
                if self.spot_series.is_some()
                    || self.free_first_hour_if_revoked
                    || self.free_started_unit_if_revoked =>
            {
                return Err(WrongPolicy::NeedPerVm(
                    "`spot_series`, `free_first_hour_if_revoked` and `free_started_unit_if_revoked`",
                ));
            }
            Base::Sample(_) | Base::Stated => Market::OnDemand,
        };
        Ok(Policy {
            name: name.to_owned(),
            description: self.description.clone(),
            only_ratios: self.only_ratios,
            is_of_spot: self.is_spot_price || market == Market::Spot,
            priced_as: self.priced_as.clone(),
            reductions: reductions::read(self, market)?,
            billed_time,
            parameter_servers: parameter_servers(self, &base)?,
            charges: charges::read(&self.charges)?,
            table_hashes: [&self.tables.prices, &self.tables.series]
                .into_iter()
                .flatten()
                .map(|table| table.hash.clone())
                .collect(),
            swept: Vec::new(),
            base,
        })
    }
}

impl Policy {
    pub fn is_as_measured(&self) -> bool {
        matches!(self.base, Base::Stated)
    }

    /// The market whose price VMs have that are rented on its terms; `None` where there is none, or a part of it.
    pub fn market(&self) -> Option<Market> {
        match &self.base {
            Base::Vm(price) if !self.reductions.are_any() => Some(price.market()),
            _ => None,
        }
    }

    /// Whether all VM types cost the same under it.
    pub fn is_one_price(&self) -> bool {
        let is_dated = matches!(self.reductions.spot_series, Some(Series::Dated(_)));
        match &self.base {
            Base::Vm(price) => (price.is_flat() && !is_dated) || self.priced_as.is_some(),
            Base::Sample(_) => true,
            Base::Stated => false,
        }
    }

    pub fn is_spot_price(&self, on_spot: Option<bool>) -> bool {
        let reductions = &self.reductions;
        let is_reduced =
            reductions.spot_series.is_some() || reductions.factor < reductions.on_demand_factor;
        match on_spot {
            _ if self.is_of_spot => true,
            Some(true) => is_reduced || reductions.knows_spot_prices,
            Some(false) => false,
            None => is_reduced,
        }
    }

    /// Whether a list that has prices of others lacks that of a known VM type, which can be left out.
    pub fn is_gap(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> bool {
        matches!(&self.base, Base::Vm(price) if self.priced_as.is_none() && price.is_gap(rented, fleet))
    }

    pub fn listed(&self, rented: RentedVmType<'_>, fleet: &Fleet<'_>) -> Option<ListedPrice> {
        let Base::Vm(price) = &self.base else {
            return None;
        };
        let vm = self.priced_as.as_deref().unwrap_or(rented.vm);
        price.listed(RentedVmType { vm, ..rented }, fleet)
    }

    pub fn as_measured() -> Policy {
        let description = "what the grid says that its runs cost";
        Policy::plain(AS_MEASURED, description, Base::Stated)
    }

    /// Runs cost what their market charges.
    pub fn of_market() -> Policy {
        let description = "what the market charges";
        Policy::plain(MARKET, description, Base::Vm(Arc::new(MarketPrice)))
    }

    pub fn is_of_market(&self) -> bool {
        matches!(&self.base, Base::Vm(price) if price.is_of_market())
    }

    /// Whether it charges the exact time at the market's price, and nothing else.
    pub fn is_plain_market(&self) -> bool {
        self.is_of_market()
            && self.billed_time == BilledTime::default()
            && self.charges == PerCharge::default()
            && self.reductions.least_share() == Some(1.0)
    }

    /// Least USD of a run whose market charges `usd` at least and which takes `hours` at least; `None` where some time is free.
    pub fn least_usd(&self, usd: f64, hours: f64) -> Option<f64> {
        let charges = self.charges.iter();
        let charges = charges.map(|one| one.usd_at_end + one.usd_per_hour * hours);
        Some(usd * self.reductions.least_share()? + charges.sum::<f64>())
    }

    /// What rentals in a market are billed by; usage names each kind of rental by its index in `rentals`.
    pub fn market_tariff(&self, rentals: impl Iterator<Item = MarketRental>) -> Tariff {
        let mut spot_series = Vec::new();
        let mut prices = Vec::new();
        for rental in rentals {
            let series = rental.series.map(|own| {
                spot_series.push(own);
                spot_series.len() - 1
            });
            prices.push(PoolPrice {
                usd_per_hour: rental.usd_per_hour * self.reductions.factor_of(Some(rental.on_spot)),
                is_timed: !rental.on_spot,
                series,
            });
        }
        Tariff {
            charge: BillItem::Vm {
                pool_of: (0..prices.len()).collect(),
                prices,
            },
            billed_time: self.billed_time,
            sustained_use: self.reductions.sustained_use.clone(),
            spot_series,
            revoked: self.reductions.revoked,
            servers: None,
            charges: self.charges,
        }
    }

    pub fn of_price(name: &str, price: Arc<dyn VmPrice>) -> Policy {
        Policy::plain(name, "", Base::Vm(price))
    }

    /// A base price for the exact time, and nothing else on the bill.
    fn plain(name: &str, description: &str, base: Base) -> Policy {
        Policy {
            name: name.to_owned(),
            description: description.to_owned(),
            only_ratios: false,
            is_of_spot: matches!(&base, Base::Vm(price) if price.market() == Market::Spot),
            base,
            priced_as: None,
            reductions: Reductions::NONE,
            billed_time: BilledTime::default(),
            parameter_servers: None,
            charges: PerCharge::default(),
            table_hashes: Vec::new(),
            swept: Vec::new(),
        }
    }

    /// What runs on VMs of the types `vms` are billed by, in USD; usage names a VM type by its index there. Fails where one has no price.
    pub fn tariff(&self, vms: &[RentedVmType<'_>], fleet: &Fleet<'_>) -> Result<Tariff, NoPrice> {
        let price = match &self.base {
            Base::Sample(usd) => {
                return Ok(Tariff::per_sample(
                    usd * self.reductions.factor,
                    self.charges,
                ));
            }
            Base::Stated => {
                return Err(NoPrice {
                    what: "nothing states what these runs cost".to_owned(),
                    help: "only a measured grid with a rule of costs does".to_owned(),
                });
            }
            Base::Vm(price) => price,
        };
        let mut pools = Pools::default();
        let pool_of = (vms.iter())
            .map(|rented| pools.pool_of(self, &**price, *rented, fleet))
            .collect::<Result<Vec<usize>, NoPrice>>()?;
        let servers = match &self.parameter_servers {
            None => None,
            Some(ParameterServers { count, vm }) => {
                let own = match (vm, &pool_of[..]) {
                    (Some(vm), _) => {
                        pools.pool_of(self, &**price, RentedVmType::as_priced(vm), fleet)?
                    }
                    (None, [first, rest @ ..]) if rest.iter().all(|p| p == first) => *first,
                    (None, _) => {
                        return Err(NoPrice {
                            what: "no one VM type for the billed parameter servers".to_owned(),
                            help: "name `parameter_server_vm`".to_owned(),
                        });
                    }
                };
                Some(Servers {
                    count: *count,
                    pool: own,
                })
            }
        };
        Ok(Tariff {
            charge: BillItem::Vm {
                pool_of,
                prices: pools.prices,
            },
            billed_time: self.billed_time,
            sustained_use: self.reductions.sustained_use.clone(),
            spot_series: pools.spot_series,
            revoked: self.reductions.revoked,
            servers,
            charges: self.charges,
        })
    }
}

/// VM types that are charged as one share a pool and its price, on whatever terms they are rented.
#[derive(Default)]
struct Pools {
    /// Whether it is on spot terms, and its pool, by name.
    known: HashMap<String, Vec<(Option<bool>, usize)>>,
    prices: Vec<PoolPrice>,
    spot_series: Vec<SpotSeries>,
}

impl Pools {
    fn pool_of(
        &mut self,
        policy: &Policy,
        price: &dyn VmPrice,
        rented: RentedVmType<'_>,
        fleet: &Fleet<'_>,
    ) -> Result<usize, NoPrice> {
        let vm = policy.priced_as.as_deref().unwrap_or(rented.vm);
        let reductions = &policy.reductions;
        let is_dated = matches!(reductions.spot_series, Some(Series::Dated(_)));
        let name = if price.is_flat() && !is_dated { "" } else { vm };
        let known = self.known.entry(name.to_owned()).or_default();
        if let Some((_, pool)) = known.iter().find(|(terms, _)| *terms == rented.on_spot) {
            return Ok(*pool);
        }
        let usd_per_hour = price.usd_per_hour(RentedVmType { vm, ..rented }, fleet)?;
        // A price that a program brings has passed no check of a file.
        if VmUsd::new(usd_per_hour).is_none() {
            return Err(NoPrice {
                what: format!("`{vm}` would cost {usd_per_hour} USD per hour"),
                help: "a price is a number from 10^-9 to 10^6, or 0".to_owned(),
            });
        }
        let mut own = PoolPrice {
            usd_per_hour: usd_per_hour * reductions.factor_of(rented.on_spot),
            is_timed: reductions.is_timed(rented.on_spot),
            series: None,
        };
        if let Some(series) = reductions.spot_series.as_ref().filter(|_| own.is_timed) {
            let series = match series {
                Series::Ratio(series) => series.clone(),
                Series::Dated(dated) => dated.over(vm, own.usd_per_hour, fleet)?,
            };
            let before = self.spot_series.iter().position(|other| *other == series);
            own.series = Some(before.unwrap_or(self.spot_series.len()));
            if before.is_none() {
                self.spot_series.push(series);
            }
        }
        let alike = known.iter().find(|(_, pool)| self.prices[*pool] == own);
        let pool = alike.map_or(self.prices.len(), |(_, pool)| *pool);
        if pool == self.prices.len() {
            self.prices.push(own);
        }
        known.push((rented.on_spot, pool));
        Ok(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let file: PolicyFile = toml::from_str(text).expect("legal keys and values");
        match file.policy("p") {
            Ok(policy) => panic!("{text}: {policy:?}"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_policy_has_exactly_one_base_price() {
        let listed =
            "catalogue = \"spot\"\nprovider = \"gcp\"\nregion = \"r\"\ndate = \"2026-07-30\"";
        let bases = [
            "usd_per_vm_hour = 1",
            "usd_per_sample_hour = 1",
            "usd_per_vcpu_hour = 1\nusd_per_gib_hour = 0",
            listed,
        ];
        assert!(refused("").starts_with("there is no price: give `usd_per_vm_hour`, or"));
        for (index, base) in bases.iter().enumerate() {
            let file: PolicyFile = toml::from_str(base).expect("it is legal");
            assert!(file.policy("one").is_ok(), "{base}");
            for other in &bases[..index] {
                assert!(refused(&format!("{base}\n{other}")).starts_with("give only one of"));
            }
        }
    }

    #[test]
    fn keys_that_do_not_go_together_are_refused() {
        for case in KEYS_REFUSED.lines() {
            let (keys, expected) = case.split_once(" => ").expect("keys and words");
            let why = refused(&keys.replace("; ", "\n"));
            assert!(why.contains(expected), "{keys}: {why}");
        }
    }

    /// Keys, and words of what is said of them.
    const KEYS_REFUSED: &str = r#"usd_per_vcpu_hour = 1 => go together
usd_per_gib_hour = 1; usd_per_gpu_hour = 1 => go together
usd_per_gpu_hour = 0 => all 0
usd_per_vm_hour = 1; spot_series = [] => is empty
usd_per_vm_hour = 1; spot_series = [[1, 0.3]] => at hour 0
usd_per_vm_hour = 1; spot_series = [[0, 0.3]]; sustained_use = [1] => exclude each other
usd_per_vm_hour = 1; spot_series = [[0, 0.3]]; spot_ratio = 0.3 => exclude each other
usd_per_sample_hour = 1; spot_series = [[0, 0.3]] => price per VM
usd_per_vm_hour = 1; free_first_hour_if_revoked = true => needs a spot price
usd_per_vm_hour = 1; granularity_s = 3600; free_started_unit_if_revoked = true => needs a spot price
usd_per_vm_hour = 1; spot_ratio = 0.3; free_started_unit_if_revoked = true => give `granularity_s`
usd_per_vm_hour = 1; as_rented = true => give `catalogue`
usd_per_hour_of = { a = 1 }; spot_usd_per_hour_of = { a = 0.3 }; spot_ratio = 0.5 => `spot_usd_per_hour_of` and `spot_ratio` exclude
catalogue = "on-demand"; provider = "gcp"; region = "r"; as_rented = true; spot_ratio = 0.5; date = "2026-07-30" => `as_rented` and `spot_ratio` exclude
catalogue = "commitment-3y"; provider = "gcp"; region = "r"; commitment_discount = 0.4; date = "2026-07-30" => a commitment price and `commitment_discount` exclude
usd_per_vcpu_hour = 0; usd_per_gib_hour = 0 => all 0
catalogue = "spot" => go together
region = "us-central1" => go together
regions = { aws = "us-east-1" } => go together
catalogue = "spot"; regions = { aws = "us-east-1" }; provider = "gcp"; region = "r"; date = "2026-07-30" => `regions` takes the place of
catalogue = "spot"; date = "2026-07-30"; regions = { azur = "eastus" } => `azur` is not one of the providers aws, azure, gcp
catalogue = "spot"; date = "2026-07-30"; regions = {} => go together
usd_per_vm_hour = 1; priced_as = "m4.xlarge" => depends on the VM type
market_price = true; priced_as = "m4.xlarge" => depends on the VM type
market_price = true; billed_parameter_servers = 1 => depends on the VM type
market_price = true; spot_ratio = 0.3 => exclude each other
market_price = true; usd_per_vm_hour = 1 => give only one of
usd_per_sample_hour = 1; minimum_s = 60 => price per VM
usd_per_sample_hour = 1; sustained_use = [1] => price per VM
usd_per_sample_hour = 1; billed_parameter_servers = 1 => price per VM
usd_per_vm_hour = 1; sustained_use = [] => is empty
usd_per_vm_hour = 1; sustained_use = [1]; spot_ratio = 0.3 => exclude each other
usd_per_vm_hour = 1; commitment_discount = 0.4; spot_ratio = 0.3 => exclude
catalogue = "spot"; provider = "gcp"; region = "r"; date = "2026-07-30"; commitment_discount = 0.4 => a spot price and `commitment
usd_per_vm_hour = 1; parameter_server_vm = "m4.xlarge" => goes with
usd_per_vm_hour = 1; parameter_server_vm = "v"; billed_parameter_servers = 1 => depends on the VM type
usd_per_vm_hour = 1; egress_gib = 5 => `egress_gib` and `usd_per_egress_gib` go together
usd_per_vm_hour = 1; usd_per_storage_gib_month = 0.04 => `storage_gib` and `usd_per_storage_gib_month` go together"#;
}

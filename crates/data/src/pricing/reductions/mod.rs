//! What makes a base price less: spot, commitments and sustained use. A discount that is more than a fraction has its own
//! file; a new one is its keys in [`PolicyFile`] and an entry of [`RULES`].

pub mod preemption_refund;
pub mod spot_series;
pub mod sustained_use;

use super::file::PolicyFile;
use super::wrong_policy::WrongPolicy;
use crate::cloud::Market;
use preemption_refund::PreemptionRefund;
use scavsim_base::Declaration;
use spot_series::Series;
use sustained_use::SustainedUse;

#[derive(Debug, Clone)]
pub struct Reductions {
    /// What is left after a spot ratio or a commitment.
    pub factor: f64,
    /// What is left for VMs that are rented on demand beside spot VMs.
    pub on_demand_factor: f64,
    pub spot_series: Option<Series>,
    pub sustained_use: Option<SustainedUse>,
    pub revoked: PreemptionRefund,
    /// Whether the base price of VMs that are rented as spot VMs is their spot price, from which nothing else is taken off.
    pub knows_spot_prices: bool,
}

impl Reductions {
    pub const NONE: Reductions = Reductions {
        factor: 1.0,
        on_demand_factor: 1.0,
        spot_series: None,
        sustained_use: None,
        revoked: PreemptionRefund {
            free_first_hour: false,
            free_started_unit: false,
        },
        knows_spot_prices: false,
    };

    pub fn factor_of(&self, on_spot: Option<bool>) -> f64 {
        match on_spot {
            Some(true) if self.knows_spot_prices => 1.0,
            Some(false) => self.on_demand_factor,
            _ => self.factor,
        }
    }

    /// Whether the base price is not what a VM costs that is rented on the terms of the policy.
    pub fn are_any(&self) -> bool {
        self.factor != 1.0 || self.spot_series.is_some()
    }

    /// Least share of its price that a VM may be charged; `None` where some time is free.
    pub fn least_share(&self) -> Option<f64> {
        let is_never_free = self.revoked == PreemptionRefund::default();
        let bands = self.sustained_use.as_ref().map_or(1.0, SustainedUse::least);
        is_never_free.then_some(self.factor.min(self.on_demand_factor).min(bands))
    }

    /// Whether the price depends on when and how long: a spot series off demand, sustained use off spot prices.
    pub fn is_timed(&self, on_spot: Option<bool>) -> bool {
        match on_spot {
            Some(true) => !self.knows_spot_prices,
            Some(false) => self.spot_series.is_none(),
            None => true,
        }
    }
}

pub struct DiscountRule {
    pub declaration: Declaration,
    pub key: &'static str,
    is_spot: bool,
    read: fn(&PolicyFile) -> Option<Result<Reductions, WrongPolicy>>,
}

pub const RULES: &[DiscountRule] = &[
    DiscountRule {
        declaration: Declaration {
            name: "spot-ratio",
            what: "VMs cost a fraction of the base price, but for those that a kind of cluster rents on demand. Only the price: `[spot]` takes VMs away.",
            formula: "× `spot_ratio`",
            source: "spot markets of all providers",
            example: "pricing.define.mine = { usd_per_vm_hour = 1, spot_ratio = 0.3 }",
        },
        key: "`spot_ratio`",
        is_spot: true,
        read: |file| {
            // VMs on demand beside spot VMs cost their whole price.
            let factor = file.spot_ratio?.get();
            Some(Ok(Reductions {
                factor,
                ..Reductions::NONE
            }))
        },
    },
    DiscountRule {
        declaration: Declaration {
            name: "spot-series",
            what: "A spot ratio that changes while the job runs, constant from each step to the next; the last step holds for ever.",
            formula: "∫ ratio(t) dt over the billed hours; `spot_series` has hours since the job began and the ratio from then on – USD, with `usd_per_vm_hour = 1` –, or names a table of one's own with dated spot prices in USD of each VM type, of which `date` is when a job begins",
            source: "price histories of AWS and others",
            example: "pricing.define.mine = { usd_per_vm_hour = 1, spot_series = [[0, 0.3], [6, 0.45]] }",
        },
        key: "`spot_series`",
        is_spot: true,
        read: |file| {
            let series = spot_series::read(file)?;
            Some(series.map(|series| Reductions {
                spot_series: Some(series),
                ..Reductions::NONE
            }))
        },
    },
    DiscountRule {
        declaration: Declaration {
            name: "commitment",
            what: "VMs cost less for a commitment of one or three years.",
            formula: "× (1 − `commitment_discount`)",
            source: "all providers",
            example: "pricing.define.mine = { usd_per_vm_hour = 1, commitment_discount = 0.37 }",
        },
        key: "`commitment_discount`",
        is_spot: false,
        read: |file| {
            let factor = 1.0 - file.commitment_discount?.get();
            Some(Ok(Reductions {
                factor,
                on_demand_factor: factor,
                ..Reductions::NONE
            }))
        },
    },
    DiscountRule {
        declaration: Declaration {
            name: "sustained-use",
            what: "Each equal part of a month of 730 h has its fraction of the base price, for the hours in which at least that many VMs of a type are held.",
            formula: "`sustained_use`, by level of concurrency",
            source: "GCP, for n1: 100, 80, 60 and 40 %",
            example: "pricing.define.mine = { usd_per_vm_hour = 1, sustained_use = [1, 0.8, 0.6, 0.4] }",
        },
        key: "`sustained_use`",
        is_spot: false,
        read: |file| {
            let bands = sustained_use::read(file)?;
            Some(bands.map(|bands| Reductions {
                sustained_use: Some(bands),
                ..Reductions::NONE
            }))
        },
    },
];

/// The reductions of a price listed in `market`. Use gets one discount, and none on a spot or commitment price.
pub fn read(file: &PolicyFile, market: Market) -> Result<Reductions, WrongPolicy> {
    let listed = match market {
        Market::OnDemand => None,
        Market::Spot => Some("a spot price"),
        Market::Commitment1y | Market::Commitment3y => Some("a commitment price"),
    };
    let found: Vec<(&DiscountRule, Result<Reductions, WrongPolicy>)> = (RULES.iter())
        .filter_map(|rule| Some((rule, (rule.read)(file)?)))
        .collect();
    let has_spot_rule = found.iter().any(|(rule, _)| rule.is_spot);
    // Beside spot VMs at their own price, the others may have a discount that is none of spot VMs.
    let own = match (file.as_rented, &file.spot_usd_per_hour_of) {
        (true, _) => Some("`as_rented`"),
        (_, Some(_)) => Some("`spot_usd_per_hour_of`"),
        _ if file.market_price => Some("`market_price`"),
        _ => None,
    };
    let given: Vec<&'static str> = (listed.or(own.filter(|_| has_spot_rule)).into_iter())
        .chain(found.iter().map(|(rule, _)| rule.key))
        .collect();
    if let [one, other, ..] = given[..] {
        return Err(WrongPolicy::TwoDiscounts(one, other));
    }
    let is_spot = market == Market::Spot || own.is_some() || has_spot_rule;
    let revoked = PreemptionRefund::read(file, is_spot)?;
    let reductions = found.into_iter().next().map(|(_, reductions)| reductions);
    Ok(Reductions {
        revoked,
        knows_spot_prices: own.is_some(),
        ..reductions.unwrap_or(Ok(Reductions::NONE))?
    })
}

//! When a price is too old to be charged as the newest: the one rule of `run`, `rank`, `advise` and `list`.

use super::catalogue::Catalogue;
use super::prices::{Market, Price};

/// Months before the newest price of a catalogue after which a price is old.
const MONTHS: i32 = 18;

impl Catalogue {
    /// Whether a price was last seen more than 18 months before the newest one of this catalogue.
    ///
    /// The clock has no part in it, so that the same scenario and prices give the same result on any day.
    pub fn is_old(&self, price: &Price) -> bool {
        price.valid_to < self.newest_day.months_before(MONTHS)
    }

    /// Why a price is not charged as the newest: an old one of spot or of a commitment, which would stand beside new ones on
    /// demand. An old price on demand is charged, and marked.
    pub fn why_not_newest(&self, price: &Price) -> Option<String> {
        (price.market != Market::OnDemand && self.is_old(price)).then(|| {
            format!(
                "the last {} price of `{}` in {} {} is of {}, over {MONTHS} months before the newest price ({})",
                price.market, price.vm, price.provider, price.region, price.valid_to, self.newest_day
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::Date;

    fn price_of(day: &str, market: Market) -> Price {
        let day = Date::parse(day).expect("a day");
        Price {
            provider: "aws".into(),
            vm: "v".into(),
            region: "r".into(),
            market,
            usd_per_hour: 1.0,
            valid_from: day,
            valid_to: day,
            source_keys: "s".into(),
        }
    }

    #[test]
    fn a_price_is_old_a_day_beyond_eighteen_months_before_the_newest() {
        let newest = Date::parse("2026-11-27").expect("a day");
        let mut catalogue = Catalogue::default();
        catalogue.newest_day = newest;
        for (day, is_old) in [
            ("2026-11-27", false),
            ("2025-05-27", false),
            ("2025-05-26", true),
        ] {
            assert_eq!(
                catalogue.is_old(&price_of(day, Market::Spot)),
                is_old,
                "{day}"
            );
            assert!(
                catalogue
                    .why_not_newest(&price_of(day, Market::OnDemand))
                    .is_none()
            );
            let why = catalogue.why_not_newest(&price_of(day, Market::Commitment1y));
            assert_eq!(why.is_some_and(|why| why.contains(day)), is_old, "{day}");
        }
    }
}

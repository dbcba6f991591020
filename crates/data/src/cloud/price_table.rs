//! Prices of one's own: a dated table that a scenario names in place of the embedded one.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use jiff::civil::{DateTime, Time};

use super::date::time_of_day;
use super::prices::LEAST_USD;
use super::{Date, Market};
use scavsim_read::input::csv::{Row, Table};
use scavsim_read::input::{Diagnostics, Source, did_you_mean};

const REQUIRED: [&str; 5] = ["vm", "market", "usd_per_hour", "valid_from", "source"];
pub const OPTIONAL: [&str; 4] = ["provider", "region", "zone", "valid_to"];

#[derive(Debug, Clone, PartialEq)]
pub struct PriceTable {
    pub name: String,
    /// BLAKE3 hash of its text.
    pub hash: String,
    rows: Vec<PriceTableRow>,
}

#[derive(Debug, Clone, PartialEq)]
struct PriceTableRow {
    vm: String,
    market: Market,
    usd_per_hour: f64,
    /// In UTC.
    from: DateTime,
    /// The last day on which it is known; for good where that is not said.
    to: Option<Date>,
    /// Provider, region and zone; empty where the table does not say.
    place: [String; 3],
    source: String,
    line: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfPlace {
    pub(super) provider: String,
    pub(super) vm: String,
    pub(super) region: String,
    pub(super) market: Market,
    pub(super) usd_per_hour: f64,
    pub(super) from: Date,
    pub(super) to: Option<Date>,
    pub(super) source: String,
    pub(super) line: Range<usize>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RentalPlace {
    pub provider: Option<String>,
    pub region: Option<String>,
    pub zone: Option<String>,
}

const PLACE: [&str; 3] = ["provider", "region", "zone"];

impl RentalPlace {
    fn parts(&self) -> [&Option<String>; 3] {
        [&self.provider, &self.region, &self.zone]
    }

    fn matches_row(&self, row: &PriceTableRow) -> bool {
        let parts = self.parts().into_iter().zip(&row.place);
        // A table without such a column speaks of all.
        parts
            .into_iter()
            .all(|(asked, own)| own.is_empty() || asked.as_ref().is_none_or(|asked| asked == own))
    }
}

impl fmt::Display for RentalPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = (self.parts().into_iter().flatten())
            .map(String::as_str)
            .collect();
        f.write_str(&parts.join(" "))
    }
}

/// Why a table gives no price: what is missing, and what there is instead.
pub type MissingPrice = (String, String);

impl PriceTable {
    pub fn read(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<PriceTable> {
        let before = diagnostics.len();
        let table = Table::read(source, &REQUIRED, &OPTIONAL, diagnostics)?;
        let mut rows: Vec<PriceTableRow> = (table.rows())
            .filter_map(|row| price(&row, diagnostics))
            .collect();
        rows.sort_by(PriceTableRow::order);
        for pair in rows.windows(2) {
            let [a, b] = pair else { continue };
            let overlaps = a.to.is_some_and(|to| to >= b.day() && a.day() != b.day());
            if a.is_alike(b) && (a.from == b.from || overlaps) {
                let title = format!("two {} prices of `{}` for the same time", b.market, b.vm);
                let label = "of one place and day there is one price";
                diagnostics.error_at(source, b.line.clone(), title, label);
            }
        }
        (diagnostics.len() == before).then(|| PriceTable {
            name: source.name.clone(),
            hash: blake3::hash(source.text.as_bytes()).to_hex().to_string(),
            rows,
        })
    }

    pub(super) fn of_places(&self) -> Vec<OfPlace> {
        let of_place = |row: &PriceTableRow| OfPlace {
            provider: row.place[0].clone(),
            vm: row.vm.clone(),
            region: row.place[1].clone(),
            market: row.market,
            usd_per_hour: row.usd_per_hour,
            from: row.day(),
            to: row.to,
            source: row.source.clone(),
            line: row.line.clone(),
        };
        self.rows.iter().map(of_place).collect()
    }

    /// USD per hour of `vm` on a day. [`MissingPrice`] also where places differ in price and the policy names none.
    pub fn usd_per_hour(
        &self,
        vm: &str,
        market: Market,
        place: &RentalPlace,
        date: Date,
    ) -> Result<f64, MissingPrice> {
        let own = self.rows_for(vm, market, place)?;
        let on_day: Vec<&PriceTableRow> = (own.iter().enumerate())
            .filter(|(at, row)| {
                let next = own.get(at + 1).filter(|next| next.is_alike(row));
                let replaced = next.is_some_and(|next| next.from <= date.at_time(Time::midnight()));
                row.day() <= date && row.to.is_none_or(|to| date <= to) && !replaced
            })
            .map(|(_, row)| *row)
            .collect();
        let Some(first) = on_day.first() else {
            let days: BTreeSet<String> = own.iter().map(|r| r.day().to_string()).collect();
            let days: Vec<String> = days.into_iter().collect();
            let what = format!("no {market} price of `{vm}` on {date} in {}", self.name);
            return Err((what, format!("there are prices from {}", shortened(&days))));
        };
        self.one_place(vm, market, &on_day)?;
        Ok(first.usd_per_hour)
    }

    /// Prices of `vm` from a day on: (hours since then, USD per hour until the next); the last holds for good.
    pub fn series(
        &self,
        vm: &str,
        market: Market,
        place: &RentalPlace,
        start: Date,
    ) -> Result<Vec<(f64, f64)>, MissingPrice> {
        let mut own = self.rows_for(vm, market, place)?;
        self.one_place(vm, market, &own)?;
        // Places of one price follow each other, each with all its times.
        own.sort_by_key(|row| row.from);
        let start = start.at_time(Time::midnight());
        let first = own.partition_point(|row| row.from <= start);
        if first == 0 {
            let what = format!("the {market} prices of `{vm}` in {} begin later", self.name);
            let begin = own
                .first()
                .map_or(String::new(), |row| row.day().to_string());
            return Err((what, format!("the first is of {begin}")));
        }
        let step = |row: &&PriceTableRow| {
            let hours = row.from.duration_since(start).as_secs_f64() / 3600.0;
            (hours.max(0.0), row.usd_per_hour)
        };
        let mut steps: Vec<(f64, f64)> = own[first - 1..].iter().map(step).collect();
        steps.dedup_by(|later, earlier| later.0 <= earlier.0);
        Ok(steps)
    }

    fn rows_for(
        &self,
        vm: &str,
        market: Market,
        place: &RentalPlace,
    ) -> Result<Vec<&PriceTableRow>, MissingPrice> {
        let of_vm = || self.rows.iter().filter(|row| row.vm == vm);
        let in_market = || of_vm().filter(|row| row.market == market);
        let here: Vec<&PriceTableRow> = in_market().filter(|row| place.matches_row(row)).collect();
        if !here.is_empty() {
            return Ok(here);
        }
        let name = &self.name;
        if of_vm().next().is_none() {
            let names: BTreeSet<&str> = self.rows.iter().map(|row| row.vm.as_str()).collect();
            let help = did_you_mean(
                vm,
                names.iter().copied(),
                format!("it has {} VM types", names.len()),
            );
            return Err((format!("no price of `{vm}` in {name}"), help));
        }
        if in_market().next().is_none() {
            let what = format!("no {market} price of `{vm}` in {name}");
            return Err((what, "it has prices in other markets".to_owned()));
        }
        let places: BTreeSet<String> = in_market()
            .map(|row| row.place.join(" ").trim().to_owned())
            .collect();
        let places: Vec<String> = places.into_iter().collect();
        let what = format!("no {market} price of `{vm}` in {place} in {name}");
        Err((what, format!("there are prices in {}", shortened(&places))))
    }

    fn one_place(
        &self,
        vm: &str,
        market: Market,
        rows: &[&PriceTableRow],
    ) -> Result<(), MissingPrice> {
        for (at, column) in PLACE.iter().enumerate() {
            let all: BTreeSet<&str> = rows.iter().map(|row| row.place[at].as_str()).collect();
            let prices: BTreeSet<u64> = rows.iter().map(|r| r.usd_per_hour.to_bits()).collect();
            if all.len() > 1 && prices.len() > 1 {
                let names: Vec<String> = all.into_iter().map(str::to_owned).collect();
                let what = format!(
                    "the {market} price of `{vm}` depends on the {column} in {}",
                    self.name
                );
                return Err((what, format!("give `{column}`: {}", shortened(&names))));
            }
        }
        Ok(())
    }
}

impl PriceTableRow {
    fn is_alike(&self, other: &PriceTableRow) -> bool {
        (&self.vm, self.market, &self.place) == (&other.vm, other.market, &other.place)
    }

    fn day(&self) -> Date {
        Date(self.from.date())
    }

    fn order(&self, other: &PriceTableRow) -> std::cmp::Ordering {
        let key = |row: &PriceTableRow| (row.vm.clone(), row.market, row.place.clone(), row.from);
        key(self).cmp(&key(other))
    }
}

/// A day, `2026-11-20`, or a time of it in UTC, `2026-11-20T06:30` or `2026-11-20 06:30:00+00:00`.
fn time(text: &str) -> Option<DateTime> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = Date::parse(day)?;
    if rest.is_empty() {
        return Some(day.at_time(Time::midnight()));
    }
    let clock = rest.strip_prefix(['T', ' '])?;
    let mut zones = ["Z", "+00:00", "+0000"].iter();
    let in_utc = zones.find_map(|zone| clock.strip_suffix(zone));
    Some(day.at_time(time_of_day(in_utc.unwrap_or(clock))?))
}

fn price(row: &Row<'_>, d: &mut Diagnostics) -> Option<PriceTableRow> {
    let vm = row.name("vm", d);
    let market = Market::read(row, d);
    let usd_per_hour = row.number("usd_per_hour", LEAST_USD..=1e6, d);
    let named_source = row.text("source", d);
    let from = row.text("valid_from", d).and_then(|text| {
        let time = time(text);
        if time.is_none() {
            let title = format!("`valid_from`: `{text}` is no time");
            let label =
                "expected a day like `2026-07-30`, or a time in UTC like `2026-07-30T06:00`";
            row.report("valid_from", title, label, d);
        }
        time
    });
    let to = match row.optional_text("valid_to") {
        None => Some(None),
        Some(text) => {
            let day = Date::parse(text);
            if day.is_none() {
                let title = format!("`valid_to`: `{text}` is no day");
                row.report("valid_to", title, "expected a day like `2026-07-30`", d);
            }
            day.map(Some)
        }
    };
    let (from, to) = (from?, to?);
    if to.is_some_and(|to| to < Date(from.date())) {
        let title = "`valid_to` is before `valid_from`";
        row.report("valid_to", title, "expected the same day or a later one", d);
        return None;
    }
    let place = PLACE.map(|column| {
        let is_given = row.optional_text(column).is_some();
        let name = is_given.then(|| row.name(column, d)).flatten();
        name.unwrap_or_default().to_owned()
    });
    Some(PriceTableRow {
        vm: vm?.to_owned(),
        market: market?,
        usd_per_hour: usd_per_hour?,
        from,
        to,
        place,
        source: named_source?.to_owned(),
        line: row.line_span(),
    })
}

fn shortened(words: &[String]) -> String {
    const SHOWN: usize = 6;
    match words.len() {
        0..=SHOWN => words.join(", "),
        n => format!("{} and {} more", words[..SHOWN].join(", "), n - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "provider,vm,region,zone,market,usd_per_hour,valid_from,valid_to,source\n";

    fn table(rows: &str) -> PriceTable {
        let mut diagnostics = Diagnostics::default();
        let source = Source::new("own.csv", format!("{HEAD}{rows}"));
        let table = PriceTable::read(&source, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
        table.expect("it is sound")
    }

    fn day(text: &str) -> Date {
        Date::parse(text).expect("a day")
    }

    #[test]
    fn a_price_is_that_of_its_day_and_place() {
        let table = table(
            "aws,v,r,a,on-demand,2,2026-01-01,2026-01-31,s\n\
             aws,v,r,b,on-demand,2,2026-01-01,2026-01-31,s\n\
             aws,v,r,a,spot,0.5,2026-01-01,,s\naws,v,r,a,spot,0.7,2026-01-03,,s\n\
             aws,v,r,b,spot,0.9,2026-01-01,,s\n",
        );
        let price =
            |market, place: &RentalPlace, date| table.usd_per_hour("v", market, place, day(date));
        let any = RentalPlace::default();
        let in_zone = |zone: &str| RentalPlace {
            zone: Some(zone.to_owned()),
            ..RentalPlace::default()
        };
        // Zones of one price need not be told apart.
        assert_eq!(price(Market::OnDemand, &any, "2026-01-31"), Ok(2.0));
        let missing = price(Market::OnDemand, &any, "2026-02-01").expect_err("not known then");
        assert!(missing.1.contains("2026-01-01"), "{missing:?}");
        let missing = price(Market::Spot, &any, "2026-01-01").expect_err("two zones");
        assert_eq!(missing.1, "give `zone`: a, b");
        assert_eq!(price(Market::Spot, &in_zone("a"), "2026-01-02"), Ok(0.5));
        assert_eq!(price(Market::Spot, &in_zone("a"), "2027-01-02"), Ok(0.7));
        let missing = price(Market::Spot, &in_zone("c"), "2026-01-02").expect_err("no zone");
        assert_eq!(missing.1, "there are prices in aws r a, aws r b");
        assert!(price(Market::Commitment1y, &any, "2026-01-02").is_err());
        let none = table.usd_per_hour("w", Market::Spot, &any, day("2026-01-02"));
        assert!(none.is_err_and(|missing| missing.0.contains("no price of `w`")));
    }

    #[test]
    fn a_series_counts_hours_from_the_beginning_of_the_job() {
        let table = table(
            ",v,,,spot,0.5,2026-02-28,,s\n,v,,,spot,0.7,2026-03-01T06:30,,s\n\
             ,v,,,spot,0.6,2026-03-02 00:00:00+00:00,,s\n",
        );
        let series = |start| table.series("v", Market::Spot, &RentalPlace::default(), day(start));
        let prices = vec![(0.0, 0.5), (6.5, 0.7), (24.0, 0.6)];
        assert_eq!(series("2026-03-01"), Ok(prices));
        assert_eq!(series("2026-03-09"), Ok(vec![(0.0, 0.6)]));
        let alike = self::table(",v,,a,spot,1,2026-02-01,,s\n,v,,b,spot,1,2026-01-01,,s\n");
        let start = day("2026-01-15");
        let both = alike.series("v", Market::Spot, &RentalPlace::default(), start);
        assert_eq!(both, Ok(vec![(0.0, 1.0), (17.0 * 24.0, 1.0)]));
        assert!(series("2026-02-27").is_err_and(|missing| missing.1.contains("2026-02-28")));
    }

    #[test]
    fn times_are_read_in_utc_or_not_at_all() {
        let hour = |text: &str| {
            let since = time(text)?.time().duration_since(Time::midnight());
            Some(since.as_secs_f64() / 3600.0)
        };
        assert_eq!(hour("2026-11-20"), Some(0.0));
        for noon in "T12:00| 12:00:00|T12:00:00Z| 12:00:00+00:00|T12:00+0000".split('|') {
            assert_eq!(hour(&format!("2026-11-20{noon}")), Some(12.0), "{noon}");
        }
        assert_eq!(hour("2026-11-20T6:30"), Some(6.5));
        assert_eq!(hour("2026-11-20T00:00:01.8"), Some(1.8 / 3600.0));
        for wrong in "T|T12|T24:00|T12:60|T12:00+02:00|T-1:00|T1e1:00| 12:00:00:00".split('|') {
            assert_eq!(hour(&format!("2026-11-20{wrong}")), None, "{wrong}");
        }
        assert_eq!(hour("2026-11-31").or(hour("20")), None);
    }

    #[test]
    fn everything_wrong_with_a_table_is_said_at_once() {
        let twice = "two spot prices of `v` for the same time";
        let same = "2026-01-02,,s\n,v,,,spot,2,2026-01-02,,s";
        let overlap = "2026-01-02,2026-01-05,s\n,v,,,spot,2,2026-01-05,,s";
        for (price, rest, expected) in [
            ("spot,0", "2026-01-01,,s", "`usd_per_hour`: expected"),
            ("spt,1", "2026-01-01,,s", "unknown market `spt`"),
            ("spot,1", "2026-01-32,,s", "`2026-01-32` is no time"),
            ("spot,1", "2026-01-01T25:00,,s", "is no time"),
            ("spot,1", "2026-01-01T05:00+02:00,,s", "is no time"),
            (
                "spot,1",
                "2026-01-02,2026-01-01,s",
                "is before `valid_from`",
            ),
            ("spot,1", "2026-01-02,soon,s", "`soon` is no day"),
            ("spot,1", "2026-01-02,,", "`source`: expected"),
            ("spot,1", same, twice),
            ("spot,1", overlap, twice),
        ] {
            let rows = format!(",v,,,{price},{rest}\n");
            let mut diagnostics = Diagnostics::default();
            let source = Source::new("own.csv", format!("{HEAD}{rows}"));
            assert_eq!(PriceTable::read(&source, &mut diagnostics), None, "{rows}");
            let shown = diagnostics.render(false);
            assert!(shown.contains(expected), "{rows}{shown}");
        }
    }
}

//! Turns traces of spot availability, a JSON file per zone as in published collections, into a market folder.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::{Report, refuse};
use scavsim_read::input::name::not_a_name;
use scavsim_read::input::{Diagnostic, Diagnostics, Source, json};

pub const FILES: [&str; 5] = [
    "market.toml",
    "zones.csv",
    "availability.csv",
    "prices.csv",
    "egress.csv",
];

const NOT_A_TRACE: &str = "this is no trace of availability";
/// Valid prices per machine and hour.
const USD: RangeInclusive<f64> = 1e-6..=1e6;
/// Maximum number of machines in a trace.
const MOST: f64 = u16::MAX as f64;

#[derive(Debug, Clone)]
pub struct MarketOptions {
    pub files: Vec<PathBuf>,
    pub name: String,
    /// USD per machine and hour on demand.
    pub on_demand_usd_per_h: f64,
    /// USD per machine and hour in the spot market, constant; `None` if the traces have prices.
    pub spot_usd_per_h: Option<f64>,
    /// USD per GB between two regions.
    pub egress_usd_per_gb: Option<f64>,
    pub source: Option<String>,
    pub licence: Option<String>,
}

#[derive(Debug, Clone)]
pub struct ImportedMarket {
    pub files: Vec<(&'static str, String)>,
    pub report: Report,
}

/// A trace, as collections have it: machines that were there at each look, perhaps their price, and the seconds from one look to the
/// next.
#[derive(Debug, Deserialize)]
struct Trace {
    metadata: Metadata,
    data: Vec<f64>,
    prices: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    gap_seconds: f64,
}

struct OfZone {
    name: String,
    source: Arc<Source>,
    trace: Trace,
}

pub fn read(options: &MarketOptions, diagnostics: &mut Diagnostics) -> Option<ImportedMarket> {
    let before = diagnostics.len();
    let prices = [
        ("on-demand-usd-per-h", Some(options.on_demand_usd_per_h)),
        ("spot-usd-per-h", options.spot_usd_per_h),
    ];
    let is_wrong = |usd: &Option<f64>| usd.is_some_and(|usd| !USD.contains(&usd));
    for (option, _) in prices.iter().filter(|(_, usd)| is_wrong(usd)) {
        refuse(option, "USD between 10^-6 and 10^6", diagnostics);
    }
    if (options.egress_usd_per_gb).is_some_and(|usd| !(0.0..=1e3).contains(&usd)) {
        refuse("egress-usd-per-gb", "USD between 0 and 1,000", diagnostics);
    }
    let mut zones: Vec<OfZone> = Vec::new();
    for file in &options.files {
        let Some(source) = Source::read(file, diagnostics) else {
            continue;
        };
        let Some(trace) = json::read::<Trace>(&source, NOT_A_TRACE, diagnostics) else {
            continue;
        };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        check(&source, &stem, &trace, diagnostics);
        check_prices(&source, &trace, options.spot_usd_per_h, diagnostics);
        if let Some(first) = zones.first()
            && first.trace.metadata.gap_seconds.to_bits() != trace.metadata.gap_seconds.to_bits()
        {
            let title = format!(
                "{}: a look every {} s, and every {} s in {}",
                source.name,
                trace.metadata.gap_seconds,
                first.trace.metadata.gap_seconds,
                first.source.name
            );
            let help = "a market has one tick; import traces of other ticks by themselves";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        if zones.iter().any(|zone| zone.name == *stem) {
            let title = format!("two files are of zone `{stem}`");
            let help = "a zone is called as its file, without the ending";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        zones.push(OfZone {
            name: stem.into_owned(),
            source,
            trace,
        });
    }
    (diagnostics.len() == before && !zones.is_empty()).then(|| made(options, &zones))
}

fn check(source: &Arc<Source>, stem: &str, trace: &Trace, diagnostics: &mut Diagnostics) {
    let mut wrong = |what: String, help: &str| {
        let title = format!("{}: {what}", source.name);
        diagnostics.push(Diagnostic::general(title).with_help(help));
    };
    let gap = trace.metadata.gap_seconds;
    if !(gap > 0.0 && gap.is_finite()) {
        wrong(
            format!("`gap_seconds` is {gap}"),
            "expected a number above 0",
        );
    }
    if trace.data.is_empty() {
        wrong("`data` is empty".to_owned(), "expected a number per look");
    }
    let is_wrong = |&(_, &n): &(usize, &f64)| !(0.0..=MOST).contains(&n) || n.fract() != 0.0;
    if let Some((at, n)) = trace.data.iter().enumerate().find(is_wrong) {
        let help = "expected whole numbers of machines between 0 and 65535";
        wrong(format!("number {} of `data` is {n}", at + 1), help);
    }
    if let Some(why) = not_a_name(stem) {
        wrong("its name cannot be that of a zone".to_owned(), why);
    }
}

/// Prices are those of the trace, or those of the option.
fn check_prices(
    source: &Source,
    trace: &Trace,
    stated_usd: Option<f64>,
    diagnostics: &mut Diagnostics,
) {
    let wrong = match (&trace.prices, stated_usd) {
        (None, Some(_)) => return,
        (None, None) => (
            "it has no `prices`".to_owned(),
            "say the price with --spot-usd-per-h",
        ),
        (Some(_), Some(_)) => (
            "it has `prices`".to_owned(),
            "leave --spot-usd-per-h away, or take `prices` out",
        ),
        (Some(prices), None) if prices.len() != trace.data.len() => (
            format!("{} prices for {} looks", prices.len(), trace.data.len()),
            "expected a price per look",
        ),
        (Some(prices), None) => match prices.iter().position(|usd| !USD.contains(usd)) {
            None => return,
            Some(at) => (
                format!("number {} of `prices` is {}", at + 1, prices[at]),
                "expected USD per machine and hour between 10^-6 and 10^6",
            ),
        },
    };
    let title = format!("{}: {}", source.name, wrong.0);
    diagnostics.push(Diagnostic::general(title).with_help(wrong.1));
}

/// The region of a zone by its name: `us-east-2` of `us-east-2b_v100_1`, `us-central1` of `us-central1-a_c3-88`.
fn region(zone: &str) -> &str {
    let place = zone.split('_').next().unwrap_or(zone);
    let without = place.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let without = without.trim_end_matches('-');
    if without.ends_with(|c: char| c.is_ascii_digit()) {
        without
    } else {
        place
    }
}

fn made(options: &MarketOptions, zones: &[OfZone]) -> ImportedMarket {
    let tick_s = zones
        .first()
        .map_or(1.0, |zone| zone.trace.metadata.gap_seconds);
    let lengths = || zones.iter().map(|zone| zone.trace.data.len());
    let ticks = lengths().min().unwrap_or(0);
    let mut report = Report::default();
    let dropped: usize = lengths().map(|length| length - ticks).sum();
    let why = "after the end of the shortest trace";
    report.rows("looks at markets", lengths().sum(), &[(why, dropped)]);
    let mut regions: Vec<&str> = zones.iter().map(|zone| region(&zone.name)).collect();
    regions.sort_unstable();
    regions.dedup();
    let hours = ticks as f64 * tick_s / 3600.0;
    report.note(format!(
        "{} zones in {} regions over {hours:.1} h, a tick of {tick_s} s",
        zones.len(),
        regions.len()
    ));
    report.note(match options.spot_usd_per_h {
        Some(usd) => format!("the spot price is {usd} USD per machine and hour all the time"),
        None => "spot prices are those of the traces".to_owned(),
    });
    let text = |text: &str| toml::Value::from(text).to_string();
    let mut market = format!("name = {}\n", text(&options.name));
    // Writing to a string cannot fail.
    for (key, value) in [("source", &options.source), ("licence", &options.licence)] {
        if let Some(value) = value {
            let _ = writeln!(market, "{key} = {}", text(value));
        }
    }
    let _ = writeln!(market, "tick_s = {tick_s}\nticks = {ticks}");
    let mut tables = [
        "zone,region,on_demand_usd_per_h\n".to_owned(),
        "zone,second,machines\n".to_owned(),
        "zone,second,spot_usd_per_h\n".to_owned(),
    ];
    for zone in zones {
        let name = quoted(&zone.name);
        let [places, offers, prices] = &mut tables;
        let (place, on_demand) = (quoted(region(&zone.name)), options.on_demand_usd_per_h);
        let _ = writeln!(places, "{name},{place},{on_demand}");
        let stated: Vec<f64> = options.spot_usd_per_h.into_iter().collect();
        let spot = zone.trace.prices.as_ref().unwrap_or(&stated);
        for (table, values) in [(offers, &zone.trace.data), (prices, spot)] {
            let mut last = None;
            for (tick, &value) in values.iter().take(ticks).enumerate() {
                if last != Some(value) {
                    let _ = writeln!(table, "{name},{},{value}", tick as f64 * tick_s);
                    last = Some(value);
                }
            }
        }
    }
    let [places, offers, prices] = tables;
    let mut files = vec![
        (FILES[0], market),
        (FILES[1], places),
        (FILES[2], offers),
        (FILES[3], prices),
    ];
    if let Some(usd) = options.egress_usd_per_gb {
        let mut egress = "from,to,usd_per_gb\n".to_owned();
        for from in &regions {
            for to in regions.iter().filter(|to| *to != from) {
                let _ = writeln!(egress, "{},{},{usd}", quoted(from), quoted(to));
            }
        }
        files.push((FILES[4], egress));
    } else if regions.len() > 1 {
        let title = format!("moves between {} regions cost nothing", regions.len());
        let help = "--egress-usd-per-gb says what they cost";
        report.warn(Diagnostic::general(title).with_help(help));
    }
    ImportedMarket { files, report }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::region;

    #[test]
    fn a_region_is_what_stands_before_the_letter_of_its_zone() {
        let of = [
            ("us-east-2b_v100_1", "us-east-2"),
            ("us-central1-a_c3-88", "us-central1"),
            ("eu-west-1", "eu-west-1"),
            ("home", "home"),
        ];
        for (zone, expected) in of {
            assert_eq!(region(zone), expected);
        }
    }
}

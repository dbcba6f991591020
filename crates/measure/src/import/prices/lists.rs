//! Price lists as clouds and collectors publish them, told apart by what is in them: a reader for each.

mod aws;
mod azure;
mod collected;
mod gpuhunt;
mod spot_history;
mod vantage;

use std::io;
use std::sync::Arc;

use super::{ImportedPrices, sizes_table, table};
use collected::CollectedPrices;
use scavsim_data::cloud::Date;
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

/// What a list may not say itself.
#[derive(Debug, Clone, Default)]
pub struct PriceListOptions {
    /// The day on which it was fetched.
    pub date: Option<String>,
    /// Whose prices they are; of a list of several, only these.
    pub clouds: Vec<String>,
    /// Where they are; of a list of several, only these.
    pub regions: Vec<String>,
}

/// A kind of price list.
struct ListKind {
    name: &'static str,
    /// What it is recognised by, in words.
    mark: &'static str,
    is_it: fn(&str) -> bool,
    read: fn(&PriceList<'_>, &mut Diagnostics) -> Option<CollectedPrices>,
}

const KINDS: [&ListKind; 6] = [
    &azure::KIND,
    &aws::JSON,
    &aws::CSV,
    &spot_history::KIND,
    &vantage::KIND,
    &gpuhunt::KIND,
];

/// A list that was recognised, with what was said of it.
struct PriceList<'a> {
    source: &'a Arc<Source>,
    kind: &'static str,
    options: &'a PriceListOptions,
}

impl PriceList<'_> {
    fn takes_region(&self, region: &str) -> bool {
        let only = &self.options.regions;
        only.is_empty() || only.iter().any(|own| own == region)
    }

    /// The one value of an option that the list does not say itself.
    fn one<'o>(
        &self,
        option: &str,
        given: &'o [String],
        diagnostics: &mut Diagnostics,
    ) -> Option<&'o str> {
        if let [one] = given {
            return Some(one);
        }
        let title = format!(
            "`--{option}`: expected once, as {} does not say it",
            self.kind
        );
        diagnostics.push(Diagnostic::general(title));
        None
    }

    /// The day that is given, or else the one that the list states.
    fn day(&self, stated: Option<&str>, diagnostics: &mut Diagnostics) -> Option<Date> {
        let given = self.options.date.as_deref();
        let text = given.or(stated.and_then(|text| text.get(..10)));
        let day = text.and_then(Date::parse);
        if day.is_none() {
            let title = match text {
                Some(text) => format!("`{text}` is no day"),
                None => format!("{} does not say its day", self.kind),
            };
            let help = "give the day on which it was fetched, like `--date 2026-11-27`";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        day
    }
}

/// The first line with text: the header of a table.
fn header(text: &str) -> &str {
    (text.lines())
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

/// Whether the header of a table has all of these columns.
fn has_columns(text: &str, columns: &[&str]) -> bool {
    let cells = header(text)
        .split(',')
        .map(|cell| cell.trim().trim_matches('"'));
    let cells: Vec<&str> = cells.collect();
    columns.iter().all(|column| cells.contains(column))
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Reads a list that is recognised; `None` where it is none, as a table of one's own, or something is wrong with it.
pub fn read(
    source: &Arc<Source>,
    options: &PriceListOptions,
    diagnostics: &mut Diagnostics,
) -> io::Result<Option<ImportedPrices>> {
    let Some(kind) = KINDS.into_iter().find(|kind| (kind.is_it)(&source.text)) else {
        let is_own = ["vm", "usd_per_hour"]
            .iter()
            .any(|own| has_columns(&source.text, &[own]));
        if !is_own {
            let all: Vec<String> = KINDS
                .iter()
                .map(|k| format!("{} ({})", k.name, k.mark))
                .collect();
            let title = format!("{}: this is no price list that is known", source.name);
            let help = format!(
                "known are {}, and tables with `vm` and `usd_per_hour`",
                all.join(", ")
            );
            diagnostics.push(Diagnostic::general(title).with_help(help));
        }
        return Ok(None);
    };
    let list = PriceList {
        source,
        kind: kind.name,
        options,
    };
    let before = diagnostics.len();
    let found = (kind.read)(&list, diagnostics);
    let Some(found) = found.filter(|_| diagnostics.len() == before) else {
        return Ok(None);
    };
    if found.seen.is_empty() {
        let title = format!(
            "{}: {} without a price that can be used",
            source.name, kind.name
        );
        diagnostics.push(Diagnostic::general(title).with_help(found.report(&list).to_string()));
        return Ok(None);
    }
    Ok(Some(ImportedPrices {
        text: table(&found.seen, &found.days(), kind.name)?,
        vms: sizes_table(&found.sizes, kind.name)?,
        report: found.report(&list),
    }))
}

#[cfg(test)]
mod tests;

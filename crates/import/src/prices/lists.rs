//! Price lists of clouds and collectors, recognised by their contents: a reader for each.

mod aws;
mod azure;
mod collected;
mod gpuhunt;
mod list_kind;
mod price_list;
mod spot_history;
mod vantage;

use std::io;
use std::sync::Arc;

use super::{ImportedPrices, sizes_table, table};
use list_kind::ListKind;
pub use price_list::PriceListOptions;
use price_list::{PriceList, has_columns};
use scavsim_read::input::{Diagnostic, Diagnostics, Source};

const KINDS: [&ListKind; 6] = [
    &azure::KIND,
    &aws::JSON,
    &aws::CSV,
    &spot_history::KIND,
    &vantage::KIND,
    &gpuhunt::KIND,
];

/// Reads a list that is recognised; `None` for another table, such as the user's own, or after a mistake.
pub fn read(
    source: &Arc<Source>,
    options: &PriceListOptions,
    diagnostics: &mut Diagnostics,
) -> io::Result<Option<ImportedPrices>> {
    let Some(kind) = KINDS.into_iter().find(|kind| (kind.is_it)(&source.text)) else {
        let is_own = ["vm", "usd_per_hour"]
            .iter()
            .any(|own| has_columns(&source.text, &[own]));
        if has_columns(&source.text, &["InstanceType", "Price"]) {
            let title = format!("{}: this is a table of SkyPilot's catalogue", source.name);
            let help = "give it as CLOUD/vms.csv, in a folder with the name of its cloud";
            diagnostics.push(Diagnostic::general(title).with_help(help));
        } else if !is_own {
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

//! `scavsim list vms`: VM types by provider, accelerator and region.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde_json::{Value, json};

use super::terminal;
use scavsim_base::text::{Column, Sheet};
use scavsim_data::cloud::vm_types::FIGURES;
use scavsim_data::cloud::{Catalogue, Date, Market, Price, VmType};
use scavsim_parallel::gpu;
use scavsim_read::input::{Diagnostic, Diagnostics, closest};

/// Which VM types are listed.
#[derive(Debug, Args)]
pub struct VmFilter {
    /// VM types of this provider
    #[arg(long)]
    provider: Option<String>,
    /// VM types with this GPU, or with any
    #[arg(long, num_args = 0..=1, default_missing_value = ANY, value_name = "MODEL")]
    gpu: Option<String>,
    /// VM types with a price in this region, with the latest prices there: on demand, spot, commitments of one and three years
    #[arg(long)]
    region: Option<String>,
}

const ANY: &str = "any";

const MOST_NAMED: usize = 30;

/// Columns of prices, in the order of the markets.
const PRICE_COLUMNS: [&str; Market::ALL.len()] = [
    "on_demand_usd",
    "spot_usd",
    "commitment_1y_usd",
    "commitment_3y_usd",
];

/// A VM type, with its prices if a region is given.
pub(super) type Row<'c> = (&'c VmType, Option<Prices>);

/// Prices by market on the latest day on which any is known in a region, and that day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    usd: [Option<f64>; Market::ALL.len()],
    date: Date,
    old: &'static str,
}

/// Column that marks old prices.
pub(super) const OLD: &str = "old";

/// A mark after a price that is too old to count as current.
pub(super) fn old(catalogue: &Catalogue, price: &Price) -> &'static str {
    if catalogue.is_old(price) { "old" } else { "" }
}

impl VmFilter {
    pub fn is_given(&self) -> bool {
        self.provider.is_some() || self.gpu.is_some() || self.region.is_some()
    }

    /// The VM types that pass the filter, with their prices if it names a region.
    pub(super) fn list<'c>(
        &self,
        catalogue: &'c Catalogue,
    ) -> Result<Sheet<'c, Row<'c>>, Diagnostics> {
        let WantedVms { types, region } = self.wanted(catalogue)?;
        let types = types.into_iter();
        let rows: Vec<Row<'c>> = match region {
            None => types.map(|t| (t, None)).collect(),
            Some(region) => types
                .filter_map(|t| Some((t, Some(prices(catalogue, t, region)?))))
                .collect(),
        };
        let is_any_old = (rows.iter()).any(|(_, prices)| prices.is_some_and(|p| !p.old.is_empty()));
        Ok(Sheet::new(rows, columns(region.is_some(), is_any_old)))
    }

    pub(super) fn wanted<'c>(
        &self,
        catalogue: &'c Catalogue,
    ) -> Result<WantedVms<'c>, Diagnostics> {
        let mut unknown = Diagnostics::default();
        let types = &catalogue.types;
        let providers = types.iter().map(|t| &*t.provider).collect();
        let provider = known("provider", &self.provider, &providers, &mut unknown);
        let mut models: BTreeSet<&str> = (types.iter())
            .filter_map(|t| Some(&*t.gpus.as_ref()?.model))
            .collect();
        models.insert(ANY);
        // Other spellings are mapped to the name in the catalogue.
        let sheet = self.gpu.as_deref().and_then(gpu::named);
        let same = models
            .iter()
            .find(|own| sheet.is_some() && gpu::named(own) == sheet);
        let asked = match same {
            Some(own) if !self.gpu.as_deref().is_some_and(|gpu| models.contains(gpu)) => {
                Some((*own).to_owned())
            }
            _ => self.gpu.clone(),
        };
        let model = known("GPU", &asked, &models, &mut unknown);
        let regions = catalogue.prices.iter().map(|p| &*p.region).collect();
        let region = known("region", &self.region, &regions, &mut unknown);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let is_wanted = |t: &&VmType| {
            let gpu = t.gpus.as_ref().map(|gpus| &*gpus.model);
            provider.is_none_or(|p| p == t.provider)
                && model.is_none_or(|m| gpu.is_some_and(|gpu| m == ANY || m == gpu))
        };
        let mut types: Vec<&VmType> = types.iter().filter(is_wanted).collect();
        if let (Some(region), None) = (region, provider) {
            keep_one_provider(&mut types, region, catalogue);
        }
        Ok(WantedVms { types, region })
    }
}

/// If several providers use this region name, keeps the one with most VM types there, and reports the others.
fn keep_one_provider(types: &mut Vec<&VmType>, region: &str, catalogue: &Catalogue) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for own in types.iter() {
        let prices = catalogue.prices_of(&own.provider, &own.vm);
        if prices.iter().any(|price| &*price.region == region) {
            *counts.entry(&*own.provider).or_default() += 1;
        }
    }
    let Some(most) = counts.iter().max_by_key(|(_, count)| **count) else {
        return;
    };
    let most = (*most.0).to_owned();
    let others: Vec<&str> = counts.keys().copied().filter(|own| *own != most).collect();
    if !others.is_empty() {
        terminal::note(&format!(
            "{region} of {most}; --provider chooses {}",
            others.join(", ")
        ));
    }
    types.retain(|own| *own.provider == *most);
}

/// VM types, and the region of the requested prices.
pub(super) struct WantedVms<'c> {
    pub(super) types: Vec<&'c VmType>,
    pub(super) region: Option<&'c str>,
}

/// Without prices, the source of a VM type's specifications is a column; with prices, the prices replace it.
fn columns<'c>(with_prices: bool, with_old: bool) -> Vec<Column<'c, Row<'c>>> {
    let [provider, vm, vcpu, memory, gpu, gpus, network] = FIGURES;
    let price = |head, market: usize| {
        Column::number(head, move |(_, prices): &Row<'_>| {
            let usd = prices.as_ref().and_then(|prices| prices.usd[market]);
            usd.map_or(Value::Null, |usd| json!(usd))
        })
    };
    let mut columns = vec![
        Column::text(provider, |(t, _): &Row<'_>| json!(t.provider)),
        Column::text(vm, |(t, _): &Row<'_>| json!(t.vm)),
        Column::number(vcpu, |(t, _): &Row<'_>| json!(t.vcpu)).rank(u8::MAX - 2),
        Column::number(memory, |(t, _): &Row<'_>| json!(t.memory_gib)),
        Column::text(gpu, |(t, _): &Row<'_>| {
            json!(t.gpus.as_ref().map(|gpus| &gpus.model))
        }),
        Column::number(gpus, |(t, _): &Row<'_>| {
            json!(t.gpus.as_ref().map(|gpus| gpus.count))
        }),
        Column::number(network, |(t, _): &Row<'_>| json!(t.network_gbps)).rank(u8::MAX),
    ];
    if with_prices {
        // The day matters more than prices that few regions have.
        let priced = PRICE_COLUMNS.iter().enumerate().map(|(at, head)| {
            let column = price(*head, at);
            if at < 2 {
                column
            } else {
                column.rank(u8::MAX - 1)
            }
        });
        columns.extend(priced);
        let date = |(_, prices): &Row<'_>| json!(prices.as_ref().map(|prices| &prices.date));
        columns.push(Column::text("date", date));
        let old = |(_, prices): &Row<'_>| json!(prices.as_ref().map(|prices| prices.old));
        columns.extend(with_old.then(|| Column::text(OLD, old)));
    } else {
        columns.push(Column::text("source", |(t, _): &Row<'_>| json!(t.source_keys)).long());
    }
    columns
}

/// The entry of `legal` that equals `asked`, ignoring case.
fn known<'l>(
    what: &str,
    asked: &Option<String>,
    legal: &BTreeSet<&'l str>,
    unknown: &mut Diagnostics,
) -> Option<&'l str> {
    let asked = asked.as_ref()?;
    let found = legal.iter().find(|l| l.eq_ignore_ascii_case(asked));
    if found.is_none() {
        let near = closest(asked, legal.iter().copied());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let all: Vec<&str> = legal.iter().copied().take(MOST_NAMED).collect();
        let more = match legal.len() - all.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let help = format!("{near}allowed here: {}{more}", all.join(", "));
        let title = format!("unknown {what} `{asked}`");
        unknown.push(Diagnostic::general(title).with_help(help));
    }
    found.copied()
}

fn prices(catalogue: &Catalogue, vm_type: &VmType, region: &str) -> Option<Prices> {
    let here = || {
        let all = catalogue.prices_of(&vm_type.provider, &vm_type.vm).iter();
        all.filter(|p| &*p.region == region)
    };
    let latest = here().map(|p| p.valid_to).max()?;
    let on = |market| {
        let mut held = here().filter(|p| p.market == market && p.holds_on(latest));
        // A millionth of a dollar is precise enough.
        held.next().map(|p| (p.usd_per_hour * 1e6).round() / 1e6)
    };
    Some(Prices {
        usd: Market::ALL.map(on),
        date: latest,
        old: here()
            .find(|p| p.holds_on(latest))
            .map_or("", |price| old(catalogue, price)),
    })
}

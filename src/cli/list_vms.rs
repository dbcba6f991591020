//! `scavsim list vms`: VM types by provider, accelerator and region.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::{Value, json};

use super::listing::List;
use scavsim_data::cloud::vm_types::FIGURES;
use scavsim_data::cloud::{Catalogue, Market, VmType};
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
    /// VM types with a price in this region, with the latest on-demand and spot price there
    #[arg(long)]
    region: Option<String>,
}

const ANY: &str = "any";

/// Behind the figures of a VM type: where they are from, or its prices in a region.
const SOURCE: [&str; 1] = ["source"];
const PRICES: [&str; 3] = ["on_demand_usd", "spot_usd", "date"];

impl VmFilter {
    /// Whether it asks for anything.
    pub fn is_given(&self) -> bool {
        self.provider.is_some() || self.gpu.is_some() || self.region.is_some()
    }

    /// The VM types that it lets through.
    ///
    /// # Errors
    /// What is not known of that which it names.
    pub(super) fn list(&self, catalogue: &Catalogue) -> Result<List, Diagnostics> {
        let mut unknown = Diagnostics::default();
        let types = &catalogue.types;
        let providers = types.iter().map(|t| &*t.provider).collect();
        let provider = known("provider", &self.provider, &providers, &mut unknown);
        let mut models: BTreeSet<&str> = (types.iter())
            .filter_map(|t| Some(&*t.gpus.as_ref()?.model))
            .collect();
        models.insert(ANY);
        let model = known("GPU", &self.gpu, &models, &mut unknown);
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
        let wanted = types.iter().filter(is_wanted);
        let rows = match region {
            None => wanted.map(|t| row(t, None)).collect(),
            Some(region) => wanted
                .filter_map(|t| Some(row(t, Some(prices(catalogue, t, region)?))))
                .collect(),
        };
        Ok(List {
            header: match region {
                None => [&FIGURES[..], &SOURCE].concat(),
                Some(_) => [&FIGURES[..], &PRICES].concat(),
            },
            text_columns: match region {
                None => &[0, 1, 4, 7],
                Some(_) => &[0, 1, 4, 9],
            },
            rows,
            long: match region {
                None => &[7],
                Some(_) => &[],
            },
            first_to_leave: &[6, 2],
            ..List::default()
        })
    }
}

/// The one of `legal` that is `asked` for, whatever its case.
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
        let all: Vec<&str> = legal.iter().copied().collect();
        let help = format!("{near}legal here: {}", all.join(", "));
        let title = format!("unknown {what} `{asked}`");
        unknown.push(Diagnostic::general(title).with_help(help));
    }
    found.copied()
}

/// A line of the list; the source behind it is that of the figures of the VM type, so it goes with them
/// alone.
fn row(vm_type: &VmType, prices: Option<Vec<Value>>) -> Vec<Value> {
    let mut row = vec![
        json!(vm_type.provider),
        json!(vm_type.vm),
        json!(vm_type.vcpu),
        json!(vm_type.memory_gib),
        json!(vm_type.gpus.as_ref().map(|gpus| &gpus.model)),
        json!(vm_type.gpus.as_ref().map(|gpus| gpus.count)),
        json!(vm_type.network_gbps),
    ];
    row.extend(prices.unwrap_or_else(|| vec![json!(vm_type.source_keys)]));
    row
}

/// On-demand and spot price on the latest day on which either is known in `region`, and that day.
fn prices(catalogue: &Catalogue, vm_type: &VmType, region: &str) -> Option<Vec<Value>> {
    let here = || {
        let all = catalogue.prices_of(&vm_type.provider, &vm_type.vm).iter();
        all.filter(|p| &*p.region == region)
            .filter(|p| matches!(p.market, Market::OnDemand | Market::Spot))
    };
    let latest = here().map(|p| p.valid_to).max()?;
    let on = |market| {
        let mut held = here().filter(|p| p.market == market && p.holds_on(latest));
        // A millionth of a dollar is more than enough to choose by.
        held.next().map(|p| (p.usd_per_hour * 1e6).round() / 1e6)
    };
    Some(vec![
        json!(on(Market::OnDemand)),
        json!(on(Market::Spot)),
        json!(latest),
    ])
}

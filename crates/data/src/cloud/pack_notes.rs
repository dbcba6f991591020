use std::collections::BTreeSet;

use super::catalogue::Catalogue;
use super::pack::{Pack, VMS};
use super::prices::Price;
use scavsim_read::input::closest;

pub fn notes(pack: &Pack, shipped: &Catalogue) -> Vec<String> {
    let own = pack.notes.iter().cloned();
    let regions = new_regions(&pack.prices, shipped);
    own.chain(regions).chain(bare(pack, shipped)).collect()
}

fn bare(pack: &Pack, shipped: &Catalogue) -> Option<String> {
    let described: BTreeSet<&str> = pack.types.iter().map(|own| &*own.vm).collect();
    let is_bare = |vm: &&str| shipped.vm_type(vm).is_none() && !described.contains(vm);
    let bare: BTreeSet<&str> = (pack.prices.iter().map(|price| &*price.vm))
        .filter(is_bare)
        .collect();
    let count = bare.len();
    (!bare.is_empty()).then(|| format!("VM types of unknown size, without a row in {VMS}: {count}"))
}

/// Regions that are near a known one of their provider: perhaps misspelt.
fn new_regions(prices: &[Price], shipped: &Catalogue) -> Vec<String> {
    let known: BTreeSet<(&str, &str)> = (shipped.prices.iter())
        .map(|p| (&*p.provider, &*p.region))
        .collect();
    let own: BTreeSet<(&str, &str)> = (prices.iter())
        .map(|p| (&*p.provider, &*p.region))
        .collect();
    (own.difference(&known))
        .filter_map(|(provider, region)| {
            let mut of_provider = known.iter().filter(|(p, _)| p == provider).peekable();
            of_provider.peek()?;
            let near = closest(region, of_provider.map(|(_, region)| *region));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Some(format!(
                "{provider} has no region `{region}` among those that are shipped{near}"
            ))
        })
        .collect()
}

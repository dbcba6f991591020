//! Clusters that grow and shrink with the price of spot VMs.

use std::sync::Arc;

use super::complaints::Complaints;
use super::file::{ElasticTable, ScenarioFile};
use scavsim_base::units::SECONDS_PER_HOUR;
use scavsim_data::pricing::reductions::spot_series::SpotSeries;
use scavsim_data::pricing::spot_series_key::Step;
use scavsim_sim::cluster::Elastic;

pub(super) fn read(file: &ScenarioFile, complaints: &mut Complaints<'_>) -> Option<Arc<Elastic>> {
    let table = file.elastic.as_ref()?;
    let ElasticTable {
        prices,
        grow_at,
        shrink_above,
        most_vms,
        fewest_vms,
    } = table.get_ref();
    if let Err(why) = SpotSeries::new("`prices`", prices.get_ref()) {
        complaints.error_at(prices.span(), why.to_string(), "not a series of prices");
        return None;
    }
    if grow_at.get() > shrink_above.get() || fewest_vms.get() > most_vms.get() {
        complaints.error_at(
            table.span(),
            "`elastic` contradicts itself",
            "expected `grow_at` ≤ `shrink_above` and `fewest_vms` ≤ `most_vms`",
        );
        return None;
    }
    let prices = (prices.get_ref().iter())
        .map(|Step(hour, ratio)| (hour.get() * SECONDS_PER_HOUR, ratio.get()))
        .collect();
    Some(Arc::new(Elastic {
        prices,
        grow_at: grow_at.get(),
        shrink_above: shrink_above.get(),
        most_vms: most_vms.get(),
        fewest_vms: fewest_vms.get(),
    }))
}

//! Orders in which zones are asked for spot machines.

use crate::policy_run::policy_view::PolicyView;

/// Zones by spot price, cheapest first; those in the region of `after`, where machines were lost, last.
pub fn by_price(view: &PolicyView<'_, '_>, after: Option<usize>) -> Vec<usize> {
    let mut zones: Vec<usize> = (0..view.zones()).collect();
    let is_shunned = |zone: usize| after.is_some_and(|lost| view.region(zone) == view.region(lost));
    zones.sort_by(|&a, &b| {
        let price = |zone| view.spot_usd_per_h(zone);
        (is_shunned(a).cmp(&is_shunned(b))).then(price(a).total_cmp(&price(b)))
    });
    zones
}

/// Takes the first zone that has spot machines; whether there was one.
pub fn try_in_order(view: &mut PolicyView<'_, '_>, zones: &[usize]) -> bool {
    zones.iter().any(|&zone| view.try_spot(zone))
}

/// Takes the cheapest zone that has spot machines, those in the region of `after` last; whether there was one.
pub fn try_by_price(view: &mut PolicyView<'_, '_>, after: Option<usize>) -> bool {
    let zones = by_price(view, after);
    try_in_order(view, &zones)
}

/// Takes spot machines of a form in the cheapest zone that has some; whether there was one.
pub fn try_form(view: &mut PolicyView<'_, '_>, form: usize) -> bool {
    let mut zones: Vec<usize> = (0..view.zones())
        .filter(|&zone| view.is_served(zone, form))
        .collect();
    zones.sort_by(|&a, &b| {
        let price = |zone| view.spot_usd_per_h_as(zone, form);
        price(a).total_cmp(&price(b))
    });
    zones.iter().any(|&zone| view.try_spot_as(zone, form))
}

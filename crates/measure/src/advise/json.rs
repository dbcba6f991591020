//! A recommendation for programs.

use serde_json::{Value, json};

use super::advice::{Advice, Choice, NextMeasurement};
use super::decision::Measurement;

/// The whole advice. `schema` is increased by every incompatible change.
pub fn value(advice: &Advice) -> Value {
    let known = &advice.known;
    let told: Vec<Value> = (known.told.iter())
        .map(|(by, count, within)| json!({ "provenance": by.name(), "configurations": count, "within_90": within }))
        .collect();
    json!({
        "schema": 1,
        "name": advice.name,
        "objective": advice.goal.objective.name(),
        "limits": {
            "max_time_h": advice.goal.limits.max_time_s.map(|s| s / 3600.0),
            "max_cost_usd": advice.goal.limits.max_cost_usd,
            "max_miss": advice.goal.limits.max_miss,
            "max_mean_time_h": advice.goal.max_mean_time_s.map(|s| s / 3600.0),
        },
        "regions": (advice.offers.places.iter())
            .map(|p| json!({ "provider": p.provider, "region": p.region, "others": p.others }))
            .collect::<Vec<_>>(),
        "catalogue": {
            "wanted": advice.catalogue.is_wanted,
            "vm_types": advice.catalogue.machines,
            "dearer": advice.catalogue.dearer,
            "without_price": advice.catalogue.without_price,
            "hopeless_configurations": advice.catalogue.hopeless,
            "told": (known.machines.iter())
                .map(|m| json!({
                    "basis": m.basis.name(), "vm_types": m.types, "configurations": m.configurations, "within_90": m.within
                }))
                .collect::<Vec<_>>(),
        },
        "measured": known.measured,
        "told": told,
        "repeats": {
            "step_sd": known.repeats.step_sd,
            "epochs_sd": known.repeats.epochs_sd,
            "steps": known.repeats.beyond_first.0,
            "runs": known.repeats.beyond_first.1,
        },
        "stated_epochs": known.stated_epochs,
        "no_gain": (known.no_gain.iter())
            .map(|g| json!({ "vms": [g.few.0, g.many.0], "step_s": [g.few.1, g.many.1] }))
            .collect::<Vec<_>>(),
        "poor_laws": known.poor_laws,
        "left_out": advice.offers.left_out,
        "beyond_limits": advice.beyond_limits,
        "choices": advice.choices.iter().map(choice).collect::<Vec<_>>(),
        "best_measured": advice.best_measured().map(choice),
        "nearest": advice.nearest.as_ref().map(choice),
        "by_shipped_prices": advice.by_shipped_prices.as_ref().map(choice),
        "measurements": (advice.measurements.iter())
            .map(|m| next(m, advice.unit()))
            .collect::<Vec<_>>(),
    })
}

fn choice(choice: &Choice) -> Value {
    let c = &choice.configuration;
    json!({
        "vm": &*c.vm,
        "vms": choice.vms,
        "workers": c.workers,
        "batch": c.batch,
        "market": choice.offer.market.name(),
        "provider": choice.offer.provider,
        "region": choice.offer.region,
        "time_h": choice.time_h[0],
        "time_p5_h": choice.time_h[1],
        "time_p95_h": choice.time_h[2],
        "cost_usd": choice.cost_usd[0],
        "cost_p5_usd": choice.cost_usd[1],
        "cost_p95_usd": choice.cost_usd[2],
        "miss": choice.miss,
        "provenance": choice.provenance.name(),
        "over_best": choice.over_best,
        "chance_better": choice.chance,
        "on_front": choice.is_on_front,
        "vm_measured": choice.stands.is_none(),
        "stands_for": choice.stands.as_ref().map(|s| json!({
            "like": s.like,
            "basis": s.basis.name(),
            "processor": s.processor,
            "compute_over_like": s.compute_over_like[0],
            "compute_over_like_p5": s.compute_over_like[1],
            "compute_over_like_p95": s.compute_over_like[2],
        })),
    })
}

fn next(next: &NextMeasurement, unit: &str) -> Value {
    let c = &next.configuration;
    json!({
        "what": match next.worth.measurement {
            Measurement::Step(_) => "step",
            Measurement::Epochs(_) => "epochs",
        },
        "vm": &*c.vm,
        "vms": next.vms,
        "workers": c.workers,
        "batch": c.batch,
        "market": next.offer.market.name(),
        "was_measured": next.was_measured,
        "vm_measured": next.basis.is_none(),
        "basis": next.basis.map(|basis| basis.name()),
        "unit": unit,
        "value_per_run": next.worth.value,
        "price_h": next.worth.price.time_s / 3600.0,
        "price_usd": next.worth.price.cost_usd,
        "net": next.worth.net,
    })
}

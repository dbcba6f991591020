use serde_json::{Value, json};

use super::answer::{PlannedAnswer, in_words};
use super::plan::Plan;
use super::spot::MeanFrom;
use scavsim_data::cloud::Market;

/// The value of `deadline` in the JSON of an advice.
pub(super) fn value(answer: &PlannedAnswer<'_>) -> Value {
    let until = &answer.in_time.deadline;
    let rule = &answer.rule;
    json!({
        "hours": until.hours,
        "max_miss": answer.promise.miss,
        "configurations": answer.advice.choices.len(),
        "candidates": answer.candidates,
        "policies": answer.in_time.policies.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "lives": answer.lives,
        "stand_in": {
            "about": answer.stand_in.about,
            "run_h": answer.stand_in.run_h,
            "pause_h": answer.stand_in.pause_h,
        },
        "rule": {
            "begins": if rule.begins_on_spot { Market::Spot.name() } else { Market::OnDemand.name() },
            "else": if rule.waits_at_first { "wait" } else { in_words(Market::OnDemand) },
            "waits": rule.until_h.iter()
                .map(|wait| json!({ "done": wait.share, "lost_h": wait.lost_h, "until_h": wait.until_h }))
                .collect::<Vec<_>>(),
            "goes_back": rule.goes_back,
            "words": rule.sentences(until),
        },
        "plans": answer.plans.iter().map(plan).collect::<Vec<_>>(),
    })
}

fn plan(plan: &Plan<'_>) -> Value {
    let choice = plan.candidate.choice;
    let basis = |basis: &MeanFrom| match basis {
        MeanFrom::Said => "given".to_owned(),
        MeanFrom::Published(name) => (*name).to_owned(),
        MeanFrom::Measured => "measured".to_owned(),
        MeanFrom::StandIn => "stand-in".to_owned(),
    };
    let spot = plan.candidate.spot.as_ref();
    let came = &plan.came;
    let mut value = json!({
        "policy": plan.policy,
        "vms": choice.vms,
        "provider": choice.offer.provider,
        "region": choice.offer.region,
        "cost_usd": came.cost_usd[0],
        "cost_p5_usd": came.cost_usd[1],
        "cost_p95_usd": came.cost_usd[2],
        "time_h": came.done_h[0],
        "time_p5_h": came.done_h[1],
        "time_p95_h": came.done_h[2],
        "in_time": came.kept,
        "miss": 1.0 - came.kept,
        "planned_spot_h": came.planned_h[0],
        "planned_on_demand_h": came.planned_h[1],
        "on_demand_usd_per_hour": choice.offer.usd_per_hour,
        "spot_usd_per_hour": spot.map(|spot| spot.offer.usd_per_hour),
        "spot_run_h": spot.map(|spot| spot.run_h.0),
        "spot_run_basis": spot.map(|spot| basis(&spot.run_h.1)),
        "spot_pause_h": spot.map(|spot| spot.pause_h.0),
        "spot_pause_basis": spot.map(|spot| basis(&spot.pause_h.1)),
    });
    for (column, figure) in &choice.columns {
        value[column] = figure.clone();
    }
    value
}

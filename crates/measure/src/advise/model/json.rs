use serde_json::{Value, json};

use super::{ModelAdvice, PlanChoice};

/// The whole advice. `schema` is increased by every incompatible change.
pub fn value(advice: &ModelAdvice) -> Value {
    let question = &advice.question;
    let tokens = advice.tokens;
    let limits = &question.goal.limits;
    json!({
        "schema": 1,
        "model": advice.model.0,
        "parameters": advice.model.1,
        "tokens": tokens,
        "sequence": advice.step.0,
        "batch": advice.step.1,
        "train": advice.tuning.map(|of| of.method.to_string()),
        "trained_parameters": advice.tuning.map(|of| of.trained),
        "precision": advice.choices.first().map(|best| best.precision.name()),
        "runtime": advice.choices.first().map(|best| &*best.runtime),
        "objective": question.goal.objective.name(),
        "limits": {
            "max_time_h": limits.max_time_s.map(|s| s / 3600.0),
            "max_cost_usd": limits.max_cost_usd,
            "max_mean_time_h": question.goal.max_mean_time_s.map(|s| s / 3600.0),
        },
        "is_within": advice.is_within(),
        "plans": advice.plans,
        "plain": advice.plain.as_ref().map(|plain| choice(plain, tokens)),
        "choices": advice.choices.iter().map(|c| choice(c, tokens)).collect::<Vec<_>>(),
        "without_plan": advice.without_plan.iter().map(|gpu| &**gpu).collect::<Vec<_>>(),
        "measurements": (advice.measurements.iter())
            .map(|m| json!({
                "gpu": &*m.choice.gpu,
                "vm": m.choice.vm,
                "vms": m.choice.vms,
                "plan": m.choice.plan,
                "minutes": m.minutes,
                "usd": m.usd,
                "gain": m.gain,
            }))
            .collect::<Vec<_>>(),
    })
}

fn choice(choice: &PlanChoice, tokens: f64) -> Value {
    json!({
        "gpu": &*choice.gpu,
        "gpus": choice.gpus,
        "vm": choice.vm,
        "vms": choice.vms,
        "market": choice.offer.market.name(),
        "provider": choice.offer.provider,
        "region": choice.offer.region,
        "plan": choice.plan,
        "runtime": &*choice.runtime,
        "precision": choice.precision.name(),
        "form": choice.form,
        "unmeasured": choice.unmeasured.iter().map(|one| &one.what).collect::<Vec<_>>(),
        "time_h": choice.time_h[0],
        "time_p5_h": choice.time_h[1],
        "time_p95_h": choice.time_h[2],
        "cost_usd": choice.cost_usd[0],
        "cost_p5_usd": choice.cost_usd[1],
        "cost_p95_usd": choice.cost_usd[2],
        "tokens_per_s": choice.tokens_per_s,
        "memory_gib": choice.memory_gib[0],
        "mfu": choice.mfu,
        "usd_per_1e9_tokens": choice.usd_per_1e9_tokens(tokens),
        "keeps": choice.keeps,
    })
}

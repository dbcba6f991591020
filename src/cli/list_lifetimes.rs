//! `scavsim list lifetimes`: lifetimes of VMs by market.

use serde_json::{Value, json};

use scavsim_base::text::{Column, Sheet};
use scavsim_data::cloud::lifetimes::{Kind, Model};

/// All models, with the probability of a loss before an hour, 6 hours and a day, without ends by the provider's age limit.
pub(super) fn list(models: &[Model]) -> Sheet<'_, &Model> {
    let lost_by = |head, hours| {
        // The counts behind them justify at most four digits.
        let rounded = |lost: f64| (lost * 1e4).round() / 1e4;
        Column::number(head, move |model: &&Model| {
            json!(model.lost_by(hours).map(rounded))
        })
    };
    let cap_h = |model: &&Model| match &model.kind {
        Kind::Alone(life) => json!(Some(life.cap_h()).filter(|cap| cap.is_finite())),
        Kind::Batch(_) | Kind::Trace(_) => Value::Null,
    };
    let columns = [
        Column::text("lifetime", |model: &&Model| json!(model.name)),
        Column::text("market", |model: &&Model| {
            format!("{} {}", model.provider, model.market)
        }),
        Column::text("gpu", |model: &&Model| json!(model.gpu)),
        Column::text("region", |model: &&Model| json!(model.region)),
        Column::text("kind", |model: &&Model| json!(model.law)).rank(u8::MAX - 2),
        lost_by("lost_1h", 1.0),
        lost_by("lost_6h", 6.0),
        lost_by("lost_24h", 24.0),
        Column::number("cap_h", cap_h).rank(u8::MAX - 1),
        Column::number("notice_s", |model: &&Model| json!(model.notice_s)).rank(u8::MAX),
        Column::text("source", |model: &&Model| json!(model.source_keys)).long(),
    ];
    Sheet::new(models, columns)
}

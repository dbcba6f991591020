//! `scavsim list lifetimes`: how long VMs of a market live.

use serde_json::{Value, json};

use super::listing::List;
use scavsim_data::cloud::lifetimes::{Kind, Model};

/// All models, with the probability that a new VM is lost before it is an hour, 6 hours and a day
/// old; what the provider's cap ends at that age does not count.
pub(super) fn list(models: &[Model]) -> List {
    List {
        header: vec![
            "lifetime", "market", "gpu", "region", "kind", "lost_1h", "lost_6h", "lost_24h",
            "cap_h", "notice_s", "source",
        ],
        text_columns: &[0, 1, 2, 3, 4, 10],
        rows: models.iter().map(row).collect(),
        long: &[10],
        first_to_leave: &[9, 8, 4],
        ..List::default()
    }
}

fn row(model: &Model) -> Vec<Value> {
    // The counts behind them do not bear more than four digits.
    let lost_by = |hours| {
        let lost = model.lost_by(hours);
        json!(lost.map(|lost| (lost * 1e4).round() / 1e4))
    };
    let cap_h = match &model.kind {
        Kind::Alone(life) => Some(life.cap_h()).filter(|cap| cap.is_finite()),
        Kind::Batch(_) | Kind::Trace(_) => None,
    };
    vec![
        json!(model.name),
        json!(format!("{} {}", model.provider, model.market)),
        json!(model.gpu),
        json!(model.region),
        json!(model.law),
        lost_by(1.0),
        lost_by(6.0),
        lost_by(24.0),
        json!(cap_h),
        json!(model.notice_s),
        json!(model.source_keys),
    ]
}

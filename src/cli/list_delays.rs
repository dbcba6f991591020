//! `scavsim list delays`: how long VMs take to start, workers to join, checkpoints to be written.

use serde_json::{Value, json};

use super::listing::List;
use scavsim_data::cloud::delays::{CheckpointWrite, Delay, Restart, Startup};

/// MB of the checkpoint that stands for the line of writing times.
const MB: f64 = 100.0;

/// All measured delays: mean and standard deviation in seconds.
pub(super) fn list(
    startups: &[Startup],
    restarts: &[Restart],
    write: Option<CheckpointWrite>,
) -> List {
    let row = |key: &str, name: String, what: String, delay: Delay| -> Vec<Value> {
        vec![
            json!(key),
            json!(name),
            json!(what),
            json!(delay.mean_s()),
            json!((delay.sd_s() * 100.0).round() / 100.0),
        ]
    };
    let startups = startups.iter().map(|s| {
        let what = format!("{} VM until it runs", s.market);
        row("start_up", s.name(), what, s.delay)
    });
    let restarts = restarts.iter().flat_map(|r| {
        [("cold join", r.cold), ("warm restart", r.warm)]
            .map(|(what, delay)| row("restart", r.name(), what.to_owned(), delay))
    });
    let write = write.iter().map(|write| {
        let what = format!("writing {MB} MB; a + b·MB");
        let mean_s = (write.mean_s(MB) * 100.0).round() / 100.0;
        vec![
            json!("checkpoint_mb"),
            json!(MB.to_string()),
            json!(what),
            json!(mean_s),
            Value::Null,
        ]
    });
    List {
        header: vec!["key", "value", "what", "mean_s", "sd_s"],
        text_columns: &[0, 1, 2],
        rows: startups.chain(restarts).chain(write).collect(),
        wrapped: Some(2),
        ..List::default()
    }
}

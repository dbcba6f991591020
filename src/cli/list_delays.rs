//! `scavsim list delays`: times until VMs start, workers join and checkpoints are written.

use serde_json::json;

use scavsim_base::text::{Column, Sheet};
use scavsim_data::cloud::delays::{CheckpointWrite, Delay, Restart, Startup};

/// MB of the checkpoint at which the linear law of writing times is evaluated.
const MB: f64 = 100.0;

/// Key, value, description, mean and standard deviation in seconds.
pub(super) type DelayRow = (&'static str, String, String, f64, Option<f64>);

/// All measured delays: mean and standard deviation in seconds.
pub(super) fn list(
    startups: &[Startup],
    restarts: &[Restart],
    write: Option<CheckpointWrite>,
) -> Sheet<'static, DelayRow> {
    let rounded = |seconds: f64| (seconds * 100.0).round() / 100.0;
    let row = |key, name: String, what: String, delay: Delay| -> DelayRow {
        (key, name, what, delay.mean_s(), Some(rounded(delay.sd_s())))
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
        (
            "checkpoint_mb",
            MB.to_string(),
            what,
            rounded(write.mean_s(MB)),
            None,
        )
    });
    let columns = [
        Column::word("key", |row: &DelayRow| row.0),
        Column::word("value", |row: &DelayRow| &row.1),
        Column::word("what", |row: &DelayRow| &row.2).wrapped(),
        Column::number("mean_s", |row: &DelayRow| json!(row.3)),
        Column::number("sd_s", |row: &DelayRow| json!(row.4)),
    ];
    Sheet::new(startups.chain(restarts).chain(write), columns)
}

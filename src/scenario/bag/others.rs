//! Keys that say something about training clusters or grids only.

use toml::Spanned;

use crate::cluster::{Chief, Keeps, OnLoss};
use crate::scenario::complaints::Complaints;
use crate::scenario::file::{CheckpointChoice, ScenarioFile, SpotTable, Together};

/// Reports them.
pub(super) fn nothing_else(file: &ScenarioFile, complaints: &mut Complaints<'_>) {
    let cluster = &file.cluster;
    let with_places = [
        ("workloads", file.workloads.as_ref().map(Spanned::span)),
        ("grid", file.grid.as_ref().map(Spanned::span)),
        ("vm", file.vm.keys().next().map(Spanned::span)),
        ("kind", file.kind.keys().next().map(Spanned::span)),
        ("sync", file.sync.as_ref().map(Spanned::span)),
        ("sync_of", file.sync_of.keys().next().map(Spanned::span)),
        ("elastic", file.elastic.as_ref().map(Spanned::span)),
        (
            "search.stored",
            file.search.stored.as_ref().map(Spanned::span),
        ),
        (
            "cluster.workers",
            cluster.workers.as_ref().map(Spanned::span),
        ),
        ("cluster.batch", cluster.batch.as_ref().map(Spanned::span)),
        (
            "cluster.local_batch",
            cluster.local_batch.as_ref().map(Spanned::span),
        ),
        ("cluster.pairs", cluster.pairs.as_ref().map(Spanned::span)),
        (
            "cluster.exclude",
            cluster.exclude.first().map(Spanned::span),
        ),
        (
            "limits.max_workers",
            file.limits.max_workers.as_ref().map(Spanned::span),
        ),
    ];
    let label = "a bag of jobs has its own configurations";
    for (key, span) in with_places {
        if let Some(span) = span {
            let title = format!("`{key}` and `bag` exclude each other");
            complaints.error_at(span, title, label);
        }
    }
    let without_places = [
        ("staleness", file.staleness.is_some()),
        ("variation", !file.variation.is_off()),
        ("cluster.resize", cluster.resize.is_some()),
        ("cluster.search", cluster.search != Together::default()),
        ("cluster.outside", cluster.outside != Default::default()),
    ];
    for (key, is_given) in without_places {
        if is_given {
            let title = format!("`{key}` and `bag` exclude each other: {label}");
            complaints.push(complaints.of_file(title));
        }
    }
    if let Some(spot) = &file.spot {
        for key in of_training(spot.get_ref()) {
            let title = format!("`spot.{key}` and `bag` exclude each other");
            complaints.error_at(
                spot.span(),
                title,
                "a lost job of a bag is run again, or not",
            );
        }
    }
}

/// Keys of `[spot]` that are given and say what a loss means to a training job.
fn of_training(table: &SpotTable) -> Vec<&'static str> {
    let all = [
        ("on_loss", table.on_loss != OnLoss::default()),
        ("keeps", table.keeps != Keeps::default()),
        ("chief", table.chief != Chief::default()),
        ("fewest_workers", table.fewest_workers.is_some()),
        ("cold_join_s", table.cold_join_s.is_some()),
        ("warm_restart_s", table.warm_restart_s.is_some()),
        ("restart", table.restart.is_some()),
        (
            "checkpoint",
            !matches!(table.checkpoint, CheckpointChoice::None),
        ),
        ("checkpoint_write_s", table.checkpoint_write_s.is_some()),
        ("checkpoint_mb", table.checkpoint_mb.is_some()),
        ("checkpoint_on_notice", table.checkpoint_on_notice),
        ("notice_s", table.notice_s.is_some()),
    ];
    let given = all.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(key, _)| key).collect()
}

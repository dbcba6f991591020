//! Keys that say something about training clusters, grids or bags only.

use toml::Spanned;

use crate::cluster::{Chief, OnLoss};
use crate::scenario::complaints::Complaints;
use crate::scenario::file::{ScenarioFile, SpotTable, Together};

/// Reports them.
pub(super) fn nothing_else(file: &ScenarioFile, complaints: &mut Complaints<'_>) {
    let cluster = &file.cluster;
    let with_places = [
        ("workloads", file.workloads.as_ref().map(Spanned::span)),
        ("grid", file.grid.as_ref().map(Spanned::span)),
        ("bag", file.bag.as_ref().map(Spanned::span)),
        ("vm", file.vm.keys().next().map(Spanned::span)),
        ("kind", file.kind.keys().next().map(Spanned::span)),
        ("sync", file.sync.as_ref().map(Spanned::span)),
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
    let label = "plans have their own degrees";
    for (key, span) in with_places {
        if let Some(span) = span {
            let title = format!("`{key}` and `parallel` exclude each other");
            complaints.error_at(span, title, label);
        }
    }
    let without_places = [
        ("staleness", file.staleness.is_some()),
        ("variation.noise_cv", file.variation.noise_cv.is_some()),
        ("variation.noise_curve", file.variation.noise_curve),
        ("cluster.resize", cluster.resize.is_some()),
        ("cluster.search", cluster.search != Together::default()),
        ("cluster.outside", cluster.outside != Default::default()),
    ];
    for (key, is_given) in without_places {
        if is_given {
            let title = format!("`{key}` and `parallel` exclude each other: {label}");
            complaints.push(complaints.of_file(title));
        }
    }
    if let Some(spot) = &file.spot {
        for key in of_clusters(spot.get_ref()) {
            let title = format!("`spot.{key}` and `parallel` exclude each other");
            let label = "a plan waits for another VM, and goes back to its checkpoint";
            complaints.error_at(spot.span(), title, label);
        }
    }
}

/// Keys of `[spot]` that are given and say what a loss means to a cluster that can be smaller.
fn of_clusters(table: &SpotTable) -> Vec<&'static str> {
    let all = [
        ("on_loss", table.on_loss != OnLoss::default()),
        ("chief", table.chief != Chief::default()),
        ("fewest_workers", table.fewest_workers.is_some()),
        ("cold_join_s", table.cold_join_s.is_some()),
        ("checkpoint_on_notice", table.checkpoint_on_notice),
        ("notice_s", table.notice_s.is_some()),
    ];
    let given = all.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(key, _)| key).collect()
}

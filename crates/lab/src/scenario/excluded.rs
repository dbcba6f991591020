//! Keys that mean nothing where a scenario is about a grid, a bag or parallel plans.

use std::ops::Range;

use toml::Spanned;

use super::complaints::Complaints;
use super::file::{CheckpointChoice, ScenarioFile, SpotTable, Together};
use scavsim_sim::cluster::{Chief, Keeps, OnLoss};

/// What a scenario is about, if not about training clusters.
pub(super) struct About {
    /// Its key.
    key: &'static str,
    /// Why others have no meaning beside it.
    why: &'static str,
    /// These.
    excludes: &'static [&'static str],
    /// The same of keys of `[spot]`.
    why_spot: &'static str,
    excludes_spot: &'static [&'static str],
}

pub(super) const GRID: About = About {
    key: "grid",
    why: "a measured grid has its own configurations and its own truth",
    excludes: &[
        "workloads",
        "vm",
        "kind",
        "sync",
        "elastic",
        "spot",
        "search.stored",
        "cluster.vm",
        "cluster.workers",
        "cluster.batch",
        "cluster.local_batch",
        "cluster.pairs",
        "staleness",
        "variation",
        "cluster.start_up_s",
        "cluster.resize",
        "cluster.search",
        "cluster.outside",
    ],
    why_spot: "",
    excludes_spot: &[],
};

pub(super) const BAG: About = About {
    key: "bag",
    why: "a bag of jobs has its own configurations",
    excludes: &[
        "workloads",
        "grid",
        "vm",
        "kind",
        "sync",
        "elastic",
        "search.stored",
        "cluster.workers",
        "cluster.batch",
        "cluster.local_batch",
        "cluster.pairs",
        "cluster.exclude",
        "limits.max_workers",
        "staleness",
        "variation",
        "cluster.resize",
        "cluster.search",
        "cluster.outside",
    ],
    why_spot: "a lost job of a bag is run again, or not",
    excludes_spot: &[
        "on_loss",
        "keeps",
        "chief",
        "fewest_workers",
        "cold_join_s",
        "warm_restart_s",
        "restart",
        "checkpoint",
        "checkpoint_write_s",
        "checkpoint_mb",
        "checkpoint_on_notice",
        "notice_s",
    ],
};

pub(super) const PARALLEL: About = About {
    key: "parallel",
    why: "plans have their own degrees",
    excludes: &[
        "workloads",
        "grid",
        "bag",
        "vm",
        "kind",
        "sync",
        "elastic",
        "search.stored",
        "cluster.workers",
        "cluster.batch",
        "cluster.local_batch",
        "cluster.pairs",
        "cluster.exclude",
        "limits.max_workers",
        "staleness",
        "variation.noise_cv",
        "variation.noise_curve",
        "cluster.resize",
        "cluster.search",
        "cluster.outside",
    ],
    why_spot: "a plan waits for another VM, and goes back to its checkpoint",
    excludes_spot: &[
        "on_loss",
        "chief",
        "fewest_workers",
        "cold_join_s",
        "checkpoint_on_notice",
        "notice_s",
    ],
};

/// Where a key is given.
enum Given {
    Not,
    /// Its place is not kept.
    Somewhere,
    At(Range<usize>),
}

fn at<T>(key: Option<&Spanned<T>>) -> Given {
    key.map_or(Given::Not, |key| Given::At(key.span()))
}

fn if_so(is_given: bool) -> Given {
    match is_given {
        true => Given::Somewhere,
        false => Given::Not,
    }
}

type Look = fn(&ScenarioFile) -> Given;

/// All keys that anything excludes.
const KEYS: &[(&str, Look)] = &[
    ("workloads", |f| at(f.workloads.as_ref())),
    ("grid", |f| at(f.grid.as_ref())),
    ("bag", |f| at(f.bag.as_ref())),
    ("vm", |f| at(f.vm.keys().next())),
    ("kind", |f| at(f.kind.keys().next())),
    ("sync", |f| at(f.sync.as_ref())),
    ("elastic", |f| at(f.elastic.as_ref())),
    ("spot", |f| at(f.spot.as_ref())),
    ("search.stored", |f| at(f.search.stored.as_ref())),
    ("cluster.vm", |f| at(f.cluster.vm.first())),
    ("cluster.workers", |f| at(f.cluster.workers.as_ref())),
    ("cluster.batch", |f| at(f.cluster.batch.as_ref())),
    ("cluster.local_batch", |f| {
        at(f.cluster.local_batch.as_ref())
    }),
    ("cluster.pairs", |f| at(f.cluster.pairs.as_ref())),
    ("cluster.exclude", |f| at(f.cluster.exclude.first())),
    ("limits.max_workers", |f| at(f.limits.max_workers.as_ref())),
    ("staleness", |f| if_so(f.staleness.is_some())),
    ("variation", |f| if_so(!f.variation.is_off())),
    ("variation.noise_cv", |f| {
        if_so(f.variation.noise_cv.is_some())
    }),
    ("variation.noise_curve", |f| if_so(f.variation.noise_curve)),
    ("cluster.start_up_s", |f| {
        if_so(f.cluster.start_up_s.is_some())
    }),
    ("cluster.resize", |f| if_so(f.cluster.resize.is_some())),
    ("cluster.search", |f| {
        if_so(f.cluster.search != Together::default())
    }),
    ("cluster.outside", |f| {
        if_so(f.cluster.outside != Default::default())
    }),
];

type LookAtSpot = fn(&SpotTable) -> bool;

/// Those of `[spot]`.
const SPOT_KEYS: &[(&str, LookAtSpot)] = &[
    ("on_loss", |t| t.on_loss != OnLoss::default()),
    ("keeps", |t| t.keeps != Keeps::default()),
    ("chief", |t| t.chief != Chief::default()),
    ("fewest_workers", |t| t.fewest_workers.is_some()),
    ("cold_join_s", |t| t.cold_join_s.is_some()),
    ("warm_restart_s", |t| t.warm_restart_s.is_some()),
    ("restart", |t| t.restart.is_some()),
    ("checkpoint", |t| {
        !matches!(t.checkpoint, CheckpointChoice::None)
    }),
    ("checkpoint_write_s", |t| t.checkpoint_write_s.is_some()),
    ("checkpoint_mb", |t| t.checkpoint_mb.is_some()),
    ("checkpoint_on_notice", |t| t.checkpoint_on_notice),
    ("notice_s", |t| t.notice_s.is_some()),
];

/// Reports all that is given and excluded.
pub(super) fn report(about: &About, file: &ScenarioFile, complaints: &mut Complaints<'_>) {
    let title = |key: &str| format!("`{key}` and `{}` exclude each other", about.key);
    let excluded = KEYS.iter().filter(|(key, _)| about.excludes.contains(key));
    for (key, look) in excluded {
        match look(file) {
            Given::Not => {}
            Given::At(span) => complaints.error_at(span, title(key), about.why),
            Given::Somewhere => {
                complaints.push(complaints.of_file(format!("{}: {}", title(key), about.why)));
            }
        }
    }
    let Some(spot) = &file.spot else { return };
    let excluded = SPOT_KEYS
        .iter()
        .filter(|(key, _)| about.excludes_spot.contains(key));
    for (key, look) in excluded {
        if look(spot.get_ref()) {
            complaints.error_at(spot.span(), title(&format!("spot.{key}")), about.why_spot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_excluded_is_looked_for() {
        for about in [&GRID, &BAG, &PARALLEL] {
            for key in about.excludes {
                assert!(KEYS.iter().any(|(known, _)| known == key), "{key}");
            }
            for key in about.excludes_spot {
                assert!(SPOT_KEYS.iter().any(|(known, _)| known == key), "{key}");
            }
        }
    }
}

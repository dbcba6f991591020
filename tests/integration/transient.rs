//! The cost of synchronisation on VMs that come and go: the findings that the shipped scenarios claim.

use std::collections::BTreeMap;

use scavsim::experiment::Plan;

use crate::sandbox::Rows;

/// Time, cost and waste of a kind of cluster.
#[derive(Debug, Clone, Copy)]
struct Means {
    hours: f64,
    usd: f64,
    dropped: f64,
    wasted: f64,
    staleness: f64,
}

/// The means of every kind of a shipped scenario with this number of replicas.
fn kinds(scenario: &str, replicas: &str) -> BTreeMap<String, Means> {
    let path = format!("scenarios/{scenario}.toml");
    let by = [
        "--summary-by",
        "chosen_vm",
        "--format",
        "csv",
        "--replicas",
        replicas,
    ];
    let output = assert_cmd::Command::cargo_bin("scavsim")
        .expect("the binary is built")
        .env("SCAVSIM_PRICES", "builtin")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", &path])
        .args(by)
        .output()
        .expect("it starts");
    assert!(output.status.success());
    let rows = Rows::parse(&String::from_utf8(output.stdout).expect("UTF-8"));
    let kinds = rows.iter().map(|row| {
        let mean = |name: &str| row.text(&format!("{name}_mean")).parse().unwrap_or(0.0);
        let means = Means {
            hours: mean("time_h"),
            usd: mean("cost_usd"),
            dropped: mean("dropped_gradients"),
            wasted: mean("wasted_compute"),
            staleness: mean("staleness"),
        };
        (row.text("chosen_vm").to_owned(), means)
    });
    kinds.collect()
}

/// Cost of spot VMs relative to the VMs on demand.
fn spot_over_on_demand(kinds: &BTreeMap<String, Means>) -> [f64; 4] {
    let usd = |name: String| kinds[&name].usd;
    [8, 12, 16, 20].map(|k| usd(format!("spot-{k}")) / usd(format!("on-demand-{k}")))
}

#[test]
fn a_large_spot_cluster_can_cost_more_than_on_demand() {
    let over = spot_over_on_demand(&kinds("spot-can-cost-more", "1"));
    assert!(over[0] < 0.65, "{over:?}");
    assert!(over.is_sorted(), "{over:?}");
    assert!(over[3] > 1.1, "{over:?}");
}

#[test]
fn without_checkpoints_every_spot_cluster_costs_more() {
    let over = spot_over_on_demand(&kinds("spot-without-checkpoints", "200"));
    assert!(over.iter().all(|ratio| *ratio > 1.2), "{over:?}");
}

/// The usual protocols avoid less of the waiting for stragglers, and gain less, if stragglers are frequent and severe.
#[test]
fn frequent_severe_stragglers_leave_the_usual_means_behind() {
    let rare = kinds("stragglers-rare", "2");
    let frequent = kinds("stragglers-frequent", "2");
    let gain = |kinds: &BTreeMap<String, Means>, name: &str| {
        let (bsp, own) = (kinds["bsp"], kinds[name]);
        // All rent equally many VMs.
        assert!((bsp.usd / own.usd / (bsp.hours / own.hours) - 1.0).abs() < 1e-6);
        bsp.hours / own.hours
    };
    for (name, least, most) in [
        ("backup-1", 1.2, 1.05),
        ("backup-2", 1.2, 1.1),
        ("speculative-90", 1.15, 1.05),
    ] {
        assert!(gain(&rare, name) > least, "{name}: {rare:?}");
        assert!(gain(&frequent, name) < most, "{name}: {frequent:?}");
    }
    // The best of them all avoids less of the waiting.
    let avoided = |kinds: &BTreeMap<String, Means>| {
        let (bsp, least) = (kinds["bsp"].hours, kinds["no-waiting"].hours);
        let others = kinds.iter().filter(|(name, _)| *name != "no-waiting");
        let best = others.map(|(_, k)| k.hours).fold(bsp, f64::min);
        (bsp - best) / (bsp - least)
    };
    assert!(
        avoided(&rare) > 0.6 && avoided(&frequent) < 0.57,
        "{rare:?} {frequent:?}"
    );
    // And more is wasted for it.
    for name in ["backup-4", "speculative-75"] {
        assert!(
            frequent[name].wasted > 0.3 && rare[name].wasted < 0.25,
            "{name}"
        );
    }
    assert!((rare["backup-1"].dropped - 1.0 / 20.0).abs() < 1e-3);
}

/// Inside the stated range of the price of staleness, flexible barriers are best in time and cost; outside they are not. The
/// edge of the range is at the stated value.
#[test]
fn flexible_barriers_are_best_up_to_the_stated_price_of_staleness() {
    let best = |kinds: &BTreeMap<String, Means>, of: fn(&Means) -> f64| {
        let least = kinds.iter().min_by(|a, b| of(a.1).total_cmp(&of(b.1)));
        least.map(|(name, _)| name.clone()).expect("a kind")
    };
    let inside = kinds("flexible", "2");
    assert_eq!(best(&inside, |k| k.hours), "flexible", "{inside:?}");
    assert_eq!(best(&inside, |k| k.usd), "flexible", "{inside:?}");
    let outside = kinds("flexible-outside", "2");
    assert_eq!(best(&outside, |k| k.hours), "backup-2", "{outside:?}");
    assert_eq!(best(&outside, |k| k.usd), "backup-2", "{outside:?}");
    // Every worker misses the gradients that the nineteen others have finished.
    let stale = |kind: &str| inside[kind].staleness;
    assert!((stale("flexible") - 0.95).abs() < 0.005, "{inside:?}");
    let harmless = |kind: &str| inside[kind].hours / (1.0 + 0.15 * stale(kind));
    let edge = (inside["backup-2"].hours / harmless("flexible") - 1.0) / stale("flexible");
    assert!((edge - 0.215).abs() < 0.01, "{edge}");
    // At an equal price per sample, bounded staleness has about equal cost.
    assert!(
        (inside["ssp-3"].hours / 3.09 - 1.0).abs() < 0.01,
        "{inside:?}"
    );
    assert!((harmless("ssp-3") / 2.70 - 1.0).abs() < 0.01, "{inside:?}");
}

/// With dropped gradients the batch is smaller: four of 20 gradients at B 1,024 are as B 819, which needs 181.4 epochs
/// instead of 172.25; one is as B 973. Without stragglers a step is equally long.
#[test]
fn dropped_gradients_cost_the_epochs_of_the_batch_that_is_left() {
    let steps = |sync: &str, pairs: &str| {
        let scenario = crate::replay::scenario(&format!(
            "workloads = [\"scavenger-resnet18\"]\nsearch.strategies = [\"oracle\"]\n\
             cluster.pairs = [{pairs}]\n{sync}"
        ));
        let plan = Plan::new(&scenario).expect("a checked scenario");
        let world = plan.arena(0).expect("an arena").world().expect("simulated");
        let truth = &world.truths[0];
        (truth.steps_to_target, truth.provenance.name())
    };
    let over_bsp = |sync: &str| steps(sync, "[20, 1024]").0 / steps("", "[20, 1024]").0;
    assert!((over_bsp("sync.backup.spare = 4") - 181.4 / 172.25).abs() < 1e-4);
    assert!(
        (over_bsp("sync.speculative = { quantile = 0.9, spare = 4 }") - 181.4 / 172.25).abs()
            < 1e-4
    );
    assert!((over_bsp("sync.backup.spare = 1") - 174.24 / 172.25).abs() < 1e-4);
    assert_eq!(over_bsp("sync.asp.service_s = 0"), 1.0);
    // Outside the measurements the nearest batch is used, and the result reports it.
    let (bsp, measured) = steps("", "[16, 384]");
    let (least, extrapolated) = steps("sync.backup.spare = 4", "[16, 384]");
    assert_eq!(
        (least, measured, extrapolated),
        (bsp, "measured", "extrapolated")
    );
    let of_384 = |sync: &str| {
        let (steps, provenance) = steps(sync, "[16, 512]");
        assert!(
            (steps * 512.0 / (bsp * 384.0) - 1.0).abs() < 1e-12,
            "{sync}"
        );
        provenance
    };
    assert_eq!(of_384("sync.backup.spare = 4"), "measured");
    assert_eq!(of_384("sync.backup.spare = 8"), "extrapolated");
}
